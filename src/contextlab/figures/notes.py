"""The figures of chapter 11: what a request with tiered notes consists of, and how much of each section is shown."""

from __future__ import annotations

from itertools import groupby

from ..errors import InputError
from .costs import stacked
from .strips import SMALL, UNIT, box, canvas, hatch, rule, text_width, write
from .svg import LETTER_INKS, NARROW, ROLE_COLOURS, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIER_HEIGHTS = {"full": 13, "last points": 7, "one line": 2}  # pixels: a tier is told by its height, not by a colour


def flat_figure(
    requests: Sequence[tuple[int, int, int]],
    everything: Sequence[int],
    *,
    unit: str = UNIT,
    alt: str = "",
    caption: str = "A request with tiered notes, and one with everything.",
) -> Figure:
    """Return the parts of each request, one on the other, and a line for what everything would have cost.

    The axis ends at three times the largest request; the line of everything leaves the figure there.

    Args:
        requests: for each request the units of its instructions, its notes and its messages.
        everything: for each request the units of one in which nothing is left out.

    Raises:
        InputError: fewer than two requests, two lists of different lengths, or units below 0.

    >>> flat_figure([(5, 0, 4), (5, 3, 6)], [9, 20])
    Figure: Parts of a request, 1 to 2, stacked. Instructions 5; notes 0 to 3; messages 4 to 6; together 9 to 14. ...
    """
    if len(requests) < 2 or len(requests) != len(everything):
        raise InputError("at least two requests are drawn, and everything has one number for each of them")
    if min(map(min, requests)) < 0:
        raise InputError("the units of a part are at least 0")
    sums = [sum(parts) for parts in requests]
    least, most = ([f"{edge(column):,}" for column in zip(*requests, strict=True)] for edge in (min, max))
    spans = [low if low == high else f"{low} to {high}" for low, high in zip(least, most, strict=True)]
    named = "; ".join(f"{name} {span}" for name, span in zip(("Instructions", "notes", "messages"), spans, strict=True))
    top = 3 * max(sums)
    alt = alt or (
        f"Parts of a request, 1 to {len(requests)}, stacked. {named}; together {min(sums):,} to {max(sums):,}. A line "
        f"for everything rises to {everything[-1]:,}."
    )

    def draw(fig, width, height):
        left, right, above, below = 52, 14, 38, 40
        ax = canvas(fig, width, height)
        base, tall = height - below, height - above - below
        scale, each = tall / top, (width - left - right) / len(requests)
        step = next(step for step in (10, 50, 100, 500, 1000, 5000, 10_000, 50_000) if top / step <= 6)
        for level in range(0, top + 1, step):
            write(ax, left - 7, base - level * scale + 4, f"{level:,}", size=SMALL, align="right")
            rule(ax, [left - 4, left], [base - level * scale] * 2)
        low = [0] * len(requests)
        for at, (name, role) in enumerate((("instructions", "instructions"), ("notes", "note"), ("messages", "user"))):
            high = [bottom + parts[at] for bottom, parts in zip(low, requests, strict=True)]
            colour = ROLE_COLOURS[role]
            stacked(ax, left, base, each, scale, low, high, None, f"cl-area part={name}", colour=colour)
            middle = (low[-1] + high[-1]) / 2
            if (high[-1] - low[-1]) * scale > 9:
                ink = LETTER_INKS[role]
                write(ax, width - right - 6, base - middle * scale + 4.5, name, size=SMALL, align="right", colour=ink)
            low = high
        ends = next((at for at, units in enumerate(everything) if units > top), len(everything))
        xs = [left + (at + 0.5) * each for at in range(ends)]
        rule(ax, xs, [base - units * scale for units in everything[:ends]], width=1.75, dashes=(4, 3), gid="cl-line")
        last = f"everything: {everything[-1]:,} at the end"
        write(ax, min(xs[-1] + 8, width - text_width(last, SMALL)), above + 12, last, size=SMALL, bold=True)
        rule(ax, [left, width - right], [base, base])
        for number in (1, len(requests)):
            write(ax, left + (number - 0.5) * each, base + 17, f"{number}", size=SMALL, align="center")
        write(ax, (left + width - right) / 2, base + 34, "request", size=SMALL, align="center")
        write(ax, 3, 16, f"input of a request ({unit})", size=SMALL)

    return figure(draw, alt, caption, height=340, narrow_height=340)


