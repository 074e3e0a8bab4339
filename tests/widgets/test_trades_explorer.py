"""The explorer of chapter 13: the module's line of best trades is the library's, for every setting."""

from __future__ import annotations

import json

import pytest
from demo_page import hook

from contextlab.compare import best_trades, read_sweep, results
from contextlab.widgets import assets, trades_explorer
from contextlab.widgets.exercises.ch13 import best, by_the_library, found
from contextlab.widgets.trades import BUDGETS, COUNTS, PRICES, counts, line_of


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
    one = trades_explorer()
    got = hook.parts(tmp_path, [hook.record(one.get_state())])
    body = one._repr_mimebundle_()[0]["text/html"]
    html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Trades</title>{got.head}'
    html += f'<link rel="stylesheet" href="{got.sheet}"></head><body><main>{body}</main>{got.tail}</body></html>'
    (tmp_path / "index.html").write_text(html, encoding="utf-8")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    page.wait_for_selector(".clw-live .clw-sentence b")
    yield page
    page.close()
    assert complaints == []


def said(page) -> str:
    return page.inner_text(".clw-sentence")


def press(page, number: int, *keys: str) -> None:
    slider = page.locator("input[type=range]").nth(number)
    slider.focus()
    for key in keys:
        slider.press(key)
    page.wait_for_timeout(80)


def test_the_line_for_each_setting_is_the_one_of_the_library():
    data = trades_explorer().data
    results_of = results(read_sweep("comparison.csv")[1])
    assert len(data["checks"]) == len(BUDGETS) * len(PRICES) * len(COUNTS)
    for price in PRICES:
        expected = best_trades(results_of, price=lambda one, p=price: one.bill(p / 100))
        line = line_of(results_of, len(BUDGETS) - 1, price, 0)
        assert [results_of[at] for at in line] == expected


def test_what_counts_adds_up():
    for one in results(read_sweep("comparison.csv")[1]):
        every, *kinds, clean = counts(one)
        assert every[0] == sum(hits for hits, _ in kinds) and every[1] == sum(tries for _, tries in kinds)
        assert clean[0] <= every[0] and clean[1] == every[1]


def test_the_chart_on_the_page(page):
    text = said(page)
    assert text.startswith("On the line, the cheapest first: A new chat + carried note, 4,000 (80 %, 55,289 units)")
    assert text.endswith("keep-newest, 32,000 (100 %, 170,746 units).")
    assert page.locator(".clw-trade").count() == 32 and page.locator(".clw-trade-on").count() == 5
    press(page, 1, "End")  # a cached unit at the full price
    assert "A last 10 messages, 4,000 (0 %, 136,414 units)" in said(page)
    press(page, 2, "End")  # no outdated value
    assert said(page).endswith("B notes + last 10, 4,000 (81 %, 252,231 units).")
    press(page, 0, "Home")
    assert page.locator(".clw-trade").count() == 15
    page.get_by_text("All points as a table").click()
    assert page.locator(".clw-scroll tbody tr").count() >= 15


def test_the_module_finds_the_same_lines(module):
    data = json.loads(json.dumps(trades_explorer().data))
    assert module.evaluate("(data) => family.tests.tradesDisagreement(data)", data) is None
    data["points"][0][3] = 1  # one point made cheap
    assert module.evaluate("(data) => family.tests.tradesDisagreement(data)", data) is not None


def test_the_line_in_one_walk_is_that_of_the_library():
    points = [(round(one.bill()), one.right.value) for one in found().values()]
    assert best(points) == by_the_library(points)
