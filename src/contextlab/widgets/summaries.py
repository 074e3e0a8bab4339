"""The explorer of chapter 10: how often a summary is written anew, what that reads, and what survives."""

from __future__ import annotations

from functools import cache

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

BUDGETS = (2000, 4000, 8000, 16_000)
MARKS = (100, 90, 75, 50, 25)
LOSSES = (0, 1, 2, 5, 10, 20)
SEEDS = 20


@cache
def _lab():
    from contextlab.render import PlainRule
    from contextlab.replay import CountedChat
    from contextlab.script import scripted_chat
    from contextlab.tokens import WordPieces

    return CountedChat(scripted_chat(), PlainRule(WordPieces()))


@cache
def written(budget: int, mark: int) -> tuple:
    """Return calls, units read and written, units computed for the chat and mean messages, for the lab's rule."""
    from contextlab.cost import total, usage
    from contextlab.keep import Beside
    from contextlab.replay import replay
    from contextlab.summary import FactsThenTopics, Summarised
    from contextlab.tokens import WordPieces

    part = Summarised(FactsThenTopics(WordPieces()))
    trace = replay(_lab(), Beside(part, mark=mark / 100), input_budget=budget)
    calls, read, wrote, _ = part.rolling.spent
    return calls, read, wrote, total(usage(trace)).computed, round(trace.mean_messages_kept, 1)


@cache
def left(loss: int, rewrites: int) -> tuple:
    """Return of 100 facts how many a rewriter that loses ``loss`` percent leaves: mean, least, most of 20 runs."""
    from contextlab.summary import drift

    runs = [round(100 * drift(loss / 100, rewrites, seed=seed)[-1]) for seed in range(1, SEEDS + 1)]
    return round(sum(runs) / SEEDS, 1), min(runs), max(runs)


def kept_up(budget: int, mark: int, loss: int) -> tuple:
    """Return what `written` returns, with computed and read together, and what is left of 100 facts of the first turn.

    The first call writes the facts down; each later one may lose some.
    """
    calls, read, wrote, computed, messages = written(budget, mark)
    return calls, read, wrote, computed, computed + read, messages, *left(loss, calls - 1)


def summary_explorer(
    *,
    title: str = "How often to write it anew",
    question: str = "The chat of 200 turns with a summary. When the history does not fit, it is cut to the mark and "
    "the summary is written anew. At each rewrite each fact is lost with the "
    "probability that you set.",
) -> Explorer:
    """Return the explorer of a rolling summary over the 200-turn chat: budget, mark, loss at a rewrite.

    Returns:
        An explorer; `settings` holds `budget`, `mark` and `loss` (percent).
    """
    rows = []
    for budget, mark, loss in (
        (4000, 100, 2),
        (4000, 75, 2),
        (4000, 50, 2),
        (4000, 25, 2),
        (4000, 50, 5),
        (4000, 50, 10),
        (8000, 50, 5),
        (16_000, 50, 5),
    ):
        calls, read, _, _, both, messages, mean, *_ = kept_up(budget, mark, loss)
        counts = [grouped(value) for value in (calls, read, both)]
        rows.append([grouped(budget), f"{mark} %", f"{loss} %", *counts, f"{messages}", f"{mean}"])
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("budget", "Input budget", start=4000, values=BUDGETS, unit="units"),
            Control("mark", "Mark", start=50, values=MARKS, labels=[f"{mark} % of the room" for mark in MARKS]),
            Control("loss", "Loss at a rewrite", start=5, values=LOSSES, labels=[f"{loss} %" for loss in LOSSES]),
        ],
        table_of=(
            ("budget", "mark", "loss"),
            ("calls", "read", "written", "computed", "both", "messages", "left", "least", "most"),
            kept_up,
        ),
        digits={"messages": 1, "left": 1},
        sentences=[
            "{calls} calls read {read} units and write {written}. A request shows {messages} messages on average. Of "
            "100 facts said in turn 1, {left} are left at the end on average: {least} to {most} in 20 runs.",
        ],
        draw={
            "type": "bars",
            "unit": "units",
            "bars": [
                {"name": "computed", "label": "Computed for the chat", "digits": 0},
                {"name": "read", "label": "Read by the summariser", "digits": 0},
                {"name": "both", "label": "Together", "digits": 0},
            ],
        },
        table={
            "head": ["Budget", "Mark", "Loss", "Calls", "Read", "Computed and read", "Messages", "Facts left of 100"],
            "rows": rows,
        },
    )
