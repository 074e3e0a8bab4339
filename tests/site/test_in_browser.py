"""Every page in a browser: nothing leaves this machine, nothing complains, everybody can read it.

`make test` looks at each page once, in the light at 1280 pixels and narrowed to 390. `make test-all` adds the dark, the
narrow screen with its own check of accessibility, print, scripts off, and the site opened from disk.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

# Findings of axe that this site does not mend, as {rule: {selector}}. Nothing is allowed at present.
ALLOWED: dict[str, set[str]] = {}

WIDE, NARROW, PAPER = (1280, 900), (390, 844), (718, 1000)
VIEWS = [("dark", WIDE), ("light", NARROW), ("dark", NARROW)]

OVERFLOWING = """() => {
  const page = document.documentElement;
  if (page.scrollWidth <= page.clientWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > page.clientWidth + 1)
    .map((one) => one.tagName + "." + one.getAttribute("class")).slice(-5);
}"""

CUT_ON_PAPER = """() => [...document.querySelectorAll("main *")].filter((one) => {
  if (one.closest("svg, math, .visually-hidden, .headerlink")) return false;
  const style = getComputedStyle(one);
  if (style.display === "none" || style.display === "inline") return false;
  const clips = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
  const beyond = one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
  return clips || beyond;
}).map((one) => one.tagName + "." + one.className + ": " + one.textContent.trim().slice(0, 60)).slice(0, 5)"""

FOLDED_AWAY = """() => [...document.querySelectorAll("details > :not(summary)")]
  .filter((one) => one.getBoundingClientRect().height === 0 && one.textContent.trim())
  .map((one) => one.textContent.trim().slice(0, 60))"""


class Visit:
    """A page, and everything about it that somebody should know."""

    def __init__(self, browser, theme: str = "light", size: tuple[int, int] = WIDE, scripts: bool = True):
        width, height = size
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=scripts
        )
        self.context.route("**/*", self._stay)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self._console(message))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error on the page: {error}"))
        self.page.on("response", lambda reply: self._response(reply))

    def _stay(self, route) -> None:
        if urlsplit(route.request.url).hostname in ("127.0.0.1", None):
            route.continue_()
        else:
            self.complaints.append(f"request to another host: {route.request.url}")
            route.abort()

    def _console(self, message) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def _response(self, reply) -> None:
        if reply.status >= 400:
            self.complaints.append(f"status {reply.status}: {reply.url}")

    def open(self, url: str):
        self.complaints.clear()
        self.page.goto(url, wait_until="load")
        return self.page

    def close(self) -> None:
        self.context.close()


@pytest.fixture(scope="session")
def visits(browser):
    """One window for each combination of theme, size and scripts; opened once, used for all pages."""
    opened: dict[tuple, Visit] = {}

    def visit(theme: str = "light", size: tuple[int, int] = WIDE, scripts: bool = True) -> Visit:
        key = (theme, size, scripts)
        if key not in opened:
            opened[key] = Visit(browser, theme, size, scripts)
        return opened[key]

    yield visit
    for one in opened.values():
        one.close()


@pytest.fixture
def fresh(browser):
    """A window of its own for a test that acts."""
    opened: list[Visit] = []

    def visit(*args, **kwargs) -> Visit:
        opened.append(Visit(browser, *args, **kwargs))
        return opened[-1]

    yield visit
    for one in opened:
        one.close()


def findings(page) -> list[str]:
    """What axe finds and ALLOWED does not name."""
    from axe_playwright_python.sync_playwright import Axe

    found = []
    for violation in Axe().run(page).response["violations"]:
        for node in violation["nodes"]:
            selector = " ".join(map(str, node["target"]))
            if selector not in ALLOWED.get(violation["id"], ()):
                found.append(f"{violation['id']} ({violation['impact']}): {selector}: {node['failureSummary']}")
    return found


def look(visit: Visit, url: str) -> None:
    page = visit.open(url)
    assert page.evaluate(OVERFLOWING) == []
    assert findings(page) == []
    assert visit.complaints == []


def test_a_page_in_the_light(visits, address, page_in_book):
    visit = visits()
    look(visit, address + page_in_book)
    visit.page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    overflow = visit.page.evaluate(OVERFLOWING)
    visit.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    assert overflow == []


@pytest.mark.thorough
@pytest.mark.parametrize(("theme", "size"), VIEWS, ids=lambda value: value if isinstance(value, str) else str(value[0]))
def test_a_page_in_every_theme_and_width(visits, address, page_in_book, theme, size):
    visit = visits(theme, size)
    look(visit, address + page_in_book)
    assert visit.page.evaluate("document.documentElement.dataset.theme || 'light'") == theme


@pytest.mark.thorough
def test_a_page_on_paper(visits, address, page_in_book):
    visit = visits("light", PAPER)
    page = visit.open(address + page_in_book)
    page.emulate_media(media="print")
    assert page.evaluate(CUT_ON_PAPER) == []
    assert page.evaluate(FOLDED_AWAY) == []
    assert page.locator("h1").first.is_visible()
    assert not page.locator(".frame-head").is_visible()
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")


@pytest.mark.thorough
def test_a_page_without_scripts(visits, address, page_in_book):
    visit = visits("light", NARROW, scripts=False)
    page = visit.open(address + page_in_book)
    assert page.locator("h1").first.is_visible()
    assert page.locator("#contents a").first.is_visible(), "the contents must be there without scripts"
    assert not page.locator(".contents-toggle").is_visible(), "a button that does nothing"
    assert not page.locator("button.mode").is_visible(), "a button that does nothing"
    assert page.evaluate(OVERFLOWING) == []
    assert visit.complaints == []


@pytest.mark.thorough
def test_a_page_opened_from_disk(fresh, site, page_in_book):
    visit = fresh()
    page = visit.open((site / page_in_book).as_uri())
    assert page.locator("h1").first.is_visible()
    assert visit.complaints == []


HOME = "book/index.html"


def test_the_address_of_the_site_leads_to_the_book(fresh, address):
    page = fresh().open(address)
    page.wait_for_url(f"**/{HOME}")


def test_the_switch_goes_round_and_is_remembered(fresh, address):
    page = fresh().open(address + HOME)
    switch = page.locator("button.mode")
    seen = []
    for _ in range(3):
        switch.click()
        seen.append((page.evaluate("document.documentElement.dataset.theme"), switch.inner_text()))
    assert [theme for theme, _ in seen] == ["light", "dark", "light"]
    assert len({text for _, text in seen}) == 3
    switch.click()
    switch.click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert "dark" in page.locator("button.mode").inner_text()


def test_the_page_follows_the_system_while_nobody_chose(fresh, address):
    page = fresh("dark").open(address + HOME)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(color_scheme="light")
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")


def test_a_narrow_screen_opens_its_contents_by_keyboard(fresh, address):
    page = fresh(size=NARROW).open(address + HOME)
    toggle, contents = page.locator(".contents-toggle"), page.locator("#contents")
    assert not contents.is_visible()
    toggle.press("Enter")
    assert contents.is_visible() and toggle.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert not contents.is_visible() and toggle.get_attribute("aria-expanded") == "false"
    assert page.evaluate("document.activeElement.className") == "contents-toggle"


def test_the_first_stop_of_the_keyboard_leads_to_the_text(fresh, address):
    page = fresh().open(address + HOME)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#main-content")


def test_there_is_one_search_field_and_it_finds(fresh, address):
    visit = fresh()
    page = visit.open(address + HOME)
    assert page.locator("input[type=search]").count() == 1
    page.fill("input[type=search]", "forgets")
    page.press("input[type=search]", "Enter")
    page.wait_for_selector("#search-results li a")
    assert page.locator("input[type=search]").count() == 1
    assert page.input_value("input[type=search]") == "forgets"
    assert findings(page) == []
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert page.evaluate(OVERFLOWING) == []
    page.locator("#search-results li a").first.click()
    page.wait_for_load_state()
    assert re.search(r"/(book|notebooks)/", page.url)
    assert visit.complaints == []


def test_a_page_has_one_sidebar_and_no_control_without_a_purpose(visits, address, page_in_book):
    page = visits().page
    page.goto(address + page_in_book)
    assert page.locator(".frame-head").count() == 1
    assert page.locator("nav").count() <= 2
    unknown = "main button:not(.copy):not([class*=clw-] *), .frame-head button:not(.mode):not(.contents-toggle)"
    assert page.locator(unknown).count() == 0


def test_the_code_of_a_cell_can_be_copied(fresh, address):
    visit = fresh()
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open(address + "notebooks/00_a_chat_forgets.html")
    cell = page.locator(".cell_input .highlight").first
    cell.hover()
    cell.locator("button.copy").click()
    page.wait_for_function("document.querySelector('button.copy').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()").strip() == cell.locator("pre").inner_text().strip()


@pytest.mark.thorough
def test_nothing_moves_for_a_reader_who_asked_for_that(fresh, address):
    page = fresh().page
    page.emulate_media(reduced_motion="reduce")
    page.goto(address + HOME)
    moving = """() => [...document.querySelectorAll("*")].filter((one) => {
      const style = getComputedStyle(one);
      return style.transitionDuration.split(",").some((part) => parseFloat(part) > 0) || style.animationName !== "none";
    }).length"""
    assert page.evaluate(moving) == 0
