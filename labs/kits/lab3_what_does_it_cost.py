"""Lab 3, What does it cost?: the rule's axes, what is asked, and the right answers under any rule."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from grading.draws import Draw
from grading.kit import Ask, Student, calls, judged, same, value

TITLE = "What does it cost?"
MINUTES = 150
TRACE = "q4"

# The value of the demonstration first.
AXES = {
    "price": (10, 20, 25, 30, 40),  # percent of the full price that a cached token costs
    "block": (4, 3, 5, 6),  # tokens of one block of the prefix cache
    "last": ("computed", "cached"),  # the last token of a prompt
    "rounding": ("up", "down", "nearest"),  # of the bill of one request
    "bits": (16, 8, 32),  # of one number in the KV cache
    "page": (16, 12, 20, 24),  # tokens of one page of memory
    "fall": (50, 40, 60, 70),  # percent of the room to which the history is cut
    "tie": ("shallow", "deep"),  # of two marks with the same work: cut less, or cut more
}
# Question -> the axes that differ from the demonstration in every graded course.
QUESTIONS = {
    "q1": ["price"],
    "q2": ["block"],
    "q3": ["price", "block"],
    "q4": ["block"],
    "q5": ["bits", "page"],
    "q6": ["fall", "tie"],
}
NAMES = {
    "q1-sent": "all input of the conversation",
    "q1-billed": "its bill with a cache",
    "q2-examples": "the examples of the text",
    "q2-hidden": "prompts of every length",
    "q2-edges": "an empty cache, the same prompt again, a change in the first token",
    "q3-prompts": "prompts that show the fault",
    "q3-hidden": "other conversations",
    "q4-found": "your trace of your own code",
    "q5-examples": "the examples of the text",
    "q5-hidden": "models with full and with sliding layers",
    "q6-examples": "the examples of the text",
    "q6-work": "the work under one mark",
    "q6-mark": "the choice among marks",
}
RUBRICS = {
    "q7": {
        "number": (3, "Tokens sent and computed for both rooms, from the student's numbers and code."),
        "reason": (3, "Why the two measures disagree: a cut moves the beginning; a room that never fills only grows."),
    },
    "q8": {
        "number": (2, "Two ways of sending one chat of the student's own: the higher share has the larger work."),
        "reason": (2, "A rate is a share of what is sent; what one waits and pays for is what is computed."),
    },
}
FAULTS = ("first", "anywhere", "all", "rate")
MARKS = (30, 40, 50, 60, 70, 80, 90, 100)


def rounded(x: Fraction, rounding: str) -> int:
    return {"up": ceil(x), "down": floor(x), "nearest": floor(x + Fraction(1, 2))}[rounding]


def found(before: list[int], prompt: list[int], rule: dict) -> int:
    """The right answer of question 2, block by block."""
    usable = len(prompt) - (rule["last"] == "computed")
    hits = 0
    while hits + rule["block"] <= usable and before[hits : hits + rule["block"]] == prompt[hits : hits + rule["block"]]:
        hits += rule["block"]
    return hits


def bill(prompts: list[list[int]], rule: dict, fault: str = "") -> int:
    """The right answer of question 3; with the name of a fault, what the faulty function gives."""
    total = 0
    for before, prompt in pairwise([prompts[0] if fault == "first" and prompts else [], *prompts]):
        hits = found(before, prompt, rule)
        if fault == "anywhere":
            hits = sum(token in before for token in prompt) // rule["block"] * rule["block"]
        cost = Fraction((len(prompt) - hits) * 100 + hits * rule["price"], 100)
        if fault == "all" and hits:
            cost = Fraction(len(prompt) * rule["price"], 100)
        if fault == "rate":
            cost = Fraction((len(prompt) - hits) * 100 + hits * (100 - rule["price"]), 100)
        total += rounded(cost, rule["rounding"])
    return total


def cache_bytes(model: dict, tokens: int, rule: dict) -> int:
    """The right answer of question 5."""
    total = 0
    for window in model["windows"]:
        held = tokens if window == 0 else min(tokens, window)
        pages = ceil(Fraction(held, rule["page"]))
        total += 2 * model["kv_heads"] * model["head_dim"] * pages * rule["page"] * rule["bits"] // 8
    return total


def run(costs: list[int], room: int, mark: int) -> tuple[int, int]:
    """Return the computed units and the messages kept, added over all requests, under a mark in percent."""
    first, computed, kept = 0, 0, 0
    for stop in range(1, len(costs) + 1, 2):
        moved = sum(costs[first:stop]) > room
        if moved:
            while first < stop - 1 and 100 * sum(costs[first:stop]) > mark * room:
                first += 1
        new = costs[max(stop - 2, 0) : stop]  # the reply before, and the question
        computed += sum(costs[first:stop]) if moved else sum(new)
        kept += stop - first
    return computed, kept


def work(costs: list[int], room: int, rule: dict) -> int:
    """The right answer of the first half of question 6."""
    return run(costs, room, rule["fall"])[0]


def best_mark(costs: list[int], room: int, least: int, rule: dict) -> int | None:
    """The right answer of the second half of question 6."""
    requests = (len(costs) + 1) // 2
    options = []
    for mark in MARKS:
        computed, kept = run(costs, room, mark)
        if kept >= least * requests:
            options.append((computed, -mark if rule["tie"] == "shallow" else mark, mark))
    return min(options)[2] if options else None


def demonstration(rule: dict) -> bool:
    return all(rule[name] == options[0] for name, options in AXES.items())


def fault(rule: dict, draw: Draw) -> str:
    return FAULTS[0] if demonstration(rule) else draw.pick(FAULTS[1:])


PROMPTS = [list(range(1, 12)), list(range(1, 16))]  # 11 shared tokens: another number of hits for every block size
SHARED = (6, 7, 10, 11, 18, 19)  # so are these
MODEL = {"kv_heads": 2, "head_dim": 8, "windows": [0, 0, 32]}
COSTS = [60, 40, 50, 40, 20, 70, 50, 40, 60, 80, 40]  # another work for every mark, and for every usual mistake
ROOM = 200
TIED = [10, 10, 10, 10, 10]  # fits as a whole: every mark costs the same


def context(rule: dict, draw: Draw) -> dict:
    """What the text of the notebook needs beside the rule."""
    before, prompt = PROMPTS
    other = rule | {"last": "cached" if rule["last"] == "computed" else "computed"}
    same_again = prompt[: 3 * rule["block"]]
    return {
        "fault": fault(rule, draw.branch("fault")),
        "words": {
            "up": "rounded up to whole tokens",
            "down": "rounded down to whole tokens",
            "nearest": "rounded to whole tokens, a half up",
        }[rule["rounding"]],
        "before": before,
        "prompt": prompt,
        "hits": found(before, prompt, rule),
        "hits_tokens": len(before),
        "same_again": same_again,
        "hits_again": found(same_again, same_again, rule),
        "hits_again_other": found(same_again, same_again, other),
        "model": MODEL,
        "bytes": cache_bytes(MODEL, 50, rule),
        "bytes_half": cache_bytes(MODEL, 50, rule) // 2,
        "bytes_full": cache_bytes(MODEL | {"windows": [0, 0, 0]}, 50, rule),
        "bytes_exact": sum(2 * 2 * 8 * held * rule["bits"] // 8 for held in (50, 50, 32)),
        "costs": COSTS,
        "room": ROOM,
        "work": work(COSTS, ROOM, rule),
        "work_sent": sum(sent(COSTS, ROOM, rule["fall"])),
        "work_new": sum(COSTS),
        "work_newest": run(COSTS, ROOM, 100)[0],
        "tied": TIED,
        "tied_mark": best_mark(TIED, ROOM, 1, rule),
        "marks": list(MARKS),
    }


def sent(costs: list[int], room: int, mark: int) -> list[int]:
    """Return the units of each request under a mark."""
    first, units = 0, []
    for stop in range(1, len(costs) + 1, 2):
        if sum(costs[first:stop]) > room:
            while first < stop - 1 and 100 * sum(costs[first:stop]) > mark * room:
                first += 1
        units.append(sum(costs[first:stop]))
    return units


def hand(student: Student) -> tuple[int, int, int, int]:
    """The personal conversation of question 1: turns, fixed part, question, reply."""
    ranges = (("q1 turns", 8, 14), ("q1 fixed", 200, 400), ("q1 user", 30, 60), ("q1 reply", 90, 160))
    return tuple(student.number(*one) for one in ranges)


def by_hand(student: Student, rule: dict) -> tuple[int, Fraction]:
    """The right answers of question 1: all input, and the bill when what was sent before is cached."""
    turns, fixed, user, reply = hand(student)
    prompts = [fixed + turn * user + (turn - 1) * reply for turn in range(1, turns + 1)]
    cached = [0, *prompts[:-1]]
    billed = sum(
        Fraction((prompt - before) * 100 + before * rule["price"], 100)
        for prompt, before in zip(prompts, cached, strict=True)
    )
    return sum(prompts), billed


def traced_prompts(student: Student) -> list[list[int]]:
    """The personal prompts of question 4: each begins with a part of the one before."""
    prompts = [list(range(1, student.number("q4 first", 20, 24) + 1))]
    for i in (1, 2, 3):
        shared = SHARED[student.number(f"q4 shared {i}", 0, 5)]
        new = 20 - shared + student.number(f"q4 new {i}", 0, 4)
        prompts.append([*prompts[-1][:shared], *range(100 * i, 100 * i + new)])
    return prompts


def checks(rule: dict, draw: Draw, student: Student) -> dict:
    """Grade id of a check -> its cases."""
    all_input, billed = by_hand(student, rule)
    flawed = fault(rule, draw.branch("fault"))
    prompts = traced_prompts(student)
    expected = [found(before, prompt, rule) for before, prompt in pairwise(prompts)]
    own = [Ask("found", list(pair)) for pair in pairwise(prompts)]
    example = [found(*PROMPTS, rule), found([], PROMPTS[0], rule)]
    asks = [Ask("q4_found", None), *own, Ask("found", PROMPTS), Ask("found", [[], PROMPTS[0]])]
    return {
        "q1-sent": [value("q1_sent", all_input)],
        "q1-billed": [judged([Ask("q1_billed", None)], lambda came: same(came[0], float(billed)))],
        "q2-examples": calls(found, [PROMPTS, [[], PROMPTS[0]]], rule),
        "q2-hidden": calls(found, pairs(draw.branch("pairs")), rule),
        "q2-edges": calls(found, edges(rule, draw.branch("edges")), rule),
        "q3-prompts": [judged([Ask("q3_prompts", None)], lambda came: shows_fault(came[0], rule, flawed))],
        "q3-hidden": calls(bill, conversations(draw.branch("conversations")), rule),
        "q4-found": [judged(asks, lambda came: is_trace(came, expected, example))],
        "q5-examples": calls(cache_bytes, [[MODEL, 50]], rule),
        "q5-hidden": calls(cache_bytes, models(draw.branch("models")), rule),
        "q6-examples": calls(work, [[COSTS, ROOM]], rule) + calls(best_mark, [[TIED, ROOM, 1]], rule),
        "q6-work": calls(work, chats(draw.branch("chats")), rule),
        "q6-mark": calls(best_mark, marked(draw.branch("marks")), rule),
    }


def is_trace(came: list, expected: list[int], example: list[int]) -> bool:
    """Whether the trace is right, or is what the student's own code gives, if that code passes the examples."""
    predicted, *own = came
    return same(predicted, expected) or (same(own[3:], example) and same(predicted, own[:3]))


