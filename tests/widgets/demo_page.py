"""A page with every widget of the book and of the family, made with the hook of the site."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def load(name: str, path: Path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


hook = load("widgets_hook", ROOT / "book" / "_ext" / "widgets.py")


def typed(value: str) -> str:
    """A value as a careful reader types it: 4.096 could be four thousand, so a 0 is put behind it."""
    return f"{value}0" if re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", value) else value


HTML = """<!DOCTYPE html>
<html lang="en" {theme}><head><meta charset="utf-8"><title>Widgets</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>body{{margin:0 auto;max-width:50rem;padding:0 1rem;font:1.0625rem/1.5 Georgia,serif;background:#fff;color:#111}}
@media (prefers-color-scheme:dark){{html:not([data-theme]) body{{background:#14181d;color:#e4e7eb}}}}</style>
<link rel="stylesheet" href="{sheet}">{head}</head>
<body><main><h1>Widgets</h1>{body}</main>{tail}</body></html>
"""


def shown_widgets() -> list:
    """Every exercise that is declared, each explorer, and one of each drawing of the generic one."""
    from contextlab.widgets import (
        Control,
        drop_explorer,
        exercise,
        explorer,
        library,
        outcome,
        pieces_explorer,
        progress,
        walk,
        window_bar,
    )
    from contextlab.widgets import strips as strips_explorer

    messages = [("instructions", 17)] + [
        (role, units)
        for t in range(24)
        for role, units in (("user", 35 + t % 5 * 12), ("assistant", 60 + (t * 37) % 90))
    ]
    requests = []
    for t in range(1, 25):
        stop = first = 2 * t
        while first > 1 and sum(units for _, units in messages[first - 1 : stop]) <= 980:
            first -= 1
        requests.append((first, stop, 20 + sum(units for _, units in messages[first:stop])))
    found = [progress()]
    for one in library.declared().values():
        later = one.kind == "predict" and one.id != "00-p"
        found.append(exercise(one.id, **({"elsewhere": True} if later else {})))
        if later:
            found.append(outcome(one.id))
    found += [
        strips_explorer(messages, requests, budget=1000, unit="units", fact=1, fixed=20, lead=1, start=6),
        walk(),
        drop_explorer(),
        pieces_explorer(),
        window_bar(),
        explorer(
            title="Bars from a formula",
            question="Move the sliders.",
            controls=[Control("a", "First", 1, 20, 1, "GiB", 4), Control("b", "Second", 1, 20, 1, "GiB", 3)],
            formulas={"ratio": "a * 3 / 4 + b // 2", "both": "a + b"},
            oracle=lambda a, b: {"both": a + b},
            sentences=[("both > 30", "{both} GiB is a lot."), "{a} and {b} make {both} GiB."],
            draw={
                "type": "bars",
                "unit": "GiB",
                "most": 40,
                "bars": [{"name": "a", "label": "First"}, {"name": "both", "label": "Both", "role": "user"}],
            },
        ),
        explorer(
            title="A curve from a table",
            question="Move the slider.",
            controls=[Control("n", "Turns", values=(10, 20, 40, 80), start=20)],
            table_of=(("n",), ("sent",), lambda n: (n * (n + 1) // 2 * 200,)),
            sentences=["{n} turns of 200 tokens send {sent} tokens."],
            draw={"type": "curve", "x": "n", "y": "sent", "x_label": "Turns", "y_label": "Tokens sent"},
            table={"head": ["Turns", "Tokens sent"], "rows": [["10", "11,000"], ["20", "42,000"]]},
        ),
    ]
    return found


def write_page(folder: Path, theme: str = "", change=lambda html: html, name: str = "index.html") -> Path:
    """Write a page of all widgets into a folder; `change` may damage it."""
    shown = shown_widgets()
    got = hook.parts(folder, [hook.record(one.get_state()) for one in shown])
    body = "".join(one._repr_mimebundle_()[0]["text/html"] for one in shown)
    # The first exercise stands on the page twice: two views of one model.
    body += shown[1]._repr_mimebundle_()[0]["text/html"].replace(' id="', ' data-second="')
    html = HTML.format(theme=theme, sheet=got.sheet, head=got.head, body=body, tail=got.tail)
    path = folder / name
    path.write_text(change(html), encoding="utf-8")
    return path
