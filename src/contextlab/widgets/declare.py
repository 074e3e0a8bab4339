"""Exercises as data: the library call that gives the right value, and a wrong path for each slip."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from html import escape

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
            **unit_of(self),
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
                **unit_of(self),
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


@dataclass(frozen=True)
class ChooseTask(Declared):
    """One of several answers, each wrong one with feedback of its own; the options stand as they are given."""

    options: Sequence[Option] = ()
    solution: str = ""
    hints: Sequence[str] = ()
    ask: str = "Choose one answer"
    quick: bool = False

    kind = "choose"

    def data(self) -> dict:
        data = {
            **common(self),
            "question": paragraphs(self.question),
            "ask": self.ask,
            "options": [option.data() for option in self.options],
            "solution": paragraphs(self.solution),
        }
        return {**data, "hints": [html(hint) for hint in self.hints]} if self.hints else data


@dataclass(frozen=True)
class OrderTask(Declared):
    """Things to put in order of a value that the library computes.

    Args:
        items: the things, in any order; `{name}` stands for an operand.
        value: function of the operands that returns one number for each item; the least comes first.
        wrong: wrong paths, functions of the same kind.
        ends: what first and last place mean, such as "The one that leaves first comes first."
    """

    items: Sequence[str]
    value: Callable[..., Sequence[Number]]
    wrong: Sequence[Wrong]
    praise: str
    solution: str
    ends: str
    variants: Sequence[Operands] = ({},)
    hints: Sequence[str] = ()
    tip: str = ""

    kind = "order"

    def orders(self, operands: Operands) -> tuple[list[int], list[list[int]]]:
        """Return the right order of the items and the wrong ones."""
        return ranking(call(self.value, operands)), [ranking(call(path.value, operands)) for path in self.wrong]

    def data(self) -> dict:
        variants = []
        for number, operands in enumerate(self.variants):
            right, wrong = self.orders(operands)
            fill = filler(operands, "")
            shown = shuffled(f"{self.id}/{number}", len(self.items), [right, *wrong])
            place = {item: at for at, item in enumerate(shown)}
            variant = {
                "question": paragraphs(fill(self.question)),
                "items": [html(fill(self.items[item])) for item in shown],
                "right": [place[item] for item in right],
                "wrong": [
                    {"slip": path.slip, "order": [place[item] for item in order], "says": html(fill(path.says))}
                    for path, order in zip(self.wrong, wrong, strict=True)
                ],
                "praise": html(fill(self.praise)),
                "solution": paragraphs(fill(self.solution)),
            }
            if self.hints:
                variant["hints"] = [html(fill(hint)) for hint in self.hints]
            variants.append(variant)
        return {**common(self), "ends": self.ends, "tip": html(self.tip), "variants": variants}


@dataclass(frozen=True)
class KeepTask(Declared):
    """The messages of a real window with their costs: which of them does the rule keep?

    The operands hold `messages`, a sequence of (role, units) or (role, units, text), and what `room` needs.

    Args:
        room: function of the operands: units for the messages that can be marked.
        right: function of the operands (and `room`) that returns the kept indices.
        wrong: wrong paths, functions of the same kind.
        pinned: indices that are sent in any case.
    """

    unit: str
    room: Rule
    right: Callable[..., Sequence[int]]
    wrong: Sequence[Wrong]
    praise: str
    solution: str
    variants: Sequence[Operands]
    hints: Sequence[str] = ()
    pinned: Sequence[int] = ()

    kind = "keep"

    def choices(self, operands: Operands) -> tuple[list[int], list[list[int]]]:
        """Return the indices that are kept, and those that each wrong path keeps."""
        operands = {**operands, "room": call(self.room, operands)}
        return sorted(call(self.right, operands)), [sorted(call(path.value, operands)) for path in self.wrong]

    def data(self) -> dict:
        variants = []
        for operands in self.variants:
            right, wrong = self.choices(operands)
            messages = [list(message) for message in operands["messages"]]
            room = call(self.room, operands)
            used = sum(messages[i][1] for i in right)
            names = {**operands, "room": room, "used": used, "left": room - used, "kept": len(right)}
            fill = filler({name: value for name, value in names.items() if name != "messages"}, "")
            variant = {
                "question": paragraphs(fill(self.question)),
                "messages": messages,
                "room": room,
                "right": right,
                "wrong": [
                    {"slip": path.slip, "kept": kept, "says": html(fill(path.says))}
                    for path, kept in zip(self.wrong, wrong, strict=True)
                ],
                "steps": [
                    {"index": index, "kept": kept, "says": says}
                    for index, kept, _, says in walk(messages, room, self.unit, self.pinned)
                ],
                "praise": html(fill(self.praise)),
                "solution": paragraphs(fill(self.solution)),
                "table": {
                    "head": ["Message", "Role", f"Units ({self.unit})"],
                    "rows": [[str(i + 1), message[0], grouped(message[1])] for i, message in enumerate(messages)],
                },
            }
            if self.hints:
                variant["hints"] = [html(fill(hint)) for hint in self.hints]
            variants.append(variant)
        return {**common(self), "unit": self.unit, "variants": variants}


def walk(messages: Sequence, room: int, unit: str, pinned: Sequence[int] = ()) -> list[tuple[int, bool, int, str]]:
    """Return the walk from the newest message: index, kept?, units used so far, and the step in words.

    Pinned messages are taken first; the walk stops at the first message that does not fit, and what is older
    than it gets a line too, so that every message has its step.
    """
    steps = []
    used = 0
    for i in pinned:
        used += messages[i][1]
        verb = "are" if messages[i][0] == "instructions" else "is"
        says = f"{named(messages[i])} {verb} pinned and sent in any case: {grouped(used)} used."
        steps.append((i, True, used, says))
    stopped = False
    for i in reversed(range(len(messages))):
        if i in pinned:
            continue
        units = messages[i][1]
        name = named(messages[i])
        if stopped:
            steps.append(
                (i, False, used, f"{name} is older than the message at which the walk stopped, so it stays out.")
            )
        elif used + units <= room:
            used += units
            left = f"{grouped(room - used)} left" if room > used else "nothing left"
            steps.append((i, True, used, f"{name} fits: {grouped(used)} of {grouped(room)} {unit} used, {left}."))
        else:
            stopped = True
            says = f"{name} would make {grouped(used + units)}, more than {grouped(room)}: the walk stops here."
            steps.append((i, False, used, says))
    return steps


def named(message: Sequence) -> str:
    """Return what a message is called in a sentence."""
    role, units = message[0], message[1]
    return (
        f"the instructions of {grouped(units)}" if role == "instructions" else f"the {role} message of {grouped(units)}"
    )


@dataclass(frozen=True)
class Line:
    """One line of a program; `□` in it stands for one of `forms`, of which `forms[right]` is the right one."""

    text: str
    forms: Sequence[str] = ()
    right: int = 0
    says: Sequence[str] = ()
    slips: Sequence[str] = ()

    def with_form(self, pick: int) -> str:
        return self.text.replace("□", self.forms[pick]) if self.forms else self.text


@dataclass(frozen=True)
class CodeTask(Declared):
    """A task for code: answered in a cell and checked by `check`; without a kernel its lines are put in order.

    Args:
        name: name of the function that the reader writes.
        lines: a solution in the right order.
        reference: the library's answer to the same arguments.
        cases: function without arguments that returns the tuples of arguments to try.
        wrong: wrong paths: functions of the same arguments that behave as a slip makes them.
    """

    name: str
    lines: Sequence[Line | str]
    reference: Callable[..., object]
    cases: Callable[[], Sequence[tuple]]
    wrong: Sequence[Wrong]
    praise: str
    hints: Sequence[str] = ()
    tip: str = ""
    puzzle: str = "Put the lines in order. In some lines, choose the right form."

    kind = "code"

    @property
    def all_lines(self) -> list[Line]:
        return [Line(line) if isinstance(line, str) else line for line in self.lines]

    def program(self, picks: Mapping[int, int] | None = None) -> str:
        """Return the solution as text; `picks` replaces the right form of some lines."""
        picks = picks or {}
        return "\n".join(line.with_form(picks.get(i, line.right)) for i, line in enumerate(self.all_lines)) + "\n"

    def data(self) -> dict:
        lines = self.all_lines
        shown = shuffled(self.id, len(lines), [list(range(len(lines)))])
        place = {line: at for at, line in enumerate(shown)}
        return {
            **common(self),
            "question": paragraphs(self.question),
            "call": f'check("{self.id}", {self.name})',
            "lines": [
                {
                    "text": lines[i].text,
                    **(
                        {
                            "forms": list(lines[i].forms),
                            "says": [html(one) for one in lines[i].says],
                            "slips": list(lines[i].slips),
                        }
                        if lines[i].forms
                        else {}
                    ),
                }
                for i in shown
            ],
            "right": [place[i] for i in range(len(lines))],
            "picks": {str(place[i]): line.right for i, line in enumerate(lines) if line.forms},
            "praise": html(self.praise),
            "tip": html(self.tip),
            "puzzle": self.puzzle,
            "hints": [html(hint) for hint in self.hints],
            "solution": f"<pre>{escape(self.program(), quote=False)}</pre>",
        }


def ranking(values: Sequence[Number]) -> list[int]:
    """Return the indices of values from the least to the greatest; equal values are an error."""
    if len(set(values)) < len(values):
        raise ValueError(f"two items have the same value: {list(values)}")
    return sorted(range(len(values)), key=lambda i: values[i])


def shuffled(seed: str, length: int, avoid: Sequence[Sequence[int]]) -> list[int]:
    """Return a mixed order that follows from the seed and is none of those to avoid."""
    draw = random.Random(seed)
    order = list(range(length))
    while True:
        draw.shuffle(order)
        if order not in [list(one) for one in avoid]:
            return order


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


ORDINALS = ("request", "turn")
"""Units that stand before their number: request 12."""


def unit_of(task: NumberTask | Predict) -> dict:
    """Return the unit of an answer, and the words that are accepted for it."""
    data = {"unit": task.unit, "units": [*unit_words(task.unit), *task.units]}
    return {**data, "ordinal": True} if task.unit in ORDINALS else data


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
