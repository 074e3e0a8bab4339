"""The figures of chapter 07: who attends to whom, what grows how fast, bytes side by side, a card and its sessions."""

from __future__ import annotations

from ..errors import InputError
from ..kv import binary
from .charts import axes
from .strips import QUIET, SMALL, box, canvas, draw_frame, hatch, rule, span, text_width, write
from .svg import GROUND, INK, NARROW, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

DARKEST = 0.35  # opacity of the weight 1: its number stays readable in ink on it
PALE = 0.5  # opacity of bars
PITCH = 26  # pixels from bar to bar


def attention_figure(
    tokens: Sequence[str],
    weights: Sequence[Sequence[float]],
    *,
    alt: str = "",
    caption: str = "Each row adds to 1. No token sees a later one.",
) -> Figure:
    """Return attention weights as a triangle: one row for each token that asks, one column for each token it sees.

    The last row has a frame: it is all that a new token adds.

    Args:
        tokens: the tokens, in order.
        weights: for each token its weights, one for each token up to itself.

    Raises:
        InputError: there is no token, a row has another length, or its weights do not add to 1.

    >>> attention_figure(["Hello", "Ada"], [[1], [0.25, 0.75]])
    Figure: Attention weights. Hello: Hello 1.00. Ada: Hello 0.25, Ada 0.75.
    """
    if not tokens or [len(row) for row in weights] != list(range(1, len(tokens) + 1)):
        raise InputError("there is a row for each token, with a weight for each token up to itself")
    for token, row in zip(tokens, weights, strict=True):
        if abs(sum(row) - 1) > 1e-6:
            raise InputError(f"the weights of {token!r} add to {sum(row):.3f}, not to 1")
    alt = alt or "Attention weights. " + " ".join(
        f"{token}: " + ", ".join(f"{seen} {weight:.2f}" for seen, weight in zip(tokens, row, strict=False)) + "."
        for token, row in zip(tokens, weights, strict=True)
    )
    tall = 34

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        label = max(text_width(token, SMALL) for token in tokens) + 12
        cell = min(76, (width - label - 6) / len(tokens))
        top = 44
        write(ax, 3, 14, "asks", size=SMALL, quiet=True)
        write(ax, 3 + label, 14, "sees", size=SMALL, quiet=True)
        for j, token in enumerate(tokens):
            write(ax, 3 + label + (j + 0.5) * cell, top - 10, token, size=SMALL, align="center", bold=True)
        for i, row in enumerate(weights):
            y = top + i * tall
            write(ax, 3, y + tall / 2 + 4, tokens[i], size=SMALL, bold=True)
            for j, weight in enumerate(row):
                x = 3 + label + j * cell
                gid = f"cl-weight row={i} column={j} weight={weight:.4f}"
                box(ax, x, y, cell, tall, colour=INK, alpha=round(DARKEST * weight, 4), gid=gid)
                box(ax, x, y, cell, tall, colour="none", edge=GROUND, line=1)
                write(ax, x + cell / 2, y + tall / 2 + 4, f"{weight:.2f}", size=SMALL, align="center")
        last = top + (len(tokens) - 1) * tall
        draw_frame(ax, 3 + label, last, len(tokens) * cell, tall)
        write(ax, 3 + label, last + tall + 18, "the row that a new token adds", size=SMALL, quiet=True)

    return figure(draw, alt, caption, height=44 + tall * len(tokens) + 28)


