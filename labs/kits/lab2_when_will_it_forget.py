"""Lab 2, When will it forget?: the rule's axes, what is asked, and the right answers under any rule."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

from grading.draws import Draw
from grading.kit import Ask, Student, calls, judged, same, value

TITLE = "When will it forget?"
MINUTES = 150

# The value of the demonstration first.
AXES = {
    "unit": ("message", "pair", "group"),  # what leaves together
    "walk": ("stop", "skip"),  # at a unit that does not fit: the end, or on to an older one
    "tie": ("fits", "over"),  # a request that fills the room exactly
    "reserve": (500, 900, 1000, 1100, 1200),  # units of the budget that are kept for the reply
    "rounding": ("down", "up", "nearest"),  # of the turns in the forecast
}
# Question -> the axes that differ from the demonstration in every graded course.
QUESTIONS = {
    "q1": ["reserve"],
    "q2": ["unit"],
    "q3": ["unit"],
    "q4": ["unit"],
    "q5": ["reserve"],
    "q6": ["rounding", "reserve"],
}
NAMES = {
    "q1-room": "the room",
    "q1-kept": "the messages of the request",
    "q2-examples": "the examples of the text",
    "q2-units": "chats with tools, of every size",
    "q2-edges": "full to the last unit, and no room at all",
    "q3-examples": "the examples of the text",
    "q3-hidden": "any message of longer chats",
    "q4-kept": "your trace of your own code",
    "q5-chat": "a chat that shows the fault",
    "q5-hidden": "drop turns by sums",
    "q6-examples": "the examples of the text",
    "q6-hidden": "other chats",
    "q6-turns": "forecast and exact drop turn of your chat",
}
TRACE = "q4"  # the question in which code is traced by hand
RUBRICS = {
    "q7": {
        "number": (3, "Both drop turns of the student's own chat: twice the budget, and replies half as long."),
        "reason": (3, "Why the winner wins (what of a turn the reply is; the fixed parts do not grow) and its price."),
    },
    "q8": {
        "number": (2, "A request of the student's own in which one walk leaves a gap: the indices of both walks."),
        "reason": (2, "What the model reads at the gap, and which walk the student would take for it, and why."),
    },
}
FAULTS = ("reply", "first", "newest", "reserve")
FIXED = 20  # units of the instructions and the reply start, in questions 1, 5 and 6

ROLES = ["user", "assistant", "tool", "tool", "user", "assistant", "user"]
RANGES = [(40, 120), (150, 260), (60, 200), (500, 800), (60, 160), (120, 260), (30, 60)]
TRACE_ROLES = ["user", "assistant", "tool", "user", "assistant", "user", "assistant", "tool", "user"]
# In the second, third or fourth request the room ends inside a unit, whichever messages make one.
TRACE_RANGES = [(20, 30), (40, 50), (60, 70), (50, 60), (60, 70), (30, 40), (50, 60), (60, 70), (30, 40)]
TRACE_ROOM = 135


def fits(used: int, room: int, rule: dict) -> bool:
    return used < room if rule["tie"] == "over" else used <= room


def joined(roles: list[str], i: int, rule: dict) -> bool:
    """Whether message ``i`` leaves together with the one before it."""
    if i == 0 or rule["unit"] == "message":
        return False
    if rule["unit"] == "pair":
        return (roles[i - 1], roles[i]) == ("user", "assistant")
    return roles[i] == "tool" and roles[i - 1] in ("assistant", "tool")


def keep(roles: list[str], costs: list[int], room: int, rule: dict) -> list[int] | None:
    """The right answer of question 2: the indices that are kept, None when the newest message does not fit."""
    kept, used, end = [], 0, len(roles)
    for start in range(len(roles) - 1, -1, -1):
        if joined(roles, start, rule):
            continue
        if fits(used + sum(costs[start:end]), room, rule):
            kept, used = [*range(start, end), *kept], used + sum(costs[start:end])
        elif end == len(roles):
            return None
        elif rule["walk"] == "stop":
            break
        end = start
    return kept


def drop_turn(roles: list[str], costs: list[int], room: int, index: int, rule: dict) -> int | None:
    """The right answer of question 3, request by request."""
    requests = [i for i, role in enumerate(roles) if role == "user"]
    for number, last in enumerate(requests, 1):
        if last >= index and index not in (keep(roles[: last + 1], costs[: last + 1], room, rule) or []):
            return number
    return None


def drop_turn_by_sums(costs: list[int], budget: int, index: int, rule: dict, fault: str = "") -> int | None:
    """The right answer of question 5; with the name of a fault, what the faulty function gives."""
    room = budget - FIXED - (0 if fault == "reserve" else rule["reserve"])
    sums = list(accumulate(costs, initial=0))
    for turn in range(1, (len(costs) + 1) // 2 + 1):
        last = 2 * turn - 2  # the user message of this turn
        stop = {"reply": last + 2, "newest": last}.get(fault, last + 1)
        used = sums[min(stop, len(costs))] - sums[0 if fault == "first" else index]
        if last >= index and not fits(used, room, rule):
            return turn
    return None


def forecast(budget: int, first_turn: int, mean_user: float, mean_turn: float, rule: dict) -> int:
    """The right answer of question 6."""
    room = budget - FIXED - rule["reserve"]
    turns = (Fraction(room) - Fraction(first_turn) - Fraction(mean_user)) / Fraction(mean_turn)
    return {"down": floor(turns), "up": ceil(turns), "nearest": floor(turns + Fraction(1, 2))}[rule["rounding"]] + 3


def alternatives(rule: dict) -> list[tuple[dict, str]]:
    """Rules that a reader may have had in mind, and the idea that is missing then."""
    other = "skip" if rule["walk"] == "stop" else "stop"
    idea = "Stop at the first unit that does not fit." if other == "skip" else "Skip what does not fit and go on."
    found = [(rule | {"walk": other}, idea)]
    if rule["unit"] != "message":
        what = {"pair": "a question and its reply", "group": "a call and its results"}[rule["unit"]]
        found.append((rule | {"unit": "message"}, f"Likely missing: {what} leave together."))
    return found


def full(rule: dict) -> list[tuple[dict, str]]:
    """The rule that differs where a request is full to the last unit."""
    if rule["tie"] == "fits":
        return [(rule | {"tie": "over"}, "A request may fill the room exactly.")]
    return [(rule | {"tie": "fits"}, "A request must stay below the room.")]


def example(rule: dict, draw: Draw, others: list[tuple[dict, str]]) -> dict:
    """A small chat for which each of the other rules gives another answer."""
    for _ in range(10_000):
        roles = some_roles(draw, 7)
        costs = [10 * units for units in draw.ints(len(roles), 1, 9)]
        room = 10 * draw.int(12, 25)
        right = keep(roles, costs, room, rule)
        wrong = [(keep(roles, costs, room, other), idea) for other, idea in others]
        answers = [right, *(one for one, _ in wrong)]
        if all(answers) and len(set(map(str, answers))) == len(answers):
            return {"roles": roles, "costs": costs, "room": room, "kept": right, "ideas": wrong}
    raise ValueError(f"no example tells {rule} from {others}")


def some_roles(draw: Draw, least: int) -> list[str]:
    """Roles of a chat with tools, at least ``least`` messages, the new user message last."""
    roles: list[str] = []
    while len(roles) < least - 1:
        roles += ["user", "assistant"]
        if draw.int(0, 1):
            roles += ["tool"] * draw.int(1, 2) + ["assistant"]
    return [*roles, "user"]


def demonstration(rule: dict) -> bool:
    return all(rule[name] == options[0] for name, options in AXES.items())


def fault(rule: dict, draw: Draw) -> str:
    return FAULTS[0] if demonstration(rule) else draw.pick(FAULTS[1:])


def context(rule: dict, draw: Draw) -> dict:
    """What the text of the notebook needs beside the rule."""
    shown = example(rule, draw.branch("example"), alternatives(rule))
    turns = turns_example(rule, draw.branch("turns"))
    return {
        "fixed": FIXED,
        "rounded": {"down": "rounded down", "up": "rounded up", "nearest": "rounded to the nearest, a half up"}[
            rule["rounding"]
        ],
        "fault": fault(rule, draw.branch("fault")),
        "roles": ROLES,
        "ranges": RANGES,
        "trace_roles": TRACE_ROLES,
        "trace_ranges": TRACE_RANGES,
        "trace_room": TRACE_ROOM,
        "example": shown,
        "full": example(rule, draw.branch("full"), full(rule)),
        "turns": turns,
        "turns_last": len(turns["roles"]) - 1,
        "forecast_example": forecast(4000, 84, 52.5, 229.5, rule),
        "forecast_without_reserve": forecast(4000 + rule["reserve"], 84, 52.5, 229.5, rule),
    }


def turns_example(rule: dict, draw: Draw) -> dict:
    """A small chat and a message that leaves at another request than if messages left one by one."""
    for _ in range(10_000):
        roles = some_roles(draw, 9)
        costs, room = [10 * units for units in draw.ints(len(roles), 1, 7)], 10 * draw.int(10, 20)
        index = draw.int(0, 3)
        gone = drop_turn(roles, costs, room, index, rule)
        other = drop_turn(roles, costs, room, index, rule | {"unit": "message"})
        if gone and gone > 2 and (demonstration(rule) or gone != other):
            return {"roles": roles, "costs": costs, "room": room, "index": index, "gone": gone}
    raise ValueError(f"no example for {rule}")


def hand_costs(student: Student) -> list[int]:
    return [student.number(f"q1 message {i}", *RANGES[i]) for i in range(7)]


def trace_costs(student: Student) -> list[int]:
    return [student.number(f"q4 message {i}", *TRACE_RANGES[i]) for i in range(9)]


def long_costs(student: Student) -> list[int]:
    """The personal chat of questions 6 and 7: 40 turns, the first one short, and one more question."""
    costs = [student.number("q6 first user", 20, 40), student.number("q6 first reply", 30, 60)]
    for turn in range(2, 41):
        costs += [student.number(f"q6 user {turn}", 20, 80), student.number(f"q6 reply {turn}", 100, 260)]
    return [*costs, student.number("q6 last", 20, 80)]


def forecast_and_exact(student: Student, rule: dict) -> list[int]:
    costs = long_costs(student)
    users, replies = costs[2:80:2], costs[3:80:2]
    mean_user = Fraction(sum(users), len(users))
    mean_turn = mean_user + Fraction(sum(replies), len(replies))
    predicted = forecast(4000, sum(costs[:2]), mean_user, mean_turn, rule)
    return [predicted, drop_turn_by_sums(costs, 4000, 0, rule)]


def checks(rule: dict, draw: Draw, student: Student) -> dict:
    """Grade id of a check -> its cases."""
    shown = context(rule, draw)
    one, filled, turns = shown["example"], shown["full"], shown["turns"]
    room = student.number("q1 budget", 1650, 1900) - FIXED - rule["reserve"]
    trace = trace_costs(student)
    requests = [i + 1 for i, role in enumerate(TRACE_ROLES) if role == "user"]
    traced = [keep(TRACE_ROLES[:stop], trace[:stop], TRACE_ROOM, rule) for stop in requests]
    own = [Ask("keep", [TRACE_ROLES[:stop], trace[:stop], TRACE_ROOM]) for stop in requests]
    own.append(Ask("keep", [one["roles"], one["costs"], one["room"]]))
    flawed = fault(rule, draw.branch("fault"))
    shown_calls = [
        [turns["roles"], turns["costs"], turns["room"], index] for index in (turns["index"], shown["turns_last"])
    ]
    return {
        "q1-room": [value("q1_room", room)],
        "q1-kept": [value("q1_kept", keep(ROLES, hand_costs(student), room, rule))],
        "q2-examples": calls(keep, [[a["roles"], a["costs"], a["room"]] for a in (one, filled)], rule),
        "q2-units": calls(keep, chats(rule, draw.branch("chats")), rule),
        "q2-edges": calls(keep, edges(rule, draw.branch("edges")), rule),
        "q3-examples": calls(drop_turn, shown_calls, rule),
        "q3-hidden": calls(drop_turn, long_chats(rule, draw.branch("long chats")), rule),
        "q4-kept": [
            judged([Ask("q4_kept", None), *own], lambda came: is_trace(came, traced, one["kept"])),
        ],
        "q5-chat": [judged([Ask("q5_chat", None)], lambda came: shows_fault(came[0], rule, flawed))],
        "q5-hidden": calls(drop_turn_by_sums, plain_chats(draw.branch("plain chats")), rule),
        "q6-examples": calls(forecast, [[4000, 84, 52.5, 229.5]], rule),
        "q6-hidden": calls(forecast, averages(draw.branch("averages")), rule),
        "q6-turns": [value("q6_turns", forecast_and_exact(student, rule))],
    }


def is_trace(came: list, expected: list, example_kept: list) -> bool:
    """Whether the trace is right, or is what the student's own code gives, if that code passes the example."""
    predicted, *own, example_came = came
    return same(predicted, expected) or (same(example_came, example_kept) and same(predicted, own))


