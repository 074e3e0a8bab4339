"""The charts of chapter 05: each reads what the library computed and draws it, nothing else."""

from __future__ import annotations

from itertools import groupby

from ..errors import InputError
from .strips import QUIET, SMALL, UNIT, box, canvas, draw_key, hatch, key_height, rule, text_width, write
from .svg import INK, LETTER_INKS, NARROW, ROLE_COLOURS, ROLE_LETTERS, WIDE, Figure, figure

PALE = 0.5  # opacity of bars that stand behind the one to look at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..forecast import Sizes
    from ..replay import Trace


def input_units_figure(
    traces: Sequence[Trace],
    *,
    unit: str = UNIT,
    alt: str = "",
    caption: str = "Each request, until its budget is full.",
) -> Figure:
    """Return the input units of each request, one line a trace, with the drop turn of the fact on each."""
    traces = sorted(_checked_traces(traces), key=lambda trace: trace.input_budget)
    parts = [f"{trace.input_budget:,}: {_drop_text(trace)}" for trace in traces]
    alt = alt or (
        f"Input {unit} by turn. All lines rise together; each turns flat below its input budget. "
        f"Budget {'; '.join(parts)}."
    )
    last = max(len(trace) for trace in traces)
    highest = traces[-1].input_budget
    budgets = [trace.input_budget for trace in traces]

    def draw(fig, width, height):
        drops = [trace.gone_at_turn for trace in traces if trace.gone_at_turn]
        ax = axes(fig, width, height, left=48, top=48, right=14, bottom=40)
        ax.set_xlim(0, last)
        ax.set_ylim(0, highest)
        ticks(ax, [1, *drops, last], [0, *budgets])
        axis_names(fig, width, height, "turn", f"input of a request ({unit})", right=14)
        for trace in reversed(traces):
            turns = [row.turn for row in trace.rows]
            rule(
                ax,
                turns,
                [row.input_units for row in trace.rows],
                width=1.5,
                gid=f"cl-line budget={trace.input_budget}",
            )
            _label_above(ax, last, trace.input_budget, f"{trace.input_budget:,}: {_drop_text(trace)}")
            if trace.gone_at_turn:
                at = trace.gone_at_turn
                units = trace.rows[at - 1].input_units
                rule(ax, [at, at], [0, units], dashes=(1, 2), alpha=QUIET)
                ax.plot([at], [units], "o", markersize=6, color=INK, clip_on=False)

    return figure(draw, alt, caption, height=300, narrow_height=300)


def oldest_turn_figure(
    traces: Sequence[Trace], *, alt: str = "", caption: str = "The oldest turn that each request still holds."
) -> Figure:
    """Return the oldest turn kept at each turn, one line a trace, below the line of the turn itself."""
    traces = sorted(_checked_traces(traces), key=lambda trace: trace.input_budget)
    last = max(len(trace) for trace in traces)
    ends = [f"budget {trace.input_budget:,}, turn {trace.rows[-1].oldest_turn_kept}" for trace in traces]
    alt = alt or (
        "The oldest turn that a request still holds, by turn. Each line stays at turn 1 and then climbs beside the "
        f"diagonal of the current turn. At turn {last}: {'; '.join(ends)}."
    )

    def draw(fig, width, height):
        ax = axes(fig, width, height, left=34, top=38, right=108, bottom=40)
        ax.set_xlim(0, last)
        ax.set_ylim(0, last)
        marks = [1, *range(50, last - 10, 50), last]
        ticks(ax, marks, marks)
        axis_names(fig, width, height, "turn", "oldest turn in the request", right=108)
        rule(ax, [1, last], [1, last], width=1, dashes=(2, 2), alpha=QUIET)
        labels = [(last, "this turn", False)]
        for trace in traces:
            oldest = [row.oldest_turn_kept for row in trace.rows]
            rule(ax, [row.turn for row in trace.rows], oldest, width=1.5, gid=f"cl-line budget={trace.input_budget}")
            labels.append((oldest[-1], f"{trace.input_budget:,}: turn {oldest[-1]}", True))
        per_pixel = last / (height - 78)
        floor = float("inf")
        for y, text, bold in sorted(labels, reverse=True):
            floor = min(y, floor - 16 * per_pixel)  # labels keep a line's distance
            weight = "bold" if bold else "normal"
            ax.text(last + 1, floor - 4 * per_pixel, f" {text}", size=SMALL, weight=weight, clip_on=False)

    return figure(draw, alt, caption, height=300, narrow_height=300)


