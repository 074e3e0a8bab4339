"""The page "What did my chat forget?": a reader's own file, by mouse and by keyboard, and nothing leaves the page."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest
from test_in_browser import NARROW, OVERFLOWING, Visit, findings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import twin_vectors

from contextlab import histories
from contextlab.cli import main
from contextlab.script import scripted_chat

PAGE = "book/what-did-my-chat-forget.html"
VIEW = '[data-kind="trace"]'
FILLER = " ".join(["harbour"] * 300)
CHAT = [
    ("user", "I'm Ada. My boat is called Plover."), ("assistant", "Noted."),
    ("user", f"Remember that my berth is number 12. {FILLER}"), ("assistant", FILLER),
    ("user", FILLER), ("assistant", FILLER), ("user", FILLER), ("assistant", "Yes."),
    ("user", "As I said, my boat is called Plover, and I am at the berth."), ("assistant", "Fine."),
]  # fmt: skip


def gpt(chats) -> bytes:
    """A ChatGPT export: [(title, [(role, text)])]; the last is the newest."""
    found = []
    for number, (title, messages) in enumerate(chats):
        mapping, last = {"root": {"parent": None, "message": None}}, "root"
        for i, (role, text) in enumerate(messages):
            content = {"content_type": "text", "parts": [text]}
            mapping[f"n{i}"] = {
                "parent": last,
                "message": {"id": f"n{i}", "author": {"role": role}, "content": content},
            }
            last = f"n{i}"
        found.append({"title": title, "update_time": 1.7e9 + number, "current_node": last, "mapping": mapping})
    return json.dumps(found).encode()


def claude(messages) -> bytes:
    rows = [
        {"uuid": f"m{i}", "sender": "human" if role == "user" else role, "text": text, "content": []}
        for i, (role, text) in enumerate(messages)
    ]
    return json.dumps(
        [{"uuid": "c", "name": "Boats", "updated_at": "2026-05-01T09:00:00Z", "chat_messages": rows}]
    ).encode()


def openai(messages) -> bytes:
    return json.dumps([{"role": role, "content": text} for role, text in messages]).encode()


def transcript(messages) -> bytes:
    names = {"user": "User", "assistant": "Assistant"}
    return "\n\n".join(f"{names[role]}: {text}" for role, text in messages).encode()


def packed(data: bytes, how=zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        archive.writestr("user.json", '{"id": "u"}')
        archive.writestr("chat.html", "<html></html>")
        archive.writestr("conversations.json", data)
    return stream.getvalue()


@pytest.fixture
def opened(browser, address):
    """The page, served; a complaint on the console or a request to another host fails the test."""
    visit = Visit(browser)
    page = visit.open(address + PAGE)
    page.wait_for_selector(".clw-live")
    yield page
    assert visit.complaints == []
    visit.close()


def give(page, data: bytes, name: str = "conversations.json"):
    page.set_input_files("input[type=file]", {"name": name, "mimeType": "application/json", "buffer": data})


def status(page) -> str:
    return page.locator("[role=status]").inner_text()


def wait_for(page, text: str):
    page.wait_for_function("(text) => document.querySelector('[role=status]').textContent.includes(text)", arg=text)


def trace_with(page, windows: str):
    """Choose windows once a file is there, and trace again."""
    page.wait_for_selector(VIEW)
    field = page.get_by_label("Context windows, in units")
    field.fill(windows)
    page.locator(VIEW).evaluate("(view) => view.classList.add('of-before')")
    field.press("Enter")
    page.wait_for_selector(f"{VIEW}:not(.of-before)")


def facts(page) -> list[list[str]]:
    return page.locator(f"{VIEW} .clw-table").first.evaluate(
        "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
    )


@pytest.mark.parametrize("make", [lambda chat: gpt([("Boats", chat)]), claude, openai, transcript])
def test_four_formats_give_the_same_trace(opened, make):
    give(opened, make(CHAT), "chat.txt" if make is transcript else "chat.json")
    trace_with(opened, "900")
    assert facts(opened) == [
        ["I'm Ada. My boat is called Plover.", "1", "3", "–", "5", "17"],
        ["user name: Ada", "1", "3", "–", "–", "11"],
        ["berth: number 12", "2", "3", "–", "–", "11"],
    ]


def test_a_zip_is_read_in_the_page(opened):
    for how in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        give(opened, packed(gpt([("Boats", CHAT), ("Knots", CHAT[:2])]), how), "export.zip")
        wait_for(opened, "2 conversations read from export.zip. 1 other object in it is no conversation.")
        opened.wait_for_selector(VIEW)
        assert opened.locator(f"{VIEW} .clw-title").inner_text() == "Knots"  # the newest
        opened.get_by_label("Conversation", exact=True).select_option(label="Boats (5 turns)")
        opened.wait_for_function("document.querySelector('[data-kind=trace] .clw-title')?.textContent === 'Boats'")


def test_of_a_chat_in_two_parts_of_an_export_the_newest_stays(opened):
    parts = [
        json.loads(gpt([("Boats", CHAT), ("Knots", CHAT[:2])])),
        json.loads(gpt([("Boats", CHAT[:6]), ("Tides", CHAT)])),
    ]
    parts[0][0].update(id="same", update_time=1.7e9)
    parts[1][0].update(id="same", update_time=1.7e9 + 9)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number, part in enumerate(parts):
            archive.writestr(f"export/conversations-00{number}.json", json.dumps(part))
    library = [f"{one.title} ({one.turns} turn{'s' * (one.turns != 1)})" for one in histories.read(stream)]
    give(opened, stream.getvalue(), "export.zip")
    wait_for(opened, "3 conversations read from export.zip. 1 older copy of the same left out.")
    shown = opened.get_by_label("Conversation", exact=True).locator("option").all_inner_texts()
    assert sorted(shown) == sorted(library) and "Boats (3 turns)" in shown


def test_command_page_and_library_give_the_same_answer(opened, tmp_path, capsys):
    file = tmp_path / "conversations.json"
    file.write_bytes(gpt([("Planner", [(m.role, m.content) for m in scripted_chat() if m.role != "system"])]))
    windows = ["--window", "4000", "--window", "8000"]
    plain = ["--counter", "pieces", "--template", "plain"]
    assert main(["trace", str(file), *windows, *plain, "--json"]) == 0
    command = json.loads(capsys.readouterr().out)["conversations"][0]
    conversation, _ = histories.newest(file)
    library = twin_vectors.traced(histories.to_messages(conversation), "pieces", (4000, 8000), title="Planner")
    opened.set_input_files("input[type=file]", file)
    trace_with(opened, "4000 8000")
    for number, window in enumerate(library["windows"]):
        assert {name: command["windows"][number][name] for name in window} == window
        opened.get_by_label("Context window", exact=True).select_option(str(number))
        shown = facts(opened)
        assert [row[2] for row in shown] == [str(fact["drop_turn"]) for fact in window["facts"]]
        assert [row[5] for row in shown] == [str(fact["pin_units"]) for fact in window["facts"]]
        sums = opened.locator(VIEW).inner_text()
        assert f"{window['sent_units']:,} approximate units are sent; {window['resent_units']:,} of them" in sums
        opened.get_by_text("Every request as a table").click()
        rows = opened.locator(f"{VIEW} details[open] table").evaluate(
            "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        assert rows == [
            [
                f"{one[name]:,}"
                for name in ("turn", "input_units", "messages_kept", "messages_dropped", "oldest_turn_kept")
            ]
            for one in window["requests"]
        ]
        opened.get_by_text("Every request as a table").click()


def test_the_strips_are_stepped_through_by_keyboard(opened):
    give(opened, gpt([("Boats", CHAT)]))
    trace_with(opened, "900")
    slider = opened.get_by_role("slider", name="Request")
    assert slider.get_attribute("aria-valuetext") == "3 of 5"  # where the first message leaves
    sentence = opened.locator(f"{VIEW} .clw-sentence")
    assert "The first message is not in it." in sentence.inner_text()
    slider.press("ArrowLeft")
    assert "Request 2 sends 3 of the 3 messages" in sentence.inner_text()
    assert "The first message is in it." in sentence.inner_text()
    opened.keyboard.press("Tab")
    opened.keyboard.press("Tab")
    opened.keyboard.press("Enter")  # Step
    assert "Request 3" in sentence.inner_text()
    opened.keyboard.press("Tab")
    opened.keyboard.press("Space")  # Next loss
    assert "Request 4" in sentence.inner_text()
    name = opened.get_by_role("button", name="user name: Ada")
    name.focus()
    opened.keyboard.press("Enter")
    assert opened.evaluate("document.activeElement.textContent") == "user name: Ada"
    assert opened.get_by_role("button", name="user name: Ada").get_attribute("aria-pressed") == "true"
    assert "“Ada” is not in it." in sentence.inner_text()


def test_a_pasted_conversation_and_a_fact_of_ones_own(opened):
    opened.get_by_label("Or a conversation as text").fill(transcript(CHAT).decode())
    opened.get_by_role("button", name="Read this text").click()
    opened.wait_for_selector(VIEW)
    opened.get_by_label("Your own fact, as you wrote it").fill("plover\ngull")
    opened.get_by_label("Reply reserve, in units").fill("100")
    opened.get_by_label("Context windows, in units").fill("1000")
    opened.get_by_role("button", name="Trace", exact=True).click()
    opened.wait_for_function("document.querySelectorAll('.clw-pick').length === 2")
    opened.wait_for_function("document.querySelector('.clw-pick').textContent === 'plover'")
    assert facts(opened) == [["plover", "1", "3", "5", "5", "8"], ["gull", "not said", "–", "–", "–", "8"]]
    opened.get_by_label("Counter").select_option("chars")
    opened.wait_for_function("document.querySelector('[data-kind=trace]')?.textContent.includes('counter: chars')")


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"", "chat.json", "is empty"),
        (b"[]", "chat.json", "its list is empty"),
        (b'[{"mapping": {"a"', "chat.json", "is cut off"),
        (b'{"a": 1}', "chat.json", "no conversation in a format that this page knows"),
        (b"<!doctype html><p>chat", "chat.html", "is a page in HTML"),
        (b"SQLite format 3\0" + bytes(90), "chat.db", "is the database of an application"),
        (b"PK\x03\x04" + bytes(50), "chat.zip", "its list of contents is missing"),
        (packed(gpt([("Boats", CHAT)]))[:-50], "chat.zip", "its list of contents is missing"),
        (b'[{"role": "user", "content": "\xff\xfe"}]', "chat.json", "is no text in UTF-8"),
        (b"It was a dark night.\nNobody spoke.", "chat.txt", "no transcript that the page can split"),
    ],
)
def test_a_bad_file_is_refused_in_words(opened, data, name, said):
    give(opened, data, name)
    wait_for(opened, said)
    assert opened.locator(VIEW).count() == 0
    give(opened, gpt([("Boats", CHAT)]))  # the page goes on
    opened.wait_for_selector(VIEW)


def test_a_damaged_or_encrypted_archive_is_refused_in_words(opened):
    data = bytearray(packed(gpt([("Boats", CHAT)])))
    middle = data.index(b"conversations.json") + 60
    data[middle : middle + 40] = bytes(40)
    give(opened, bytes(data), "export.zip")
    opened.wait_for_function("/damaged|cut off/.test(document.querySelector('[role=status]').textContent)")
    locked = bytearray(packed(gpt([("Boats", CHAT)])))
    at = -1
    while (at := locked.find(b"PK\x01\x02", at + 1)) >= 0:
        locked[at + 8] |= 1
    give(opened, bytes(locked), "export.zip")
    wait_for(opened, "is encrypted")


def test_a_cut_file_gives_what_is_whole(opened):
    data = gpt([("Boats", CHAT), ("Knots", CHAT[:2]), ("Tides", CHAT)])
    give(opened, data[:-300])
    wait_for(opened, "2 conversations read from conversations.json. The file ends in the middle of element 3")
    opened.wait_for_selector(VIEW)


@pytest.mark.parametrize(("windows", "reserve", "said"), [
    ("4,096", "0", "without commas or points. You wrote “4,096”"),
    ("3", "0", "leave no room in a window of 3"),
    ("900", "-1", "You wrote “-1”"),
    ("", "0", "You wrote “”"),
])  # fmt: skip
def test_a_bad_number_is_asked_back(opened, windows, reserve, said):
    give(opened, gpt([("Boats", CHAT)]))
    opened.wait_for_selector(VIEW)
    opened.get_by_label("Context windows, in units").fill(windows)
    opened.get_by_label("Reply reserve, in units").fill(reserve)
    opened.get_by_label("Reply reserve, in units").press("Enter")
    opened.get_by_role("alert").wait_for()
    assert said in opened.get_by_role("alert").inner_text()


def test_a_window_that_is_too_small_hides_no_other(opened):
    """Written as people write a list, with a comma behind each number."""
    give(opened, gpt([("Boats", CHAT)]))
    opened.wait_for_selector(VIEW)
    opened.get_by_label("Context windows, in units").fill("3, 900; 4096")
    opened.get_by_label("Context windows, in units").press("Enter")
    opened.get_by_role("alert").wait_for()
    assert "leave no room in a window of 3" in opened.get_by_role("alert").inner_text()
    shown = opened.locator(f"{VIEW} select option").all_inner_texts()
    assert [text.split()[0] for text in shown] == ["900", "4,096"]


def test_a_conversation_without_a_user_is_said_so(opened):
    give(opened, gpt([("Boats", [("assistant", "Hello")])]))
    opened.get_by_role("alert").wait_for()
    assert "no message of a user" in opened.get_by_role("alert").inner_text()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_shown_trace_is_readable_by_everybody(browser, address, theme):
    visit = Visit(browser, theme)
    page = visit.open(address + PAGE)
    give(page, gpt([("Boats", CHAT), ("Planner", [(m.role, m.content) for m in scripted_chat(60)[1:]])]))
    page.wait_for_selector(VIEW)
    page.get_by_text("When each message leaves, as a table").click()
    page.get_by_text("Every request as a table").click()
    assert findings(page) == []
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(OVERFLOWING) == []
    assert findings(page) == []
    assert visit.complaints == []
    visit.close()


def test_the_page_works_from_a_disk_with_storage_forbidden(browser, site):
    visit = Visit(browser)
    visit.page.add_init_script(
        "for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])"
        " Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });"
    )
    page = visit.open((site / PAGE).as_uri())
    give(page, packed(claude(CHAT)), "export.zip")
    page.wait_for_selector(VIEW)
    assert len(facts(page)) == 3
    assert visit.complaints == []
    visit.close()


def test_with_scripts_off_the_page_says_what_else_there_is(browser, address):
    visit = Visit(browser, scripts=False)
    page = visit.open(address + PAGE)
    text = page.locator("#trace-page").inner_text()
    assert "needs scripts" in text and "contextlab trace FILE" in text
    visit.close()


def test_nothing_of_a_chat_leaves_the_page(browser, address):
    visit = Visit(browser)
    sent = []
    page = visit.open(address + PAGE)
    page.wait_for_load_state("networkidle")  # the browser asks for the icon of the page when it likes
    page.on("request", lambda request: sent.append((request.method, request.url)))
    give(page, gpt([("Boats", CHAT)]))
    page.wait_for_selector(VIEW)
    page.wait_for_load_state("networkidle")
    assert [one for one in sent if not one[1].endswith("/favicon.svg") or one[0] != "GET"] == [] and page.evaluate(
        "localStorage.length"
    ) == 0
    visit.close()


def large_export() -> bytes:
    """About 20 MB: 400 chats of 60 messages."""
    texts = [message.content for message in scripted_chat()]
    chats = []
    for number in range(480):
        said = [("assistant" if i % 2 else "user", texts[(60 * number + i) % len(texts)]) for i in range(60)]
        chats.append((f"Chat {number}", said))
    return gpt(chats)


def test_a_file_of_20_mb_is_read_in_slices_and_can_be_stopped(opened, tmp_path):
    data = large_export()
    assert len(data) > 19_000_000
    file = tmp_path / "conversations.json"
    file.write_bytes(data)
    # What a timer and a click see while the file is read: they get their turn many times, with a number that grows.
    opened.evaluate(
        """() => {
            window.seen = new Set();
            const line = document.querySelector("[role=status]");
            const look = () => { seen.add(line.textContent); window.looking = setTimeout(look); };
            look();
        }"""
    )
    opened.set_input_files("input[type=file]", file)
    wait_for(opened, "480 conversations read")
    opened.wait_for_selector(VIEW)
    percents = opened.evaluate(
        "() => { clearTimeout(looking); return [...seen].filter((text) => text.includes('%')).length; }"
    )
    assert percents >= 5
    opened.evaluate(
        """() => {
            const line = document.querySelector("[role=status]");
            const stop = [...document.querySelectorAll("button")].find((one) => one.textContent === "Stop");
            new MutationObserver((_, watch) => {
                if (!line.textContent.includes("%")) return;
                watch.disconnect();
                setTimeout(() => stop.click());
            }).observe(line, { childList: true, characterData: true, subtree: true });
        }"""
    )
    opened.set_input_files("input[type=file]", [])
    opened.set_input_files("input[type=file]", file)
    wait_for(opened, "Stopped.")
    left = opened.get_by_label("Conversation", exact=True).locator("option").count()
    assert 0 < left < 480
