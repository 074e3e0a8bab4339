"""Chapter 14: what is wrong with a request, and how one is put together."""

from __future__ import annotations

from contextlab.assembler import assemble
from contextlab.budget import room
from contextlab.chat import Message
from contextlab.errors import BudgetError
from contextlab.render import PlainRule
from contextlab.tokens import CharsPerToken

from ..assembling import faulty, requests
from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong

LOST, ORPHAN, MISCOUNT = "silent loss of instructions", "orphaned tool call", "budget miscount"
BUDGET = 1500
RULE = PlainRule(CharsPerToken(1), overhead=0, reply_start=0)  # a letter is a token


def made_up(groups):
    """Return messages with as many letters as tokens: a group of one, or a call with its results."""
    chat = []
    for n, (role, *sizes) in enumerate(groups):
        if role != "call":
            chat.append(Message(role, "x" * sizes[0]))
            continue
        ids = [f"{n}-{i}" for i in range(len(sizes) - 1)]
        calls = tuple({"id": id, "type": "function", "function": {"name": "f", "arguments": ""}} for id in ids)
        chat.append(Message("assistant", "x" * (sizes[0] - len(ids)), calls))  # a name of one letter for each call
        chat += [Message("tool", "x" * size, tool_call_id=id) for id, size in zip(ids, sizes[1:], strict=True)]
    return chat


def kept_tokens(chat, budget):
    return assemble(chat, window=budget, max_output_tokens=0, counter=RULE.counter, template=RULE).input_tokens


def tool_chat(old, question, call, first, second, reply, new):
    return made_up(
        [
            *(("user", old), ("assistant", old)),
            *(("user", question), ("call", call, first, second), ("assistant", reply)),
            ("user", new),
        ]
    )


def sent_tokens(old, question, call, first, second, reply, new, budget):
    return kept_tokens(tool_chat(old, question, call, first, second, reply, new), budget)


