"""Lab 1, Count it: the rule's axes, what is asked of a submission, and the right answers under any rule."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby
from math import ceil, floor

from grading.draws import Draw
from grading.kit import Ask, Student, calls, judged, same, value

TITLE = "Count it"
MINUTES = 120

# The value of the demonstration first.
AXES = {
    "per": (4, 3, 5, 6),  # letters that make one unit of a long word; characters that make one, in question 1
    "rounding": ("up", "down", "nearest"),
    "short": (7, 5, 6, 8, 9),  # letters of the longest word that costs 1
    "digits": (3, 2, 4),  # digits of one piece of a number
    "overhead": (4, 3, 5, 6, 7),  # units of a message beside its text
    "start": (3, 2, 5, 6),  # units of the reply start
    "name": (1, 2, 3),  # units of a name
    "reserve": (25, 10, 15, 20, 30),  # percent of the window that is kept for the reply
    "side": ("head", "tail"),  # which end of a text a cut keeps
    "mark": (1, 2, 3),  # units of the mark that says where a text was cut
}
# Question -> the axes that differ from the demonstration in every graded course.
QUESTIONS = {
    "q1": ["per", "overhead"],
    "q2": ["short", "digits"],
    "q3": ["overhead", "start"],
    "q4": ["short", "digits"],
    "q5": ["reserve"],
    "q6": ["side"],
}
NAMES = {
    "q1-request": "the whole request",
    "q1-joined": "one text in place of four",
    "q2-examples": "the examples of the text",
    "q2-words": "words of every length",
    "q2-numbers": "numbers and signs",
    "q3-example": "messages that show the fault",
    "q3-examples": "the examples of the text",
    "q3-hidden": "requests with names, empty texts and instructions",
    "q4-costs": "your trace of your own code",
    "q5-examples": "the examples of the text",
    "q5-hidden": "other counters and windows",
    "q6-examples": "the examples of the text",
    "q6-hidden": "cuts of every size",
}
TRACE = "q4"  # the question in which code is traced by hand
RUBRICS = {
    "q7": {
        "number": (3, "The units that the student's own `costs` finds for the sentence; no other number counts."),
        "reason": (3, "Why it is too low (a run of signs is one piece, however long) and what that does to a limit."),
    },
    "q8": {
        "number": (2, "Two texts, the sum of their units, and the units of the joined text, which differ."),
        "reason": (2, "Which sentence of the rule makes them differ, and why messages are still counted one by one."),
    },
}
FAULTS = ("start", "joined", "system", "empty", "name")

WORDS = (
    "a to the plan note budget request reminder dashboard instructions conversations responsibility telecommunications"
).split()
SIGNS = ("!", "?!", ": -", "...", "#", "=>")


def rounded(x: Fraction, rounding: str) -> int:
    return {"up": ceil(x), "down": floor(x), "nearest": floor(x + Fraction(1, 2))}[rounding]


def kind(character: str) -> str:
    if character.isascii() and character.isalpha():
        return "word"
    if character.isascii() and character.isdigit():
        return "number"
    return "white" if character.isspace() else "sign"


def costs(text: str, rule: dict) -> list[int]:
    """The right answer of question 2, from the runs of one kind."""
    found = []
    for what, run in groupby(text, kind):
        length = len(list(run))
        if what == "word":
            found.append(1 if length <= rule["short"] else rounded(Fraction(length, rule["per"]), rule["rounding"]))
        elif what == "number":
            found += [1] * ceil(length / rule["digits"])
        elif what == "sign":
            found.append(1)
    return found


def request_units(messages: list[dict], rule: dict, fault: str = "") -> int:
    """The right answer of question 3; with the name of a fault, what the faulty function gives."""
    units = 0 if fault == "start" else rule["start"]
    if fault == "joined":
        units += len("".join(message["content"] for message in messages).split())
    for message in messages:
        if fault == "start":
            units += rule["start"]
        if fault != "joined":
            units += len(message["content"].split())
        free = (fault == "system" and message["role"] == "system") or (fault == "empty" and not message["content"])
        units += 0 if free else rule["overhead"]
        units += rule["name"] if ("name" in message if fault == "name" else message.get("name")) else 0
    return units


def largest_estimate(pairs: list, window: int, rule: dict) -> int:
    """The right answer of question 5, in exact fractions."""
    room = window - ceil(Fraction(window * rule["reserve"], 100))
    factor = max([Fraction(1), *(Fraction(real, estimate) for estimate, real in pairs)])
    return floor(room / factor)


def cut(pieces: list[str], costs: list[int], limit: int, rule: dict) -> list[str]:
    """The right answer of question 6, by trying every length, the longest first."""
    if sum(costs) <= limit:
        return pieces
    for count in range(len(pieces) - 1, -1, -1):
        kept = slice(0, count) if rule["side"] == "head" else slice(len(pieces) - count, len(pieces))
        if sum(costs[kept]) + rule["mark"] <= limit:
            return [*pieces[kept], "…"] if rule["side"] == "head" else ["…", *pieces[kept]]
    return []


def fault(rule: dict, draw: Draw) -> str:
    demonstration = all(rule[name] == options[0] for name, options in AXES.items())
    return FAULTS[0] if demonstration else draw.pick(FAULTS[1:])


def context(rule: dict, draw: Draw) -> dict:
    """What the text of the notebook needs beside the rule."""
    long_word = next(word for word in WORDS if len(word) > rule["short"] and len(word) % rule["per"] in (1, 2))
    example = f"Plan 1234567 {long_word}!!"
    pairs = [[100, 120], [50, 75], [80, 60]]
    pieces, units = ["one", " two", " three", " four"], [2, 1, 3, 2]
    return {
        "rounded": {
            "up": "rounded up",
            "down": "rounded down",
            "nearest": "rounded to the nearest whole number, a half up",
        }[rule["rounding"]],
        "long_word": long_word,
        "long_cost": costs(long_word, rule)[0],
        "example": example,
        "example_costs": costs(example, rule),
        "fault": fault(rule, draw.branch("fault")),
        "words": " ".join(WORDS),
        "low": {"up": 0, "down": -4, "nearest": -2}[rule["rounding"]],
        "pairs": pairs,
        "largest": largest_estimate(pairs, 1000, rule),
        "largest_by_mean": floor((1000 - ceil(10 * rule["reserve"])) / (Fraction(120 + 75 + 60, 100 + 50 + 80))),
        "largest_without_reserve": floor(1000 / Fraction(3, 2)),
        "pieces": pieces,
        "units": units,
        "limit": 3 + rule["mark"],
        "kept": cut(pieces, units, 3 + rule["mark"], rule),
        "kept_without_mark": cut(pieces, units, 3 + rule["mark"], rule | {"mark": 0}),
        "kept_other_side": cut(pieces, units, 3 + rule["mark"], other_side(rule)),
    }


def other_side(rule: dict) -> dict:
    return rule | {"side": "tail" if rule["side"] == "head" else "head"}


def trace_text(student: Student) -> str:
    """The personal text of question 4; the notebook builds the same."""
    number = student.number
    first, second = WORDS[number("q4 first", 6, 9)], WORDS[number("q4 second", 10, 12)]
    return f"{first} {number('q4 number', 1000000, 9999999)}{SIGNS[number('q4 sign', 0, 5)]} {second}"


def checks(rule: dict, draw: Draw, student: Student) -> dict:
    """Grade id of a check -> its cases."""
    texts = context(rule, draw)
    lengths = [student.number(f"q1 length {i}", 90, 400) for i in (1, 2, 3, 4)]
    each = sum(rounded(Fraction(length, rule["per"]), rule["rounding"]) for length in lengths)
    flawed = fault(rule, draw.branch("fault"))
    text = trace_text(student)
    own = [Ask("q4_costs", None), Ask("costs", [text]), Ask("costs", [texts["example"]])]
    return {
        "q1-request": [value("q1_request", each + 4 * rule["overhead"] + rule["start"])],
        "q1-joined": [value("q1_joined", rounded(Fraction(sum(lengths), rule["per"]), rule["rounding"]))],
        "q2-examples": calls(costs, [["Plan it"], [texts["long_word"]], [texts["example"]], [""]], rule),
        "q2-words": calls(costs, word_texts(draw.branch("words")), rule),
        "q2-numbers": calls(costs, number_texts(draw.branch("numbers")), rule),
        "q3-example": [judged([Ask("q3_messages", None)], lambda came: shows_fault(came[0], rule, flawed))],
        "q3-examples": calls(request_units, EXAMPLES, rule),
        "q3-hidden": calls(request_units, requests(draw.branch("requests")), rule),
        "q4-costs": [judged(own, lambda came: traced(*came, costs(text, rule), texts["example_costs"]))],
        "q5-examples": calls(largest_estimate, [[texts["pairs"], 1000], [[[100, 80]], 1000]], rule),
        "q5-hidden": calls(largest_estimate, counters(draw.branch("counters")), rule),
        "q6-examples": calls(cut, [[texts["pieces"], texts["units"], n] for n in (texts["limit"], 8, 0)], rule),
        "q6-hidden": calls(cut, cuts(draw.branch("cuts")), rule),
    }


EXAMPLES = [
    [[{"role": "user", "content": "Which bread needs no yeast"}]],
    [[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hello there", "name": "ada"}]],
]


def shows_fault(messages, rule: dict, flawed: str) -> bool:
    """Whether these are at most three proper messages for which the faulty function is wrong."""
    proper = 1 <= len(messages) <= 3 and all(
        message["role"] in ("system", "user", "assistant") and isinstance(message["content"], str)
        for message in messages
    )
    return proper and request_units(messages, rule) != request_units(messages, rule, flawed)


def traced(predicted, came, example, expected, example_costs) -> bool:
    """Whether the trace is right, or is what the student's own code gives, if that code passes the example."""
    return same(predicted, expected) or (same(example, example_costs) and same(predicted, came))