def growth_figure(
    tokens: Sequence[int],
    cached: Sequence[int],
    scores: Sequence[int],
    *,
    names: tuple[str, str] = ("bytes in the cache", "scores computed so far"),
    alt: str = "",
    caption: str = "Twice the tokens: twice the memory, four times the scores.",
) -> Figure:
    """Return two small charts over the number of tokens: what is kept, and what was computed, each on its own scale.

    Both have a mark at half the tokens and at the end, with their values.

    Raises:
        InputError: the three lists differ in length, or have fewer than three points.

    >>> growth_figure([1, 2, 4], [2, 4, 8], [1, 3, 10])  # doctest: +ELLIPSIS
    Figure: Two charts over 1 to 4 tokens. bytes in the cache: 4 at 2 tokens, 8 at 4, a straight line. ...
    """
    if not 3 <= len(tokens) == len(cached) == len(scores):
        raise InputError("three lists of one length: tokens, what is cached, what was computed; at least three points")
    half = min(range(len(tokens)), key=lambda i: abs(2 * tokens[i] - tokens[-1]))
    said = [
        f"{name}: {values[half]:,} at {tokens[half]:,} tokens, {values[-1]:,} at {tokens[-1]:,}, {form}."
        for name, values, form in zip(
            names, (cached, scores), ("a straight line", "a curve that bends up"), strict=True
        )
    ]
    alt = alt or f"Two charts over {tokens[0]:,} to {tokens[-1]:,} tokens. " + " ".join(said)

    def draw(fig, width, height):
        narrow = width <= NARROW
        panels = 1 if narrow else 2
        across, tall = width / panels, height / (3 - panels)
        for k, values in enumerate((cached, scores)):
            x, y = (0, k * tall) if narrow else (k * across, 0)
            left, top, right, bottom = x + 6, y + 46, width - x - across + 22, height - y - tall + 42
            ax = axes(fig, width, height, left=left, top=top, right=right, bottom=bottom)
            ax.set_xlim(0, tokens[-1])
            ax.set_ylim(0, values[-1])
            ax.set_xticks([0, tokens[half], tokens[-1]], [f"{n:,}" for n in (0, tokens[half], tokens[-1])])
            ax.set_yticks([])
            ax.spines["left"].set_visible(False)
            fig.text((x + 6) / width, 1 - (y + 14) / height, names[k], size=SMALL, weight="bold", va="baseline")
            end = 1 - (y + tall - 8) / height
            fig.text((x + across - 22) / width, end, "tokens", size=SMALL, alpha=QUIET, ha="right", va="baseline")
            rule(ax, tokens, values, width=1.75, gid=f"cl-line of={k} end={values[-1]}")
            for i in (half, len(tokens) - 1):
                ax.plot([tokens[i]], [values[i]], "o", markersize=6, color=INK, clip_on=False)
                ax.annotate(
                    f"{values[i]:,}",
                    (tokens[i], values[i]),
                    (-8, 4),
                    textcoords="offset points",
                    size=SMALL,
                    weight="bold",
                    ha="right",
                    va="baseline",
                )

    return figure(draw, alt, caption, height=220, narrow_height=420)


def bytes_figure(
    rows: Sequence[tuple[str, float] | tuple[str, float, float]],
    *,
    outline: str = "",
    alt: str = "",
    caption: str = "",
) -> Figure:
    """Return numbers of bytes as bars with their values on them, in powers of two.

    Args:
        rows: label and bytes; a third number is drawn as an outline behind the bar.
        outline: what the outline means, said once below the bars.

    Raises:
        InputError: there is no row, or a number is below zero.

    >>> bytes_figure([("8 KV heads", 131072), ("1 KV head", 16384)])
    Figure: Bars. 8 KV heads: 128 KiB; 1 KV head: 16 KiB.
    """
    if not rows or min(min(row[1:]) for row in rows) < 0:
        raise InputError("there is at least one row, and bytes are not below zero")
    texts = [_rounded(row[1]) for row in rows]
    hulls = [row[2] if len(row) > 2 and row[2] > row[1] else None for row in rows]
    said = [
        f"{row[0]}: {text}" + (f" ({outline}: {_rounded(hull)})" if hull else "")
        for row, text, hull in zip(rows, texts, hulls, strict=True)
    ]
    alt = alt or f"Bars. {'; '.join(said)}."
    most = max(max(row[1:]) for row in rows)
    label = max(text_width(row[0], SMALL) for row in rows) + 10

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        left = 3 if narrow else 3 + label
        pitch = PITCH + 18 if narrow else PITCH
        notes = [text + (f" of {_rounded(hull)}" if hull else "") for text, hull in zip(texts, hulls, strict=True)]
        # The longest bar leaves room for its value behind it.
        room = min(
            (width - left - 6 - text_width(note, SMALL) - 8) / max(row[1], hull or 0, most * 1e-6) * most
            for row, note, hull in zip(rows, notes, hulls, strict=True)
        )
        scale = min(room, width - left - 6) / most if most else 0
        for i, (row, note, hull) in enumerate(zip(rows, notes, hulls, strict=True)):
            y = 4 + i * pitch + (18 if narrow else 0)
            write(ax, 3, y - 5 if narrow else y + 13, row[0], size=SMALL)
            size = row[1] * scale
            if hull:
                hatch(ax, left, y, hull * scale, 18)
                box(ax, left, y, size, 18, colour=GROUND)
                box(ax, left, y, hull * scale, 18, colour="none", edge=INK, line=0.75)
            box(ax, left, y, max(size, 1), 18, colour=INK, alpha=PALE, gid=f"cl-bar bytes={row[1]:.0f}")
            write(ax, left + max(size, (hull or 0) * scale) + 7, y + 13, note, size=SMALL, bold=True)
        if any(hulls) and outline:
            y = 4 + len(rows) * pitch + 14
            hatch(ax, 3, y - 11, 22, 13)
            box(ax, 3, y - 11, 22, 13, colour="none", edge=INK, line=0.75)
            write(ax, 31, y, outline, size=SMALL, quiet=True)

    below = 22 if any(hulls) and outline else 0
    return figure(
        draw, alt, caption, height=PITCH * len(rows) + 4 + below, narrow_height=(PITCH + 18) * len(rows) + 4 + below
    )


