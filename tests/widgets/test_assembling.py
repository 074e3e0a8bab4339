"""Chapter 14: the code that readers see is the code that the explorer and the exercises run."""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path

import pytest

from contextlab.failures import failures
from contextlab.widgets import assembler_explorer, assembling

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "14_assembler.ipynb"


@pytest.mark.parametrize("function", [assembling.first_version, assembling.counted, assembling.whole_turns])
def test_the_chapter_shows_the_code_of_the_version(function):
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    shown = [
        node
        for cell in cells
        if cell["cell_type"] == "code" and cell["id"] != "setup"
        for node in ast.parse("".join(cell["source"])).body
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    ]
    assert [ast.dump(one) for one in shown] == [ast.dump(ast.parse(inspect.getsource(function)).body[0])]


def test_the_library_has_no_failure_at_any_budget_and_the_first_version_many():
    for budget in assembling.BUDGETS:
        assert assembling.faulty("the library", budget) == 0
        assert assembling.faulty("first version", budget) > 20


def test_the_explorer_names_the_failures_of_each_request():
    data = assembler_explorer().data
    rows, sentences = data["table_of"]["rows"], data["sentences"]
    assert len(rows) == len(assembling.VERSIONS) * len(assembling.BUDGETS) * 40
    for version, budget, number in ((0, 1500, 20), (0, 600, 40), (1, 2000, 33), (2, 2000, 14), (3, 600, 9)):
        said, sent, tokens, tools, pattern = map(int, rows[f"{version}|{budget}|{number}"])
        chat = assembling.requests()[number - 1]
        request = assembling.MAKERS[assembling.VERSIONS[version]](chat, budget, assembling.RULE)
        assert (said, sent, tokens) == (len(chat), len(request), assembling.RULE.request(request))
        found = {one.mode for one in failures(request, chat, input_budget=budget, rule=assembling.RULE)}
        text = sentences[pattern - 1 if pattern else len(sentences) - 1][1]
        assert all(mode in text for mode in found) and ("No failure" in text) == (not found)
        assert tools <= tokens
