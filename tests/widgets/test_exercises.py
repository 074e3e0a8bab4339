"""Every exercise says the right thing to every answer that it knows, with every set of operands that it shows."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from itertools import combinations

import pytest

from contextlab.errors import InputError
from contextlab.widgets import check, exercise, library
from contextlab.widgets.declare import (
    ChooseTask,
    CodeTask,
    KeepTask,
    NumberTask,
    OrderTask,
    Predict,
    Wrong,
    call,
    decimal,
)
from contextlab.widgets.judge import judge
from contextlab.widgets.slips import SLIPS

ALL = list(library.declared().values())
CHAPTERS = sorted({one.id.split("-")[0] for one in ALL})


def of(*kinds):
    return [pytest.param(one, id=one.id) for one in ALL if isinstance(one, kinds)]


def operand_sets(task):
    return [task.operands] if isinstance(task, Predict) else task.variants


def numeric():
    return [one for one in of(NumberTask, Predict) if not getattr(one.values[0], "options", ())]


@pytest.mark.parametrize("task", numeric())
def test_right_and_wrong_values_differ(task):
    for operands in operand_sets(task):
        right, wrong = task.values(operands)
        for one, other in combinations([right, *wrong], 2):
            assert abs(Fraction(one) - Fraction(other)) > 2 * Fraction(decimal(task.tolerance)), (operands, one, other)


@pytest.mark.parametrize("task", numeric())
def test_each_wrong_value_brings_the_feedback_that_names_its_slip(task):
    for variant, operands in enumerate(operand_sets(task)):
        right, wrong = task.values(operands)
        assert judge(task, Fraction(right), variant).right
        for path, value in zip(task.wrong, wrong, strict=True):
            verdict = judge(task, Fraction(value), variant)
            assert (verdict.right, verdict.slip) == (False, path.slip)
            assert verdict.says and "{" not in verdict.says


@pytest.mark.parametrize("task", of(OrderTask))
def test_right_and_wrong_orders_differ(task):
    for operands in task.variants:
        right, wrong = task.orders(operands)
        assert len({tuple(one) for one in [right, *wrong]}) == 1 + len(wrong)
    for variant in task.data()["variants"]:
        shown = list(range(len(variant["items"])))
        assert shown not in [variant["right"], *(path["order"] for path in variant["wrong"])]


@pytest.mark.parametrize("task", of(KeepTask))
def test_right_and_wrong_choices_differ(task):
    for operands in task.variants:
        right, wrong = task.choices(operands)
        assert len({tuple(one) for one in [right, *wrong]}) == 1 + len(wrong)


@pytest.mark.parametrize("task", of(KeepTask))
def test_the_steps_of_a_walk_lead_to_what_the_library_keeps(task):
    for variant in task.data()["variants"]:
        steps = variant["steps"]
        assert sorted(step["index"] for step in steps) == list(range(len(variant["messages"])))
        assert sorted(step["index"] for step in steps if step["kept"]) == variant["right"]


@pytest.mark.parametrize("task", of(ChooseTask))
def test_one_option_is_right_and_each_has_feedback(task):
    assert [option.right for option in task.options].count(True) == 1
    assert all(option.says and (option.right or option.slip) for option in task.options)


def written(program: str, name: str):
    names: dict = {}
    exec(program, names)
    return names[name]


@pytest.mark.parametrize("task", of(CodeTask))
def test_the_lines_of_a_code_task_are_a_solution(task):
    assert check(task.id, written(task.program(), task.name))


def swaps(lines):
    """Return the programs that come from swapping two different neighbours of one indentation, with their place."""
    for at in range(len(lines) - 1):
        one, two = lines[at : at + 2]
        if one != two and len(one) - len(one.lstrip()) == len(two) - len(two.lstrip()):
            yield at, "\n".join([*lines[:at], two, one, *lines[at + 2 :]]) + "\n"


@pytest.mark.parametrize("task", of(CodeTask))
def test_no_other_order_of_two_lines_is_a_solution(task):
    # The puzzle takes one order only, so a correct program in another order would be called "Not yet".
    for at, program in swaps(task.program().splitlines()):
        try:
            answer = written(program, task.name)
        except SyntaxError:
            continue  # a line that belongs to no block
        assert not check(task.id, answer), (at + 1, program)


def test_two_interchangeable_lines_would_be_seen():
    assert list(swaps(["def f():", "    a = 1", "    b = 2", "    return a"])) == [
        (1, "def f():\n    b = 2\n    a = 1\n    return a\n"),
        (2, "def f():\n    a = 1\n    return a\n    b = 2\n"),
    ]


@pytest.mark.parametrize("task", of(CodeTask))
def test_a_wrong_form_of_a_line_is_wrong_code(task):
    for at, line in enumerate(task.all_lines):
        for pick in range(len(line.forms)):
            if pick != line.right:
                assert line.says[pick] and line.slips[pick]
                verdict = check(task.id, written(task.program({at: pick}), task.name))
                assert not verdict, (line.text, line.forms[pick])


@pytest.mark.parametrize("task", of(CodeTask))
def test_wrong_code_is_named(task):
    for path in task.wrong:
        verdict = check(task.id, path.value)
        assert (verdict.right, verdict.slip) == (False, path.slip)
        assert verdict.says.startswith(path.says)
        assert repr(verdict).startswith("Not yet: ")


@pytest.mark.parametrize("task", of(CodeTask))
def test_code_that_fails_is_no_crash(task):
    def broken(*arguments):
        raise ZeroDivisionError("division by zero")

    assert "ZeroDivisionError" in check(task.id, broken).says
    assert not check(task.id, lambda *arguments: "text")
    with pytest.raises(InputError, match="asks for a function"):
        check(task.id, 5)


def slips_of(task):
    for path in getattr(task, "wrong", ()):
        yield path.slip
    for option in getattr(task, "options", ()):
        yield option.slip
    for line in getattr(task, "all_lines", ()):
        yield from line.slips


def test_every_slip_has_its_line():
    used = {slip for task in ALL for slip in slips_of(task)} - {""}
    assert used <= set(SLIPS), sorted(used - set(SLIPS))
    assert set(SLIPS) <= used, f"not used by an exercise: {sorted(set(SLIPS) - used)}"


def texts(value):
    if isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("task", [pytest.param(one, id=one.id) for one in ALL])
def test_data_is_plain_and_complete(task):
    data = task.data()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for text in texts(data):
        assert "{" not in text or task.kind == "code", text
        assert not re.match(r"\s*(Right|Not yet):", text), "the word is put before the feedback by the module"
    assert data["title"] and data["label"]
    assert data.get("solution") or all(one["solution"] for one in data.get("variants", ())), "a worked solution"


LONGEST_SENTENCE = 34


@pytest.mark.parametrize("task", [pytest.param(one, id=one.id) for one in ALL])
def test_sentences_are_short(task):
    """The style asks for 22 words on average; a list of sizes counts as one word."""
    sentences = []
    for text in texts(task.data()):
        plain = re.sub(r"<[^>]+>", " ", text)
        plain = re.sub(r"(\d[\d,]*[ ,+−×=()/.floor*t-]*){3,}", "7 ", plain)
        sentences += [one.split() for one in re.split(r"(?<=[.?!:])\s+", plain) if len(one.split()) > 3]
    lengths = [len(one) for one in sentences]
    assert max(lengths) <= LONGEST_SENTENCE, max(sentences, key=len)
    assert sum(lengths) / len(lengths) <= 22


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_what_every_chapter_has(chapter):
    own = [one for one in ALL if one.id.split("-")[0] == chapter]
    numbers = [one for one in own if isinstance(one, NumberTask) and not one.quick]
    assert sum(len(one.wrong) >= 3 for one in numbers) >= 2
    assert all(len(one.variants) >= 2 for one in numbers), "a second set of operands after a second wrong answer"
    assert any(isinstance(one, OrderTask | KeepTask) for one in own)
    assert any(isinstance(one, CodeTask) for one in own)
    assert sum(getattr(one, "quick", False) for one in own) == 2
    assert [one.id for one in own if isinstance(one, Predict)] == [f"{chapter}-p"]
    predict = library.find(f"{chapter}-p")
    assert len(predict.points) == 3
    longest = max(len(path.says) for path in predict.wrong)
    assert len(predict.sure_miss) > longest, "a sure miss gets the longest feedback"


def test_an_unknown_exercise_is_an_error_with_the_known_ones():
    with pytest.raises(InputError, match=r"no exercise has the id '05-99'; known: 05-p, 05-q1"):
        exercise("05-99")


def test_a_number_is_checked_in_python_too():
    assert check("05-1", int(library.find("05-1").values(library.find("05-1").variants[0])[0]))
    assert "too high" in check("05-1", 1000).says
    with pytest.raises(InputError, match="asks for a number"):
        check("05-1", "15")
    with pytest.raises(InputError, match="is answered in its widget"):
        check("00-3", [1])


def test_a_rule_is_given_the_operands_that_it_names():
    assert call(lambda b: b, {"a": 1, "b": 2}) == 2
    assert decimal(Fraction(1, 8)) == "0.125"
    with pytest.raises(TypeError, match="has to be a number"):
        decimal(None)
    assert Wrong("F1", lambda: 3, "").value() == 3
