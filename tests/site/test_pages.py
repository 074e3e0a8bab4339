"""Every page as a file: structure, figures, links, and no other host."""

from __future__ import annotations

import functools
import gzip
import itertools
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

from contextlab.figures import ROLE_COLOURS

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"

# Namespaces are names, never fetched.
NAMESPACES = ("http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/1998/Math/MathML")
ABSOLUTE = re.compile(r"(?:https?:)?//[\w-]+\.[\w.-]+[^\s\"'<>)]*")


@functools.cache
def parsed(name: str) -> BeautifulSoup:
    return BeautifulSoup((SITE / name).read_text(encoding="utf-8"), "html.parser")


@functools.cache
def anchors(name: str) -> set[str]:
    return {tag["id"] for tag in parsed(name).find_all(id=True)}


def other_hosts(text: str) -> list[str]:
    for namespace in NAMESPACES:
        text = text.replace(namespace, "")
    return ABSOLUTE.findall(text)


def test_the_head_of_a_page_is_complete(page_name):
    page = parsed(page_name)
    assert page.html["lang"] == "en"
    assert page.title.get_text(strip=True)
    assert page.find("meta", attrs={"name": "viewport"})
    assert page.find("link", rel="icon")


def test_headings_descend_one_level_at_a_time(page_name):
    levels = [int(tag.name[1]) for tag in parsed(page_name).main.find_all(re.compile(r"h[1-6]$"))]
    assert levels.count(1) == 1 and levels[0] == 1, levels
    assert 2 in levels or page_name == "search.html", "a page needs at least one section"
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels


def test_ids_are_unique(page_name):
    ids = [tag["id"] for tag in parsed(page_name).find_all(id=True)]
    assert not {one for one in ids if ids.count(one) > 1}


def test_every_figure_says_what_one_would_see(page_name):
    for image in parsed(page_name).find_all("img"):
        alt = image.get("alt", "")
        assert len(alt) > 15 and not alt.endswith((".png", ".svg")), f"{image.get('src', '')[:80]}: alt is {alt!r}"
    for drawing in parsed(page_name).find_all("svg"):
        if drawing.find_parent("svg") or drawing.get("aria-hidden") == "true":
            continue
        assert drawing.get("role") == "img", str(drawing)[:200]
        assert len(drawing.get("aria-label", "")) > 15, str(drawing)[:200]


def test_a_formula_is_mathml_and_keeps_its_source(page_name):
    page = parsed(page_name)
    assert not page.find_all(class_="MathJax")
    assert all(formula.get("alttext") for formula in page.find_all("math"))
    assert not page.find_all("merror")


def test_links_inside_the_site_lead_somewhere(page_name):
    here = SITE / page_name
    for tag in parsed(page_name).find_all(["a", "link", "script", "img", "form"]):
        target = tag.get("href") or tag.get("src") or tag.get("action")
        if not target or target.startswith(("http://", "https://", "data:", "mailto:")):
            continue
        parts = urlsplit(target)
        path = (here.parent / unquote(parts.path)).resolve() if parts.path else here
        if tag.name == "form" and not path.suffix:
            path = path.with_suffix(".html")
        assert path.is_file(), f"{page_name}: {target}"
        if parts.fragment and path.suffix == ".html":
            name = path.relative_to(SITE.resolve()).as_posix()
            assert unquote(parts.fragment) in anchors(name), f"{page_name}: {target}"


def test_another_host_is_named_only_in_links_that_a_reader_follows(page_name):
    page = BeautifulSoup((SITE / page_name).read_text(encoding="utf-8"), "html.parser")
    for link in page.find_all("a"):
        link.decompose()
    for tag in page.find_all(True):
        for value in tag.attrs.values():
            found = other_hosts(" ".join(value) if isinstance(value, list) else value)
            assert not found, f"<{tag.name}> names {found}"
        if tag.name in ("script", "style"):
            assert not other_hosts(tag.string or ""), f"<{tag.name}> names another host"


def assets(*suffixes: str) -> list[Path]:
    return sorted(path for path in SITE.rglob("*") if path.suffix in suffixes)


def test_styles_and_scripts_name_no_other_host(site):
    remark = re.compile(r"/\*.*?\*/|^\s*(?://|\*).*?$", re.DOTALL | re.MULTILINE)
    for path in assets(".css", ".js", ".mjs"):
        if path.name == "searchindex.js":
            continue  # the words of the book
        text = remark.sub("", path.read_text(encoding="utf-8"))
        assert not other_hosts(text), f"{path.name}: {other_hosts(text)}"


def test_nothing_lies_in_the_output_that_no_page_loads(site):
    names = {path.name for path in site.rglob("*")}
    unwanted = re.compile(
        r"fontawesome|thebe|mathjax|require\.js|embed-amd|\.map$|\.ttf$|\.woff2?$|bootstrap", re.IGNORECASE
    )
    assert not {name for name in names if unwanted.search(name)}


def test_the_scripts_and_styles_of_a_page_are_light(site, page_name):
    """60 KB compressed; the theme as it comes needs 409 KB without formulas (docs/decisions.md)."""
    page = parsed(page_name)
    files = [tag["src"] for tag in page.find_all("script", src=True)]
    files += [tag["href"] for tag in page.find_all("link", rel="stylesheet")]
    files += re.findall(r'@import url\("([^"]+)"', " ".join(style.string or "" for style in page.find_all("style")))
    weight = 0
    for name in files:
        path = (site / page_name).parent / urlsplit(name).path
        if path.name != "searchindex.js":
            weight += len(gzip.compress(path.read_bytes(), 6))
    assert weight < 60_000, f"{weight:,} bytes compressed"


def test_a_chapter_carries_its_number(page_name):
    number = re.match(r"notebooks/(\d\d)_", page_name)
    if number:
        page = parsed(page_name)
        assert page.h1.find(class_="chapter-number").get_text() == number[1]
        assert page.title.get_text().startswith(number[1] + " ")


def test_every_page_is_in_the_contents(page_in_book):
    if page_in_book == "search.html":
        return  # the search field leads there
    index = parsed("book/index.html")
    listed = {
        (SITE / "book" / urlsplit(link["href"]).path).resolve() if link["href"] != "#" else SITE / "book" / "index.html"
        for link in index.select(".frame-head a[href]")
    }
    assert (SITE / page_in_book).resolve() in {path.resolve() for path in listed}


def test_role_colours_are_the_same_in_python_and_in_the_style_sheets():
    sheets = [ROOT / "book" / "_static" / "contextlab.css", *(ROOT / "src" / "contextlab" / "widgets").rglob("*.css")]
    for sheet in sheets:
        found = dict(re.findall(r"--cl-([a-z]+):\s*(#[0-9a-fA-F]{6})", sheet.read_text(encoding="utf-8")))
        for role, colour in ROLE_COLOURS.items():
            if role in found or sheet == sheets[0]:
                assert found.get(role, "").lower() == colour.lower(), f"{sheet.name}: --cl-{role}"
