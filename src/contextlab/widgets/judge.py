"""Answers judged in Python: what `check` says to a number or to a function written in a cell."""

from __future__ import annotations

from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

from contextlab.errors import InputError

from .declare import CodeTask, Declared, NumberTask, Predict, decimal, filler
from .markup import html


class Verdict(namedtuple("Verdict", "right says slip", defaults=("",))):
    """Whether an answer is right, what is said to it, and the id of the slip that was recognised."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.says}"

    def __bool__(self) -> bool:
        return self.right

    def _repr_html_(self) -> str:
        return f"<p><strong>{'Right' if self.right else 'Not yet'}:</strong> {html(self.says)}</p>"


def judge(task: Declared, answer: object, variant: int = 0) -> Verdict:
    """Judge an answer given in Python."""
    if isinstance(task, CodeTask):
        return judge_code(task, answer)
    if isinstance(task, NumberTask | Predict) and not getattr(task, "options", ()):
        operands = task.variants[variant % len(task.variants)] if isinstance(task, NumberTask) else task.operands
        return judge_number(task, answer, operands)
    raise InputError(f"exercise {task.id} is answered in its widget")


def judge_number(task: NumberTask | Predict, answer: object, operands) -> Verdict:
    if isinstance(answer, bool) or not isinstance(answer, int | float | Fraction | Decimal):
        raise InputError(f"exercise {task.id} asks for a number, got {answer!r}")
    right, wrong = task.values(operands)
    given, tolerance = Fraction(decimal(answer)), Fraction(decimal(task.tolerance))
    fill = filler(operands, right)
    if abs(given - Fraction(right)) <= tolerance:
        return Verdict(True, fill(task.praise))
    for path, value in zip(task.wrong, wrong, strict=True):
        if abs(given - Fraction(value)) <= tolerance:
            return Verdict(False, fill(path.says, given=value), path.slip)
    return Verdict(False, f"{decimal(answer)} is too {'high' if given > Fraction(right) else 'low'}.")


def judge_code(task: CodeTask, answer: object) -> Verdict:
    if not callable(answer):
        raise InputError(f"exercise {task.id} asks for a function: check({task.id!r}, {task.name})")
    tried = []
    first = None
    for arguments in task.cases():
        wanted = task.reference(*arguments)
        try:
            got = answer(*arguments)
        except Exception as error:  # the reader's code may raise anything, and shall hear what
            return Verdict(False, f"{shown(task, arguments)} raises {type(error).__name__}: {error}")
        tried.append((arguments, got))
        if got != wanted and first is None:
            first = f"{shown(task, arguments)} returns {got!r}; the library says {wanted!r}."
    if first is None:
        return Verdict(True, task.praise)
    for path in task.wrong:
        if all(path.value(*arguments) == got for arguments, got in tried):
            return Verdict(False, f"{path.says} {first}", path.slip)
    return Verdict(False, first)


def shown(task: CodeTask, arguments: tuple) -> str:
    return f"`{task.name}({', '.join(map(repr, arguments))})`"
