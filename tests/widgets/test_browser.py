"""Every widget in a browser, by keyboard alone; without scripts, from a disk, and when something is broken."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from demo_page import hook, shown_widgets, typed, write_page

from contextlab.widgets import library

EXERCISES = list(library.declared().values())


@pytest.fixture
def page(browser, pages):
    """A fresh reader: no stored work; a complaint on the console or a request that leaves is a failure."""
    _, address = pages
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if "127.0.0.1" not in request.url else None)
    page.goto(address)
    page.wait_for_function("window.contextlabReady && !document.querySelector('.clw-place .clw:not(.clw-live)')")
    yield page
    context.close()
    assert [one for one in complaints if not one.startswith(("data:", "blob:"))] == []


class Keys:
    """One widget, worked by keyboard alone: Tab, Space, Enter, arrows, and letters."""

    def __init__(self, page, uid: str):
        self.page = page
        self.uid = uid
        self.place = page.locator(f'.clw-place[data-clw="{uid}"]').first
        self.to_start()

    def to_start(self) -> None:
        """Put the focus just before the widget, as somebody who has read so far."""
        self.place.evaluate(
            """(place) => {
                const stop = document.createElement("span");
                stop.tabIndex = 0;
                place.before(stop);
                stop.focus();
                stop.addEventListener("blur", () => stop.remove(), {once: true});
            }"""
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, what: str, key: str = "Tab") -> None:
        """Tab until the focus is on an element of the widget whose name, or text, begins so."""
        seen = []
        for _ in range(80):
            self.press(key)
            name = self.page.evaluate(
                """(uid) => {
                    const one = document.activeElement;
                    if (!one || one.closest(".clw-place")?.dataset.clw !== uid) return null;
                    const label = one.labels && one.labels[0];
                    return one.getAttribute("aria-label") || (label ? label.textContent : one.textContent).trim();
                }""",
                self.uid,
            )
            seen.append(name)
            if name and name.startswith(what):
                return
        raise AssertionError(f"{self.uid}: {what!r} is not reached by {key}; met {[one for one in seen if one][:12]}")

    def push(self, what: str) -> None:
        self.to_start()
        self.reach(what)
        self.press("Enter")

    def say(self) -> str:
        """What stands in the feedback, once the module has answered."""
        self.page.wait_for_timeout(30)
        return self.place.locator(".clw-feedback").first.inner_text().replace("\n", " ")

    def state(self) -> str:
        return self.place.locator(".clw-state").inner_text()


def plain(page, html: str) -> str:
    """The text of some HTML, as one reads it: white space is one space."""
    text = page.evaluate(
        "(html) => { const one = document.createElement('div'); one.innerHTML = html; return one.textContent; }", html
    )
    return re.sub(r"\s+", " ", text)


def expect_feedback(keys: Keys, word: str, html: str) -> None:
    said = keys.say()
    assert re.match(rf"\S {word}:", said), said
    wanted = plain(keys.page, html)
    assert re.sub(r"\s+", " ", wanted) in re.sub(r"\s+", " ", said)


def of(kind):
    """All exercises of a kind: `make test` works the first of them, `make test-all` the others."""
    return [
        pytest.param(one, id=one.id, marks=[pytest.mark.thorough] if number else [])
        for number, one in enumerate(one for one in EXERCISES if one.kind == kind)
    ]


def type_number(keys: Keys, label: str, value: str) -> None:
    keys.to_start()
    keys.reach(label)
    keys.press("Control+a")
    keys.page.keyboard.type(value if "," in value else typed(value))
    keys.press("Enter")


@pytest.mark.parametrize("task", of("number"))
def test_a_number_from_wrong_answer_to_progress(page, task):
    data = task.data()
    keys = Keys(page, task.id)
    first = data["variants"][0]
    type_number(keys, data["ask"], "1,024")
    assert "Asked back:" in keys.say()
    type_number(keys, data["ask"], first["wrong"][0]["value"])
    expect_feedback(keys, "Not yet", first["wrong"][0]["says"])
    if first.get("hints"):
        keys.push("Hint")
        assert keys.place.locator(".clw-hints li").all_inner_texts() == [plain(page, first["hints"][0])]
    if first.get("step"):
        type_number(keys, data["ask"], "987654")
        assert "too high" in keys.say()
        type_number(keys, "First: ", first["step"]["value"])
        assert plain(page, first["step"]["then"]) in keys.place.locator(".clw-between").inner_text()
    for path in first["wrong"][1:]:
        type_number(keys, data["ask"], path["value"])
        expect_feedback(keys, "Not yet", path["says"])
    keys.push("Same task, new numbers")
    second = data["variants"][1]
    assert keys.place.locator(".clw-question").inner_text() == page.evaluate(
        "(html) => { const one = document.createElement('div'); one.className = 'clw-question'; one.innerHTML = html;"
        "document.querySelector('.clw').append(one); const text = one.innerText; one.remove(); return text; }",
        second["question"],
    )
    for path in second["wrong"]:
        type_number(keys, data["ask"], path["value"])
        expect_feedback(keys, "Not yet", path["says"])
    type_number(keys, data["ask"], second["right"])
    expect_feedback(keys, "Right", second["praise"])
    assert keys.state() == "✓ solved"
    assert "1 of " in page.locator('[data-kind="progress"] .clw-sentence').inner_text()


@pytest.mark.parametrize("task", of("choose"))
def test_a_choice_from_wrong_answer_to_progress(page, task):
    data = task.data()
    keys = Keys(page, task.id)
    keys.push("Check")
    assert "Asked back:" in keys.say()
    order = sorted(range(len(data["options"])), key=lambda i: bool(data["options"][i].get("right")))
    at = None
    for i in order:
        keys.to_start()
        if at is None:
            keys.press("Tab", "Space")
            at = 0
        else:
            keys.press("Tab")
        for _ in range((i - at) % len(data["options"])):
            keys.press("ArrowDown")
        at = i
        keys.reach("Check")
        keys.press("Enter")
        option = data["options"][i]
        expect_feedback(keys, "Right" if option.get("right") else "Not yet", option["says"])
    assert keys.state() == "✓ solved"


def arrange(keys: Keys, names: list[str], wanted: list[int], button: str = "Move up: ") -> None:
    """Bring lines into an order with their buttons and the arrow keys."""
    for place, line in enumerate(wanted):
        now = [
            one.strip()
            for one in keys.place.locator(".clw-sort-row .clw-icon:first-child").evaluate_all(
                "(all) => all.map((one) => one.getAttribute('aria-label'))"
            )
        ]
        at = now.index(button + names[line])
        if at > place:
            keys.to_start()
            seen = 0
            while keys.page.evaluate("document.activeElement.getAttribute('aria-label')") != button + names[line]:
                keys.press("Tab")
                seen += 1
                assert seen < 80
            keys.press(*["ArrowUp"] * (at - place))


@pytest.mark.parametrize("task", of("order"))
def test_an_order_from_wrong_answer_to_progress(page, task):
    data = task.data()
    variant = data["variants"][0]
    names = [plain(page, one) for one in variant["items"]]
    keys = Keys(page, task.id)
    for path in variant["wrong"]:
        arrange(keys, names, path["order"])
        keys.push("Check")
        expect_feedback(keys, "Not yet", path["says"])
    if variant.get("hints"):
        keys.push("Hint")
        assert keys.place.locator(".clw-hints li").count() == 1
    almost = [*variant["right"][:-2], variant["right"][-1], variant["right"][-2]]
    if almost not in [path["order"] for path in variant["wrong"]]:
        arrange(keys, names, almost)
        keys.push("Check")
        assert f"Place {len(names) - 1} is not right yet." in keys.say()
    arrange(keys, names, variant["right"])
    keys.push("Check")
    expect_feedback(keys, "Right", variant["praise"])
    assert keys.state() == "✓ solved"


@pytest.mark.parametrize("task", of("keep"))
def test_keep_or_drop_from_wrong_answer_to_progress(page, task):
    keys = Keys(page, task.id)

    def mark(variant, kept):
        keys.to_start()
        for i in range(len(variant["messages"])):
            keys.press("Tab")
            box = keys.place.locator('input[type="checkbox"]').nth(i)
            assert box.evaluate("(box) => box === document.activeElement")
            if box.is_checked() != (i in kept):
                keys.press("Space")
        keys.push("Check")

    first, second = task.data()["variants"]
    keys.push("Check")
    assert "Asked back:" in keys.say()
    mark(first, first["right"][1:])
    if first["right"][1:] not in [path["kept"] for path in first["wrong"]]:
        assert "The first step that differs:" in keys.say()
    for path in first["wrong"]:
        mark(first, path["kept"])
        expect_feedback(keys, "Not yet", path["says"])
    keys.push("Hint")
    keys.push("Same task, new numbers")
    for path in second["wrong"]:
        mark(second, path["kept"])
        expect_feedback(keys, "Not yet", path["says"])
    mark(second, second["right"])
    expect_feedback(keys, "Right", second["praise"])
    assert keys.state() == "✓ solved"


@pytest.mark.parametrize("task", of("code"))
def test_the_lines_of_a_program_from_wrong_order_to_progress(page, task):
    data = task.data()
    keys = Keys(page, task.id)
    labels = keys.place.locator(".clw-icon:first-child").evaluate_all(
        "(all) => all.map((one) => one.getAttribute('aria-label'))"
    )
    names = [label.removeprefix("Move up: ") for label in labels]
    assert len(set(names)) == len(data["lines"]), "each line has a name of its own"
    keys.push("Check")
    assert "Choose a form" in keys.say()

    def pick(forms: dict[str, int]) -> None:
        keys.to_start()
        for _ in range(200):
            keys.press("Tab")
            row = keys.page.evaluate(
                """() => {
                    const one = document.activeElement;
                    return one.tagName === "SELECT" && one.closest("li").querySelector(".clw-icon").ariaLabel;
                }"""
            )
            if keys.page.evaluate("document.activeElement.textContent") == "Check":
                return
            if row:
                line = str(names.index(row.removeprefix("Move up: ")))
                keys.press("Home", *["ArrowDown"] * (forms[line] + 1))

    pick(data["picks"])
    wrong = [*data["right"][1:], data["right"][0]]
    arrange(keys, names, wrong)
    keys.push("Check")
    assert "Line 1 is not right yet." in keys.say()
    arrange(keys, names, data["right"])
    for line, right in data["picks"].items():
        for form in range(len(data["lines"][int(line)]["forms"])):
            if form != right:
                pick({**data["picks"], line: form})
                keys.push("Check")
                expect_feedback(keys, "Not yet", data["lines"][int(line)]["says"][form])
    keys.push("Hint")
    pick(data["picks"])
    keys.push("Check")
    expect_feedback(keys, "Right", data["praise"])
    assert keys.state() == "✓ solved"
    assert keys.place.locator("pre").text_content() == task.program()


@pytest.mark.parametrize("task", of("predict"))
def test_a_guess_from_question_to_three_points(page, task):
    data = task.data()
    path = data["wrong"][0]
    keys = Keys(page, task.id)
    keys.to_start()
    keys.reach(data["ask"])
    page.keyboard.type(typed(path["value"]))
    keys.press("Enter")
    assert "Say how sure you are" in keys.say()
    keys.to_start()
    keys.reach("sure")
    keys.press("Space")
    keys.reach("Keep my guess")
    keys.press("Enter")
    assert "Your guess is kept" in keys.say()
    if task.id == "00-p":
        after = keys
        after.push("I have seen the result")
    else:
        after = Keys(page, f"{task.id}-outcome")
        after.push("Compare with my guess")
    compared = after.place.locator(".clw-compare")
    text = re.sub(r"\s+", " ", compared.inner_text())
    assert plain(page, path["says"]) in text
    assert plain(page, data["sure_miss"]) in text, "a sure miss gets the longest feedback"
    after.to_start()
    after.reach("Why")
    page.keyboard.type("Because the replies count.")
    after.reach("Keep, and show")
    after.press("Enter")
    page.wait_for_timeout(50)
    for point in data["points"]:
        after.reach(plain(page, point)[:20])
        after.press("Space")
    assert "3 of 3 ticked." in compared.inner_text()
    assert keys.state() == "✓ done"
    page.reload()
    page.wait_for_selector(".clw-live")
    assert "3 of 3 ticked." in compared.inner_text(), "kept in the browser"
    assert "Because the replies count." in compared.locator("textarea").input_value()


def test_two_views_of_one_model_agree(page):
    uid = EXERCISES[0].id
    views = page.locator(f'.clw-place[data-clw="{uid}"]')
    assert views.count() == 2
    views.nth(0).locator("input.clw-number").fill("4")
    views.nth(0).get_by_label("unsure").check()
    views.nth(0).get_by_role("button", name="Keep my guess").click()
    assert views.nth(1).locator("input.clw-number").input_value() == "4"
    assert "Your guess is kept" in views.nth(1).inner_text()


def explorer(page, kind: str):
    return page.locator(f'[data-kind="{kind}"]').first


def test_the_strips_tell_what_is_sent(page):
    strips = explorer(page, "strips")
    strips.locator("input").focus()
    page.keyboard.press("Home")
    assert "Request 1 sends 2 of the 2 messages" in strips.inner_text()
    assert "Nothing has left yet." in strips.inner_text()
    page.keyboard.press("End")
    text = strips.inner_text()
    assert re.search(r"Request 24 sends \d+ of the 48 messages", text) and "is not in it" in text
    assert strips.locator("input").get_attribute("aria-valuetext") == "Request 24"
    faded = strips.locator(".clw-left").count()
    assert f"{faded} messages have left." in text


def test_the_walk_goes_forth_and_back(page):
    walk = explorer(page, "walk")
    walk.get_by_role("button", name="Step").focus()
    for _ in range(4):
        page.keyboard.press("Enter")
    assert "would make 950, more than 700: the walk stops here." in walk.inner_text()
    assert walk.locator("tr.clw-now").inner_text().startswith("4")
    walk.get_by_role("button", name="Back").focus()
    page.keyboard.press("Enter")
    assert "Step 3 of 4." in walk.inner_text()
    walk.locator("input[type=radio]").first.focus()
    for wanted in ("580", "580", "520"):
        page.keyboard.press("ArrowDown")
        assert f"of {wanted}" in walk.inner_text() or f"than {wanted}" in walk.inner_text()
    walk.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('[data-kind=walk] tr.clw-now')")
    walk.get_by_role("button", name="Pause").click()


def test_the_drop_explorer_says_what_the_library_says(page):
    drop = explorer(page, "drop")
    assert "missing for the first time from request 19" in drop.inner_text()
    sliders = drop.locator("input[type=range]")
    sliders.nth(1).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert "1,000 for the reply leaves a room of 2,980" in drop.inner_text()
    assert "from request 15" in drop.inner_text()
    page.keyboard.press("Home")
    sliders.nth(0).focus()
    page.keyboard.press("End")
    assert "never leaves" in drop.inner_text()
    page.keyboard.press("Home")
    drop.get_by_text("When each message leaves, as a table").click()
    assert drop.locator("table").first.locator("tbody tr").count() > 300
    sliders.nth(3).focus()
    page.keyboard.press("End")
    assert re.search(r"Request \d+ holds messages [\d,]+ to [\d,]+", drop.inner_text())


def test_the_window_bar_says_when_the_parts_are_too_large(page):
    bar = explorer(page, "window")
    assert "8,192 − 2,304 leaves 5,888 tokens for the history." in bar.inner_text()
    bar.locator("input[type=range]").nth(0).focus()
    page.keyboard.press("Home")
    bar.locator("input[type=range]").nth(5).focus()
    page.keyboard.press("End")
    assert "more than the window" in bar.inner_text()


def test_formula_and_table_explorers(page):
    bars, curve = page.locator('[data-kind="explorer"]').all()
    bars.locator("input").nth(0).focus()
    page.keyboard.press("End")
    assert "20 and 3 make 23 GiB." in bars.inner_text()
    bars.locator("input").nth(1).focus()
    page.keyboard.press("End")
    assert "40 GiB is a lot." in bars.inner_text()
    curve.locator("input").focus()
    page.keyboard.press("End")
    assert "80 turns of 200 tokens send 648,000 tokens." in curve.inner_text()


def test_a_step_of_a_slider_is_fast(page):
    """From the input event to the page laid out anew: 95th percentile of 60 steps of the largest explorer.

    The best of six rounds counts: the others show what else this machine does.
    """
    rounds = page.evaluate(
        """async () => {
            const input = document.querySelector('[data-kind="drop"] input[type=range]');
            const rounds = [];
            for (let round = 0; round < 6; round++) {
                const times = [];
                for (let i = 0; i < 60; i++) {
                    const from = performance.now();
                    input.value = i % 17;
                    input.dispatchEvent(new Event("input", {bubbles: true}));
                    await new Promise((done) => queueMicrotask(done));
                    document.body.getBoundingClientRect();
                    times.push(performance.now() - from);
                }
                rounds.push(times.sort((a, b) => a - b)[56]);
            }
            return rounds;
        }"""
    )
    assert min(rounds) < 50, rounds


def solve_one(page) -> str:
    task = next(one for one in EXERCISES if one.kind == "number")
    place = page.locator(f'.clw-place[data-clw="{task.id}"]')
    place.locator("input.clw-number").first.fill(task.data()["variants"][0]["right"])
    place.get_by_role("button", name="Check").first.click()
    assert "Right:" in place.inner_text()
    return task.id


def test_progress_is_kept_saved_read_and_deleted(page, tmp_path):
    uid = solve_one(page)
    page.reload()
    page.wait_for_selector(".clw-live")
    progress = explorer(page, "progress")
    assert "1 of " in progress.inner_text()
    assert "Right:" in page.locator(f'.clw-place[data-clw="{uid}"]').inner_text()
    with page.expect_download() as download:
        progress.get_by_role("button", name="Save as a file").click()
    saved = tmp_path / "progress.json"
    download.value.save_as(saved)
    assert json.loads(saved.read_text())["work"][uid]["solved"] is True

    progress.get_by_role("button", name="Delete all my answers").press("Enter")
    progress.get_by_role("button", name="No, keep them").press("Enter")
    assert "1 of " in progress.inner_text()
    progress.get_by_role("button", name="Delete all my answers").press("Enter")
    progress.get_by_role("button", name="Yes, delete").press("Enter")
    assert "0 of " in progress.inner_text()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('contextlab:')).length") == 0
    assert page.locator(f'.clw-place[data-clw="{uid}"] .clw-state').inner_text() == ""

    progress.locator("input[type=file]").set_input_files(saved)
    page.wait_for_function("document.querySelector('[data-kind=progress]').innerText.includes('Read: 1 exercise')")
    page.reload()
    page.wait_for_selector(".clw-live")
    assert "1 of " in progress.inner_text()
    bad = tmp_path / "bad.json"
    bad.write_text("{not json")
    progress.locator("input[type=file]").set_input_files(bad)
    page.wait_for_function("document.querySelector('[data-kind=progress]').innerText.includes('Nothing was changed')")


STORAGE = {
    "forbidden": "Object.defineProperty(window, 'localStorage', "
    "{get() { throw new DOMException('no', 'SecurityError'); }})",
    "full": "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }",
    "missing": "Object.defineProperty(window, 'localStorage', {value: undefined})",
}


@pytest.mark.parametrize("how", STORAGE)
def test_without_storage_everything_works_and_says_so(browser, pages, how):
    page = browser.new_page()
    page.add_init_script(STORAGE[how])
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(pages[1])
    page.wait_for_selector(".clw-live")
    solve_one(page)
    progress = explorer(page, "progress")
    assert "1 of " in progress.inner_text()
    assert "does not keep anything for this page" in progress.inner_text()
    assert errors == []
    page.close()


@pytest.mark.parametrize(
    "stored", ['{"solved": tr', "[]", "7", "null", '{"solved": "yes", "tries": -4, "ticks": "x"}', ""]
)
def test_stored_work_that_is_damaged_is_as_good_as_none(page, stored):
    uid = next(one.id for one in EXERCISES if one.kind == "number")
    page.evaluate("([key, value]) => localStorage.setItem(key, value)", [f"contextlab:{uid}", stored])
    page.reload()
    page.wait_for_selector(".clw-live")
    place = page.locator(f'.clw-place[data-clw="{uid}"]')
    assert place.locator(".clw-state").inner_text() == ""
    assert solve_one(page) == uid


@pytest.mark.thorough
def test_stored_answers_of_another_form_do_no_harm(page):
    """An answer of an older edition, or of another kind of exercise."""
    for task in EXERCISES:
        for answer in ("text", 99, {"a": 1}, [9, 9, 9], [], {"order": [0], "picks": {}}, True):
            page.evaluate(
                "([key, value]) => localStorage.setItem(key, value)",
                [f"contextlab:{task.id}", json.dumps({"answer": answer, "draft": answer, "variant": 7, "stage": "x"})],
            )
        page.reload()
        page.wait_for_selector(".clw-live")
        assert page.locator(".clw-failed").count() == 0, task.id


def test_a_page_from_a_disk_is_alive(browser, pages):
    page = browser.new_page()
    page.goto((pages[0] / "index.html").as_uri())
    page.wait_for_function("window.contextlabReady && !document.querySelector('.clw-place .clw:not(.clw-live)')")
    solve_one(page)
    page.close()


def test_without_scripts_the_text_form_is_all_there(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages[1])
    text = page.locator("main").inner_text()
    for task in EXERCISES:
        place = page.locator(f'.clw-place[data-clw="{task.id}"]').first
        assert place.get_by_text(task.title).first.is_visible()
        summary = place.locator("summary", has_text="Worked solution")
        assert summary.is_visible()
        summary.click()
        assert place.locator("details[open]").last.inner_text().count("\n") >= 1
    assert "does not fit, stop" in text
    assert page.locator(".clw-asleep").first.is_hidden()
    assert not page.locator("form").count()
    context.close()


def broken(browser, pages, name, change, theme=""):
    write_page(pages[0], change=change, name=name)
    page = browser.new_page()
    page.goto(pages[1] + name)
    page.wait_for_load_state("load")
    page.wait_for_timeout(300)
    return page


def test_a_state_that_is_cut_off_costs_the_last_widgets_only(browser, pages):
    def cut(html):
        start = html.index('id="contextlab-widgets"')
        end = html.index("</script>", start)
        return html[: start + (end - start) // 2] + html[end:]

    page = broken(browser, pages, "cut.html", cut)
    alive, failed = page.locator(".clw-live").count(), page.locator(".clw-failed").count()
    assert alive > 3 and failed > 3
    text = page.locator(".clw-failed").last.inner_text()
    assert "a part of the page is missing. Its text form stays." in text
    assert page.locator(".clw-failed summary, .clw-failed table").first.is_visible()
    solve_one(page)
    page.close()


def test_without_the_module_the_text_form_stays_and_says_so(browser, pages):
    for name, change in (
        ("nomodule.html", lambda html: re.sub(r"widgets/family\.[0-9a-f]+\.js", "widgets/none.js", html)),
        ("badmodule.html", lambda html: html.replace('"kind":"number"', '"kind":"unheard-of"')),
    ):
        page = broken(browser, pages, name, change)
        failed = page.locator(".clw-failed")
        assert failed.count() >= 5
        assert "Its text form stays." in failed.last.inner_text()
        assert failed.first.locator("summary, table").last.is_visible()
        page.close()


def test_without_the_loader_the_text_form_is_unfolded(browser, pages):
    page = broken(
        browser, pages, "noloader.html", lambda html: re.sub(r"widgets/loader\.[0-9a-f]+\.js", "widgets/none.js", html)
    )
    assert page.locator(".clw-rest").first.is_visible()
    assert page.locator(".clw-live").count() == 0
    page.close()


def test_a_module_that_throws_leaves_the_text_form(browser, pages):
    record = '"data":{"exercise":true'
    page = broken(
        browser,
        pages,
        "throws.html",
        lambda html: html.replace(record, '"data":{"no_exercise":true', 1).replace('"options":[', '"option_list":[', 1),
    )
    assert page.locator(".clw-failed").count() == 1
    assert page.locator(".clw-failed details").last.is_visible()
    assert page.locator(".clw-live").count() > 20
    page.close()


def test_what_a_chapter_adds_is_small(pages):
    folder = pages[0] / "_static" / "widgets"
    files = sum(len(gzip.compress(path.read_bytes())) for path in folder.glob("*"))
    assert files < 32_000, files
    shown = {one.uid: one for one in shown_widgets()}
    explorers = [one for uid, one in shown.items() if not uid[:2].isdigit()]
    for chapter in sorted({one.id[:2] for one in EXERCISES}):
        own = [one for uid, one in shown.items() if uid[:2] == chapter]
        for explorer in explorers:  # a chapter has one of them
            parts = [
                (one._repr_mimebundle_()[0]["text/html"], hook.record(one.get_state())) for one in [*own, explorer]
            ]
            assert files + len(gzip.compress(json.dumps(parts).encode())) < 60_000, (chapter, explorer)


VIEWS = [
    ("light", 390),
    *(pytest.param(*view, marks=pytest.mark.thorough) for view in (("light", 1280), ("dark", 1280), ("dark", 390))),
]


@pytest.mark.parametrize(("theme", "width"), VIEWS)
def test_everybody_can_read_and_reach_it(browser, pages, theme, width):
    """axe finds nothing, before and after answers; nothing is wider than the page; what is touched is large enough."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    page = context.new_page()
    page.goto(pages[1])
    page.wait_for_function("window.contextlabReady && !document.querySelector('.clw-place .clw:not(.clw-live)')")

    def findings():
        return [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in Axe().run(page).response["violations"]
        ]

    assert findings() == []
    for task in EXERCISES:
        place = page.locator(f'.clw-place[data-clw="{task.id}"]').first
        if task.kind == "number":
            place.locator("input.clw-number").first.fill("987654321")
        for box in place.locator("input[type=radio], input[type=checkbox]").all()[:1]:
            box.check()
        place.get_by_role("button", name=re.compile("Check|Keep my guess")).first.click()
        for button in place.get_by_role("button", name="Hint").all():
            button.click()
    for summary in page.locator("summary:visible").all():
        summary.click()
    assert findings() == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    small = (
        page.locator(".clw-live")
        .locator(
            "button:visible, summary:visible, select:visible, .clw-choice:visible, "
            ".clw-keep:visible, input.clw-number:visible, input.clw-slider:visible"
        )
        .evaluate_all(
            "(all) => all.filter((one) => one.getBoundingClientRect().height < 39.5)"
            ".map((one) => one.outerHTML.slice(0, 90))"
        )
    )
    assert small == []
    context.close()


