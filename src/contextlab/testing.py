"""A test for your own chat: what was said once must still be in the request long after keep-newest has dropped it."""

from __future__ import annotations

from collections import namedtuple
from itertools import cycle, islice

from .chat import Message, leading_instructions, turns
from .errors import InputError
from .forecast import drop_turn
from .render import OpenAIRecipe, PlainRule
from .replay import CountedChat, replay
from .tokens import WordPieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Survival", "assert_survives"]


class Survival(namedtuple("Survival", "said drop_turn turns")):
    """What was checked: the turn in which the fact is said first, the turn in which keep-newest drops it, all turns."""

    __slots__ = ()


def assert_survives(
    chat: Iterable, policy, fact: str, *, input_budget: int | None = None, rule=None, past: int = 20
) -> Survival:
    """Assert that each request holds ``fact`` from the turn in which it is said to ``past`` turns after its drop turn.

    The chat goes on, with its own turns that do not hold the fact, until keep-newest would have dropped the fact and
    ``past`` more turns are over. Each request of this longer chat is made and searched, letter by letter; the leading
    instructions do not count. Raises `AssertionError`, with the turns, when the fact is missing anywhere, and
    `InputError` when no message holds it.

    Args:
        chat: messages, dicts of OpenAI's format or `Message`.
        policy: a policy of `contextlab.keep` and later modules; an `Assembler` to which nothing was appended; or your
            own function, which takes the messages up to a question and returns those to send (or a `Request`).
        fact: the text to look for.
        input_budget: units of a request. An assembler brings its own; for a policy the default is half of what the
            whole chat costs; a function needs it.
        rule: what counts the messages; the default is `PlainRule` with word pieces, or `OpenAIRecipe` with the
            assembler's counter.
        past: turns after the drop turn.

    >>> from contextlab import Assembler, KeepNewest, PinnedNote, scripted_chat
    >>> from contextlab.script import NAME
    >>> assert_survives(scripted_chat(turns=30), PinnedNote(), NAME, input_budget=4000)
    Survival(said=1, drop_turn=19, turns=39)
    >>> assert_survives(scripted_chat(turns=30), KeepNewest(), NAME, input_budget=4000)
    Traceback (most recent call last):
    ...
    AssertionError: 'Ada Moreno' is said in turn 1 and missing from 21 of 39 requests, first in turn 19; keep-newest ...
    """
    messages = [
        one if isinstance(one, Message) else Message.from_openai(one, f"message {i}") for i, one in enumerate(chat)
    ]
    is_assembler = hasattr(policy, "append") and hasattr(policy, "request")
    is_policy = hasattr(policy, "select")
    if rule is None:
        rule = OpenAIRecipe(policy.counter) if is_assembler else PlainRule(WordPieces())
    if input_budget is None:
        if not is_assembler and not is_policy:
            raise InputError("your own function needs input_budget: the units that one request may hold")
        input_budget = policy.budget if is_assembler else rule.request(messages) // 2
    longer, dropped = _talked_past(messages, fact, input_budget, rule, past)
    if is_policy:
        visible = [row.fact_visible for row in replay(longer, policy, input_budget=input_budget, fact=fact).rows]
    else:
        ask = _asking(policy) if is_assembler else policy
        visible = _visible(longer, ask, fact)
    history = longer.history.messages
    said = next(i for i, current in enumerate(longer.requests) if any(fact in m.text for m in history[: current + 1]))
    missing = [turn for turn, seen in enumerate(visible, start=1) if turn > said and not seen]
    if missing:
        raise AssertionError(
            f"{fact!r} is said in turn {said + 1} and missing from {len(missing)} of {len(visible)} requests, "
            f"first in turn {missing[0]}; keep-newest drops it in turn {dropped} at {input_budget} {_unit(rule)}"
        )
    return Survival(said + 1, dropped, len(visible))


def _talked_past(messages, fact, input_budget, rule, past):
    """Return the chat, gone on until ``past`` turns after the drop turn of the fact, counted, and that turn."""
    body = messages[leading_instructions(messages) :]
    filler = [list(body[turn.start : turn.stop]) for turn in turns(body)]
    filler = [turn for turn in filler if turn[0].role == "user" and not any(fact in m.text for m in turn)]
    if not any(fact in m.text for m in body):
        raise InputError(f"no message of the chat says {fact!r}, so there is nothing that could survive")
    if not filler:
        raise InputError(f"every turn of the chat says {fact!r}: give it at least one turn without, to talk on with")
    more = cycle(filler)
    while True:
        chat = CountedChat(messages, rule)
        last = chat.holders(fact)[-1]
        dropped = drop_turn(chat, chat.room(input_budget), last)
        wanted = len(chat.requests) * 2 if dropped is None else dropped + past
        if len(chat.requests) >= wanted:
            return chat, dropped
        messages = [*messages, *(m for turn in islice(more, wanted - len(chat.requests)) for m in turn)]


def _asking(assembler):
    """Return a function that hands the assembler the new messages only."""
    done = 0

    def ask(messages):
        nonlocal done
        assembler.append(*messages[done:])
        done = len(messages)
        return assembler.request()

    return ask


def _visible(chat, ask, fact):
    """Return for each request whether a message of it, instructions aside, holds the fact."""
    said = [*chat.instructions, *chat.history.messages]
    visible = []
    for current in chat.requests:
        made = ask(said[: len(chat.instructions) + current + 1])
        sent = [m if isinstance(m, Message) else Message.from_openai(m) for m in getattr(made, "messages", made)]
        visible.append(any(fact in message.text for message in sent if message not in chat.instructions))
    return visible


def _unit(rule):
    return getattr(getattr(rule, "counter", None), "unit", "units")
