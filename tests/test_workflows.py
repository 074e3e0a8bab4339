"""The workflows are what GitHub's schema asks for, and run the project's own commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def steps(name):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_there_is_one_to_test_and_one_to_publish():
    assert [path.name for path in WORKFLOWS] == ["publish.yml", "test.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_fits_the_schema(path):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_schema_would_refuse_a_mistake(tmp_path):
    wrong = tmp_path / "wrong.yml"
    wrong.write_text((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8").replace("runs-on:", "run-on:"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(wrong)]
    assert subprocess.run(command, capture_output=True).returncode == 1


def test_the_test_workflow_runs_what_everybody_runs():
    assert [step["run"] for step in steps("test.yml") if "run" in step] == ["bash .ci/run"]


def test_what_is_published_is_what_make_book_builds():
    runs = [step["run"] for step in steps("publish.yml") if "run" in step]
    folders = [step["with"]["path"] for step in steps("publish.yml") if "upload-pages" in step.get("uses", "")]
    assert (runs, folders) == (["make book"], ["_build/html"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_python_is_the_version_of_binder(path):
    (python,) = [step["with"]["python-version"] for step in steps(path.name) if "setup-python" in step.get("uses", "")]
    assert f"python-{python}" == (ROOT / "runtime.txt").read_text(encoding="utf-8").strip()
