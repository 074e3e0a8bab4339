"""The rules that exercises compare: the library's, and those that a slip makes of it."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import accumulate

from contextlab.forecast import drop_turn
from contextlab.keep import History, newest_run

Sized = namedtuple("Sized", "history requests fixed")
Sized.__doc__ = "A chat known by the costs of its messages; stands in for a `CountedChat`."


def sized(costs: Sequence[int], fixed: int = 0) -> Sized:
    """Return a chat of these costs, user and reply in turn; `fixed` is what every request carries."""
    return Sized(History(costs, cost=int), range(0, len(costs), 2), {"fixed parts": fixed})


def prefix_of(costs: Sequence[int]) -> list[int]:
    return list(accumulate(costs, initial=0))


def newest(costs: Sequence[int], room: int) -> range:
    """Return the indices that keep-newest keeps, as the library does."""
    return range(newest_run(prefix_of(costs), room), len(costs))


def skipping(costs: Sequence[int], room: int) -> list[int]:
    """Return the indices kept when a message that does not fit is skipped and the walk goes on (F12)."""
    kept = []
    for i in reversed(range(len(costs))):
        if costs[i] <= room:
            kept.append(i)
            room -= costs[i]
    return sorted(kept)


def oldest_first(costs: Sequence[int], room: int) -> list[int]:
    """Return the indices kept when the walk begins at the oldest message (F13)."""
    kept = []
    for i, cost in enumerate(costs):
        if cost > room:
            break
        kept.append(i)
        room -= cost
    return kept


def drop_turn_of(
    costs: Sequence[int], room: int, index: int = 0, *, reply_counted: bool = False, users_only: bool = False
) -> int | None:
    """Return the library's drop turn of a message in a chat known by its costs, user and reply in turn.

    `reply_counted` adds the reply of a turn to the request of the same turn (F1); `users_only` counts no reply
    (R13). Both are slips.
    """
    costs = [0 if users_only and i % 2 else cost for i, cost in enumerate(costs)]
    if reply_counted:
        # A request then ends with the reply of its own turn: two messages become one.
        costs = [part for i in range(0, len(costs), 2) for part in (sum(costs[i : i + 2]), 0)]
    return drop_turn(sized(costs), room, index)


def total(costs: Sequence[int], kept: Sequence[int]) -> int:
    """Return the cost of the kept messages."""
    return sum(costs[i] for i in kept)
