"""requirements.txt follows from pyproject.toml, without asking any registry."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import requirements
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "requirements.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins() -> dict[str, Requirement]:
    lines = (line for line in TEXT.splitlines() if re.match(r"[a-z0-9]", line))
    return {canonicalize_name(pin.name): pin for pin in map(Requirement, lines)}


def parents() -> dict[str, set[str]]:
    """Who needs each pin, as uv notes it below the pin."""
    found: dict[str, set[str]] = {}
    for line in TEXT.splitlines():
        if re.match(r"[a-z0-9]", line):
            current = found.setdefault(canonicalize_name(Requirement(line).name), set())
        elif (note := re.match(r"    #\s+(?:via\s*)?(\S.*)?$", line)) and note[1]:
            current.add(canonicalize_name(note[1].split(" (")[0]))
    return found


def wanted(extra: str | None) -> list[Requirement]:
    """What an extra asks for, its own nested extras resolved."""
    listed = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    result = []
    for requirement in map(Requirement, listed):
        if requirement.name == PROJECT["name"]:
            for nested in requirement.extras:
                result += wanted(nested)
        else:
            result.append(requirement)
    return result


def test_the_header_carries_the_hash_of_the_dependency_tables():
    assert requirements.digest() in TEXT, "pyproject.toml has changed: run `make requirements`"


@pytest.mark.parametrize("need", [*wanted(None), *wanted("test")], ids=str)
def test_each_dependency_is_met_by_a_pin(need):
    pin = pins().get(canonicalize_name(need.name))
    assert pin, f"{need} has no pin: run `make requirements`"
    (version,) = (one.version for one in pin.specifier)
    assert need.specifier.contains(version), f"{need} is pinned to {version}"


def test_each_pin_is_exact_and_needed_by_the_package_or_by_another_pin():
    needed_by = parents()
    for name, pin in pins().items():
        assert [one.operator for one in pin.specifier] == ["=="], pin
        assert needed_by[name], f"nothing needs {name}"
        assert needed_by[name] <= {*pins(), PROJECT["name"]}, name


def test_every_pin_leads_to_the_package():
    needed_by, reached = parents(), {PROJECT["name"]}
    while more := {name for name, users in needed_by.items() if users & reached} - reached:
        reached |= more
    assert set(pins()) <= reached


def test_the_last_line_is_the_package_and_no_registry_is_named():
    assert TEXT.endswith("\n.\n")
    assert "://" not in TEXT and "--" not in re.sub(r"#.*", "", TEXT)


def test_this_environment_is_the_pinned_one():
    environment = default_environment()
    for name, pin in pins().items():
        if pin.marker is None or pin.marker.evaluate(environment):
            assert pin.specifier.contains(metadata.version(name)), f"{name}: run `make book`"
