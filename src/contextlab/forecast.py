"""When is a message forgotten? Three forecasts of the drop turn, and the exact one.

The drop turn is the first request without the message, under keep-newest. ``room`` is what the input budget leaves
for the history: budget − instructions − reply start (− reply reserve, − notes), in the units of the counter.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import namedtuple
from math import floor

from .errors import InputError
from .render import PlainRule
from .replay import CountedChat
from .script import scripted_chat
from .tokens import WordPieces

SWEEP_BUDGETS = (4000, 8000, 16000, 32000)
SWEEP_COLUMNS = ("seed", "input_budget", "drop_turn", "published", "corrected", "unbiased")


class Sizes(namedtuple("Sizes", "first_turn mean_user mean_turn")):
    """What a forecast knows of a chat, in units, message overheads included.

    ``first_turn``: the first user message and its reply. ``mean_user``, ``mean_turn``: averages over the later turns.
    """

    __slots__ = ()


def sizes(chat: CountedChat) -> Sizes:
    """Measure a counted chat whose every turn is a user message and a reply; at least two turns, else `InputError`.

    >>> measured = sizes(CountedChat(scripted_chat(), PlainRule(WordPieces())))
    >>> measured.first_turn, round(measured.mean_turn, 1)
    (84, 229.6)
    """
    requests, history = chat.requests, chat.history
    if len(requests) < 2:
        raise InputError("a forecast needs a chat of at least 2 turns: the averages are over the turns after the first")
    later = requests[1:]
    users = sum(history.units(i, i + 1) for i in later)
    return Sizes(
        history.units(requests[0], later[0]),
        users / len(later),
        history.units(later[0], len(history)) / len(later),
    )


def published(room: int, mean_turn: float) -> int:
    """Return floor(room / mean turn) + 1, the forecast of the published lab: it counts whole turns.

    >>> [published(budget - 20, 229.6) for budget in (4000, 8000, 32000)]
    [18, 35, 140]
    """
    return floor(room / mean_turn) + 1


def corrected(room: int, mean_user: float, mean_turn: float) -> int:
    """Return floor((room − mean user) / mean turn) + 2.

    The request of turn t holds t − 1 whole turns and one user message; the reply of turn t is not in it.

    >>> corrected(3980, mean_user=52.6, mean_turn=229.6)
    19
    """
    return floor((room - mean_user) / mean_turn) + 2


def unbiased(room: int, first_turn: int, mean_user: float, mean_turn: float) -> int:
    """Return floor((room − turn 1 − mean user) / mean turn) + 3.

    As `corrected`, with the real size of turn 1 in place of an average one; t − 2 average turns are left to fit.

    >>> unbiased(3980, first_turn=84, mean_user=52.6, mean_turn=229.6)
    19
    """
    return floor((room - first_turn - mean_user) / mean_turn) + 3


def drop_turn(chat: CountedChat, room: int, index: int = 0) -> int | None:
    """Return the exact drop turn of the message with this index in the history, or None if it never leaves.

    No request is simulated: under keep-newest a message is gone from the first request whose messages from
    ``index`` on cost more than ``room``; prefix sums and bisection find it. For a fact that is said again use the
    index of its last message.

    >>> chat = CountedChat(scripted_chat(), PlainRule(WordPieces()))
    >>> [drop_turn(chat, chat.room(budget)) for budget in (4000, 8000, 16000, 32000)]
    [19, 36, 70, 141]
    """
    prefix = chat.history.prefix
    requests = chat.requests
    first = bisect_left(requests, index)  # the first request that could hold the message
    gone = bisect_right(requests, prefix[index] + room, first, key=lambda current: prefix[current + 1])
    return gone + 1 if gone < len(requests) else None


def budget_for(chat: CountedChat, turn: int, index: int = 0) -> int:
    """Return the smallest input budget with which the request of ``turn`` still holds the message ``index``.

    >>> budget_for(CountedChat(scripted_chat(), PlainRule(WordPieces())), turn=100)
    23017
    """
    if not 1 <= turn <= len(chat.requests):
        raise InputError(f"turn {turn} is not in the chat: it has turns 1 to {len(chat.requests)}")
    current = chat.requests[turn - 1]
    if not 0 <= index <= current:
        raise InputError(f"message {index} is not in the history of turn {turn}: it has messages 0 to {current}")
    return sum(chat.fixed.values()) + chat.history.units(index, current + 1)


def sweep_rows(seed: int) -> list[tuple[int, ...]]:
    """Return one row of `SWEEP_COLUMNS` for each of `SWEEP_BUDGETS`: the scripted chat of this seed, all forecasts.

    The forecasts are given the true averages of the chat, so that what is left is their own error.

    >>> sweep_rows(20261105)[0]
    (20261105, 4000, 19, 18, 19, 19)
    """
    chat = CountedChat(scripted_chat(seed=seed), PlainRule(WordPieces()))
    known = sizes(chat)
    rows = []
    for budget in SWEEP_BUDGETS:
        room = chat.room(budget)
        forecasts = (
            published(room, known.mean_turn),
            corrected(room, known.mean_user, known.mean_turn),
            unbiased(room, *known),
        )
        rows.append((seed, budget, drop_turn(chat, room), *forecasts))
    return rows
