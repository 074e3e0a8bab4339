"""Rows that open a page of the built site in Chromium; there are none when one of the two is missing."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = "notebooks/05_drop_turn.html"  # the chapter with the most widgets in its text
STEP = """() => {
    const input = document.querySelector('[data-kind="drop"] input[type=range]');
    input.value = (Number(input.value) + 7) % 17;
    input.dispatchEvent(new Event("input", {bubbles: true}));
    return Promise.resolve().then(() => document.body.getBoundingClientRect().height);
}"""


def chromium() -> str | None:
    return os.environ.get("CONTEXTLAB_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def missing() -> str:
    """Return what these rows need and this machine lacks; empty when all is there."""
    if not (ROOT / "_build" / "html" / PAGE).is_file():
        return "a built site (make book)"
    return "" if chromium() else "Chromium"


def no_browser():
    """A quick run opens no browser: it may run inside a process that has one."""
    return (lambda: None), (lambda: None)


def opened():
    """Start a server for the site and a browser; return the address and the browser."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "tools"))
    import serve

    running = serve.server(ROOT / "_build" / "html")
    threading.Thread(target=running.serve_forever, daemon=True).start()
    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
    atexit.register(lambda: (browser.close(), playwright.stop(), running.shutdown()))
    return f"http://127.0.0.1:{running.server_port}/{PAGE}", browser


def first_widget():
    """Opening the page until its first widget is alive, and the same page without the widgets' scripts."""
    address, browser = opened()
    with_widgets, without = browser.new_page(), browser.new_page()
    without.route("**/_static/widgets/*", lambda route: route.abort())

    def alive():
        with_widgets.goto(address, wait_until="commit")
        with_widgets.wait_for_selector(".clw-live")

    return alive, lambda: without.goto(address, wait_until="load")


def slider_step():
    """A step of a slider of the drop-turn explorer until the page is laid out anew, and a question to the page."""
    address, browser = opened()
    page = browser.new_page()
    page.goto(address)
    page.wait_for_selector('[data-kind="drop"].clw-live')
    return lambda: page.evaluate(STEP), lambda: page.evaluate("() => document.body.getBoundingClientRect().height")
