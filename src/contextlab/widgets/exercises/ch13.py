"""Chapter 13: reading one chart: bills, rates, outdated values, and the line of best trades."""

from __future__ import annotations

from functools import cache

from contextlab.compare import Result, best_trades, read_sweep, results
from contextlab.planted import KINDS, PER_KIND

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong

TENTH = 0.1
TUTOR_BILL = 100_000
TUTOR = (
    ("notes + last 10", 4000),
    ("pins + retrieval", 4000),
    ("keep-newest", 16_000),
    ("pins + summary", 4000),
    ("new chat + carried note", 4000),
)
SERVICE = (("pins + summary", 4000), ("rolling summary", 4000), ("new chat + carried note", 4000))
AGENT = (("pins + summary", 8000), ("pins + summary", 4000), ("rolling summary", 8000))


@cache
def found() -> dict[tuple[str, int], Result]:
    """Return the results of the book's sweep by policy and budget."""
    return {(one.policy, one.budget): one for one in results(read_sweep("comparison.csv")[1])}


def percent(policy: str, budget: int = 4000) -> int:
    """Return the rate at which a set-up shows the right value, in whole percent."""
    return round(100 * found()[policy, budget].right.value)


def bill(sent: int, computed: int, own: int) -> float:
    return computed + (sent - computed) / 10 + own


def of_the_sweep(policy: str, budget: int) -> dict:
    """Return what one chat costs under a set-up, in hundreds of units."""
    one = found()[policy, budget]
    sent, computed, own = (round(value, -2) for value in (one.sent.value, one.computed.value, one.own.value))
    amounts = {"sent": int(sent), "computed": int(computed), "own": int(own)}
    return {"policy": f"{policy}, {budget:,}", "cached": amounts["sent"] - amounts["computed"], **amounts}


def tutor() -> dict:
    """Return what the solution of 13-1 says: rates, bills, and the best set-up within the limit."""
    ones = sorted((found()[key] for key in TUTOR), key=lambda one: one.by_kind["early"].value)
    within = [one for one in ones if one.bill(TENTH) <= TUTOR_BILL]
    return {
        "limit": TUTOR_BILL,
        "values": ", ".join(f"{100 * one.by_kind['early'].value:.0f} %" for one in ones),
        "bills": ", ".join(f"{one.bill(TENTH):,.0f}" for one in ones),
        "choice": f"{within[-1].policy} at {within[-1].budget:,}",
    }


def values_of(policy: str, budget: int) -> dict:
    """Return how many requests of the sweep hold the right value, an outdated one, an outdated one alone."""
    one = found()[policy, budget]
    asked = PER_KIND * len(KINDS) * one.seeds
    stale, misled = (round(rate.value * asked / 2) for rate in (one.stale, one.misled))
    right = round(one.right.value * asked)
    amounts = {"asked": asked, "right_ones": right, "stale": stale, "misled": misled, "both": stale - misled}
    return {"policy": f"{policy} at {budget:,}", **amounts}


def against_the_large_window(policy: str, budget: int) -> dict:
    """Return what is computed and cached, in hundreds of units, with everything sent and under a set-up."""
    large, small = of_the_sweep("keep-newest", 32_000), of_the_sweep(policy, budget)
    return {
        "policy": f"{policy} at {budget:,}",
        "large": large["computed"],
        "large_cached": large["cached"],
        "small": small["computed"] + small["own"],
        "small_cached": small["cached"],
    }


def same_bill(large: int, large_cached: int, small: int, small_cached: int) -> float:
    """Return the price of a cached unit, in percent, at which both bills are equal."""
    return round(100 * (small - large) / (large_cached - small_cached), 1)


def best(points):
    """Return the points on the line, in one walk."""
    line = []
    for cost, share in sorted(points, key=lambda point: (point[0], -point[1])):
        if not line or share > line[-1][1]:
            line.append((cost, share))
    return line


def by_the_library(points):
    """Return the same from the library."""
    from collections import namedtuple

    One = namedtuple("One", "cost right")
    Share = namedtuple("Share", "value")
    ones = [One(cost, Share(share)) for cost, share in points]
    return [(one.cost, one.right.value) for one in best_trades(ones, price=lambda one: one.cost)]


