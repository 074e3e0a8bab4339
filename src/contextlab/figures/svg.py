"""Matplotlib figures as inline SVG that takes the colours and the type of the page around it.

A figure is drawn once or twice with the same data: wide, and narrow for a phone. The page shows the one that fits,
so that text keeps its size. Black becomes `currentColor`, white becomes the colour of the page, a role's colour
becomes a CSS variable with the colour itself as fallback. The text of a figure is the same on every run.
"""

from __future__ import annotations

import re
from collections import namedtuple
from contextlib import contextmanager

from ..errors import InputError, MissingDependency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure as MatplotlibFigure

ROLE_COLOURS = {
    "instructions": "#6b7280",
    "user": "#0072B2",
    "assistant": "#D55E00",
    "tool": "#009E73",
    "note": "#B35C9B",
    "reply": "#9a7d0a",
    "dropped": "#8c8c8c",
}
ROLE_LETTERS = {"instructions": "S", "user": "U", "assistant": "A", "tool": "T", "note": "N", "reply": "R"}
# The ink of a letter on a block, the same on light and dark pages; not quite white and black, which follow the page.
_LIGHT, _DARK = "#fefefe", "#010101"
LETTER_INKS = {role: _LIGHT if role in ("instructions", "user") else _DARK for role in ROLE_LETTERS}
INK = "#000000"
GROUND = "#ffffff"
WIDE, NARROW = 680, 340  # natural widths in pixels
CAPTION_WORDS = 12

# The ground of the page: our stylesheet, the theme, JupyterLab, else white.
_GROUND_CSS = "var(--cl-ground, var(--pst-color-background, var(--jp-layout-color0, #fff)))"
_CSS_COLOURS = {
    INK: "currentColor",
    GROUND: "var(--cl-g)",
    **{colour.lower(): f"var(--cl-{role}, {colour})" for role, colour in ROLE_COLOURS.items()},
}
_RULES = (
    ".cl-figure{container-type:inline-size}"
    "@container (max-width:559px)"
    "{.cl-figure>.cl-wide{display:none!important}.cl-figure>.cl-narrow{display:block!important}}"
)
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "contextlab",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],  # only to place text: the page's own font is used
    "font.size": 13,
    "axes.linewidth": 0.75,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.xmargin": 0,
    "axes.ymargin": 0,
    "xtick.major.width": 0.75,
    "ytick.major.width": 0.75,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "lines.linewidth": 1.75,
    "lines.solid_capstyle": "butt",
    "patch.linewidth": 0,
    "path.simplify": False,
}
_DROPPED_RULES = ("font-family", "stroke-linejoin")
_NUMBER = re.compile(r"-?\d*\.\d+(?:e[-+]?\d+)?", re.ASCII)
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_RECTANGLE = re.compile(r"M (\S+) (\S+) L (\S+) (\S+) L (\S+) (\S+) L (\S+) (\S+)(?: L \1 \2)? z")


