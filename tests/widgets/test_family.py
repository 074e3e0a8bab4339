"""What travels: one module and one style sheet, a small saved state, a text form that is the same on every run."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from demo_page import shown_widgets

from contextlab.errors import InputError
from contextlab.figures import ROLE_COLOURS
from contextlab.widgets import (
    Control,
    assets,
    base,
    drop_explorer,
    exercise,
    explorer,
    library,
    outcome,
    progress,
    refresh,
    strips,
    walk,
)
from contextlab.widgets.formula import text, tree

PACKAGE = Path(assets.__file__).parent
VOID = {"input", "br", "img", "hr", "rect", "line", "path", "circle"}


def test_every_part_of_the_module_is_joined_once():
    assert sorted(assets.PARTS) == sorted(path.name for path in (PACKAGE / "js").glob("*.js"))
    assert assets.module_source().count("export ") == 1
    assert not re.search(r"^\s*(import|//)", assets.module_source(), re.M)


def test_the_roles_have_the_colours_of_the_figures():
    found = dict(re.findall(r"--cl-([a-z]+): (#[0-9a-f]{6});", assets.stylesheet()))
    assert found == {role: colour.lower() for role, colour in ROLE_COLOURS.items()}


def test_a_widget_is_small_and_the_module_travels_once():
    for widget in shown_widgets():
        state = widget.get_state()
        assert len(state["_esm"]) < 700
        assert "_css" not in state and "layout" not in state
        assert len(json.dumps(state)) < 20_000, widget
    families = {widget.family for widget in shown_widgets()}
    assert families == {f"IPY_MODEL_{base.family().model_id}"}
    assert len(json.dumps(base.family().get_state())) < 110_000


def test_two_runs_give_the_same_bytes():
    code = (
        "import json\nfrom contextlab.widgets import library, walk, drop_explorer, window_bar, exercise\n"
        "all = [exercise(id) for id in library.declared()] + [walk(), drop_explorer(), window_bar()]\n"
        "print(json.dumps([[one.uid, one.data, repr(one), one._repr_mimebundle_()[0]['text/html']] for one in all]))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    }
    assert len(runs) == 1


def test_an_exercise_is_one_widget_however_often_it_is_asked_for():
    assert exercise("05-1") is exercise("05-1")
    assert walk().uid == walk().uid != walk(window=900).uid
    assert outcome("05-p").partner == f"IPY_MODEL_{exercise('05-p').model_id}"


class Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_text_form_is_whole():
    for widget in shown_widgets():
        html = widget._repr_mimebundle_()[0]["text/html"]
        parser = Balance()
        parser.feed(html)
        assert parser.open == []
        assert f'data-clw="{widget.uid}"' in html
        assert "model_id" not in html and widget.model_id not in html
        assert widget.data["title"].split(":")[0].replace("'", "&#x27;") in html
        if widget.kind in ("number", "choose", "order", "keep", "code", "predict"):
            assert "Worked solution</summary>" in html


def notebook() -> dict:
    """A notebook as it is saved, its module of an older edition."""
    family = base.family()
    models = {
        widget.model_id: {"model_name": "AnyModel", "model_module": "anywidget", "state": dict(widget.get_state())}
        for widget in (family, exercise("05-1"), drop_explorer())
    }
    models[family.model_id]["state"] |= {"source": "export default {}", "digest": "old", "sheet": ""}
    models[exercise("05-1").model_id]["state"]["_esm"] = "old"
    state = {base.WIDGET_STATE: {"state": models, "version_major": 2, "version_minor": 0}}
    return {"cells": [{"cell_type": "code", "outputs": [{"text": "7"}]}], "metadata": {"widgets": state}}


def test_a_new_module_is_put_into_a_notebook_without_running_a_cell():
    old = notebook()
    new = copy.deepcopy(old)
    assert refresh(new)
    assert not refresh(new)
    assert new["cells"] == old["cells"]
    models = base.saved_models(new)
    assert models[base.family().model_id]["state"]["source"] == assets.module_source()
    assert models[exercise("05-1").model_id]["state"]["_esm"] == assets.STUB
    assert refresh(new, bare=True) and refresh(old, bare=True)
    assert new == old
    assert not refresh({"cells": [], "metadata": {}})


def test_without_anywidget_the_error_says_what_to_install():
    code = "import sys; sys.modules['anywidget'] = None\nimport contextlab.widgets"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert "MissingDependency: the widgets need anywidget: pip install 'contextlab[notebook]'" in run.stderr


@pytest.mark.parametrize("bad", ["a.b", "a +", "print(a)", "[a]", "a if b", "f'{a}'", "a ** b", "not a"])
def test_what_is_no_formula_is_an_error(bad):
    with pytest.raises(InputError):
        tree(bad)


def test_values_travel_as_exact_decimals():
    assert [text(value) for value in (0, -5, 0.5, 10**30, -0.125)] == ["0", "-5", "0.5", "1" + "0" * 30, "-0.125"]
    with pytest.raises(InputError, match="no finite decimal form"):
        text(__import__("fractions").Fraction(1, 3))


def test_an_explorer_says_what_is_wrong_with_it():
    controls = [Control("a", "A", 1, 5, 1, "", 2)]
    with pytest.raises(InputError, match="needs an oracle"):
        explorer(title="", question="", controls=controls, sentences=["{a}"], formulas={"b": "a"})
    with pytest.raises(InputError, match="start 9 is not one of its values"):
        explorer(title="", question="", controls=[Control("a", "A", 1, 5, 1, "", 9)], sentences=["{a}"])
    many = [Control(name, name, 0, 99, 1) for name in "ab"]
    with pytest.raises(InputError, match="10000 combinations is too large"):
        explorer(title="", question="", controls=many, sentences=[""], table_of=(("a", "b"), ("c",), lambda a, b: (0,)))


def test_progress_knows_the_exercises():
    own = [one.id for one in library.declared().values() if one.id.startswith("04-")]
    assert [uid for uid, _, _ in progress("04").data["exercises"]] == own
    assert len(progress().data["exercises"]) == len(library.declared())
    with pytest.raises(InputError, match="chapter '99' has no exercises"):
        progress("99")


def test_strips_count_what_is_sent():
    data = strips(
        [("user", 5), ("assistant", 7), ("user", 3)], [(0, 1, 5), (1, 3, 10)], budget=10, unit="words", fact=0
    ).data
    assert data["table"]["rows"] == [["1", "1", "1", "5", "yes"], ["2", "3", "2", "10", "no"]]
