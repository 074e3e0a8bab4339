"""The coursework as tests see it: the folder labs/ is on the path, and a sandbox is there or its absence is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "labs"))

from grading.kit import names  # noqa: E402 - the folder is on the path only now
from grading.sandbox import NoSandbox, walls  # noqa: E402


def pytest_generate_tests(metafunc):
    """A test that takes `lab` runs once a lab; of one with `lab_in_turn`, `make test` runs the first lab."""
    if "lab" in metafunc.fixturenames:
        metafunc.parametrize("lab", names())
    if "lab_in_turn" in metafunc.fixturenames:
        first, *others = names()
        thorough = [pytest.param(name, marks=pytest.mark.thorough) for name in others]
        metafunc.parametrize("lab_in_turn", [first, *thorough])


@pytest.fixture(scope="session")
def sandbox() -> bool:
    try:
        walls()
    except NoSandbox as error:
        pytest.skip(f"no sandbox on this machine: {error}")
    return True
