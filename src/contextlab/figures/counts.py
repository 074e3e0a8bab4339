"""The charts of chapter 01: how far counters are off, and how many tokens the same text has in each language."""

from __future__ import annotations

from ..errors import InputError
from .strips import QUIET, SMALL, canvas, rule, text_width, write
from .svg import GROUND, INK, NARROW, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PITCH = 24  # pixels from row to row


def count_error_figure(
    rows: Sequence[tuple[str, Sequence[float]]],
    names: Sequence[str] = ("characters ÷ 4", "word pieces"),
    *,
    against: str = "o200k_base",
    alt: str = "",
    caption: str | None = None,
) -> Figure:
    """Return the errors of two counters, in percent of the real count: one row a text, zero is right.

    Args:
        rows: label and the error of each counter, in percent; −58 means 58 % too low.
        names: what the two counters are called.
        against: the vocabulary that was taken as right.

    Raises:
        InputError: there are no rows, or a row has not one error for each name.

    >>> count_error_figure([("prose", (9, 1)), ("phone numbers", (-58, -16))])
    Figure: Errors against o200k_base in percent. prose: characters ÷ 4 +9, word pieces +1; phone numbers: ...
    """
    said = _said(rows, names, _signed)
    alt = alt or f"Errors against {against} in percent. {said}."
    caption = f"Too low, left of the line; too high, right of it ({against})." if caption is None else caption
    return _dots(rows, names, [-100, -75, -50, -25, 0, 25], 0, lambda value: f"{_signed(value)} %", alt, caption)


def language_figure(
    rows: Sequence[tuple[str, Sequence[float]]],
    names: Sequence[str] = ("o200k_base", "cl100k_base"),
    *,
    alt: str = "",
    caption: str = "Tokens of the same article, as multiples of English.",
) -> Figure:
    """Return how many times the tokens of English a text has in each language, in two vocabularies.

    Raises:
        InputError: there are no rows, or a row has not one factor for each name.

    >>> language_figure([("English", (1, 1)), ("Greek", (2.16, 5.21))])
    Figure: Multiples of English. English: o200k_base 1.0, cl100k_base 1.0; Greek: o200k_base 2.2, cl100k_base 5.2.
    """
    said = _said(rows, names, lambda value: f"{value:.1f}")
    alt = alt or f"Multiples of English. {said}."
    top = int(max(value for _, values in rows for value in values)) + 1
    return _dots(rows, names, list(range(1, top + 1)), 1, lambda value: f"{value} ×", alt, caption)


def _said(rows, names, form) -> str:
    if not rows or any(len(values) != len(names) for _, values in rows):
        raise InputError(
            f"each row is a label and one number for each of {', '.join(names)}; there is at least one row"
        )
    return "; ".join(
        f"{label}: " + ", ".join(f"{name} {form(value)}" for name, value in zip(names, values, strict=True))
        for label, values in rows
    )


def _dots(rows, names, marks, zero, form, alt, caption) -> Figure:
    """One row a label; for each name a dot, the first filled, the second hollow, a thin line between them."""
    low = min(marks[0], *(value for _, values in rows for value in values))
    high = max(marks[-1], *(value for _, values in rows for value in values))
    label = max(text_width(name, SMALL) for name, _ in rows)

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        left, right = 3 + label + 14, width - 22
        top = 34
        bottom = top + PITCH * len(rows)

        def px(value):
            return left + (value - low) / (high - low) * (right - left)

        x = 3.0
        for i, name in enumerate(names):
            _dot(ax, x + 5, 12, i)
            write(ax, x + 15, 16, name, size=SMALL)
            x += 15 + text_width(name, SMALL) + 18
        for mark in marks:
            rule(
                ax,
                [px(mark)] * 2,
                [top, bottom],
                width=1.25 if mark == zero else 0.75,
                alpha=1 if mark == zero else 0.2,
            )
            if width > NARROW or (mark - zero) % (2 * (marks[1] - marks[0])) == 0:
                write(ax, px(mark), bottom + 17, form(mark), size=SMALL, align="center", quiet=True)
        for i, (name, values) in enumerate(rows):
            y = top + PITCH * (i + 0.5)
            write(ax, 3, y + 4, name, size=SMALL)
            rule(ax, [px(min(values)), px(max(values))], [y, y], alpha=QUIET)
            for k, value in reversed(list(enumerate(values))):
                _dot(ax, px(value), y, k, f"cl-dot row={i} of={k} value={value:.2f}")

    height = 34 + PITCH * len(rows) + 26
    return figure(draw, alt, caption, height=height, narrow_height=height)


def _dot(ax, x, y, which, gid=None) -> None:
    size, fill = (7, INK) if which == 0 else (8, GROUND)
    ax.plot(
        [x], [y], "o", markersize=size, color=INK, markerfacecolor=fill, markeredgewidth=1.5, clip_on=False, gid=gid
    )


def _signed(value: float) -> str:
    return f"{value:+.0f}".replace("-", "−") if round(value) else "0"
