"""The chart of chapter 13: what each policy costs, how often it shows the right value, and the line of best trades."""

from __future__ import annotations

from collections import namedtuple
from itertools import pairwise
from math import hypot, log10

from ..errors import InputError
from .strips import SMALL, box, canvas, rule, text_width, write
from .svg import GROUND, INK, NARROW, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TOP, BOTTOM, LEFT, RIGHT, TALL = 30, 38, 46, 12, 290  # pixels around and of the plot
MARK = 4.5  # half the width of a point, in pixels
LINE = 18  # pixels between two lines of the key
PLACES = ((0, -9), (10, 4), (-10, 4), (0, 17), (10, -7), (-10, -7), (10, 14), (-10, 14), (0, -20), (0, 28))


class Trade(namedtuple("Trade", "name budget cost value low high")):
    """A point of the chart: policy, input budget, what a chat costs, a rate from 0 to 1 and its interval."""

    __slots__ = ()


def trades_figure(
    trades: Sequence[Trade | tuple],
    line: Sequence[Trade | tuple],
    *,
    unit: str = "units at the full price",
    rate_name: str = "right value visible",
    alt: str = "",
    caption: str = "What a chat costs, and how often the right value is visible.",
) -> Figure:
    """Return all points, each with its interval and the number of its policy, and the line of best trades.

    The horizontal scale is logarithmic. Of each policy the smallest budget is a full dot, the next a ring, a larger one
    a square; the names stand below, those on the line in bold.

    Args:
        trades: the points; costs above 0.
        line: those of them on the line of best trades, the cheapest first.
        unit: word for the costs.
        rate_name: what the rate is of.

    Raises:
        InputError: no point, a cost of 0 or less, a rate outside its interval or 0 to 1, or a line through no point.

    >>> points = [("A", 4000, 50_000, 0.5, 0.4, 0.6), ("B", 4000, 90_000, 0.9, 0.8, 1)]
    >>> trades_figure(points, points)
    Figure: 2 points: cost of a chat against the rate. Line of best trades: A at 4,000: 50,000 and 50 %; B at 4,000: ...
    """
    trades, line = [Trade(*one) for one in trades], [Trade(*one) for one in line]
    if not trades or any(one.cost <= 0 or not 0 <= one.low <= one.value <= one.high <= 1 for one in trades):
        raise InputError("each point has a cost above 0 and a rate from 0 to 1 within its interval; give at least one")
    if not line or not set(line) <= set(trades):
        raise InputError("the line of best trades runs through points of the chart, one at least")
    names = list(dict.fromkeys(one.name for one in trades))
    budgets = sorted({one.budget for one in trades})
    said = "; ".join(f"{one.name} at {one.budget:,}: {one.cost:,.0f} and {100 * one.value:.0f} %" for one in line)
    alt = alt or f"{len(trades)} points: cost of a chat against the rate. Line of best trades: {said}."
    least, most = min(one.cost for one in trades), max(one.cost for one in trades)
    low, high = log10(least) - 0.04, log10(max(most, least * 1.5)) + 0.04
    shapes = [*(f"{budget:,}" for budget in budgets[:2]), " and ".join(f"{budget:,}" for budget in budgets[2:])]
    shapes = [text for text in shapes if text]

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        base = TOP + TALL

        def px(cost):
            return LEFT + (log10(cost) - low) / (high - low) * (width - LEFT - RIGHT)

        def py(share):
            return base - share * TALL

        write(ax, 3, 14, rate_name, size=SMALL, quiet=True)
        write(ax, width - RIGHT, base + 34, f"cost of a chat ({unit})", size=SMALL, align="right", quiet=True)
        for share in (0, 0.25, 0.5, 0.75, 1):
            write(ax, LEFT - 7, py(share) + 4, f"{100 * share:.0f} %", size=11, align="right", quiet=True)
            rule(ax, [LEFT, width - RIGHT], [py(share)] * 2, alpha=1 if share == 0 else 0.18)
        for cost in _round_costs(10**low, 10**high):
            write(ax, px(cost), base + 17, f"{cost // 1000:,}k", size=11, align="center", quiet=True)
            rule(ax, [px(cost)] * 2, [base, base + 4])
        steps = [(px(one.cost), py(one.value)) for one in line]
        rule(ax, [x for x, _ in steps], [y for _, y in steps], width=1.75, gid="cl-line")
        for one in trades:
            rule(ax, [px(one.cost)] * 2, [py(one.low), py(one.high)], width=1.25, alpha=0.45)
        for one in trades:
            x, y, shape = px(one.cost), py(one.value), min(budgets.index(one.budget), 2)
            gid = f"cl-trade number={names.index(one.name) + 1} budget={one.budget} line={int(one in line)}"
            _point(ax, x, y, shape, gid)
        taken = [(px(one.cost) - MARK, py(one.value) - MARK, 2 * MARK, 2 * MARK) for one in trades]
        for (x1, y1), (x2, y2) in pairwise(steps):  # the line too keeps numbers away
            pieces = int(hypot(x2 - x1, y2 - y1) // 4) + 1
            taken += [(x1 + (x2 - x1) * i / pieces, y1 + (y2 - y1) * i / pieces, 1, 1) for i in range(pieces)]
        for one in sorted(trades, key=lambda one: one not in line):
            number = f"{names.index(one.name) + 1}"
            bold = one in line
            half = text_width(number, 11) / 2 + 1
            spots = [(px(one.cost) + dx, py(one.value) + dy) for dx, dy in PLACES]
            spots = [(x, y) for x, y in spots if half < x < width - half and y < base - 1] or spots[:1]
            x, y = next(
                (at for at in spots if _free((at[0] - half, at[1] - 9, 2 * half, 10), taken)),
                None if not bold else spots[0],
            ) or (None, None)
            if x is not None:
                taken.append((x - half, y - 9, 2 * half, 10))
                write(ax, x, y, number, size=11, align="center", bold=bold, quiet=not bold)
        top = base + 58
        x = 3
        for shape, text in enumerate(shapes):
            _point(ax, x + 6, top - 4, shape)
            write(ax, x + 16, top, text, size=SMALL)
            x += 34 + text_width(text, SMALL)
        columns = 1 if width <= NARROW else 2
        rows = -(-len(names) // columns)
        for at, name in enumerate(names):
            x, y = 3 + at // rows * width / columns, top + 24 + at % rows * LINE
            on = [f"{one.budget // 1000}k" for one in line if one.name == name]
            write(ax, x + 16, y, f"{at + 1}", size=SMALL, align="right", bold=bool(on))
            write(ax, x + 24, y, name + (f" ({', '.join(on)} on the line)" if on else ""), size=SMALL, bold=bool(on))

    tall = TOP + TALL + 58 + 24
    wide = tall + LINE * -(-len(names) // 2)
    return figure(draw, alt, caption, height=wide, narrow_height=tall + LINE * len(names))


def _point(ax, x, y, shape, gid=None) -> None:
    if shape == 2:
        box(ax, x - MARK, y - MARK, 2 * MARK, 2 * MARK, colour=GROUND, edge=INK, line=1.5, gid=gid)
        return
    (drawn,) = ax.plot([x], [y], "o", markersize=2 * MARK, color=INK, markerfacecolor=(INK, GROUND)[shape], zorder=3)
    drawn.set_markeredgewidth(1.5)
    drawn.set_gid(gid)


def _free(place, taken) -> bool:
    x, y, wide, tall = place
    return all(x + wide <= a or a + c <= x or y + tall <= b or b + d <= y for a, b, c, d in taken)


def _round_costs(low: float, high: float) -> list[int]:
    """Return the round costs between two: 1, 2 and 5 times a power of ten."""
    powers = (10**n for n in range(3, 10))
    return [step * power for power in powers for step in (1, 2, 5) if low <= step * power <= high]
