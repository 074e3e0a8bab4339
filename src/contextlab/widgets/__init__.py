"""Exercises and explorers that live in JupyterLab, on Binder and on the plain page.

One ES module and one stylesheet serve all of them; what a widget shows is computed in Python.

>>> from contextlab.widgets import exercise
>>> exercise("05-1")  # doctest: +SKIP
"""

from __future__ import annotations

try:
    import anywidget  # noqa: F401
except ImportError as error:
    from contextlab.errors import MissingDependency

    raise MissingDependency("the widgets need anywidget: pip install 'contextlab[notebook]'") from error

from .base import Exercise, Explorer, Family, Widget, refresh
from .declare import NumberTask, Option, Predict, Step, Wrong
from .explorers import strips
from .library import exercise, outcome

__all__ = [
    "Exercise",
    "Explorer",
    "Family",
    "NumberTask",
    "Option",
    "Predict",
    "Step",
    "Widget",
    "Wrong",
    "exercise",
    "outcome",
    "refresh",
    "strips",
]
