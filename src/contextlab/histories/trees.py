"""Chats as trees: from the message shown last up to the root, by loops and never by dates."""

from __future__ import annotations

__all__ = ["ends_of", "newest", "up"]


def up(parents: dict, end) -> tuple[list, str]:
    """Return the keys from the root to ``end``, and what was wrong on the way, if anything.

    ``parents``: key -> key of its parent, None for a root.

    >>> up({"a": None, "b": "a", "c": "a"}, "c")
    (['a', 'c'], '')
    """
    path, seen, wrong = [], set(), ""
    while end is not None:
        if end in seen:
            wrong = "the parents of a message form a circle"
            break
        if end not in parents:
            wrong = "a parent of a message is missing: what lies before it is not in the file"
            break
        seen.add(end)
        path.append(end)
        end = parents[end]
    path.reverse()
    return path, wrong


def ends_of(parents: dict) -> list:
    """Return the keys that are nobody's parent: the ends of the branches, in the order of the file."""
    inner = set(parents.values())
    return [key for key in parents if key not in inner]


def newest(ends: list, parents: dict, time_of: dict):
    """Return the end with the largest time, then depth, then the last in the file; None if there is none."""
    if len(ends) < 2:
        return ends[0] if ends else next(reversed(parents), None)
    depth = {}
    for end in ends:
        path, seen = [], set()
        while end is not None and end in parents and end not in depth and end not in seen:
            seen.add(end)
            path.append(end)
            end = parents[end]
        below = depth.get(end, 0)
        for key in reversed(path):
            below += 1
            depth[key] = below
    order = {end: index for index, end in enumerate(ends)}

    def rank(end):
        time = time_of.get(end)
        return (float("-inf") if time is None else time, depth.get(end, 0), order[end])

    return max(ends, key=rank)
