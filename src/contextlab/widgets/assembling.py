"""Chapter 14: an assembler in three versions, each of which mends something, and the explorer over them.

The chapter shows the code of the versions; a test compares it with this one. None of them is meant for use: that is
`contextlab.assembler`.
"""

from __future__ import annotations

from functools import cache

from contextlab.assembler import assemble
from contextlab.chat import turns
from contextlab.errors import ContextOverflow
from contextlab.failures import failures
from contextlab.render import OpenAIRecipe
from contextlab.script import workshop_chat
from contextlab.tokens import BPE

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped


def first_version(messages, budget, notes=()):
    kept, left = [], budget
    for message in reversed(messages):
        text = message.text
        size = len(text) // 4
        if size > left:
            rest = text[len(text) - 4 * left :]
            kept.insert(0, message._replace(content=rest))
            break
        kept.insert(0, message)
        left -= size
    return [*notes, *kept]


def counted(messages, budget, rule):
    instructions, question = messages[0], messages[-1]
    needed = rule.request([instructions, question])
    if needed > budget:
        raise ContextOverflow("too long", budget, {"mandatory": needed})
    first, left = len(messages) - 1, budget - needed
    for message in reversed(messages[1:-1]):
        left -= rule.message(message)
        if left < 0:
            break
        first -= 1
    return [instructions, *messages[first:-1], question]


def whole_turns(messages, budget, rule):
    instructions, question = messages[0], messages[-1]
    needed = rule.request([instructions, question])
    if needed > budget:
        raise ContextOverflow("too long", budget, {"mandatory": needed})
    first, left = len(messages) - 1, budget - needed
    for turn in reversed(turns(messages)[:-1]):
        left -= sum(rule.message(messages[i]) for i in turn)
        if left < 0:
            break
        first = turn.start
    return [instructions, *messages[first:-1], question]


COUNTER = BPE("o200k_base")
RULE = OpenAIRecipe(COUNTER)
BUDGETS = (600, 1000, 1500, 2000, 3000)
VERSIONS = ("first version", "exact count", "whole turns", "the library")


def library(messages, budget, rule):
    """Return the request of `contextlab.assembler`; a tool result above a third of the budget is shortened."""
    request = assemble(
        messages,
        window=budget,
        max_output_tokens=0,
        counter=COUNTER,
        template=rule,
        max_message_tokens=budget // 3,
        shorten_oversized=True,
    )
    return request.messages


MAKERS = dict(zip(VERSIONS, (lambda m, b, _: first_version(m, b), counted, whole_turns, library), strict=True))


@cache
def requests(turns: int = 40) -> list:
    """Return the chat of the workshop up to each of its questions."""
    chat = workshop_chat(turns)
    return [chat[: i + 1] for i, message in enumerate(chat) if message.role == "user"]


@cache
def modes(version: str, budget: int, number: int) -> tuple[str, ...]:
    """Return the failure modes in one request, each once; number is 1 for the first."""
    chat = requests()[number - 1]
    sent = MAKERS[version](chat, budget, RULE)
    found = failures(sent, chat, input_budget=budget, rule=RULE)
    return tuple(dict.fromkeys(failure.mode for failure in found))


def faulty(version: str, budget: int, mode: str | None = None) -> int:
    """Return how many of the 40 requests have a failure, or this one."""
    found = [modes(version, budget, number) for number in range(1, len(requests()) + 1)]
    return sum(bool(one) if mode is None else mode in one for one in found)


def assembler_explorer(
    *,
    title: str = "Four versions, request by request",
    question: str = "Choose a version and an input budget, then move through the 40 requests of the workshop's chat.",
) -> Explorer:
    """Return the explorer of chapter 14: what each version sends, and what is wrong with it.

    Returns:
        An explorer; `settings` holds `version` (0 to 3), `budget` and `request`.
    """
    patterns: dict[tuple[str, ...], int] = {(): 0}

    def results(version: int, budget: int, request: int) -> tuple:
        name = VERSIONS[version]
        chat = requests()[request - 1]
        sent = MAKERS[name](chat, budget, RULE)
        tools = sum(RULE.message(one) for one in sent if one.role == "tool")
        pattern = patterns.setdefault(modes(name, budget, request), len(patterns))
        return len(chat), len(sent), RULE.request(sent), tools, pattern

    by = ("version", "budget", "request")
    names = ("said", "sent", "tokens", "tools", "pattern")
    for one in range(len(VERSIONS)):  # all patterns are known before the sentences are made
        for budget in BUDGETS:
            for request in range(1, len(requests()) + 1):
                results(one, budget, request)
    read = "{sent} of {said} messages are sent, {tokens} of {budget} tokens."
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("version", "Version", start=0, values=range(len(VERSIONS)), labels=VERSIONS),
            Control("budget", "Input budget", start=1500, values=BUDGETS),
            Control("request", "Request", 1, len(requests()), 1, "", 20),
        ],
        table_of=(by, names, results),
        digits=dict.fromkeys(names, 0),
        sentences=[
            *((f"pattern == {at}", f"{read} {_named(found)}") for found, at in patterns.items() if found),
            f"{read} No failure is found.",
        ],
        draw={
            "type": "bars",
            "unit": "tokens",
            "bars": [
                {"name": "budget", "label": "Input budget", "role": "reply", "digits": 0},
                {"name": "tokens", "label": "Sent", "role": "user", "digits": 0},
                {"name": "tools", "label": "Of it tool results", "role": "tool", "digits": 0},
            ],
        },
        table={
            "head": ["Version", *map(grouped, BUDGETS)],
            "rows": [[name, *(str(faulty(name, budget)) for budget in BUDGETS)] for name in VERSIONS],
        },
    )


def _named(found: tuple[str, ...]) -> str:
    return ("Failure: " if len(found) == 1 else f"{len(found)} failures: ") + "; ".join(found) + "."
