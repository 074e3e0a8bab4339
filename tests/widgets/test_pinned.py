"""The explorer of chapter 09: the note that it shows is the board's, under every cap."""

from __future__ import annotations

from contextlab.script import TRIP
from contextlab.tokens import WordPieces
from contextlab.widgets import pins_explorer
from contextlab.widgets.pinned import CAPS, board_after


def test_each_sentence_tells_the_message_the_note_and_what_is_left_out():
    data = pins_explorer().data
    counter = WordPieces()
    names, rows, sentences = data["table_of"]["names"], data["table_of"]["rows"], data["sentences"]
    assert len(rows) == len(TRIP) * len(CAPS)
    for key, values in rows.items():
        message, cap = map(int, key.split("|"))
        seen = dict(zip(names, map(int, values), strict=True))
        note = board_after(message).render(cap, counter)
        assert seen["tokens"] == counter(note.text) <= cap
        assert seen["pins"] - seen["shown"] == len(note.skipped)
        text = sentences[seen["pattern"]][1]
        assert f"Message {message}:" in text and (note.text in text if note.text else "Nothing is sent" in text)
        assert all(one.topic in text for one in note.skipped)
        assert ("400 euros (stale)" in text) == (message >= 5)
        assert ("450 euros (corrected)" in text) == (message >= 8)


def test_the_pasted_million_is_never_sent_and_the_corrected_budget_is():
    texts = [text for _, text in pins_explorer().data["sentences"]]
    assert not any("million" in text.split("Sent:")[1] for text in texts if "Sent:" in text)
    last = board_after(len(TRIP))
    assert last["budget"].value == "480 euros" and [one.value for one in last.past("budget")] == [
        "400 euros",
        "450 euros",
    ]
