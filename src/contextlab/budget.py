"""The budget of one request, and what it costs to send a conversation again on every turn."""

from __future__ import annotations

from .errors import BudgetError, InputError

__all__ = ["input_budget", "resent", "resent_with_summaries", "room"]


def _whole(name: str, value: int, least: int = 0) -> int:
    """Return `value` when it is a whole number of at least `least`; a bool is no number here."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    return value


def input_budget(window: int, reply_reserve: int = 0, margin: int = 0) -> int:
    """Return what is left of a context window for the request: window - reply reserve - margin.

    Args:
        window: the context window, in the unit of the counter.
        reply_reserve: units kept free for the reply, which fills the same window.
        margin: units kept free because the count may be too low.

    Raises:
        InputError: an argument is no whole number, or is negative.
        BudgetError: nothing is left for the request.

    >>> input_budget(4000, reply_reserve=1000)
    3000
    """
    _whole("window", window)
    parts = {"reply reserve": _whole("reply reserve", reply_reserve), "margin": _whole("margin", margin)}
    left = window - reply_reserve - margin
    if left <= 0:
        raise BudgetError("the window leaves nothing for the request", window, parts)
    return left


def room(budget: int, parts: dict[str, int]) -> int:
    """Return the room for the history: an input budget less the parts that are always sent.

    Args:
        budget: the input budget, in the unit of the counter.
        parts: what every request carries: name of the part -> its units.

    Raises:
        InputError: the budget or a part is no whole number, or is negative.
        BudgetError: nothing is left. A room of exactly 0 is an error too: it holds no message,
            not even the one that the request is about.

    >>> room(4000, {"instructions": 17, "reply start": 3})
    3980
    >>> room(18, {"instructions": 17, "reply start": 3})
    Traceback (most recent call last):
    ...
    contextlab.errors.BudgetError: no room for the history: budget 18, instructions 17 + reply start 3 = 20, 2 over
    """
    _whole("budget", budget)
    for name, units in parts.items():
        _whole(name, units)
    left = budget - sum(parts.values())
    if left <= 0:
        raise BudgetError("no room for the history", budget, parts)
    return left


def resent(turns: int, per_turn: int) -> int:
    """Return the units sent over a conversation when every turn sends everything so far again.

    Turn i sends i turns, so the sum is n(n + 1)/2 turns. It grows with the square of n.

    Args:
        turns: the number of turns, n.
        per_turn: units that a turn adds, the new message and its reply together.

    >>> [resent(n, 200) for n in (10, 20, 40)]
    [11000, 42000, 164000]
    """
    _whole("turns", turns)
    _whole("per_turn", per_turn)
    return turns * (turns + 1) // 2 * per_turn


def resent_with_summaries(turns: int, per_turn: int, summary: int, every: int, reading: bool = False) -> int:
    """Return the units sent when a summary replaces all earlier turns after every `every` turns.

    The summary is made after turns `every`, 2 · `every`, and so on, but not after the last turn, which no
    request follows. Each request then sends the newest summary and the turns since it was made.

    Args:
        turns: the number of turns.
        per_turn: units that a turn adds.
        summary: units of a summary.
        every: turns between two summaries, at least 1.
        reading: whether to add what the summariser itself reads: `every` turns and the summary before.

    >>> [resent_with_summaries(n, 200, summary=60, every=10) for n in (10, 20, 40)]
    [11000, 22600, 45800]
    >>> resent_with_summaries(40, 200, summary=60, every=10, reading=True)
    51920
    """
    _whole("turns", turns)
    _whole("per_turn", per_turn)
    _whole("summary", summary)
    _whole("every", every, least=1)
    summaries = max(turns - 1, 0) // every
    rest = turns - summaries * every  # turns since the last summary, 1 to `every`
    sent = summaries * resent(every, per_turn) + resent(rest, per_turn)
    sent += (turns - every) * summary if summaries else 0
    if reading and summaries:
        sent += summaries * every * per_turn + (summaries - 1) * summary
    return sent
