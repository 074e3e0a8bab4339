"""What the course secret and a student's id decide: the rule of a lab, its hidden cases, personal numbers.

Everything is drawn by SHA-256, so that a draw is the same on every machine and with every version of Python.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Sequence
from pathlib import Path

VARIABLE = "CONTEXTLAB_SECRET"
DEMONSTRATION = "demonstration"  # for readers on their own: its solutions are public
LEAST = 20  # characters: a course label is public, and a short secret could be guessed from it


class SecretError(ValueError):
    """The course secret cannot be used."""


class Draw:
    """An endless source of choices; the same parts give the same choices, in the same order.

    >>> draw = Draw("demonstration", "lab0", "cases")
    >>> [draw.int(1, 6) for _ in range(5)] == [Draw("demonstration", "lab0", "cases").int(1, 6)] * 5
    False
    """

    def __init__(self, *parts: str):
        self._key = "/".join(parts)
        self._number = 0

    def int(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        self._number += 1
        return number_from(f"{self._key}/{self._number}", low, high)

    def branch(self, name: str) -> Draw:
        """Return a source of its own for ``name``, whatever was drawn here before."""
        return Draw(self._key, name)

    def pick(self, options: Sequence):
        """Return one of ``options``."""
        return options[self.int(0, len(options) - 1)]

    def ints(self, count: int, low: int, high: int) -> list[int]:
        """Return ``count`` whole numbers from ``low`` to ``high``."""
        return [self.int(low, high) for _ in range(count)]


def number_from(text: str, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high`` that follows from ``text`` alone."""
    digest = hashlib.sha256(text.encode()).digest()
    return low + int.from_bytes(digest[:8], "big") % (high - low + 1)


def read_secret(file: Path | None = None) -> str:
    """Return the secret of ``file``, of the variable CONTEXTLAB_SECRET, or the one of the demonstration.

    Raises `SecretError` when a secret is shorter than 20 characters: ``python labs/build.py --new-secret FILE``
    writes a good one.
    """
    if file is not None:
        try:
            secret = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SecretError(f"the course secret cannot be read from {file}: {error}") from None
        where = str(file)
    else:
        secret, where = os.environ.get(VARIABLE, DEMONSTRATION).strip(), VARIABLE
    if secret != DEMONSTRATION and len(secret) < LEAST:
        raise SecretError(
            f"the course secret in {where} has {len(secret)} characters; at least {LEAST} are needed, since a short "
            "one can be guessed: python labs/build.py --new-secret FILE writes a good one"
        )
    return secret


def course_label(secret: str) -> str:
    """Return the public name of a course: it changes the personal numbers and tells nothing about the secret."""
    if secret == DEMONSTRATION:
        return DEMONSTRATION
    return hmac.new(secret.encode(), b"course label", hashlib.sha256).hexdigest()[:10]


def draw_rule(secret: str, lab: str, axes: dict[str, Sequence], questions: dict[str, Sequence[str]]) -> dict:
    """Return one value an axis: the first of each for the demonstration, drawn for a graded course.

    ``axes``: name of a part of the rule -> its possible values, that of the demonstration first. ``questions``:
    question -> the axes that differ from the demonstration in every graded course, so that an answer to the
    demonstration is wrong there. The other axes are left to chance.
    """
    demonstration = {name: options[0] for name, options in axes.items()}
    if secret == DEMONSTRATION:
        return demonstration
    draw = Draw(secret, lab, "rule")
    must = {name for names in questions.values() for name in names}
    return {name: draw.pick(options[1:] if name in must else options) for name, options in axes.items()}
