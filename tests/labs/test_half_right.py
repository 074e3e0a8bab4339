"""Half-right answers to every question have the points of what is right, and every named mistake has its message."""

from __future__ import annotations

import ast
import contextlib
import io
import json

import pytest
from classroom import COURSES, cell_of, full, judged, named, points, solved, variant
from grading import lab as labs
from grading.report import read_marks, totals

CANNED = """
import json

CANNED = json.loads({answers!r})


def canned(name):
    return lambda *given: CANNED[name].get(json.dumps(given), "not known")


for name in CANNED:
    globals()[name] = canned(name)
globals().update(json.loads({values!r}))
"""


def knows(cases: list) -> str:
    """The code of a student who has the answers to these cases, and to no others."""
    answers: dict = {}
    values = {}
    for case in cases:
        (ask,) = case.asks
        if ask.args is None:
            values[ask.name] = case.expected
        else:
            answers.setdefault(ask.name, {})[json.dumps(ask.args)] = case.expected
    return CANNED.format(answers=json.dumps(answers), values=json.dumps(values))


def known(case) -> bool:
    """Whether the case has one right answer, and not only a judge."""
    try:
        return case.judge([case.expected])
    except TypeError:
        return False


def parts(of) -> list[tuple[str, str, int]]:
    """(question, check, points) of one check of every question that has several."""
    blocks = [block for block in labs.blocks(of.lab) if block.role == "check"]
    cases = of.checks("ada")
    found = {}
    for block in blocks:
        several = sum(other.question == block.question for other in blocks) > 1
        if several and all(len(case.asks) == 1 and known(case) for case in cases[block.id]):
            found.setdefault(block.question, (block.question, block.id, block.points))
    return list(found.values())


@pytest.mark.parametrize("secret", COURSES, ids=lambda secret: secret[-1])
def test_who_has_one_part_of_a_question_has_the_points_of_that_part(sandbox, lab, secret):
    of = variant(lab, secret)
    found = parts(of)
    assert {question for question, *_ in found} | {of.kit.TRACE} == set(of.kit.QUESTIONS)
    for question, check, worth in found:
        notebook = solved(of, "ada", {question: knows(of.checks("ada")[check])})
        assert points(judged(of, notebook))[question] == worth < full(of)[question], check


def test_a_number_without_its_reason_has_half(lab, tmp_path):
    of = variant(lab)
    lines = ["student,question,criterion,points,comment"]
    for question, rubric in of.kit.RUBRICS.items():
        lines += [f"ada,{question},number,{rubric['number'][0]},", f"ada,{question},reason,0,no reason"]
    file = tmp_path / "marks.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    texts = dict.fromkeys(of.kit.RUBRICS, "It is 12.")
    checks = {block.id: {"points": 0} for block in labs.blocks(lab) if block.role == "check"}
    sums = totals(of, {"student": "ada", "checks": checks, "written": texts}, read_marks(file, of))
    for question in of.kit.RUBRICS:
        assert sums[question] == labs.points(lab)[question] / 2


def mistakes(text: str):
    """Yield the calls of ``check`` in a cell that name mistakes, as syntax trees."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check" and len(node.args) == 4:
            yield node


@pytest.mark.parametrize("secret", COURSES, ids=lambda secret: secret[-1])
def test_every_named_mistake_has_its_message(lab, secret):
    """A wrong value stands for the code that makes it; each comes from another rule, or from a step left out."""
    of = variant(lab, secret)
    notebook, names, seen = solved(of, "ada"), {"__name__": "__main__"}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(cell["source"], named(cell), "exec"), names)
        for call in mistakes(cell["source"]) if named(cell) in of.kit.NAMES else ():
            what, _, expected, ideas = (eval(compile(ast.Expression(node), "", "eval"), names) for node in call.args)
            for wrong, idea in ideas:
                if wrong == expected:
                    continue  # under this rule it is no mistake
                with pytest.raises(AssertionError) as raised:
                    names["check"](what, wrong, expected, ideas)
                assert repr(wrong) in str(raised.value) and repr(expected) in str(raised.value)
                assert idea in str(raised.value), (named(cell), wrong)
                seen += 1
    assert seen >= 4, "a lab names mistakes"


def test_the_chatbot_of_lab_4_is_short():
    bot = cell_of(solved(variant("lab4_repair_the_forgetful_chatbot")), "bot")["source"]
    assert "class Bot" in bot and len(bot.splitlines()) < 80
