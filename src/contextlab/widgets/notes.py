"""The explorer of chapter 11: which sections stand in the note, and what the request holds beside it."""

from __future__ import annotations

from collections import namedtuple
from functools import cache

from contextlab.chat import Message
from contextlab.keep import Beside
from contextlab.notes import TIERS, Noted, scripted_session
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.tokens import WordPieces

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

MESSAGES, LAST = 300, 10
CAPS = (0, 250, 500, 750, 1000, 1250, 1500, 2000, 2500, 3000)
AT = (*range(11, MESSAGES, 10), MESSAGES - 1)
FRAME = 10_000  # units of the input budget that is drawn

Moment = namedtuple("Moment", "notes now window")
Moment.__doc__ = """The notes as one request found them, the index of its newest message, the units of its messages."""


@cache
def moments() -> list[Moment]:
    """Return the notes at each request of the scripted session."""
    found = []

    class Watched(Noted):
        def read(self, history):
            needs = super().read(history)
            stop = len(history)
            found.append(Moment(self.notes.copy(), stop - 1, history.units(max(0, stop - LAST), stop)))
            return needs

    replay(counted(), Beside(Watched(), last=LAST), input_budget=20_000)
    return found


@cache
def counted() -> CountedChat:
    """Return the scripted session, counted."""
    return CountedChat(scripted_session(MESSAGES), PlainRule(WordPieces()))


def cost(text: str) -> int:
    """Return the units of a note as a message."""
    return counted().history.cost(Message("system", text))


@cache
def shown(cap: int, message: int) -> tuple[int, dict[str, list[str]]]:
    """Return the units of the note at a message (1 is the first) and the topics in each tier, "skipped" included."""
    notes, now, _ = moments()[message // 2]
    rendered = notes.render(cap, cost, now=now)
    tiers: dict[str, list[str]] = {tier: [] for tier in (*TIERS, "skipped", "superseded")}
    short = {one.topic: one.why.rsplit(": ", 1)[1] for one in rendered.compressed}
    out = {one.topic for one in rendered.skipped}
    for section in notes:
        if section.status == "superseded":
            tiers["superseded"].append(section.topic)
        elif section.topic in out:
            tiers["skipped"].append(section.topic)
        else:
            tiers[short.get(section.topic, "full")].append(section.topic)
    return rendered.tokens, tiers


def enough(message: int) -> int | None:
    """Return the least cap of the slider at which no section is left out for want of room."""
    return next((cap for cap in CAPS if not shown(cap, message)[1]["skipped"]), None)


def notes_explorer(
    *,
    title: str = "What a cap leaves of the notes",
    question: str = "Move through the session of 300 messages, and set the cap of the notes. The frame is an input "
    "budget of 10,000 units.",
) -> Explorer:
    """Return the explorer of tiered notes over the scripted session: cap and message number.

    Returns:
        An explorer; `settings` holds `cap` and `message`.
    """
    said: dict[str, int] = {}

    def results(cap: int, message: int) -> tuple:
        tokens, tiers = shown(cap, message)
        window = moments()[message // 2].window
        fixed = sum(counted().fixed.values())
        pattern = said.setdefault(_named(tiers), len(said))
        return FRAME, fixed, tokens, window, fixed + tokens + window, pattern

    by, names = ("cap", "message"), ("frame", "fixed", "note", "window", "sent", "pattern")
    for cap in CAPS:  # all sentences are known before the widget is made
        for message in AT:
            results(cap, message)
    read = "The note has {note} of {cap} units, the request {sent}."
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("cap", "Cap of the notes", start=1500, values=CAPS, unit="units"),
            Control("message", "Message", start=61, values=AT),
        ],
        table_of=(by, names, results),
        digits=dict.fromkeys(names, 0),
        sentences=[
            *((f"pattern == {at}", f"{read} {text}") for text, at in said.items()),
            read,
        ],
        draw={
            "type": "parts",
            "label": "Input budget",
            "total": "frame",
            "unit": "units",
            "parts": [
                {"name": "fixed", "label": "Instructions", "role": "instructions", "letter": "S"},
                {"name": "note", "label": "Notes", "role": "note", "letter": "N"},
                {"name": "window", "label": "Last ten messages", "role": "user", "letter": "U"},
            ],
        },
        table={
            "head": ["Cap", "Message", "Units of the note", "In full", "Last points", "One line", "Left out"],
            "rows": [
                [grouped(cap), str(message), grouped(tokens), *(str(len(tiers[tier])) for tier in (*TIERS, "skipped"))]
                for cap in (500, 1500, 3000)
                for message in (61, 121, 181, 251, 299)
                for tokens, tiers in [shown(cap, message)]
            ],
        },
    )


def _named(tiers: dict[str, list[str]]) -> str:
    words = {"full": "In full", "last points": "By the last points", "one line": "In one line"}
    words |= {"skipped": "Left out, the cap is full", "superseded": "Superseded"}
    parts = [f"{words[tier]}: {', '.join(topics)}." for tier, topics in tiers.items() if topics]
    return " ".join(parts) or "There are no notes yet."
