"""Write book/windows.md, the page of context windows, from the data of the library.

python tools/windows.py            write the page
python tools/windows.py --check    write nothing, fail when the page is not current
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from contextlab.budget import overflow_rules, windows

PAGE = Path(__file__).resolve().parents[1] / "book" / "windows.md"
HEAD = """<!-- Made by tools/windows.py from src/contextlab/data/windows.json and overflow.json: edit those. -->

# Windows and limits

What makers and servers have stated, each with the month in which it was read. These numbers age. Read the source
before you plan with them. Every row is also in the library: `contextlab.budget.windows()` and
`contextlab.budget.overflow_rules()`.
"""


def linked(text: str) -> str:
    """Return a source with each address as a link that names its site, and names with an underscore as code."""
    text = re.sub(r"https://([^\s,;/]+)[^\s,;]*", r"[\1](\g<0>)", text)
    return re.sub(r"(?<![\w/<.])(\w+_\w+(?:\.\w+)?)(?![\w/>])", r"`\1`", text)


def number(value: int | None) -> str:
    return f"{value:,}" if value else "not stated"


def table(rows: list[dict]) -> list[str]:
    lines = ["| Model | Window | Reply cap | Read |", "| :-- | --: | --: | :-- |"]
    lines += [
        f"| {row['title']} | {number(row['window'])} | {number(row['reply_cap'])} | {row['read']} |" for row in rows
    ]
    return lines


def sources(rows: list[dict]) -> list[str]:
    lines = []
    for row in rows:
        said = f" Its words: “{row['says'].rstrip('.')}”." if row.get("says") else ""
        note = f" {linked(row['note'])}" if row.get("note") else ""
        lines.append(f"- *{row['title']}.* {linked(row['source']).rstrip('.')}.{said}{note}")
    return lines


def page() -> str:
    """Return the text of the page."""
    blocks = [
        HEAD.rstrip(),
        "## Advertised",
        "What the maker of a model states, in tokens.",
        "\n".join(table(windows("advertised"))),
        "## Served",
        "What a server or a product gives its users of a model.",
        "\n".join(table(windows("served"))),
        "## When it does not fit",
        "*Rejected*: an error, nothing is computed. *Stopped*: the reply ends where the window does. *Cut*: the server "
        "takes away a part of the request, and the caller is not told.",
        "\n".join(
            [
                "| Service or server | Input alone too large | Input and asked reply too large | Read |",
                "| :-- | :-- | :-- | :-- |",
                *(
                    f"| {row['title']} | {row['input_over'] or 'not stated'} | {row['sum_over'] or 'not stated'} | "
                    f"{row['read']} |"
                    for row in overflow_rules()
                ),
            ]
        ),
        "## Sources of the windows",
        "\n".join(sources(windows())),
        "## Sources of the rules",
        "\n".join(sources(overflow_rules())),
    ]
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else f"{PAGE.name} is not current: run {sys.argv[0]}")
    PAGE.write_text(page(), encoding="utf-8")
