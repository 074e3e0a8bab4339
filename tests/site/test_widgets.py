"""The widgets on the pages of the built site: alive, early, light, and nothing jumps."""

from __future__ import annotations

import gzip
import hashlib
import re

import pytest
import serve

from contextlab.widgets import assets

SITE = serve.SITE
PLACES = re.compile(r'class="clw-place"[^>]*data-clw="([^"]+)"')


def html_of(name: str) -> str:
    return (SITE / name).read_text("utf-8")


PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
WITH = [name for name in PAGES if PLACES.search(html_of(name))]
ABSENT = pytest.param("", marks=pytest.mark.skip("there is no built site: run `make book`"))

WATCH = """
window.shift = 0;
new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (!one.hadRecentInput) window.shift += one.value;
}).observe({type: "layout-shift", buffered: true});
"""


@pytest.fixture
def page(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    yield page
    context.close()


@pytest.mark.parametrize("name", WITH or [ABSENT])
def test_every_widget_of_the_page_is_alive(page, address, name):
    page.goto(address + name)
    page.wait_for_function("window.contextlabReady")
    page.wait_for_timeout(150)
    uids = PLACES.findall(html_of(name))
    assert page.locator(".clw-failed").all_inner_texts() == []
    assert page.locator(".clw-live").count() == len(uids)
    # One exercise stands once on a page, so that a link to it leads to one place.
    exercises = [uid for uid in uids if re.match(r"\d\d-(p|q?\d+)$", uid)]
    assert len(set(exercises)) == len(exercises)


@pytest.mark.parametrize("name", WITH or [ABSENT])
def test_the_module_of_the_page_is_the_present_one(name):
    """Otherwise: `make notebooks`, which puts it in without running a cell."""
    found = set(re.findall(r'src="[^"]*widgets/family\.([0-9a-f]+)\.js"', html_of(name)))
    assert found == {hashlib.sha256(assets.module_source().encode()).hexdigest()[:12]}


@pytest.mark.parametrize("name", WITH or [ABSENT])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_jumps(page, address, name, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address + name)
    page.wait_for_function("window.contextlabReady")
    page.wait_for_timeout(300)
    assert page.evaluate("window.shift") < 0.02


@pytest.mark.parametrize("name", WITH or [ABSENT])
def test_what_the_widgets_add_is_light(name):
    html = html_of(name)
    bare = re.sub(r'<script type="application/json" id="contextlab-widgets".*?</script>', "", html, flags=re.S)
    for uid in PLACES.findall(html):
        start = bare.index(f'data-clw="{uid}"')
        start = bare.rindex("<div", 0, start)
        end = bare.index("</div></div></div>", start)
        bare = bare[:start] + bare[end:]
    shared = sum(
        len(gzip.compress((SITE / "_static" / "widgets" / file).read_bytes()))
        for file in set(re.findall(r"widgets/([\w.]+)\"", html))
    )
    added = shared + len(gzip.compress(html.encode())) - len(gzip.compress(bare.encode()))
    assert added < 60_000, (shared, added)


@pytest.mark.skipif(not PAGES, reason="there is no built site: run `make book`")
def test_a_page_without_widgets_loads_nothing_of_them():
    without = [name for name in PAGES if name not in WITH and not name.endswith("what-did-my-chat-forget.html")]
    assert without
    for name in without:
        assert "_static/widgets" not in html_of(name) and "clw-" not in html_of(name), name


@pytest.mark.skipif(not PAGES, reason="there is no built site: run `make book`")
def test_the_site_keeps_no_old_module():
    used = "".join(html_of(name) for name in PAGES)
    assert all(path.name in used for path in (SITE / "_static" / "widgets").glob("*"))
