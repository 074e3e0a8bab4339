"""Formulas become MathML when the book is built, so that no page needs a script to show one."""

from __future__ import annotations

import html

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def to_mathml(latex: str, display: str, location: nodes.Node | None = None) -> str:
    """Return `latex` as a <math> element that keeps its source as `alttext`."""
    try:
        mathml = convert(latex, display=display)
    except Exception as error:
        logger.warning("formula cannot become MathML: %s (%s)", latex, error, location=location)
        return f"<code>{html.escape(latex)}</code>"
    source = html.escape(" ".join(latex.split()))
    return mathml.replace("<math ", f'<math alttext="{source}" ', 1)


def visit_math(self, node: nodes.math) -> None:
    self.body.append(f'<span class="math">{to_mathml(node.astext(), "inline", node)}</span>')
    raise nodes.SkipNode


def visit_displaymath(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(to_mathml(node.astext(), "block", node))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    try:
        app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    except ExtensionError as error:
        raise ExtensionError(f"mathml: {error}") from error
    return {"parallel_read_safe": True, "parallel_write_safe": True}