def tiers_figure(
    sections: Mapping[str, Sequence[str | None]],
    *,
    alt: str = "",
    caption: str = "How much of each section every request shows.",
) -> Figure:
    """Return a band for each section: high in full, lower by its last points, a line in one line, hatched if left out.

    Args:
        sections: topic -> for each request the tier in which it is shown, "left out", or None before it begins.

    Raises:
        InputError: no section, bands of different lengths, or an unknown tier.

    >>> tiers_figure({"login": ["full", "one line", "left out"]})
    Figure: A band for each section over requests 1 to 3. login: 1 in full, 0 by its last points, 1 in one line, ...
    """
    lengths = {len(tiers) for tiers in sections.values()}
    known = (*TIER_HEIGHTS, "left out", None)
    if len(lengths) != 1 or not all(tier in known for tiers in sections.values() for tier in tiers):
        raise InputError(f"bands of one length are drawn, of {', '.join(known[:-1])} or None before the section begins")
    last = lengths.pop()
    said = "; ".join(
        f"{topic}: {tiers.count('full')} in full, {tiers.count('last points')} by its last points, "
        f"{tiers.count('one line')} in one line, {tiers.count('left out')} left out"
        for topic, tiers in ((topic, list(tiers)) for topic, tiers in sections.items())
    )
    alt = alt or f"A band for each section over requests 1 to {last}. {said}."
    pitch = 22
    keys = (*TIER_HEIGHTS, "left out")

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        label = max(text_width(topic, SMALL) for topic in sections)
        above = width <= NARROW  # on a phone the topic stands above its band
        left, right = 3 if above else label + 10, width - 8
        each, row = (right - left) / last, pitch + 14 * above
        for at, (topic, tiers) in enumerate(sections.items()):
            base = 8 + at * row + 14 * above + 13
            write(ax, 3, base - 16 if above else base, topic, size=SMALL)
            start = 0
            for tier, group in groupby(tiers):
                length = len(list(group))
                gid = f"cl-band tier={(tier or 'none').replace(' ', '-')} requests={length}"
                _band(ax, left + start * each, base, length * each, tier, gid)
                start += length
        bottom = 8 + len(sections) * row + 8
        rule(ax, [left, right], [bottom, bottom])
        for number in (1, last):
            x = left + (number - 0.5) * each
            write(ax, x, bottom + 16, f"{number}", size=SMALL, align="left" if number == 1 else "right")
        write(ax, (left + right) / 2, bottom + 16, "request", size=SMALL, align="center", quiet=True)
        x, y = 3, bottom + 44
        for tier in keys:
            if x + 30 + text_width(tier, SMALL) > width:
                x, y = 3, y + 20
            _band(ax, x, y, 18, tier, None)
            write(ax, x + 24, y, tier, size=SMALL, quiet=True)
            x += 40 + text_width(tier, SMALL)

    tall = 8 + len(sections) * pitch + 64
    return figure(draw, alt, caption, height=tall, narrow_height=tall + 14 * len(sections) + 20)


def _band(ax, x, base, width, tier, gid):
    """Draw a piece of a band from its base upwards."""
    if tier == "left out":
        hatch(ax, x, base - 13, width, 13)
        box(ax, x, base - 13, width, 13, colour="none", edge=ROLE_COLOURS["dropped"], line=0.75, gid=gid)
    elif tier:
        tall = TIER_HEIGHTS[tier]
        box(ax, x, base - tall, width, tall, colour=ROLE_COLOURS["note"], gid=gid)
