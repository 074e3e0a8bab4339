"""The explorers of a cache: what the module computes is what the library computes, and the page says it."""

from __future__ import annotations

import json

import pytest
from demo_page import hook

from contextlab.kv import GIB, cache_size, kv_bytes, model
from contextlab.widgets import assets, bytes_explorer, models_explorer
from contextlab.widgets.memory import SHOWN, TOKENS

EXPLORERS = {"bytes": bytes_explorer, "models": models_explorer}


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
def open_page(browser, tmp_path):
    """Open a page with one explorer; a complaint is a failure."""
    opened = []

    def open_one(one):
        got = hook.parts(tmp_path, [hook.record(one.get_state())])
        body = one._repr_mimebundle_()[0]["text/html"]
        html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Memory</title>{got.head}'
        html += f'<link rel="stylesheet" href="{got.sheet}"></head><body><main>{body}</main>{got.tail}</body></html>'
        (tmp_path / "index.html").write_text(html, encoding="utf-8")
        page = browser.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto((tmp_path / "index.html").as_uri())
        page.wait_for_selector(".clw-live .clw-sentence b")
        opened.append((page, complaints))
        return page

    yield open_one
    for page, complaints in opened:
        page.close()
        assert complaints == []


def said(page) -> str:
    return page.inner_text(".clw-sentence")


@pytest.mark.parametrize("name", EXPLORERS)
def test_formulas_agree_with_the_library(module, name):
    data = json.loads(json.dumps(EXPLORERS[name]().data))
    assert len(data["checks"]) >= 20
    assert module.evaluate("(data) => family.tests.disagreement(data)", data) is None


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_formula_that_differs_is_noticed(module, name):
    data = json.loads(json.dumps(EXPLORERS[name]().data))
    data["formulas"] = [[one, ["+", tree, "1"] if one == "all" else tree] for one, tree in data["formulas"]]
    assert module.evaluate("(data) => family.tests.disagreement(data)", data)["name"] == "all"


def test_the_calculator_has_every_term_in_its_sentence(open_page):
    page = open_page(bytes_explorer())
    size = kv_bytes(layers=32, kv_heads=8, head_dim=128, tokens=32_768)
    text = said(page)
    for term in ("32", "8", "128", "2", "4,096", "131,072", "128 KiB", "32,768", f"{size:,}", "13", "52 GiB"):
        assert term in text
    assert f"{13 * size / 1e9:.3f} GB" in text


def test_a_slider_moves_by_keyboard(open_page):
    page = open_page(bytes_explorer())
    slider = page.get_by_role("slider", name="KV heads")
    slider.focus()
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('.clw-sentence').innerText.includes('2 × 1 × 128 × 2')")
    assert "16 KiB" in said(page)


def test_every_model_is_told_as_the_library_counts_it(open_page):
    page = open_page(models_explorer())
    slider = page.get_by_role("slider", name="Model")
    slider.focus()
    page.keyboard.press("Home")
    for index, name in enumerate(SHOWN):
        shape = model(name)
        gib = f"{cache_size(shape, 32_768).bytes / GIB:,.3f}".rstrip("0").rstrip(".")
        page.wait_for_function(
            "(text) => document.querySelector('.clw-sentence').innerText.includes(text)", arg=f"{gib} GiB"
        )
        assert ("reads at most" in said(page)) == (shape.max_context < 32_768)
        assert ("sliding" in said(page)) == (
            shape.max_context >= 32_768 and any(layers.window for layers in shape.layers)
        )
        if index < len(SHOWN) - 1:
            page.keyboard.press("ArrowRight")


def test_every_length_is_one_that_somebody_reads():
    assert max(TOKENS) == max(model(name).max_context for name in SHOWN)


@pytest.mark.parametrize("name", EXPLORERS)
def test_without_the_module_there_is_a_table(name):
    html = EXPLORERS[name]()._repr_mimebundle_()[0]["text/html"]
    assert html.count("<tr>") > 6 and "4 GiB" in html