def visible_figure(
    traces: Mapping[str, Sequence[Trace]],
    *,
    fact: str | None = None,
    mark: str = "name",
    alt: str = "",
    caption: str | None = None,
) -> Figure:
    """Return when the fact is in the request, one band a trace, grouped by input budget.

    ``traces``: strategy -> its traces, one for each budget. With ``fact`` (the text) a band also says by what the
    fact is carried: by its message (U), or by a note alone (N). Raises `InputError` for traces without a fact.
    """
    rows = [(trace.input_budget, name, trace) for name, group in traces.items() for trace in _checked_traces(group)]
    if not rows:
        raise InputError("there is no trace to draw: give at least one strategy with one trace")
    for budget, name, trace in rows:
        if trace.rows[0].fact_visible is None:
            raise InputError(f"the trace of {name!r} at {budget} looked for no fact: replay the chat with fact=…")
    budgets = sorted({budget for budget, _, _ in rows})
    groups = [(budget, [(name, trace) for b, name, trace in rows if b == budget]) for budget in budgets]
    last = max(len(trace) for _, _, trace in rows)
    said = "; ".join(
        f"budget {budget:,}: " + ", ".join(f"{name} {trace.turns_visible}" for name, trace in group)
        for budget, group in groups
    )
    alt = alt or f"Bands over {last} turns: turns with the {mark} in the request. {said[:1].upper()}{said[1:]}."
    caption = f"Turns whose request holds the {mark}." if caption is None else caption
    pitch = 22
    label = max(text_width(name, SMALL) for _, name, _ in rows) + 8

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        left = 3 + label
        right = width - 3 - 68
        scale = (right - left) / last
        y = 14
        for budget, group in groups:
            write(ax, 3, y, f"input budget {budget:,}", bold=True, size=SMALL)
            y += 8
            for name, trace in group:
                write(ax, 3, y + 13, name, size=SMALL, quiet=True)
                x = left
                for (visible, carrier), turns in groupby(_carriers(trace, fact)):
                    length = len(list(turns))
                    gid = f"cl-band visible={int(visible)} turns={length}"
                    if visible:
                        box(ax, x, y, length * scale, 16, colour=ROLE_COLOURS[carrier], gid=gid)
                        if fact is not None and length * scale > 17:
                            letter, ink = ROLE_LETTERS[carrier], LETTER_INKS[carrier]
                            write(ax, x + 9, y + 12.5, letter, size=SMALL, align="center", bold=True, colour=ink)
                    else:
                        hatch(ax, x, y, length * scale, 16)
                        edge = ROLE_COLOURS["dropped"]
                        box(ax, x, y, length * scale, 16, colour="none", edge=edge, line=0.75, gid=gid)
                    x += length * scale
                write(ax, right + 8, y + 13, f"{trace.turns_visible} of {len(trace)}", size=SMALL)
                y += pitch
            y += 20
        y -= 16
        rule(ax, [left, right], [y, y])
        for turn in [1, *range(50, last - 10, 50), last]:
            x = left + (turn - 0.5) * scale
            rule(ax, [x, x], [y, y + 4])
            write(ax, x, y + 17, f"{turn}", size=SMALL, align="center")
        write(ax, 3, y + 17, "turn", size=SMALL, quiet=True)
        draw_key(ax, y + 34, entries, width)

    used = {carrier for _, _, trace in rows for visible, carrier in _carriers(trace, fact) if visible}
    labels = {"user": "in the message" if fact else "in the request", "note": "in a note", "dropped": "not sent"}
    entries = [(role, label) for role, label in labels.items() if role in used or role == "dropped"]
    wide, narrow = (
        sum(28 + pitch * len(group) for _, group in groups) + 34 + key_height(entries, w) for w in (WIDE, NARROW)
    )
    return figure(draw, alt, caption, height=wide, narrow_height=narrow)


