"""Brings the widgets of the book to the pages: each module once, as a hashed file, and little JSON on the page.

A notebook carries its widgets as saved state, as every Jupyter front end does. A page gets less of it: the text form
of each widget (it is in the output of its cell), one line of JSON for each, and links to three files that all pages
share: the module as a classic script, its style sheet, and the loader. A page without widgets gets nothing.
"""

from __future__ import annotations

import ast
import hashlib
import json
import posixpath
from collections import namedtuple
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from contextlab import widgets
from contextlab.widgets import assets, base

FOLDER = "_static/widgets"
LOADER = Path(__file__).with_name("loader.js")
MARK = 'class="clw-place"'

# Before the first paint: text forms are folded at the height of the live ones, so that nothing jumps. When the
# scripts do not arrive, they are unfolded again.
HEAD = (
    '<script>document.documentElement.classList.add("clw-js");addEventListener("load",function(){'
    'if(!window.contextlabReady)document.documentElement.classList.remove("clw-js")})</script>'
)

Parts = namedtuple("Parts", "sheet head tail")
Parts.__doc__ = "What a page with widgets gets: name of its style sheet, HTML for its head, HTML for its end."


def records(notebook: dict) -> tuple[list[dict], dict | None]:
    """Return what a page needs of each saved widget, and module and style sheet that they came with."""
    shown, family = [], None
    for model in base.saved_models(notebook).values():
        state = model["state"]
        if state.get("_anywidget_id") == base.FAMILY_ID:
            family = {name: state[name] for name in ("source", "sheet")}
        elif "family" in state and "kind" in state:
            shown.append(record(state))
    return shown, family


def record(state: dict) -> dict:
    return {name: state[name] for name in ("uid", "kind", "data")}


def parts(outdir: Path, shown: list[dict], family: dict | None = None, up: str = "") -> Parts:
    """Write the files that the widgets need, when they are not there yet; return what the page has to say.

    Args:
        outdir: folder of the built site.
        shown: what `records` returned.
        family: module and style sheet; those of the package by default.
        up: way from the page to `outdir`, such as "../".
    """
    family = family or {"source": assets.module_source(), "sheet": assets.stylesheet()}
    module, digest = put(outdir, "family", ".js", family["source"], as_classic_script)
    sheet, _ = put(outdir, "family", ".css", family["sheet"])
    loader, _ = put(outdir, "loader", ".js", LOADER.read_text("utf-8"))
    lines = {one["uid"]: json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in shown}
    state = "\n".join(lines.values()).replace("<", "\\u003c")
    tail = (
        f'\n<script type="application/json" id="contextlab-widgets" data-module="{digest}">\n{state}\n</script>'
        f'\n<script src="{up}{module}" defer></script>\n<script src="{up}{loader}" defer></script>\n'
    )
    return Parts(sheet, HEAD, tail)


def put(outdir: Path, stem: str, suffix: str, text: str, form=None) -> tuple[str, str]:
    """Write a text under a name that carries its hash; return name and hash."""
    digest = digest_of(text)
    name = f"{FOLDER}/{stem}.{digest}{suffix}"
    path = outdir / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(form(text, digest) if form else text, encoding="utf-8")
    return name, digest


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def as_classic_script(source: str, digest: str) -> str:
    """Turn the module into a script that a page opened from disk may load: its export becomes a value."""
    before, export, value = source.rpartition("export default ")
    if not export or "\nimport " in source:
        raise ValueError("the module of the widgets has to end with `export default` and import nothing")
    return f'"use strict";(window.contextlabModules??={{}})["{digest}"]=(()=>{{\n{before}return {value}}})();\n'


def on_page(app, pagename, templatename, context, doctree) -> None:
    """Give a page with widgets its state, the module, the style sheet and the loader."""
    body = context.get("body") or ""
    if MARK not in body:
        return
    shown, family = [], None
    # myst-nb keeps the whole state of the notebook for a script of the page; the frame drops that script.
    for _, attributes in getattr(app.env, "nb_metadata", {}).get(pagename, {}).get("js_files", {}).values():
        if attributes.get("type") == base.WIDGET_STATE:
            state = json.loads(attributes["body"])
            shown, family = records({"metadata": {"widgets": {base.WIDGET_STATE: state}}})
    shown += app.env.metadata.get(pagename, {}).get("contextlab_widgets", [])
    context["script_files"] = [one for one in context["script_files"] if kind_of(one) != base.WIDGET_STATE]
    got = parts(Path(app.outdir), shown, family, "../" * pagename.count("/"))
    context["css_files"] = [*context["css_files"], got.sheet]
    context["metatags"] = f"{context.get('metatags', '')}\n{got.head}"
    context["body"] = body + got.tail


def kind_of(script) -> str | None:
    return getattr(script, "attributes", {}).get("type")


def drop_stale(app, exception) -> None:
    """Remove modules and style sheets to which no page refers any more."""
    folder = Path(app.outdir) / FOLDER
    if exception or not folder.is_dir():
        return
    pages = "".join(page.read_text("utf-8") for page in Path(app.outdir).rglob("*.html"))
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()


class WidgetDirective(SphinxDirective):
    """Put a widget on a prose page: ```{widget} progress()```."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        try:
            call = ast.parse(self.arguments[0], mode="eval").body
            function = getattr(widgets, call.func.id)
            values = [ast.literal_eval(one) for one in call.args]
            widget = function(*values, **{one.arg: ast.literal_eval(one.value) for one in call.keywords})
        except (AttributeError, SyntaxError, TypeError, ValueError) as error:
            raise self.error(f"widget: {self.arguments[0]!r} is no call of a widget: {error}") from None
        shown = {"uid": widget.uid, "kind": widget.kind, "data": dict(widget.data)}
        if widget.kind == "progress":
            shown["data"]["pages"] = self.chapters()
        self.env.metadata[self.env.docname].setdefault("contextlab_widgets", []).append(shown)
        return [nodes.raw("", widget._repr_mimebundle_()[0]["text/html"], format="html")]

    def chapters(self) -> dict[str, str]:
        """Return where each chapter is, seen from this page: number → address."""
        here = posixpath.dirname(self.env.docname)
        found = {name.rsplit("/", 1)[-1][:2]: name for name in self.env.found_docs if name.startswith("notebooks/")}
        return {number: posixpath.relpath(name, here or ".") + ".html" for number, name in sorted(found.items())}


def prefer_text_form(app, config) -> None:
    """Put the text form before the widget view, which would need a widget manager."""
    wanted = [(name, base.WIDGET_VIEW, 35) for name in ("html", "dirhtml", "singlehtml")]
    config.nb_mime_priority_overrides = [*config.nb_mime_priority_overrides, *wanted]
    config.nb_ipywidgets_js = {}


def setup(app) -> dict:
    app.add_directive("widget", WidgetDirective)
    app.connect("config-inited", prefer_text_form)
    # After the hook that keeps only the styles and scripts of the frame.
    app.connect("html-page-context", on_page, priority=950)
    app.connect("build-finished", drop_stale, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
