"""Chapter 06: what a conversation sends, computes and costs."""

from __future__ import annotations

from functools import cache
from itertools import accumulate

from contextlab.budget import resent
from contextlab.cost import Prices, Usage, total, usage
from contextlab.keep import KeepNewest, newest_run
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, Trace, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import WordPieces

from ..declare import CodeTask, Line, NumberTask, OrderTask, Predict, Step, Wrong
from ..rules import prefix_of, sized, skipping

NO_LIMIT = 10**6
TENTH = Prices(uncached=1, cached=0.1)


@cache
def chat() -> CountedChat:
    """Return the chat of the chapter."""
    return CountedChat(scripted_chat(), PlainRule(WordPieces()))


@cache
def trace(budget: int) -> Trace:
    return replay(chat(), KeepNewest(), input_budget=budget, fact=NAME)


def times_sent(small: int, large: int) -> float:
    return round(trace(large).total_input_units / trace(small).total_input_units, 2)


def bill(budget: int, turns: int, prices: Prices = TENTH) -> int:
    """Return the price of the first requests, in units at the full price."""
    return round(prices.bill(usage(trace(budget))[:turns], per=1))


def sent(budget: int, turns: int) -> int:
    return total(usage(trace(budget))[:turns]).sent


def equal(turns: int, user: int, reply: int) -> list[int]:
    """Return the costs of a chat of equal turns."""
    return [user, reply] * turns


def sent_whole(turns: int, user: int, reply: int) -> int:
    """Return what a chat of equal turns sends when nothing is left out: request t has t − 1 turns and a message."""
    costs = sized(equal(turns, user, reply))
    return sum(costs.history.units(0, current + 1) for current in costs.requests)


def full(per_turn: int, budget: int, turns: int) -> int:
    """Return the estimate of the chapter: request t has t turns, and never more than the budget."""
    return sum(min(turn * per_turn, budget) for turn in range(1, turns + 1))


def last_n(turns: int, user: int, reply: int, n: int, instructions: int, reply_counted: bool = False) -> int:
    """Return what last-N sends over a chat of equal turns; `reply_counted` puts each reply into its own request."""
    costs = equal(turns, user, reply)
    stops = range(2 if reply_counted else 1, len(costs) + 1, 2)
    return sum(instructions + sum(costs[max(0, stop - n) : stop]) for stop in stops)


def sent_in_room(costs, room, stops=None):
    """Return what keep-newest sends over a chat known by its costs, user and reply in turn."""
    prefix = prefix_of(costs)
    stops = range(1, len(costs), 2) if stops is None else stops
    return sum(prefix[stop] - prefix[newest_run(prefix, room, stop)] for stop in stops)


def reply_in_its_request(costs, room):
    return sent_in_room(costs, room, range(2, len(costs) + 1, 2))


def without_a_room(costs, room):
    return sum(list(accumulate(costs))[::2])


def with_holes(costs, room):
    return sum(sum(costs[i] for i in skipping(costs[:stop], room)) for stop in range(1, len(costs), 2))


def users_alone(costs, room):
    return sent_in_room([0 if i % 2 else cost for i, cost in enumerate(costs)], room)


def once_each(costs, room):
    return sum(costs[:-1])


def lab_costs(turns: int) -> list[int]:
    """Return the costs of the first turns of the chapter's chat."""
    return [chat().history.units(i, i + 1) for i in range(2 * turns)]


def four_bills() -> tuple[int, ...]:
    """Return the bills of the settings of exercise 06-3, in the order of its items."""
    return bill(32_000, 140), bill(NO_LIMIT, 200), bill(4000, 200), bill(32_000, 200)