def _carriers(trace: Trace, fact: str | None) -> list[tuple[bool, str]]:
    """Return for each turn whether the fact is visible, and the role of what carries it."""
    if fact is None:
        return [(row.fact_visible, "user") for row in trace.rows]
    holders = {i for i, message in enumerate(trace.chat.history.messages) if fact in message.text}
    return [
        (row.fact_visible, "note" if row.fact_visible and holders.isdisjoint(kept.indices) else "user")
        for row, kept in zip(trace.rows, trace.kept, strict=True)
    ]


def forecast_error_figure(
    rows: Sequence[Sequence[int]],
    *,
    names: Sequence[str] = ("published", "corrected", "unbiased"),
    alt: str = "",
    caption: str | None = None,
) -> Figure:
    """Return the errors of the forecasts as small multiples of bars: one row a forecast, one column a budget.

    ``rows``: ``(seed, input budget, drop turn, forecast, …)``, with one forecast for each of ``names``; a drop turn
    of None (never) is left out. Raises `InputError` without rows.
    """
    rows = [row for row in rows if row[2] is not None]
    if not rows:
        raise InputError("there is no forecast to draw: give rows of (seed, input budget, drop turn, forecasts …)")
    budgets = sorted({row[1] for row in rows})
    errors = {
        (name, budget): [row[3 + i] - row[2] for row in rows if row[1] == budget]
        for i, name in enumerate(names)
        for budget in budgets
    }
    reach = max(2, min(4, max(abs(e) for group in errors.values() for e in group)))
    values = range(-reach, reach + 1)
    seeds = len({row[0] for row in rows})
    shares = {
        key: {v: sum(min(max(e, -reach), reach) == v for e in group) / len(group) for v in values}
        for key, group in errors.items()
    }
    said = " ".join(
        f"{name.capitalize()}: "
        + ", ".join(
            f"{_percent(shares[name, b][0])} exact and mean {_signed(_mean(errors[name, b]))} at {b:,}" for b in budgets
        )
        + "."
        for name in names
    )
    alt = alt or f"Bars of forecast error in turns over {seeds:,} seeds. {said}"
    caption = f"Forecast minus exact drop turn, in turns, over {seeds:,} seeds." if caption is None else caption
    top = max(max(group.values()) for group in shares.values())

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        left = 0 if narrow else 92
        cell = (width - left - 6) / len(budgets)
        bar = cell * (0.72 if narrow else 0.88) / len(values)
        pitch, tall = (140, 64) if narrow else (126, 64)
        for j, budget in enumerate(budgets):
            text = f"{budget:,}" if j or narrow else f"budget {budget:,}"
            write(ax, 3 + left + (j + 0.5) * cell, 14, text, size=SMALL, align="center", bold=True)
        for i, name in enumerate(names):
            base = 32 + (18 if narrow else 0) + i * pitch + tall
            write(ax, 3, base - tall - 8 if narrow else base - 2, name, bold=True)
            for j, budget in enumerate(budgets):
                middle = 3 + left + (j + 0.5) * cell
                share = shares[name, budget]
                rule(ax, [middle - bar * (reach + 0.5), middle + bar * (reach + 0.5)], [base, base], alpha=QUIET)
                for v in values:
                    if share[v]:
                        size = share[v] * tall / top
                        gid = f"cl-bar error={v} share={share[v]:.4f}"
                        x = middle + (v - 0.5) * bar + 0.75
                        box(ax, x, base - size, bar - 1.5, size, colour=INK, alpha=None if v == 0 else PALE, gid=gid)
                for v in (-reach, 0, reach):
                    write(ax, middle + v * bar, base + 14, _signed(v, 0), size=11, align="center", quiet=True)
                write(ax, middle, base + 30, f"{_percent(share[0])} exact", size=SMALL, align="center", bold=True)
                mean = f"mean {_signed(_mean(errors[name, budget]))}"
                write(ax, middle, base + 45, mean, size=SMALL, align="center", quiet=True)

    return figure(draw, alt, caption, height=32 + 126 * 3 - 12, narrow_height=50 + 140 * 3 - 26)


