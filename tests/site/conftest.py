"""The built site, and a server for it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
import serve

SITE = serve.SITE


def page_names() -> list[str]:
    """Every page of the built site by its address; empty when there is none."""
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))


def pytest_generate_tests(metafunc):
    """A test that takes `page_name` runs once a file; one that takes `page_in_book` not on the redirect at the top."""
    absent = [pytest.param("", marks=pytest.mark.skip("there is no built site: run `make book`"))]
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", page_names() or absent)
    if "page_in_book" in metafunc.fixturenames:
        metafunc.parametrize("page_in_book", [name for name in page_names() if name != "index.html"] or absent)


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.skip("there is no built site: run `make book`")
    return SITE


@pytest.fixture(scope="session")
def address(site):
    """The address of the site, served on this machine as `make serve` serves it."""
    running = serve.server(site)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/"
    running.shutdown()
    running.server_close()
