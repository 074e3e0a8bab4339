"""The page that `contextlab trace --html` writes: one file, opened from a disk, that asks nothing of any host."""

from __future__ import annotations

import json

import pytest
from test_in_browser import NARROW, OVERFLOWING, Visit, findings

from contextlab.cli import main
from contextlab.script import scripted_chat

VIEW = '[data-kind="trace"]'


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two chats of the published lab on one page, and the same with every word blank."""
    folder = tmp_path_factory.mktemp("trace")
    lines = []
    for turns in (60, 40):
        messages = [{"role": message.role, "content": message.content} for message in scripted_chat(turns)]
        lines.append(json.dumps({"title": f"Planner of {turns} turns", "messages": messages}))
    file = folder / "chats.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    plain = ["--counter", "pieces", "--template", "plain", "--window", "4000", "--window", "8000"]
    for name, more in (("page", []), ("blank", ["--redact"])):
        arguments = ["trace", str(file), *plain, "--conversation", "all", "--html", str(folder / f"{name}.html"), *more]
        assert main(arguments) == 0
    return folder


@pytest.fixture
def visit(browser):
    opened = []

    def new(*arguments, **options):
        opened.append(Visit(browser, *arguments, **options))
        return opened[-1]

    yield new
    for one in opened:
        assert one.complaints == []
        one.close()


def test_the_page_is_one_file_that_loads_nothing(visit, written):
    asked = []
    window = visit()
    window.page.on("request", lambda request: asked.append(request.url))
    page = window.open((written / "page.html").as_uri())
    page.wait_for_selector(VIEW)
    assert asked == [(written / "page.html").as_uri()]
    assert "connect-src" not in page.content() and "default-src 'none'" in page.content()


def test_it_is_stepped_through_by_keyboard_and_by_mouse(visit, written):
    page = visit().open((written / "page.html").as_uri())
    sentence = page.locator(f"{VIEW} .clw-sentence")
    assert "Request 19 sends 35 of the 37 messages" in sentence.inner_text()
    assert "The first message is not in it." in sentence.inner_text()
    page.get_by_role("slider", name="Request").focus()
    page.keyboard.press("ArrowLeft")
    assert "Request 18 sends 35 of the 35 messages" in sentence.inner_text()
    page.get_by_role("button", name="Step", exact=True).click()
    assert "Request 19" in sentence.inner_text()
    page.get_by_label("Context window").select_option(label="8,000 approximate units")
    assert "Request 36" in sentence.inner_text()
    page.get_by_label("Conversation").select_option(label="Planner of 40 turns (40 turns)")
    assert page.locator(f"{VIEW} .clw-title").inner_text() == "Planner of 40 turns"
    assert "rolling summary" in page.locator(VIEW).inner_text()


@pytest.mark.parametrize("name", ["page", "blank"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_readable_by_everybody(visit, written, theme, name):
    page = visit(theme).open((written / f"{name}.html").as_uri())
    page.wait_for_selector(VIEW)
    page.get_by_text("When each message leaves, as a table").click()
    assert findings(page) == []
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(OVERFLOWING) == []


def test_with_scripts_off_the_facts_are_a_table(visit, written):
    page = visit(scripts=False).open((written / "page.html").as_uri())
    text = page.locator("main").inner_text()
    assert "Scripts are off" in text and "Ada Moreno" in text and "request 19" in text


def test_a_blank_page_shows_sizes_and_no_words(visit, written):
    page = visit().open((written / "blank.html").as_uri())
    page.get_by_text("When each message leaves, as a table").click()
    text = page.locator(VIEW).inner_text()
    assert "Ada" not in text and "planner" not in text and "user name: ___ ______" in text
    assert "Request 19 sends 35 of the 37 messages" in text
