"""Play a chat again, turn by turn, under a policy: what does each request hold, and is a fact still in it?

Nothing is asked of a model. A request is made for every user message; its reply follows in the next request.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import namedtuple

from .budget import room as room_after
from .chat import leading_instructions
from .errors import BudgetError, InputError
from .keep import History

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .chat import Message
    from .keep import Kept, Policy


class Row(
    namedtuple(
        "Row",
        "turn input_units messages_kept messages_dropped oldest_turn_kept fact_visible header_units",
    )
):
    """One request of a trace: units are those of the rule's counter, ``fact_visible`` is a bool (None: no fact)."""

    __slots__ = ()


class CountedChat:
    """A chat whose every message is counted, once, under one rule; replays of it share the counts.

    ``messages`` begin with the instructions, if any; ``rule`` is a template of `contextlab.render` whose counts add
    up. ``fixed`` maps the parts that every request carries to their units. ``requests`` are the indices, in
    ``history``, of the user messages: one request each. Raises `InputError` when there is no user message.
    """

    def __init__(self, messages: Sequence[Message], rule):
        first = leading_instructions(messages)
        self.rule = rule
        self.instructions = tuple(messages[:first])
        self.fixed = {"instructions": sum(map(rule.message, self.instructions)), "reply start": rule.reply_start}
        self.history = History(messages[first:], rule.message)
        self.requests = [i for i, message in enumerate(self.history.messages) if message.role == "user"]
        if not self.requests:
            raise InputError("the chat has no user message, so there is no request to replay")
        self._holders = {}  # fact -> the indices of the messages that hold it

    def room(self, input_budget: int, reply_reserve: int = 0) -> int:
        """Return the units that ``input_budget`` leaves for notes and history; raises `BudgetError` if none is."""
        return room_after(input_budget, self.parts(reply_reserve))

    def parts(self, reply_reserve: int = 0) -> dict[str, int]:
        """Return what comes off every input budget: the name of each part and its units."""
        return {**self.fixed, "reply reserve": reply_reserve} if reply_reserve else self.fixed

    def holders(self, fact: str) -> list[int]:
        """Return the indices, in the history, of the messages that hold ``fact``; they are looked for once."""
        if fact not in self._holders:
            self._holders[fact] = [i for i, message in enumerate(self.history.messages) if fact in message.text]
        return self._holders[fact]

    def turn_of(self, index: int) -> int:
        """Return the turn (1, 2, …) of the message with this index in the history; 0 before the first user message."""
        return bisect_right(self.requests, index)


class Trace:
    """What a replay saw: a `Row` and a `Kept` for each turn.

    ``gone_at_turn`` is the drop turn of the fact: the first request without it, or None. ``turns_visible`` counts the
    requests with it.
    """

    def __init__(self, chat: CountedChat, input_budget: int, rows: list[Row], kept: list[Kept]):
        self.chat = chat
        self.input_budget = input_budget
        self.rows = rows
        self.kept = kept

    def __len__(self):
        return len(self.rows)

    @property
    def gone_at_turn(self) -> int | None:
        return next((row.turn for row in self.rows if row.fact_visible is False), None)

    @property
    def turns_visible(self) -> int:
        return sum(row.fact_visible is True for row in self.rows)

    @property
    def total_input_units(self) -> int:
        return sum(row.input_units for row in self.rows)

    @property
    def mean_messages_kept(self) -> float:
        return sum(row.messages_kept for row in self.rows) / len(self.rows)

    @property
    def header_units_min_max(self) -> tuple[int, int]:
        units = [row.header_units for row in self.rows]
        return min(units), max(units)

    def kept_indices(self, turn: int) -> range | tuple[int, ...]:
        """Return the indices, in the history, of the messages that the request of this turn (1, 2, …) keeps."""
        return self.kept[turn - 1].indices

    def request(self, turn: int) -> list[Message]:
        """Return the messages of the request of this turn: instructions, header, kept history with its footer."""
        return [*self.chat.instructions, *self.kept[turn - 1].messages(self.chat.history)]


def replay(
    messages: Sequence[Message] | CountedChat,
    policy: Policy,
    *,
    input_budget: int,
    rule=None,
    reply_reserve: int = 0,
    fact: str | None = None,
) -> Trace:
    """Return the `Trace` of a chat under a policy.

    ``messages``: the chat, instructions first, or a `CountedChat` (then ``rule`` is not needed). ``input_budget``:
    units that one request may hold. ``rule``: a template of `contextlab.render`. ``reply_reserve``: units of the
    budget kept free for the reply. ``fact``: a text to look for, letter by letter, in the kept messages and in the
    policy's header and footer; not in the instructions.
    Raises `BudgetError` or its kind `ContextOverflow`, with the turn and each part, when a request cannot be made.

    >>> from contextlab.keep import KeepNewest
    >>> from contextlab.render import PlainRule
    >>> from contextlab.script import NAME, scripted_chat
    >>> from contextlab.tokens import WordPieces
    >>> trace = replay(scripted_chat(), KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()), fact=NAME)
    >>> trace.gone_at_turn, trace.rows[18].messages_kept
    (19, 35)
    """
    chat = messages if isinstance(messages, CountedChat) else CountedChat(messages, rule)
    fixed_units = sum(chat.fixed.values())
    history = chat.history
    holders = [] if fact is None else chat.holders(fact)
    policy.start(chat.room(input_budget, reply_reserve))
    rows = []
    kept_by_turn = []
    for turn, current in enumerate(chat.requests, start=1):
        try:
            kept = policy.select(history.until(current + 1))
        except BudgetError as error:
            parts = {**chat.parts(reply_reserve), **error.parts}
            raise type(error)(f"turn {turn}: {error.message}", input_budget, parts) from None
        indices = kept.indices
        visible = None
        if fact is not None:
            visible = holds_any(indices, holders) or any(
                fact in message.text for message in (*kept.header, *kept.footer)
            )
        rows.append(
            Row(
                turn,
                fixed_units + kept.units,
                len(indices),
                current + 1 - len(indices),
                chat.turn_of(indices[0]),
                visible,
                kept.header_units,
            )
        )
        kept_by_turn.append(kept)
    return Trace(chat, input_budget, rows, kept_by_turn)


def holds_any(indices: range | tuple[int, ...], holders: Sequence[int]) -> bool:
    """Return whether ascending ``indices`` hold one of the ascending ``holders``."""
    if isinstance(indices, range):
        at = bisect_left(holders, indices.start)
        return at < len(holders) and holders[at] < indices.stop
    return not set(holders).isdisjoint(indices)
