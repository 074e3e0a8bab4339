"""A class of sixty, by the one command of the README: right marks, and how long and how much memory it took."""

from __future__ import annotations

import csv
import resource
import subprocess
import sys
import time

import pytest
from classroom import GRADED, blank, full, hand_in, solved, variant
from grading.kit import LABS
from test_attacks import TAMPERING

LAB = "lab1_count_it"
OF = variant(LAB, GRADED[2])
FULL = full(OF)
NONE = dict.fromkeys(FULL, 0)
KINDS = "right right right wrong unsolved attack endless broken right unreadable".split()
ENDS = ("import os\nos._exit(1)", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)")


def sixty():
    """Return (student, notebook or text, the points of the checks by question, or None: no mark)."""
    attacks = [*TAMPERING.values(), *ENDS]
    for i in range(60):
        who = f"student{i:02}"
        kind = ("right", "right", "right", "wrong", "unsolved", "attack", "endless", "broken", "right", "no notebook")[
            i % 10
        ]
        if kind == "right":
            yield who, solved(OF, who), FULL
        elif kind == "wrong":  # question 4 traces the code of question 2
            cells = {"q2": "def costs(text):\n    return [1 for _ in text.split()]", "q4": "q4_costs = []"}
            yield who, solved(OF, who, cells), {**FULL, "q2": 0, "q4": 0}
        elif kind == "unsolved":
            yield who, blank(OF, who), NONE
        elif kind == "attack":
            yield who, solved(OF, who, {"q6": attacks[i // 10 % len(attacks)]}), "no more than the rest"
        elif kind == "endless":
            yield who, solved(OF, who, {"q6": "while True:\n    pass"}), {**FULL, "q6": 0}
        elif kind == "broken":
            yield who, solved(OF, who, {"q6": "def cut(:"}), {**FULL, "q6": 0}
        else:
            yield who, "this is no notebook", None


@pytest.mark.thorough
def test_a_class_of_sixty_is_graded_by_one_command(sandbox, tmp_path, record_property):
    expected = {}
    for who, notebook, marks in sixty():
        hand_in(tmp_path / "in", f"{who}_12{who[-2:]}_assignsubmission_file/lab1 (1).ipynb", notebook)
        expected[who] = marks
    secret = tmp_path / "secret"
    secret.write_text(GRADED[2], encoding="utf-8")
    make = ["make", "grade", "LAB=1", f"SUBMISSIONS={tmp_path / 'in'}", f"SECRET={secret}", f"OUT={tmp_path / 'out'}"]
    begun = time.monotonic()
    run = subprocess.run([*make, f"PY={sys.executable}"], cwd=LABS.parent, capture_output=True, text=True)
    taken = time.monotonic() - begun
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    record_property("seconds", round(taken, 1))
    record_property("megabytes", most)
    print(f"a class of 60: {taken:.1f} s, the largest process {most} MB")
    assert run.returncode == 0, run.stderr[-2000:]
    assert "60 of 60" in run.stderr and "60 submissions of lab1_count_it" in run.stdout

    with open(tmp_path / "out" / "grades.csv", encoding="utf-8", newline="") as opened:
        found = {row["student"].split("_")[0]: row for row in csv.DictReader(opened)}
    assert found.keys() == expected.keys()
    for who, marks in expected.items():
        row = found[who]
        came = {question: row[question] for question in FULL}
        if marks is None:
            assert row["status"] == "not graded" and not any(came.values()), (who, row)
        elif marks == "no more than the rest":
            assert all(int(came[question] or 0) <= worth for question, worth in {**FULL, "q6": 0}.items()), (who, row)
        else:
            assert came == {question: str(worth) for question, worth in marks.items()}, (who, row)
    pages = list((tmp_path / "out" / "feedback").glob("*.html"))
    assert len(pages) == 60