def word_texts(draw: Draw) -> list[list]:
    """A word of every length from 1 to 20, and sentences."""
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    words = ["".join(draw.pick(letters) for _ in range(length)) for length in range(1, 21)]
    return [[text] for text in (*words, *(" ".join(draw.pick(words) for _ in range(6)) for _ in range(5)))]


def number_texts(draw: Draw) -> list[list]:
    """A number of every length from 1 to 12, and everything side by side."""
    numbers = ["".join(map(str, draw.ints(length, 0, 9))) for length in range(1, 13)]
    mixed = [f"{draw.pick(WORDS)}{draw.pick(numbers)}{draw.pick(SIGNS)}{draw.pick(WORDS)}" for _ in range(6)]
    fixed = ["  two  blanks ", "a\n\nb\tc", "naïve café", "Καλημέρα, 24!", "?!?!", " "]
    return [[text] for text in (*numbers, *mixed, *fixed)]


def requests(draw: Draw) -> list[list]:
    """Requests of up to eight messages, and the two that are easily forgotten."""
    found = []
    for count in (1, 2, 3, 5, 8):
        messages = []
        for i in range(count):
            role = "system" if i == 0 else draw.pick(("user", "assistant"))
            messages.append({"role": role, "content": " ".join(draw.pick(WORDS) for _ in range(draw.int(0, 6)))})
        messages[-1]["name"] = draw.pick(("ada", "zoe"))
        found.append([messages])
    nameless = [{"role": "user", "content": "", "name": ""}, {"role": "assistant", "content": "", "name": None}]
    return [*found, [nameless], [[]]]


def counters(draw: Draw) -> list[list]:
    """Counters that are too low and too high, with a window."""
    found = []
    for _ in range(8):
        pairs = [[estimate, estimate + draw.int(-estimate // 3, estimate)] for estimate in draw.ints(4, 20, 400)]
        found.append([pairs, draw.int(2000, 9000)])
    return [*found, [[[3, 10]], 1000], [[[50, 40], [60, 30]], 777], [[[7, 7]], 4000]]


def cuts(draw: Draw) -> list[list]:
    """Pieces, their units and a limit from nothing to more than enough."""
    found = []
    for _ in range(10):
        count = draw.int(3, 9)
        pieces, units = [draw.pick(WORDS) for _ in range(count)], draw.ints(count, 1, 6)
        found.append([pieces, units, draw.int(0, sum(units) + 1)])
    return [*found, [[], [], 0], *([["a", "b", "c"], [1, 50, 1], limit] for limit in (52, 51, 5, 1))]
