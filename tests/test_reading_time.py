"""The reading time that the landing page states is the sum of what the chapters state."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_landing_page_states_the_sum_of_the_chapters():
    reading = exercises = 0
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        line = re.search(r"^\*(.+)\*$", first, re.MULTILINE)[1].split("starred")[0]
        numbers = list(map(int, re.findall(r"\d+", line)))
        if "exercises included" in line:
            reading += numbers[0]
            continue
        assert "exercises" in line and len(numbers) >= 2, path.name
        reading += sum(numbers[:-1])
        exercises += numbers[-1]
    landing = (ROOT / "book" / "index.md").read_text(encoding="utf-8")
    assert "about 10 hours to read and 7 hours and a half of exercises" in landing
    assert abs(reading / 60 - 10) < 0.5 and abs(exercises / 60 - 7.5) < 0.5
