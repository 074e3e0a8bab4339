"""What all widgets of the book share: how they travel, how they are kept, and what stands in for them."""

from __future__ import annotations

import hashlib
import json

import anywidget
import traitlets as t

from . import assets
from .markup import fallback

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
FAMILY_ID = "contextlab.widgets.base.Family"


class _Bare(anywidget.AnyWidget):
    """An anywidget without a layout model: the stylesheet of the family does the layout."""

    layout = t.Any(None, allow_none=True)  # not synced: a saved notebook holds no LayoutModel


class Family(_Bare):
    """Carries the module and the stylesheet once in a kernel and once in a saved notebook."""

    _esm = "export default{}"

    source = t.Unicode().tag(sync=True)
    sheet = t.Unicode().tag(sync=True)
    digest = t.Unicode().tag(sync=True)

    def __init__(self) -> None:
        super().__init__(source=assets.module_source(), sheet=assets.stylesheet(), digest=assets.digest())

    def __repr__(self) -> str:
        return "<the widget family of contextlab>"


_family: Family | None = None


def family() -> Family:
    """Return the one `Family` of this kernel."""
    global _family
    if _family is None or _family.comm is None:
        _family = Family()
    return _family


class Widget(_Bare):
    """One widget of the family: what it shows is `data`, what the reader did is in the other traits."""

    _esm = assets.STUB

    family = t.Unicode().tag(sync=True)
    kind = t.Unicode().tag(sync=True)
    uid = t.Unicode().tag(sync=True)
    data = t.Dict().tag(sync=True)

    def __init__(self, kind: str, data: dict, uid: str = "") -> None:
        # Data that a browser would read differently after a round trip must not get in.
        text = json.dumps(data, ensure_ascii=False, sort_keys=True, allow_nan=False)
        uid = uid or f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        super().__init__(kind=kind, uid=uid, data=data, family=f"IPY_MODEL_{family().model_id}")

    def __repr__(self) -> str:
        return f"<{self.kind} {self.uid}: {self.data.get('title', '')}>"

    def _repr_mimebundle_(self, **kwargs: object):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        data["text/html"] = fallback(self.kind, self.uid, self.data)
        return data, metadata


class Exercise(Widget):
    """An exercise: the reader's work is in these traits, readable from Python after a click."""

    answer = t.Any(None, allow_none=True).tag(sync=True)
    solved = t.Bool(False).tag(sync=True)
    tries = t.Int(0).tag(sync=True)
    wrong = t.Int(0).tag(sync=True)
    hints = t.Int(0).tag(sync=True)
    variant = t.Int(0).tag(sync=True)
    slip = t.Unicode("").tag(sync=True)
    stage = t.Unicode("").tag(sync=True)
    sure = t.Bool(None, allow_none=True).tag(sync=True)
    why = t.Unicode("").tag(sync=True)
    ticks = t.List(t.Int()).tag(sync=True)
    draft = t.Any(None, allow_none=True).tag(sync=True)


class Explorer(Widget):
    """An explorer: `settings` holds the value of each control, `step` the step shown."""

    settings = t.Dict().tag(sync=True)
    step = t.Int(0).tag(sync=True)


STATE_TRAITS = tuple(sorted({*Exercise.class_own_traits(sync=True), *Explorer.class_own_traits(sync=True)}))


def saved_models(notebook: dict) -> dict:
    """Return the widget models saved in a notebook: id → saved model (empty when there are none)."""
    return notebook.get("metadata", {}).get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})


def refresh(notebook: dict, *, bare: bool = False) -> bool:
    """Put the present module and stylesheet into a notebook's saved state, without running a cell.

    Args:
        notebook: the parsed JSON of an `.ipynb` file; changed in place.
        bare: empty these places in place of filling them, so that two notebooks can be compared without them.

    Returns:
        True when something was changed.
    """
    changed = False
    for model in saved_models(notebook).values():
        state = model["state"]
        if state.get("_anywidget_id") == FAMILY_ID:
            new = {"source": assets.module_source(), "sheet": assets.stylesheet(), "digest": assets.digest()}
        elif "family" in state and "kind" in state:
            new = {"_esm": assets.STUB}
        else:
            continue
        if bare:
            new = dict.fromkeys(new, "")
        if any(state.get(name) != value for name, value in new.items()):
            state.update(new)
            changed = True
    return changed
