"""Lab 5, An assembler against the failure modes: the rule's axes, what is asked, the right answers under any rule."""

from __future__ import annotations

import json
from itertools import pairwise

from grading.draws import Draw
from grading.kit import Ask, Student, calls, judged, same, value

TITLE = "An assembler against the failure modes"
MINUTES = 420
TRACE = "q4"

# The value of the demonstration first.
AXES = {
    "overhead": (2, 1, 3, 4),  # units of a message beside its words
    "percent": (5, 3, 8, 12),  # of the window that stay free
    "rounding": ("down", "up"),  # of that share
    "twice": ("first", "last"),  # of two results of one call, which counts
    "missing": ("message", "call", "fill"),  # what becomes of a call without a result
    "cut": ("head", "tail", "ends"),  # what stays of a long result
    "yields": ("oldest", "largest", "tools"),  # which older turn leaves first
    "place": ("top", "beside"),  # of the note: behind the instructions, or before the current question
    "flood": (50, 40, 60, 30),  # percent of the budget that one result may have
}
# Question -> the axes that differ from the demonstration in every graded course.
QUESTIONS = {
    "q1": ["percent", "overhead"],
    "q2": ["missing", "twice"],
    "q3": ["cut"],
    "q4": ["missing", "twice"],
    "q5": ["yields", "place"],
    "q6": ["flood", "overhead"],
}
NAMES = {
    "q1-budget": "the input budget",
    "q1-kept": "the turns that stay, and what is left",
    "q2-examples": "the examples of the text",
    "q2-hidden": "calls and results in every disorder",
    "q3-examples": "the examples of the text",
    "q3-hidden": "results of every length",
    "q4-lines": "your trace of your own code",
    "q5-examples": "the examples of the text",
    "q5-calls": "no orphaned tool call",
    "q5-head": "the instructions stand first, and the history does not begin with a reply",
    "q5-budget": "budgets that are just enough, and one unit less",
    "q5-long": "long chats with tools, corrections and a note",
    "q6-examples": "the examples of the text",
    "q6-hidden": "requests with one failure, with several, and with none",
}
RUBRICS = {
    "q7": {
        "number": (3, "Requests with a failure of each kind, of all requests: both programs, one chat, one budget."),
        "reason": (3, "Why each kind is gone or still there, told on one request that the student shows."),
    },
    "q8": {
        "number": (2, "The smallest budget at which every request is possible, and which request decides."),
        "reason": (2, "What the application does when it is not, and which two modes need the meaning of a text."),
    },
}
MODES = ("instructions", "headless", "orphan", "half", "flood", "budget")
WORDS = "we need two new tyres and a chain for the red bicycle that came in on monday with a bent wheel".split()
TOOLS = ("stock", "price", "order")


def units(message: dict, rule: dict) -> int:
    texts = [message["content"] or ""]
    for one in message.get("tool_calls", []):
        texts += [one["function"]["name"], one["function"]["arguments"]]
    return rule["overhead"] + len(" ".join(texts).split())


def budget_of(window: int, reply: int, rule: dict) -> int:
    margin, rest = divmod(window * rule["percent"], 100)
    return window - reply - margin - (1 if rest and rule["rounding"] == "up" else 0)


def stay(costs: list[int], tools: list[bool], left: int, rule: dict) -> list[int]:
    """The older turns that stay, by index: one after the other leaves, until the rest fits into what is left."""
    staying = list(range(len(costs)))
    while staying and sum(costs[i] for i in staying) > left:
        leaving = staying[0]
        if rule["yields"] == "largest":
            leaving = max(staying, key=lambda i: costs[i])  # of several the first, which is the oldest
        elif rule["yields"] == "tools":
            leaving = next((i for i in staying if tools[i]), staying[0])
        staying.remove(leaving)
    return staying


