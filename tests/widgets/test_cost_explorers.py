"""The explorers of chapters 06 and 08: what the page says is what the library computes."""

from __future__ import annotations

import json

import pytest
from demo_page import hook

from contextlab.widgets import assets, cost_explorer, mark_explorer
from contextlab.widgets.costs import marked


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page with one explorer; a complaint is a failure."""
    opened = []

    def open_one(one):
        got = hook.parts(tmp_path, [hook.record(one.get_state())])
        body = one._repr_mimebundle_()[0]["text/html"]
        html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Costs</title>{got.head}'
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


def press(page, number: int, key: str, times: int = 1) -> str:
    """Move a slider with the keyboard; return what the explorer says then."""
    slider = page.locator("input[type=range]").nth(number)
    slider.focus()
    for _ in range(times):
        slider.press(key)
    page.wait_for_timeout(80)
    return page.inner_text(".clw-sentence")


def test_the_formulas_of_the_bill_agree_with_the_sums(browser):
    page = browser.new_page()
    page.goto("about:blank")
    data = json.loads(json.dumps(cost_explorer().data))
    assert len(data["checks"]) >= 20
    script = """async ([source, data]) => {
        const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
        return (await import(url)).default.tests.disagreement(data);
    }"""
    assert page.evaluate(script, [assets.module_source(), data]) is None
    page.close()


def test_the_bill_on_the_page(open_page):
    page = open_page(cost_explorer())
    assert "From request 18 on" in page.inner_text(".clw-sentence")
    said = press(page, 2, "End")  # the largest budget
    assert said.startswith("Nothing is left out: each of the 200 requests computes its own turn, 46,000 units")
    # By hand: 230 · 200 · 201 / 2 = 4,623,000 sent; 46,000 + (4,623,000 − 46,000) / 10 billed.
    assert "The bill is 503,700." in said
    assert "4,623,000 units" in page.inner_text(".clw-live")


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ((4000, 100, 0), (747_934, 5.3, 708_383, 712_338, 181, 33.0, 19)),
        ((4000, 50, 0), (558_926, 91.3, 48_835, 99_844, 20, 24.7, 19)),
        ((32_000, 50, 0), (3_608_144, 99.2, 27_136, 385_237, 1, 158.0, 141)),
        ((4000, 50, 2), (561_128, 0.6, 557_745, 558_083, 20, 24.7, 19)),
    ],
)
def test_settings_of_the_mark(setting, values):
    assert marked(*setting) == pytest.approx(values, abs=0.051)


def test_the_mark_on_the_page(open_page):
    page = open_page(mark_explorer())
    assert page.inner_text(".clw-sentence").startswith("20 cuts. 91.3 % of what is sent is cached.")
    assert press(page, 1, "End").startswith("181 cuts. 5.3 %")
    assert "708,383 units" in page.inner_text(".clw-live")
    press(page, 1, "ArrowLeft", 4)
    said = press(page, 2, "End")
    assert said.startswith("20 cuts. 0.6 %") and "24.7 messages" in said
