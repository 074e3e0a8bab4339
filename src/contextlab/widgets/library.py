"""All exercises of the book by id, and the one line that puts one into a notebook."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import traitlets as t

from contextlab.errors import InputError

from . import exercises as chapters
from .base import Exercise, Widget
from .declare import Declared
from .judge import Verdict, judge
from .markup import html


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


def find(id: str) -> Declared:
    """Return the declaration of an exercise; raises `InputError` when no exercise has this id."""
    try:
        return declared()[id]
    except KeyError:
        chapter = id.split("-")[0]
        known = [name for name in declared() if name.startswith(chapter)] or list(declared())
        raise InputError(f"no exercise has the id {id!r}; known: {', '.join(known)}") from None


def check(id: str, answer: object) -> Verdict:
    """Check an answer given in Python, and tell the widget of the exercise when it is shown.

    Args:
        id: id of the exercise.
        answer: a function for a code exercise, a number for a number exercise (first operands shown).

    Raises:
        InputError: when there is no such exercise, or the answer is not of the kind that it asks for.
    """
    task = find(id)
    widget = _shown.get(id)
    verdict = judge(task, answer, widget.variant if widget else 0)
    if widget is not None:
        widget.tries += 1
        widget.slip = verdict.slip
        widget.wrong += not verdict.right
        widget.solved = widget.solved or verdict.right
        if task.kind == "code":
            widget.answer = {"python": True, "right": verdict.right, "says": html(verdict.says), "slip": verdict.slip}
        else:
            widget.answer = str(answer)
    return verdict


def exercise(id: str, **options: object) -> Exercise:
    """Return an exercise of the book as a widget.

    Args:
        id: its id, such as "05-1", "05-q1" (quick check) or "05-p" (predict).
        options: `elsewhere=True` on a predict leaves the comparison to `outcome`.

    Raises:
        InputError: when no exercise has this id.
    """
    return show(find(id), **options)


class Outcome(Widget):
    """The second half of a predict: guess and measured value, further down in the text."""

    partner = t.Unicode().tag(sync=True)

    def __init__(self, guess: Exercise) -> None:
        data = {
            "label": guess.data["label"],
            "title": f"{guess.data['title']}: your guess and the result",
            "of": guess.uid,
        }
        super().__init__("outcome", data, f"{guess.uid}-outcome")
        self.partner = f"IPY_MODEL_{guess.model_id}"


def outcome(id: str) -> Outcome:
    """Return the comparison that belongs to `exercise(id)`: put it where the text has shown the result."""
    return Outcome(exercise(id, elsewhere=True) if id not in _shown else _shown[id])


CHAPTERS = {
    "00": "00 A chat forgets",
    "01": "01 Tokens",
    "02": "02 One request",
    "03": "03 What is really sent",
    "04": "04 Keep the newest",
    "05": "05 When is it forgotten?",
    "06": "06 What a conversation costs",
    "07": "07 KV-cache sizing",
    "08": "08 Prefix caching",
    "09": "09 Pinned notes",
    "10": "10 Rolling summaries",
    "11": "11 Tiered notes",
    "12": "12 Retrieval and use signals",
    "13": "13 Which fix?",
    "14": "14 A request assembler",
    "15": "15 A chatbot that fails in the open",
    "16": "16 Visible is not recalled",
}


def progress(chapter: str = "") -> Widget:
    """Return the reader's progress: of one chapter ("05"), or of the book.

    Args:
        chapter: two digits; empty for the whole book, with buttons to save, read and delete.
    """
    own = [one for one in declared().values() if not chapter or one.id.split("-")[0] == chapter]
    if not own:
        raise InputError(f"chapter {chapter!r} has no exercises")
    labels = [[one.id, one.title, one.data()["label"]] for one in own]
    data = {
        "label": "Progress",
        "title": f"Exercises of chapter {chapter}" if chapter else "All exercises",
        "exercises": labels,
        "titles": {
            number: title for number, title in CHAPTERS.items() if any(one.id.startswith(number) for one in own)
        },
        "all": not chapter,
        "table": {"head": ["Exercise", "Title"], "rows": [[label, title] for _, title, label in labels]},
        "height": 4 + 2 * len(own),
    }
    return Widget("progress", data, f"progress-{chapter or 'all'}")
