"""A request and its log: what is sent, what it costs, what was left out, and why."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import namedtuple

from .additions import texts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .repair import Entry

__all__ = ["Request", "Stage"]


class Stage(namedtuple("Stage", "name indices tokens note")):
    """What one stage did: to which messages of the input, how many tokens it took off, and in words."""

    __slots__ = ()


class Request:
    """What is sent, and the log of how it came about.

    ``messages``: what to send, as dicts when dicts came in, else as `Message`. The list is yours; its dicts are the
    assembler's copies, the same in each of its requests, so read them only.
    ``budget``: the most tokens that it may have. ``tokens_before``: its tokens with nothing left out. ``counter``: the
    name of what counted. ``exact``: whether the count is the "sum of parts" of an additive template, or the request
    was "rendered". ``tools``: what came in as tools. ``facts``: what was to be watched.
    """

    def __init__(
        self,
        assembler,
        messages: list,
        sent: list[Entry],
        before: list[Entry] | None,
        runs: list[range],
        parts: dict,
        tokens_before: int,
        stages: list[Stage],
    ):
        chat = assembler._chat
        self._sent, self._before, self._runs, self._parts, self._chat = sent, before, runs, parts, chat
        self._starts, self._indices, self._users = chat.starts, chat.indices, chat.users  # they only grow
        self._instructions = len(assembler._instructions)
        self._size = assembler._size
        self.messages = messages
        self.budget = assembler.budget
        self.counter = getattr(assembler.counter, "name", "counter")
        self.exact = "sum of parts" if assembler._additive else "rendered"
        self.tools = assembler.tools
        self.facts = (*texts_of(assembler.pinned), *assembler.facts) if assembler.pinned else assembler.facts
        self.tokens_before = tokens_before
        self._stages = stages
        self._all = chat.stop, chat.prefix[chat.stop]  # messages that could have been sent, and their tokens

    @property
    def parts(self) -> dict[str, int]:
        """Part of the request -> its tokens; parts of no tokens are left out."""
        return {name: tokens for name, tokens in self._parts.items() if tokens}

    @property
    def input_tokens(self) -> int:
        """The tokens of the whole request, exact under its template."""
        return sum(self._parts.values())

    @property
    def kept_groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of the input that are sent, instructions first, as indices into the input."""
        groups = [(i,) for i in range(self._instructions)]
        for run in self._runs:
            groups += self._indices[bisect_left(self._starts, run.start) : bisect_left(self._starts, run.stop)]
        return tuple(groups)

    @property
    def oldest_turn_kept(self) -> int | None:
        """The number, from 1, of the oldest turn of which something is sent; None when there is no turn."""
        return bisect_right(self._users, self._runs[0].start) if self._runs else None

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What was done, one `Stage` after another; the last is "drop", when something has left."""
        messages, tokens = self._all
        left = messages - sum(map(len, self._runs))
        kept = sum([self._parts[name] for name in ("current user message", "newest group", "history")])
        drop = [Stage("drop", (), tokens - kept, f"{left} messages")] if left else []
        return (*self._stages, *drop)

    @property
    def dropped_groups(self) -> tuple[tuple[int, ...], ...]:
        """The groups of the input that are not sent; with the kept ones they are the whole input."""
        kept = {group[0] for group in self.kept_groups}
        return tuple([group for group in self._chat.all_groups(self._size) if group[0] not in kept])

    @property
    def shared_prefix_tokens(self) -> int | None:
        """The tokens at the start that the previous request began with too; None for the first request."""
        if self._before is None:
            return None
        units = self.parts.get("tools", 0)
        for old, new in zip(self._before, self._sent, strict=False):
            if old is not new and old.raw != new.raw:
                break
            units += new.units
        return units

    @property
    def absent_facts(self) -> tuple[str, ...]:
        """The pinned texts and the ``facts`` that no message of the request holds, letter by letter: an alert."""
        return tuple([fact for fact in self.facts if not any(fact in entry.text for entry in self._sent)])

    def as_dict(self) -> dict:
        """Return everything as JSON-like data under the names of the attributes."""
        found = {name: getattr(self, name) for name in FIELDS}
        return {**found, "stages": [stage._asdict() for stage in self.stages]}

    def __eq__(self, other):
        """Compare what is sent and what was done; what the request before held does not matter."""
        if not isinstance(other, Request):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS if name != "shared_prefix_tokens")

    def __repr__(self):
        kept, dropped = len(self.kept_groups), len(self.dropped_groups)
        return f"<Request: {self.input_tokens} of {self.budget} tokens, {kept} groups kept, {dropped} dropped>"


FIELDS = (
    "messages tools input_tokens budget parts tokens_before counter exact kept_groups dropped_groups oldest_turn_kept "
    "stages shared_prefix_tokens absent_facts"
).split()
