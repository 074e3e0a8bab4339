"""Chapter 05: the drop turn, forecast and exact."""

from __future__ import annotations

from functools import cache
from math import floor

from contextlab import forecast
from contextlab.render import PlainRule
from contextlab.replay import CountedChat
from contextlab.script import scripted_chat
from contextlab.tokens import WordPieces

from ..declare import CodeTask, Line, NumberTask, OrderTask, Predict, Step, Wrong
from ..rules import drop_turn_of, sized

BUDGET = 4000
LONGER = (18, 30)
SHORTER = (4, 8)
TURNS = 400  # of a chat of equal turns: more than any exercise asks for


@cache
def chat(low: int = 9, high: int = 15) -> CountedChat:
    """Return the chat of the chapter, with replies of `low` to `high` sentences."""
    return CountedChat(scripted_chat(reply_sentences=(low, high)), PlainRule(WordPieces()))


@cache
def known(low: int = 9, high: int = 15) -> forecast.Sizes:
    return forecast.sizes(chat(low, high))


@cache
def gone(budget: int = BUDGET, reserve: int = 0, low: int = 9, high: int = 15) -> int:
    """Return the exact drop turn of the name."""
    return forecast.drop_turn(chat(low, high), chat(low, high).room(budget, reserve))


def published(budget: int, low: int, high: int) -> int:
    return forecast.published(chat(low, high).room(budget), known(low, high).mean_turn)


def users_only(budget: int, low: int, high: int) -> int:
    of = chat(low, high)
    costs = [of.history.units(i, i + 1) for i in range(len(of.history))]
    return drop_turn_of(costs, of.room(budget), users_only=True)


def equal_turns(first: tuple[int, int], user: int, reply: int) -> list[int]:
    """Return the costs of a chat whose turns are equal, but for the first."""
    return [*first, *([user, reply] * (TURNS - 1))]


def exact(room: int, first: tuple[int, int], user: int, reply: int, **slips: bool) -> int:
    return drop_turn_of(equal_turns(first, user, reply), room, **slips)


def exact_budget(at: int, fixed: int, first: tuple[int, int], user: int, reply: int) -> int:
    """Return the library's smallest input budget with which request `at` still holds the first message."""
    return forecast.budget_for(sized(equal_turns(first, user, reply), fixed), at)


def gone_over(budget: int) -> int:
    """Return by how many units the request at the drop turn would exceed the budget if nothing left."""
    of = chat()
    current = of.requests[gone(budget) - 1]
    return of.history.units(0, current + 1) - of.room(budget)


def to_free(over: int, sizes: tuple[int, ...]) -> int:
    """Return how many of the oldest messages have to leave to free `over` units, as keep-newest does it."""
    return min(n for n in range(len(sizes) + 1) if sum(sizes[:n]) >= over)


def reply_first(costs, room):
    return drop_turn_of(costs, room, reply_counted=True)


def last_with(costs, room):
    turn = drop_turn_of(costs, room)
    return turn - 1 if turn else turn


def exact_fit_leaves(costs, room):
    return drop_turn_of(costs, room - 1)


def only_users(costs, room):
    return drop_turn_of(costs, room, users_only=True)


def chat_of_costs(turns: int) -> list[int]:
    """Return the costs of the first turns of the chapter's chat."""
    return [chat().history.units(i, i + 1) for i in range(2 * turns)]


def five_dates(reserve: int | None = None, half: int | None = None) -> tuple[int, ...]:
    """Return the drop turns of the five settings of exercise 05-3; a slip puts its own value in for one of them."""
    return (
        gone(),
        gone(BUDGET, 0, *LONGER),
        reserve or gone(BUDGET, 1000),
        half or gone(BUDGET, 0, *SHORTER),
        gone(2 * BUDGET),
    )


FIRST = (30, 40)

