"""A trace of `contextlab.forgotten` as one page that asks nothing of any host, with the strips to step through.

The page has its script, its style sheet and its data inside. With ``redact`` every sign of a text that is no white
space is a low line; sizes stay those of the original.
"""

from __future__ import annotations

from ..forgotten import FIRST, NAME_KEY, ForgottenTrace, as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..replay import CountedChat

__all__ = ["html_page", "redacted", "script", "shown", "style"]

MOST_SHOWN = 160  # code points of a message's text that a page carries
OWN_KEYS = (None, FIRST, NAME_KEY, "units", "language of replies")  # words of the patterns, not of the chat
PARTS = ("../widgets/js/core.js", "../widgets/js/strip.js", "view.js")
LOCAL = "It was made on this machine, and nothing in it was sent anywhere. Who has this file can read what it shows."


def redacted(text: str) -> str:
    """Return ``text`` with a low line for every sign that is no white space: as long as before, and without a word.

    >>> redacted("My name is Ada.")
    '__ ____ __ ____'
    """
    return "".join(sign if sign.isspace() else "_" for sign in text)


def redacted_trace(trace: ForgottenTrace) -> ForgottenTrace:
    """Return a trace whose title, facts and keys are blank; all numbers stay.

    >>> from contextlab.chat import Message
    >>> from contextlab.forgotten import look_back
    >>> from contextlab.render import PlainRule
    >>> trace = look_back([Message("user", "I'm Ada.")], PlainRule(len), windows=[100])
    >>> [fact.text for fact in redacted_trace(trace).windows[0].facts]
    ['___ ____', '___']
    """

    def blank(fact):
        key = fact.key if fact.key in OWN_KEYS else redacted(fact.key)
        return fact._replace(text=redacted(fact.text), key=key)

    windows = tuple(window._replace(facts=tuple(map(blank, window.facts))) for window in trace.windows)
    return trace._replace(title=redacted(trace.title), windows=windows)


def shown(trace: ForgottenTrace, chat: CountedChat, redact: bool = False) -> dict:
    """Return what a page shows of a trace: its fields, and role, units, turn and beginning of each message."""
    data = as_dict(redacted_trace(trace) if redact else trace)
    history = chat.history
    data["blocks"] = []
    for i, message in enumerate(history.messages):
        text = message.text[:MOST_SHOWN]
        data["blocks"].append(
            [message.role, history.units(i, i + 1), chat.turn_of(i), redacted(text) if redact else text]
        )
    return data


def script() -> str:
    """Return the script of the view, as the page of the book has it too."""
    return "".join(_read(part) for part in PARTS)


def style() -> str:
    """Return the style sheet of the view: that of the widgets, and what the trace adds."""
    return _read("../widgets/family.css") + _read("page.css")


def html_page(shown_traces: Iterable[dict], redact: bool = False) -> str:
    """Return the page of one or several traces from `shown`.

    >>> page = html_page([])
    >>> page.startswith("<!doctype html>"), "http:" in page.replace("http://www.w3.org/2000/svg", "")
    (True, False)
    """
    import json
    from html import escape

    traces = list(shown_traces)
    data = json.dumps(traces, ensure_ascii=True).replace("<", "\\u003c")
    text_form = "".join(_text_form(trace, escape) for trace in traces)
    blank = " Every word is blank; the sizes are those of the original." if redact else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in (traces[0]["assumptions"] if traces else ()))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>What did my chat forget?</title>
<style>
{_read("alone.css")}{style()}</style>
</head>
<body>
<main>
<h1>What did my chat forget?</h1>
<p>{LOCAL}{blank}</p>
<noscript><p>Scripts are off: below is the table of what was said, without the strips.</p></noscript>
<div id="traces">{text_form}</div>
<h2>What is assumed</h2>
{notes}
</main>
<script type="application/json" id="data">{data}</script>
<script>
"use strict";
(() => {{
{script()}{_read("alone.js")}}})();
</script>
</body>
</html>
"""


POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def _text_form(trace, escape):
    """Return the facts of a trace as a table, for a page whose scripts are off."""
    rows = []
    for window in trace["windows"]:
        for fact in window["facts"]:
            gone = "never" if fact["drop_turn"] is None else f"request {fact['drop_turn']:,}"
            rows.append(f"<tr><td>{window['window']:,}</td><td>{escape(fact['text'][:80])}</td><td>{gone}</td></tr>")
    head = "<tr><th>Window</th><th>What was said</th><th>Gone at</th></tr>"
    return f'<h2>{escape(trace["title"])}</h2><table class="clw-table">{head}{"".join(rows)}</table>'


def _read(name: str) -> str:
    from pathlib import Path

    return (Path(__file__).parent / name).resolve().read_text(encoding="utf-8")
