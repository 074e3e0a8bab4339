"""Every notebook as a file: executed in order, nothing of one machine in it, every figure described."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

import notebooks

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

OF_ONE_MACHINE = {
    "a path of one machine": re.compile(r"(?<![\w.:/])(?:/(?:home|Users|root|tmp|usr|opt|var|work|private)/|[A-Z]:\\)"),
    "a memory address": re.compile(r"\b0x[0-9a-fA-F]{6,}\b"),
    "a timing": re.compile(r"\b(?:CPU times|Wall time|per loop)\b"),
}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request) -> Path:
    return request.param


@pytest.fixture
def notebook(path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def text_of(lines) -> str:
    return "".join(lines) if isinstance(lines, list) else lines


def code_cells(notebook) -> list[dict]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(notebook) -> list[dict]:
    return [output for cell in code_cells(notebook) for output in cell["outputs"]]


def html_outputs(notebook) -> list[BeautifulSoup]:
    found = (output.get("data", {}).get("text/html") for output in outputs(notebook))
    return [BeautifulSoup(text_of(one), "html.parser") for one in found if one]


def markdown(notebook) -> str:
    return "\n\n".join(text_of(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")


def test_every_cell_ran_once_and_in_order(notebook):
    counts = [cell["execution_count"] for cell in code_cells(notebook) if text_of(cell["source"]).strip()]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"


def test_no_cell_failed_or_complained(notebook):
    for output in outputs(notebook):
        assert output["output_type"] != "error", output
        assert output.get("name") != "stderr", text_of(output["text"])


def test_no_check_is_switched_off(notebook):
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", [])
        assert not [tag for tag in tags if tag.startswith("nbval") or tag in ("raises-exception", "skip-execution")]
        assert not re.match(r"\s*#\s*(NBVAL|PYTEST)_", text_of(cell["source"]))


def test_nothing_of_one_machine_or_of_one_run_is_stored(notebook):
    for cell in notebook["cells"]:
        assert "execution" not in cell["metadata"], "timings: run `make notebooks`"
    assert "version" not in notebook["metadata"]["language_info"], "run `make notebooks`"
    for output in outputs(notebook):
        stored = json.dumps({key: value for key, value in output.items() if key != "execution_count"})
        for what, pattern in OF_ONE_MACHINE.items():
            found = pattern.search(stored)
            assert not found, f"{what}: …{stored[max(0, found.start() - 60) : found.end() + 60]}…"


def test_cell_ids_are_unique_and_fixed(notebook):
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids)
    assert not [one for one in ids if re.fullmatch(r"[0-9a-f]{8}|[0-9a-f-]{36}", one)], "run `make notebooks`"


def test_the_title_carries_the_number_of_the_file_and_sections_follow(path, notebook):
    text = markdown(notebook)
    title = re.match(r"# (\d\d) \S", text)
    assert title and title[1] == path.name[:2]
    assert re.search(r"^## \S", text, re.MULTILINE), "a page needs at least one section"


def test_every_figure_says_what_one_would_see(notebook):
    for page in html_outputs(notebook):
        for drawing in page.find_all("svg"):
            if drawing.find_parent("svg") or drawing.get("aria-hidden") == "true":
                continue
            assert drawing.get("role") == "img" and len(drawing.get("aria-label", "")) > 15, str(drawing)[:200]
        for image in page.find_all("img"):
            assert len(image.get("alt", "")) > 15, str(image)[:200]
    for cell in code_cells(notebook):
        if any(kind.startswith("image/") for output in cell["outputs"] for kind in output.get("data", {})):
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            assert len(alt) > 15, f"cell {cell['id']} draws an image and its metadata has no alt text"
    for alt in re.findall(r"!\[([^\]]*)\]\(", markdown(notebook)):
        assert len(alt) > 15, f"a picture in the text has the alt text {alt!r}"


def test_no_helper_is_pasted_and_no_notebook_imports_another(notebook):
    for cell in code_cells(notebook):
        source = text_of(cell["source"])
        if source == notebooks.setup_cell():
            continue
        assert not re.search(r"^\s*[%!]", source, re.MULTILINE), f"a magic or shell line in {cell['id']}"
        assert "sys.path" not in source and "import_ipynb" not in source
