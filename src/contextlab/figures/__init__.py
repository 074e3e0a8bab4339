"""Figures of the book: inline SVG, in the colours of the roles, from what the library computed."""

from .strips import Block, strip, strips, two_strips
from .svg import (
    GROUND,
    INK,
    ROLE_COLOURS,
    ROLE_LETTERS,
    Figure,
    css_variables,
    figure,
    new,
    style,
    svg,
)

__all__ = [
    "GROUND",
    "INK",
    "ROLE_COLOURS",
    "ROLE_LETTERS",
    "Block",
    "Figure",
    "css_variables",
    "figure",
    "new",
    "strip",
    "strips",
    "style",
    "svg",
    "two_strips",
]
