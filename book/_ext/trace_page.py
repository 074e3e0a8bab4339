"""The directive `trace-page`: the page on which a reader traces a chat of their own, in the browser.

Its script is the view that the command writes into a page too, and beside it the twin of the library: small parts in
`book/_static/forgotten/`, joined to one classic script, so that the page works from a disk.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

from contextlab import page
from contextlab.widgets import assets

FOLDER = Path(__file__).resolve().parents[1] / "_static" / "forgotten"
PARTS = (
    "text.js",
    "facts.js",
    "look_back.js",
    "reading.js",
    "content.js",
    "chatgpt.js",
    "readers.js",
    "exports.js",
    "page.js",
)
MARK = 'id="trace-page"'
# What stands there until the script takes over, and without one.
PLACE = f"""<div {MARK}><div class="clw"><p class="clw-title">Your conversation</p>
<p>This part of the page needs scripts, and they are off or did not arrive. The command does the same without a browser:
<code>contextlab trace FILE</code>.</p></div></div>"""


def script() -> str:
    """Return the script of the page, without the call that starts it."""
    parts = "".join((FOLDER / part).read_text("utf-8") for part in PARTS)
    return assets.stripped(page.script() + parts, "//")


class TracePage(Directive):
    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", PLACE, format="html")]


def on_page(app, pagename, templatename, context, doctree) -> None:
    body = context.get("body") or ""
    if MARK not in body:
        return
    from widgets import put  # the hook beside this one

    up = "../" * pagename.count("/")
    start = 'tracePage(document.getElementById("trace-page"));'
    name, _ = put(Path(app.outdir), "trace", ".js", f'"use strict";(()=>{{\n{script()}{start}\n}})();\n')
    sheet, _ = put(Path(app.outdir), "trace", ".css", assets.stripped(page.style(), "/*"))
    context["css_files"] = [*context["css_files"], sheet]
    context["body"] = f'{body}\n<script src="{up}{name}" defer></script>\n'


def setup(app) -> dict:
    app.add_directive("trace-page", TracePage)
    # After the hook that keeps only the styles and scripts of the frame.
    app.connect("html-page-context", on_page, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
