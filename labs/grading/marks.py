"""One submission: run its cells, ask for its values, judge them here. The result is a plain dict.

A process that ends or hangs is started again without the step at which that happened, so that one bad cell costs its
own question and no other.
"""

from __future__ import annotations

import builtins
import time
from collections import Counter

from .kit import Ask, Variant
from .lab import Block, blocks
from .sandbox import Limits, Lost, Process

PATIENCE = 2  # calls of a function that may run out of time; the rest of its calls are not made
STARTS = 6  # how often a submission is started at most


def collect(cells: list[tuple[str, str]], asks: list[Ask], limits: Limits, walled: bool) -> dict:
    """Run the cells and ask; return ``answers`` (one dict an ask, in order), ``cells``, and ``lost``: what went wrong.

    An answer that never came is ``{"lost": True}``. ``gave up`` says that the submission was not finished.
    """
    answers: list[dict | None] = [None] * len(asks)
    lost, left_out, done, slow = [], set(), [], Counter()
    ends = time.monotonic() + limits.seconds_in_all
    for _ in range(STARTS):
        with Process(limits, walled, ends) as process:
            number = None
            try:
                done = process.run([cell for cell in cells if cell[0] not in left_out])
                for number, ask in enumerate(asks):
                    if answers[number] is None and slow[ask.name] == PATIENCE:
                        answers[number] = {"error": "TimeUp"}
                    elif answers[number] is None:
                        answers[number] = process.ask(ask.name, ask.args)
                        slow[ask.name] += answers[number].get("error") == "TimeUp"
                return {"answers": answers, "cells": done, "lost": lost, "gave up": False}
            except Lost as why:
                if number is not None:
                    answers[number] = {"lost": True}
                    lost.append({"at": f"a call of {asks[number].name}", "why": str(why)})
                elif process.at is not None and process.at not in left_out:
                    left_out.add(process.at)
                    lost.append({"at": f"cell {process.at}", "why": str(why)})
                else:
                    lost.append({"at": "the start", "why": str(why)})
                    break
    return {
        "answers": [{"lost": True} if answer is None else answer for answer in answers],
        "cells": done,
        "lost": lost,
        "gave up": True,
    }


def why(answer: dict) -> str:
    """Return in words why an answer is no plain data, or "" when it is. No text of the student's code is in it."""
    if "plain" in answer:
        return ""
    if "missing" in answer:
        return "the name does not exist"
    if "not plain" in answer:
        return f"the value is no plain data: {str(answer['not plain'])[:60]}"
    if "error" in answer:
        known = isinstance(getattr(builtins, str(answer["error"]), None), type) or answer["error"] == "TimeUp"
        return f"it raised {answer['error'] if known else 'an exception of its own'}"
    return "no answer came"


def mark(variant: Variant, student: str, cells: list[tuple[str, str]], limits: Limits, walled: bool = True) -> dict:
    """Grade the code of a submission: ``checks`` (id -> points, out of, name, why), and what `collect` reports."""
    cases = variant.checks(student)
    asks = [ask for check in cases for case in cases[check] for ask in case.asks]
    found = collect(cells, asks, limits, walled)
    answers = iter(found["answers"])
    checks = {}
    for block in blocks(variant.lab):
        if block.role == "check":
            checks[block.id] = _judge(block, variant, cases[block.id], answers)
    return {"checks": checks, **{key: found[key] for key in ("cells", "lost", "gave up")}}


def _judge(block: Block, variant: Variant, cases: list, answers) -> dict:
    right, reasons = True, []
    for case in cases:
        came = [next(answers) for _ in case.asks]
        reasons += filter(None, map(why, came))
        plain = all("plain" in answer for answer in came)
        try:
            right = bool(plain and case.judge([answer["plain"] for answer in came])) and right
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError):
            right = False  # a judge met a value of another shape
    name = variant.kit.NAMES[block.id]
    return {
        "points": block.points if right else 0,
        "out of": block.points,
        "name": name,
        "why": "" if right else reasons[0] if reasons else "",
    }
