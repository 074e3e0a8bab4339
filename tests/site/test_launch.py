"""Every notebook page leads to itself on Binder and in Colab, at the one address of _config.yml."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

import notebooks

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
LINK = re.compile(r'<p class="launch">.*?</p>', re.DOTALL)
PAGES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("name", PAGES)
def test_a_notebook_page_opens_its_notebook(site, name):
    page = (site / "notebooks" / f"{name}.html").read_text(encoding="utf-8")
    (line,) = LINK.findall(page)
    binder, colab = (urlsplit(unescape(one)) for one in re.findall(r'href="([^"]+)"', line))
    owner_and_name = urlsplit(REPOSITORY["url"]).path
    assert binder.hostname == "mybinder.org"
    assert binder.path == f"/v2/gh{owner_and_name}/{REPOSITORY['branch']}"
    (inside,) = parse_qs(binder.query)["urlpath"]
    assert inside == f"lab/tree/notebooks/{name}.ipynb"
    assert (ROOT / inside.removeprefix("lab/tree/")).is_file()
    assert colab.hostname == "colab.research.google.com"
    assert colab.path == f"/github{owner_and_name}/blob/{REPOSITORY['branch']}/notebooks/{name}.ipynb"


def test_pages_that_are_no_notebooks_have_no_such_line(site):
    for page in (site / "book").glob("*.html"):
        assert not LINK.search(page.read_text(encoding="utf-8")), page.name


@pytest.mark.parametrize("name", PAGES)
def test_the_first_code_cell_installs_the_library_where_it_is_missing(name):
    cells = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    first = next(cell for cell in cells if cell["cell_type"] == "code")
    assert "".join(first["source"]) == notebooks.setup_cell(), "run `make notebooks`"
    assert f"git+{REPOSITORY['url']}@{REPOSITORY['branch']}" in notebooks.setup_cell()
    assert "remove-cell" in first["metadata"]["tags"]


def test_the_setup_cell_asks_for_nothing_when_the_library_is_there():
    asked = []
    source = notebooks.setup_cell().replace("%pip", "asked.append  #")
    exec(source, {"asked": asked})
    assert asked == []


def test_binder_finds_its_files_at_the_root():
    assert (ROOT / "runtime.txt").read_text(encoding="utf-8").strip() == "python-3.11"
    assert (ROOT / "requirements.txt").read_text(encoding="utf-8").rstrip().splitlines()[-1] == "."
    assert not any((ROOT / name).exists() for name in ("binder", ".binder", "environment.yml", "Dockerfile"))
