"""The eight ways in which a request goes wrong, each found by looking at what is sent.

The names are those of the lesson that this book grew from, "Context window: why a long AI chat forgets your name".
What is sent is compared with the whole chat, so none of these needs a model, and all of them can run on every request.
"""

from __future__ import annotations

from collections import namedtuple

from .chat import INSTRUCTION_ROLES, Message, leading_instructions
from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FAILURE_MODES", "Failure", "failures"]

FAILURE_MODES = {
    "silent loss of instructions": "the instructions are missing, changed, or not first",
    "empty or headless request": "nothing is sent, the current question is missing, or the history begins with a reply",
    "orphaned tool call": "a result without its call, or a call without its result",
    "half a message": "a text was cut and nothing says so",
    "tool output floods the window": "one result takes a large part of the input budget",
    "summary drift": "the summary no longer says what it has to say",
    "stale pinned fact": "a note says what the user has corrected",
    "budget miscount": "the request and the reply reserve do not fit the window",
}
RESULTS = ("tool", "function")  # roles


class Failure(namedtuple("Failure", "mode index says")):
    """One failure: its mode, the index of the message in the request (None: of the whole), and what was seen."""

    __slots__ = ()


def failures(
    sent: Iterable,
    chat: Iterable,
    *,
    input_budget: int,
    rule,
    flood: float = 0.5,
    summary: str | None = None,
    facts: Iterable[str] = (),
    stale: Iterable[str] = (),
) -> tuple[Failure, ...]:
    """Return the failures of a request, in the order of `FAILURE_MODES`; an empty tuple when there is none.

    Args:
        sent: the messages of the request, dicts of OpenAI's format or `Message`.
        chat: the whole chat up to the current question, or to the open tool results that answer it.
        input_budget: tokens that the request may have: the window without the reply reserve.
        rule: what counts the request, from `contextlab.render`.
        flood: the share of the input budget above which one tool result counts as a flood.
        summary: the text of the summary in the request, if there is one.
        facts: texts that the summary has to hold, letter by letter.
        stale: texts that no note may hold any more, because the user has corrected them.

    Raises:
        InputError: a message is no message, or the chat has no user message.

    >>> from contextlab.render import PlainRule
    >>> from contextlab.tokens import WordPieces
    >>> chat = [Message("system", "Be brief."), Message("user", "I am Ada."), Message("assistant", "Hello, Ada.")]
    >>> chat.append(Message("user", "Who am I?"))
    >>> for failure in failures(chat[2:], chat, input_budget=100, rule=PlainRule(WordPieces())):
    ...     print(failure.mode, "-", failure.says)
    silent loss of instructions - 'Be brief.' is not among the first messages
    empty or headless request - the history begins with the role assistant
    """
    sent = [_message(one, f"message {i} of the request") for i, one in enumerate(sent)]
    chat = [_message(one, f"message {i} of the chat") for i, one in enumerate(chat)]
    asked = [message for message in chat if message.role == "user"]
    if not asked:
        raise InputError("the chat has no user message, so there is no request to look at")
    return (
        *_lost_instructions(sent, chat),
        *_headless(sent, asked[-1]),
        *_orphans(sent),
        *_halves(sent, chat),
        *_floods(sent, rule, flood * input_budget),
        *_drift(summary, facts),
        *_stale(sent, chat, stale),
        *_miscount(sent, rule, input_budget),
    )


def _message(one, where):
    return one if isinstance(one, Message) else Message.from_openai(one, where)


def _lost_instructions(sent, chat):
    mode = "silent loss of instructions"
    first = [message.text for message in sent[: leading_instructions(sent)]]
    wanted = [message.text for message in chat[: leading_instructions(chat)]]
    for text in dict.fromkeys(wanted):
        times = first.count(text)
        if times < wanted.count(text):
            yield Failure(mode, None, f"{_start(text)} is not among the first messages")
        elif times > wanted.count(text):
            yield Failure(mode, None, f"{_start(text)} is sent {times} times")


def _headless(sent, current):
    mode = "empty or headless request"
    history = [i for i, message in enumerate(sent) if message.role not in INSTRUCTION_ROLES]
    if not history:
        yield Failure(mode, None, "no message of the chat is sent")
        return
    first = history[0]
    if sent[first].role != "user":
        yield Failure(mode, first, f"the history begins with the role {sent[first].role}")
    if current not in sent:
        yield Failure(mode, None, f"the current question, {_start(current.text)}, is not sent as it was said")


def _orphans(sent):
    mode = "orphaned tool call"
    open_calls = {}  # id of a call -> index of its message; results stand right behind it
    for i, message in enumerate(sent):
        if message.role == "tool":
            if open_calls.pop(message.tool_call_id, None) is None:
                yield Failure(mode, i, f"the result of {message.tool_call_id!r} has no call before it")
            continue
        yield from (Failure(mode, at, f"the call {id!r} has no result") for id, at in open_calls.items())
        open_calls = {call.get("id"): i for call in message.tool_calls}
    yield from (Failure(mode, at, f"the call {id!r} has no result") for id, at in open_calls.items())


def _halves(sent, chat):
    whole = set(map(_key, chat))
    for i, message in enumerate(sent):
        text = message.text
        if text and _key(message) not in whole:
            longer = [one.text for one in chat if one.role == message.role and text in one.text]
            if longer:
                says = f"{len(text)} of the {len(longer[0])} characters of a message are sent"
                yield Failure("half a message", i, says)


def _floods(sent, rule, most):
    for i, message in enumerate(sent):
        if message.role in RESULTS and rule.message(message) > most:
            says = f"one result has {rule.message(message):,} tokens, more than {most:,.0f}"
            yield Failure("tool output floods the window", i, says)


def _drift(summary, facts):
    if summary is not None:
        for fact in facts:
            if fact not in summary:
                yield Failure("summary drift", None, f"the summary does not say {fact!r}")


def _stale(sent, chat, stale):
    own = set(map(_key, chat))
    for i, message in enumerate(sent):
        if message.role in INSTRUCTION_ROLES and _key(message) not in own:
            for fact in stale:
                if fact in message.text:
                    yield Failure("stale pinned fact", i, f"a note says {fact!r}, which was corrected")


def _miscount(sent, rule, input_budget):
    tokens = rule.request(sent)
    if tokens > input_budget:
        yield Failure("budget miscount", None, f"{tokens:,} tokens are sent, {input_budget:,} fit")


def _key(message):
    """What makes two messages the same text of the same role; content parts cannot be hashed."""
    return message.role, message.text, message.tool_call_id


def _start(text):
    return repr(text if len(text) <= 40 else f"{text[:40]}…")
