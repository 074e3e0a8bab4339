"""What did a chat forget? Its facts, and the request at which each of them leaves the window under keep-newest.

Nothing is asked of a model: a fact counts as known while a message that holds it is in the request. Every message is
counted once; several windows share the counts.

>>> from contextlab.render import PlainRule
>>> from contextlab.script import NAME, scripted_chat
>>> from contextlab.tokens import WordPieces
>>> trace = look_back(scripted_chat(), PlainRule(WordPieces()), windows=(4000, 8000, 32000), facts=[NAME])
>>> [window.facts[0].drop_turn for window in trace.windows]
[19, 36, 141]
"""

from __future__ import annotations

import re
from collections import namedtuple

from .errors import BudgetError, InputError
from .keep import Beside, newest_run
from .pins import HEAD, Pin, Pinned, Pins
from .replay import CountedChat, holds_any, replay
from .tokens import WHITE_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .chat import Message
    from .pins import Event

__all__ = ["FactTrace", "ForgottenTrace", "Instead", "Request", "SaidFact", "WindowTrace", "as_dict", "look_back"]

WINDOWS = (8192, 32768, 131072)
MARK = 0.5  # the low-water mark of summary and notes
FIRST = "first message"  # what the default fact is called
NAME_KEY = "user name"  # the one key whose value is known again without it
ASSUMPTIONS = (
    "A fact counts as known while a message that holds it is in the request. Whether a model uses it is another "
    "matter.",
    "The application keeps the newest messages that fit. The instructions that a product adds are not in this count, "
    "unless they stand in the file.",
    "Pinned notes: what the patterns find, at most 200 units. Summary: it always fills its 200 units. Notes: what the "
    "patterns find, at most 1,500 units. Summary and notes are written anew when the window is cut to half.",
)

_SPACES = re.compile(f"[{WHITE_SPACE}]+")
_WORD = re.compile(r"[^\W_]+")  # letters and digits


class SaidFact(namedtuple("SaidFact", "text key messages said_turn replaced_turn")):
    """Something that was said: its ``text``, and the ``key`` that a pattern gave it (None: it has none).

    ``messages``: indices, in the history, of the messages that hold it. ``said_turn``: the turn of the first of them
    (None: no message holds it). ``replaced_turn``: the turn in which the user gave the key another value.
    """

    __slots__ = ()


class FactTrace(
    namedtuple(
        "FactTrace",
        (
            *SaidFact._fields,
            "drop_turn",
            "back_turns",
            "turns_visible",
            "said_again_turns",
            "pin_units",
            "pin_sent_units",
        ),
    )
):
    """A fact in one window: a `SaidFact`, and what became of it.

    ``drop_turn``: the first request without it (None: it never leaves). ``back_turns``: requests that hold it again,
    because it was repeated. ``turns_visible``: how many requests hold it. ``said_again_turns``: turns in which the user
    comes back to it although no earlier message in the request holds it. ``pin_units``: what a pinned note of it adds
    to a request; ``pin_sent_units``: to all requests from the one in which it is said.
    """

    __slots__ = ()


class Request(namedtuple("Request", "turn input_units messages_kept messages_dropped oldest_turn_kept fits")):
    """One request. When ``fits`` is false its user message alone exceeds the room: nothing is sent."""

    __slots__ = ()


class Instead(namedtuple("Instead", "name sent_units saved_units calls read_units written_units pays_after why")):
    """What another way to keep would have sent, in place of keep-newest.

    ``saved_units``: less than keep-newest sends (negative: more). ``calls``, ``read_units``, ``written_units``: the
    work of the model that writes the summary or the notes. ``pays_after``: requests after which a summary call has paid
    for itself (None: never, or no summary). ``why``: the reason why it is not possible in this window, else empty.
    """

    __slots__ = ()


class WindowTrace(
    namedtuple("WindowTrace", "window reply_reserve room facts requests sent_units first_units resent_units instead")
):
    """A chat in one window: `FactTrace` of each fact, `Request` of each turn, and what was sent.

    ``room``: units for the history. ``first_units``: what went out for the first time; ``resent_units``: the rest of
    ``sent_units``. ``instead``: an `Instead` for each other way.
    """

    __slots__ = ()


