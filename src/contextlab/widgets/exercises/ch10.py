"""Chapter 10: a summary of bounded size, what it costs to keep up, and what it loses."""

from __future__ import annotations

from functools import cache

from contextlab.chat import Message
from contextlab.cost import Prices, summary_break_even
from contextlab.errors import BudgetError, ContextOverflow
from contextlab.keep import History
from contextlab.summary import RollingSummary, drift, survival

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong
from ..summaries import written

PRICES = Prices(1, cached=0.1, output=5)
SEEDS = 20
DESIGNS = ((100, 1), (50, 2), (75, 5), (25, 10))  # mark in percent, loss at a rewrite in percent


@cache
def measured(facts: int, rewrites: int, loss: int) -> int:
    """Return how many facts are left on average over the seeds of the chapter."""
    runs = [drift(loss / 100, rewrites, facts, seed=seed)[-1] for seed in range(1, SEEDS + 1)]
    return round(facts * sum(runs) / SEEDS)


def survivors(calls: int, loss: int) -> float:
    """Return the percentage of the facts of the first call that the last call leaves."""
    return round(100 * survival(loss / 100, calls - 1), 1)


def pays_after(old: int, new: int, prompt: int, rest: int, cached: bool = True) -> int:
    return summary_break_even(old, new, prompt=prompt, rest=rest, cached=cached, prices=PRICES)


def designs() -> list[float]:
    """Return what each design of exercise 10-3 leaves of the facts of turn 1."""
    return [survival(loss / 100, written(4000, mark)[0] - 1) for mark, loss in DESIGNS]


def first_kept(sizes, notes, room):
    """Return the first message kept beside a note whose size follows from what has left, or None."""
    for first in range(len(sizes)):
        if notes[first] + sum(sizes[first:]) <= room:
            return first
    return None


def by_the_library(sizes, notes, room):
    """Return the same from the policy of the library, with a summary whose sizes are given."""

    class Given(RollingSummary):
        def header(self, history, start):
            self._header = (Message("system", "x" * notes[start]),) if start else ()
            return self._header

    policy = Given(reserve=max(notes), as_used=True)
    policy.start(room)
    history = History([Message("user", "x" * size) for size in sizes], lambda message: len(message.text))
    try:
        return policy.select(history).indices.start
    except (BudgetError, ContextOverflow):
        return None


def note_from_before(sizes, notes, room):
    return first_kept(sizes, [0, *notes[:-1]], room)


def largest_note(sizes, notes, room):
    return first_kept(sizes, [max(notes)] * len(sizes), room)


def without_note(sizes, notes, room):
    return first_kept(sizes, [0] * len(sizes), room)


def no_exact_fit(sizes, notes, room):
    return first_kept(sizes, notes, room - 1)


def never_none(sizes, notes, room):
    first = first_kept(sizes, notes, room)
    return len(sizes) if first is None else first