def repair(messages: list[dict], rule: dict) -> list[dict]:
    """The right answer of question 2."""
    results: dict[str, dict] = {}
    for message in messages:
        if message["role"] == "tool" and (rule["twice"] == "last" or message["tool_call_id"] not in results):
            results[message["tool_call_id"]] = message
    whole = []
    for message in messages:
        if message["role"] == "tool":
            continue
        asked = message.get("tool_calls", [])
        answered = [one for one in asked if one["id"] in results]
        if len(answered) < len(asked) and rule["missing"] != "fill":
            if rule["missing"] == "message" or not answered:
                continue
            message, asked = message | {"tool_calls": answered}, answered
        whole.append(message)
        whole += [results.get(one["id"], result(one["id"], "no result")) for one in asked]
    return whole


def shorten(text: str, most: int, rule: dict) -> str:
    """The right answer of question 3."""
    words = text.split()
    return text if len(words) <= most else marked(words, most - 2, rule)


def marked(words: list[str], keep: int, rule: dict) -> str:
    """The words that stay, and the mark where words are left out."""
    mark = f"[+{len(words) - keep} words]"
    front = {"head": keep, "tail": 0, "ends": (keep + 1) // 2}[rule["cut"]]
    return " ".join([*words[:front], mark, *words[len(words) - (keep - front) :]])


def assemble(messages: list[dict], budget: int, pinned: list[str], rule: dict) -> list[dict] | None:
    """The right answer of question 5: the request, or None when what must be in it does not fit."""
    messages = repair(messages, rule)
    starts = [i for i, message in enumerate(messages) if message["role"] == "user"]
    first = next(i for i, message in enumerate(messages) if message["role"] != "system")
    instructions, current = messages[:first], messages[starts[-1] :]
    note = [{"role": "system", "content": "\n".join(pinned)}] if pinned else []
    left = budget - sum(units(message, rule) for message in [*instructions, *note, *current])
    if left < 0:
        return None
    turns = [messages[start:end] for start, end in pairwise(starts)]
    costs = [sum(units(message, rule) for message in turn) for turn in turns]
    tools = [any(message["role"] == "tool" for message in turn) for turn in turns]
    kept = [message for i in stay(costs, tools, left, rule) for message in turns[i]]
    if rule["place"] == "top":
        return [*instructions, *note, *kept, *current]
    return [*instructions, *kept, *note, *current]


def failures(request: list[dict], messages: list[dict], budget: int, rule: dict) -> list[str]:
    """The right answer of question 6: the modes that a request shows."""

    def leading(some):
        return some[: next((i for i, message in enumerate(some) if message["role"] != "system"), len(some))]

    begun, instructions = leading(request), leading(messages)
    rest = request[len(begun) :]
    current = [message for message in messages if message["role"] == "user"][-1]
    asked = [(i, one["id"]) for i, message in enumerate(request) for one in message.get("tool_calls", [])]
    came = [(i, message["tool_call_id"]) for i, message in enumerate(request) if message["role"] == "tool"]
    results = [message for message in request if message["role"] == "tool"]
    seen = {
        "instructions": begun[: len(instructions)] != instructions,
        "headless": not rest or rest[0]["role"] != "user" or current not in request,
        "orphan": any(not any(name == other and i < j for j, other in came) for i, name in asked)
        or any(not any(name == other and j < i for j, other in asked) for i, name in came),
        "half": any(_half(message, messages) for message in request),
        "flood": any(units(message, rule) * 100 > rule["flood"] * budget for message in results),
        "budget": sum(units(message, rule) for message in request) > budget,
    }
    return [mode for mode in MODES if seen[mode]]


def _half(message: dict, messages: list[dict]) -> bool:
    text = message["content"]
    whole = [other["content"] for other in messages if other["role"] == message["role"] and other["content"]]
    return bool(text) and text not in whole and any(one.startswith(text) or one.endswith(text) for one in whole)


def system(text: str) -> dict:
    return {"role": "system", "content": text}


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def reply(text: str) -> dict:
    return {"role": "assistant", "content": text}


def call(*ids: str, name: str = "stock") -> dict:
    """A message that calls a tool once for each id, in the form of OpenAI's interface."""
    asked = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": json.dumps({"part": one})}}
        for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": asked}


def result(one: str, text: str) -> dict:
    return {"role": "tool", "tool_call_id": one, "content": text}


def line(message: dict) -> str:
    """A message in one line, as the notebook's `line` writes it."""
    if message["role"] == "tool":
        return f"{message['tool_call_id']}: {message['content']}"
    if message.get("tool_calls"):
        return "call " + " ".join(one["id"] for one in message["tool_calls"])
    return f"{message['role']}: {message['content']}"


def lines(messages: list[dict] | None) -> list[str] | None:
    return messages and [line(message) for message in messages]


def example_repair() -> list[dict]:
    """A stray, a double, a missing and two late results."""
    return [
        user("Tyres and bells?"),
        call("tyre"),
        call("bell", "pump"),
        result("lamp", "a stray"),
        user("And hurry."),
        result("pump", "4"),
        result("tyre", "12"),
        result("tyre", "13"),
        reply("Soon."),
    ]


def example_chat() -> list[dict]:
    """A greeting before the first question, a short turn, a long one, one with a tool, and the current question."""
    return [
        system("Be brief."),
        reply("Welcome to the workshop."),
        user("Hello there."),
        reply("Good morning."),
        user("I will come on Monday with a bicycle that has a bent wheel."),
        reply("We are open until six; a wheel takes an hour."),
        user("A bell, too?"),
        call("bell"),
        result("bell", "3"),
        reply("Yes."),
        user("What does the tyre cost?"),
    ]


EXAMPLE_NOTE = ["name: Ada"]
EXAMPLE_TEXT = "one two three four five six seven eight nine ten"


def example_budget(rule: dict) -> int:
    """One unit less than the instructions, the note and all turns cost: one turn has to leave."""
    chat = example_chat()
    whole = [chat[0], *chat[2:], system("\n".join(EXAMPLE_NOTE))]
    return sum(units(message, rule) for message in whole) - 1


def context(rule: dict, draw: Draw) -> dict:
    """What the text of the notebook needs beside the rule."""
    said, chat, budget = example_repair(), example_chat(), example_budget(rule)

    def repaired(other):
        return lines(repair(said, other))

    def assembled(other):
        return lines(assemble(chat, budget, EXAMPLE_NOTE, other))

    def others(axis, made):
        return [made(rule | {axis: one}) for one in AXES[axis] if one != rule[axis]]

    return {
        "repaired": repaired(rule),
        "repaired_twice": others("twice", repaired),
        "repaired_missing": others("missing", repaired),
        "text": EXAMPLE_TEXT,
        "short": shorten(EXAMPLE_TEXT, 7, rule),
        "short_uncounted": marked(EXAMPLE_TEXT.split(), 7, rule),
        "short_silent": " ".join(EXAMPLE_TEXT.split()[:7]),
        "short_others": others("cut", lambda other: shorten(EXAMPLE_TEXT, 7, other)),
        "budget": budget,
        "assembled": assembled(rule),
        "assembled_place": others("place", assembled),
        "assembled_yields": others("yields", assembled),
        "share": rule["flood"] - rule["overhead"],  # words of a result that costs just its share of 100 units
        "workshop": counted(rule),
        "budget_workshop": WORKSHOP_BUDGET,
    }


def workshop_chat(numbers: list[int]) -> list[dict]:
    """The chat of question 7: forty questions; each third one calls a tool, each seventh call has no result."""
    messages = [system("You are the workshop's assistant. Never promise a date.")]
    for turn in range(40):
        messages.append(user(f"Question {turn}: " + " ".join(WORDS[: 4 + turn % 7])))
        if turn % 3 == 0:
            messages.append(call(f"part{turn}"))
            if turn % 7:
                messages.append(result(f"part{turn}", " ".join(["piece"] * numbers[turn % 5])))
        if turn < 39:
            messages.append(reply(" ".join(WORDS[: 6 + turn % 9])))
    return messages


WORKSHOP_BUDGET, WORKSHOP_MOST = 150, 25


def shortened(messages: list[dict], rule: dict) -> list[dict]:
    return [
        one | {"content": shorten(one["content"], WORKSHOP_MOST, rule)} if one["role"] == "tool" else one
        for one in messages
    ]


def counted(rule: dict) -> dict:
    """What question 7 comes to for the demonstration's student, by the right answers."""
    messages = workshop_chat(workshop_numbers(Student("demo", "demonstration", "lab5_capstone")))
    budget = WORKSHOP_BUDGET
    ends = [i + 1 for i, message in enumerate(messages) if message["role"] == "user"]
    naive = [failures(messages[:end][-10:], messages[:end], budget, rule) for end in ends]
    ours = []
    for end in ends:
        request = assemble(shortened(messages[:end], rule), budget, EXAMPLE_NOTE, rule)
        ours.append(["none"] if request is None else failures(request, messages[:end], budget, rule))
    musts = [sum(units(one, rule) for one in (messages[0], system(EXAMPLE_NOTE[0]), messages[end - 1])) for end in ends]
    return {
        "most": WORKSHOP_MOST,
        "naive": sum(map(bool, naive)),
        "ours": sum(map(bool, ours)),
        "by_mode": {mode: sum(mode in found for found in naive) for mode in MODES},
        "least": max(musts),
        "where": musts.index(max(musts)),
    }


def workshop_numbers(student: Student) -> list[int]:
    return [student.number(f"q7 result {i}", 60, 120) for i in range(5)]


def hand(student: Student) -> tuple[int, int, list[int], list[bool]]:
    """Window, reply reserve, costs of eight older turns and which of them have tools, of question 1."""
    number = student.number
    costs = [number(f"q1 turn {i}", 60, 160) for i in range(8)]
    with_tools = {number("q1 tool", 1, 3), number("q1 other tool", 4, 6)}
    return number("q1 window", 801, 899), number("q1 reply", 150, 250), costs, [i in with_tools for i in range(8)]


def kept_by_hand(student: Student, rule: dict) -> list:
    """The right answer of question 1: the turns that stay, and the units that are left."""
    window, reply_reserve, costs, tools = hand(student)
    left = budget_of(window, reply_reserve, rule) - (rule["overhead"] + 20)
    staying = stay(costs, tools, left, rule)
    return [staying, left - sum(costs[i] for i in staying)]


def traced(student: Student) -> list[list[dict]]:
    """The personal chats of question 4: of three calls one has no result and one has two."""
    chats = []
    for i in range(3):
        missing = student.number(f"q4 missing {i}", 0, 2)
        doubled = (missing + student.number(f"q4 doubled {i}", 1, 2)) % 3
        single = 3 - missing - doubled
        names = ["tyre", "bell", "lamp"]
        low, more = student.number(f"q4 pieces {i}", 1, 20), student.number(f"q4 more {i}", 1, 9)
        chats.append(
            [
                user("How many?"),
                call(*names),
                result(names[doubled], str(low)),
                reply("One moment."),
                result(names[single], str(low + more)),
                result(names[doubled], str(low + more + 1)),
            ]
        )
    return chats


def checks(rule: dict, draw: Draw, student: Student) -> dict:
    """Grade id of a check -> its cases."""
    window, reply_reserve, *_ = hand(student)
    chats = traced(student)
    trace = [lines(repair(one, rule)) for one in chats]
    said, chat = example_repair(), example_chat()
    right = repair(said, rule)
    own = [Ask("repair", [one]) for one in [*chats, said]]
    return {
        "q1-budget": [value("q1_budget", budget_of(window, reply_reserve, rule))],
        "q1-kept": [value("q1_kept", kept_by_hand(student, rule))],
        "q2-examples": calls(repair, [[said], [[]]], rule),
        "q2-hidden": calls(repair, disorders(draw.branch("disorders")), rule),
        "q3-examples": calls(shorten, [[EXAMPLE_TEXT, 7], ["a b", 5]], rule),
        "q3-hidden": calls(shorten, results(draw.branch("results")), rule),
        "q4-lines": [judged([Ask("q4_lines", None), *own], lambda came: is_trace(came, trace, right))],
        "q5-examples": calls(assemble, [[chat, example_budget(rule), EXAMPLE_NOTE], [chat, 3, []]], rule),
        "q5-calls": calls(assemble, chats_for("calls", rule, draw.branch("calls")), rule),
        "q5-head": calls(assemble, chats_for("head", rule, draw.branch("head")), rule),
        "q5-budget": calls(assemble, edges(rule, draw.branch("edges")), rule),
        "q5-long": calls(assemble, chats_for("long", rule, draw.branch("long")), rule),
        "q6-examples": calls(failures, example_failures(rule), rule),
        "q6-hidden": calls(failures, failing(rule, draw.branch("failing")), rule),
    }


def is_trace(came: list, expected: list, example: list) -> bool:
    """Whether the trace is right, or is what the student's own code gives, if that code passes the example."""
    predicted, *own, example_came = came
    if same(predicted, expected):
        return True
    return same(example_came, example) and same(predicted, [lines(chat) for chat in own])


def talk(draw: Draw, low: int, high: int) -> str:
    return " ".join(draw.pick(WORDS) for _ in range(draw.int(low, high)))


def disorders(draw: Draw) -> list[list]:
    """Calls and results: late, doubled, missing, stray, of several calls at once, with and without a text beside."""
    cases = []
    for size in (1, 1, 2, 3, 4, 6):
        messages, results = [], []
        for i in range(size):
            names = [f"c{i}{letter}" for letter in "abc"[: draw.int(1, 3)]]
            asked = call(*names, name=draw.pick(TOOLS))
            if draw.int(0, 2) == 0:
                asked["content"] = talk(draw, 1, 3)
            messages += [user(talk(draw, 2, 5)), asked]
            for name in names:
                results += [result(name, f"{name} {k}") for k in range(draw.pick((0, 1, 1, 1, 2)))]
            if draw.int(0, 3) == 0:
                results.append(result(f"stray{i}", "no call"))
            while results and draw.int(0, 3):
                messages.append(results.pop(draw.int(0, len(results) - 1)))
            if draw.int(0, 1):
                messages.append(reply(talk(draw, 1, 4)))
        cases.append([[*messages, *results]])
    return [*cases, [[user("a"), call("x", "y"), result("y", "2"), result("x", "1")]], [[user("a"), call("x")]]]


def results(draw: Draw) -> list[list]:
    """Texts around the limit, with line breaks, and limits that leave one word or none."""
    cases = []
    for _ in range(8):
        text = "\n".join(talk(draw, 1, 9) for _ in range(draw.int(1, 4)))
        cases += [[text, draw.int(3, 20)], [text, len(text.split())], [text, max(2, len(text.split()) - 1)]]
    return [*cases, ["a b c d e", 2], ["a b c d e", 3], ["", 4]]


def chats_for(what: str, rule: dict, draw: Draw) -> list[list]:
    """Chats with a note, for one failure mode each."""
    cases = []
    for turns in (2, 3, 5, 8) if what != "long" else (12, 20):
        messages = [system(talk(draw, 2, 6)) for _ in range(draw.int(1, 2))]
        if what == "head":
            messages.append(reply(talk(draw, 2, 5)))
        for i in range(turns):
            messages.append(user(f"{i} " + talk(draw, 2, 8)))
            if what != "head" and draw.int(0, 1):
                names = [f"t{i}{letter}" for letter in "ab"[: draw.int(1, 2)]]
                messages.append(call(*names, name=draw.pick(TOOLS)))
                most = (1, 6) if what == "calls" else (3, 20)
                answered = [result(name, talk(draw, *most)) for name in names if draw.int(0, 4)]
                messages += answered if draw.int(0, 1) else reversed(answered)
            elif what == "head" and draw.int(0, 2) == 0:
                messages.append(system(talk(draw, 1, 4)))
            messages.append(reply(talk(draw, 2, 12)))
        messages.append(user("Now: " + talk(draw, 2, 6)))
        if what == "long":
            messages += [call("now"), result("now", talk(draw, 3, 9))]
        pinned = [f"name: {talk(draw, 1, 2)}", f"size: {draw.int(48, 60)}"][: draw.int(1, 2)]
        whole = sum(units(message, rule) for message in repair(messages, rule))
        for share in (35, 60, 85):
            cases.append([messages, whole * share // 100, pinned])
    return cases


def edges(rule: dict, draw: Draw) -> list[list]:
    """Each budget at which another turn fits, and one unit less; without a note and with one."""
    cases = []
    for pinned in (["name: Ada Moreno"], []):
        messages = [system(talk(draw, 2, 4))]
        for i in range(4):
            messages += [user(f"{i} " + talk(draw, 1, 9)), reply(talk(draw, 1, 9))]
        messages.append(user(talk(draw, 2, 5)))
        note = [system("\n".join(pinned))] if pinned else []
        must = sum(units(message, rule) for message in [messages[0], *note, messages[-1]])
        turns = [sum(units(message, rule) for message in messages[i : i + 2]) for i in range(1, 9, 2)]
        rooms = {0, sum(turns), *turns, *(sum(turns[i:]) for i in range(4))}
        cases += [[messages, must + room - one, pinned] for room in sorted(rooms) for one in (0, 1)]
    return cases


def floods(budget: int, rule: dict) -> list[list]:
    """A result that costs just its share of the budget, and one word more."""
    cases = []
    share = rule["flood"] * budget // 100 - rule["overhead"]
    for words in (share, share + 1):
        chat = [system("Be brief."), user("Parts?"), call("x"), result("x", " ".join(["piece"] * words))]
        cases.append([chat, chat, budget])
    return cases


def example_failures(rule: dict) -> list[list]:
    """A flood and none, no failure, a chat without its beginning, a cut text."""
    chat = [system("Be brief."), user("Hello there."), reply("Hello."), user("And now?")]
    cut = [chat[0], user("Hello"), *chat[2:]]
    return [*floods(100, rule), [chat, chat, 50], [chat[2:], chat, 50], [cut, chat, 50]]


def failing(rule: dict, draw: Draw) -> list[list]:
    """Right requests, short and whole, and what a few blows make of them."""
    cases = [*floods(50, rule), *floods(200, rule)]
    for messages, tight, pinned in [*chats_for("calls", rule, draw), *chats_for("calls", rule, draw)][1::4]:
        for budget in (tight, 9 * tight):
            request = assemble(messages, budget, pinned, rule)
            if request is None:
                continue
            cost = sum(units(message, rule) for message in request)
            largest = max((units(message, rule) for message in request if message["role"] == "tool"), default=1)
            edge = -(-largest * 100 // rule["flood"])  # the smallest budget in which it is no flood
            cases += [[request, messages, one] for one in (cost, cost - 1, edge, edge - 1)]
            cases += [[struck(request, draw), messages, cost] for _ in range(3)]
    return cases


def struck(request: list[dict], draw: Draw) -> list[dict]:
    """The request with one or two messages left out, or cut in the middle."""
    request = list(request)
    for _ in range(draw.int(1, 2)):
        at = draw.int(0, len(request) - 1)
        text = request[at]["content"] or ""
        if draw.int(0, 1) and len(text) > 8:
            half = len(text) // 2
            request[at] = request[at] | {"content": text[:half] if draw.int(0, 1) else text[half:]}
        elif len(request) > 1:
            request.pop(at)
    return request