EXERCISES = (
    Predict(
        "05-p",
        "Replies twice as long",
        "Suppose that the replies were about twice as long, {reply} units. The input budget is {budget} units. Which "
        "request is the first without the name?",
        unit="request",
        units=("number", "turn"),
        operands={
            "budget": BUDGET,
            "low": LONGER[0],
            "high": LONGER[1],
            "reply": round(known(*LONGER).mean_turn - known(*LONGER).mean_user),
            "user": round(known(*LONGER).mean_user),
            "turn": round(known(*LONGER).mean_turn),
            "first": known(*LONGER).first_turn,
            "fixed": sum(chat(*LONGER).fixed.values()),
            "room": chat(*LONGER).room(BUDGET),
            "need": round(
                known(*LONGER).first_turn
                + (gone(BUDGET, 0, *LONGER) - 2) * known(*LONGER).mean_turn
                + known(*LONGER).mean_user
            ),
            "whole": gone(BUDGET, 0, *LONGER) - 2,
        },
        right=lambda budget, low, high: gone(budget, 0, low, high),
        wrong=(
            Wrong(
                "F1",
                published,
                "{given} comes from whole average turns: room divided by a turn, plus 1. But the reply of a turn is "
                "not in its own request, and the first turn is short.",
            ),
            Wrong(
                "F3",
                lambda budget, low, high: published(budget, low, high) - 1,
                "{given} average turns fit the room. The name is still in the request after them, and the first "
                "turn is short.",
            ),
            Wrong(
                "S2",
                lambda budget: gone(budget),
                "{given} belongs to replies of the usual length. The longer replies fill the same room sooner.",
            ),
            Wrong(
                "F4",
                lambda budget, low, high: floor(chat(low, high).room(budget) / (known(low, high).mean_turn / 2)) + 1,
                "{given} counts messages. A turn is two messages, yours and the reply.",
            ),
            Wrong(
                "R13",
                users_only,
                "{given} comes out when only the user's messages are counted. The replies are sent again too, and "
                "they are the larger part.",
            ),
        ),
        praise="request {right} would need about {first} + {whole} × {turn} + {user} = {need} units, and the room has "
        "{room}.",
        sure_miss="You were sure, so it is worth the arithmetic. A turn has about {user} + {reply} = {turn} units. "
        "The room is {budget} − {fixed} = {room}. Request *t* holds *t* − 1 whole turns and one user message, and the "
        "first turn has {first} units, not {turn}. So {first} + (*t* − 2) × {turn} + {user} has to exceed {room} for "
        "the first time. With {whole} in place of *t* − 2 it is about {need}: request {right}.",
        why="Why this request, and not half of what it was before? One sentence. Nobody grades it.",
        points=(
            "A turn is a user message and a reply; only the reply became longer.",
            "Request *t* holds *t* − 1 whole turns, and the reply of turn *t* is not in it.",
            "The first turn is short, so that one more turn fits than the average says.",
        ),
        solution="In the run the name is missing from request {right}. The forecast with the size of turn 1 says the "
        "same: floor(({room} − {first} − {user}) / {turn}) + 3 = {right}.",
    ),
    NumberTask(
        "05-q1",
        "Messages in one request",
        "Nothing has left yet at request {turn} of this chat. How many messages of the history does it hold?",
        unit="messages",
        right=lambda turn: chat().requests[turn - 1] + 1,
        wrong=(
            Wrong(
                "F7",
                lambda turn: 2 * turn,
                "{given} are {turn} whole turns. The reply of turn {turn} is not in its own request.",
            ),
            Wrong("F4", lambda turn: turn, "{given} counts turns. Each of them has two messages."),
            Wrong(
                "R5",
                lambda turn: 2 * (turn - 1),
                "{given} are the turns before this one. The new message is sent with them.",
            ),
        ),
        praise="{turn} − 1 whole turns and one new message.",
        solution="2 × ({turn} − 1) messages of earlier turns, and the new message: {right}.",
        variants=({"turn": 11}, {"turn": 18}, {"turn": 35}),
        quick=True,
    ),
    NumberTask(
        "05-q2",
        "How many leave at once?",
        "A request is {over} units too large. Its oldest messages have {list} units, the oldest first. How many "
        "messages leave?",
        unit="messages",
        right=to_free,
        wrong=(
            Wrong("F6", lambda: 1, "one message frees only {one} units, and {over} are needed."),
            Wrong("F6", lambda: 2, "one turn, two messages, frees only {two} units, and {over} are needed."),
            Wrong(
                "S3",
                lambda over, sizes: to_free(over, sizes) - 1,
                "{given} messages free {less} units, less than {over}. One more has to leave.",
            ),
        ),
        praise="together they have {freed} units, and {over} were needed.",
        solution="Take messages off from the oldest until at least {over} units are free: {less} are not enough, "
        "{freed} are. So {right} messages leave.",
        variants=tuple(
            {
                "over": over,
                "sizes": sizes,
                "list": ", ".join(map(str, sizes)),
                "one": sizes[0],
                "two": sum(sizes[:2]),
                "less": sum(sizes[: to_free(over, sizes) - 1]),
                "freed": sum(sizes[: to_free(over, sizes)]),
            }
            for over, sizes in (
                (gone_over(8000), tuple(chat_of_costs(4))),
                (300, (40, 60, 90, 80, 70, 160)),
                (200, (30, 45, 25, 60, 50, 190)),
            )
        ),
        quick=True,
    ),
    NumberTask(
        "05-1",
        "With a reply reserve",
        "In another chat the first turn has {first_turn} units. Every later turn has a user message of {user} units "
        "and a reply of {reply}. The input budget is {budget} units; {fixed} are fixed, and {reserve} are kept for "
        "the reply. Which request is the first without the first message?",
        unit="request",
        units=("number", "turn"),
        right=lambda budget, fixed, reserve, first, user, reply: exact(budget - fixed - reserve, first, user, reply),
        wrong=(
            Wrong(
                "F2",
                lambda budget, fixed, first, user, reply: exact(budget - fixed, first, user, reply),
                "{given} is right for an application without a reply reserve. Take the {reserve} units off the room "
                "first.",
            ),
            Wrong(
                "F1",
                lambda budget, fixed, reserve, user, reply: forecast.published(budget - fixed - reserve, user + reply),
                "{given} is room divided by a whole turn, plus 1. But the reply of a turn is not in its own request, "
                "and the first turn is short.",
            ),
            Wrong(
                "S1",
                lambda budget, fixed, reserve, user, reply: forecast.corrected(
                    budget - fixed - reserve, user, user + reply
                ),
                "the first message is still in request {given}. Either you counted the first turn as one of "
                "{turn} units (it has {first_turn}), or you gave the last request that holds the message.",
            ),
            Wrong(
                "F2",
                lambda budget, fixed, user, reply: forecast.published(budget - fixed, user + reply),
                "{given} divides the whole budget by a turn. The reserve of {reserve} units is not in it.",
            ),
            Wrong(
                "R13",
                lambda budget, fixed, reserve, first, user, reply: exact(
                    budget - fixed - reserve, first, user, reply, users_only=True
                ),
                "{given} comes out when only the user's messages are counted. The replies are sent again as well.",
            ),
            Wrong(
                "F4",
                lambda budget, fixed, reserve, user, reply: floor((budget - fixed - reserve) * 2 / (user + reply)) + 1,
                "{given} counts messages. A turn is two messages.",
            ),
        ),
        praise="the request before it still fits the room of {room} units.",
        solution="The room is {budget} − {fixed} − {reserve} = {room} units. Request *t* holds the first turn, "
        "*t* − 2 turns of {turn} units, and a user message of {user}: {first_turn} + (*t* − 2) × {turn} + {user}. "
        "That exceeds {room} for the first time at *t* = floor(({room} − {first_turn} − {user}) / {turn}) + 3 = "
        "{right}.",
        hints=(
            "First the room: the budget less everything that is not history.",
            "Request *t* holds the first turn, *t* − 2 whole turns, and one user message.",
            "How often do {turn} units fit into {room} − {first_turn} − {user}?",
        ),
        variants=tuple(
            {
                "budget": budget,
                "fixed": 20,
                "reserve": reserve,
                "first": FIRST,
                "first_turn": sum(FIRST),
                "user": user,
                "reply": reply,
                "turn": user + reply,
                "room": budget - 20 - reserve,
            }
            for budget, reserve, user, reply in ((5000, 800, 50, 150), (3000, 800, 40, 130), (6000, 600, 40, 110))
        ),
        step=Step(
            "how large is the room for the history?",
            lambda budget, fixed, reserve: budget - fixed - reserve,
            "units",
            "Budget less fixed part less reply reserve.",
            "the room is {step} units. Now: which part of it does a whole turn take?",
        ),
    ),
    NumberTask(
        "05-2",
        "The budget for a date",
        "A chat has a first turn of {first_turn} units. Every later turn has a user message of {user} units and a "
        "reply of {reply}. {fixed} units are fixed in every request. What is the smallest input budget with which "
        "request {at} still holds the first message?",
        unit="units",
        right=exact_budget,
        wrong=(
            Wrong(
                "F1",
                lambda at, fixed, first, user, reply: exact_budget(at, fixed, first, user, reply) + reply,
                "{given} contains the reply of turn {at}. It does not exist when request {at} is sent.",
            ),
            Wrong(
                "A1",
                lambda at, first, user, reply: exact_budget(at, 0, first, user, reply),
                "{given} are the messages alone. The {fixed} fixed units are part of every request.",
            ),
            Wrong(
                "S12",
                lambda at, fixed, first, user, reply: exact_budget(at, fixed, first, user, reply) - user,
                "{given} holds the turns before request {at}, and not its new message of {user} units.",
            ),
            Wrong(
                "S1",
                lambda at, fixed, user, reply: exact_budget(at, fixed, (user, reply), user, reply),
                "{given} takes the first turn as one of {turn} units. It has {first_turn}.",
            ),
            Wrong(
                "S3",
                lambda at, fixed, first, user, reply: exact_budget(at, fixed, first, user, reply) - user - reply,
                "with {given} units the first message leaves one request earlier. Count the whole turns again: "
                "request {at} holds {before} of them after the first.",
            ),
        ),
        praise="one unit less, and the first message leaves.",
        solution="Request {at} holds the first turn, {before} later turns and one user message, and the fixed part: "
        "{first_turn} + {before} × {turn} + {user} + {fixed} = {right} units.",
        hints=(
            "Which messages does request {at} hold, when nothing has left?",
            "The first turn, {before} whole turns of {turn} units, one new message. Then the fixed part.",
        ),
        variants=tuple(
            {
                "at": at,
                "fixed": fixed,
                "first": first,
                "first_turn": sum(first),
                "user": user,
                "reply": reply,
                "turn": user + reply,
                "before": at - 2,
            }
            for at, fixed, first, user, reply in (
                (50, 120, (40, 60), 50, 180),
                (80, 90, (30, 50), 60, 210),
                (120, 150, (25, 45), 40, 160),
            )
        ),
        step=Step(
            "how many units have the whole turns between the first one and request {at}?",
            lambda at, user, reply: (at - 2) * (user + reply),
            "units",
            "There are {before} of them, with {turn} units each.",
            "{step} units. Add the first turn, the new message and the fixed part.",
        ),
    ),
    OrderTask(
        "05-3",
        "What moves the date, and how far?",
        "The chat of this chapter, with an input budget of 4,000 units. Each line changes one thing. Put them in the "
        "order of the request at which the name is missing for the first time.",
        items=(
            "nothing is changed",
            "replies have about twice as many sentences",
            "1,000 units are kept for the reply",
            "replies have about half as many sentences",
            "the budget is 8,000 units",
        ),
        value=five_dates,
        wrong=(
            Wrong(
                "S10",
                lambda: [-date for date in five_dates()],
                "this is the right order, turned around. The earliest request comes first.",
            ),
            Wrong(
                "S11",
                lambda: five_dates(half=gone(2 * BUDGET) + 1),
                "replies of half the length do not make turns of half the length: the user's messages stay. Twice "
                "the budget moves the date further.",
            ),
            Wrong(
                "S13",
                lambda: five_dates(reserve=gone(BUDGET, 0, *LONGER) - 1),
                "the reserve takes a quarter of the budget. Replies of twice the length make a turn larger by about "
                "seven tenths, which is the stronger change.",
            ),
        ),
        praise="the requests are {values}.",
        solution="The library says, in this order: {values}.",
        ends="The earliest request comes first.",
        hints=(
            "Larger turns, or a smaller room: both bring the date forward.",
            "Three quarters of a turn are the reply. Compare that with a quarter of the budget.",
        ),
        variants=({"values": ", ".join(map(str, sorted(five_dates())))},),
    ),
    CodeTask(
        "05-4",
        "The exact drop turn",
        "Write a function `drop_turn(costs, room)`. `costs` are the units of the messages, user and reply in turn. "
        "The answer is the number of the first request without the first message, or `None` when it never leaves.",
        name="drop_turn",
        lines=(
            "def drop_turn(costs, room):",
            "    total = 0",
            "    for turn in range(1, len(costs) // 2 + 1):",
            Line(
                "        total += costs[□]  # the new message",
                ("2 * turn - 1", "2 * turn - 2"),
                1,
                ("this adds the reply of the turn before the request is sent. It does not exist yet.", ""),
                ("F1", ""),
            ),
            Line(
                "        if total □ room:",
                (">=", ">"),
                1,
                ("this lets the message leave when everything fits exactly.", ""),
                ("S5", ""),
            ),
            Line(
                "            return □",
                ("turn - 1", "turn", "turn + 1"),
                1,
                (
                    "this is the last request with the message.",
                    "",
                    "this request is one too late: the message is missing already in this one.",
                ),
                ("F3", "", "F3"),
            ),
            "        total += costs[2 * turn - 1]  # its reply",
            "    return None",
        ),
        reference=lambda costs, room: drop_turn_of(costs, room),
        cases=lambda: [
            (chat_of_costs(60), 3980),
            (chat_of_costs(60), 7980),
            (chat_of_costs(60), 10**6),
            ([35, 49, 57, 133], 141),
            ([35, 49, 57, 133], 140),
            ([10, 90, 10, 90, 10, 90], 105),
            ([10, 90, 10, 90, 10, 90], 210),
            ([50, 10], 49),
        ],
        wrong=(
            Wrong("F1", reply_first, "Your function counts the reply of a turn in the request of the same turn."),
            Wrong("F3", last_with, "Your function returns the last request with the message."),
            Wrong("S5", exact_fit_leaves, "Your function lets the message leave when everything fits exactly."),
            Wrong("R13", only_users, "Your function counts the user's messages only."),
        ),
        praise="it agrees with the library on all cases. No request was simulated.",
        hints=(
            "The first message is visible as long as everything so far fits the room.",
            "Request 1 holds one message, request 2 three. Each turn first adds the new message, then its reply.",
        ),
        tip="A request is sent before its reply exists.",
    ),
)
