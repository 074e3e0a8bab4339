"""Submissions that try to earn what they did not do: none gets a wrong full mark, and nobody else is touched."""

from __future__ import annotations

import copy
import csv

import pytest
from classroom import (
    GRADED,
    QUICK,
    blank,
    cell_of,
    full,
    hand_in,
    judged,
    named,
    points,
    solved,
    variant,
)
from grading.course import grade
from grading.kit import LABS
from grading.marks import mark
from grading.sandbox import Process, python

LAB = "lab1_count_it"
OF = variant(LAB, GRADED[0])
FULL = full(OF)
# What a student had who solved question 1 and 3 only.
PARTLY = {"q1": FULL["q1"], "q2": 0, "q3": FULL["q3"], "q4": 0, "q5": 0, "q6": 0}
SOLUTIONS = ("q2", "q4", "q5", "q6")


def partly(more: str = "", into: str = "q2") -> dict:
    """Questions 1 and 3 solved, the others as released, and ``more`` below one of their cells."""
    notebook, untouched = solved(OF), blank(OF)
    for name in SOLUTIONS:
        cell_of(notebook, name)["source"] = cell_of(untouched, name)["source"]
    if more:
        cell_of(notebook, into)["source"] = more
    return notebook


def remarks(result: dict) -> str:
    return "\n".join(": ".join(remark) for remark in result["remarks"])


def test_a_perfect_and_a_partly_right_submission(sandbox):
    assert points(judged(OF, solved(OF))) == FULL
    result = judged(OF, partly())
    assert points(result) == PARTLY and result["status"] == "graded" and not result["remarks"]


@pytest.mark.parametrize(
    "broken", ["raise KeyError('mine')", "def costs(text:\n    return [", "def costs(text):\n    return 1 / 0"]
)
def test_an_error_costs_its_own_question_only(sandbox, broken):
    result = judged(OF, solved(OF, replaced={"q2": broken}))
    lost = {"q2", "q4"}  # question 4 traces the code of question 2
    assert points(result) == {question: 0 if question in lost else worth for question, worth in FULL.items()}


@pytest.mark.parametrize(
    "endless",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        "import time\ntime.sleep(1000)",
    ],
)
def test_a_loop_without_end_costs_its_own_question_only(sandbox, endless):
    result = judged(OF, solved(OF, replaced={"q6": endless}))
    assert points(result) == {**FULL, "q6": 0}
    assert result["status"] != "not graded"


def test_a_call_without_end_costs_its_own_question_only(sandbox):
    result = judged(OF, solved(OF, replaced={"q6": "def cut(pieces, costs, limit):\n    while True:\n        pass"}))
    assert points(result) == {**FULL, "q6": 0} and result["status"] == "graded"


def test_deleted_checks_cost_nothing_and_are_said(sandbox):
    notebook = partly()
    notebook["cells"] = [cell for cell in notebook["cells"] if not cell["metadata"].get("nbgrader", {}).get("points")]
    result = judged(OF, notebook)
    assert points(result) == PARTLY
    assert "cells are missing" in remarks(result) and "q2-words" in remarks(result)


def test_checks_that_assert_true_gain_nothing_and_are_said(sandbox):
    notebook = partly()
    for cell in notebook["cells"]:
        if named(cell) in OF.kit.NAMES:
            cell["source"] = "assert True"
    result = judged(OF, notebook)
    assert points(result) == PARTLY
    assert "a check cell was changed: q2-words" in remarks(result)


def test_a_printed_score_gains_nothing_and_is_said(sandbox):
    result = judged(OF, partly("print('Total Score: 5/5')\nprint('All tests passed')\nprint('{\"plain\": [1, 1]}')"))
    assert points(result) == PARTLY
    assert "prints or copies what a grader would say" in remarks(result)


def to_the_pipe(answers: bytes) -> str:
    """Code that writes into every open file, that of the answers among them."""
    return f"""
import os
for number in range(3, 20):
    try:
        os.write(number, {answers!r})
    except OSError:
        pass
"""


