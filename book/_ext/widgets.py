"""Brings the widgets of the book to the pages: each module once, as a hashed file, and little JSON on the page."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from contextlab import widgets
from contextlab.widgets import assets, base

FOLDER = "widgets"  # below _static
LOADER = Path(__file__).with_name("loader.js")

# Before the first paint: text forms are folded at the height of the live ones, so that nothing jumps. When the
# scripts do not arrive, they are unfolded again.
HEAD = (
    '<script>document.documentElement.classList.add("clw-js");addEventListener("load",function(){'
    'if(!window.contextlabReady)document.documentElement.classList.remove("clw-js")})</script>'
)


def records(notebook: dict) -> tuple[list[dict], dict | None]:
    """Return what a page needs of each saved widget, and the family that they came with."""
    shown, family = [], None
    for model in base.saved_models(notebook).values():
        state = model["state"]
        if state.get("_anywidget_id") == base.FAMILY_ID:
            family = {name: state[name] for name in ("source", "sheet")}
        elif "family" in state and "kind" in state:
            shown.append({"uid": state["uid"], "kind": state["kind"], "data": state["data"]})
    return shown, family


def as_classic_script(source: str, digest: str) -> str:
    """Turn the module into a script that a page opened from disk may load: its export becomes a value."""
    head, export, value = source.rpartition("export default ")
    if not export or "\nimport " in source:
        raise ValueError("the module of the widgets has to end with `export default` and import nothing")
    return f'"use strict";(window.contextlabModules??={{}})["{digest}"]=(()=>{{\n{head}return {value}}})();\n'


def write(app, source: str, sheet: str) -> tuple[str, str, str]:
    """Write module, stylesheet and loader under names that carry their hash; return digest and both names."""
    folder = Path(app.outdir) / "_static" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)

    def put(stem: str, suffix: str, text: str, digest: str | None = None) -> str:
        name = f"{stem}.{digest or hashlib.sha256(text.encode()).hexdigest()[:12]}{suffix}"
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="utf-8")
        return f"_static/{FOLDER}/{name}"

    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    module = put("family", ".js", as_classic_script(source, digest), digest)
    put("family", ".css", sheet)
    return digest, module, put("loader", ".js", LOADER.read_text("utf-8"))


def kind_of(script) -> str | None:
    """Return the type of a script of the page: that of the widget state is not for this page."""
    return getattr(script, "attributes", {}).get("type")


def on_page(app, pagename, templatename, context, doctree) -> None:
    """Give a page with widgets its state, the module, the stylesheet and the loader; other pages get nothing."""
    body = context.get("body") or ""
    if 'class="clw-place"' not in body:
        return
    shown, family = [], None
    for _, attributes in app.env.nb_metadata.get(pagename, {}).get("js_files", {}).values():
        if attributes.get("type") == base.WIDGET_STATE:
            state = json.loads(attributes["body"])
            shown, family = records({"metadata": {"widgets": {base.WIDGET_STATE: state}}})
    context["script_files"] = [one for one in context["script_files"] if kind_of(one) != base.WIDGET_STATE]
    shown += app.env.metadata.get(pagename, {}).get("contextlab_widgets", [])
    family = family or {"source": assets.module_source(), "sheet": assets.stylesheet()}
    digest, module, loader = write(app, family["source"], family["sheet"])
    sheet = f"_static/{FOLDER}/family.{hashlib.sha256(family['sheet'].encode()).hexdigest()[:12]}.css"
    lines = {one["uid"]: json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in shown}
    state = "\n".join(lines.values()).replace("<", "\\u003c")
    pathto = context["pathto"]
    context["css_files"] = [*context["css_files"], sheet]
    context["metatags"] = f"{context.get('metatags', '')}\n{HEAD}"
    context["body"] = (
        f'{body}\n<script type="application/json" id="contextlab-widgets" data-module="{digest}">\n{state}\n</script>'
        f'\n<script src="{pathto(module, 1)}" defer></script>\n<script src="{pathto(loader, 1)}" defer></script>\n'
    )


class WidgetDirective(SphinxDirective):
    """Put a widget on a prose page: ```{widget} progress()```."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        try:
            expression = ast.parse(self.arguments[0], mode="eval").body
            function = getattr(widgets, expression.func.id)
            values = [ast.literal_eval(one) for one in expression.args]
            widget = function(*values, **{one.arg: ast.literal_eval(one.value) for one in expression.keywords})
        except (AttributeError, SyntaxError, TypeError, ValueError) as error:
            raise self.error(f"widget: {self.arguments[0]!r} is no call of a widget: {error}") from None
        record = {"uid": widget.uid, "kind": widget.kind, "data": widget.data}
        self.env.metadata[self.env.docname].setdefault("contextlab_widgets", []).append(record)
        return [nodes.raw("", widget._repr_mimebundle_()[0]["text/html"], format="html")]


def drop_stale(app, exception) -> None:
    """Remove modules and stylesheets to which no page refers any more."""
    folder = Path(app.outdir) / "_static" / FOLDER
    if exception or not folder.is_dir():
        return
    pages = "".join(page.read_text("utf-8") for page in Path(app.outdir).rglob("*.html"))
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()


def setup(app) -> dict:
    app.add_directive("widget", WidgetDirective)
    # The text form is the page's form: it comes before the widget view, which needs a widget manager.
    app.connect("config-inited", prefer_text_form)
    # After the hook that keeps only the styles and scripts of the frame.
    app.connect("html-page-context", on_page, priority=950)
    app.connect("build-finished", drop_stale, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def prefer_text_form(app, config) -> None:
    """Put `text/html` before the widget view for all builders that write HTML."""
    wanted = [(name, base.WIDGET_VIEW, 35) for name in ("html", "dirhtml", "singlehtml")]
    config.nb_mime_priority_overrides = [*config.nb_mime_priority_overrides, *wanted]
    config.nb_ipywidgets_js = {}
