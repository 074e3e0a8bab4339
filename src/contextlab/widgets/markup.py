"""The text form of a widget: what a page shows before, or without, the module."""

from __future__ import annotations

import re
from html import escape

CODE = re.compile(r"```\n(.*?)\n```|`([^`]+)`|\*([^*\s](?:[^*]*[^*\s])?)\*", re.S)


def html(text: str) -> str:
    """Turn the small markup of questions and feedback into HTML.

    Back ticks mark code, three of them on lines of their own a block of code, stars mark emphasis,
    an empty line starts a new paragraph. Everything else is text.

    >>> html("`a < b` is *not* 3 < 4")
    '<code>a &lt; b</code> is <em>not</em> 3 &lt; 4'
    """

    def mark(match: re.Match) -> str:
        block, code, stressed = match.groups()
        if block is not None:
            return f"<pre>{block}</pre>"
        return f"<code>{code}</code>" if code is not None else f"<em>{stressed}</em>"

    return CODE.sub(mark, escape(text.strip(), quote=False))


def paragraphs(text: str) -> str:
    """Turn a text of several paragraphs into HTML paragraphs."""
    parts = re.split(r"\n\s*\n", html(text))
    return "".join(part if part.startswith("<pre>") else f"<p>{part}</p>" for part in parts if part.strip())


def grouped(value: object) -> str:
    """Write a number with commas between thousands.

    >>> grouped("4167129"), grouped(-424), grouped("0.358")
    ('4,167,129', '−424', '0.358')
    """
    whole, dot, fraction = str(value).partition(".")
    return f"{int(whole):,}".replace("-", "−") + dot + fraction


def table(data: dict) -> str:
    """Return the HTML of a table `{"head": [...], "rows": [[...]]}` whose cells are HTML."""
    first = data["rows"][0] if data["rows"] else [""] * len(data["head"])
    words = [' class="clw-words"' if re.search("[A-Za-z]{2}", cell) else "" for cell in first]
    head = "".join(f'<th scope="col"{kind}>{cell}</th>' for kind, cell in zip(words, data["head"], strict=True))
    rows = "".join(
        f'<tr><th scope="row"{words[0]}>{row[0]}</th>'
        + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(words[1:], row[1:], strict=True))
        + "</tr>"
        for row in data["rows"]
    )
    return f'<table class="clw-table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def fallback(kind: str, uid: str, data: dict) -> str:
    """Return the text form of a widget: question, settings as a table, folded solution.

    Its head and question have the elements of the live form, so that a page does not jump when the module
    takes over; `--rest` reserves the height of what differs.
    """
    task = {**data, **data["variants"][0]} if data.get("variants") else data
    rest = "".join(_rest(kind, task))
    anchor = f' id="{data["anchor"]}"' if data.get("anchor") and kind != "outcome" else ""
    return (
        f'<div class="clw-place"{anchor} data-clw="{escape(uid)}">'
        f'<div class="clw" role="group" data-kind="{kind}" aria-label="{escape(data["title"])}">'
        f'<div class="clw-head"><span class="clw-label">{escape(data["label"])}</span><span class="clw-state"></span>'
        f'<p class="clw-title">{escape(data["title"])}</p></div>'
        + (f'<div class="clw-question">{task["question"]}</div>' if task.get("question") else "")
        + f'<p class="clw-asleep"><em>Run this cell to work on it here. This is its text form.</em></p>'
        f'<div class="clw-rest" style="--rest:{_height(kind, task)}rem">{rest}</div></div></div>'
    )


def _rest(kind: str, task: dict):
    options = task.get("options") or task.get("items")
    if options:
        marks = [option if isinstance(option, str) else option["text"] for option in options]
        yield '<ul class="clw-list">' + "".join(f"<li>{mark}</li>" for mark in marks) + "</ul>"
    if task.get("messages") and kind == "keep":
        yield table(task["table"])
    if kind == "outcome":
        yield "<p>The measured value stands in the text above, and folded under the question.</p>"
    if task.get("hints"):
        hints = "".join(f"<li>{hint}</li>" for hint in task["hints"])
        yield f"<details><summary>Hints</summary><ol>{hints}</ol></details>"
    if task.get("solution"):
        points = "".join(f"<li>{point}</li>" for point in task.get("points", ()))
        points = f"<p>Three points that an explanation contains:</p><ul>{points}</ul>" if points else ""
        yield f"<details><summary>Worked solution</summary>{task['solution']}{points}</details>"
    if task.get("table") and kind != "keep":
        if task.get("sentence_start"):
            yield f"<p>{task['sentence_start']}</p>"
        yield table(task["table"])


def _height(kind: str, task: dict) -> float:
    """Estimate the height of the live form below the question, in rem."""
    return task.get("height") or {"number": 7.5, "predict": 12.5, "outcome": 3.5}.get(kind, 20)
