"""All exercises of the book by id, and the one line that puts one into a notebook."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from contextlab.errors import InputError

from . import exercises as chapters
from .base import Exercise, Widget
from .declare import Declared


@cache
def declared() -> dict[str, Declared]:
    """Return every exercise of the book: id → declaration, in reading order."""
    found: dict[str, Declared] = {}
    for module in sorted(info.name for info in iter_modules(chapters.__path__)):
        for one in import_module(f"{chapters.__name__}.{module}").EXERCISES:
            if one.id in found:
                raise InputError(f"two exercises have the id {one.id}")
            found[one.id] = one
    return found


_shown: dict[str, Exercise] = {}


def show(one: Declared, **options: object) -> Exercise:
    """Return the widget of a declared exercise; the same one when it was shown before."""
    widget = _shown.get(one.id)
    if widget is None or widget.comm is None or options:
        widget = _shown[one.id] = Exercise(one.kind, {**one.data(), **options}, one.id)
    return widget


def exercise(id: str, **options: object) -> Exercise:
    """Return an exercise of the book as a widget.

    Args:
        id: its id, such as "05-1", "05-q1" (quick check) or "05-p" (predict).
        options: `elsewhere=True` on a predict leaves the comparison to `outcome`.

    Raises:
        InputError: when no exercise has this id.
    """
    try:
        one = declared()[id]
    except KeyError:
        chapter = id.split("-")[0]
        known = [name for name in declared() if name.startswith(chapter)] or list(declared())
        raise InputError(f"no exercise has the id {id!r}; known: {', '.join(known)}") from None
    return show(one, **options)


class Outcome(Widget):
    """The second half of a predict: guess and measured value, further down in the text."""

    from traitlets import Unicode as _Unicode

    partner = _Unicode().tag(sync=True)

    def __init__(self, guess: Exercise) -> None:
        data = {"label": guess.data["label"], "title": "Your guess, and what was measured", "of": guess.uid}
        super().__init__("outcome", data, f"{guess.uid}-outcome")
        self.partner = f"IPY_MODEL_{guess.model_id}"


def outcome(id: str) -> Outcome:
    """Return the comparison that belongs to `exercise(id)`: put it where the text has shown the result."""
    return Outcome(exercise(id, elsewhere=True) if id not in _shown else _shown[id])
