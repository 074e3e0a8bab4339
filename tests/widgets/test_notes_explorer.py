"""The explorer of chapter 11 and its code task: what they say is what the library computes."""

from __future__ import annotations

import pytest
from demo_page import hook
from hypothesis import given
from hypothesis import strategies as st

from contextlab.notes import TIERS
from contextlab.widgets import notes_explorer
from contextlab.widgets.exercises.ch11 import CAPS, in_view, points_shown, same_start, stops, taken, topics_at, walked
from contextlab.widgets.notes import AT, MESSAGES, cost, counted, moments, shown


@pytest.fixture
def page(browser, tmp_path):
    one = notes_explorer()
    got = hook.parts(tmp_path, [hook.record(one.get_state())])
    body = one._repr_mimebundle_()[0]["text/html"]
    html = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Notes</title>{got.head}'
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


def test_the_notes_on_the_page(page):
    said = page.inner_text(".clw-sentence")
    assert said.startswith("The note has 1,480 of 1,500 units, the request 7,610. In full: reminder emails")
    assert "Left out, the cap is full: task list." in said
    assert "The note has 0 of 0 units" in press(page, 0, "Home")
    press(page, 0, "ArrowRight", 3)
    press(page, 1, "Home")
    assert "of 750 units" in press(page, 1, "ArrowRight", 17)
    assert page.locator("input[type=range]").nth(1).get_attribute("aria-valuetext") == "181"


@pytest.mark.parametrize("message", [11, 81, 181, 299])
@pytest.mark.parametrize("cap", [0, 500, 1500, 3000])
def test_every_topic_is_in_one_tier_and_the_text_says_the_same(cap, message):
    units, tiers = shown(cap, message)
    notes, now, window = moments()[message // 2]
    assert now == message - 1
    assert sorted(topic for topics in tiers.values() for topic in topics) == sorted(section.topic for section in notes)
    text = notes.render(cap, cost, now=now).text
    assert units == (cost(text) if text else 0) <= cap
    lines = text.split("\n")
    for tier in (*TIERS, "skipped", "superseded"):
        for topic in tiers[tier]:
            section = notes[topic]
            named = [line for line in lines if line.startswith(f"{topic} ({section.status}")]
            assert len(named) == (tier in TIERS)
            if tier == "one line":
                assert named[0].endswith(section.points[-1])
    points = sum(line.startswith("- ") for line in lines)
    expected = sum(len(notes[topic].points) for topic in tiers["full"]) + 3 * len(tiers["last points"])
    assert points == expected
    history = counted().history
    assert window == sum(history.cost(one) for one in history.messages[max(0, message - 10) : message])


def test_the_explorer_has_every_setting_and_its_table_reads_the_same():
    data = notes_explorer().data
    assert AT[-1] == MESSAGES - 1 and all(message % 2 for message in AT)
    for cap, message, units, *_, skipped in data["table"]["rows"]:
        cap = int(cap.replace(",", ""))
        row = data["table_of"]["rows"][f"{cap}|{message}"]
        assert row[2] == units.replace(",", "") and int(skipped) == len(shown(cap, int(message))[1]["skipped"])


def test_a_larger_cap_may_name_fewer_topics():
    assert [topics_at(cap) for cap in CAPS] == [7, 1, 5, 4]


def test_the_published_example_and_its_slips():
    sizes = [700, 600, 400, 150]
    assert (taken(sizes, 1500), stops(sizes, 1500), stops(sorted(sizes), 1500)) == (1450, 1300, 1150)
    assert points_shown(8, (10, 11, 20, 21), 2) == 8 + 3 + 3 + 1 + 1
    assert same_start(1500, [120, 200, 90, 150], 2) == 1500 + 120 + 200 + 90
    assert same_start(1500, [120, 200, 90, 150], 2, newest_first=True) == 1500


VIEWS = st.lists(
    st.lists(st.integers(0, 40), min_size=3, max_size=3).map(lambda sizes: tuple(sorted(sizes, reverse=True))),
    min_size=1,
    max_size=6,
)


@given(VIEWS, st.integers(0, 120))
def test_the_code_task_is_the_cap_of_the_library(views, cap):
    units = in_view(views, cap)
    assert sum(units) <= cap and units == walked(views, cap)
    assert all(size in (0, *view) for size, view in zip(units, views, strict=True))
