"""A conversation while it is read: every reader of a format puts its messages in here, and here they are counted."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from math import isfinite

from .records import Conversation, Part, Record, printable
from .report import MESSAGES

__all__ = ["Draft", "Skip", "as_dict", "as_list", "as_text", "compact", "seconds"]

_HALF = re.compile("[\ud800-\udfff]")
_ZONE = re.compile(r"\s*(?:GMT|UTC)(?:([+-])(\d{1,2})(?::?(\d\d))?)?$")


class Skip(Exception):
    """The element gives no conversation: ``what`` is one of `report.OBJECTS`."""

    def __init__(self, what, reason):
        super().__init__(reason)
        self.what, self.reason = what, reason


def as_dict(value) -> dict:
    return value if isinstance(value, dict) else {}


def as_list(value) -> list:
    return value if isinstance(value, list) else []


def as_text(value) -> str:
    return value if isinstance(value, str) else ""


def compact(value) -> str:
    """Return a value as JSON in one line; a text stays as it is.

    Numbers are those that every reader of JSON agrees on, since JavaScript does not tell 1.0 from 1.

    >>> compact([1.0, -0.0, 1e21, 2**53 + 1, 0.5])
    '[1, 0, 1e+21, 9007199254740992, 0.5]'
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(_agreed(value), ensure_ascii=False)
    except RecursionError:
        return "[nested too deeply]"


