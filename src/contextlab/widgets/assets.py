"""The one ES module and the one stylesheet of the widget family, as package data."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

PARTS = (
    "core.js",
    "numbers.js",
    "exercise.js",
    "number.js",
    "predict.js",
    "choose.js",
    "order.js",
    "strip.js",
    "keep.js",
    "code.js",
    "strips.js",
    "walk.js",
    "formula.js",
    "explorer.js",
    "drop.js",
    "pieces.js",
    "trades.js",
    "progress.js",
    "family.js",
)
"""The parts of the module in the order in which they are joined; the last one exports."""

STUB = (
    "const load=async m=>{"
    'const f=await m.widget_manager.get_model(m.get("family").slice(10)),k=f.get("digest"),'
    "c=globalThis.contextlabFamilies??={};"
    "return c[k]??=(async()=>{"
    'const s=document.createElement("style");s.textContent=f.get("sheet");document.head.append(s);'
    'const u=URL.createObjectURL(new Blob([f.get("source")],{type:"text/javascript"}));'
    "try{return(await import(u)).default}finally{URL.revokeObjectURL(u)}})()};"
    "export default{async render(a){let f;try{f=await load(a.model)}catch(e){"
    'a.el.textContent="This exercise could not start: run its cell again.";throw e}return f.render(a)}}'
)
"""What every widget but the family carries as `_esm`: it fetches the family's module and imports it once."""


def stripped(text: str, comment: str) -> str:
    """Return a script or a style sheet without indentation, empty lines, and lines that begin with ``comment``."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(comment)) + "\n"


@cache
def module_source() -> str:
    """Return the ES module: all parts joined, without indentation and comment lines."""
    folder = files(__package__) / "js"
    return "".join(stripped((folder / part).read_text("utf-8"), "//") for part in PARTS)


@cache
def stylesheet() -> str:
    """Return the stylesheet of the family, without indentation and empty lines."""
    return stripped((files(__package__) / "family.css").read_text("utf-8"), "/*")


@cache
def digest() -> str:
    """Return the name under which this module and stylesheet are known: twelve hex digits."""
    return hashlib.sha256((module_source() + "\0" + stylesheet()).encode()).hexdigest()[:12]
