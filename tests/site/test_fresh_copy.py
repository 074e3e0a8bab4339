"""A stranger's first command: a copy of the files, no environment, `make book`; and the site is the same."""

from __future__ import annotations

import filecmp
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def files() -> list[str]:
    """What a clone would have: everything that git knows or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("this copy has no git: what belongs to the project is not known")
    return [name for name in os.fsdecode(listed.stdout).split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The files in an empty folder, and the book made there with the first command of the README."""
    question = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--ignore-installed", "-q", "wheel"]
    if subprocess.run(question, capture_output=True).returncode:
        pytest.skip("PyPI cannot be reached: no fresh environment")
    folder = tmp_path_factory.mktemp("copy") / "book"
    for name in files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())
        target.chmod((ROOT / name).stat().st_mode)
    # Nothing of the environment that runs this test may help.
    own = ("VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {key: value for key, value in os.environ.items() if key not in own}
    ours = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join(part for part in os.environ["PATH"].split(os.pathsep) if part != ours)
    run = subprocess.run(["make", "book"], cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
    assert "_build/html/index.html" in run.stdout
    return folder


@pytest.mark.thorough
def test_the_site_of_a_fresh_copy_is_the_same_byte_for_byte(copy, site):
    def pages(folder: Path) -> dict[str, Path]:
        return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}

    here, there = pages(site), pages(copy / "_build" / "html")
    assert set(here) == set(there)
    assert [name for name in here if not filecmp.cmp(here[name], there[name], shallow=False)] == []


@pytest.mark.thorough
def test_a_second_build_does_nothing_to_the_environment(copy):
    ready = copy / ".venv" / "ready"
    before = ready.stat().st_mtime_ns
    subprocess.run(["make", "book"], cwd=copy, check=True, capture_output=True)
    assert ready.stat().st_mtime_ns == before


@pytest.mark.thorough
def test_the_command_works_in_the_fresh_environment(copy, tmp_path):
    run = subprocess.run([copy / ".venv" / "bin" / "contextlab", "lab"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0 and "141" in run.stdout, run.stderr