def test_an_order_can_be_dragged(page):
    task = next(one for one in EXERCISES if one.kind == "order")
    rows = page.locator(f'.clw-place[data-clw="{task.id}"] .clw-sort-row')
    rows.first.scroll_into_view_if_needed()
    before = rows.all_inner_texts()
    grip, last = rows.first.locator(".clw-grip").bounding_box(), rows.last.bounding_box()
    page.mouse.move(grip["x"] + 10, grip["y"] + 20)
    page.mouse.down()
    page.mouse.move(last["x"] + 60, last["y"] + 10, steps=8)
    page.mouse.move(last["x"] + 60, last["y"] + 40, steps=4)
    page.mouse.up()
    assert rows.all_inner_texts() == [*before[1:], before[0]]


def test_without_motion_nothing_moves_by_itself(browser, pages):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(pages[1])
    page.wait_for_selector(".clw-live")
    assert page.locator(".clw-fill").first.evaluate("(one) => getComputedStyle(one).transitionDuration") == "0s"
    context.close()


def test_the_hook_writes_each_module_once(tmp_path):
    first = hook.parts(tmp_path, [])
    again = hook.parts(tmp_path, [])
    assert first == again
    assert len(list((tmp_path / "_static" / "widgets").iterdir())) == 3
    with pytest.raises(ValueError, match="has to end with"):
        hook.as_classic_script("import x from 'y'", "0")
