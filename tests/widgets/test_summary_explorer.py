"""The explorer of chapter 10, and the code task: what they say is what the library computes."""

from __future__ import annotations

import pytest
from demo_page import hook
from hypothesis import given
from hypothesis import strategies as st

from contextlab.summary import survival
from contextlab.widgets import summary_explorer
from contextlab.widgets.exercises.ch10 import by_the_library, first_kept
from contextlab.widgets.summaries import kept_up, left


@pytest.fixture
def page(browser, tmp_path):
    one = summary_explorer()
    got = hook.parts(tmp_path, [hook.record(one.get_state())])
    body = one._repr_mimebundle_()[0]["text/html"]
    html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Summaries</title>{got.head}'
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


def press(page, number: int, key: str, times: int = 1) -> str:
    slider = page.locator("input[type=range]").nth(number)
    slider.focus()
    for _ in range(times):
        slider.press(key)
    page.wait_for_timeout(80)
    return page.inner_text(".clw-sentence")


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ((4000, 100, 0), (146, 52_664, 10_909, 556_530, 609_194, 31.7, 100, 100, 100)),
        ((4000, 50, 5), (19, 44_826, 1446, 44_480, 89_306, 23.7)),
    ],
)
def test_settings_of_the_summary(setting, values):
    assert kept_up(*setting)[: len(values)] == pytest.approx(values, abs=0.051)


@pytest.mark.parametrize(("loss", "rewrites"), [(1, 18), (5, 18), (10, 5), (20, 2)])
def test_what_is_left_follows_the_closed_form(loss, rewrites):
    mean, least, most = left(loss, rewrites)
    expected = survival(loss / 100, rewrites)
    error = 100 * (expected * (1 - expected) / 2000) ** 0.5
    assert abs(mean - 100 * expected) <= 4 * error and least <= mean <= most


def test_the_summary_on_the_page(page):
    said = page.inner_text(".clw-sentence")
    assert said.startswith("19 calls read 44,826 units and write 1,446. A request shows 23.7 messages")
    assert "89,306 units" in page.inner_text(".clw-live")
    said = press(page, 2, "Home")  # no loss
    assert "100 are left at the end" in said
    assert press(page, 1, "Home").startswith("146 calls read 52,664 units")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.data(), st.integers(1, 400))
def test_the_first_message_kept_is_the_one_of_the_library(sizes, data, room):
    growth = data.draw(st.lists(st.integers(0, 30), min_size=len(sizes) - 1, max_size=len(sizes) - 1))
    notes = [0]
    for more in growth:
        notes.append(notes[-1] + more)
    assert by_the_library(sizes, notes, room) == first_kept(sizes, notes, room)
