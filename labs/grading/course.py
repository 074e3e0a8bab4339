"""A folder of submissions, student by student. What is done is kept, so that a run that was stopped goes on."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import report
from .intake import Submission, submissions
from .kit import Variant
from .lab import TEXT_STUB, blocks, release, source
from .lint import WrongLab, work
from .marks import mark
from .sandbox import Limits, walls

CODE = ("kit.py", "lab.py", "lint.py", "marks.py", "inside.py", "sandbox.py", "course.py")


def grade(
    variant: Variant,
    folder: Path,
    out: Path,
    *,
    limits: Limits = Limits(),  # noqa: B008 - a tuple of numbers
    walled: bool = True,
    jobs: int = 2,
    again: bool = False,
    progress: Callable[[int, int, str], None] = lambda done, of, who: None,
) -> list[dict]:
    """Grade every submission in ``folder`` and write grades.csv, review.csv, to_mark.csv and feedback to ``out``.

    ``walled``: in the sandbox; else with the rights of whoever grades. ``jobs``: submissions at a time. ``again``:
    also what an earlier run has finished. ``progress`` is told how many are done, of how many, and whose was last.
    Marks for written answers are read from ``out``/marks.csv. Raises `NoSandbox` when there is none, and `ValueError`
    for a folder or a file of marks that cannot be read.
    """
    if walled:
        walls()
    found = submissions(folder, variant.lab)
    given = report.read_marks(out / "marks.csv", variant)
    kept = out / "students"
    kept.mkdir(parents=True, exist_ok=True)
    made = release(source(variant))
    print_of_run = _fingerprint(variant, limits, walled)
    results = []

    def one(submission: Submission) -> dict:
        file = kept / f"{slug(submission.key)}.json"
        known = hashlib.sha256(print_of_run + submission.data + repr(submission.remarks).encode()).hexdigest()
        if not again and (before := _read(file)) and before["fingerprint"] == known:
            return before
        try:
            result = {"fingerprint": known, **assess(variant, submission, made, limits, walled)}
        except Exception as error:  # one submission never stops the others
            remark = ["the grader stopped", f"{submission.place}: {type(error).__name__}: {str(error)[:200]}"]
            return _nothing(submission, [remark])
        beside = file.with_suffix(".part")  # a run that is stopped leaves no half result
        beside.write_text(json.dumps(result, indent=1), encoding="utf-8")
        os.replace(beside, file)
        return result

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        for done, result in enumerate(_in_order(pool, one, found), 1):
            results.append(result)
            progress(done, len(found), result["student"])
    _compare(results)
    report.write(variant, results, given, out)
    return results


def _in_order(pool: ThreadPoolExecutor, one, found: list) -> Iterator[dict]:
    waiting = [pool.submit(one, submission) for submission in found]
    try:
        for future in waiting:
            yield future.result()
    finally:
        for future in waiting:
            future.cancel()


def assess(variant: Variant, submission: Submission, made: dict, limits: Limits, walled: bool = True) -> dict:
    """Return what one submission has earned, as plain data. ``made`` is the release of the variant.

    ``status`` is "graded", "needs review" (a person has to look before the mark counts) or "not graded".
    """
    result = _nothing(submission, [])
    remarks = result["remarks"]
    if submission.notebook is None:
        return result
    try:
        found = work(submission.notebook, made)
    except WrongLab as error:
        remarks.append(["a file was not read", f"{submission.place}: {error}"])
        return result
    remarks += map(list, found.remarks)
    if found.student in ("", "demo"):
        remarks.append(["the notebook does not say whose it is", "its numbers are those of the id 'demo'"])
    else:
        result["student"] = found.student
    marked = mark(variant, found.student or "demo", found.cells, limits, walled)
    for lost in marked["lost"]:
        remarks.append(["the process was lost", f"{lost['at']}: {lost['why']}"])
    for check, seen in marked["checks"].items():
        if "no plain data" in seen["why"]:
            remarks.append(["a value is no plain data", f"{check}: {seen['why']}"])
    errors = [cell for cell in marked["cells"] if cell["error"]]
    for cell in errors:
        if cell["error"].get("name") == "ModuleNotFoundError":
            remarks.append(["a module is not there when grading", f"{cell['cell']}: {cell['error'].get('text')}"])
    doubtful = marked["gave up"] or marked["lost"] or found.student in ("", "demo")
    return result | {
        "status": "not graded" if marked["gave up"] else "needs review" if doubtful else "graded",
        "checks": marked["checks"],
        "written": written(variant, found.written),
        "errors": errors,
    }


def _nothing(submission: Submission, remarks: list[list[str]]) -> dict:
    """Return the result of a submission that was not graded."""
    return {
        "key": submission.key,
        "student": submission.key,
        "file": submission.place,
        "remarks": [*map(list, submission.remarks), *remarks],
        "status": "not graded",
        "checks": {},
        "written": {},
        "errors": [],
    }


def written(variant: Variant, texts: dict[str, str]) -> dict[str, str | None]:
    """Return question -> the student's text; None where there is none to mark."""
    answers = {}
    for block in blocks(variant.lab):
        if block.role == "written":
            text = texts.get(block.id, "").strip()
            answers[block.id] = text if text.replace(TEXT_STUB, "").strip() else None
    return answers


def _compare(results: list[dict]) -> None:
    """Note what only a look at all submissions shows: one id twice, and an id that is not the platform's."""
    ids = Counter(result["student"].lower() for result in results if result["checks"])
    for result in results:
        if result["checks"] and ids[result["student"].lower()] > 1:
            result["remarks"] = [*result["remarks"], ["two submissions have one id", result["student"]]]
            result["status"] = "needs review" if result["status"] == "graded" else result["status"]


def slug(key: str) -> str:
    """Return a file name for a student: letters of the name, and a hash so that two students never share one."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", key).strip("-")[:40]
    return f"{plain or 'student'}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _fingerprint(variant: Variant, limits: Limits, walled: bool) -> bytes:
    """A hash of all that decides a mark beside the submission: an older result counts while it is the same."""
    here = Path(__file__).parent
    parts = [here / name for name in CODE]
    parts += [here.parent / "kits" / f"{variant.lab}{ending}" for ending in (".py", ".txt")]
    digest = hashlib.sha256(f"{variant.lab}/{variant.secret}/{limits}/{walled}".encode())
    for path in parts:
        digest.update(path.read_bytes())
    return digest.digest()


def _read(file: Path) -> dict | None:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def read_table(file: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file as dicts."""
    with open(file, encoding="utf-8-sig", newline="") as opened:
        return list(csv.DictReader(opened))