EXERCISES = (
    Predict(
        "10-p",
        "Twenty rewrites",
        "How many of the {facts} facts are left after {rewrites} rewrites, on average over 20 runs?",
        unit="facts",
        operands={
            "facts": 100,
            "rewrites": 20,
            "loss": 5,
            "stay": 95,
            "closed": round(100 * survival(0.05, 20), 1),
            "first": round(100 * survival(0.05, 1), 2),
            "second": round(100 * survival(0.05, 2), 2),
            "tenth": round(100 * survival(0.05, 10)),
        },
        right=lambda facts, rewrites, loss: measured(facts, rewrites, loss),
        tolerance=4,
        wrong=(
            Wrong(
                "M6",
                lambda facts, rewrites, loss: max(0, facts - facts * loss * rewrites // 100),
                "{given} adds the losses up. But a rewrite loses a share of what is still there, and a fact that is "
                "gone is not lost again.",
            ),
            Wrong("M31", lambda facts, loss: facts - facts * loss // 100, "{given} are left after one rewrite."),
            Wrong(
                "M32",
                lambda facts, rewrites, loss: facts - measured(facts, rewrites, loss),
                "{given} is about the number that is lost.",
            ),
            Wrong("M33", lambda facts, rewrites: facts - rewrites, "{given} loses one fact at each rewrite."),
        ),
        praise="each rewrite leaves {stay} % of what is there, so the loss slows down.",
        sure_miss="You were sure, so do the first steps. Of {facts} facts one rewrite leaves {first}, on average. The "
        "next one loses {loss} % of these, so {second} are left. After ten rewrites there are {tenth}. Each step "
        "multiplies by 0.95: after twenty, {closed} are expected, and {right} were measured.",
        why="Why does the loss slow down? One sentence. Nobody grades it.",
        points=(
            "Each rewrite leaves {stay} % of what is still there.",
            "So the shares multiply: 0.95 to the power of {rewrites}.",
            "This holds because each loss is independent here. The chapter shows what happens when it is not.",
        ),
        solution="{right} are left on average; the formula expects {closed}.",
    ),
    NumberTask(
        "10-q1",
        "Take off what is used",
        "An input budget has {budget} units. Instructions and the start of the reply take {fixed}. The cap of the "
        "summary is {cap}, and it has {used} units now. No further message leaves. How many units are there for the "
        "history, if only what is used is taken off?",
        unit="units",
        right=lambda budget, fixed, used: budget - fixed - used,
        wrong=(
            Wrong("M9", lambda budget, fixed, cap: budget - fixed - cap, "{given} takes off the whole cap."),
            Wrong("S7", lambda budget, fixed: budget - fixed, "{given} leaves the summary out. It is sent too."),
            Wrong("A1", lambda budget, used: budget - used, "{given} leaves out what every request holds."),
            Wrong(
                "S8",
                lambda budget, fixed, cap, used: budget - fixed - cap - used,
                "{given} takes off the cap, and then the summary again. The summary lies within its cap.",
            ),
        ),
        praise="the cap is only a limit.",
        solution="{budget} − {fixed} − {used} = {right}. The cap bounds the summary; it is not taken off.",
        variants=(
            {"budget": 4000, "fixed": 20, "cap": 200, "used": 87},
            {"budget": 8000, "fixed": 350, "cap": 600, "used": 240},
        ),
        quick=True,
    ),
    ChooseTask(
        "10-q2",
        "The server is down",
        "Twelve messages are about to leave, and the call for the summary fails. What does the next request hold?",
        options=(
            Option(
                "The error message as a summary, so that the model knows.",
                "the model would read it as the story of the chat, in every request from now on.",
                "M34",
            ),
            Option(
                "The old summary and the newest messages; the twelve are dropped and forgotten.",
                "the request looks like that at worst. But the twelve wait for the next call: they are pending.",
                "M35",
            ),
            Option(
                "The old summary and the newest messages that fit. What must leave is pending, not lost.",
                "only as much leaves as must, and the next call takes it in.",
                right=True,
            ),
            Option(
                "All messages, until the call works again.",
                "then the request would exceed the budget, and the chat would be down as well.",
                "M36",
            ),
        ),
        solution="A failed call changes nothing. The request is within its budget, and the next call gets what waits.",
        quick=True,
    ),
    NumberTask(
        "10-1",
        "From the first call to the last",
        "A summary is kept up by {calls} calls. The first one writes a fact down without a loss. Each later call loses "
        "it with a probability of {loss} %, independently. With what probability is it in the last summary, in percent "
        "with one decimal?",
        unit="%",
        right=survivors,
        tolerance=0.1,
        wrong=(
            Wrong(
                "M37",
                lambda calls, loss: round(100 * survival(loss / 100, calls), 1),
                "{given} lets all {calls} calls lose it. The first one only writes it down.",
            ),
            Wrong(
                "M6",
                lambda calls, loss: max(0, 100 - (calls - 1) * loss),
                "{given} adds the losses up. A fact has to survive one call and the next, so the "
                "probabilities multiply.",
            ),
            Wrong("M31", lambda loss: 100 - loss, "{given} is the probability for one call."),
            Wrong(
                "M32",
                lambda calls, loss: round(100 - survivors(calls, loss), 1),
                "{given} is the probability that it is lost.",
            ),
        ),
        praise="it goes through {rewrites} rewrites.",
        solution="{rewrites} of the {calls} calls can lose it, and each leaves it with a probability of {stay} %. "
        "{stay} % to the power of {rewrites} is {right} %.",
        hints=(
            "How many of the calls can lose the fact?",
            "{rewrites} can. It has to survive each of them.",
        ),
        variants=tuple(
            {"calls": calls, "loss": loss, "rewrites": calls - 1, "stay": 100 - loss}
            for calls, loss in ((11, 4), (19, 3), (6, 10))
        ),
        step=Step(
            "how many of the {calls} calls can lose the fact?",
            lambda rewrites: rewrites,
            "calls",
            "The first one only writes it down.",
            "{step} calls can lose it. Multiply what each of them leaves.",
        ),
    ),
    NumberTask(
        "10-2",
        "A summary of cached text",
        "The oldest {old} tokens of a request are in the prefix cache, where input costs a tenth of the price of 1. A "
        "written token costs 5. A summary of {new} tokens would take their place; its writer reads them at the full "
        "price, with {prompt} tokens of instructions. Behind them stand {rest} cached tokens, and the first request "
        "after the change reads the summary and these anew, at the full price. After how many requests has it "
        "paid for itself?",
        unit="requests",
        right=pays_after,
        wrong=(
            Wrong(
                "M38",
                lambda old, new, prompt, rest: pays_after(old, new, prompt, rest, cached=False),
                "{given} counts the old text at the full price on each request. It is cached, so that much less is "
                "saved.",
            ),
            Wrong(
                "M7",
                lambda old, new: -(-5 * new * 10 // (old - new)),
                "{given} pays only for the writing. The writer reads the old text too, at the full price.",
            ),
            Wrong(
                "P16",
                lambda old, new, prompt: -(-(prompt + old + 5 * new) * 10 // (old - new)),
                "{given} leaves out that the beginning changes: the summary and what stands behind it are read anew.",
            ),
        ),
        praise="a call of {call}, and {saved} saved on each request.",
        solution="The call costs {prompt} + {old} + 5 × {new} = {writer}. The first request after it pays nine tenths "
        "more for {new} + {rest} tokens: {call} in all. Each request saves a tenth of {old} − {new}: {saved}. That "
        "makes {right} requests.",
        hints=(
            "What does the call cost, reading and writing? And what does the first request after it read anew?",
            "The call costs {call}, the reading anew included. Each request saves {saved}.",
        ),
        variants=tuple(
            {
                "old": old,
                "new": new,
                "prompt": prompt,
                "rest": rest,
                "writer": prompt + old + 5 * new,
                "call": round(prompt + old + 5 * new + 0.9 * (new + rest), 1),
                "saved": round((old - new) / 10, 1),
            }
            for old, new, prompt, rest in ((560, 160, 100, 400), (760, 160, 120, 900), (1100, 200, 150, 1200))
        ),
        step=Step(
            "what does each request save?",
            lambda saved: saved,
            "tokens at the full price",
            "The old text costs a tenth, and so does the summary once it is cached.",
            "{step} is saved on each request. Divide what the call costs by it, and round up.",
        ),
    ),
    OrderTask(
        "10-3",
        "Four designs",
        "The chat of this chapter, 4,000 units. Put the designs in order of the share of the facts of turn 1 that is "
        "still in the last summary. The explorer above helps.",
        items=tuple(f"mark at {mark} % of the room, each rewrite loses {loss} %" for mark, loss in DESIGNS),
        value=designs,
        wrong=(
            Wrong(
                "M39",
                lambda: [-loss for _, loss in DESIGNS],
                "this looks at the loss of one rewrite only. Count the rewrites too.",
            ),
            Wrong(
                "M40",
                lambda: [-written(4000, mark)[0] for mark, _ in DESIGNS],
                "this looks at the number of rewrites only. What each of them loses counts as well.",
            ),
            Wrong("S10", lambda: [-one for one in designs()], "this is the right order, turned around."),
        ),
        praise="the shares are {values}.",
        solution="The calls are {calls}, in the order of the list: {listed}. (1 − p) to the power of calls − 1 gives, "
        "from the least to the greatest, {values}.",
        ends="The design that keeps the least comes first.",
        hints=(
            "For each design: how many calls are there?",
            "A fact has to survive all calls but the first.",
        ),
        variants=(
            {
                "values": ", ".join(f"{100 * one:.0f} %" for one in sorted(designs())),
                "calls": ", ".join(f"{written(4000, mark)[0]}" for mark, _ in DESIGNS),
                "listed": ", ".join(f"mark {mark} %" for mark, _ in DESIGNS),
            },
        ),
    ),
    CodeTask(
        "10-4",
        "A note that grows with what leaves",
        "Write a function `first_kept(sizes, notes, room)`. `sizes` are the units of all messages, oldest first. "
        "`notes[i]` are the units of the summary when the first `i` messages have left; it never shrinks. Return the "
        "index of the first message kept, so that summary and messages fit and as many as possible stay. Return None "
        "when not even the newest message fits beside its summary.",
        name="first_kept",
        lines=(
            "def first_kept(sizes, notes, room):",
            "    for first in range(len(sizes)):",
            Line(
                "        used = □ + sum(sizes[first:])",
                ("max(notes)", "notes[first]", "0"),
                1,
                ("this sets the largest summary aside on every turn.", "", "this leaves the summary out."),
                ("M9", "", "S7"),
            ),
            Line(
                "        if used □ room:",
                ("<", "<="),
                1,
                ("what fits exactly fits.", ""),
                ("S5", ""),
            ),
            "            return first",
            Line(
                "    return □",
                ("len(sizes)", "None"),
                1,
                ("this sends a request without its newest message.", ""),
                ("A8", ""),
            ),
        ),
        reference=by_the_library,
        cases=lambda: [
            ([300, 250, 180, 400, 120], [0, 30, 40, 50, 60], 1250),
            ([300, 250, 180, 400, 120], [0, 30, 40, 50, 60], 740),
            ([300, 250, 180, 400, 120], [0, 30, 40, 50, 60], 570),
            ([300, 250, 180, 400, 120], [0, 30, 40, 50, 60], 569),
            ([100, 100, 100, 100], [0, 40, 60, 90], 340),
            ([100, 100, 100, 100], [0, 40, 60, 90], 260),
            ([100, 100, 100, 100], [0, 40, 60, 90], 259),
            ([100, 100, 100, 100], [0, 40, 60, 90], 189),
            ([100, 100, 100, 100], [0, 40, 60, 90], 100),
            ([50] * 12, [0, *range(10, 120, 10)], 333),
            ([80], [0], 80),
            ([80], [0], 79),
        ],
        wrong=(
            Wrong("M41", note_from_before, "Your function takes off the note from before. It grows when more leaves."),
            Wrong("M9", largest_note, "Your function sets the largest summary aside on every turn."),
            Wrong("S7", without_note, "Your function leaves the summary out. It is sent too."),
            Wrong("S5", no_exact_fit, "Your function drops a message where everything fits exactly."),
            Wrong("A8", never_none, "Your function sends a request without its newest message."),
        ),
        praise="it agrees with the library on all cases.",
        hints=(
            "Try each first message from the oldest on. How large is the summary if it is the first that stays?",
            "Take the first one that fits. The summary belongs to what has left, so ask `notes` again each time.",
        ),
        tip="When one more message leaves, the summary of the messages that left is larger.",
    ),
)
