"""What a run leaves: grades.csv, review.csv, to_mark.csv, one page of feedback a student; and what it reads: marks.csv.

marks.csv has the columns student, question, criterion, points, comment: one row for each criterion of a rubric.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

from jinja2 import Environment

from .kit import Variant
from .lab import blocks, points

MARKS = ("student", "question", "criterion", "points", "comment")


class MarksError(ValueError):
    """A row of marks.csv is not what the rubric asks for."""


def read_marks(file: Path, variant: Variant) -> dict[tuple[str, str], dict[str, tuple[float, str]]]:
    """Return (student, question) -> criterion -> (points, comment); nothing when there is no such file.

    Raises `MarksError`, with the line, for an unknown question or criterion and for points that the rubric does not
    give.
    """
    found: dict = {}
    if not file.is_file():
        return found
    with open(file, encoding="utf-8-sig", newline="") as opened:
        for line, row in enumerate(csv.DictReader(opened), 2):
            where = f"{file.name}, line {line}"
            if any(row.get(name) is None for name in MARKS):
                raise MarksError(f"{where}: the columns are {', '.join(MARKS)}")
            rubric = variant.kit.RUBRICS.get(row["question"])
            if rubric is None or row["criterion"] not in rubric:
                raise MarksError(f"{where}: there is no criterion {row['criterion']!r} of {row['question']!r}")
            if not row["points"].strip():
                continue  # not marked yet
            most = rubric[row["criterion"]][0]
            try:
                worth = float(row["points"].replace(",", "."))
            except ValueError:
                raise MarksError(f"{where}: {row['points']!r} is no number of points") from None
            if not 0 <= worth <= most:
                raise MarksError(f"{where}: {row['points']} points; the criterion has from 0 to {most}")
            key = row["student"].strip().lower(), row["question"]
            found.setdefault(key, {})[row["criterion"]] = (worth, row["comment"].strip())
    return found


def totals(variant: Variant, result: dict, given: dict) -> dict[str, float | None]:
    """Return question -> points; None for a question that nobody has marked yet, or that was not graded."""
    sums: dict[str, float | None] = {}
    for question in points(variant.lab):
        sums[question] = None if not result["checks"] else 0
    for block in blocks(variant.lab):
        if not result["checks"]:
            continue
        if block.role == "check":
            sums[block.question] += result["checks"][block.id]["points"]
        elif block.role == "written":
            sums[block.question] = _written(variant, result, block.id, given)
    return sums


def _written(variant: Variant, result: dict, question: str, given: dict) -> float | None:
    if result["written"][question] is None:
        return 0
    marks = given.get((result["student"].lower(), question), {})
    if marks.keys() != variant.kit.RUBRICS[question].keys():
        return None
    return sum(worth for worth, _ in marks.values())


def write(variant: Variant, results: list[dict], given: dict, out: Path) -> None:
    """Write every file of a run."""
    worth = points(variant.lab)
    grades, review, to_mark = [], [], []
    (out / "feedback").mkdir(parents=True, exist_ok=True)
    for result in results:
        sums = totals(variant, result, given)
        complete = result["status"] == "graded" and None not in sums.values()
        total = sum(sums.values()) if complete else None
        state = result["status"] if complete or result["status"] != "graded" else "to be marked"
        grades.append([result["student"], result["key"], state, *sums.values(), total, sum(worth.values())])
        review += [[result["student"], result["file"], *remark] for remark in result["remarks"]]
        to_mark += _open(variant, result, given)
        from .course import slug

        page = feedback(variant, result, sums, given, total)
        _put(out / "feedback" / f"{slug(result['key'])}.html", page)
    head = ["student", "file of", "status", *worth, "total", "out of"]
    table(out / "grades.csv", head, grades)
    table(out / "review.csv", ["student", "file", "what", "detail"], review)
    table(out / "to_mark.csv", [*MARKS, "most", "rubric", "answer"], to_mark)


def _open(variant: Variant, result: dict, given: dict) -> list[list]:
    """Rows of to_mark.csv: each criterion of an answer that is not marked yet."""
    rows = []
    for question, text in result["written"].items():
        marks = given.get((result["student"].lower(), question), {})
        for criterion, (most, what) in variant.kit.RUBRICS[question].items():
            if text is not None and criterion not in marks:
                rows.append([result["student"], question, criterion, "", "", most, what, text])
    return rows


def table(file: Path, head: list[str], rows: list[list]) -> None:
    """Write a CSV file; a cell that a spreadsheet would run as a formula gets an apostrophe in front."""
    beside = file.with_suffix(".part")
    with open(beside, "w", encoding="utf-8", newline="", errors="replace") as opened:
        writer = csv.writer(opened)
        writer.writerow(head)
        writer.writerows([[_cell(value) for value in row] for row in rows])
    os.replace(beside, file)


def _cell(value):
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return "" if value is None else value


def _put(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", errors="replace", newline="\n")


PAGE = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}: {{ student }}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8886; vertical-align: top }
td:last-child, th:last-child { text-align: right; white-space: nowrap }
</style>
</head>
<body>
<h1>{{ title }}</h1>
<p>{{ student }}. {{ state }}</p>
<table>
<thead><tr><th>Question</th><th>What was looked at</th><th>Result</th><th>Points</th></tr></thead>
<tbody>
{% for row in rows %}
<tr><td>{{ row[0] }}</td><td>{{ row[1] }}</td><td>{{ row[2] }}</td><td>{{ row[3] }}</td></tr>
{% endfor %}
</tbody>
</table>
{% if errors %}
<h2>Cells that stopped with an error</h2>
<ul>
{% for cell, error in errors %}
<li>{{ cell }}{% if error.line %}, line {{ error.line }}{% endif %}: {{ error.name }}{% if error.text %}: \
{{ error.text }}{% endif %}</li>
{% endfor %}
</ul>
{% endif %}
{% if notes %}
<h2>For your teacher to look at</h2>
<ul>
{% for what, detail in notes %}
<li>{{ what }}: {{ detail }}</li>
{% endfor %}
</ul>
{% endif %}
</body>
</html>
""")