class ForgottenTrace(
    namedtuple("ForgottenTrace", "title counter unit messages turns units fixed_units windows assumptions")
):
    """A whole chat: how many ``messages`` (instructions aside), ``turns`` and ``units`` it has, and its ``windows``.

    ``fixed_units``: what every request carries, instructions and the reply start.
    """

    __slots__ = ()


def look_back(
    messages: Sequence[Message] | CountedChat,
    rule=None,
    *,
    windows: Sequence[int] = WINDOWS,
    reply_reserve: int = 0,
    facts: Iterable[str] = (),
    title: str = "",
    instead: bool = True,
) -> ForgottenTrace:
    """Return what a chat forgets in each of several windows.

    Args:
        messages: the chat, instructions first, or a `CountedChat` (then ``rule`` is not needed).
        rule: a template of `contextlab.render` whose counts add up.
        windows: context windows, in the units of the rule.
        reply_reserve: units kept free for the reply.
        facts: texts to follow. Without any: the first user message and what the patterns of `contextlab.pins` find.
        title: a name for the chat.
        instead: whether to compute what pins, a summary and notes would have sent.

    Raises:
        InputError: there is no window, no user message, a fact without text, or the counts of the rule do not add up.
        BudgetError: a window leaves no room for the history; it names the parts.

    >>> from contextlab.chat import Message
    >>> from contextlab.render import PlainRule
    >>> said = [Message("user", "I'm Ada."), Message("assistant", "Hello."), Message("user", "x" * 20)]
    >>> window = look_back(said, PlainRule(len, overhead=0, reply_start=0), windows=[28]).windows[0]
    >>> [(fact.text, fact.drop_turn) for fact in window.facts], window.resent_units
    ([("I'm Ada.", 2), ('Ada', 2)], 0)
    """
    if rule is not None and not rule.additive:
        raise InputError(f"the counts of {type(rule).__name__} do not add up: trace with openai, plain or chatml")
    if not windows:
        raise InputError("a trace needs a window")
    chat = messages if isinstance(messages, CountedChat) else CountedChat(messages, rule)
    texts = [plain(message.text) for message in chat.history.messages]
    given = list(facts)
    said = [_given(chat, texts, fact) for fact in given] if given else said_facts(chat, texts)
    again = _Again(chat, texts)
    traced = [_window(chat, window, reply_reserve, said, again, instead) for window in windows]
    counter = chat.rule.counter
    return ForgottenTrace(
        title,
        getattr(counter, "name", "own counter"),
        getattr(counter, "unit", "units"),
        len(chat.history),
        len(chat.requests),
        chat.history.prefix[-1],
        sum(chat.fixed.values()),
        tuple(traced),
        ASSUMPTIONS,
    )


def as_dict(value):
    """Return a trace as dicts and lists ready for JSON; the keys are the names of the fields.

    >>> as_dict(Request(1, 20, 1, 0, 1, True))["input_units"]
    20
    """
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: as_dict(one) for name, one in zip(value._fields, value, strict=True)}
    return [as_dict(one) for one in value] if isinstance(value, tuple | list) else value


def plain(text: str) -> str:
    """Return ``text`` in small letters with single spaces: what is compared when a fact is looked for.

    >>> plain(" Ada\\n Moreno ")
    'ada moreno'
    """
    return _SPACES.sub(" ", text.lower()).strip(" ")


def holds(text: str, fact: str) -> bool:
    """Return whether ``fact`` stands in ``text``, both from `plain`, and is no part of a longer word or number.

    >>> holds("my name is ada.", "ada"), holds("madame adams", "ada"), holds("我叫李雷", "李雷")
    (True, False, True)
    """
    at = text.find(fact)
    while at >= 0:
        end = at + len(fact)
        before = at > 0 and _joins(text[at - 1]) and _joins(fact[0])
        after = end < len(text) and _joins(text[end]) and _joins(fact[-1])
        if not before and not after:
            return True
        at = text.find(fact, at + 1)
    return False