TAMPERING = {
    "drops asserts": """
import ast, builtins
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
real = compile
builtins.compile = lambda text, *more, **named: real(Drop().visit(ast.parse(text)), *more, **named)
""",
    "traces": "import sys\nsys.settrace(lambda *more: None)\nsys.setprofile(lambda *more: None)",
    "replaces json.dumps": """
import json
json.dumps = lambda value, *more, **named: '{"plain": true, "points": 99, "ready": true}'
""",
    "replaces what makes values plain": """
import sys
inside = sys._getframe(1).f_globals
for frame in iter(lambda f=[sys._getframe()]: f.append(f[-1].f_back) or f[-1], None):
    if "plain" in frame.f_globals:
        frame.f_globals["plain"] = lambda value, depth=0: True
""",
    "replaces type and isinstance": """
import builtins
builtins.type = lambda *more: bool
builtins.isinstance = lambda *more: True
builtins.all = lambda *more: True
""",
    "says that all is right to whoever asks": to_the_pipe(b'{"ready": true}\n' + b'{"plain": true}\n' * 500),
    "reports cells that broke, in a shape of its own": to_the_pipe(
        b'{"cell": "q2", "error": "none of a dict", "printed": [1]}\n' * 9
    ),
    "raises what cannot be written": "raise KeyError(chr(0xD800) * 9)",
    "answers with nonsense": to_the_pipe(b'[1, {"a": null\n' * 50),
}


@pytest.mark.parametrize("how", TAMPERING)
def test_tampering_in_the_process_gains_nothing(sandbox, how):
    """It may cost the tamperer points: the process is theirs to break."""
    result = judged(OF, partly(TAMPERING[how]))
    assert all(earned <= PARTLY[question] for question, earned in points(result).items())
    assert result["status"] != "graded" or "the code" in remarks(result) or points(result) == PARTLY


ALWAYS = """
class Always(int):
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    __hash__ = int.__hash__
"""


def test_an_object_that_equals_everything_is_no_answer(sandbox):
    replaced = {
        "q1": f"{ALWAYS}q1_request = q1_joined = Always(3)",
        "q2": "def costs(text):\n    return Always(3)",
        "q6": "def cut(pieces, costs, limit):\n    return [Always(3)]",
    }
    result = judged(OF, solved(OF, replaced=replaced))
    earned = points(result)
    assert earned["q1"] == earned["q2"] == earned["q6"] == 0
    assert {q: earned[q] for q in ("q3", "q5")} == {q: FULL[q] for q in ("q3", "q5")}
    assert "defines what == means" in remarks(result) and "a value is no plain data" in remarks(result)