def feedback(variant: Variant, result: dict, sums: dict, given: dict, total: float | None) -> str:
    """Return the page for one student: names of checks, never their cases; errors of cells, never of hidden calls."""
    rows = []
    for block in blocks(variant.lab):
        if not result["checks"] or not block.points:
            continue
        number = block.question.removeprefix("q")
        if block.role == "check":
            seen = result["checks"][block.id]
            said = "right" if seen["points"] else f"not yet{': ' if seen['why'] else ''}{seen['why']}"
            rows.append([number, seen["name"], said, f"{seen['points']} of {seen['out of']}"])
        else:
            rows += _written_rows(variant, result, block, given)
    state = {
        "not graded": "This work could not be graded. That is no zero: your teacher looks at it.",
        "needs review": "Your teacher looks at this work before the points count.",
    }.get(result["status"], "")
    if total is not None:
        state = f"{total:g} of {sum(points(variant.lab).values())} points."
    elif not state:
        state = "The written answers are not marked yet."
    errors = [(cell["cell"], cell["error"]) for cell in result["errors"] if not _is_check(variant, cell["cell"])]
    return PAGE.render(
        title=f"Lab {variant.lab[3]} · {variant.kit.TITLE}",
        student=result["student"],
        state=state,
        rows=rows,
        errors=errors,
        notes=result["remarks"],
    )


def _is_check(variant: Variant, cell: str) -> bool:
    return cell in variant.kit.NAMES


def _written_rows(variant: Variant, result: dict, block, given: dict) -> list[list]:
    number = block.question.removeprefix("q")
    if result["written"][block.id] is None:
        return [[number, "your text", "no answer", f"0 of {block.points}"]]
    marks = given.get((result["student"].lower(), block.id), {})
    rows = []
    for criterion, (most, what) in variant.kit.RUBRICS[block.id].items():
        worth, comment = marks.get(criterion, (None, ""))
        rows.append([number, f"{criterion}: {what}", comment, f"{'–' if worth is None else f'{worth:g}'} of {most}"])
    return rows
