"""What a lab's kit says: the rule's axes, and for every check the questions asked of a submission and their answers.

A kit is a module in labs/kits/. It has

- ``TITLE``, ``MINUTES``, ``AXES`` and ``QUESTIONS`` (see `draws.draw_rule`);
- ``NAMES``: grade id of a check cell -> what it checks, in words that a student may read;
- ``TRACE``: the question in which students trace their own code by hand;
- ``RUBRICS``: written question -> criterion -> (points, what earns them);
- ``context(rule, draw)``: names for the template of the notebook, beside those of the rule;
- ``checks(rule, draw, student)``: grade id of a check cell -> a list of `Case`.

``student.number(what, low, high)`` are the personal numbers of the notebook.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from importlib import util
from pathlib import Path

from .draws import Draw, course_label, draw_rule, number_from

LABS = Path(__file__).resolve().parents[1]


class Ask(namedtuple("Ask", "name args")):
    """One thing that is asked of the student's process: call ``name`` with ``args``; None: the value of the name."""

    __slots__ = ()


class Case(namedtuple("Case", "asks judge expected")):
    """What is asked, and how the answers are judged, outside the student's process.

    ``judge`` takes the answers as plain data and returns a bool. ``expected`` is the one right answer or None; it is
    written into the hidden tests of the source notebook.
    """

    __slots__ = ()


def same(came, expected) -> bool:
    """Return whether two plain values are the same; True is not 1, and a list is not its first items.

    >>> same(3.0, 3), same(True, 1), same([1, 2], [1, 2]), same(0.1 + 0.2, 0.3)
    (True, False, True, True)
    """
    if isinstance(came, bool) or isinstance(expected, bool):
        return came is expected
    if isinstance(expected, int | float):
        return isinstance(came, int | float) and abs(came - expected) <= 1e-9 * max(1, abs(expected))
    if isinstance(expected, list | tuple):
        return isinstance(came, list) and len(came) == len(expected) and all(map(same, came, expected))
    if isinstance(expected, dict):
        keys = isinstance(came, dict) and came.keys() == expected.keys()
        return keys and all(same(came[key], expected[key]) for key in expected)
    return type(came) is type(expected) and came == expected


def call(name: str, args: list, expected) -> Case:
    """The function ``name`` with ``args`` gives ``expected``."""
    return Case([Ask(name, args)], lambda answers: same(answers[0], expected), expected)


def calls(right: Callable, inputs: list[list], rule: dict) -> list[Case]:
    """The function with the name of ``right`` gives what ``right`` gives under ``rule``, for each list of arguments."""
    return [call(right.__name__, arguments, right(*arguments, rule)) for arguments in inputs]


def value(name: str, expected) -> Case:
    """The name ``name`` has the value ``expected``."""
    return Case([Ask(name, None)], lambda answers: same(answers[0], expected), expected)


def judged(asks: list[Ask], judge: Callable[[list], bool]) -> Case:
    """A judge decides: for a question with many right answers."""
    return Case(asks, judge, None)


class Student(namedtuple("Student", "id course lab")):
    """Whose personal numbers are asked for; ``number`` is the function ``personal`` of the notebooks."""

    __slots__ = ()

    def number(self, what: str, low: int, high: int) -> int:
        return number_from(f"{self.course}/{self.lab}/{self.id.strip().lower()}/{what}", low, high)


class Variant:
    """A lab under one secret: its rule, its kit, and the checks for any student."""

    def __init__(self, lab: str, secret: str):
        self.lab = lab
        self.secret = secret
        self.course = course_label(secret)
        self.kit = load(lab)
        self.draw = Draw(secret, lab)
        self.rule = draw_rule(secret, lab, self.kit.AXES, self.kit.QUESTIONS)

    def context(self) -> dict:
        """Return the names that the template of the notebook may use."""
        more = self.kit.context(self.rule, self.draw)
        return {**self.rule, **more, "rule": self.rule, "course": self.course, "lab": self.lab}

    def checks(self, student: str) -> dict[str, list[Case]]:
        """Return grade id of a check -> its cases, for the student with this id."""
        return self.kit.checks(self.rule, self.draw, Student(student, self.course, self.lab))


def names() -> list[str]:
    """Return the names of the labs, in order."""
    return sorted(path.stem for path in (LABS / "kits").glob("lab*.py"))


def find(short: str) -> str:
    """Return the name of the lab that ``short`` (1, lab1, lab1_count_it) means; raises `ValueError` with the names."""
    found = [name for name in names() if short == name or name.startswith((f"{short}_", f"lab{short}_"))]
    if len(found) != 1:
        raise ValueError(f"there is no lab {short!r}; the labs are {', '.join(names())}")
    return found[0]


def load(lab: str):
    """Return the kit of a lab as a module."""
    spec = util.spec_from_file_location(f"kits.{lab}", LABS / "kits" / f"{lab}.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
