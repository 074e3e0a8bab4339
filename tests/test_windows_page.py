"""The page of context windows is what its tool makes of the data, and each row on it says when and where."""

from __future__ import annotations

import re
from pathlib import Path

import windows as tool

from contextlab.budget import overflow_rules, windows

PAGE = (Path(__file__).resolve().parents[1] / "book" / "windows.md").read_text(encoding="utf-8")


def test_the_page_is_current():
    assert tool.page() == PAGE, "run: python tools/windows.py"


def test_every_row_has_a_date_and_a_source_on_the_page():
    for row in [*windows(), *overflow_rules()]:
        assert re.fullmatch(r"20\d\d-\d\d", row["read"])
        assert PAGE.count(row["title"]) >= 2, row["name"]  # in its table, and with its source
        assert tool.linked(row["source"]).split(",")[0] in PAGE


def test_addresses_become_links_and_names_become_code():
    assert (
        tool.linked("See https://a.org/x_y.md; then num_ctx.") == "See [a.org](https://a.org/x_y.md); then `num_ctx`."
    )