class Figure(namedtuple("Figure", "wide narrow alt caption")):
    """A figure of the page: SVG text for wide and for narrow columns (or None), alternative text, caption."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        drawings = self.wide
        if self.narrow:
            drawings += self.narrow + f"<style>{_RULES}</style>"
        caption = f"<figcaption>{_escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure class="cl-figure">{drawings}{caption}</figure>'

    def __repr__(self) -> str:
        return f"Figure: {self.alt}"

    __str__ = __repr__

    def standalone(self) -> str:
        """Return the wide drawing as an SVG file for places without our stylesheet: light or dark as the viewer is."""
        style = (
            "<style>svg{color:#222;font-family:system-ui,sans-serif;--cl-ground:#fff;background:var(--cl-ground)}"
            "@media (prefers-color-scheme:dark){svg{color:#ddd;--cl-ground:#121212}}</style>"
        )
        start, end = self.wide.split(">", 1)
        return start.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + ">" + style + end + "\n"


def css_variables() -> str:
    """Return the CSS declarations of the role colours: one custom property a role.

    >>> css_variables().splitlines()[0]
    '--cl-instructions: #6b7280;'
    """
    return "\n".join(f"--cl-{role}: {colour};" for role, colour in ROLE_COLOURS.items())


@contextmanager
def style() -> Iterator[None]:
    """Apply the house style of figures to what matplotlib makes in the block, whatever the reader has set."""
    import warnings

    matplotlib = _matplotlib()
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def figure(
    draw: Callable[[MatplotlibFigure, float, float], object],
    alt: str,
    caption: str = "",
    *,
    height: float = 260,
    narrow_height: float | None = None,
) -> Figure:
    """Return the `Figure` that ``draw`` draws, once for wide and once for narrow columns.

    ``draw(fig, width, height)`` gets an empty matplotlib figure of that size in pixels; one pixel is one point, so a
    font size of 13 is 13 px on the page. ``alt``: what one would see, for those who do not. ``caption``: at most 12
    words. ``height`` and ``narrow_height``: pixels. Raises `InputError` for a missing ``alt`` or a long caption, and
    `MissingDependency` without matplotlib.

    >>> def draw(fig, width, height):
    ...     fig.add_axes([0.1, 0.2, 0.8, 0.7]).plot([1, 2, 3], [1, 4, 9], color=INK)
    >>> figure(draw, "A curve that rises from 1 to 9.", "Squares of one, two and three.")
    Figure: A curve that rises from 1 to 9.
    """
    alt, caption = _checked(alt, caption)
    drawings = []
    with style():
        for width, tall in ((WIDE, height), (NARROW, narrow_height or height)):
            fig = new(width, tall)
            draw(fig, width, tall)
            drawings.append(fig)
        return _both(drawings[0], drawings[1], alt, caption)


def svg(fig: MatplotlibFigure, alt: str, caption: str = "", narrow: MatplotlibFigure | None = None) -> Figure:
    """Return matplotlib figures made elsewhere as one `Figure`; ``narrow`` is shown in narrow columns.

    A figure's natural width on the page is its width in points (inches times 72). Make it inside `style`.
    Raises `InputError` for a missing ``alt`` or a caption of more than 12 words.
    """
    alt, caption = _checked(alt, caption)
    with style():
        return _both(fig, narrow, alt, caption)


def new(width: float, height: float) -> MatplotlibFigure:
    """Return an empty matplotlib figure of ``width`` by ``height`` pixels, without pyplot."""
    _matplotlib()
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as MatplotlibFigure

    fig = MatplotlibFigure(figsize=(width / 72, height / 72), dpi=72)
    FigureCanvasSVG(fig)
    return fig


def _matplotlib():
    try:
        import matplotlib
    except ImportError as error:
        raise MissingDependency("figures need matplotlib: pip install 'contextlab[notebook]'") from error
    return matplotlib


def _checked(alt: str, caption: str) -> tuple[str, str]:
    alt, caption = " ".join(alt.split()), " ".join(caption.split())
    if not alt:
        raise InputError("a figure needs alternative text: say in `alt` what one would see")
    if len(caption.split()) > CAPTION_WORDS:
        raise InputError(f"a caption has at most {CAPTION_WORDS} words, not {len(caption.split())}: {caption!r}")
    return alt, caption


def _both(wide: MatplotlibFigure, narrow: MatplotlibFigure | None, alt: str, caption: str) -> Figure:
    return Figure(
        _inline(wide, alt, "cl-wide", hidden=False),
        _inline(narrow, alt, "cl-narrow", hidden=True) if narrow is not None else None,
        alt,
        caption,
    )


def _inline(fig: MatplotlibFigure, alt: str, css_class: str, hidden: bool) -> str:
    """Return one matplotlib figure as the text of an `<svg>` element."""
    import hashlib
    import io
    import xml.etree.ElementTree as ET

    buffer = io.BytesIO()
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    fig.savefig(buffer, format="svg", transparent=True, metadata=no_metadata)
    root = ET.fromstring(buffer.getvalue())
    width, height = (_short(float(n)) for n in root.get("viewBox").split()[2:])
    body = "".join(ET.tostring(child, "unicode") for child in _cleaned(root))
    prefix = "cl" + hashlib.sha256((css_class + alt + body).encode()).hexdigest()[:8]
    body = body.replace(' id="', f' id="{prefix}-').replace("url(#", f"url(#{prefix}-").replace('"#', f'"#{prefix}-')
    shown = "none" if hidden else "block"
    return (
        f'<svg class="{css_class}" role="img" aria-label="{_escape(alt)}" viewBox="0 0 {width} {height}" '
        f'fill="currentColor" stroke-linejoin="round" '
        f'style="--cl-g:{_GROUND_CSS};display:{shown};width:100%;max-width:{width}px;height:auto;font-variant-numeric:lining-nums">{body}</svg>'
    )


def _cleaned(root):
    """Return the children of the root without what the page does not need: namespaces, prolog styles, unused ids."""
    xlink = "{http://www.w3.org/1999/xlink}href"
    used = set()
    for element in root.iter():
        element.tag = element.tag.rsplit("}", 1)[-1]
        if xlink in element.attrib:
            element.attrib["href"] = element.attrib.pop(xlink)
        for value in element.attrib.values():
            used.update(re.findall(r"#([\w.-]+)", value))
    return _children(root, used)


def _children(parent, used: set[str]) -> list:
    children = []
    for element in list(parent):
        if element.tag in ("metadata", "style"):
            continue
        inner = _children(element, used)
        element[:] = inner
        element.tail = None
        if element.tag != "text" and element.text and not element.text.strip():
            element.text = None
        name = element.attrib.pop("id", "")
        if name in used:
            element.set("id", name)
        elif name.startswith("cl-"):
            _label(element, name)
        _plain(element)
        if element.tag in ("g", "defs") and not inner:
            continue
        if element.tag == "g" and not element.attrib:
            children.extend(inner)
        elif element.get("style") != "fill:none" or element.tag not in ("path", "rect"):
            children.append(element)
    return children


def _label(element, name: str) -> None:
    """Turn a gid such as `cl-block message=3 units=57` into a class and data attributes, on the shape itself."""
    css_class, *pairs = name.split()
    target = element[0] if len(element) == 1 else element
    target.set("class", css_class)
    for pair in pairs:
        key, value = pair.split("=", 1)
        target.set(f"data-{key}", value)


def _plain(element) -> None:
    """Shorten numbers and styles, take the fonts out, put the page's colours in, turn rectangles into `<rect>`."""
    attributes = element.attrib
    for key, value in attributes.items():
        if key in ("class", "id", "href") or key.startswith("data-"):
            continue
        value = " ".join(_NUMBER.sub(lambda number: _short(float(number[0])), value).split())
        if key == "style":
            rules = [rule.strip().replace(": ", ":") for rule in value.split(";")]
            value = ";".join(rule for rule in rules if rule and not rule.startswith(_DROPPED_RULES))
        attributes[key] = _HEX.sub(lambda colour: _CSS_COLOURS.get(colour[0].lower(), colour[0]), value)
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    elif attributes.get("transform", "").endswith(" rotate(-0)"):
        x, y = re.findall(r"-?[\d.]+", attributes.pop("transform"))[:2]
        attributes.update(x=x, y=y)
    if element.tag == "path":
        _as_rectangle(element)


def _as_rectangle(element) -> None:
    match = _RECTANGLE.fullmatch(element.get("d", ""))
    if not match:
        return
    x1, y1, x2, y2, x3, y3, x4, y4 = map(float, match.groups())
    if (x1, y2, x2, y3) == (x4, y1, x3, y4):
        del element.attrib["d"]
        shape = {"x": min(x1, x2), "y": min(y1, y3), "width": abs(x2 - x1), "height": abs(y3 - y1)}
        element.tag = "rect"
        rest = dict(element.attrib)
        element.attrib.clear()
        element.attrib.update({key: _short(value) for key, value in shape.items()}, **rest)


def _short(number: float) -> str:
    text = f"{number:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
