"""The part of a chat that can be sent: tool groups whole and together, the rest left out with a reason.

1. An assistant message that calls tools and the results of all its calls are one group. The results may stand
   anywhere behind the call; they are sent right behind it, in the order in which they came.
2. A group that lacks a result, or whose calls have no ids of their own, is left out whole.
3. A result without a call before it is left out, and so is a second result of the same call. When an id is used
   again, a result belongs to the latest call with that id.
4. An assistant message with neither content nor a call is left out.
5. The older `function_call` and its `function` message are a group too. A function message that no call asked for is
   an ordinary message: the API takes it.
"""

from __future__ import annotations

from itertools import accumulate

from .chat import ROLES, Message
from .errors import InputError
from .keep import History
from .parts import as_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Entry", "Group", "Sendable", "copied"]

NO_RESULT = "a call without its result"
NO_IDS = "calls without ids of their own"
NO_CALL = "a result without a call before it"
SECOND_RESULT = "a second result of the same call"
EMPTY = "an assistant message with neither content nor a call"


def copied(value):
    """Return a copy of JSON-like data: dicts and lists are new, what they hold is shared.

    >>> copied({"a": [1, {"b": 2}]})
    {'a': [1, {'b': 2}]}
    """
    if isinstance(value, dict):
        return {key: copied(one) if isinstance(one, dict | list) else one for key, one in value.items()}
    if isinstance(value, list):
        return [copied(one) for one in value]
    return value


class Entry(Message):
    """A message of the input, counted once: ``raw`` is a copy of what came in, ``index`` its place, ``units`` its cost.

    >>> entry = Entry.read({"role": "user", "content": "Hello"}, 3, lambda raw: len(raw["content"]))
    >>> entry.role, entry.index, entry.units
    ('user', 3, 5)
    """

    @classmethod
    def read(cls, raw, index: int | None, count: Callable[[object], int]) -> Entry:
        """Read a `Message` or a dict of OpenAI's format; raises `InputError`, with the index, when it is neither."""
        if isinstance(raw, dict):
            get = raw.get
            role, content, calls = get("role"), get("content"), get("tool_calls")
            if calls or not isinstance(content, str) or role not in ROLES:
                cls.from_openai(raw, _where(index))  # which says what is wrong
            calls = tuple(calls) if calls else ()
            entry = cls._make((role, content, calls, get("tool_call_id"), get("name"), None, None))
            entry.raw = raw.copy() if len(raw) == 2 and isinstance(content, str) else copied(raw)
        elif isinstance(raw, Message):
            entry = cls._make(raw)
            entry.raw = raw
        else:
            raise InputError(
                f"{_where(index)} is a {type(raw).__name__}: expected a dict of OpenAI's format or a Message; "
                "contextlab.adapters reads those of other libraries"
            )
        entry.index = index
        try:
            entry.units = count(as_parts(entry.raw))
        except InputError as error:
            raise InputError(f"{_where(index)}: {error}") from None
        return entry

    def with_content(self, content: str, count: Callable[[object], int]) -> Entry:
        """Return this entry with another text, counted."""
        raw = self.raw._replace(content=content) if isinstance(self.raw, Message) else {**self.raw, "content": content}
        entry = self._replace(content=content)
        entry.raw, entry.index, entry.units = raw, self.index, count(as_parts(raw))
        return entry


def _where(index):
    return "an added message" if index is None else f"message {index}"


class Group(list):
    """Entries that stay or leave together; ``waiting`` holds the ids of unanswered calls, ``fault`` what is wrong."""

    def __init__(self, entry: Entry, waiting=(), fault: str = ""):
        super().__init__((entry,))
        self.waiting = waiting
        self.fault = fault


