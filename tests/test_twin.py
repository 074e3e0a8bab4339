"""The page that traces a reader's own chat computes what the library computes: generated vectors, in a browser."""

from __future__ import annotations

import importlib.util
import json
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
import twin_vectors

from contextlab.forgotten import _joins, plain
from contextlab.pins import _plain, one_line
from contextlab.tokens import WordPieces

ROOT = Path(__file__).resolve().parents[1]
NUMBER = 10_000
# Small letters that got a capital after Unicode 14, which Python 3.11 has: a browser knows the capital.
CAPITAL_CAME_LATER = {"U+019B", "U+0264", "U+A7D3", "U+A7D5"}


def page_script() -> str:
    """Return the script of the page, as the site joins it."""
    spec = importlib.util.spec_from_file_location("trace_page_hook", ROOT / "book" / "_ext" / "trace_page.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    return hook.script()


@pytest.fixture(scope="module")
def twin(browser):
    """A page with the script and the function that compares."""
    context = browser.new_context()
    page = context.new_page()
    helper = (Path(__file__).parent / "data" / "twin.js").read_text(encoding="utf-8")
    names = "disagreements, plain, joins, oneLine, foldedText, pieces"
    script = f"{page_script()}\n{helper}\nObject.assign(window, {{ {names} }});"
    page.set_content("<!doctype html><title>twin</title>")
    page.add_script_tag(content=f'"use strict";(() => {{\n{script}\n}})();')
    yield page
    context.close()


def disagreements(twin, vectors):
    """Return the vectors in which page and library differ; halves of surrogate pairs travel as escapes."""
    answer = twin.evaluate("(text) => JSON.stringify(disagreements(JSON.parse(text)))", json.dumps(vectors))
    return json.loads(answer)


def test_page_and_library_agree_on_ten_thousand_generated_vectors(twin):
    vectors = twin_vectors.vectors(NUMBER)
    assert disagreements(twin, vectors) == []


def test_the_vectors_reach_what_they_are_for():
    vectors = twin_vectors.vectors(2000, seed=2)
    kinds = Counter(vector["kind"] for vector in vectors)
    assert set(kinds) == {"count", "compare", "extract", "chat", "export"} and min(kinds.values()) > 300
    texts = [vector["text"] for vector in vectors if vector["kind"] == "count"]
    assert any("\U0001f98a" in text for text in texts)
    assert any("\ud800" <= sign <= "\udfff" for text in texts for sign in text)
    found = [fact for vector in vectors if vector["kind"] == "extract" for fact in vector["wanted"][1]]
    assert {fact[2] for fact in found} == {"said", "explicit", "statement"} and any(fact[3] for fact in found)
    facts = [
        fact
        for vector in vectors
        if vector["kind"] == "chat"
        for window in vector["wanted"]["windows"]
        for fact in window["facts"]
    ]
    for field in ("drop_turn", "back_turns", "said_again_turns", "replaced_turn"):
        assert sum(bool(fact[field]) for fact in facts) > 50, field
    messages = [
        message
        for vector in vectors
        if vector["kind"] == "export"
        for chat in vector["wanted"]
        for message in chat["messages"]
    ]
    assert {role for role, _, _ in messages} == {"system", "developer", "user", "assistant", "tool"}
    assert any(calls for _, _, calls in messages)


def test_a_wrong_answer_is_noticed(twin):
    vectors = twin_vectors.vectors(50)
    for vector in vectors:
        vector["wanted"] = [*vector["wanted"], 1] if isinstance(vector["wanted"], list) else {}
    found = json.loads(
        twin.evaluate("(text) => JSON.stringify(disagreements(JSON.parse(text), 99))", json.dumps(vectors))
    )
    assert len(found) == 50


def test_every_character_is_compared_alike(twin):
    """All characters that this Python knows; half of a surrogate pair is no character."""
    signs = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    known = [sign for sign in signs if unicodedata.category(sign) != "Cn"]
    wanted = [
        [plain(f"a{sign}b"), _joins(sign), one_line(f"a{sign}b"), _plain(f"a{sign}b"), WordPieces()(f"a{sign}b")]
        for sign in known
    ]
    got = twin.evaluate(
        """(text) => JSON.stringify(JSON.parse(text).map((sign) => {
            const given = `a${sign}b`;
            return [plain(given), joins(sign), oneLine(given), foldedText(given), pieces(given)];
        }))""",
        json.dumps(known),
    )
    differ = {f"U+{ord(sign):04X}" for sign, a, b in zip(known, wanted, json.loads(got), strict=True) if a != b}
    assert differ <= CAPITAL_CAME_LATER
