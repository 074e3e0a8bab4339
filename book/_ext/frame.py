"""What the site needs beyond Jupyter Book: no dead scripts, numbered titles, no leftovers in the output."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

# Extensions that Jupyter Book always loads and this book does not use: Thebe would add a script from another
# host to every page, comments a second one.
UNUSED = ("sphinx_thebe", "sphinx_comments")

# A page needs one script. The search page names the scripts of Sphinx's search in its own template.
SCRIPTS = ("book.js",)
SEARCH_SCRIPTS = ("documentation_options.js", "doctools.js")
# Our own sheet is linked; those of the theme and its extensions go into a cascade layer below it.
STYLES = ("contextlab.css",)
THEME_STYLES = re.compile(r"pygments|sphinx-book-theme|mystnb|sphinx-design")

# Never loaded by any page: source maps, fonts and scripts of parts of the theme that the templates replace.
LEFTOVERS = (
    "_static/**/*.map",
    "_static/**/*.LICENSE.txt",
    "_static/vendor",
    "_static/forgotten",  # joined to one script by the directive `trace-page`
    "_static/scripts",
    "_static/locales",
    "_static/basic.css",
    "_static/styles/theme.css",
    "_static/styles/pydata-sphinx-theme.css",
    "_static/images",
    "_static/__pycache__",
    "_static/sphinx-thebe.js",
    "_static/sphinx-thebe.css",
    "_static/sphinx-book-theme.*",
    "_static/webpack-macros.html",
    "_static/sbt-webpack-macros.html",
    "_static/design-tabs.js",
    "_static/togglebutton.*",
    "_static/copybutton*",
    "_static/copy-button.svg",
    "_static/check-solid.svg",
    "_static/clipboard.min.js",
    "_static/*.png",
    "_sources",
    ".buildinfo",  # a hash of paths of this machine; every build is a full one
)

REDIRECT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="_static/favicon.svg" type="image/svg+xml">
<meta http-equiv="refresh" content="0; url={target}">
</head>
<body><main><h1>{title}</h1><h2><a href="{target}">Open the book</a></h2></main></body>
</html>
"""


class NumberedTitle(SphinxTransform):
    """Mark the number in a chapter title such as "05 When is it forgotten?", for the style sheet."""

    default_priority = 300

    def apply(self) -> None:
        for title in self.document.findall(nodes.title):
            first = title.children[0] if title.children else None
            if not isinstance(first, nodes.Text) or title.parent.parent is not self.document:
                continue
            if match := re.match(r"(\d\d) (?=\S)", first):
                number = nodes.inline("", match[1], classes=["chapter-number"])
                title.children[0:1] = []
                title.insert(0, [number, nodes.Text(" " + first[match.end() :])])


class folded(nodes.Element):
    """An aside with the class `dropdown`: a <details>, which opens without a script."""


class folded_title(nodes.Element):
    """What one sees of it while it is closed."""


class FoldAsides(SphinxPostTransform):
    """Render `:class: dropdown` as <details>; the extension that Jupyter Book brings for it needs a script."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs) -> None:
        for aside in list(self.document.findall(nodes.Admonition)):
            if "dropdown" not in aside["classes"]:
                continue
            title = aside.next_node(nodes.title, descend=True)
            label = title.children if title in aside.children else [nodes.Text(aside.tagname.capitalize())]
            body = [child for child in aside.children if child is not title]
            kept = [name for name in aside["classes"] if name != "dropdown"]
            aside.replace_self(folded("", folded_title("", *label), *body, classes=kept, ids=aside["ids"]))


def visit_folded(self, node: folded) -> None:
    self.body.append(self.starttag(node, "details", CLASS="folded"))


def depart_folded(self, node: folded) -> None:
    self.body.append("</details>\n")


def visit_folded_title(self, node: folded_title) -> None:
    self.body.append("<summary>")


def depart_folded_title(self, node: folded_title) -> None:
    self.body.append("</summary>\n")


def visit_citation(self, node: nodes.citation) -> None:
    """A source is an item of a list; the role that docutils writes is deprecated and not allowed there."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        self.body.append('<div role="list" class="citation-list">\n')
    self.body.append(self.starttag(node, "div", CLASS="citation", role="listitem"))


def depart_citation(self, node: nodes.citation) -> None:
    self.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        self.body.append("</div>\n")


def silence(app) -> None:
    """Disconnect the event handlers of the extensions that are not used."""
    for event, listeners in app.events.listeners.items():
        app.events.listeners[event] = [one for one in listeners if not one.handler.__module__.startswith(UNUSED)]


def trim(app, pagename, templatename, context, doctree) -> None:
    """Keep only the scripts and styles that this page uses."""

    def name(asset) -> str:
        return str(getattr(asset, "filename", asset) or "").rsplit("/", 1)[-1].split("?")[0]

    scripts = SCRIPTS + (SEARCH_SCRIPTS if pagename == "search" else ())
    context["script_files"] = [one for one in context["script_files"] if name(one) in scripts]
    styles = {name(one): one for one in context["css_files"]}
    context["css_files"] = [styles[file] for file in STYLES]
    context["theme_css_files"] = [
        context["pathto"](str(one.filename), resource=True) for file, one in styles.items() if THEME_STYLES.match(file)
    ]


def tidy(app, exception) -> None:
    """Remove what no page loads, and pages whose source is gone; let the address of the site lead to the book."""
    if exception or app.builder.name != "html":
        return
    out = Path(app.outdir)
    for pattern in LEFTOVERS:
        for path in sorted(out.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    wanted = {out / f"{name}.html" for name in [*app.env.found_docs, "search"]}
    for page in set(out.rglob("*.html")) - wanted:
        page.unlink()
    target = f"{app.config.root_doc}.html"
    (out / "index.html").write_text(REDIRECT.format(title=app.config.html_title, target=target), encoding="utf-8")
    (out / ".nojekyll").touch()


def setup(app) -> dict:
    silence(app)
    app.add_transform(NumberedTitle)
    app.add_node(folded, html=(visit_folded, depart_folded))
    app.add_node(folded_title, html=(visit_folded_title, depart_folded_title))
    app.add_post_transform(FoldAsides)
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.connect("html-page-context", trim, priority=900)
    app.connect("build-finished", tidy, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
