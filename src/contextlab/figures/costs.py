"""The figures of chapters 06 and 08: what is sent again, what is computed again, and a published measurement."""

from __future__ import annotations

from ..errors import InputError
from .charts import axes, axis_names, ticks
from .strips import QUIET, SMALL, UNIT, box, canvas, rule, text_width, write
from .svg import GROUND, INK, NARROW, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..cost import Usage

FAINT = 0.16  # opacity of what is there already: sent before, found in a cache


def resent_figure(
    turns: int = 10,
    per_turn: int = 200,
    *,
    unit: str = "tokens",
    alt: str = "",
    caption: str = "Each request sends everything so far again.",
) -> Figure:
    """Return the requests of a chat as a staircase of equal turns: in each the newest turn solid, the others faint.

    Raises:
        InputError: a number is below 1, or there are too many turns to tell the rows apart.

    >>> resent_figure(3, 200)
    Figure: Three rows of blocks, one a request. Row 3 has 3 turns of 200 tokens, 2 of them sent before. In all 6 ...
    """
    if not (1 <= turns <= 24 and per_turn >= 1):
        raise InputError(f"1 to 24 turns of at least 1 unit can be drawn, not {turns} of {per_turn}")
    blocks = turns * (turns + 1) // 2
    count = {2: "Two", 3: "Three", 10: "Ten"}.get(turns, f"{turns}")
    alt = alt or (
        f"{count} rows of blocks, one a request. Row {turns} has {turns} turns of {per_turn:,} {unit}, {turns - 1} of "
        f"them sent before. In all {blocks} blocks, {blocks * per_turn:,} {unit}."
    )
    pitch, tall = 20, 15

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        left = 24 if narrow else 82
        right = width - 60
        cell = (right - left) / turns
        write(ax, 3, 14, "request", size=SMALL, quiet=True)
        write(ax, width - 3, 14, unit, size=SMALL, quiet=True, align="right")
        for row in range(1, turns + 1):
            y = 22 + (row - 1) * pitch
            write(ax, 18 if narrow else 52, y + 12, f"{row}", size=SMALL, align="right")
            for turn in range(row):
                gid = f"cl-turn request={row} turn={turn + 1}"
                alpha = None if turn == row - 1 else FAINT
                box(ax, left + turn * cell + 0.75, y, cell - 1.5, tall, colour=INK, alpha=alpha, gid=gid)
            write(ax, width - 3, y + 12, f"{row * per_turn:,}", size=SMALL, align="right")
        y = 22 + turns * pitch
        rule(ax, [width - 56, width - 3], [y + 1, y + 1], alpha=QUIET)
        total = f"{blocks * per_turn:,}"
        write(ax, width - 3, y + 17, total, size=SMALL, align="right", bold=True)
        square = 13
        write(ax, left + square + 6, y + 17, "new", size=SMALL, quiet=True)
        box(ax, left, y + 6, square, square, colour=INK)
        box(ax, left + 62, y + 6, square, square, colour=INK, alpha=FAINT)
        write(ax, left + 62 + square + 6, y + 17, "sent before", size=SMALL, quiet=True)

    height = 22 + turns * pitch + 26
    return figure(draw, alt, caption, height=height, narrow_height=height)


