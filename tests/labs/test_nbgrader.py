"""nbgrader, whose format the labs have, as a second opinion: the same release, and the same marks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest
from classroom import full, variant
from grading.kit import LABS

SCORES = """
import json, sys
from nbgrader.api import Gradebook
with Gradebook("sqlite:///gradebook.db") as book:
    lab = sys.argv[1]
    found = {s.student.id: [s.code_score, s.max_code_score] for s in book.assignment_submissions(lab)}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def nbgrader():
    found = LABS.parent / ".venv" / "nbgrader" / "bin" / "nbgrader"
    if not found.exists():
        pytest.skip("no nbgrader on this machine: make extras installs it")
    return found


@pytest.mark.thorough
def test_nbgrader_makes_the_same_release_and_gives_the_same_marks(nbgrader, lab, tmp_path):
    """Its release is ours, the reference has full marks and the release none."""
    course = tmp_path / "course"
    for folder in ("source", "submitted/right", "submitted/unsolved"):
        (course / folder / lab).mkdir(parents=True)
    name = f"{lab}.ipynb"
    shutil.copy(LABS / "source" / lab / name, course / "source" / lab / name)
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'book'\n")
    environment = {**os.environ, "PATH": f"{nbgrader.parent}{os.pathsep}{os.environ['PATH']}"}

    def run(*arguments):
        done = subprocess.run([nbgrader, *arguments], cwd=course, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    run("generate_assignment", lab, "--create")
    theirs = json.loads((course / "release" / lab / name).read_text(encoding="utf-8"))
    ours = json.loads((LABS / "release" / lab / name).read_text(encoding="utf-8"))
    assert [cell["source"] for cell in theirs["cells"]] == [cell["source"] for cell in ours["cells"]]
    assert [cell["metadata"].get("nbgrader") for cell in theirs["cells"]] == [
        cell["metadata"].get("nbgrader") for cell in ours["cells"]
    ]
    shutil.copy(LABS / "source" / lab / name, course / "submitted" / "right" / lab / name)
    shutil.copy(LABS / "release" / lab / name, course / "submitted" / "unsolved" / lab / name)
    run("autograde", lab)
    marks = subprocess.run(
        [nbgrader.parent / "python", "-c", SCORES, lab], cwd=course, env=environment, capture_output=True, text=True
    )
    assert marks.returncode == 0, marks.stderr[-2000:]
    scores = json.loads(marks.stdout)
    worth = sum(full(variant(lab)).values())
    assert scores["right"] == [worth, worth] and scores["unsolved"] == [0, worth]
