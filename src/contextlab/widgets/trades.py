"""The explorer of chapter 13: the chart of all policies under a budget, a price of cached units, and a kind of fact."""

from __future__ import annotations

from itertools import product

from contextlab.compare import Result, best_trades, rate, read_sweep, results
from contextlab.planted import KINDS, PER_KIND

from .base import Explorer
from .markup import grouped, paragraphs

BUDGETS = (("4,000", (4000,)), ("8,000", (8000,)), ("16,000 and 32,000", (16_000, 32_000)), ("all", ()))
PRICES = (0, 5, 10, 25, 50, 100)  # percent of the full price
COUNTS = ("all facts", *(f"{kind} facts" for kind in KINDS), "right value, no outdated one")


def counts(one: Result) -> tuple[tuple[int, int], ...]:
    """Return for each of `COUNTS` the hits and the questions of a result."""
    asks = PER_KIND * one.seeds
    every = asks * len(KINDS)
    pairs = [(one.right, every), *((one.by_kind[kind], asks) for kind in KINDS), (one.clean, every)]
    return tuple((round(share.value * tries), tries) for share, tries in pairs)


def line_of(found: list[Result], budget: int, price: int, count: int) -> list[int]:
    """Return the places of the results on the line of best trades, the cheapest first, for indices of the settings."""
    wanted = BUDGETS[budget][1]
    shown = [one for one in found if not wanted or one.budget in wanted]
    places = {id(one): at for at, one in enumerate(found)}
    scored = [one._replace(right=rate(*counts(one)[count])) for one in shown]
    back = {id(new): places[id(one)] for new, one in zip(scored, shown, strict=True)}
    return [back[id(one)] for one in best_trades(scored, price=lambda one: _bill(one, price))]


def _bill(one: Result, price: int) -> int:
    """Return the bill in ten-thousandths of a unit, a whole number, as the module computes it."""
    sent, computed, own = _units(one)
    return 100 * (computed + own) + price * (sent - computed)


def _units(one: Result) -> tuple[int, int, int]:
    """Return units sent, computed and of the policy's own calls, in hundredths: exact, as means over 100 chats."""
    return tuple(round(100 * value) for value in (one.sent.value, one.computed.value, one.own.value))


def trades_explorer(
    *,
    title: str = "The chart, with your price and your facts",
    question: str = "Choose what is drawn, what a cached unit costs, and which facts count. Points on the line are "
    "named; the table has all of them.",
) -> Explorer:
    """Return the explorer of the line of best trades over the book's sweep.

    Returns:
        An explorer; `settings` holds `budget`, `price` and `count`, each the place of a value on its slider.
    """
    found = results(read_sweep("comparison.csv")[1])
    names = list(dict.fromkeys(one.policy for one in found))
    settings = list(product(range(len(BUDGETS)), range(len(PRICES)), range(len(COUNTS))))
    start = (len(BUDGETS) - 1, PRICES.index(10), 0)
    rows = []
    for price, count in product((10, 100), range(len(COUNTS))):
        line = [found[at] for at in line_of(found, start[0], price, count)]
        bills = [grouped(round(_bill(one, price) / 10_000)) for one in line]
        said = "; ".join(
            f"{one.policy} {grouped(one.budget)} ({_percent(counts(one)[count])}, {bill})"
            for one, bill in zip(line, bills, strict=True)
        )
        rows.append([f"{price} %", COUNTS[count], said])
    return Explorer(
        "trades",
        {
            "label": "Explore",
            "title": title,
            "question": paragraphs(question),
            "names": names,
            "points": [[names.index(one.policy), one.budget, *_units(one), *counts(one)] for one in found],
            "budgets": [[label, list(values)] for label, values in BUDGETS],
            "prices": list(PRICES),
            "counts": list(COUNTS),
            "start": list(start),
            "checks": [[*one, line_of(found, one[0], PRICES[one[1]], one[2])] for one in settings],
            "table_title": "The line of best trades for chosen settings",
            "table": {"head": ["Price of a cached unit", "What counts", "Line: share and bill"], "rows": rows},
            "height": 60,
        },
    )


def _percent(pair: tuple[int, int]) -> str:
    return f"{100 * pair[0] / pair[1]:.0f} %"
