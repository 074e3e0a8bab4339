"""Which messages a request keeps: the policies that only look at size.

A policy is any object with two methods. ``start(room)`` is called once, before the first request, with the units
left for notes and history. ``select(history)`` is called at each request with the history so far, the current user
message last, and returns a `Kept`. A policy may remember what it did between two calls; `start` begins anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import namedtuple
from itertools import accumulate

from .budget import room as room_after
from .chat import Message
from .errors import ContextOverflow, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    class Policy(Protocol):
        def start(self, room: int) -> None: ...

        def select(self, history: History) -> Kept: ...


class History:
    """Messages in order, each counted once; prefix sums answer what any run of them costs.

    ``messages`` holds no instructions: those are part of every request. ``cost`` gives the units of one message,
    its own overhead included (a rule's ``message`` method). ``prefix[i]`` is the cost of the first i messages.

    >>> history = History(["a", "bb", "ccc"], cost=len)
    >>> history.prefix, history.units(1, 3)
    ([0, 1, 3, 6], 5)
    """

    __slots__ = ("cost", "messages", "prefix", "stop")

    def __init__(self, messages: Iterable[Message], cost: Callable[[Message], int]):
        self.messages = list(messages)
        self.cost = cost
        self.prefix = list(accumulate(map(cost, self.messages), initial=0))
        self.stop = len(self.messages)

    def __len__(self):
        return self.stop

    def __getitem__(self, index: int) -> Message:
        return self.messages[range(self.stop)[index]]

    def until(self, stop: int) -> History:
        """Return the history of the first ``stop`` messages; the lists are shared, nothing is counted again."""
        view = object.__new__(History)
        view.messages, view.cost, view.prefix, view.stop = self.messages, self.cost, self.prefix, stop
        return view

    def units(self, start: int, stop: int) -> int:
        """Return the units of the messages ``start`` to ``stop - 1``."""
        return self.prefix[stop] - self.prefix[start]


class Kept(namedtuple("Kept", "indices header header_units units footer", defaults=((),))):
    """What a policy keeps for one request.

    ``indices``: the indices of the kept messages in the history, ascending (a `range` for one contiguous run).
    ``header``: messages that stand between the instructions and the history, such as a note or a summary.
    ``footer``: messages that stand beside the question, between the history and the current user message.
    ``header_units``: the units of header and footer. ``units``: those of header, footer and kept messages together.
    """

    __slots__ = ()

    def messages(self, history: History) -> list[Message]:
        """Return the messages of the request, instructions aside, in the order in which they are sent.

        >>> history = History(["a reply", "a question"], cost=len)
        >>> Kept(range(2), ("a note",), 11, 28, ("a hint",)).messages(history)
        ['a note', 'a reply', 'a hint', 'a question']
        """
        kept = [history.messages[i] for i in self.indices]
        return [*self.header, *kept[:-1], *self.footer, *kept[-1:]]


def newest_run(prefix: Sequence[int], room: int, stop: int | None = None) -> int:
    """Return the index at which the longest newest run that fits ``room`` units begins.

    The run goes from that index to ``stop - 1`` (all messages by default); it is empty when the result is ``stop``.
    ``prefix`` are prefix sums of the units, beginning with 0. Walking from the newest message and stopping at the
    first that does not fit gives the same index: units are never negative, so prefix sums never fall.

    >>> newest_run([0, 300, 550, 730, 1130, 1250], room=700)
    2
    """
    if stop is None:
        stop = len(prefix) - 1
    if room < 0:
        return stop
    return bisect_left(prefix, prefix[stop] - room, 0, stop + 1)


def newest_that_fit(history: History, room: int, reserved: dict[str, int] | None = None) -> range:
    """Return the indices of the longest newest run that fits ``room`` after ``reserved`` parts are taken off.

    ``reserved`` maps the name of a part to its units. Raises `BudgetError` when these parts leave nothing, and
    `ContextOverflow` when the newest message alone does not fit: a request without it would answer another question.

    >>> history = History(["aaa", "bb", "cccc"], cost=len)
    >>> newest_that_fit(history, 9), newest_that_fit(history, 9, {"pinned note": 2})
    (range(0, 3), range(1, 3))
    """
    stop = len(history)
    left = room_after(room, reserved) if reserved else room
    start = newest_run(history.prefix, left, stop)
    if start == stop and stop:
        parts = {**(reserved or {}), "current user message": history.units(stop - 1, stop)}
        raise ContextOverflow("the current user message does not fit", room, parts)
    return range(start, stop)


class LastN:
    """Keep the last ``n`` messages, whatever they cost: the result may be far above the room.

    >>> policy = LastN(2)
    >>> policy.start(room=9)
    >>> policy.select(History(["aaa", "bb", "cccccccccc"], cost=len)).units
    12
    """

    def __init__(self, n: int):
        if n < 1:
            raise InputError(f"last n messages needs n of at least 1, not {n}: the current user message is one of them")
        self.n = n

    def start(self, room: int) -> None:
        pass

    def select(self, history: History) -> Kept:
        stop = len(history)
        start = max(0, stop - self.n)
        return Kept(range(start, stop), (), 0, history.units(start, stop))


class KeepNewest:
    """Keep the newest messages that fit the room: one contiguous run, the current user message always in it.

    With ``whole_turns`` a run never begins inside a turn: a reply whose question has left goes too.

    >>> policy = KeepNewest()
    >>> policy.start(room=6)
    >>> policy.select(History(["aaa", "bb", "cccc"], cost=len)).indices
    range(1, 3)
    """

    def __init__(self, whole_turns: bool = False):
        self.whole_turns = whole_turns

    def start(self, room: int) -> None:
        self.room = room

    def select(self, history: History) -> Kept:
        indices = newest_that_fit(history, self.room)
        if self.whole_turns:
            start = indices.start
            while start < indices.stop - 1 and history[start].role != "user":
                start += 1
            indices = range(start, indices.stop)
        return Kept(indices, (), 0, history.units(indices.start, indices.stop))


class LowWater:
    """Keep everything from one message on; when that does not fit, keep the newest that fit ``mark`` of the room.

    Between two such cuts the first message stays where it is, so that each request begins as the one before it did.
    ``mark`` is a share of the room, above 0 and up to 1; with 1 this is keep-newest. The current user message is
    always kept: when it alone exceeds the mark, it is kept alone.

    >>> policy = LowWater(mark=0.5)
    >>> policy.start(room=8)
    >>> history = History(["aaa", "bb", "ccc", "d", "ee"], cost=len)
    >>> [policy.select(history.until(stop)).indices for stop in (3, 4, 5)]
    [range(0, 3), range(2, 4), range(2, 5)]
    """

    def __init__(self, mark: float = 0.5):
        if not 0 < mark <= 1:
            raise InputError(f"a low-water mark is a share of the room, above 0 and up to 1, not {mark}")
        self.mark = mark

    def start(self, room: int) -> None:
        self.room = room
        self._first = 0

    def select(self, history: History) -> Kept:
        stop = len(history)
        if history.units(self._first, stop) > self.room:
            newest_that_fit(history, self.room)  # an error when the current message alone does not fit
            low = int(self.mark * self.room + 1e-9)  # 0.29 * 100 is a little less than 29
            self._first = min(newest_run(history.prefix, low, stop), stop - 1)
        return Kept(range(self._first, stop), (), 0, history.units(self._first, stop))


class PinnedFit:
    """Keep the newest messages that fit beside ``header``, messages that every request carries.

    >>> policy = PinnedFit(["note"])
    >>> policy.start(room=9)
    >>> kept = policy.select(History(["aaa", "bb", "ccc"], cost=len))
    >>> kept.indices, kept.header_units, kept.units
    (range(1, 3), 4, 9)
    """

    part = "pinned notes"  # the name of the header in error messages

    def __init__(self, header: Iterable[Message]):
        self.header = tuple(header)

    def start(self, room: int) -> None:
        self.room = room
        self._counted = None  # the header that `_header_units` is of

    def select(self, history: History) -> Kept:
        if self.header is not self._counted:
            self._header_units = sum(map(history.cost, self.header))
            self._counted = self.header
        header_units = self._header_units
        indices = newest_that_fit(history, self.room, {self.part: header_units})
        return Kept(indices, self.header, header_units, header_units + history.units(indices.start, indices.stop))


class ReservedFit:
    """Keep the newest messages that fit when ``reserve`` units are set aside for a header that may change.

    `header` is asked after the choice, with the index of the first kept message; it returns a tuple of messages that
    must cost no more than the reserve. This class has no header of its own: a rolling summary derives from it.
    """

    part = "reserve"

    def __init__(self, reserve: int):
        if reserve < 0:
            raise InputError(f"a reserve is a number of units from 0 on, not {reserve}")
        self.reserve = reserve

    def start(self, room: int) -> None:
        self.room = room

    def header(self, history: History, start: int) -> tuple[Message, ...]:
        """Return the header of a request whose first kept message has the index ``start``."""
        return ()

    def select(self, history: History) -> Kept:
        indices = newest_that_fit(history, self.room, {self.part: self.reserve})
        header = self.header(history, indices.start)
        header_units = sum(map(history.cost, header))
        if header_units > self.reserve:
            raise ContextOverflow(f"the header is larger than the {self.part}", self.reserve, {"header": header_units})
        return Kept(indices, header, header_units, header_units + history.units(indices.start, indices.stop))


class Part:
    """What may stand beside the history in a `Beside`: pinned notes, a summary, tiered notes, quoted finds.

    This base class says what a part can do, and does nothing.
    """

    name = "part"  # in error messages

    def start(self, room: int) -> None:
        """Begin anew, before the first request."""

    def read(self, history: History) -> tuple[int, int]:
        """Take notice of the new messages; return the units to keep free: now, and at most when messages leave."""
        return 0, 0

    def fold(self, history: History, first: int) -> bool:
        """Take in what is about to leave, the messages before the index ``first``; return whether that worked."""
        return True

    def write(self, history: History, first: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        """Return header and footer of a request whose history begins at ``first``."""
        return (), ()


class Line(Part):
    """A line of text that stands in every request, the same one or another each time: the smallest `Part`.

    ``text``: the line, or a function that makes it of the number of the request (1, 2, …). ``place`` is "top", after
    the instructions, or "beside" the question. A line on top that changes ends what two requests have in common.

    >>> policy = Beside(Line(lambda request: f"request {request}"))
    >>> policy.start(room=30)
    >>> history = History([Message("user", "one"), Message("user", "two")], cost=lambda message: len(message.text))
    >>> [policy.select(history.until(stop)).header[0].content for stop in (1, 2)]
    ['request 1', 'request 2']
    """

    name = "line"

    def __init__(self, text: str | Callable[[int], str], place: str = "top", role: str = "system"):
        if place not in ("top", "beside"):
            raise InputError(f"the place of a line is top or beside, not {place!r}")
        self.text = text
        self.place = place
        self.role = role

    def start(self, room: int) -> None:
        self._request = 0

    def read(self, history: History) -> tuple[int, int]:
        self._request += 1
        self._message = Message(self.role, self.text(self._request) if callable(self.text) else self.text)
        units = history.cost(self._message)
        return units, units

    def write(self, history: History, first: int) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
        line = (self._message,)
        return (line, ()) if self.place == "top" else ((), line)


class Beside:
    """Keep one contiguous newest run beside any number of parts, each a `Part`: a pin, a summary, both, …

    The first kept message stays where it is until the parts and the run exceed the room. Then the run is cut to
    ``mark`` times the room, with the most that each part may need taken off, and each part folds what leaves. When a
    part cannot (a summariser failed), only as much leaves as must, and the next overflow tries again. With ``mark`` 1
    the run is the longest that fits, as in keep-newest. With ``last`` it has at most that many messages, however small
    they are. With ``whole_turns`` it never begins inside a turn. Raises `BudgetError` when the parts leave nothing and
    `ContextOverflow` when the current user message does not fit.

    >>> policy = Beside(mark=0.5)
    >>> policy.start(room=8)
    >>> history = History(["aaa", "bb", "ccc", "d", "ee"], cost=len)
    >>> [policy.select(history.until(stop)).indices for stop in (3, 4, 5)]
    [range(0, 3), range(2, 4), range(2, 5)]
    """

    def __init__(self, *parts: Part, mark: float = 1, last: int | None = None, whole_turns: bool = False):
        if not 0 <= mark <= 1:
            raise InputError(f"a low-water mark is a share of the room, from 0 to 1, not {mark}")
        if last is not None and last < 1:
            raise InputError(f"at most {last} messages: the current user message is one, so at least 1")
        self.parts = parts
        self.mark = mark
        self.last = last
        self.whole_turns = whole_turns

    def start(self, room: int) -> None:
        self.room = room
        self._first = 0
        self._counted = {}  # id of a message of the last request -> the message and its units
        for part in self.parts:
            part.start(room)

    def select(self, history: History) -> Kept:
        stop = len(history)
        needs = [part.read(history) for part in self.parts]
        now = sum(need for need, _ in needs)
        last = stop if self.last is None else self.last
        if now + history.units(self._first, stop) > self.room or stop - self._first > last:
            parts = {}
            for part, (need, _) in zip(self.parts, needs, strict=True):
                parts[part.name] = parts.get(part.name, 0) + need
            must = max(newest_that_fit(history, self.room, parts).start, stop - last)  # an error when nothing fits
            most = sum(most for _, most in needs)
            first = newest_run(history.prefix, int(self.mark * self.room + 1e-9) - most, stop)
            if self.last is not None:
                first = max(first, stop - int(self.mark * last + 1e-9))
            first = self._cut(history, first)
            fits = history.units(first, stop) + most <= self.room
            if not fits or not all(part.fold(history, first) for part in self.parts):
                first = self._cut(history, must)
            self._first = max(self._first, first)
        indices = range(self._first, stop)
        written = [part.write(history, self._first) for part in self.parts]
        header = tuple(message for top, _ in written for message in top)
        footer = tuple(message for _, beside in written for message in beside)
        units = self._units(history, (*header, *footer))
        total = units + history.units(self._first, stop)
        if total > self.room:
            raise ContextOverflow(
                "a part is larger than it said", self.room, {"parts": units, "history": total - units}
            )
        return Kept(indices, header, units, total, footer)

    def _cut(self, history: History, first: int) -> int:
        """Return ``first``, or the start of the next turn; the current message is never cut off."""
        stop = len(history)
        if self.whole_turns:
            first = next((i for i in range(first, stop) if history[i].role == "user"), stop)
        return min(first, stop - 1)

    def _units(self, history, messages):
        counted, self._counted = self._counted, {}
        units = 0
        for message in messages:
            known = counted.get(id(message))
            cost = known[1] if known else history.cost(message)
            self._counted[id(message)] = message, cost
            units += cost
        return units