@pytest.mark.parametrize(
    "ends",
    ["import os\nos._exit(0)", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(os.getpid(), 9)"],
)
def test_a_process_that_ends_is_looked_at_and_costs_its_own_question_only(sandbox, ends):
    result = judged(OF, solved(OF, replaced={"q6": ends}))
    assert points(result) == {**FULL, "q6": 0}
    assert result["status"] == "needs review" and "the process was lost" in remarks(result)


def test_a_call_that_ends_the_process(sandbox):
    result = judged(OF, solved(OF, replaced={"q6": "def cut(*more):\n    import os\n    os._exit(0)"}))
    earned = points(result)
    assert earned["q6"] == 0 and result["status"] != "graded"


def test_nothing_of_the_course_can_be_read(sandbox, tmp_path):
    """What the code sees is handed out as plain data, so the test looks with the student's eyes."""
    theirs = tmp_path / "zoe" / "lab.ipynb"
    theirs.parent.mkdir()
    theirs.write_text("private")
    places = [str(theirs), str(LABS), str(LABS / "source"), str(LABS.parent), "/etc/passwd"]
    _, (prefix, *_) = python()
    look = f"""
import os
q1_request = [os.path.exists(place) for place in {places!r}]
found = []
for folder, _, files in os.walk("/"):
    if not folder.startswith(("/proc", "/sys", "/usr", "/lib", "/bin", "/sbin", {prefix!r})):
        found += [name for name in files if name.endswith((".ipynb", ".csv", ".txt"))]
q1_joined = [found, sorted(os.environ), [name for name in os.listdir("/proc") if name.isdigit()]]
"""
    seen = values(look, "q1_request", "q1_joined")
    assert seen[0] == [False] * len(places)
    files, variables, processes = seen[1]
    assert files == [] and not [name for name in variables if "SECRET" in name or name.startswith("PYTHON")]
    assert len(processes) <= 2  # bubblewrap and itself


def values(text: str, *names: str) -> list:
    """What a cell of a student puts into some names."""
    with Process(QUICK) as process:
        assert process.run([("look", text)])[0]["error"] is None
        return [process.ask(name, None)["plain"] for name in names]


def test_no_network(sandbox):
    look = """
import socket
try:
    socket.create_connection(("127.0.0.1", 9), 1)
    q1_request = "connected"
except OSError as error:
    q1_request = "refused"
q1_joined = [name for _, name in socket.if_nameindex() if name != "lo"]
"""
    assert values(look, "q1_request", "q1_joined") == ["refused", []]


def test_nothing_can_be_written_outside(sandbox, tmp_path):
    grades = tmp_path / "grades.csv"
    grades.write_text("student,total\nzoe,3\n")
    places = [str(grades), str(LABS / "kits" / "x"), "/grading/inside.py", "/usr/x", "/x"]
    look = f"""
q1_request = []
for place in {places!r}:
    try:
        open(place, "w").write("5")
        q1_request.append(place)
    except OSError:
        pass
"""
    assert values(look, "q1_request") == [[]]
    assert grades.read_text() == "student,total\nzoe,3\n" and not (LABS / "kits" / "x").exists()


def test_a_duplicated_cell_is_said_and_nothing_stops(sandbox):
    notebook = solved(OF)
    at = next(i for i, cell in enumerate(notebook["cells"]) if named(cell) == "q2-words")
    notebook["cells"].insert(at, copy.deepcopy(notebook["cells"][at]))
    result = judged(OF, notebook)
    assert points(result) == FULL and "a cell is there more than once: q2-words" in remarks(result)


def test_stripped_metadata_are_said_and_the_work_is_graded(sandbox):
    notebook = solved(OF)
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    notebook["metadata"] = {}
    result = judged(OF, notebook)
    assert points(result) == FULL and "the metadata of the cells are gone" in remarks(result)
    for cell in notebook["cells"]:
        del cell["id"]
    result = judged(OF, notebook)
    assert "the metadata of the cells are gone" in remarks(result)
    assert points(result) == FULL or result["status"] != "graded"


def test_the_public_solutions_pasted_into_a_graded_course(sandbox):
    texts = {name: cell_of(solved(variant(LAB)), name)["source"] for name in ("q1", "q2", "q3", "q4", "q5", "q6")}
    earned = points(judged(OF, solved(OF, replaced=texts)))
    assert all(earned[question] < worth / 2 for question, worth in FULL.items())


LIBRARY = (
    "from contextlab.tokens import WordPieces\n\n\ndef costs(text):\n    return [1 for _ in WordPieces().pieces(text)]"
)


def test_the_library_is_not_there_when_grading(sandbox):
    result = judged(OF, solved(OF, replaced={"q2": LIBRARY}))
    assert points(result)["q2"] == 0
    assert "a module is not there when grading" in remarks(result) and "names the library" in remarks(result)


@pytest.mark.parametrize("module", ["contextlab", "tiktoken", "numpy", "jinja2", "pip"])
def test_no_package_can_be_imported(sandbox, module):
    look = f"import importlib.util\nq1_request = importlib.util.find_spec({module!r}) is None"
    assert values(look, "q1_request") == [True]


def test_the_library_beside_the_notebook_or_written_by_it(sandbox, tmp_path):
    """A file that is handed in too is not there; what the notebook itself writes solves another rule, and is said."""
    package = LABS.parent / "src" / "contextlab"
    vendored = {name: (package / name).read_text(encoding="utf-8") for name in ("tokens.py", "errors.py")}
    hand_in(tmp_path / "in", "ada/lab.ipynb", solved(OF, "ada", {"q2": LIBRARY}))
    hand_in(tmp_path / "in", "ada/contextlab/tokens.py", vendored["tokens.py"])
    (result,) = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert points(result)["q2"] == 0 and "another file was handed in" in remarks(result)

    written = f"""
import pathlib, sys, tempfile
own = pathlib.Path(tempfile.mkdtemp(), "contextlab")
own.mkdir()
own.joinpath("__init__.py").touch()
for name, text in {vendored!r}.items():
    own.joinpath(name).write_text(text)
sys.path.insert(0, str(own.parent))
{LIBRARY}
"""
    result = judged(OF, solved(OF, replaced={"q2": written}))
    assert not result["errors"], "the copy of the library ran"
    assert points(result)["q2"] == 0 and "names the library" in remarks(result)


def test_a_fault_of_the_grader_costs_one_submission_and_is_tried_again(sandbox, tmp_path, monkeypatch):
    for student in ("ada", "zoe"):
        hand_in(tmp_path / "in", f"{student}/lab.ipynb", solved(OF, student))

    def faulty(variant, student, *more):
        if student == "ada":
            raise OverflowError("a number too large")
        return mark(variant, student, *more)

    with monkeypatch.context() as patched:
        patched.setattr("grading.course.mark", faulty)
        ada, zoe = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert ada["status"] == "not graded" and "OverflowError: a number too large" in remarks(ada)
    assert points(zoe) == FULL
    ada, _ = grade(OF, tmp_path / "in", tmp_path / "out", limits=QUICK)
    assert ada["status"] == "graded" and points(ada) == FULL


def test_a_class_of_attackers_leaves_the_others_alone(sandbox, tmp_path):
    """Files renamed as a browser does, one honest student among attackers, and no hidden case in what is written."""
    folder, out = tmp_path / "in", tmp_path / "out"
    hand_in(folder, "zoe/lab01 (1).ipynb", solved(OF, "zoe"))
    hand_in(folder, "kim/lab01.ipynb", blank(OF, "kim"))
    for i, cell in enumerate(
        [*TAMPERING.values(), "import os\nos._exit(1)", "import os, signal\nos.kill(os.getppid(), 9)"]
    ):
        notebook = partly(cell)
        cell_of(notebook, "student")["source"] = f"STUDENT = 'attacker{i}'"
        hand_in(folder, f"attacker{i}/lab01.ipynb", notebook)
    # A function that puts its hidden arguments into its error, its output and its value.
    leak = "def costs(text):\n    print(text)\n    raise ValueError(text)"
    hand_in(folder, "lea/lab01.ipynb", solved(OF, "lea", {"q2": leak, "q6": "def cut(*all):\n    return [*all]"}))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    results = {result["student"]: result for result in grade(OF, folder, out, limits=QUICK)}
    assert len(results) == 2 + len(TAMPERING) + 2 + 1
    assert points(results["zoe"]) == FULL and results["zoe"]["status"] == "graded"
    assert set(points(results["kim"]).values()) == {0}
    for student, result in results.items():
        if student.startswith("attacker"):
            assert all(earned <= PARTLY[question] for question, earned in points(result).items())
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    with open(out / "grades.csv", encoding="utf-8", newline="") as opened:
        rows = {row["student"]: row for row in csv.DictReader(opened)}
    assert rows.keys() == results.keys()
    assert all(row["total"] == "" for row in rows.values() if row["status"] != "graded")

    hidden = [
        repr(ask.args)[1:-1]
        for check, cases in OF.checks("lea").items()
        if "-examples" not in check and check != "q4-costs"
        for case in cases
        for ask in case.asks
        if ask.args and len(repr(ask.args)) > 20
    ]
    assert len(hidden) > 20
    students = [path for path in out.rglob("*") if path.is_file()]
    assert len(students) > 2 * len(results)
    for path in students:
        text = path.read_text(encoding="utf-8").replace("&#39;", "'")
        assert OF.secret not in text
        assert not [case for case in hidden if case in text or case.strip("'") in text], path
