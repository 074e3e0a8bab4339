"""The assembler: from a whole chat to the request that is sent. It fits, it is valid, and it says what it left out.

The rules, in the order in which `Assembler.request` follows them:

1. The input budget is window - max output - margin. The mandatory part comes off first: the leading system and
   developer messages, the tools, the pinned notes, the current user message, the newest group behind it, and the reply
   start. When it does not fit, `ContextOverflow` names each part.
2. Summary, notes and retrieved messages come next, each whole or not at all.
3. What cannot be sent is left out, with a reason: broken tool groups (`contextlab.repair`), and whatever stands before
   the first user message.
4. When the history exceeds what is left, old tool results are first shortened, then cleared, if that was asked for.
   A result that has become smaller stays so.
5. A strategy (a policy of `contextlab.keep` and of later modules) may let more leave than has to.
6. Kept is one contiguous newest run. Older turns leave oldest first, each whole, so that the run begins with a user
   message. After them the groups of the current exchange leave oldest first; the current user message and the newest
   group stay.
7. With an additive template the request is the sum of its parts, each counted once. Any other template renders the
   request; as long as that is too large, one more group leaves. There the counts of single messages are estimates, and
   only a render decides that the mandatory part does not fit.

Rules 4 and 5 see each request that could have been made, in order, as in a replay: what a request holds depends on the
chat, never on how often somebody asked before.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from . import render
from .additions import NOTES, SUMMARY, listed, message_of, pinned_text, quoted, rendered
from .budget import input_budget
from .chat import INSTRUCTION_ROLES, ROLES, Message
from .errors import BudgetError, ContextOverflow, InputError
from .keep import newest_run
from .parts import PartPrices, as_parts
from .repair import Entry, Sendable, copied
from .request import Request, Stage
from .tokens import BPE, cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Assembler", "Request", "Stage", "assemble"]

TEMPLATES = {
    "openai": "OpenAIRecipe",
    "plain": "PlainRule",
    "chatml": "ChatML",
    "system-in-last-user": "SystemInLastUser",
}
RESULTS = ("tool", "function")  # roles
ANSWERS = ("assistant", *RESULTS)
SHORTENED = " [shortened]"  # stands at the end of a text that was cut
CLEARED = "[old tool result removed]"
EMPTY = Message("system", "")  # what stands around a text
MOST_ADDITIONS = 1_000  # messages not of the chat whose counts are remembered


def assemble(messages: Iterable, *, window: int, max_output_tokens: int, **options) -> Request:
    """Return the request that fits ``messages`` into the window; ``options`` are those of `Assembler`.

    ``messages``: the whole chat, as dicts of OpenAI's format or as `Message`; the last user message is the current one.
    Nothing of it is changed. Raises `ContextOverflow` when the mandatory part does not fit, `BudgetError` when the
    window leaves no budget at all, and `InputError` when the input is no chat.

    >>> chat = [{"role": "system", "content": "Be brief."}]
    >>> for name in ("Ada", "Bea", "Cem"):
    ...     chat += [{"role": "user", "content": f"I am {name}."}, {"role": "assistant", "content": "Hello."}]
    >>> request = assemble([*chat, {"role": "user", "content": "Who am I?"}], window=60, max_output_tokens=20)
    >>> request.input_tokens, request.kept_groups, request.dropped_groups, request.oldest_turn_kept
    (32, ((0,), (5,), (6,), (7,)), ((1,), (2,), (3,), (4,)), 3)
    """
    assembler = Assembler(window=window, max_output_tokens=max_output_tokens, **options)
    assembler.append(*messages)
    return assembler.request()


class Assembler:
    """A chat that grows, and the request that fits it into the window at any time.

    Each message is copied and counted once, when it is appended. A request costs what it holds, however long the chat.

    Args:
        window, max_output_tokens, margin: in tokens, or in the units of the counter.
        tools: tool schemas as the API takes them.
        pinned: texts or messages that every request carries, in one system message behind the instructions; or an
            object that renders itself, such as `contextlab.pins.Pins`: ``render(cap, counter)`` returns its text.
        pinned_cap: the most tokens of that message.
        summary: a text, or a message to send as it is.
        notes: the same, or an object that renders itself, such as `contextlab.notes.Notes`.
        notes_cap: the most tokens of the message with the notes.
        retrieved: texts, messages, or lists of messages that are one group; each is quoted in a system message of its
            own just before the current user message.
        retrieved_cap: the most tokens of all of these.
        counter: a counter of `contextlab.tokens`; by default ``BPE("o200k_base")``.
        template: a name of `TEMPLATES`, or a rule or template of `contextlab.render`.
        images: for a template by name: what an image costs; the default is the tiles of the gpt-4o family.
        part_prices: for a template by name: the tokens of other content parts, such as ``{"input_audio": 200}``.
        strategy: a policy. It is started anew here, so each assembler needs one of its own.
        max_message_tokens: the most that one message may have; above it `append` raises `ContextOverflow`.
        shorten_oversized: shorten answers and tool results to that instead.
        shorten_tool_results: the tokens that are left of an old tool result when rule 4 shortens it.
        clear_tool_results: whether rule 4 replaces old tool results by a remark.
        start_with_user: whether the history has to begin with a user message, as most providers ask. If not, it may
            begin with any group.
        omission: a text to send as a system message before the history when something of it has left.
        facts: texts that each request should hold, beside the pinned ones (see `Request.absent_facts`).

    ``pinned``, ``summary``, ``notes`` and ``retrieved`` may be set anew before each request.

    >>> chat = Assembler(window=50, max_output_tokens=20, pinned=["The user is Ada."])
    >>> chat.append({"role": "user", "content": "Who am I?"})
    >>> chat.request().parts
    {'pinned notes': 12, 'current user message': 8, 'reply start': 3}
    """

    def __init__(
        self,
        *,
        window: int,
        max_output_tokens: int,
        margin: int = 0,
        tools: Iterable[dict] | None = None,
        pinned=(),
        pinned_cap: int | None = None,
        summary=None,
        notes=None,
        notes_cap: int | None = None,
        retrieved=(),
        retrieved_cap: int | None = None,
        counter=None,
        template="openai",
        images=None,
        part_prices: dict[str, int] | None = None,
        strategy=None,
        max_message_tokens: int | None = None,
        shorten_oversized: bool = False,
        shorten_tool_results: int | None = None,
        clear_tool_results: bool = False,
        start_with_user: bool = True,
        omission: str | None = None,
        facts: Iterable[str] = (),
    ):
        self.budget = _budget(window, max_output_tokens, margin)
        self.counter = BPE("o200k_base") if counter is None else counter
        self.template = template
        if isinstance(template, str):
            self.template = _template(template, self.counter, PartPrices(self.counter, images, part_prices))
        self.tools = copied(list(tools)) if tools else None
        self.pinned, self.pinned_cap = pinned, pinned_cap
        self.summary, self.notes, self.notes_cap = summary, notes, notes_cap
        self.retrieved, self.retrieved_cap = retrieved, retrieved_cap
        self.strategy = strategy
        self.max_message_tokens, self.shorten_oversized = max_message_tokens, shorten_oversized
        self.start_with_user, self.omission = start_with_user, omission
        self.facts = listed(facts)
        self._smaller = {}  # rule 4: name of a stage -> what it makes of a text
        if shorten_tool_results is not None:
            self._smaller["shorten tool results"] = lambda text: self._shortened(text, shorten_tool_results)
        if clear_tool_results:
            self._smaller["clear tool results"] = lambda text: CLEARED
        rule = render.OpenAIRecipe(self.counter)  # the estimate for a template that only counts whole requests
        self._count = getattr(self.template, "message", rule.message)
        self._tools_cost = getattr(self.template, "tools_cost", rule.tools_cost)(self.tools)
        self._reply_start = getattr(self.template, "reply_start", 0)
        self._additive = getattr(self.template, "additive", True)
        self._instructions = []
        self._instructions_cost = 0
        self._chat = Sendable(lambda message: self._added(message).units)
        self._size = 0  # messages appended
        self._as_dicts = True  # what comes in as dicts goes out as dicts
        self._additions = {}  # a message that is not of the chat -> its entry, counted
        self._known = None  # the version of the chat and the room that rules 4 and 5 have seen
        self._reduced = {}  # what rule 4 did
        self._reductions = {}  # name of a stage, index in the input -> the smaller entry, counted
        self._first = 0  # by these rules nothing before this place is kept
        self._sent = None  # the entries of the last request

    def append(self, *messages) -> None:
        """Put messages at the end of the chat: all of them or, when one is not accepted, none."""
        entries = [self._read(message, self._size + i) for i, message in enumerate(messages)]
        if entries and not self._size:
            self._as_dicts, self._additions = isinstance(entries[0].raw, dict), {}
        for entry in entries:
            if entry.role in INSTRUCTION_ROLES and len(self._instructions) == self._size:
                self._instructions.append(entry)
                self._instructions_cost += entry.units
            else:
                self._chat.append(entry)
            self._size += 1

    def _read(self, message, index):
        entry = Entry.read(message, index, self._count)
        most = self.max_message_tokens
        if most is not None and entry.units > most:
            if self.shorten_oversized and entry.role in ANSWERS and isinstance(entry.content, str):
                around = entry.units - self.counter(entry.content)
                entry = entry.with_content(self._shortened(entry.content, most - around), self._count)
            if entry.units > most:
                parts = {f"message {index} ({entry.role})": entry.units}
                raise ContextOverflow("a message is larger than max_message_tokens", most, parts)
        return entry

    def _shortened(self, text, limit):
        return cut(text, max(limit, 0), self.counter, mark=SHORTENED)

    def request(self) -> Request:
        """Return the request for the chat as it is now; the rules at the top of the module say what it holds."""
        chat = self._chat
        if self._size > len(self._instructions) and not chat.users:
            raise InputError("no user message can be sent, so there is nothing to answer")
        parts, top = self._mandatory()
        beside, stages, spent = [], [], {}
        if self.summary or self.notes or self.retrieved:
            spent = self._add_optional(parts, top, beside, stages)
        held = parts["current user message"] + parts["newest group"]
        room = self.budget - sum(parts.values()) + held
        kept = None
        if chat.users and (self.strategy or self._smaller):
            room = max(room - self._unused_caps(spent), held)
            try:
                kept = self._catch_up(room)
            except BudgetError as error:
                raise type(error)(error.message, self.budget, _some({**parts, **error.parts})) from None
        if kept is not None:
            top += map(self._added, kept.header)
            beside += map(self._added, kept.footer)
            parts["strategy"] = kept.header_units
            room -= kept.header_units
        return self._fit(room, kept, parts, top, beside, stages)

    def _fit(self, room, kept, parts, top, beside, stages):
        """Choose the history that fits the room, verify the whole, and return it with its log (rules 6 and 7)."""
        chat = self._chat
        least = False  # is only what is mandatory left?
        while True:
            runs, mark = self._marked_runs(room, kept)
            if runs is None:
                if self._additive or least:
                    raise ContextOverflow("what has to be sent does not fit", self.budget, _some(parts))
                runs, least = self._runs(parts["current user message"] + parts["newest group"], kept), True
            held = sum([chat.units(run.start, run.stop) for run in runs])
            parts["omission"] = sum([entry.units for entry in mark])
            parts["history"] = held - parts["current user message"] - parts["newest group"]
            parts["rendering"] = 0
            sent = [*self._instructions, *top, *mark]
            messages = [entry.raw for entry in sent]
            for run in runs:
                if beside and run.start == chat.users[-1]:
                    sent += beside
                    messages += [entry.raw for entry in beside]
                sent += chat.messages[run.start : run.stop]
                messages += chat.raws[run.start : run.stop]
            tokens = sum(parts.values())
            if not self._additive:
                counted, tokens = tokens, self.template.request([as_parts(message) for message in messages], self.tools)
                parts["rendering"] = tokens - counted
            if tokens <= self.budget:
                break
            room = held + parts["omission"] - 1  # one more group has to leave
        if chat.broken or self._smaller or kept is not None:
            stages += self._stages(runs, kept)
        before, self._sent = self._sent, sent
        return Request(self, messages, sent, before, runs, parts, tokens + chat.total - held, stages)

    def _mandatory(self):
        """Return the parts of rule 1 and the pinned notes as messages; `ContextOverflow` when they do not fit."""
        chat = self._chat
        current, newest = self._current()
        parts = {
            "instructions": self._instructions_cost,
            "tools": self._tools_cost,
            "pinned notes": 0,
            "current user message": chat.prefix[min(current + 1, chat.stop)] - chat.prefix[current],
            "newest group": chat.prefix[chat.stop] - chat.prefix[newest],
            "reply start": self._reply_start,
        }
        top, cap = [], self.pinned_cap
        if hasattr(self.pinned, "render"):
            text = rendered("pinned", self.pinned, cap, self._added(EMPTY).units, self.counter).text
        else:
            text = pinned_text(self.pinned) if self.pinned else ""
        if text and text not in self._came_back():
            top.append(self._added(Message("system", text)))
            parts["pinned notes"] = top[0].units
        if cap is not None and parts["pinned notes"] > cap:
            only = {"pinned notes": parts["pinned notes"]}
            raise ContextOverflow("the pinned notes are larger than their cap", cap, only)
        if self._additive and sum(parts.values()) > self.budget:
            raise ContextOverflow("what has to be sent does not fit", self.budget, _some(parts))
        return parts, top

    def _add_optional(self, parts, top, beside, stages):
        """Add what rule 2 allows to parts, top, beside and stages; return what each part has of the request."""
        room = self.budget - sum(parts.values())
        spent = dict.fromkeys(("summary", "notes", "retrieved"), 0)
        already = self._came_back()
        for part, message, cap in self._optional(stages):
            entry = self._added(message)
            free = room if cap is None else min(room, cap - spent[part])
            sent = entry.content in already
            if not sent and entry.units > free:
                note = f"left out: it has {entry.units} tokens, {max(free, 0)} are free"
                stages.append(Stage(part, (), entry.units, note))
                continue
            spent[part] += entry.units
            room -= entry.units
            if not sent:
                (beside if part == "retrieved" and self._chat.users else top).append(entry)
                parts[part] = parts.get(part, 0) + entry.units
        return spent

    def _current(self):
        """Return the places of the current user message and of the newest group behind it; the end if there is none."""
        chat = self._chat
        if not chat.users:
            return chat.stop, chat.stop
        current, newest = chat.users[-1], chat.starts[-1]
        return current, newest if newest > current else chat.stop

    def _optional(self, stages):
        """Yield what rule 2 adds: the part, a message, the cap of the part."""
        if self.summary:
            yield "summary", message_of(self.summary, SUMMARY), None
        if hasattr(self.notes, "render"):
            shown = rendered("notes", self.notes, self.notes_cap, self._added(EMPTY).units, self.counter)
            if shown.text:
                yield "notes", Message("system", shown.text), self.notes_cap
            for topic, tokens, why in getattr(shown, "skipped", ()):
                stages.append(Stage("notes", (), tokens, f"left out: {topic} ({why})"))
        elif self.notes:
            yield "notes", message_of(self.notes, NOTES), self.notes_cap
        for group in listed(self.retrieved):
            yield "retrieved", quoted(group), self.retrieved_cap

    def _unused_caps(self, spent):
        """Return what the parts with a cap leave of it: rules 4 and 5 need a room that stays from turn to turn."""
        caps = {"notes": self.notes and self.notes_cap, "retrieved": self.retrieved_cap}
        return sum(max(cap - spent.get(part, 0), 0) for part, cap in caps.items() if cap)

    def _came_back(self):
        """Return the contents of the instructions and of what stands before the question: a request may come back."""
        chat, (current, _) = self._chat, self._current()
        place = current
        while place and chat.messages[place - 1].role in INSTRUCTION_ROLES:
            place -= 1
        return [entry.content for entry in self._instructions + chat.messages[place:current]]

    def _added(self, message):
        """Return the entry of a message that is not of the chat; the same message is counted once."""
        key = message.role, message.name, message.content if isinstance(message.content, str) else repr(message)
        entry = self._additions.get(key)
        if entry is None:
            if len(self._additions) >= MOST_ADDITIONS:
                self._additions = {}
            raw = message.to_openai() if self._as_dicts else message
            entry = self._additions[key] = Entry.read(raw, None, self._count)
        return entry

    def _catch_up(self, room):
        """Let rules 4 and 5 see the requests that could have been made since; return what the strategy keeps."""
        chat, strategy = self._chat, self.strategy
        if self._known != (chat.version, room):
            if self._reduced:
                chat.restore()
            self._known = chat.version, room
            self._seen, self._first, self._kept = 0, 0, None
            self._reduced = {name: [] for name in self._smaller}  # places, indices in the input, tokens saved
            self._searched = dict.fromkeys(self._smaller, 0)  # rule 4 has seen the places before this one
            if strategy:
                strategy.start(room)
        for stop in chat.points[self._seen :]:
            for name in self._smaller:
                if chat.units(self._first, stop) > room:
                    self._reduce(name, stop)
            if strategy:
                try:
                    self._kept = strategy.select(chat.until(stop))
                except BudgetError:
                    if stop == chat.points[-1]:
                        raise
                else:
                    indices = self._kept.indices
                    self._first = indices.start if isinstance(indices, range) else 0
            else:
                self._first = max(self._first, newest_run(chat.prefix, room, stop))
            self._seen += 1
        return self._kept

    def _reduce(self, name, stop):
        """Make tool results smaller that stand before the newest group (rule 4)."""
        chat = self._chat
        newest = chat.starts[bisect_left(chat.starts, stop) - 1]
        smaller = {}
        for place in range(max(self._searched[name], self._first), newest):
            entry = chat.messages[place]
            if entry.role in RESULTS and isinstance(entry.content, str):
                reduced = self._reductions.get((name, entry.index))
                if reduced is None:
                    text = self._smaller[name](entry.content)
                    reduced = entry if text == entry.content else entry.with_content(text, self._count)
                    self._reductions[name, entry.index] = reduced
                if reduced.units < entry.units:
                    smaller[place] = reduced
                    self._reduced[name].append((place, entry.index, entry.units - reduced.units))
        self._searched[name] = newest
        if smaller:
            chat.replace(smaller)

    def _marked_runs(self, room, kept):
        """Return the runs that fit and, when something has left, the mark of omission that fits beside them."""
        runs = self._runs(room, kept)
        if self.omission and runs and sum(map(len, runs)) < self._chat.stop:
            mark = self._added(Message("system", self.omission))
            smaller = self._runs(room - mark.units, kept)
            if smaller:
                return smaller, [mark]
        return runs, []

    def _runs(self, room, kept):
        """Return the ranges of places that fit (rule 6), one of them from the current user message on; None: none."""
        chat = self._chat
        if not chat.users:
            return [] if room >= 0 else None
        current, newest = self._current()
        stop = chat.stop
        left = room - chat.units(current, current + 1)
        if chat.units(newest, stop) > left:
            return None
        start = max(newest_run(chat.prefix, room, stop), self._first)
        if start > current:  # all older turns have left
            after = max(newest_run(chat.prefix, left, stop), self._first, current + 1)
            after = chat.starts[bisect_left(chat.starts, after)] if after < newest else newest
            runs = [range(current, current + 1), range(after, stop)]
            return runs if after < stop else runs[:1]
        borders = chat.users if self.start_with_user else chat.starts
        if kept is None or isinstance(kept.indices, range):
            start = borders[bisect_left(borders, start)]
            return [range(start, current), range(current, stop)] if start < current else [range(current, stop)]
        # The strategy keeps more than one run: an older turn stays when all of it is kept.
        chosen = set(kept.indices)
        turns = [range(*turn) for turn in pairwise(borders[: bisect_left(borders, current) + 1])]
        turns = [turn for turn in turns if chosen.issuperset(turn)]
        while sum(chat.units(turn.start, turn.stop) for turn in turns) > room - chat.units(current, stop):
            del turns[0]
        return [*turns, range(current, stop)]

    def _stages(self, runs, kept):
        """Return what rules 3 to 5 did."""
        stages = []
        for group, why in self._chat.left_out():
            indices = tuple([entry.index for entry in group])
            stages.append(Stage("repair", indices, sum([entry.units for entry in group]), why))
        for name in self._reduced:
            reduced = self._reduced[name]  # in the order of their places
            done = [
                one
                for run in runs
                for one in reduced[bisect_left(reduced, (run.start,)) : bisect_left(reduced, (run.stop,))]
            ]
            if done:
                _, indices, saved = zip(*done, strict=True)
                stages.append(Stage(name, indices, sum(saved), f"{len(done)} tool results"))
        if kept is not None:
            stages.append(Stage("strategy", (), -kept.header_units, type(self.strategy).__name__))
        return stages


def _budget(window, max_output_tokens, margin):
    """Return the input budget; a window below 0 leaves none either, and is no other kind of error."""
    if isinstance(window, int) and window < 0:
        raise BudgetError("the window leaves nothing for the request", window, {"reply reserve": max_output_tokens})
    return input_budget(window, max_output_tokens, margin)


def _template(name, counter, prices):
    """Return the template of that name."""
    if name not in TEMPLATES:
        raise InputError(f"unknown template {name!r}: choose one of {', '.join(TEMPLATES)}")
    if name == "plain":
        return render.PlainRule(counter, images=prices)
    if name == "openai":
        return render.OpenAIRecipe(_knowing_roles(counter), images=prices)
    return getattr(render, TEMPLATES[name])(counter)


def _knowing_roles(counter):
    """Return the counter with the roles counted before, so that a message is one call."""
    roles = {role: counter(role) for role in ROLES}

    def count(text):
        return roles[text] if isinstance(text, str) and text in roles else counter(text)

    count.name = getattr(counter, "name", "counter")
    return count


def _some(parts):
    return {name: units for name, units in parts.items() if units}