def running_total_figure(
    lines: Mapping[str, Sequence[float]],
    *,
    y_name: str = f"sent so far ({UNIT})",
    marks: Sequence[tuple[int, float, str]] = (),
    turns: Sequence[int] = (),
    alt: str = "",
    caption: str = "The running total, turn by turn.",
) -> Figure:
    """Return running totals by turn, one line for each name, with the last value at its end.

    Args:
        lines: name -> the total after turn 1, 2, …
        y_name: what is added up, with its unit.
        marks: points to mark: turn, value, text.
        turns: ticks of the turn axis beside the first and the last.

    Raises:
        InputError: there is no line, or lines of different lengths.

    >>> running_total_figure({"small": [1, 2, 3], "large": [1, 3, 6]}, y_name="sent (units)")
    Figure: Running totals by turn: sent (units). After turn 3: small 3; large 6.
    """
    lengths = {len(values) for values in lines.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError("running totals are lines of one length: at least one line, with at least one turn")
    last = lengths.pop()
    said = "; ".join(f"{name} {values[-1]:,.0f}" for name, values in lines.items())
    points = "".join(f" At turn {turn}, {value:,.0f}: {text}." for turn, value, text in marks)
    alt = alt or f"Running totals by turn: {y_name}. After turn {last}: {said}.{points}"
    highest = max(values[-1] for values in lines.values())
    step = _step(highest)
    levels = [step * i for i in range(int(highest / step) + 1)]

    def draw(fig, width, height):
        narrow = width <= NARROW
        label = max(
            max(text_width(name, SMALL), text_width(f"{values[-1]:,.0f}", SMALL)) for name, values in lines.items()
        )
        left, right = 14 + text_width(f"{levels[-1]:,.0f}", SMALL), label + 6
        ax = axes(fig, width, height, left=left, top=36, right=right, bottom=40)
        ax.set_xlim(0, last)
        ax.set_ylim(0, highest)
        ticks(ax, sorted({1, *turns, last}), levels)
        axis_names(fig, width, height, "turn", y_name, right=right)
        per_pixel = highest / (height - 76)
        floor = float("inf")
        for name, values in sorted(lines.items(), key=lambda item: -item[1][-1]):
            rule(ax, range(1, last + 1), values, width=1.75, gid=f"cl-line name={name.replace(' ', '-')}")
            floor = min(values[-1], floor - 34 * per_pixel)  # two lines of text for each
            ax.text(last, floor + 2 * per_pixel, f" {name}", size=SMALL, weight="bold", clip_on=False, va="baseline")
            ax.text(last, floor - 13 * per_pixel, f" {values[-1]:,.0f}", size=SMALL, clip_on=False, va="baseline")
        for turn, value, text in marks:
            ax.plot([turn], [value], "o", markersize=6, color=INK, clip_on=False)
            if not narrow or text_width(text, SMALL) < turn / last * (width - left - right) - 8:
                ax.annotate(
                    text, (turn, value), (-9, 4), textcoords="offset points", size=SMALL, ha="right", va="baseline"
                )

    return figure(draw, alt, caption, height=300, narrow_height=300)


def reuse_figure(
    usages: Mapping[str, Sequence[Usage]],
    *,
    unit: str = UNIT,
    alt: str = "",
    caption: str = "Each request: what the cache held, and what was computed.",
) -> Figure:
    """Return every request of each policy as a thin bar: faint what was cached, solid above it what was computed.

    Raises:
        InputError: there is no policy, or one without a request.

    >>> from contextlab.cost import Usage
    >>> reuse_figure({"append-only": [Usage(1, 20), Usage(2, 40, 30)]})
    Figure: Bars, one a request: faint what was cached, solid what was computed. append-only: 30 of 60 computed.
    """
    if not usages or not all(usages.values()):
        raise InputError("there is no request to draw: give at least one policy with at least one")
    sums = {name: (sum(one.computed for one in used), sum(one.sent for one in used)) for name, used in usages.items()}
    said = "; ".join(f"{name}: {computed:,} of {sent:,} computed" for name, (computed, sent) in sums.items())
    alt = alt or f"Bars, one a request: faint what was cached, solid what was computed. {said}."
    highest = max(one.sent for used in usages.values() for one in used)
    step = _step(highest)
    pitch, tall = 128, 84

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        left = 10 + text_width(f"{step:,.0f}", SMALL)
        right = width - 4
        for row, (name, used) in enumerate(usages.items()):
            top = 24 + row * pitch
            base = top + tall
            computed, sent = sums[name]
            write(ax, 3, top - 10, name, bold=True, size=SMALL)
            note = f"computed: {computed:,} of {sent:,}" if width > NARROW else f"{computed:,} computed"
            write(ax, right, top - 10, note, size=SMALL, align="right", quiet=True)
            each = (right - left) / len(used)
            scale = tall / highest
            for level in (0, step):
                write(ax, left - 7, base - level * scale + 4, f"{level:,.0f}", size=11, align="right", quiet=True)
                rule(ax, [left - 4, left], [base - level * scale] * 2, alpha=QUIET)
            cached = [one.cached for one in used]
            stacked(ax, left, base, each, scale, [0] * len(used), cached, FAINT, f"cl-area part=cached row={row}")
            stacked(
                ax,
                left,
                base,
                each,
                scale,
                cached,
                [one.sent for one in used],
                None,
                f"cl-area part=computed row={row}",
            )
            rule(ax, [left, right], [base, base])
        for turn in (1, len(used)):
            x = left + (turn - 0.5) * each
            write(ax, x, base + 16, f"{turn}", size=SMALL, align="center" if turn == 1 else "right")
        write(ax, (left + right) / 2, base + 16, "request", size=SMALL, align="center", quiet=True)
        y = base + 26
        box(ax, 3, y, 13, 13, colour=INK, alpha=FAINT)
        write(ax, 22, y + 11, "cached", size=SMALL, quiet=True)
        box(ax, 84, y, 13, 13, colour=INK)
        write(ax, 103, y + 11, f"computed ({unit})", size=SMALL, quiet=True)

    height = 24 + pitch * (len(usages) - 1) + tall + 48
    return figure(draw, alt, caption, height=height, narrow_height=height)


def stacked(ax, left, base, each, scale, low, high, alpha, gid, colour=INK) -> None:
    """Fill between two rows of steps; each value is as wide as a request."""
    from matplotlib.patches import Polygon

    def steps(values):
        corners = []
        for i, value in enumerate(values):
            corners += [(left + i * each, base - value * scale), (left + (i + 1) * each, base - value * scale)]
        return corners

    ax.add_patch(Polygon([*steps(high), *reversed(steps(low))], closed=True, facecolor=colour, alpha=alpha, gid=gid))


def chain_figure(
    requests: Sequence[tuple[str, Sequence[str], Sequence[str], int]],
    block_size: int = 4,
    *,
    alt: str = "",
    caption: str = "Faint: found in the cache. Solid: computed.",
) -> Figure:
    """Return requests as rows of short tokens in blocks, with the link of each full block below it.

    Args:
        requests: label, tokens, the links of the full blocks, and how many of the blocks were found in the cache.
        block_size: tokens in a block.

    Raises:
        InputError: there is no request, or one with other than one link for each full block.

    >>> chain_figure([("first", ["the", "cat", "sat"], ["a1"], 0), ("again", ["the", "cat", "ran"], ["a1"], 1)], 2)
    Figure: Rows of tokens in blocks of 2. first: 0 of 3 tokens found; again: 2 of 3 tokens found.
    """
    if not requests or any(len(links) != len(tokens) // block_size for _, tokens, links, _ in requests):
        raise InputError("a row has one link for each full block; there is at least one row")
    said = "; ".join(f"{name}: {hits * block_size} of {len(tokens)} tokens found" for name, tokens, _, hits in requests)
    alt = alt or f"Rows of tokens in blocks of {block_size}. {said}."
    most = max(len(tokens) for _, tokens, _, _ in requests)
    pitch, tall = 78, 26

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        cell = min((width - 6) / most, 52)
        for row, (name, tokens, links, hits) in enumerate(requests):
            y = 22 + row * pitch
            write(ax, 3, y - 7, name, bold=True, size=SMALL)
            for start in range(0, len(tokens), block_size):
                block = tokens[start : start + block_size]
                index = start // block_size
                found = index < hits
                x, wide = 3 + start * cell, len(block) * cell
                gid = f"cl-block row={row} index={index} found={int(found)}"
                box(ax, x + 1, y, wide - 2, tall, colour=INK, alpha=FAINT if found else None, gid=gid)
                for i, token in enumerate(block):
                    ink = INK if found else GROUND
                    size = 10 if narrow else SMALL
                    write(ax, x + (i + 0.5) * cell, y + 17, token, size=size, align="center", colour=ink)
                link = links[index] if index < len(links) else "not full"
                if index < len(links) or not narrow:
                    write(ax, x + wide / 2, y + tall + 15, link, size=11, align="center", quiet=True)

    height = 22 + pitch * len(requests) - 30
    return figure(draw, alt, caption, height=height, narrow_height=height)


def position_effect_figure(
    panels: Sequence[tuple[str, str, Sequence[int], Sequence[float]]],
    *,
    levels: Mapping[str, tuple[float, float]] | None = None,
    alt: str = "",
    caption: str = "Share of right answers by the place of the evidence.",
) -> Figure:
    """Return measured shares of right answers over the position of what was asked for, one panel a model and task.

    Args:
        panels: task, model, positions (the first is 1), and the share of right answers at each, from 0 to 1.
        levels: model -> the shares without any document and with the right document alone, for the first task.

    Raises:
        InputError: there is no panel, or one with a different number of positions and shares.

    >>> position_effect_figure([("20 documents", "a model", [1, 10, 20], [0.7, 0.5, 0.6])])
    Figure: Share of right answers by position. 20 documents, a model: 0.70 at 1, 0.50 at 10, 0.60 at 20.
    """
    if not panels or any(len(positions) != len(shares) for _, _, positions, shares in panels):
        raise InputError("each panel has one share for each position; there is at least one panel")
    levels = levels or {}
    said = "; ".join(
        f"{task}, {model}: "
        + ", ".join(f"{share:.2f} at {place}" for place, share in zip(positions, shares, strict=True))
        for task, model, positions, shares in panels
    )
    first_task = panels[0][0]
    lines = "".join(
        f" {model}: {closed:.2f} without documents and {alone:.2f} with the right one alone, as dashed lines."
        for model, (closed, alone) in levels.items()
    )
    alt = alt or f"Share of right answers by position. {said}.{lines}"
    tasks = list(dict.fromkeys(task for task, *_ in panels))
    pitch, tall = 172, 104

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        columns = 1 if narrow else len(tasks)
        wide = (width - 6) / columns
        rows = dict.fromkeys(tasks, 0)
        for number, (task, model, positions, shares) in enumerate(panels):
            row, column = (number, 0) if narrow else (rows[task], tasks.index(task))
            rows[task] += 1
            left, top = 3 + column * wide, 46 + row * pitch
            right, base = left + wide - 34, top + tall
            write(ax, left, top - 30, model, bold=True, size=SMALL)
            write(ax, left, top - 15, task, size=SMALL, quiet=True)
            low, high = positions[0], positions[-1]
            ceiling = levels[model][1] if task == first_task and model in levels else 0
            begin = left + 26

            def px(place, begin=begin, right=right, low=low, high=high):
                return begin + (place - low) / (high - low) * (right - begin - 12)

            for share in (0, 1):
                write(ax, left + 6, base - share * tall + 4, f"{share}", size=11, align="center", quiet=True)
                rule(ax, [left + 14, right + 4], [base - share * tall] * 2, alpha=1 if share == 0 else FAINT)
            if ceiling:
                for share, text in zip(levels[model], ("none", "alone"), strict=True):
                    y = base - share * tall
                    rule(ax, [left + 14, right + 4], [y, y], dashes=(3, 2), alpha=QUIET)
                    write(ax, right + 6, y + 4, text, size=10, quiet=True)
            rule(
                ax,
                [px(place) for place in positions],
                [base - share * tall for share in shares],
                width=1.75,
                gid=f"cl-line panel={number}",
            )
            for place, share in zip(positions, shares, strict=True):
                ax.plot([px(place)], [base - share * tall], "o", markersize=5, color=INK, clip_on=False)
                below = share > 0.88 or 0 < ceiling - share < 0.2
                y = base - share * tall + (17 if below else -8)
                write(ax, px(place), y, f"{share:.2f}", size=11, align="center")
                write(ax, px(place), base + 15, f"{place}", size=11, align="center", quiet=True)

    rows = max(sum(task == one for one, *_ in panels) for task in tasks)
    wide_height, narrow_height = 46 + pitch * (rows - 1) + tall + 22, 46 + pitch * (len(panels) - 1) + tall + 22
    return figure(draw, alt, caption, height=wide_height, narrow_height=narrow_height)


def _step(highest: float) -> int:
    """Return a round whole step that divides an axis up to ``highest`` into two to five parts."""
    step = 1
    while step * 10 <= highest:
        step *= 10
    return max(next((step * factor for factor in (5, 2, 1) if highest >= 2 * step * factor), step // 2), 1)
