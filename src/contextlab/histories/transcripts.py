"""Plain text and Markdown: labels at the start of lines say who speaks."""

from __future__ import annotations

import re

from .draft import Draft, Skip
from .records import HistoryError

__all__ = ["LABELS", "read_transcript", "split_transcript"]

LABELS = {
    "user": "user",
    "human": "user",
    "you": "user",
    "me": "user",
    "prompt": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "gemini": "assistant",
    "copilot": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "system": "system",
}
_STAMP = (
    r"(?:\[?\(?\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?(?:[ T,]+\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)?Z?\)?\]?[ ,:-]*)?"
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


def _styles(names):
    word = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return {
        "heading": re.compile(rf"#{{1,6}} +{_STAMP}\**({word})(?: said)?\**:? *\**$", re.IGNORECASE),
        "bold": re.compile(rf"{_STAMP}\*\*({word})(?: said)?(?:\*\*:|:\*\*|\*\*$) *(.*)", re.IGNORECASE),
        "said": re.compile(rf"{_STAMP}({word}) said: *(.*)", re.IGNORECASE),
        "colon": re.compile(rf"{_STAMP}({word}): *(.*)", re.IGNORECASE),
    }


def begins(text: str, labels: dict[str, str] | None = None) -> bool:
    """Return whether the first line that is not empty begins with a label.

    >>> begins("[2026-01-01 10:00] User: Ahoy"), begins('[{"role": "user"}]')
    (True, False)
    """
    line = text.lstrip()[:500].partition("\n")[0].rstrip()
    return any(style.match(line) for style in _styles(_roles(labels)).values())


def _roles(labels):
    labels = labels or {}
    return labels | LABELS | labels  # names that are given come first, and win


def _role_of(label, roles):
    """Ask the rule that found the label: "ſystem" matches "system" there, but its small letters are no key."""
    return next(role for name, role in roles.items() if re.fullmatch(re.escape(name), label, re.IGNORECASE))


def split_transcript(text: str, labels: dict[str, str] | None = None) -> list[tuple[str, str, str, int]]:
    """Return (label, role, text, number of the line) of each message; raises `HistoryError` when it is no transcript.

    >>> [one[:3] for one in split_transcript("User: Ahoy\\nAssistant: Ahoy. Who is there?\\nUser: Ada")]
    [('User', 'user', 'Ahoy'), ('Assistant', 'assistant', 'Ahoy. Who is there?'), ('User', 'user', 'Ada')]
    """
    roles = _roles(labels)
    styles = _styles(roles)
    style = fence = None
    found, before = [], []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.rstrip("\r")
        match = None
        opened = _FENCE.match(line)
        if fence is None:
            for name in [style] if style else styles:
                match = styles[name].match(line)
                if match:
                    style = name
                    break
        if match:
            rest = match[2] if match.re.groups > 1 else ""
            found.append((match[1], _role_of(match[1], roles), [rest] if rest else [], number))
            opened = _FENCE.match(rest)
        else:
            (found[-1][2] if found else before).append(line)
        if opened:
            mark = opened[1]
            if fence is None:
                fence = mark
            elif mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0]):
                fence = None
    said = [line for line in before if line.strip()]
    # A title or a few lines about the chat may stand before the first label, when an empty line ends them.
    if said and (len(said) > 8 or (before[-1].strip() and not said[-1].startswith("#")) or not found):
        found = []
    if len({role for _, role, _, _ in found}) < 2:
        raise HistoryError(
            "no format claims this text, and it is no transcript: the first line has to begin with a label such as "
            '"User:", and two speakers have to occur. Other names: labels={"Mira": "user"}'
        )
    return [(label, role, "\n".join(lines).strip("\n"), number) for label, role, lines, number in found]


def read_transcript(element, draft: Draft) -> None:
    """Read what `split_transcript` found."""
    counts = {}
    for label, role, text, number in element:
        counts[label] = counts.get(label, 0) + 1
        draft.add(role, text, source=f"line {number}")
    draft.warn("labels: " + ", ".join(f"{label} {count}" for label, count in counts.items()))
    if not draft.records:
        raise Skip("empty", "labels without text")
