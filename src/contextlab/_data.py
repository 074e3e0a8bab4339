"""Tables that come with the package: JSON files in `contextlab/data`, each row with its source."""

from __future__ import annotations

from os.path import dirname, join

from .errors import InputError


def read_table(name: str) -> list[dict]:
    """Return the rows of ``data/<name>.json``; json is loaded when a table is, not before."""
    import json

    with open(join(dirname(__file__), "data", f"{name}.json"), encoding="utf-8") as stream:
        return json.load(stream)["rows"]


def row_named(rows: list[dict], name: str, what: str) -> dict:
    """Return the row whose ``name`` is this one, letter case aside.

    Raises:
        InputError: there is none; the message suggests the nearest name.
    """
    wanted = name.strip().lower()
    for row in rows:
        if row["name"] == wanted:
            return row
    from difflib import get_close_matches

    names = [row["name"] for row in rows]
    near = get_close_matches(wanted, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
    raise InputError(f"there is no {what} {name!r}; {hint}")
