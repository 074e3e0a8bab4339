"""What a reader types: every target says what it does, and the server names its files rightly."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest
import serve
import tested

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_plain_make_lists_every_target_in_one_line():
    listed = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    targets = set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split()) - {"help"}
    assert {line.split()[1] for line in listed} == targets
    assert all(len(line) <= 100 for line in listed)


def test_the_readme_begins_with_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"```(?:\w+)?\n(.*?)```", readme, re.DOTALL)[1]
    assert re.findall(r"^make \S+", first, re.MULTILINE) == ["make book", "make test"]
    assert len(readme.splitlines()) <= 100, "two screens"


def test_the_program_in_the_readme_prints_what_it_says():
    program = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == re.findall(r"# (\d+)", program)


def test_every_make_target_that_a_document_names_exists():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "book").glob("*.md")]
    for document in documents:
        named = set(re.findall(r"`make ([a-z-]+)`|^make ([a-z-]+)", document.read_text(encoding="utf-8"), re.MULTILINE))
        assert {one or other for one, other in named} <= targets, document.name


def test_the_links_of_the_documents_lead_somewhere():
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)", document.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_what_has_passed_is_known_by_its_content(monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("CONTEXTLAB_NO_SKIP", raising=False)
    before = tested.state()
    assert before == tested.state()
    monkeypatch.setenv("CI", "true")
    assert before == "" or tested.state() != before, "a run that may skip does not stand for one that may not"


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.mjs", "text/javascript"), ("a.js", "text/javascript"), ("a.svg", "image/svg+xml"), ("a.css", "text/css")],
)
def test_the_server_names_the_kind_of_a_file(tmp_path, name, kind):
    (tmp_path / name).write_text("", encoding="utf-8")
    running = serve.server(tmp_path)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{running.server_port}/{name}") as reply:
        assert reply.headers.get_content_type() == kind
    running.shutdown()
    running.server_close()


def test_the_address_of_the_repository_is_written_in_one_place():
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    address = re.search(r"^  url: (https://\S+)$", config, re.MULTILINE)[1]
    assert config.count(address) == 1
    listed = subprocess.run(["git", "grep", "-lF", address], cwd=ROOT, capture_output=True, text=True).stdout.split()
    # The setup cell of the notebooks is written from _config.yml (tests/site/test_launch.py).
    assert {name for name in listed if not name.endswith(".ipynb")} <= {"_config.yml"}
