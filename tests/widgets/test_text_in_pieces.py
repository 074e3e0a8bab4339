"""The explorer of texts: its word pieces are those of the library, its page is readable in every script."""

from __future__ import annotations

import json
import unicodedata

import pytest
from demo_page import hook
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextlab._characters import is_boundary
from contextlab.tokens import BPE, CharsPerToken, WordPieces
from contextlab.widgets import assets, pieces_explorer
from contextlab.widgets.pieces import check_texts, texts

WORDS = WordPieces()
# Characters one by one: whatever there is, halves of surrogate pairs, and many of the kinds that the rule tells apart.
CHARACTERS = st.one_of(st.characters(), st.sampled_from("aZ 019.,\t\n\u00a0\u0301\u093f\u200d\U0001f469\ud83d"))


@pytest.fixture(scope="module")
def module(browser):
    page = browser.new_page()
    page.goto("about:blank")
    page.evaluate(
        """async (source) => {
            const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
            window.family = (await import(url)).default;
        }""",
        assets.module_source(),
    )
    yield page
    page.close()


@pytest.fixture
def page(browser, tmp_path):
    """A page with this explorer and nothing else; a complaint or a request is a failure."""
    one = pieces_explorer()
    got = hook.parts(tmp_path, [hook.record(one.get_state())])
    body = one._repr_mimebundle_()[0]["text/html"]
    html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Pieces</title>{got.head}'
    html += f'<link rel="stylesheet" href="{got.sheet}"></head><body><main>{body}</main>{got.tail}</body></html>'
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_selector(".clw-live .clw-pieces span")
    yield page
    page.close()
    assert complaints == []


def shown(page) -> list[str]:
    """The pieces on the page, without their small numbers."""
    return page.evaluate(
        """() => [...document.querySelectorAll(".clw-pieces span")].map((one) => one.firstChild.textContent)"""
    )


def sentence(page) -> str:
    return page.locator(".clw-sentence").inner_text()


def test_the_page_cuts_and_counts_like_the_library(module):
    data = pieces_explorer().data
    kinds = {unicodedata.category(char)[0] for text in check_texts() for char in text}
    assert len(data["checks"]) >= 60 and kinds >= set("LMNPSZC")
    assert any("\ud800" <= char <= "\udfff" for text in check_texts() for char in text)
    assert module.evaluate("(data) => family.tests.piecesDisagreement(data)", json.loads(json.dumps(data))) is None


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_count_that_differs_is_noticed(module, part):
    data = json.loads(json.dumps(pieces_explorer().data))
    check = data["checks"][7]
    check[part] = check[part][:-1] if part == 1 else check[part] + 1
    assert module.evaluate("(data) => family.tests.piecesDisagreement(data)", data)["points"] == check[0]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(CHARACTERS, max_size=30), min_size=10, max_size=30))
def test_any_text_is_cut_and_counted_like_the_library(module, many):
    checks = []
    for characters in many:
        # JavaScript reads two halves that meet as one character, as every program does that gets them as UTF-16.
        text = "".join(characters).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        checks.append([[ord(c) for c in text], [len(p) for p in WORDS.pieces(text)], WORDS(text), len(text)])
    data = {"space": pieces_explorer().data["space"], "checks": checks}
    assert module.evaluate("(data) => family.tests.piecesDisagreement(data)", data) is None


def test_prepared_texts_are_shown_with_language_direction_and_real_tokens(page):
    for number, (name, lang, dir, text) in enumerate(texts()):
        page.locator("select").select_option(str(number))
        for counter in ("cl100k_base", "o200k_base"):
            page.get_by_label(counter).check()
            place = page.locator(".clw-pieces")
            assert (place.get_attribute("lang"), place.get_attribute("dir")) == (lang, dir), name
            page.wait_for_function(
                "(n) => document.querySelector('.clw-sentence').innerText.startsWith(n)",
                arg=f"{BPE(counter)(text):,} token",
            )
            assert "".join(shown(page)).replace("↵", "") == text
            at = 0
            for piece in shown(page):
                assert is_boundary(text, at)
                at += len(piece.replace("↵", ""))
            assert f"divided by four: {CharsPerToken()(text):,}." in sentence(page)


@pytest.mark.parametrize(
    "typed", ["Hello, world", "cafe\u0301 \u0928\u093f 1\ufe0f\u20e3", "extraordinarily", "a<b>&amp;", ""]
)
def test_a_text_of_the_reader_is_counted_as_it_is_typed(page, typed):
    page.get_by_label("Change it").fill(typed)
    page.wait_for_function(
        "(n) => document.querySelector('.clw-sentence').innerText.startsWith(n)",
        arg=f"{WORDS(typed):,} approximate unit",
    )
    assert "".join(shown(page)) == typed
    assert not [piece for piece in shown(page) if unicodedata.category(piece[0]) == "Mn"]
    assert page.locator("select").input_value() == "-1"


def test_a_text_of_the_reader_has_no_tokens_on_the_page_and_says_where_to_get_them(page):
    page.get_by_label("o200k_base").check()
    page.get_by_label("Change it").fill("Hello")
    page.wait_for_function("document.querySelector('.clw-sentence').innerText.includes('In a notebook')")
    assert "approximate unit" in sentence(page)


def test_it_is_worked_by_keyboard_alone(page):
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelector('.clw-pieces').innerText.includes('spelt')")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("bread")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.querySelector('.clw-sentence').innerText.includes('vocabularies')")
    assert shown(page) == ["bread"]


def test_the_text_form_has_every_count():
    html = pieces_explorer()._repr_mimebundle_()[0]["text/html"]
    for name, _, _, text in texts():
        assert name in html and f"<td>{BPE('o200k_base')(text):,}</td>" in html
