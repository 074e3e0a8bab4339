"""What learning platforms and students hand in beside notebooks: said in one line, and nobody else is touched."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import pytest
from classroom import GRADED, QUICK, blank, cell_of, full, hand_in, judged, named, points, solved, variant
from grading.course import grade
from grading.intake import submissions
from grading.kit import LABS
from grading.report import MarksError

LAB = "lab1_count_it"
OF = variant(LAB, GRADED[0])
FULL = full(OF)


def said(result: dict) -> str:
    return "\n".join(": ".join(remark) for remark in result["remarks"])


def zipped(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return packed.getvalue()


def graded(folder, out) -> dict[str, dict]:
    return {result["student"]: result for result in grade(OF, folder, out, limits=QUICK)}


def rows(file) -> dict[str, dict]:
    with open(file, encoding="utf-8", newline="") as opened:
        return {row["student"]: row for row in csv.DictReader(opened)}


UNREADABLE = {
    "an empty file": (b"", "the file is empty"),
    "blanks": (b" \n\n", "the file is empty"),
    "a picture": (b"\x89PNG\r\n\x1a\n\xff\xfe", "it is not JSON"),
    "a list": (b"[]", "no list of cells"),
    "a notebook of format 3": (b'{"worksheets": [], "nbformat": 3}', "no list of cells"),
    "a cell that is a number": (b'{"cells": [3]}', "one of its cells is none"),
    "a text that is a number": (b'{"cells": [{"cell_type": "code", "source": 3}]}', "the text of a cell is none"),
    "nested without end": (b"[" * 100_000, "it is not JSON"),
    "a number of 5,000 digits": (b'{"cells": [' + b"9" * 5000 + b"]}", "it is not JSON"),
    "a notebook without cells of this lab": (b'{"cells": []}', "no cell of this lab is in the notebook"),
    "half a notebook": (json.dumps(solved(OF)).encode()[:5000], "it is not JSON"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_notebook_has_no_mark(sandbox, tmp_path, what):
    data, why = UNREADABLE[what]
    hand_in(tmp_path / "in", "ada/lab1.ipynb", data)
    (result,) = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert result["status"] == "not graded" and why in said(result)
    (row,) = rows(tmp_path / "out" / "grades.csv").values()
    assert row["status"] == "not graded" and row["q1"] == row["total"] == ""


def test_another_lab_and_another_course_are_said(sandbox, tmp_path):
    hand_in(tmp_path / "in", "ada/lab1.ipynb", solved(variant("lab2_when_will_it_forget", GRADED[0])))
    hand_in(tmp_path / "in", "zoe/lab1.ipynb", solved(variant(LAB), "zoe"))
    ada, zoe = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert ada["status"] == zoe["status"] == "not graded"
    assert "lab2_when_will_it_forget" in said(ada) and "of the course 'demonstration'" in said(zoe)


def test_without_the_metadata_of_cells_the_ids_of_the_cells_do(sandbox):
    notebook = solved(OF)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    result = judged(OF, notebook)
    assert points(result) == FULL and "the metadata of the cells are gone" in said(result)


def test_a_copied_and_a_missing_cell_are_said(sandbox):
    notebook = solved(OF)
    at = next(i for i, cell in enumerate(notebook["cells"]) if named(cell) == "q2")
    notebook["cells"].insert(at, notebook["cells"][at])
    notebook["cells"] = [cell for cell in notebook["cells"] if named(cell) != "q6"]
    result = judged(OF, notebook)
    assert points(result) == {**FULL, "q6": 0}
    assert "a cell is there more than once: q2" in said(result) and "cells are missing: q6" in said(result)


GREEDY = {
    "200 MB of output": "line = 'x' * 999 + '\\n'\nfor _ in range(200_000):\n    print(line, end='')",
    "output into every open file": "import os\nfor i in range(200):\n    os.write(1, b'x' * 1_000_000)",
    "memory without end": "more = []\nwhile True:\n    more.append(bytearray(50_000_000))",
    "a loop without end": "while True:\n    pass",
    "forks": "import os\nfor _ in range(6):\n    os.fork()\nwhile True:\n    pass",
    "a large file": "open('big', 'wb').write(b'x' * 200_000_000)",
    "deep recursion": "def deep():\n    return deep()\n\n\ndeep()",
}


@pytest.mark.parametrize("what", GREEDY)
def test_greedy_code_costs_its_own_question_only(sandbox, tmp_path, what):
    hand_in(tmp_path / "in", "ada/lab1.ipynb", solved(OF, "ada", {"q6": GREEDY[what]}))
    hand_in(tmp_path / "in", "zoe/lab1.ipynb", solved(OF, "zoe"))
    results = graded(tmp_path / "in", tmp_path / "out")
    assert points(results["zoe"]) == FULL
    assert results["ada"]["status"] == "graded" and points(results["ada"]) == {**FULL, "q6": 0}
    assert sum(path.stat().st_size for path in (tmp_path / "out").rglob("*.*")) < 1_000_000


def test_a_name_that_leads_out_of_the_folder_stays_a_name(sandbox, tmp_path):
    inside = json.dumps(solved(OF, "ada")).encode()
    packed = zipped({"../../ada/lab1.ipynb": inside, "/etc/zoe/lab1.ipynb": b"", "__MACOSX/._lab1.ipynb": b"\0"})
    hand_in(tmp_path / "a" / "b" / "in", "export.zip", packed)
    named_so = solved(OF, "../../kim")
    hand_in(tmp_path / "a" / "b" / "in", "kim/lab1.ipynb", named_so)
    results = graded(tmp_path / "a" / "b" / "in", tmp_path / "a" / "b" / "out")
    assert points(results["ada"]) == FULL and points(results["../../kim"]) == FULL
    outside = [path for path in tmp_path.rglob("*") if path.is_file() and (tmp_path / "a" / "b") not in path.parents]
    assert not outside
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {"in", "out"}


def test_a_link_is_not_followed(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text("{}", encoding="utf-8")
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "ada" / "lab1.ipynb").symlink_to(secret)
    (one,) = submissions(tmp_path / "in", LAB)
    assert one.notebook is None and "a link to another file is not followed" in str(one.remarks)


def test_an_archive_that_grows_without_end_is_not_unpacked(tmp_path):
    hand_in(tmp_path / "in", "ada.zip", zipped({"lab1.ipynb": b"0" * 70_000_000}))
    hand_in(tmp_path / "in", "zoe.zip", zipped({"lab1.ipynb": b"{}"})[:60])
    ada, zoe = submissions(tmp_path / "in", LAB)
    assert ada.notebook is None and "holds more than 64 MB" in str(ada.remarks)
    assert zoe.notebook is None and "cannot be read" in str(zoe.remarks)


def test_the_last_attempt_counts_and_the_same_file_twice_is_one(sandbox, tmp_path):
    early, late = json.dumps(blank(OF)), json.dumps(solved(OF))
    hand_in(tmp_path / "in", "ada/lab1.ipynb", early)
    hand_in(tmp_path / "in", "ada/lab1 (1).ipynb", late)
    hand_in(tmp_path / "in", "ada/lab1 (2).ipynb", late)
    hand_in(tmp_path / "in", "ada/lab1 (3).ipynb", "")
    (result,) = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert points(result) == FULL
    assert said(result).count("an earlier attempt was not graded: ada/lab1.ipynb") == 1
    assert "lab1 (3).ipynb: the file is empty" in said(result) and "(1)" not in said(result)


def test_two_students_with_one_id_are_looked_at(sandbox, tmp_path):
    hand_in(tmp_path / "in", "one/lab1.ipynb", solved(OF, "Ada"))
    hand_in(tmp_path / "in", "two/lab1.ipynb", solved(OF, "ada"))
    one, two = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert one["status"] == two["status"] == "needs review" and "two submissions have one id" in said(one)


def test_no_id_is_looked_at(sandbox):
    result = judged(OF, blank(OF, ""))
    assert result["status"] == "needs review" and "does not say whose it is" in said(result)


def test_a_spreadsheet_runs_no_name(sandbox, tmp_path):
    hand_in(tmp_path / "in", "ada/lab1.ipynb", blank(OF, "=1+1"))
    grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert set(rows(tmp_path / "out" / "grades.csv")) == {"'=1+1"}


def test_half_a_surrogate_pair_stops_nothing(sandbox, tmp_path):
    notebook = blank(OF)
    cell_of(notebook, "student")["source"] = "STUDENT = '\\ud800 ada'"
    cell_of(notebook, "q7")["source"] = "a reason \ud800"
    hand_in(tmp_path / "in", "ada/lab1.ipynb", notebook)
    (result,) = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert result["status"] == "graded" and "ada" in result["student"]


def command(tmp_path, *more: str) -> list[str]:
    return [sys.executable, str(LABS / "grade.py"), "1", str(tmp_path / "in"), "--out", str(tmp_path / "out"), *more]


def test_a_run_that_was_killed_goes_on_where_it_was(sandbox, tmp_path):
    """Without a secret: the demonstration."""
    of = variant(LAB)
    for i in range(8):
        hand_in(tmp_path / "in", f"student{i}/lab1.ipynb", solved(of, f"student{i}"))
    run = subprocess.Popen(command(tmp_path, "--jobs", "1"), stderr=subprocess.PIPE, text=True)
    for line in run.stderr:
        if "3 of 8" in line:
            break
    run.send_signal(signal.SIGKILL)
    run.wait()
    run.stderr.close()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "students").glob("*.json")}
    assert 3 <= len(kept) < 8 and not (tmp_path / "out" / "grades.csv").exists()
    time.sleep(0.01)
    subprocess.run(command(tmp_path), check=True, capture_output=True)
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    again = rows(tmp_path / "out" / "grades.csv")
    assert len(again) == 8 and {row["q2"] for row in again.values()} == {str(full(of)["q2"])}


@pytest.mark.parametrize(
    "more, why",
    [
        (["--secret", "absent"], "cannot be read"),
        (["--secret", os.devnull], "has 0 characters"),
    ],
)
def test_the_command_says_what_is_wrong_in_one_line(tmp_path, more, why):
    (tmp_path / "in").mkdir()
    run = subprocess.run(command(tmp_path, *more), capture_output=True, text=True)
    assert run.returncode == 2 and why in run.stderr and run.stderr.count("\n") == 1


def test_a_folder_or_a_lab_that_is_not_there_is_one_line(tmp_path):
    run = subprocess.run(command(tmp_path), capture_output=True, text=True)
    assert run.returncode == 2 and "is no folder of submissions" in run.stderr and run.stderr.count("\n") == 1
    absent = [*command(tmp_path)[:2], "9", str(tmp_path)]
    run = subprocess.run(absent, capture_output=True, text=True)
    assert run.returncode == 2 and "there is no lab '9'" in run.stderr and run.stderr.count("\n") == 1


def marks(tmp_path, *lines: str) -> None:
    (tmp_path / "out").mkdir(exist_ok=True)
    text = "\n".join(["student,question,criterion,points,comment", *lines])
    (tmp_path / "out" / "marks.csv").write_text(text + "\n", encoding="utf-8")


def test_marks_of_a_person_are_added_up(sandbox, tmp_path):
    hand_in(tmp_path / "in", "ada/lab1.ipynb", solved(OF, "Ada"))
    marks(tmp_path, "ada,q7,number,1.5,half", 'Ada,q7,reason,"2,5",good', "ada,q8,number,0,", "ada,q8,reason,2,")
    grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    row = rows(tmp_path / "out" / "grades.csv")["Ada"]
    assert (row["q7"], row["q8"], row["total"]) == ("4", "2", str(sum(FULL.values()) + 6))


@pytest.mark.parametrize(
    "line, why",
    [
        ("ada,q7,number,9,", "line 2: 9 points; the criterion has from 0 to 3"),
        ("ada,q7,number,many,", "'many' is no number of points"),
        ("ada,q7,beauty,1,", "there is no criterion 'beauty'"),
        ("ada,q1,number,1,", "there is no criterion 'number' of 'q1'"),
        ("ada,q7,number", "the columns are"),
    ],
)
def test_a_wrong_row_of_marks_is_said_with_its_line(sandbox, tmp_path, line, why):
    hand_in(tmp_path / "in", "ada/lab1.ipynb", blank(OF))
    marks(tmp_path, line)
    with pytest.raises(MarksError, match=why):
        grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
