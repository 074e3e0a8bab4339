"""The explorer of chapter 09: what stands on the board of pins, and what of it fits under a cap."""

from __future__ import annotations

from contextlab.pins import Pins
from contextlab.script import TRIP, trip_chat
from contextlab.tokens import WordPieces

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

CAPS = (5, 10, 15, 20, 25, 30, 35, 40)


def board_after(messages: int) -> Pins:
    """Return the board of the trip after so many messages."""
    board = Pins()
    for message in trip_chat()[:messages]:
        board.read(message)
    return board


def pins_explorer(
    *,
    title: str = "The note under a cap",
    question: str = "Move through the messages of the trip, and change the cap of the note.",
) -> Explorer:
    """Return the explorer of a board of pins: the note after each message of the trip, under eight caps.

    Returns:
        An explorer; `settings` holds `message` (1 to 10) and `cap` (approximate units).
    """
    counter, seen = WordPieces(), {}

    def results(message: int, cap: int) -> tuple[int, ...]:
        board = board_after(message)
        note = board.render(cap, counter)
        whole = board.render(10_000, counter)
        read = f"Message {message}: “{TRIP[message - 1].replace(chr(10), ' ')}” "
        read += f"Sent: “{note.text}”" if note.text else "Nothing is sent."
        if note.skipped:
            read += f" Left out: {' '.join(one.topic for one in note.skipped)}"
        earlier = [(pin.key, past) for pin in board if pin.key for past in board.past(pin.key)]
        if earlier:
            read += f" No longer sent: {', '.join(f'{key} {past.value} ({past.why})' for key, past in earlier)}."
        pattern = seen.setdefault(read, len(seen))
        return len(board), len(board) - len(note.skipped), note.tokens, whole.tokens, pattern

    messages = range(1, len(TRIP) + 1)
    for message in messages:  # all patterns are known before the sentences are made
        for cap in CAPS:
            results(message, cap)
    names = ("pins", "shown", "tokens", "whole", "pattern")
    rows = []
    for message in messages:
        board = board_after(message)
        rows.append(
            [str(message), TRIP[message - 1].replace("\n", " "), str(len(board)), board.render(30, counter).text]
        )
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("message", "Message", messages[0], messages[-1], 1, "", 9),
            Control("cap", "Cap of the note", start=25, values=CAPS),
        ],
        table_of=(("message", "cap"), names, results),
        digits=dict.fromkeys(names, 0),
        sentences=[*((f"pattern == {at}", read) for read, at in seen.items()), "{shown} of {pins} pins are sent."],
        draw={
            "type": "bars",
            "unit": "approximate units",
            "most": max(CAPS),
            "bars": [
                {"name": "cap", "label": "Cap", "role": "reply", "digits": 0},
                {"name": "tokens", "label": "The note", "role": "note", "digits": 0},
                {"name": "whole", "label": "All pins of the board", "role": "note", "digits": 0},
            ],
        },
        table={"head": ["Message", "It says", "Pins", f"The note under a cap of {grouped(30)}"], "rows": rows},
    )
