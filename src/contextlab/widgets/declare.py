"""Exercises as data: the library call that gives the right value, and a wrong path for each slip."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from .markup import grouped, html, paragraphs

Number = int | float | Fraction | Decimal
Operands = Mapping[str, object]
Rule = Callable[..., Number]


@dataclass(frozen=True)
class Wrong:
    """A wrong path: what a belief produces from the same operands.

    Args:
        slip: id of the misconception, such as "F2".
        value: function of the operands (those that it names) that computes the wrong value.
        says: feedback that names the slip; `{name}` stands for an operand, `{given}` for the wrong value,
            `{right}` for the right one (use it sparingly: it ends the exercise).
    """

    slip: str
    value: Rule
    says: str


@dataclass(frozen=True)
class Step:
    """One value on the way, asked for after a wrong answer that no known slip explains."""

    ask: str
    value: Rule
    unit: str
    tip: str
    then: str


@dataclass(frozen=True)
class Declared:
    """What every exercise has: its id, a title, the question."""

    id: str
    title: str
    question: str


@dataclass(frozen=True)
class NumberTask(Declared):
    """A number with its unit, tolerance, hints, wrong paths and worked solution."""

    unit: str
    right: Rule
    wrong: Sequence[Wrong]
    praise: str
    solution: str
    variants: Sequence[Operands] = ({},)
    hints: Sequence[str] = ()
    step: Step | None = None
    tolerance: Number = 0
    units: Sequence[str] = ()
    ask: str = "Your answer"
    quick: bool = False

    kind = "number"

    def values(self, operands: Operands) -> tuple[str, list[str]]:
        """Return the right value and the wrong ones, in the order of `wrong`, as decimal text."""
        return decimal(call(self.right, operands)), [decimal(call(path.value, operands)) for path in self.wrong]

    def data(self) -> dict:
        variants = []
        for operands in self.variants:
            right, wrong = self.values(operands)
            fill = filler(operands, right)
            variant = {
                "question": paragraphs(fill(self.question)),
                "right": right,
                "praise": html(fill(self.praise)),
                "wrong": [
                    {"slip": path.slip, "value": value, "says": html(fill(path.says, given=value))}
                    for path, value in zip(self.wrong, wrong, strict=True)
                ],
                "solution": paragraphs(fill(self.solution)),
            }
            if self.hints:
                variant["hints"] = [html(fill(hint)) for hint in self.hints]
            if self.step:
                value = decimal(call(self.step.value, operands))
                fill_step = filler({**operands, "step": value}, right)
                variant["step"] = {
                    "ask": html(fill_step(self.step.ask)),
                    "value": value,
                    "unit": self.step.unit,
                    "units": unit_words(self.step.unit),
                    "tip": html(fill_step(self.step.tip)),
                    "then": html(fill_step(self.step.then)),
                }
            variants.append(variant)
        data = {
            **common(self),
            "unit": self.unit,
            "units": [*unit_words(self.unit), *self.units],
            "ask": self.ask,
            "variants": variants,
        }
        if self.tolerance:
            data["tolerance"] = decimal(self.tolerance)
        return data


@dataclass(frozen=True)
class Predict(Declared):
    """A guess before the run; afterwards guess and measured value side by side, why, three points."""

    unit: str = ""
    right: Rule = lambda: 0
    wrong: Sequence[Wrong] = ()
    praise: str = ""
    sure_miss: str = ""
    why: str = "Why? One sentence. Nobody grades it."
    points: Sequence[str] = ()
    solution: str = ""
    operands: Operands = field(default_factory=dict)
    options: Sequence[Option] = ()
    ask: str = "Your guess"
    measured: str = "Measured"
    tolerance: Number = 0
    units: Sequence[str] = ()

    kind = "predict"

    def values(self, operands: Operands) -> tuple[str, list[str]]:
        return decimal(call(self.right, operands)), [decimal(call(path.value, operands)) for path in self.wrong]

    def data(self) -> dict:
        data = {**common(self), "label": f"Predict {self.id.split('-')[0]}", "ask": self.ask, "measured": self.measured}
        right, wrong = ("", []) if self.options else self.values(self.operands)
        fill = filler(self.operands, right)
        data |= {
            "question": paragraphs(fill(self.question)),
            "praise": html(fill(self.praise)),
            "sure_miss": html(fill(self.sure_miss)),
            "why": html(self.why),
            "points": [html(fill(point)) for point in self.points],
            "solution": paragraphs(fill(self.solution)),
        }
        if self.options:
            data["options"] = [option.data(fill) for option in self.options]
        else:
            data |= {
                "unit": self.unit,
                "units": [*unit_words(self.unit), *self.units],
                "right": right,
                "wrong": [
                    {"slip": path.slip, "value": value, "says": html(fill(path.says, given=value))}
                    for path, value in zip(self.wrong, wrong, strict=True)
                ],
            }
            if self.tolerance:
                data["tolerance"] = decimal(self.tolerance)
        return data


@dataclass(frozen=True)
class Option:
    """One of several answers; `says` is its feedback, `slip` names the belief behind a wrong one."""

    text: str
    says: str
    slip: str = ""
    right: bool = False

    def data(self, fill: Callable[..., str] = lambda text: text) -> dict:
        data: dict = {"text": html(fill(self.text)), "says": html(fill(self.says))}
        return {**data, "right": True} if self.right else {**data, "slip": self.slip}


def common(task: Declared) -> dict:
    """Return what the module needs of every exercise."""
    quick = getattr(task, "quick", False)
    return {
        "exercise": True,
        "label": f"{'Quick check' if quick else 'Exercise'} {task.id}",
        "title": task.title,
        "anchor": f"exercise-{task.id}",
        **({"quick": True} if quick else {}),
    }


def call(rule: Rule, operands: Operands) -> Number:
    """Call a rule with those operands that it names."""
    code = rule.__code__
    names = code.co_varnames[: code.co_argcount]
    return rule(**{name: operands[name] for name in names if name in operands})


def decimal(value: Number) -> str:
    """Write a value as the module reads it: an exact integer or a decimal with at most 12 digits after the point.

    >>> decimal(15), decimal(0.19), decimal(Fraction(1, 3))
    ('15', '0.19', '0.333333333333')
    """
    if isinstance(value, bool) or not isinstance(value, Number):
        raise TypeError(f"a right or wrong value has to be a number, not {value!r}")
    if isinstance(value, int) or Fraction(value).denominator == 1:
        return str(int(value))
    value = Decimal(value.numerator) / value.denominator if isinstance(value, Fraction) else Decimal(str(value))
    return f"{value:.12f}".rstrip("0").rstrip(".")


def unit_words(unit: str) -> list[str]:
    """Return the words accepted for a unit: itself, and the singular or plural of its last word.

    >>> unit_words("tokens"), unit_words("messages")
    (['tokens', 'token'], ['messages', 'message'])
    """
    if not unit:
        return []
    return [unit, unit[:-1]] if unit.endswith("s") else [unit, unit + "s"] if unit.isalpha() else [unit]


FIELD = re.compile(r"\{(\w+)\}")


def filler(operands: Operands, right: str) -> Callable[..., str]:
    """Return a function that puts operands, the right value and the given value into a text; numbers are grouped."""

    def fill(text: str, **more: object) -> str:
        names = {**operands, "right": right, **more}

        def put(match: re.Match) -> str:
            value = names[match[1]]
            if isinstance(value, str) and not re.fullmatch(r"-?\d+(\.\d+)?", value):
                return value
            return grouped(value if isinstance(value, str) else decimal(value))

        return FIELD.sub(put, text)

    return fill