def _agreed(value):
    """Return a value with its numbers as doubles; one that is whole and below 10^21 is written with all its digits."""
    if isinstance(value, dict):
        return {key: _agreed(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_agreed(one) for one in value]
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    try:
        number = float(value)
    except OverflowError:
        return None
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def seconds(value):
    """Return a time as seconds since 1970, or None: a number of seconds or milliseconds, ISO 8601, or ``{"$date": …}``.

    A time without a zone is taken as UTC.

    >>> seconds("1970-01-01T00:01:00Z"), seconds(1_700_000_000_000), seconds("soon")
    (60.0, 1700000000.0, None)
    """
    if value is None:
        return None
    for _ in range(2):
        if isinstance(value, dict):
            value = value.get("$date", value.get("$numberLong"))
    if isinstance(value, str) and value:
        if value.lstrip("-").isdigit() and len(value) < 20 and value.isascii():
            return seconds(int(value))
        return _iso(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            value = float(value)
        except OverflowError:
            return None
        if value != value or abs(value) > 1e15:
            return None
        return value / 1000 if abs(value) > 1e11 else value
    return None


def _iso(value):
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        zone = _ZONE.search(value)
        if zone is None:
            return None
        try:
            time = datetime.fromisoformat(value[: zone.start()])
            shift = timedelta(hours=int(zone[2] or 0), minutes=int(zone[3] or 0))
            time += shift if zone[1] == "-" else -shift
        except (ValueError, OverflowError):
            return None
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except OverflowError:
        return None


class Draft:
    """What a reader fills. ``branch``: which branch is wanted, 0 for the one that was shown last."""

    def __init__(self, name: str, source: str, branch: int = 0):
        self.format, self.source, self.branch = name, printable(source), branch
        self.id = self.model = self.created = self.updated = None
        self.title = ""
        self.branches = 1
        self.records = []
        self.warnings = []
        self.cleaned = {}
        self.kinds = {}
        self.counts = dict.fromkeys(MESSAGES, 0)

    def about(self, *, id=None, title=None, created=None, updated=None, model=None) -> None:
        """Take what the element says of the conversation; values of another type count as absent."""
        if isinstance(id, str | int) and id != "":
            self.id = self.whole(str(id)) if isinstance(id, str) else compact_number(id)
        self.title = self.whole(as_text(title)) or self.title
        self.created, self.updated = seconds(created), seconds(updated)
        self.model = self.whole(as_text(model)) or self.model

    def whole(self, text: str) -> str:
        """Return a text without lone halves of a surrogate pair, which no encoding can write."""
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            text, times = _HALF.subn("\ufffd", text)
            self.clean("half characters", times)
        return text

    def clean(self, what: str, times: int = 1) -> None:
        self.cleaned[what] = self.cleaned.get(what, 0) + times

    def warn(self, text: str) -> None:
        text = printable(text)
        if text not in self.warnings:
            self.warnings.append(text)

    def branch_of(self, ends: list):
        """Return the end of the wanted branch; ``ends`` begins with the one that was shown last."""
        self.branches = max(1, len(ends))
        if self.branch >= self.branches:
            raise Skip(
                "without_branch", f"it has {self.branches} branches, {self.branch} is asked for (0 is the first)"
            )
        return ends[self.branch] if ends else None

    def unreadable(self, source: str, why: str) -> None:
        self.counts["unreadable"] += 1
        self.warn(f"a message was not read: {why}")

    def add(
        self,
        role: str,
        text: str,
        *,
        parts: tuple[Part, ...] = (),
        calls: list[dict] | tuple = (),
        call_id: str | None = None,
        name: str | None = None,
        time=None,
        hidden: bool | None = None,
        kind: str = "message",
        source: str = "",
    ) -> None:
        """Add a message. ``hidden``: None lets role and kind decide. One without text, parts and calls is counted."""
        text = self.whole(text)
        if not calls and not parts and (not text or text.isspace()):
            self.counts["empty_messages"] += 1
            return
        if kind == "message":
            if role in ("tool", "function"):
                kind = "tool_result"
            elif calls and not text:
                kind = "tool_call"
        if hidden is None:
            hidden = role not in ("user", "assistant") or (
                kind != "message" and kind not in ("refusal", "error") and not kind.startswith("other:")
            )
        self.counts["hidden" if hidden else "shown"] += 1
        if kind != "message":
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.records.append(
            Record(
                role,
                text,
                parts,
                tuple(calls) if calls else (),
                self.whole(call_id) if call_id and isinstance(call_id, str) else None,
                self.whole(name) if name and isinstance(name, str) else None,
                None if time is None else seconds(time),
                hidden,
                kind,
                len(self.records),
                source if source.isprintable() else printable(source),
            )
        )

    def call(self, call_id, name, arguments) -> dict:
        """Return a call in OpenAI's form; the id is given later when the file has none."""
        name = self.whole(as_text(name)) or "tool"
        arguments = self.whole(compact({} if arguments is None else arguments))
        call_id = self.whole(call_id) if isinstance(call_id, str) and call_id else None
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}

    def conversation(self) -> Conversation:
        """Return the conversation; raises `Skip` when it has no message."""
        if not self.records:
            unreadable = self.counts["unreadable"]
            raise Skip("empty", f"no message in it{f' that can be read ({unreadable} cannot)' if unreadable else ''}")
        self._pair()
        return Conversation(
            self.id,
            self.title,
            self.format,
            self.created,
            self.updated,
            self.model,
            tuple(self.records),
            self.branches,
            tuple(self.warnings),
            self.source,
        )

    def _pair(self):
        """Give each call an id, and each result without one the id of the oldest open call of its name, or of any."""
        if not any(record.tool_calls or record.role in ("tool", "function") for record in self.records):
            return
        used = {call["id"] for record in self.records for call in record.tool_calls}
        used.update(record.tool_call_id for record in self.records)
        waiting = {}  # id of a call that has no result yet -> its name
        for index, record in enumerate(self.records):
            for number, call in enumerate(record.tool_calls):
                if call["id"] is None:
                    fresh = f"call_{index}_{number}"
                    while fresh in used:
                        fresh += "_"
                    used.add(fresh)
                    call["id"] = fresh
                waiting[call["id"]] = call["function"]["name"]
            if record.role not in ("tool", "function"):
                continue
            call_id = record.tool_call_id
            if call_id is None:
                call_id = next((one for one, name in waiting.items() if name == record.name), None)
                call_id = call_id or next(iter(waiting), None)
                if call_id is None:
                    self.warn("a tool result has no call before it")
            waiting.pop(call_id, None)
            self.records[index] = record._replace(role="tool", tool_call_id=call_id)


def compact_number(value) -> str:
    """Return a number as text; one too long for Python to write gives its first digits' worth."""
    try:
        return str(value)
    except ValueError:
        return "a very long number"
