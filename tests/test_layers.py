"""A module of the library imports only from modules that the reader has already met."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from contextlab import _HOME as HOME  # public name -> module

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "contextlab"

# In the order of the chapters; modules of one chapter do not know each other.
ROWS = """
_characters
errors
_data
tokens
texts
chat
budget
render
keep
script
replay
forecast
cost
kv
prefix
pins
summary
notes
retrieval eviction
planted
compare
adapters additions parts
repair
request
assembler testing failures
chatbot
recall
histories
forgotten
page
figures
widgets
cli_trace
cli
__main__
"""
ROW = {name: number for number, line in enumerate(ROWS.split("\n")) for name in line.split()}


def source_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def module_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """The modules of the package that a file names in an import, under whatever condition."""
    place = ("contextlab", *path.relative_to(PACKAGE).with_suffix("").parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*place[: len(place) - node.level]] if node.level else []
            base += node.module.split(".") if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        parts = (name.split(".") for name in names)
        found |= {part[1] for part in parts if part[0] == "contextlab" and len(part) > 1}
    return found


@pytest.mark.parametrize("path", source_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_rows_above_it(path):
    own = module_of(path)
    assert own in ROW, f"{own} has no row yet: give it one in {Path(__file__).name}"
    # `from contextlab import X` means the module that X is from; `__version__` is from none.
    modules = {HOME.get(name, name) for name in imported(path)} - {own, "__version__"}
    for name in modules:
        assert name in ROW, f"{own} imports {name}"
        assert ROW[name] < ROW[own], f"{own} imports {name}, which comes in the same row or later"


def test_every_row_that_exists_is_checked():
    assert {module_of(path) for path in source_files()} <= set(ROW)


def test_importing_the_package_needs_the_standard_library_alone():
    code = """
import sys
before = set(sys.modules)
import contextlab
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(" ".join(sorted(new - sys.stdlib_module_names - {"contextlab"})))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
