"""The explorers of chapters 06 and 08: what a conversation sends and costs, and where to cut."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

BUDGETS = (2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000)
MARK_BUDGETS = (2000, 4000, 8000, 16_000, 32_000)
MARKS = (25, 40, 50, 60, 75, 90, 100)
SHORT = ("none", "the same", "a clock")
LINES = ("no line on top", "the same line in each request", "a clock: another line in each request")


def cost_explorer(
    *,
    title: str = "What a conversation sends and costs",
    question: str = "Move a slider. Every turn is of the same size; keep-newest leaves out what does not fit.",
) -> Explorer:
    """Return the explorer of the closed forms: sent, computed and billed over equal turns under keep-newest.

    Returns:
        An explorer; `settings` holds `turns`, `per_turn`, `budget` and `price` (percent).
    """

    def oracle(turns: int, per_turn: int, budget: int, price: int) -> dict:
        sizes = [min(turn * per_turn, budget) for turn in range(1, turns + 1)]
        computed = sum(per_turn if turn * per_turn <= budget else budget for turn in range(1, turns + 1))
        sent = sum(sizes)
        return {"sent": sent, "computed": computed, "billed": computed + Fraction((sent - computed) * price, 100)}

    rows = []
    for turns, per_turn, budget in (
        (140, 230, 4000),
        (140, 230, 32_000),
        (200, 230, 4000),
        (200, 230, 32_000),
        (200, 230, 128_000),
        (400, 230, 32_000),
        (200, 460, 32_000),
    ):
        values = oracle(turns, per_turn, budget, 10)
        rows.append([*map(grouped, (turns, per_turn, budget)), *(grouped(round(value)) for value in values.values())])
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("turns", "Turns", 10, 400, 10, "", 200),
            Control("per_turn", "Size of a turn", 50, 600, 10, "", 230),
            Control("budget", "Input budget", start=4000, values=BUDGETS),
            Control("price", "Price of cached input", 0, 100, 5, "%", 10),
        ],
        formulas={
            "grow": "min(turns, budget // per_turn)",
            "full": "turns - grow",
            "sent": "grow * (grow + 1) / 2 * per_turn + full * budget",
            "computed": "grow * per_turn + full * budget",
            "billed": "computed + (sent - computed) * price / 100",
            "first": "grow + 1",
        },
        oracle=oracle,
        digits={"billed": 0},
        sentences=[
            (
                "full == 0",
                "Nothing is left out: each of the {turns} requests computes its own turn, {computed} units in all. "
                "The bill is {billed}.",
            ),
            "From request {first} on every request is full and is computed as a whole. {sent} units are sent and "
            "{billed} are billed.",
        ],
        draw={
            "type": "bars",
            "unit": "units",
            "bars": [
                {"name": "sent", "label": "Sent", "digits": 0},
                {"name": "computed", "label": "Computed", "digits": 0},
                {"name": "billed", "label": "Billed, in units at the full price", "digits": 0},
            ],
        },
        table={
            "head": ["Turns", "Size of a turn", "Input budget", "Sent", "Computed", "Billed at a tenth"],
            "rows": rows,
        },
    )


@cache
def _lab():
    from contextlab.render import PlainRule
    from contextlab.replay import CountedChat
    from contextlab.script import scripted_chat
    from contextlab.tokens import WordPieces

    return CountedChat(scripted_chat(), PlainRule(WordPieces()))


def clock(request: int) -> str:
    """Return the line of the chapter that differs in each request: the time, two minutes later each time."""
    minutes = 9 * 60 + 2 * request
    return f"It is {minutes // 60}:{minutes % 60:02d}."


def marked(budget: int, mark: int, line: int) -> tuple:
    """Return sent, share cached in percent, computed, billed, cuts, mean messages and drop turn of the lab."""
    from contextlab.keep import Beside, Line
    from contextlab.prefix import reuse
    from contextlab.replay import replay
    from contextlab.script import NAME

    parts = ([], [Line("Answer in short sentences, please.")], [Line(clock)])[line]
    trace = replay(_lab(), Beside(*parts, mark=mark / 100), input_budget=budget, fact=NAME)
    (row,) = reuse({"": trace})
    starts = [kept.indices.start for kept in trace.kept]
    cuts = sum(before != after for before, after in pairwise(starts))
    share, messages = round(100 * row.hit_rate, 1), round(row.messages, 1)
    return row.sent, share, row.computed, round(row.billed), cuts, messages, row.drop_turn


def mark_explorer(
    *,
    title: str = "Where to cut",
    question: str = "When the history does not fit, it is cut to the mark, a share of the room. At 100 % this is "
    "keep-newest.",
) -> Explorer:
    """Return the explorer of the low-water mark over the 200-turn chat: budget, mark, and a line on top.

    Returns:
        An explorer; `settings` holds `budget`, `mark` (percent) and `line` (0: none, 1: fixed, 2: a clock).
    """
    rows = []
    for budget, mark, line in (
        (4000, 100, 0),
        (4000, 50, 0),
        (4000, 25, 0),
        (4000, 50, 1),
        (4000, 50, 2),
        (8000, 50, 0),
    ):
        _, share, computed, _, cuts, messages, _ = marked(budget, mark, line)
        cells = (f"{share} %", grouped(computed), str(cuts), f"{messages}")
        rows.append([grouped(budget), f"{mark} %", SHORT[line], *cells])
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("budget", "Input budget", start=4000, values=MARK_BUDGETS),
            Control("mark", "Mark", start=50, values=MARKS, labels=[f"{mark} % of the room" for mark in MARKS]),
            Control("line", "Line on top", start=0, values=(0, 1, 2), labels=LINES),
        ],
        table_of=(
            ("budget", "mark", "line"),
            ("sent", "share", "computed", "billed", "cuts", "messages", "gone"),
            marked,
        ),
        digits={"share": 1, "messages": 1},
        sentences=[
            "{cuts} cuts. {share} % of what is sent is cached. A request shows {messages} messages on average, and the "
            "name is missing from request {gone} on.",
        ],
        draw={
            "type": "bars",
            "unit": "units",
            "bars": [
                {"name": "sent", "label": "Sent", "digits": 0},
                {"name": "computed", "label": "Computed", "digits": 0},
                {"name": "billed", "label": "Billed, cached at a tenth", "digits": 0},
            ],
        },
        table={
            "head": ["Budget", "Mark", "Line on top", "Cached", "Computed", "Cuts", "Messages"],
            "rows": rows,
        },
    )