def ties_stay(points):
    line = []
    for cost, share in sorted(points, key=lambda point: (point[0], -point[1])):
        if not line or share >= line[-1][1]:
            line.append((cost, share))
    return line


def worst_of_equal_cost(points):
    line = []
    for cost, share in sorted(points):
        if not line or share > line[-1][1]:
            line.append((cost, share))
    return line


def only_the_one_before(points):
    ordered = sorted(points, key=lambda point: (point[0], -point[1]))
    return [now for at, now in enumerate(ordered) if not at or now[1] > ordered[at - 1][1]]


def cheapest_only(points):
    return best(points)[:1]


EXERCISES = (
    Predict(
        "13-p",
        "Both together",
        "In 100 chats facts are said early or in the middle, and asked about near the end. Pinned notes alone show the "
        "right value for {pins} % of the questions, a rolling summary alone for {summary} %. One request carries both. "
        "For what percentage of the questions does it show the right value?",
        unit="%",
        operands={
            "pins": percent("pins"),
            "summary": percent("rolling summary"),
            "miss_pins": 100 - percent("pins"),
            "miss_summary": 100 - percent("rolling summary"),
            "apart": round(
                100 - (100 - percent("pins")) * (100 - percent("rolling summary")) / 100,
            ),
        },
        right=lambda: percent("pins + summary"),
        tolerance=3,
        wrong=(
            Wrong(
                "C1",
                lambda pins, summary: min(100, pins + summary),
                "{given} adds the rates. Many facts are in both, and would be counted twice.",
            ),
            Wrong(
                "C2",
                lambda pins, summary: max(pins, summary),
                "{given} is the better of the two. The other one also holds facts that this one misses.",
            ),
            Wrong(
                "C3",
                lambda pins, summary: round(pins * summary / 100),
                "{given} asks for the value in both places. One place is enough.",
            ),
            Wrong(
                "C4",
                lambda pins, summary: round((pins + summary) / 2),
                "{given} is the mean. A second carrier does not take away what the first one shows.",
            ),
        ),
        praise="a fact is absent only if both miss it.",
        sure_miss="You were sure, so count what is absent. The pins miss {miss_pins} %. Of these the summary misses "
        "{miss_summary} %, if the two have nothing to do with each other. That leaves {apart} % shown; {right} % were "
        "measured.",
        why="Why is the whole less than the sum? One sentence. Nobody grades it.",
        points=(
            "One of the two is enough to show a fact.",
            "The value is absent only where both miss it.",
            "If the misses are independent, their rates multiply.",
        ),
        solution="{right} % were measured. With independent misses one expects {apart} %.",
    ),
    NumberTask(
        "13-q1",
        "The bill of one point",
        "One set-up: {policy}. The requests of a chat have {sent} units. {computed} are computed, the others are "
        "cached and cost a tenth. The calls of the policy itself take {own} units at the full price. What is the "
        "bill, in units at the full price?",
        unit="units",
        right=bill,
        wrong=(
            Wrong("P15", lambda sent, own: sent + own, "{given} takes all at the full price."),
            Wrong(
                "P23", lambda computed, own: computed + own, "{given} leaves the cached units out. They cost a tenth."
            ),
            Wrong("P9", lambda sent, own: sent / 10 + own, "{given} takes a tenth of everything that is sent."),
            Wrong(
                "M7",
                lambda sent, computed: bill(sent, computed, 0),
                "{given} leaves out what the policy itself reads and writes.",
            ),
        ),
        praise="{cached} units are cached.",
        solution="{computed} + ({sent} − {computed}) / 10 + {own} = {right}.",
        variants=(
            of_the_sweep("rolling summary", 4000),
            of_the_sweep("window + notes", 4000),
            of_the_sweep("pins + summary", 8000),
        ),
        quick=True,
    ),
    ChooseTask(
        "13-q2",
        "Below the line",
        "A point lies below the line of best trades. What follows?",
        options=(
            Option(
                "No application should use this policy.",
                "the line knows one price and one rate. With another price or kind of fact it runs elsewhere.",
                "C9",
            ),
            Option(
                "Some point of the chart costs no more and shows the right value at least as often.",
                "that is all that the line says, for this price and this rate.",
                right=True,
            ),
            Option(
                "Its rate differs from the line by more than chance.",
                "the line is drawn through the measured rates. The intervals say how far chance can move them.",
                "C10",
            ),
            Option(
                "The model answers worse with it.",
                "no model has answered anything here. The chart says what stood in the request.",
                "C11",
            ),
        ),
        solution="A point below the line is beaten on both scales of this chart at once. It says no more.",
        quick=True,
    ),
    OrderTask(
        "13-1",
        "A tutor",
        "A tutor's students say their level and their exam in the first lessons, and these never change. A chat may "
        "cost {limit} units, with a cached unit at a tenth. Put the set-ups in order of the rate for *early* facts. "
        "Then decide: which one do you take? The explorer above helps.",
        items=tuple(f"{policy} at {budget:,}" for policy, budget in TUTOR),
        value=lambda: [found()[one].by_kind["early"].value for one in TUTOR],
        wrong=(
            Wrong(
                "C7",
                lambda: [found()[one].right.value for one in TUTOR],
                "this is the order over all kinds of facts. The question is about early ones.",
            ),
            Wrong(
                "C12",
                lambda: [found()[one].bill(TENTH) for one in TUTOR],
                "this is the order of the bills. What costs more need not show more.",
            ),
            Wrong(
                "S10",
                lambda: [-found()[one].by_kind["early"].value for one in TUTOR],
                "this is the right order, turned around.",
            ),
        ),
        praise="the rates are {values}.",
        solution="From the lowest: {values}. The bills, in the same order: {bills}. Within {limit} units, {choice} "
        "shows early facts most often.",
        ends="The set-up with the lowest rate comes first.",
        hints=(
            "Set the explorer to early facts and to all budgets, and read its table.",
            "A window without notes shows no early fact, unless the whole chat fits.",
        ),
        variants=(tutor(),),
    ),
    NumberTask(
        "13-2",
        "Customer service",
        "Customers correct an address or a date. An outdated value must not reach the model, not even beside the right "
        "one. {policy}, over {asked} questions: {right_ones} requests hold the right value. {stale} hold an outdated "
        "one, and {misled} of these lack the right one. How many requests hold the right value and no outdated one?",
        unit="requests",
        right=lambda right_ones, stale, misled: right_ones - (stale - misled),
        wrong=(
            Wrong(
                "C5",
                lambda right_ones, stale: right_ones - stale,
                "{given} takes all {stale} off. But {misled} of these are not among the {right_ones}.",
            ),
            Wrong("C17", lambda right_ones: right_ones, "{given} counts requests that hold both values."),
            Wrong(
                "C17",
                lambda right_ones, misled: right_ones - misled,
                "{given} takes off the {misled} without the right value. These were not among the {right_ones}.",
            ),
            Wrong(
                "C18",
                lambda right_ones, misled: right_ones + misled,
                "{given} counts requests with any value, the outdated one included.",
            ),
            Wrong(
                "C19",
                lambda asked, stale: asked - stale,
                "{given} requests hold no outdated value. Some of these hold no value at all.",
            ),
        ),
        praise="{both} requests hold both values.",
        solution="{stale} − {misled} = {both} requests hold both values. {right_ones} − {both} = {right}.",
        hints=(
            "How many requests hold both values?",
            "{both} do. They are among the {right_ones}.",
        ),
        variants=tuple(values_of(*key) for key in SERVICE),
        step=Step(
            "how many requests hold both values?",
            lambda both: both,
            "requests",
            "Of the {stale} with an outdated value, {misled} have nothing else.",
            "{step} hold both. They are among those with the right value.",
        ),
    ),
    NumberTask(
        "13-3",
        "A coding assistant",
        "A coding assistant may send everything, or work with {policy}. Everything: {large} units of a chat are "
        "computed and {large_cached} are cached. {policy}: {small} are computed, its own calls included, and "
        "{small_cached} are cached. At which price of a cached unit do both cost the same, as a percentage of the full "
        "price, to one decimal?",
        unit="%",
        right=same_bill,
        tolerance=0.1,
        wrong=(
            Wrong(
                "C20",
                lambda large, large_cached, small, small_cached: round(
                    100 * (small - large) / (large_cached + small_cached), 1
                ),
                "{given} adds the cached units of both. Both pay the price, so only the difference matters.",
            ),
            Wrong(
                "C21",
                lambda large, large_cached, small, small_cached: round(100 * (small - large) / large_cached, 1),
                "{given} lets the other policy have its cached units for nothing.",
            ),
            Wrong(
                "P14",
                lambda large_cached, small_cached: round(100 * small_cached / large_cached, 1),
                "{given} compares the cached units alone. What is computed costs the full price.",
            ),
            Wrong(
                "C22", lambda: 10, "{given} % is the price of the chapter. Look for the one at which the bills meet."
            ),
        ),
        praise="below this price the large window is the cheaper one.",
        solution="Everything costs {large} + p · {large_cached}, the other {small} + p · {small_cached}. They are "
        "equal at p = ({small} − {large}) / ({large_cached} − {small_cached}) = {right} %. A list of files "
        "that changes on top of each request leaves nothing cached. Then the price is 100 %.",
        hints=(
            "Write both bills with p for the price of a cached unit.",
            "By how much is less computed with the large window? How many more units are cached?",
        ),
        variants=tuple(against_the_large_window(*key) for key in AGENT),
        step=Step(
            "how many more units are cached with the large window?",
            lambda large_cached, small_cached: large_cached - small_cached,
            "units",
            "Both numbers of cached units are in the question.",
            "{step} more are cached. Divide what the large window saves on computed units by it.",
        ),
    ),
    CodeTask(
        "13-4",
        "The line of best trades",
        "Write a function `best(points)`. Each point is a pair `(cost, share)`. Return the points that no other beats, "
        "the cheapest first. A point is beaten by one that costs no more and has at least its share; of equal points "
        "one stays.",
        name="best",
        lines=(
            "def best(points):",
            "    line = []",
            Line(
                "    for cost, share in sorted(points, key=lambda point: □):",
                ("(point[0], point[1])", "(point[0], -point[1])", "-point[1]"),
                1,
                ("of two points with one cost, the lower share comes first and stays.", "", "this begins at the top."),
                ("C13", "", "S10"),
            ),
            Line(
                "        if not line or share □ line[-1][1]:",
                (">", ">="),
                0,
                ("", "this keeps a point that costs more and shows the same."),
                ("", "C14"),
            ),
            "            line.append((cost, share))",
            "    return line",
        ),
        reference=by_the_library,
        cases=lambda: [
            ([(50, 0.5)],),
            ([(50, 0.5), (90, 0.9)],),
            ([(90, 0.9), (50, 0.5)],),
            ([(50, 0.5), (90, 0.5)],),
            ([(50, 0.4), (50, 0.6)],),
            ([(50, 0.5), (50, 0.5)],),
            ([(10, 0.8), (20, 0.3), (30, 0.5), (40, 0.9)],),
            ([(round(one.bill(TENTH)), one.right.value) for one in found().values()],),
        ],
        wrong=(
            Wrong("C14", ties_stay, "Your function keeps a point that costs more and shows the same."),
            Wrong("C13", worst_of_equal_cost, "Your function keeps a lower point beside a higher one of equal cost."),
            Wrong(
                "C15", only_the_one_before, "Your function compares with the point before, not with the line so far."
            ),
            Wrong("C16", cheapest_only, "Your function returns the cheapest point only."),
        ),
        praise="it agrees with the library on all cases, the sweep included.",
        hints=(
            "Walk from the cheapest point to the dearest. When does a point beat all that came before?",
            "It has to be higher than the last one on the line. At one cost, look at the highest first.",
        ),
        tip="Sort by cost; at equal cost the highest share first.",
    ),
)
