"""The notebook of a lab: template and rule give the source, with solutions; the source gives the release.

A template is a text of blocks. A block begins with a line

    %% md ID                      a text
    %% md ID written points=6     a text in which the student answers, marked by a person
    %% code ID                    a cell that the student may change
    %% code ID given              a cell that grading restores
    %% code ID solution           a cell with ### BEGIN SOLUTION … ### END SOLUTION
    %% code ID check points=2     a check cell; ### BEGIN HIDDEN TESTS … ### END HIDDEN TESTS leave the release

and is a Jinja template with << … >> for values and <% … %> for conditions. The part of an id before the first
hyphen is the question. The release is what nbgrader's own generator makes of the source (a test compares them).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import namedtuple
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from .kit import LABS, Student, Variant

HEAD = re.compile(r"^%% (md|code) (\S+)(.*)$", re.MULTILINE)
# What stands in the place of a solution, in nbgrader's words.
CODE_STUB, TEXT_STUB = "# YOUR CODE HERE\nraise NotImplementedError()", "YOUR ANSWER HERE"
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python", "pygments_lexer": "ipython3"}


class Block(namedtuple("Block", "kind id role points text")):
    """One cell of a template; ``role`` is "", given, solution, check or written."""

    __slots__ = ()

    @property
    def question(self) -> str:
        return self.id.split("-")[0]


def blocks(lab: str) -> list[Block]:
    """Return the blocks of a lab's template, not yet rendered; raises `ValueError` for a header that is none."""
    text = (LABS / "kits" / f"{lab}.txt").read_text(encoding="utf-8")
    heads = list(HEAD.finditer(text))
    found = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        words = head[3].split()
        points = sum(int(word.removeprefix("points=")) for word in words if word.startswith("points="))
        role = "".join(word for word in words if not word.startswith("points="))
        if role not in ("", "given", "solution", "check", "written") or (points > 0) != (role in ("check", "written")):
            raise ValueError(f"{lab}.txt: {head[0]!r} is no header of a block")
        body = text[head.end() : following.start() if following else len(text)]
        found.append(Block(head[1], head[2], role, points, body.strip("\n")))
    return found


def points(lab: str) -> dict[str, int]:
    """Return question -> its points, in the order of the notebook."""
    sums: dict[str, int] = {}
    for block in blocks(lab):
        if block.points:
            sums[block.question] = sums.get(block.question, 0) + block.points
    return sums


def source(variant: Variant) -> dict:
    """Return the notebook with solutions and hidden tests, as nbgrader wants it."""
    environment = Environment(
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        autoescape=False,  # a notebook is no HTML
    )
    environment.filters["listed"] = listed
    sums = points(variant.lab)
    names = {**variant.context(), "points": sums, "total": sum(sums.values()), "hidden": hidden_tests(variant)}
    cells = []
    for block in blocks(variant.lab):
        text = environment.from_string(block.text).render(names).strip("\n")
        cells.append(_cell(block, re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)))
    metadata = {
        "contextlab": {"course": variant.course, "lab": variant.lab},
        "kernelspec": KERNEL,
        "language_info": LANGUAGE,
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def listed(values: list, indent: int = 0) -> str:
    """Return a list as code, with double quotes, on lines that fit the column of a page: a filter of the templates.

    ``indent``: blanks before the line on which the list begins. No item is broken.
    """
    items = [repr(value).replace("'", '"') for value in values]
    line = f"[{', '.join(items)}]"
    if len(line) + indent <= 66:
        return line
    margin = " " * indent
    lines = [""]
    for item in items:
        if lines[-1] and indent + len(lines[-1]) + len(item) > 74:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return "[\n" + "\n".join(f"{margin}    {one}" for one in lines) + f"\n{margin}]"


def _cell(block: Block, text: str) -> dict:
    metadata: dict = {}
    if block.role:
        metadata["nbgrader"] = {
            "grade": block.role in ("check", "written"),
            "grade_id": block.id,
            "locked": block.role in ("given", "check"),
            "schema_version": 3,
            "solution": block.role in ("solution", "written"),
            "task": False,
        }
        if block.points:
            metadata["nbgrader"]["points"] = block.points
    cell = {"cell_type": "markdown" if block.kind == "md" else "code", "id": block.id, "metadata": metadata}
    if block.kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text}


def hidden_tests(variant: Variant):
    """Return the function ``hidden`` of the templates: the hidden cases of a check as lines of asserts."""
    checks = variant.checks("demo")

    def hidden(check: str) -> str:
        lines = []
        for case in checks[check]:
            ask = case.asks[0]
            if case.expected is not None and ask.args is not None:
                arguments = ", ".join(map(repr, ask.args))
                lines.append(f"assert {ask.name}({arguments}) == {case.expected!r}")
        return "\n".join(lines)

    return hidden


def release(notebook: dict) -> dict:
    """Return what students get: no solutions, no hidden tests, locked cells, checksums."""
    notebook = json.loads(json.dumps(notebook))
    for cell in notebook["cells"]:
        mark = cell["metadata"].get("nbgrader")
        if not mark:
            continue
        if mark["solution"]:
            stub = CODE_STUB if cell["cell_type"] == "code" else TEXT_STUB
            text = without(cell["source"], "SOLUTION", stub)
            cell["source"] = text if text != cell["source"] else stub
        cell["source"] = without(cell["source"], "HIDDEN TESTS")
        cell["metadata"]["deletable"] = False
        if not mark["solution"]:
            cell["metadata"]["editable"] = False
        mark["cell_type"] = cell["cell_type"]
        mark["checksum"] = checksum(cell)
    return notebook


def without(text: str, what: str, stub: str | None = None) -> str:
    """Return a text without its regions ### BEGIN … ### END; ``stub`` takes their place, indented as they were."""
    lines, inside = [], False
    for line in text.split("\n"):
        if f"### BEGIN {what}" in line:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + one for one in stub.split("\n")] if stub else []
        elif f"### END {what}" in line:
            inside = False
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def checksum(cell: dict) -> str:
    """Return nbgrader's checksum of a cell: text, type, what kind of cell it is, id, and the points of a graded one."""
    mark = cell["metadata"]["nbgrader"]
    locked = not mark["solution"] and (mark["grade"] or mark["locked"])
    parts = [cell["source"], cell["cell_type"], str(mark["grade"]), str(mark["solution"]), str(locked)]
    parts.append(mark["grade_id"])
    if mark["grade"]:
        parts.append(str(float(mark["points"])))
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()


def text_of(notebook: dict) -> str:
    """Return a notebook as the text of its file, as nbformat writes it."""
    notebook = json.loads(json.dumps(notebook))
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def files(variant: Variant, folder: Path = LABS) -> dict[Path, str]:
    """Return path -> text of the two notebooks of a variant: source and release."""
    made = source(variant)
    name = f"{variant.lab}/{variant.lab}.ipynb"
    return {folder / "source" / name: text_of(made), folder / "release" / name: text_of(release(made))}


def demo_student(variant: Variant) -> Student:
    """Return the student whose numbers the release shows before an id is written into it."""
    return Student("demo", variant.course, variant.lab)