def _joins(sign):
    """Whether a sign is of a script that parts its words by spaces (its letters have two cases), or a digit."""
    return sign.isdecimal() or sign.lower() != sign.upper()


def said_facts(chat: CountedChat, texts: Sequence[str]) -> list[SaidFact]:
    """Return the first user message and the facts that the patterns of `contextlab.pins` find, in order.

    A fact that a pattern found is known again by its value. A value of one word counts only beside its key, since
    “12” or “blue” stands in many messages; a user's name counts alone. ``texts``: the messages from `plain`.
    """
    messages = chat.history.messages
    first = chat.requests[0]
    board, found = Pins(), {}  # (key or note, index of the message that said it first) -> the indices that say it
    values, replaced = {}, {}
    for index in chat.requests:
        for event in board.read(messages[index]._replace(turn=index)):
            pin = _pin_of(board, event)
            if pin is None:
                continue
            place = (pin.key, pin.value if pin.key is None else None, pin.said)
            if place not in found and pin.key is not None:
                for earlier in found:
                    if earlier[0] == pin.key:
                        replaced.setdefault(earlier, index)
            found.setdefault(place, set()).add(index)
            values.setdefault(place, pin.value)
    opening = texts[first]  # a greeting stands in many messages: a short one counts again only as a whole message
    repeated = (
        _holders(texts, opening) if opening.count(" ") >= 3 else [i for i, one in enumerate(texts) if one == opening]
    )
    facts = [_fact(chat, messages[first].text, FIRST, {first}, [i for i in repeated if i > first])]
    for place, indices in found.items():
        key, value = place[0], values[place]
        needle = plain(value)
        holders = _holders(texts, needle)
        if key not in (None, NAME_KEY) and " " not in needle:
            beside = plain(key)
            holders = [index for index in holders if holds(texts[index], beside)]
        holders = [index for index in holders if index >= place[2]]
        fact = _fact(chat, value, key, indices, holders)
        turn = replaced.get(place)
        facts.append(fact if turn is None else fact._replace(replaced_turn=chat.turn_of(turn)))
    return facts


def _pin_of(board: Pins, event: Event):
    """Return the pin that an event wrote or confirmed, or None."""
    if event.what not in ("pinned", "repeated", "corrected", "contradicted"):
        return None
    return board[event.value if event.key is None else event.key]


def _given(chat, texts, fact):
    needle = plain(fact)
    if not needle:
        raise InputError("a fact to follow is a text that is not empty")
    return _fact(chat, fact, None, (), _holders(texts, needle))


def _holders(texts, needle):
    return [i for i, text in enumerate(texts) if needle in text and holds(text, needle)] if needle else []


def _fact(chat, text, key, indices, holders):
    held = tuple(sorted({*indices, *holders}))
    return SaidFact(text, key, held, chat.turn_of(held[0]) if held else None, None)


