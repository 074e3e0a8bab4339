"""What the original renderers of some models make of one small conversation, recorded with their versions."""

from __future__ import annotations

from .._data import read_table

__all__ = ["recorded_counts"]


def recorded_counts() -> list[dict]:
    """Return one row for each renderer: its name and version, the tokens of the conversation, and what it does.

    `tokens` is the conversation of four messages with which chapter 3 begins, `with_tool` the same with one tool;
    None means that nobody counted it. The tests count all of them again where the renderers are installed.

    >>> {row["name"]: row["tokens"] for row in recorded_counts()}["harmony"]
    107
    """
    return read_table("renders")