def shows_fault(prompts, rule: dict, flawed: str) -> bool:
    """Whether these are two to four proper prompts for which the faulty function is wrong."""
    proper = 2 <= len(prompts) <= 4 and all(1 <= len(prompt) <= 40 for prompt in prompts)
    proper = proper and all(type(token) is int for prompt in prompts for token in prompt)
    return proper and bill(prompts, rule) != bill(prompts, rule, flawed)


def pairs(draw: Draw) -> list[list]:
    """A prompt that begins with a part of the one before, for every length of that part."""
    cases = []
    for shared in range(20):
        before = list(range(1, draw.int(max(shared, 1), 24) + 1))
        cases.append([before, [*before[:shared], *range(500, 500 + draw.int(1, 9))]])
    return cases


def edges(rule: dict, draw: Draw) -> list[list]:
    """No cache, the same prompt again with full blocks, a change in the first token, the same tokens further back."""
    full = list(range(1, 3 * rule["block"] + 1))
    return [
        [[], full],
        [full, full],
        [full, full[:-1]],
        [full, [0, *full[1:]]],
        [full, [0, *full]],
        [full, full[: rule["block"]]],
        [full, full[: rule["block"] + 1]],
        [full, [*full[: rule["block"]], 0, *full[rule["block"] + 1 :]]],
        [full, [7]],
        [full, [1]],
    ]


