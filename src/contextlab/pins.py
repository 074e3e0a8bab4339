"""Pinned notes: facts that every request carries in a place of their own.

This is the first form: one fact, the name of the user, found by a pattern.
"""

from __future__ import annotations

import re

from .chat import Message
from .keep import PinnedFit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keep import History, Kept

_NAME_FOLLOWS = re.compile(r"\bmy name is ((?:\S+ ?){1,3})", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’-](?=[^\W\d_]))*")


def user_name(text: str) -> str | None:
    """Return the name that follows “my name is” in ``text``, or None: up to three words that begin like names.

    A word begins like a name when its first letter is no small letter; letters of every script count. A name ends
    at the first sign that is no letter, hyphen or apostrophe.

    >>> user_name("Hello! My name is Zoë Ivanova-Lee. I want to build a planner.")
    'Zoë Ivanova-Lee'
    >>> user_name("My name is not important.") is None
    True
    """
    if "name is" not in text.lower():  # most messages: fifteen times as fast as the pattern, which ignores case
        return None
    found = _NAME_FOLLOWS.search(text)
    if found is None:
        return None
    name = []
    for candidate in found[1].split():
        word = _WORD.match(candidate)
        if word is None or word[0][0].islower():
            break
        name.append(word[0])
        if word[0] != candidate:
            break
    return " ".join(name) or None


def name_fact(text: str) -> str | None:
    """Return the fact to note from a user message, or None.

    >>> name_fact("My name is Ada Moreno.")
    'user name: Ada Moreno.'
    """
    name = user_name(text)
    return None if name is None else f"user name: {name}."


class PinnedNote(PinnedFit):
    """Keep-newest beside a pinned note with the fact that ``extract`` found in the user's messages.

    ``extract`` takes the text of a user message and returns a fact or None; a later fact replaces the earlier one.
    The note stands after the instructions as a system message from the request in which the fact is said. Each
    message is read once.

    >>> from contextlab.keep import History
    >>> policy = PinnedNote()
    >>> policy.start(room=100)
    >>> history = History([Message("user", "My name is Ada Moreno.")], cost=lambda message: len(message.text))
    >>> policy.select(history).header[0].content
    'Memory: user name: Ada Moreno.'
    """

    def __init__(self, extract=name_fact):
        super().__init__(())
        self.extract = extract

    def start(self, room: int) -> None:
        super().start(room)
        self.header = ()
        self._read = 0  # messages read so far

    def select(self, history: History) -> Kept:
        for index in range(self._read, len(history)):
            message = history[index]
            fact = self.extract(message.text) if message.role == "user" else None
            if fact is not None:
                self.header = (Message("system", f"Memory: {fact}"),)
        self._read = len(history)
        return super().select(history)