def card_figure(
    total: float,
    parts: Sequence[tuple[str, float]],
    rows: Sequence[tuple[str, float, int]],
    *,
    unused: float = 0,
    alt: str = "",
    caption: str = "The same card, filled with short or with long conversations.",
) -> Figure:
    """Return the memory of a card as a strip, once for each kind of session: fixed parts, sessions, what is left.

    Args:
        total: bytes of the card.
        parts: name and bytes of what is there before any session.
        rows: what the sessions are called, bytes of one, how many there are.
        unused: bytes at the end of the card that the engine leaves alone.

    Raises:
        InputError: the parts and the sessions of a row are larger than the card.

    >>> card_figure(80, [("weights", 20)], [("long", 15, 4)], unused=0)
    Figure: A card of 80 bytes: weights 20 bytes. 4 long of 15 bytes.
    """
    fixed = sum(size for _, size in parts)
    for name, size, count in rows:
        if fixed + size * count + unused > total * (1 + 1e-9):
            raise InputError(f"{count} {name} and the fixed parts are larger than the card")
    alt = alt or (
        f"A card of {_rounded(total)}: "
        + ", ".join(f"{name} {_rounded(size)}" for name, size in parts)
        + ". "
        + " ".join(f"{count:,} {name} of {_rounded(size)}." for name, size, count in rows)
    )
    pitch, tall = 86, 34

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        scale = (width - 6) / total
        narrow = width <= NARROW
        step = pitch + 16 if narrow else pitch
        for k, (name, size, count) in enumerate(rows):
            y = 26 + k * step + (16 if narrow else 0)
            write(ax, 3, y - (28 if narrow else 12), f"{count:,} {name}", bold=True)
            note = f"{_rounded(size)} each"
            write(ax, *((3, y - 12) if narrow else (width - 3, y - 12)), note, size=SMALL, quiet=True,
                  align="left" if narrow else "right")  # fmt: skip
            x = 3.0
            for part, bytes_ in parts:
                wide = bytes_ * scale
                box(ax, x, y, wide, tall, colour=INK, alpha=0.22, gid=f"cl-part bytes={bytes_:.0f}")
                box(ax, x, y, wide, tall, colour="none", edge=GROUND, line=1)
                if text_width(part, SMALL) + 4 < wide:
                    write(ax, x + wide / 2, y + tall / 2 + 4, part, size=SMALL, align="center")
                x += wide
            for _ in range(count):
                wide = size * scale
                box(ax, x, y, wide, tall, colour=INK, alpha=PALE, edge="none", gid=f"cl-session bytes={size:.0f}")
                box(ax, x, y, wide, tall, colour="none", edge=GROUND, line=min(1, wide / 4))
                x += wide
            hatch(ax, x, y, width - 3 - x, tall)
            draw_frame(ax, 3, y, width - 6, tall)
        y = 26 + (len(rows) - 1) * step + (16 if narrow else 0) + tall
        span(ax, 3, width - 3, y + 22, f"the card, {_rounded(total)}; hatched: empty", width)

    height = 26 + pitch * (len(rows) - 1) + tall + 36
    return figure(draw, alt, caption, height=height, narrow_height=height + 16 * len(rows))


def _rounded(size: float) -> str:
    """Return bytes in powers of two with at most two decimals."""
    number, unit = binary(size).split(" ")
    return f"{round(float(number.replace(',', '')), 2):,.2f}".rstrip("0").rstrip(".") + f" {unit}"