def conversations(draw: Draw) -> list[list]:
    """Conversations that grow, that lose their beginning, and that change in the middle."""
    cases = []
    for _ in range(8):
        prompts, token = [list(range(draw.int(5, 15)))], 100
        for _ in range(draw.int(2, 5)):
            keep = slice(draw.pick((0, 0, 3)), None)
            prompts.append([*prompts[-1][keep], *range(token, token + draw.int(2, 11))])
            token += 100
        cases.append([prompts])
    return [*cases, [[[1, 2, 3]]], [[]]]


def models(draw: Draw) -> list[list]:
    """Models with a few layers, all of them full, all sliding, or mixed; a length below, at and above the window."""
    cases = []
    for _ in range(10):
        windows = [draw.pick((0, 0, 64, 100)) for _ in range(draw.int(1, 6))]
        model = {"kv_heads": draw.int(1, 8), "head_dim": draw.pick((8, 16, 64)), "windows": windows}
        cases.append([model, draw.int(1, 300)])
    same_windows = {"kv_heads": 3, "head_dim": 8, "windows": [32, 0]}
    return [*cases, *([same_windows, tokens] for tokens in (0, 32, 33)), [same_windows | {"windows": []}, 10]]


def chats(draw: Draw) -> list[list]:
    """Questions and replies in turn, and a room of a few of them."""
    cases = []
    for turns in (3, 6, 10, 15, 25):
        for _ in range(2):
            costs = draw.ints(2 * turns - 1, 10, 90)
            cases.append([costs, draw.int(200, 500)])
    return [*cases, [[10, 11, 12, 13, 14], 60], [[10], 50]]


def marked(draw: Draw) -> list[list]:
    """Chats with the least messages that a request has to hold; the last two fit whole, so that all marks tie."""
    cases = [[*case, draw.int(1, 6)] for case in chats(draw)]
    fits = [11, 12, 13, 14, 15]
    return [*cases, [fits, ROOM, 3], [fits, ROOM, 4], [[10], 50, 1]]
