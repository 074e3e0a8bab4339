"""The figure of chapter 10: what is left of the facts in a summary after each rewrite."""

from __future__ import annotations

from ..errors import InputError
from .charts import axes, axis_names
from .strips import SMALL, rule, text_width
from .svg import Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DASHES = (None, (4, 3), (1, 2))  # lines are told apart by their dashes, never by colour alone


def drift_figure(
    lines: Mapping[str, Sequence[float]],
    *,
    alt: str = "",
    caption: str = "Share of the facts that each rewrite leaves.",
) -> Figure:
    """Return the share of facts that a summary holds after 0, 1, … rewrites, one line for each name.

    Args:
        lines: name -> shares from 0 to 1, as `contextlab.summary.drift` returns them; at most three lines.

    Raises:
        InputError: no line, more than three, lines of different lengths or a share outside 0 to 1.

    >>> drift_figure({"measured": [1, 0.5, 0.25]})
    Figure: Share of the facts left after each rewrite, 0 to 2. measured: 100 % at first, 50 % after one, 25 % ...
    """
    lengths = {len(values) for values in lines.values()}
    if len(lengths) != 1 or lengths.pop() < 2 or len(lines) > len(DASHES):
        raise InputError("one to three lines of one length can be drawn, each with at least one rewrite")
    if not all(0 <= share <= 1 for values in lines.values() for share in values):
        raise InputError("a share is from 0 to 1")
    last = len(next(iter(lines.values()))) - 1
    said = "; ".join(
        f"{name}: {values[0]:.0%} at first, {values[1]:.0%} after one, {values[-1]:.0%} after {last}".replace("%", " %")
        for name, values in lines.items()
    )
    alt = alt or f"Share of the facts left after each rewrite, 0 to {last}. {said}."

    def draw(fig, width, height):
        labels = {name: f"{name}: {values[-1]:.0%}".replace("%", " %") for name, values in lines.items()}
        right = max(text_width(label, SMALL) for label in labels.values()) + 14
        ax = axes(fig, width, height, left=50, top=38, right=right, bottom=40)
        ax.set_xlim(0, last)
        ax.set_ylim(0, 1)
        step = max(1, last // 5)
        marks = [*range(0, last - step // 2, step), last]
        ax.set_xticks(marks, [f"{mark}" for mark in marks])
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
        axis_names(fig, width, height, "rewrites", "facts left", right=right)
        per_pixel = 1 / (height - 78)
        floor = float("inf")
        ordered = sorted(lines.items(), key=lambda line: -line[1][-1])
        room = 17 * per_pixel
        for at, (name, values) in enumerate(ordered):
            dashes = DASHES[list(lines).index(name)]
            rule(ax, range(last + 1), values, width=1.75, dashes=dashes, gid=f"cl-line name={name.replace(' ', '-')}")
            below = room * (len(ordered) - 1 - at)  # the lines that still need a label under this one
            floor = min(max(values[-1], below), floor - room)
            ax.annotate(
                labels[name], (last, floor), (7, 0), textcoords="offset points", size=SMALL, weight="bold", va="center"
            )

    return figure(draw, alt, caption, height=280, narrow_height=280)
