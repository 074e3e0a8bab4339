"""The prose names no chapter that the table of contents does not have."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = {int(number) for number in re.findall(r"notebooks/(\d\d)_", (ROOT / "_toc.yml").read_text("utf-8"))}
NAMED = re.compile(r"\bchapters?\s+(\d+(?:\s*(?:,\s*and|,\s*or|,|and|or|to|-|–)\s*\d+)*)\b(?!,\d)", re.IGNORECASE)
PAGES = sorted([*(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "book").glob("*.md")])


def absent(text):
    """The numbers of chapters that a text names and the book does not have."""
    named = (int(number) for found in NAMED.findall(text) for number in re.findall(r"\d+", found))
    return sorted(set(named) - CHAPTERS)


def prose(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


@pytest.mark.parametrize(
    "text, numbers",
    [
        ("See chapter 16.", [16]),
        ("Chapters 15 to 17 build it, as chapters 07 and 08 do.", [15, 17]),
        ("In chapters 04, 05 and\n99", [99]),
        ("*Chapter 14.* Chapter 05, in a window of 32,000 units", []),
    ],
)
def test_absent_chapters_are_found(text, numbers):
    assert absent(text) == numbers


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_chapter_that_the_prose_names_is_in_the_book(path):
    assert absent(prose(path)) == []
