"""Figures of the book: inline SVG, in the colours of the roles, from what the library computed."""

from .charts import (
    forecast_error_figure,
    input_units_figure,
    oldest_turn_figure,
    two_causes_figure,
    visible_figure,
)
from .costs import chain_figure, position_effect_figure, resent_figure, reuse_figure, running_total_figure
from .counts import count_error_figure, language_figure
from .memory import attention_figure, bytes_figure, card_figure, growth_figure
from .notes import flat_figure, tiers_figure
from .pieces import Pieces, piece_groups, pieces_strip
from .strips import Block, strip, strips, two_strips
from .summaries import drift_figure
from .svg import GROUND, INK, ROLE_COLOURS, ROLE_LETTERS, Figure, css_variables, figure, new, style, svg
from .trades import Trade, trades_figure
from .walks import kept_figure, step_figure, walk_figure

__all__ = [
    "GROUND",
    "INK",
    "ROLE_COLOURS",
    "ROLE_LETTERS",
    "Block",
    "Figure",
    "Pieces",
    "Trade",
    "attention_figure",
    "bytes_figure",
    "card_figure",
    "chain_figure",
    "count_error_figure",
    "css_variables",
    "drift_figure",
    "figure",
    "flat_figure",
    "forecast_error_figure",
    "growth_figure",
    "input_units_figure",
    "kept_figure",
    "language_figure",
    "new",
    "oldest_turn_figure",
    "piece_groups",
    "pieces_strip",
    "position_effect_figure",
    "resent_figure",
    "reuse_figure",
    "running_total_figure",
    "step_figure",
    "strip",
    "strips",
    "style",
    "svg",
    "tiers_figure",
    "trades_figure",
    "two_causes_figure",
    "two_strips",
    "visible_figure",
    "walk_figure",
]
