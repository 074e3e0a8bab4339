"""Students for the tests: submissions made from the reference, with cells replaced."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
from pathlib import Path

import pytest
from grading import lab as labs
from grading.course import assess
from grading.draws import DEMONSTRATION
from grading.intake import Submission
from grading.kit import Variant
from grading.sandbox import Limits

GRADED = [f"a secret of a graded course, number {i}" for i in range(8)]
# The demonstration and one graded course in `make test`, every course in `make test-all`.
COURSES = [DEMONSTRATION, GRADED[0], *(pytest.param(secret, marks=pytest.mark.thorough) for secret in GRADED[1:])]
QUICK = Limits(seconds=2, seconds_in_all=20)
MARKERS = re.compile(r"^[ \t]*### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)


def variant(lab: str, secret: str = DEMONSTRATION) -> Variant:
    return Variant(lab, secret)


def named(cell: dict) -> str:
    return cell["metadata"].get("nbgrader", {}).get("grade_id") or cell["id"]


def cell_of(notebook: dict, name: str) -> dict:
    return next(cell for cell in notebook["cells"] if named(cell) == name)


def blank(of: Variant, student: str = "ada") -> dict:
    """The release with a student's id in it."""
    notebook = labs.release(labs.source(of))
    cell_of(notebook, "student")["source"] = f"STUDENT = {student!r}"
    return notebook


def solved(of: Variant, student: str = "ada", replaced: dict[str, str] | None = None) -> dict:
    """The release with the solutions of the reference; ``replaced``: cells of other students."""
    notebook = blank(of, student)
    for cell in labs.source(of)["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell_of(notebook, named(cell))["source"] = MARKERS.sub("", cell["source"])
    for name, text in (replaced or {}).items():
        cell_of(notebook, name)["source"] = text
    return notebook


def judged(of: Variant, notebook: dict, limits: Limits = QUICK) -> dict:
    """What a submission has earned."""
    notebook = copy.deepcopy(notebook)
    submission = Submission("ada", "ada/lab.ipynb", notebook, b"", [])
    return assess(of, submission, labs.release(labs.source(of)), limits)


def points(result: dict) -> dict[str, int]:
    """Question -> points of its checks."""
    sums: dict[str, int] = {}
    for check, seen in result["checks"].items():
        question = check.split("-")[0]
        sums[question] = sums.get(question, 0) + seen["points"]
    return sums


def full(of: Variant) -> dict[str, int]:
    """Question -> the points of its checks."""
    sums: dict[str, int] = {}
    for block in labs.blocks(of.lab):
        if block.role == "check":
            sums[block.question] = sums.get(block.question, 0) + block.points
    return sums


def message(of: Variant, check: str, replaced: dict[str, str]) -> str:
    """What a student reads below a check cell: the text of its error, or what it printed."""
    notebook = solved(of, "ada", replaced)
    names: dict = {"__name__": "__main__"}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        mark = cell["metadata"].get("nbgrader", {})
        if mark.get("grade") and named(cell) != check:
            continue
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(cell["source"], named(cell), "exec"), names)
        except AssertionError as error:
            assert named(cell) == check, error
            return str(error)
        if named(cell) == check:
            return printed.getvalue()
    raise AssertionError(f"there is no check {check}")


def hand_in(folder: Path, name: str, notebook: dict | str | bytes) -> Path:
    """Write a submission as a platform would name it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(notebook, dict):
        notebook = json.dumps(notebook)
    path.write_bytes(notebook.encode() if isinstance(notebook, str) else notebook)
    return path