class Sendable(History):
    """The history of what can be sent, in the order in which it is sent; it grows with `append`.

    ``raws``: the messages as they came in. ``starts`` and ``indices``: for each group its first place in the history,
    and its indices in the input. ``users``: the places of the user messages. ``points``: the lengths at which a request
    can be made, behind each user message and each result. ``total``: the units of all that was appended. ``version``
    rises when places have changed: a late result moves what stands behind its call.

    >>> chat = Sendable()
    >>> call = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    >>> said = [Message("user", "Time?"), Message("assistant", None, (call,)), Message("tool", "9:00", (), "b")]
    >>> for index, message in enumerate(said):
    ...     chat.append(Entry.read(message, index, lambda raw: 1))
    >>> chat.indices, [why for group, why in chat.left_out()]
    ([(0,)], ['a call without its result', 'a result without a call before it'])
    """

    __slots__ = (
        *("indices", "points", "raws", "starts", "total", "users", "version"),
        *("_by_call", "_faulty", "_groups", "_open"),
    )

    def __init__(self, cost: Callable | None = None):
        super().__init__((), cost)
        self._groups = []  # of the whole input; a message that is a group by itself stands there as it is
        self._faulty = []
        self._open = {}  # index of a message with unanswered calls -> its group
        self._by_call = {}  # id of a call -> the group of the latest call with it
        self.total = 0
        self.version = 0
        self._start_over()

    def _start_over(self):
        self.messages, self.raws, self.prefix, self.stop = [], [], [0], 0
        self.starts, self.indices, self.users, self.points = [], [], [], []
        self.version += 1

    def append(self, entry: Entry) -> None:
        """Put a message behind all others; a group enters the history with its last result."""
        self.total += entry.units
        role = entry.role
        if role == "tool" or role == "function":
            self._append_result(entry)
        elif role == "assistant" and (ids := _call_ids(entry)):
            group = Group(entry, waiting=set(ids))
            self._groups.append(group)
            self._by_call.update(dict.fromkeys(ids, group))
            if None in ids or len(set(ids)) < len(ids):
                group.fault = NO_IDS
                self._faulty.append(group)
            else:
                self._open[entry.index] = group
        elif role == "assistant" and not entry.content and _says_nothing(entry):
            self._leave_out(entry, EMPTY)
        else:
            self._groups.append(entry)
            self._put_one(entry)

    def _append_result(self, entry):
        key = entry.tool_call_id if entry.role == "tool" else ("function", str(entry.name))
        group = self._by_call.get(key) if isinstance(key, str | tuple) else None  # no key, no call
        if group is not None and key in group.waiting:
            group.append(entry)
            group.waiting.remove(key)
            if not group.waiting and not group.fault:
                del self._open[group[0].index]
                self._settle(group)
        elif group is None and entry.role == "function":
            self._groups.append(entry)
            self._put_one(entry)
        else:
            self._leave_out(entry, SECOND_RESULT if group else NO_CALL)

    def _leave_out(self, entry, fault):
        group = Group(entry, fault=fault)
        self._groups.append(group)
        self._faulty.append(group)

    def _settle(self, group):
        if not self.indices or group[0].index > self.indices[-1][0]:
            self._put(group)
        else:
            self.restore()  # the last result came late: everything behind the call moves

    def restore(self) -> None:
        """Put every group that can be sent in its place again, as it came in."""
        self._start_over()
        for group in self._groups:
            if isinstance(group, Entry):
                self._put_one(group)
            elif not group.fault and not group.waiting:
                self._put(group)

    def _put_one(self, entry):
        self.starts.append(self.stop)
        self.indices.append((entry.index,))
        self.messages.append(entry)
        self.raws.append(entry.raw)
        self.prefix.append(self.prefix[-1] + entry.units)
        self.stop += 1
        if entry.role in ("user", "function"):
            self.points.append(self.stop)
            if entry.role == "user":
                self.users.append(self.stop - 1)

    def _put(self, group):
        self.starts.append(self.stop)
        self.indices.append(tuple([entry.index for entry in group]))
        for entry in group:
            self.messages.append(entry)
            self.raws.append(entry.raw)
            self.prefix.append(self.prefix[-1] + entry.units)
        self.stop += len(group)
        self.points.append(self.stop)

    def replace(self, entries: dict[int, Entry]) -> None:
        """Put other entries at these places."""
        for place, entry in entries.items():
            self.messages[place] = entry
            self.raws[place] = entry.raw
        first = min(entries)
        units = (entry.units for entry in self.messages[first:])
        self.prefix[first:] = accumulate(units, initial=self.prefix[first])

    @property
    def broken(self) -> bool:
        return bool(self._faulty or self._open)

    def left_out(self) -> list[tuple[Group, str]]:
        """Return the groups that cannot be sent, each with the reason, in the order of their first messages."""
        found = [(group, group.fault or NO_RESULT) for group in (*self._faulty, *self._open.values())]
        return sorted(found, key=lambda pair: pair[0][0].index)

    def all_groups(self, size: int) -> Iterator[tuple[int, ...]]:
        """Yield the groups of the first ``size`` messages of the input as indices, those that are left out too."""
        for group in self._groups:
            group = (group,) if isinstance(group, Entry) else group
            if group[0].index >= size:
                break
            yield tuple([entry.index for entry in group if entry.index < size])


def _call_ids(entry):
    """Return a key for each call of a message: its id, or None when it has none."""
    raw = entry.raw
    older = raw.get("function_call") if isinstance(raw, dict) else None
    if not entry.tool_calls and not older:
        return ()
    ids = [call.get("id") if isinstance(call, dict) else None for call in entry.tool_calls]
    ids = [one if isinstance(one, str) else None for one in ids]
    return [*ids, ("function", str(older.get("name")))] if isinstance(older, dict) else ids


def _says_nothing(entry):
    raw = entry.raw if isinstance(entry.raw, dict) else {}
    return entry.content in (None, []) and not raw.get("refusal") and not raw.get("audio")
