"""The budget of one request, its parts, the room for the reply, and the cost of sending all of it on every turn."""

from __future__ import annotations

from collections import namedtuple

from .errors import BudgetError, InputError

__all__ = [
    "Outcome",
    "WindowParts",
    "input_budget",
    "outcome",
    "overflow_rules",
    "reply_room",
    "resent",
    "resent_with_summaries",
    "room",
    "windows",
]


def _whole(name: str, value: int, least: int | None = 0) -> int:
    """Return `value` when it is a whole number of at least `least` (None: of any size); a bool is no number here."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    if least is not None and value < least:
        raise InputError(f"{name} must be at least {least}, got {value}")
    return value


def input_budget(window: int, reply_reserve: int = 0, margin: int = 0) -> int:
    """Return what is left of a context window for the request: window - reply reserve - margin.

    Args:
        window: the context window, in the unit of the counter.
        reply_reserve: units kept free for the reply, which fills the same window.
        margin: units kept free because the count may be too low.

    Raises:
        InputError: an argument is no whole number, or a part is negative.
        BudgetError: nothing is left for the request. A window of 0 or below is such a case: it never means no limit.

    >>> input_budget(4000, reply_reserve=1000)
    3000
    """
    _whole("window", window, least=None)
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
        InputError: the budget or a part is no whole number, or a part is negative.
        BudgetError: nothing is left, as with a budget of 0 or below: it never means no limit. A room of exactly 0
            is an error too: it holds no message, not even the one that the request is about.

    >>> room(4000, {"instructions": 17, "reply start": 3})
    3980
    >>> room(18, {"instructions": 17, "reply start": 3})
    Traceback (most recent call last):
    ...
    contextlab.errors.BudgetError: no room for the history: budget 18, instructions 17 + reply start 3 = 20, 2 over
    """
    _whole("budget", budget, least=None)
    for name, units in parts.items():
        _whole(name, units)
    left = budget - sum(parts.values())
    if left <= 0:
        raise BudgetError("no room for the history", budget, parts)
    return left


class WindowParts(
    namedtuple(
        "WindowParts",
        "instructions tools notes retrieved tool_results history new_message reply margin",
        defaults=(0,) * 9,
    )
):
    """What shares a context window, in the unit of the counter: all parts of a request, the reply and a margin.

    ``instructions``, with the reply start; ``tools``, the schemas; ``notes``, pinned notes or a summary;
    ``retrieved`` passages; ``tool_results``; ``history``, earlier turns; ``new_message``, to be answered now;
    ``reply``, the room kept for it; ``margin``, kept because the count may be too low.

    >>> parts = WindowParts(instructions=350, tools=640, new_message=90, reply=1024, margin=200)
    >>> parts.room(8192)
    5888
    >>> WindowParts(instructions=1500, tools=11600, notes=200, new_message=300, reply=2000, margin=500).room(16000)
    Traceback (most recent call last):
    ...
    contextlab.errors.BudgetError: no room for the history, the largest part is tools: budget 16000, \
instructions 1500 + tools 11600 + notes 200 + new message 300 + reply 2000 + margin 500 = 16100, 100 over
    """

    __slots__ = ()

    @property
    def input(self) -> int:
        """Everything that is sent: all parts but the reply and the margin."""
        return sum(self) - self.reply - self.margin

    @property
    def total(self) -> int:
        """Everything that shares the window."""
        return sum(self)

    def by_name(self) -> dict[str, int]:
        """Return name -> units of the parts that are not empty, in words and in the order of a request."""
        return {name.replace("_", " "): units for name, units in self._asdict().items() if units}

    def room(self, window: int) -> int:
        """Return the room for the history in a window: what the other parts leave, 0 or more.

        Raises:
            InputError: the window or a part is no whole number, or is negative.
            BudgetError: the parts do not fit even with no history; it names each of them, and the largest.
        """
        return self._replace(history=0)._left(window, "no room for the history")

    def left(self, window: int) -> int:
        """Return what a window has left beside all parts, the history included; 0 is an exact fit.

        Raises:
            InputError, BudgetError: as `room` does.
        """
        return self._left(window, "the request and its reply do not fit")

    def _left(self, window: int, message: str) -> int:
        _whole("window", window)
        for name, units in zip(self._fields, self, strict=True):
            _whole(name.replace("_", " "), units)
        left = window - sum(self)
        if left < 0:
            parts = self.by_name()
            raise BudgetError(f"{message}, the largest part is {max(parts, key=parts.get)}", window, parts)
        return left