def shows_fault(chat, rule: dict, flawed: str) -> bool:
    """Whether [costs, budget, index] is a proper chat for which the faulty function is wrong."""
    costs, budget, index = chat
    proper = len(costs) % 2 == 1 and len(costs) <= 21 and 0 <= index < len(costs)
    proper = proper and all(type(units) is int and units > 0 for units in costs) and type(budget) is int
    proper = proper and budget > FIXED + rule["reserve"]
    right = drop_turn_by_sums(costs, budget, index, rule)
    return proper and right != drop_turn_by_sums(costs, budget, index, rule, flawed)


def chats(rule: dict, draw: Draw) -> list[list]:
    """Chats of every length; some of them tell this rule from each of the others."""
    found = []
    for least in range(3, 23):
        roles = some_roles(draw, least)
        costs = draw.ints(len(roles), 5, 90)
        found.append([roles, costs, draw.int(100, 500)])
    for _ in range(3):
        one = example(rule, draw, alternatives(rule))
        found.append([one["roles"], one["costs"], one["room"]])
    return found


def edges(rule: dict, draw: Draw) -> list[list]:
    """Requests that are full to the last unit, the newest message alone, and no message at all."""
    found = [[[], [], 10], [["user"], [10], 10], [["user"], [11], 10], [["user", "assistant", "user"], [5, 90, 10], 9]]
    for _ in range(6):
        roles = some_roles(draw, 6)
        costs = draw.ints(len(roles), 5, 60)
        start = draw.int(0, len(roles) - 2)
        found.append([roles, costs, sum(costs[start:])])
    one = example(rule, draw, alternatives(rule))
    return [*found, [one["roles"], one["costs"], one["room"]]]