class _Again:
    """Finds the turns in which the user comes back to a fact: the fact itself, or two of its rare words."""

    def __init__(self, chat, texts):
        self.chat = chat
        self.turns_with = {}  # word of four signs or more -> indices of the user messages with it
        for index in chat.requests:
            for word in set(_WORD.findall(texts[index])):
                if len(word) >= 4:
                    self.turns_with.setdefault(word, []).append(index)
        self.rare = max(3, len(chat.requests) // 20)  # a word in more user messages than this is no sign

    def messages(self, fact: SaidFact) -> list[int]:
        shared = {}
        for word in set(_WORD.findall(plain(fact.text))):
            indices = self.turns_with.get(word, ())
            if len(indices) <= self.rare:
                for index in indices:
                    shared[index] = shared.get(index, 0) + 1
        asked = set(self.chat.requests)
        return sorted({i for i, count in shared.items() if count >= 2} | {i for i in fact.messages if i in asked})


def _window(chat, window, reply_reserve, said, again, instead):
    room = chat.room(window, reply_reserve)
    history, fixed = chat.history, sum(chat.fixed.values())
    prefix = history.prefix
    starts, rows = [], []
    sent = first_time = known = 0
    for turn, current in enumerate(chat.requests, start=1):
        stop = current + 1
        start = newest_run(prefix, room, stop)
        starts.append(start)
        if start == stop:  # the user message alone is larger than the room
            rows.append(Request(turn, 0, 0, stop, None, False))
            continue
        units = fixed + history.units(start, stop)
        first_time += history.units(max(start, known), stop) + (0 if sent else fixed)
        known = stop
        sent += units
        rows.append(Request(turn, units, stop - start, start, chat.turn_of(start), True))
    facts = tuple(_fact_trace(chat, fact, starts, again.messages(fact)) for fact in said)
    others = _instead(chat, window, reply_reserve, sent) if instead else ()
    return WindowTrace(window, reply_reserve, room, facts, tuple(rows), sent, first_time, sent - first_time, others)


def _fact_trace(chat, fact, starts, again):
    drop, back, visible, since = None, [], 0, 0
    before = True
    for turn, (start, current) in enumerate(zip(starts, chat.requests, strict=True), start=1):
        if start > current or not fact.messages or fact.messages[0] > current:
            continue
        since += 1
        now = holds_any(range(start, current + 1), fact.messages)
        visible += now
        if not now and drop is None:
            drop = turn
        if now and not before:
            back.append(turn)
        before = now
    pin_units = pin_cost(chat, fact)
    said_again = [chat.turn_of(i) for i in again if _is_new(fact.messages, starts[chat.turn_of(i) - 1], i)]
    return FactTrace(*fact, drop, tuple(back), visible, tuple(said_again), pin_units, pin_units * since)


def _is_new(holders, start, index):
    """Whether a message comes after a fact of which nothing before it is in its request."""
    return bool(holders) and holders[0] < min(start, index) and not holds_any(range(start, index), holders)


def pin_cost(chat: CountedChat, fact: SaidFact) -> int:
    """Return the units that a pinned note of a fact adds to a request, its message overhead included.

    >>> from contextlab.chat import Message
    >>> from contextlab.render import PlainRule
    >>> from contextlab.tokens import WordPieces
    >>> chat = CountedChat([Message("user", "I'm Ada.")], PlainRule(WordPieces()))
    >>> pin_cost(chat, SaidFact("Ada", "user name", (0,), 1, None))
    11
    """
    from .chat import Message

    key = None if fact.key == FIRST else fact.key
    return chat.rule.message(Message("system", f"{HEAD} {Pin(key, fact.text, 'user', 'said', None, None).text}"))


class _Full:
    """Stands for a summariser whose text always fills what it may have."""

    may_repeat = True

    def __init__(self, counter):
        self.counter = counter
        self._made = {}

    def __call__(self, previous, messages, limit):
        from .tokens import cut

        if limit not in self._made:
            self._made[limit] = cut("so " * (4 * limit + 8), limit, self.counter)
        return self._made[limit]


def _found_updates(messages):
    """Return what the patterns find in an exchange as updates of notes."""
    from .notes import Update

    board = Pins()
    for message in messages:
        board.read(message)
    return [Update("remember" if pin.key is None else pin.key, (pin.value,)) for pin in board]


def _instead(chat, window, reply_reserve, sent):
    from .cost import summary_break_even
    from .notes import Noted
    from .summary import RESERVE, Spent, Summarised

    counter = chat.rule.counter
    ways = (
        ("pinned notes", Pinned(cap=RESERVE), 1),
        ("rolling summary", Summarised(_Full(counter), cap=RESERVE), MARK),
        ("tiered notes", Noted(_found_updates), MARK),
    )
    found = []
    for name, part, mark in ways:
        try:
            trace = replay(chat, Beside(part, mark=mark), input_budget=window, reply_reserve=reply_reserve)
        except BudgetError as error:
            found.append(Instead(name, None, None, 0, 0, 0, None, str(error)))
            continue
        spent = getattr(part, "spent", Spent(0, 0, 0))
        total = trace.total_input_units
        pays = None
        if name == "rolling summary" and spent.calls:
            pays = summary_break_even(spent.read // spent.calls, RESERVE)
        found.append(Instead(name, total, sent - total, spent.calls, spent.read, spent.written, pays, ""))
    return tuple(found)