def reply_room(window: int, prompt: int, cap: int | None = None, asked: int | None = None, reasoning: int = 0) -> int:
    """Return the most tokens that a reader sees of a reply: two limits, and hidden reasoning comes off both.

    The reply fills the same window as the prompt, so it ends at window - prompt at the latest. A model has a cap of
    its own, and a request may ask for less.

    Args:
        window: the context window, in tokens.
        prompt: tokens of the request.
        cap: the most that the model writes in one reply; None is no cap.
        asked: what the request allows (`max_tokens`, `max_output_tokens`); None is as much as there is.
        reasoning: tokens of the reply that are not shown.

    Raises:
        InputError: an argument is no whole number, or is negative.
        BudgetError: the prompt leaves no room in the window.

    >>> reply_room(4096, prompt=62), reply_room(256, prompt=208, asked=400)
    (4034, 48)
    >>> reply_room(128_000, prompt=50_000, cap=4096), reply_room(128_000, prompt=127_800, cap=4096)
    (4096, 200)
    >>> reply_room(4096, prompt=62, asked=200, reasoning=199)
    1
    """
    limits = [_whole("window", window) - _whole("prompt", prompt)]
    limits += [_whole(name, limit) for name, limit in (("cap", cap), ("asked", asked)) if limit is not None]
    _whole("reasoning", reasoning)
    if limits[0] <= 0:
        raise BudgetError("no room for a reply", window, {"prompt": prompt})
    return max(min(limits) - reasoning, 0)


class Outcome(namedtuple("Outcome", "what prompt reply")):
    """What becomes of a request: ``what``, and the most tokens that are read of it and written in reply.

    ``what`` is "fits", "rejected" (an error, nothing is computed), "stopped" (the reply ends where the window does)
    or "cut" (the server takes tokens of the prompt away).
    """

    __slots__ = ()


def outcome(rule: dict | str, window: int, prompt: int, asked: int) -> Outcome:
    """Return what a service does with a prompt and the asked reply, by one of `overflow_rules`.

    A server that cuts is taken to make just enough room; many take more away.

    Args:
        rule: a row of `overflow_rules`, or its name.
        window: the context window, in tokens.
        prompt: tokens of the request.
        asked: the tokens that it allows for the reply.

    Raises:
        InputError: there is no such rule, its source does not say, or a number is not whole or is negative.

    >>> [outcome(name, window=256, prompt=208, asked=400) for name in ("vllm", "llama.cpp")]
    [Outcome(what='rejected', prompt=0, reply=0), Outcome(what='stopped', prompt=208, reply=48)]
    >>> outcome("ollama", window=4096, prompt=5000, asked=500)
    Outcome(what='cut', prompt=3596, reply=500)
    """
    if isinstance(rule, str):
        from ._data import row_named

        rule = row_named(overflow_rules(), rule, "rule of a service")
    _whole("window", window)
    _whole("prompt", prompt)
    _whole("asked", asked)
    if prompt + asked <= window:
        return Outcome("fits", prompt, asked)
    what = rule["input_over" if prompt >= window else "sum_over"]
    if what == "rejected":
        return Outcome("rejected", 0, 0)
    if what == "stopped":
        return Outcome("stopped", prompt, window - prompt)
    if what == "cut":
        reply = min(asked, window)
        return Outcome("cut", window - reply, reply)
    raise InputError(f"the source does not say what {rule['title']} does then")


def overflow_rules() -> list[dict]:
    """Return what services and servers did when a request did not fit: rows with the words, a date and a source.

    ``input_over``: the input alone exceeds the window; ``sum_over``: input and asked reply together do. Each is
    "rejected", "stopped", "cut", or None where the source does not say. `Outcome` has the meanings.

    >>> {row["sum_over"] for row in overflow_rules()} == {"rejected", "stopped", "cut", None}
    True
    """
    from ._data import read_table

    return read_table("overflow")


def windows(kind: str | None = None) -> list[dict]:
    """Return context windows and reply caps, advertised by the makers of models or served: rows with date and source.

    Args:
        kind: "advertised" or "served"; None is both.

    Raises:
        InputError: there is no such kind.

    >>> [row["window"] for row in windows("served") if row["name"] == "ollama-small"]
    [4096]
    """
    from ._data import read_table

    if kind not in (None, "advertised", "served"):
        raise InputError(f'windows are "advertised" or "served", got {kind!r}')
    return [row for row in read_table("windows") if kind in (None, row["kind"])]


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