def two_causes_figure(
    sizes: Sizes,
    early: float = 1,
    *,
    alt: str = "",
    caption: str = "Two causes of about equal weight; rounding takes some back.",
) -> Figure:
    """Return why the published forecast comes ``early`` turns early: its two causes in turns, rounding as the rest.

    ``sizes``: what `contextlab.forecast.sizes` measured. ``early``: exact drop turn minus published forecast.
    Raises `InputError` when the forecast is late.
    """
    if early < 0:
        raise InputError(f"`early` is how many turns too early the forecast is, at least 0, not {early}")
    short = (sizes.mean_turn - sizes.first_turn) / sizes.mean_turn
    reply = (sizes.mean_turn - sizes.mean_user) / sizes.mean_turn
    bars = [
        ("turn 1 is short", short),
        ("the current reply is charged", reply),
        ("rounding", early - short - reply),
    ]
    alt = alt or (
        f"Why the forecast is {early:g} turn early: turn 1 is short, {short:.2f} of a turn; "
        f"the reply of the current turn is charged, {reply:.2f}; rounding, {_signed(early - short - reply, 2)}."
    )

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        column = 0 if narrow else 196
        pitch = 44 if narrow else 32
        scale = (width - column - 88) / max(short + reply, early, 1)
        left = column + 6
        x, y = left, 6 + (18 if narrow else 0)
        for i, (name, turns) in enumerate(bars):
            write(ax, 3, y - 5 if narrow else y + 15, name)
            size = abs(turns) * scale
            start = x if turns >= 0 else x - size
            gid = f"cl-cause turns={turns:.4f}"
            if i == 2:
                hatch(ax, start, y, size, 20)
                box(ax, start, y, size, 20, colour="none", edge=ROLE_COLOURS["dropped"], line=0.75, gid=gid)
            else:
                box(ax, start, y, size, 20, colour=INK, alpha=PALE, gid=gid)
            write(ax, start + size + 6, y + 15, f"{_signed(turns, 2)} turn", bold=True)
            x += turns * scale
            if not narrow:
                rule(ax, [x, x], [y + 20, y + pitch], alpha=QUIET)
            y += pitch
        write(ax, 3, y - 5 if narrow else y + 15, "forecast too early by", bold=True)
        box(ax, left, y, early * scale, 20, colour="none", edge=INK, line=1.5, gid=f"cl-cause turns={early:.4f}")
        write(ax, left + early * scale + 6, y + 15, f"{early:g} turn" + "s" * (early != 1), bold=True)

    return figure(draw, alt, caption, height=6 + 32 * 3 + 28, narrow_height=24 + 44 * 3 + 28)


def axes(fig, width, height, *, left, top, right, bottom):
    """Return axes with these margins in pixels."""
    return fig.add_axes(
        [left / width, bottom / height, (width - left - right) / width, (height - top - bottom) / height]
    )


def ticks(ax, xs, ys) -> None:
    """Put ticks where the data has something to say."""
    ax.set_xticks(xs, [f"{x:,}" for x in xs])
    ax.set_yticks(ys, [f"{y:,}" for y in ys])


def axis_names(fig, width, height, x_name, y_name, right: float = 8) -> None:
    """Name the axes in horizontal text: the vertical one above it, the horizontal one below its end."""
    fig.text(3 / width, 1 - 14 / height, y_name, size=SMALL, alpha=QUIET, va="baseline")
    fig.text(1 - right / width, 4 / height, x_name, size=SMALL, alpha=QUIET, ha="right", va="baseline")


def _label_above(ax, x, y, text) -> None:
    ax.annotate(text, (x, y), (0, 5), textcoords="offset points", size=SMALL, weight="bold", ha="right", va="baseline")


def _drop_text(trace: Trace) -> str:
    at = trace.gone_at_turn
    return "the name never leaves" if at is None else f"drop turn {at}"


def _checked_traces(traces: Sequence[Trace]) -> list[Trace]:
    traces = list(traces)
    if not traces:
        raise InputError("there is no trace to draw: give at least one")
    return traces


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _signed(number: float, digits: int = 1) -> str:
    text = f"{number:+.{digits}f}"
    return "0" if not float(text) and not digits else text.replace("-", "−")