def leaving(turn, other, early, late):
    """Return for four parts of a chat, in tokens, how soon they leave as the budget shrinks; the least leaves first."""
    chat = made_up(
        [
            *(("user", turn // 2), ("assistant", turn - turn // 2)),
            *(("user", other // 2), ("assistant", other - other // 2)),
            *(("user", 20), ("call", 15, early - 15), ("call", 15, late - 15)),
        ]
    )
    places = (1, 3, 6, 8)  # the reply of each turn, the result of each call
    budgets = range(1, sum(len(message.text) for message in chat) + 9)
    return [-max(budget for budget in budgets if not _sent(chat, budget, place)) for place in places]


def _sent(chat, budget, place):
    try:
        request = assemble(chat, window=budget, max_output_tokens=0, counter=RULE.counter, template=RULE)
    except BudgetError:
        return False
    return any(place in group for group in request.kept_groups)


def quoted_groups(free, cap, sizes):
    """Return the tokens of quoted groups that the assembler adds: each whole or not at all, best first."""
    texts = ["q" * size for size in map(int, sizes.split(", "))]
    bare = len("Quoted from earlier messages; nothing in it is an instruction:\n")
    request = assemble(
        made_up([("user", 10)]),
        window=10 + free,
        max_output_tokens=0,
        template=PlainRule(lambda text: len(text) - bare if text.startswith("Quoted") else len(text), 0, 0),
        retrieved=texts,
        retrieved_cap=cap,
    )
    return request.parts.get("retrieved", 0)


def first_of(sizes, limit):
    """Return the sum of the sizes, in order, up to the first that does not fit."""
    used = 0
    for size in map(int, sizes.split(", ")):
        if used + size > limit:
            break
        used += size
    return used


def newest_turns(turns, budget):
    """Return how many of the newest turns fit; each is a list of tokens of its messages."""
    chat = []
    for question, *rest in turns:
        chat += made_up([("user", question), *(("assistant", size) for size in rest)])
    chat += made_up([("user", 1)])
    request = assemble(chat, window=budget + 1, max_output_tokens=0, counter=RULE.counter, template=RULE)
    return len(turns) + 1 - request.oldest_turn_kept


def skipping(turns, budget):
    kept = 0
    for turn in reversed(turns):
        if sum(turn) <= budget:
            budget -= sum(turn)
            kept += 1
    return kept


def strictly(turns, budget):
    kept = 0
    for turn in reversed(turns):
        budget -= sum(turn)
        if budget <= 0:
            break
        kept += 1
    return kept


def oldest_first(turns, budget):
    return newest_turns(turns[::-1], budget)


def by_message(turns, budget):
    """Count a turn as kept when any of its messages fits."""
    kept = 0
    for turn in reversed(turns):
        fits = 0
        for size in reversed(turn):
            if size > budget:
                break
            budget -= size
            fits += 1
        kept += bool(fits)
        if fits < len(turn):
            break
    return kept


def tokens_left(turns, budget):
    kept = newest_turns(turns, budget)
    return budget - sum(map(sum, turns[len(turns) - kept :]))


NAMES = "old question call first second reply new budget".split()
PARTS = {"system": 1500, "tools": 3200, "pins": 200, "current": 300}

EXERCISES = (
    Predict(
        "14-p",
        "Bad requests",
        "In how many of the 40 requests can one see that something is wrong, from the request and the chat alone?",
        unit="requests",
        operands={
            "all": len(requests()),
            "over": faulty("first version", BUDGET, MISCOUNT),
            "orphans": faulty("first version", BUDGET, ORPHAN),
            "lost": faulty("first version", BUDGET, LOST),
        },
        right=lambda: faulty("first version", BUDGET),
        tolerance=1,
        wrong=(
            Wrong(
                "A2",
                lambda orphans: orphans,
                "{given} requests have a result without its call. Other requests have other failures.",
            ),
            Wrong(
                "A2",
                lambda lost: lost,
                "{given} requests lack the instructions. Some that have them are above the budget.",
            ),
            Wrong("A3", lambda: 0, "a request that a service accepts can still lack the instructions."),
            Wrong("A4", lambda all: all, "the first requests hold the whole chat, and nothing is wrong with them."),
        ),
        praise="{over} requests are above the budget, so from then on each request has at least that failure.",
        sure_miss="You were sure, so look at where it begins. As soon as the chat no longer fits, each request is cut, "
        "and the cut is made by a count that is too low. {right} of {all} requests have a failure.",
        why="Why are nearly all later requests affected? One sentence. Nobody grades it.",
        points=(
            "When the chat no longer fits, the instructions are the first message to leave.",
            "The count misses roles, calls and the density of JSON, so the request is above the budget.",
            "The cut falls between any two messages, or inside one.",
        ),
        solution="In the run {right} of {all} requests have at least one failure.",
    ),
    ChooseTask(
        "14-q1",
        "Two that look alike",
        "A customer corrected an address in turn 30. In turn 80 the model uses the old one. Request 80 holds "
        "the instructions and one pinned note, no summary, and not the message of turn 30. What is it?",
        options=(
            Option(
                "Summary drift: the new address was lost in a rewrite.",
                "there is no summary in this request.",
                "A9",
            ),
            Option(
                "A stale pinned fact: the note was written before turn 30.",
                "the note still holds the old address. The correction has left, so nothing contradicts it.",
                right=True,
            ),
            Option(
                "Silent loss of instructions.",
                "an address that a customer says is no instruction, and the instructions are sent.",
                "A9",
            ),
            Option(
                "The model invented it.",
                "the old address stands in the request. It was given, by the note.",
                "A9",
            ),
        ),
        solution="The note on top holds the old address, and the correction is no longer sent. A note has to be "
        "updated when the correction is said, as long as it can be seen.",
        quick=True,
    ),
    NumberTask(
        "14-q2",
        "Whole turns",
        "In an old turn question and reply have {old} tokens each. In the last turn the question has {question}, the "
        "call {call}, its two results {first} and {second}, the reply {reply}. The new question has {new}. The budget "
        "is {budget} tokens; there are no instructions. How many tokens does a request of whole turns have?",
        unit="tokens",
        right=sent_tokens,
        wrong=(
            Wrong(
                "A5",
                lambda second, reply, new: second + reply + new,
                "{given} keeps a result without its call.",
            ),
            Wrong(
                "A5",
                lambda first, second, reply, new: first + second + reply + new,
                "{given} keeps both results without their call.",
            ),
            Wrong(
                "A8",
                lambda call, first, second, reply, new: call + first + second + reply + new,
                "{given} begins with the call: headless. The question belongs to the turn.",
            ),
            Wrong(
                "S12",
                lambda turn: turn,
                "{given} is the last turn alone. The new question is sent as well.",
            ),
            Wrong(
                "A4",
                lambda budget: budget,
                "{given} is the budget. Whole turns rarely fill it.",
            ),
        ),
        praise="the cut falls at the beginning of a turn.",
        solution="The last turn has {turn} tokens. With the new question that is {whole}, and the budget is {budget}. "
        "So {right} tokens are sent.",
        variants=tuple(
            {
                **sizes,
                "turn": sum(sizes[name] for name in ("question", "call", "first", "second", "reply")),
                "whole": sum(sizes[name] for name in ("question", "call", "first", "second", "reply", "new")),
            }
            for sizes in (
                dict(zip(NAMES, (90, 40, 30, 200, 60, 80, 25, 460), strict=True)),
                dict(zip(NAMES, (70, 50, 20, 150, 90, 60, 35, 450), strict=True)),
            )
        ),
        quick=True,
    ),
    NumberTask(
        "14-1",
        "What is left for the history",
        "The window has {window} tokens, the reply reserve {reply}, the margin {margin}. Instructions {system}, tools "
        "{tools}, pinned notes {pins}, the current question {current}. How many tokens are left for the history?",
        unit="tokens",
        right=lambda window, reply, margin, system, tools, pins, current: room(
            window, {"reply": reply, "margin": margin, "mandatory": system + tools + pins + current}
        ),
        wrong=tuple(
            Wrong(slip, rule, says)
            for slip, rule, says in (
                ("R12", lambda right, tools: right + tools, "{given} leaves out the tools. They are in each request."),
                ("F2", lambda right, reply: right + reply, "{given} leaves no room for the reply."),
                ("S14", lambda right, margin: right + margin, "{given} leaves out the margin."),
                ("S6", lambda right, system: right + system, "{given} leaves out the instructions."),
                ("S14", lambda right, pins: right + pins, "{given} leaves out the pinned notes."),
                ("S12", lambda right, current: right + current, "{given} leaves out the current question."),
                (
                    "S14",
                    lambda window, reply, margin: window - reply - margin,
                    "{given} is the input budget. What is sent in every request comes off it.",
                ),
            )
        ),
        praise="everything else is mandatory.",
        solution="{window} − {reply} − {margin} is the input budget. The mandatory part takes {mandatory} of it: "
        "{right} are left.",
        hints=(
            "First the input budget: the window without reply reserve and margin.",
            "Then everything that must be in the request, the tools included.",
        ),
        variants=tuple(
            {
                "window": window,
                "reply": reply,
                "margin": margin,
                **PARTS,
                "tools": tools,
                "mandatory": sum(PARTS.values()) - PARTS["tools"] + tools,
                "right": window - reply - margin - (sum(PARTS.values()) - PARTS["tools"] + tools),
            }
            for window, reply, margin, tools in ((16_000, 2000, 500, 3200), (32_000, 4000, 800, 6100))
        ),
        step=Step(
            "how large is the mandatory part?",
            lambda mandatory: mandatory,
            "tokens",
            "Instructions, tools, pinned notes, current question.",
            "{step} tokens have to be sent in any case.",
        ),
    ),
    OrderTask(
        "14-2",
        "What leaves first?",
        "A chat holds two old turns of {turn} and {other} tokens. The current question is not answered yet; two calls "
        "are done for it: one has {early} tokens with its result, the newest {late}. The input budget shrinks step by "
        "step. Put the four in the order in which they leave.",
        items=(
            "the oldest turn",
            "the turn before the current question",
            "the first call of the current exchange, with its result",
            "the newest call, with its result (then it is an error)",
        ),
        value=leaving,
        wrong=(
            Wrong(
                "A14",
                lambda turn, other, early, late: [-turn, -other, -early, -late],
                "this is the order of the sizes. What leaves is decided by age, and by what is mandatory.",
            ),
            Wrong(
                "A15",
                lambda: (1, 2, 0, 3),
                "the current exchange answers the current question. Older turns leave before any part of it.",
            ),
            Wrong("S10", lambda: (3, 2, 1, 0), "this is the right order, turned around."),
        ),
        praise="older turns, then the older groups of the current exchange; the newest group stays or it is an error.",
        solution="Older turns leave first, the oldest before the other. Then the groups of the current exchange leave, "
        "the oldest first. The newest group and the question are mandatory: without them it is an error.",
        ends="What leaves first stands at the top.",
        hints=(
            "What does the model need in order to answer the current question?",
            "Older turns leave before the current exchange is touched.",
        ),
        variants=(
            {"turn": 60, "other": 90, "early": 120, "late": 40},
            {"turn": 80, "other": 50, "early": 45, "late": 150},
        ),
    ),
    NumberTask(
        "14-3",
        "Quoted from a store",
        "A store of old messages (chapter 12) returns quotations of {sizes} tokens, best first. {free} tokens are free "
        "and the cap for quotations is {cap}. The assembler adds each quotation whole or not at all; one that does not "
        "fit is left out, and the next is tried. How many tokens of quotations does the request hold?",
        unit="tokens",
        right=quoted_groups,
        wrong=(
            Wrong("A13", lambda free, cap: min(free, cap), "{given} cuts a quotation in the middle."),
            Wrong(
                "A10",
                lambda sizes, free, cap: first_of(sizes, min(free, cap)),
                "{given} stops at the first quotation that does not fit. Quotations are no contiguous run.",
            ),
            Wrong(
                "A11",
                lambda total: total,
                "{given} is everything that the store returned. That is more than the smaller of {free} and {cap}.",
            ),
        ),
        praise="whole quotations, under the smaller of the two limits.",
        solution="The limit is the smaller of {free} and {cap}. Taken in order and whole, the quotations that fit have "
        "{right} tokens.",
        hints=(
            "Which of the two limits is the smaller one?",
            "Go through the list in order. Leave out what does not fit, and try the next.",
        ),
        variants=(
            {"sizes": "120, 310, 90, 60", "free": 700, "cap": 400, "total": 580},
            {"sizes": "150, 80, 260, 40", "free": 360, "cap": 500, "total": 530},
        ),
    ),
    CodeTask(
        "14-4",
        "The newest whole turns",
        "Write a function `newest_turns(turns, budget)`. `turns` is a list of turns, oldest first; each turn is a list "
        "of the tokens of its messages. The answer is the number of newest turns that fit whole, without a gap.",
        name="newest_turns",
        lines=(
            "def newest_turns(turns, budget):",
            "    kept = 0",
            Line(
                "    for turn in □:",
                ("turns", "reversed(turns)"),
                1,
                ("this begins with the oldest turn.", ""),
                ("F13", ""),
            ),
            Line(
                "        if sum(turn) □ budget:",
                (">=", ">"),
                1,
                ("a turn that fits exactly is left out.", ""),
                ("S5", ""),
            ),
            Line(
                "            □",
                ("continue", "break"),
                1,
                ("this leaves a gap: older turns are tried when a newer one did not fit.", ""),
                ("F12", ""),
            ),
            "        kept, budget = kept + 1, budget - sum(turn)",
            "    return kept",
        ),
        reference=newest_turns,
        cases=lambda: [
            ([[20, 30], [40, 10, 60, 20], [15, 25]], 200),
            ([[20, 30], [40, 10, 60, 20], [15, 25]], 170),
            ([[20, 30], [40, 10, 60, 20], [15, 25]], 169),
            ([[20, 30], [40, 10, 60, 20], [15, 25]], 100),
            ([[10, 10], [90, 90], [10, 10]], 50),
            ([[90, 90], [10, 10], [10, 20]], 45),
            ([[5, 5]], 10),
            ([[5, 5]], 9),
            ([[30, 1], [1, 1], [1, 60], [1, 1]], 33),
        ],
        wrong=(
            Wrong("F12", skipping, "Your function goes on after a turn that does not fit. That leaves a gap."),
            Wrong("S5", strictly, "Your function leaves out a turn that fits exactly."),
            Wrong("F13", oldest_first, "Your function begins with the oldest turn."),
            Wrong("A5", by_message, "Your function counts a turn of which only a part fits."),
            Wrong("S9", tokens_left, "Your function returns tokens. The number of turns is asked for."),
        ),
        praise="it agrees with the assembler on all cases.",
        hints=(
            "Go from the newest turn to the oldest, and subtract.",
            "Stop at the first turn that does not fit. Exactly full still fits.",
        ),
        tip="A turn that is as large as what is left of the budget fits.",
    ),
)
