"""Exercises and explorers that live in JupyterLab, on Binder and on the plain page.

One ES module and one stylesheet serve all of them; what a widget shows is computed in Python.

>>> from contextlab.widgets import exercise
>>> exercise("05-1")
<number 05-1: With a reply reserve>
"""

from __future__ import annotations

try:
    import anywidget  # noqa: F401
except ImportError as error:
    from contextlab.errors import MissingDependency

    raise MissingDependency("the widgets need anywidget: pip install 'contextlab[notebook]'") from error

from .assembling import assembler_explorer
from .base import Exercise, Explorer, Family, Widget, refresh
from .costs import cost_explorer, mark_explorer
from .declare import ChooseTask, CodeTask, KeepTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong
from .evictions import eviction_explorer
from .explorers import Control, chat_strips, drop_explorer, explorer, strips, walk, window_bar
from .library import check, exercise, outcome, progress
from .memory import bytes_explorer, models_explorer
from .notes import notes_explorer
from .pieces import pieces_explorer
from .pinned import pins_explorer
from .requests import request_explorer
from .summaries import summary_explorer
from .trades import trades_explorer

__all__ = [
    "ChooseTask",
    "CodeTask",
    "Control",
    "Exercise",
    "Explorer",
    "Family",
    "KeepTask",
    "Line",
    "NumberTask",
    "Option",
    "OrderTask",
    "Predict",
    "Step",
    "Widget",
    "Wrong",
    "assembler_explorer",
    "bytes_explorer",
    "chat_strips",
    "check",
    "cost_explorer",
    "drop_explorer",
    "eviction_explorer",
    "exercise",
    "explorer",
    "mark_explorer",
    "models_explorer",
    "notes_explorer",
    "outcome",
    "pieces_explorer",
    "pins_explorer",
    "progress",
    "refresh",
    "request_explorer",
    "strips",
    "summary_explorer",
    "trades_explorer",
    "walk",
    "window_bar",
]