def long_chats(rule: dict, draw: Draw) -> list[list]:
    """Chats of up to 80 messages and a message of each; nearly all of them leave."""
    found = []
    for least in (9, 15, 25, 40, 80):
        roles = some_roles(draw, least)
        costs = draw.ints(len(roles), 10, 60)
        for _ in range(3):
            found.append([roles, costs, draw.int(150, 400), draw.int(0, len(roles) // 2)])
    for _ in range(10_000):  # and one for which the unit decides
        roles = some_roles(draw, 9)
        case = [roles, draw.ints(len(roles), 10, 60), draw.int(100, 160), draw.int(0, 4)]
        if demonstration(rule) or drop_turn(*case, rule) != drop_turn(*case, rule | {"unit": "message"}):
            return [*found, case]
    raise ValueError(f"no chat tells {rule} from single messages")


def plain_chats(draw: Draw) -> list[list]:
    """Questions and replies in turn, a budget, and a message."""
    found = []
    for turns in (3, 5, 9, 20, 40):
        for _ in range(3):
            costs = draw.ints(2 * turns - 1, 20, 200)
            found.append([costs, draw.int(1500, 3000), draw.int(0, turns - 1)])
    return found


def averages(draw: Draw) -> list[list]:
    return [
        [draw.int(3000, 33000), draw.int(40, 200), draw.int(160, 480) / 8, draw.int(1200, 2400) / 8] for _ in range(12)
    ]