EXERCISES = (
    Predict(
        "06-p",
        "Eight times the budget",
        "How many times as many units does the chat with a budget of {large} send as the one with {small}, over all "
        "{turns} requests?",
        unit="times",
        units=("x", "×"),
        operands={
            "small": 4000,
            "large": 32_000,
            "turns": 200,
            "gone_small": trace(4000).gone_at_turn,
            "gone_large": trace(32_000).gone_at_turn,
            "mean_small": round(trace(4000).total_input_units / 200),
            "mean_large": round(trace(32_000).total_input_units / 200),
        },
        right=times_sent,
        tolerance=0.25,
        wrong=(
            Wrong(
                "B1",
                lambda small, large: large // small,
                "{given} is the ratio of the budgets. It would be right if every request were full. Many of the large "
                "window's requests are not.",
            ),
            Wrong(
                "B1",
                lambda small, large: (large // small) ** 2,
                "{given} squares the ratio of the budgets. A square appears while requests grow; a window stops that.",
            ),
            Wrong(
                "B12",
                lambda small, large: round(trace(large).gone_at_turn / trace(small).gone_at_turn, 2),
                "{given} is the ratio of the drop turns: how much later, not how much more.",
            ),
            Wrong(
                "R2",
                lambda: 1,
                "the same would be sent if each message were sent once. Each request sends all that it holds.",
            ),
        ),
        praise="an average request has {mean_small} units with the small budget and {mean_large} with the large one.",
        sure_miss="You were sure, so look at the sizes of the requests. With the small budget they grow until request "
        "{gone_small} and are full from there on. With the large one they grow until request {gone_large}: most of "
        "the chat is over before it is full. On average a request has {mean_small} units in the one case and "
        "{mean_large} in the other. That makes {right} times.",
        why="Why is it less than eight times? One sentence. Nobody grades it.",
        points=(
            "What counts is the size of the requests, not the size of the window.",
            "The large window is full in the last part of the chat only.",
            "Until request 19 both send the same.",
        ),
        solution="In the run the chat with the large budget sends {right} times as much.",
    ),
    NumberTask(
        "06-q1",
        "Everything is sent again",
        "A user message has {user} tokens and a reply {reply}. Nothing is left out. How many tokens of messages are "
        "sent over {turns} turns?",
        unit="tokens",
        right=sent_whole,
        wrong=(
            Wrong(
                "R2",
                lambda turns, user, reply: turns * (user + reply),
                "{given} counts each message once. Each request sends all earlier ones again.",
            ),
            Wrong(
                "F1",
                lambda turns, user, reply: resent(turns, user + reply),
                "{given} comes from the formula above. It charges each request with its own reply, {turns} replies "
                "too many.",
            ),
            Wrong(
                "R4",
                lambda turns, user, reply: turns * turns * (user + reply),
                "{given} is the full square, *n*² turns. The staircase is about half of it.",
            ),
            Wrong(
                "R5",
                lambda turns, user, reply: resent(turns - 1, user + reply),
                "{given} are the earlier turns alone. The new message of each request is missing.",
            ),
        ),
        praise="request {turns} alone has {last} tokens.",
        solution="User messages: {user} × {turns} × {next} / 2. Replies: {reply} × {before} × {turns} / 2, since "
        "request *t* holds *t* − 1 of them. Together {right}.",
        variants=tuple(
            {
                "turns": turns,
                "user": user,
                "reply": reply,
                "next": turns + 1,
                "before": turns - 1,
                "last": turns * user + (turns - 1) * reply,
            }
            for turns, user, reply in ((10, 60, 140), (20, 50, 150))
        ),
        quick=True,
    ),
    NumberTask(
        "06-q2",
        "Cached at a tenth",
        "{cached} % of the input is cached, and cached tokens cost a tenth. Which part of the full price is paid for "
        "the input?",
        unit="%",
        units=("percent",),
        right=lambda cached: round(100 * TENTH.bill(Usage(1, sent=100, cached=cached), per=100)),
        wrong=(
            Wrong(
                "P9", lambda: 10, "{given} % would be right if everything were cached. The rest costs the full price."
            ),
            Wrong(
                "P13",
                lambda cached: 100 - cached // 10,
                "{given} % takes a tenth *off*. The cached part costs a tenth, it is not cheaper by a tenth.",
            ),
            Wrong(
                "P14",
                lambda cached: cached // 10,
                "{given} % is the cached part alone. The other {rest} % are paid too.",
            ),
        ),
        praise="{rest} % at the full price, and {cached} % at a tenth.",
        solution="{rest} % + {cached} % / 10 = {right} %.",
        variants=({"cached": 90, "rest": 10}, {"cached": 80, "rest": 20}),
        quick=True,
    ),
    NumberTask(
        "06-1",
        "Until the window is full",
        "Every turn adds {per_turn} tokens. Take a request as *t* whole turns, and never more than the input budget "
        "of {budget} tokens. How many tokens do {turns} turns send?",
        unit="tokens",
        right=full,
        wrong=(
            Wrong(
                "B10",
                lambda per_turn, turns: resent(turns, per_turn),
                "{given} would be sent without a limit. No request may have more than {budget}.",
            ),
            Wrong(
                "B2",
                lambda budget, turns: budget * turns,
                "{given} takes every request as full. The first {grow} are smaller.",
            ),
            Wrong(
                "B11",
                lambda per_turn, budget: resent(budget // per_turn, per_turn),
                "{given} are the first {grow} requests. The {rest} full ones come on top.",
            ),
            Wrong(
                "R2",
                lambda per_turn, turns: per_turn * turns,
                "{given} counts each turn once. Each request sends the earlier ones again.",
            ),
            Wrong(
                "R4",
                lambda per_turn, turns: per_turn * turns**2,
                "{given} is the full square, and it knows no limit.",
            ),
        ),
        praise="{grow} requests grow, and {rest} are full.",
        solution="{grow} turns fill the window: {grow} × {next} / 2 × {per_turn} = {growing}. The other {rest} "
        "requests have {budget} each: {flat}. Together {right}.",
        hints=(
            "How many turns fit the budget?",
            "Up to request {grow} use *n*(*n* + 1)/2; after it every request has {budget} tokens.",
        ),
        variants=tuple(
            {
                "per_turn": per_turn,
                "budget": budget,
                "turns": turns,
                "grow": (grow := budget // per_turn),
                "next": grow + 1,
                "rest": turns - grow,
                "growing": resent(grow, per_turn),
                "flat": (turns - grow) * budget,
            }
            for per_turn, budget, turns in ((250, 4000, 60), (200, 3000, 50), (400, 8000, 50))
        ),
        step=Step(
            "which request is the first that fills the budget exactly?",
            lambda per_turn, budget: budget // per_turn,
            "request",
            "Divide the budget by the size of a turn.",
            "request {step} is full, and so is every later one. Add up the requests before and after it.",
        ),
    ),
    NumberTask(
        "06-2",
        "The last N, once more",
        "An application sends the instructions, {instructions} tokens, and the last {n} messages (chapter 04). A user "
        "message has {user} tokens, a reply {reply}. How many tokens do {turns} turns send?",
        unit="tokens",
        right=last_n,
        wrong=(
            Wrong(
                "A1",
                lambda turns, user, reply, n: last_n(turns, user, reply, n, 0),
                "{given} leaves out the instructions. They are sent {turns} times.",
            ),
            Wrong(
                "F8",
                lambda turns, user, reply, n, instructions: last_n(turns, user, reply, 2 * n, instructions),
                "{given} keeps the last {n} *turns*. A turn is two messages.",
            ),
            Wrong(
                "F1",
                lambda turns, user, reply, n, instructions: last_n(turns, user, reply, n, instructions, True),
                "{given} puts each reply into its own request. It does not exist yet.",
            ),
            Wrong(
                "B10",
                lambda turns, user, reply, instructions: sent_whole(turns, user, reply) + turns * instructions,
                "{given} would be sent if nothing were left out.",
            ),
            Wrong(
                "R2",
                lambda turns, user, reply, instructions: turns * (user + reply) + instructions,
                "{given} sends everything once.",
            ),
        ),
        praise="from request {grow} on, every request has the same size.",
        solution="Request *t* holds 2*t* − 1 messages, and never more than {n}. From request {grow} on that is {n} "
        "messages: {half} from the user and {half} replies, {flat} tokens. The requests before it have {early}. With "
        "{turns} times the instructions it is {right}.",
        hints=(
            "The newest message is the user's. The one before it is a reply.",
            "The last {n} messages are {half} of each kind. Which request is the first that has so many?",
        ),
        variants=tuple(
            {
                "turns": turns,
                "user": user,
                "reply": reply,
                "n": n,
                "half": n // 2,
                "instructions": instructions,
                "grow": n // 2 + 1,
                "flat": n // 2 * (user + reply),
                "early": ", ".join(f"{t * user + (t - 1) * reply:,}" for t in range(1, n // 2 + 1)),
            }
            for turns, user, reply, n, instructions in ((30, 60, 140, 8, 50), (25, 50, 150, 6, 40))
        ),
        step=Step(
            "how many tokens do the last {n} messages of a late request have?",
            lambda user, reply, n: n // 2 * (user + reply),
            "tokens",
            "The last {n} messages are {half} of each kind.",
            "{step} tokens in each late request. The first requests have fewer messages; the instructions come on top.",
        ),
    ),
    OrderTask(
        "06-3",
        "Four bills",
        "The chat of this chapter, under keep-newest. Cached units cost a tenth. Put the bills in order.",
        items=(
            "budget of 32,000, the first 140 turns",
            "no limit at all, 200 turns",
            "budget of 4,000, 200 turns",
            "budget of 32,000, 200 turns",
        ),
        value=four_bills,
        wrong=(
            Wrong("S10", lambda: [-one for one in four_bills()], "this is the right order, turned around."),
            Wrong(
                "P15",
                lambda: (sent(32_000, 140), sent(NO_LIMIT, 200), sent(4000, 200), sent(32_000, 200)),
                "this is the order of what is *sent*. A request that only adds to the last one is mostly cached.",
            ),
            Wrong(
                "B9",
                lambda: (bill(32_000, 140), bill(32_000, 200) + 1, bill(4000, 200), bill(32_000, 200)),
                "a chat that never leaves anything out sends the most. But each of its requests begins as the last "
                "one did.",
            ),
        ),
        praise="the bills are {values}. What makes a chat expensive is leaving something out on every turn.",
        solution="In this order the bills are {values} units. Without a limit nothing leaves, so every request pays "
        "one message in full and the rest at a tenth. With 32,000 the last 60 requests pay nearly everything in full.",
        ends="The smallest bill comes first.",
        hints=(
            "Which of them leave something out, and in how many requests?",
            "A request that leaves nothing out pays its new message in full, and the rest at a tenth.",
        ),
        variants=({"values": ", ".join(f"{one:,}" for one in sorted(four_bills()))},),
    ),
    CodeTask(
        "06-4",
        "What keep-newest sends",
        "Write a function `sent(costs, room)`. `costs` are the units of the messages, user and reply in turn. For "
        "each user message a request is made with the newest messages that fit the room. The answer is the sum of "
        "the units of all requests.",
        name="sent",
        lines=(
            "def sent(costs, room):",
            "    total = 0",
            Line(
                "    for stop in range(□):",
                ("1, len(costs), 2", "2, len(costs) + 1, 2", "0, len(costs), 2"),
                0,
                (
                    "",
                    "this puts each reply into its own request.",
                    "this request ends before the new message.",
                ),
                ("", "F1", "R5"),
            ),
            "        used = 0",
            Line(
                "        for cost in □:",
                ("costs[:stop]", "reversed(costs[:stop])"),
                1,
                ("this begins at the oldest message.", ""),
                ("F13", ""),
            ),
            Line(
                "            if used + cost □ room:",
                (">=", ">"),
                1,
                ("this refuses a message that fits exactly.", ""),
                ("S5", ""),
            ),
            Line(
                "                □",
                ("continue", "break"),
                1,
                ("this skips the message and goes on: the request gets a hole.", ""),
                ("F12", ""),
            ),
            "            used += cost",
            "        total += used",
            "    return total",
        ),
        reference=lambda costs, room: sent_in_room(costs, room),
        cases=lambda: [
            (lab_costs(60), 3980),
            (lab_costs(60), 7980),
            (lab_costs(12), 10**6),
            ([60, 140] * 10, 10**6),
            ([60, 140] * 10, 800),
            ([30, 50, 20, 400, 60, 90], 500),
            ([30, 50, 20, 300, 60, 90], 380),
        ],
        wrong=(
            Wrong("R2", once_each, "Your function counts each message once."),
            Wrong("B10", without_a_room, "Your function leaves nothing out."),
            Wrong("F1", reply_in_its_request, "Your function puts each reply into its own request."),
            Wrong("F12", with_holes, "Your function skips what does not fit and goes on to older messages."),
            Wrong("R13", users_alone, "Your function counts the user's messages only."),
        ),
        praise="it agrees with the library on all cases: this is the 0.75 million of the chapter, for any chat.",
        hints=(
            "Request 1 ends with message 1, request 2 with message 3, and so on.",
            "For each request walk from its newest message, and stop at the first that does not fit.",
        ),
        tip="A request ends with a user message; its reply is not in it.",
    ),
)
