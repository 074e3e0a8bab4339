"""Counters of text, from a rule of thumb to the real vocabularies, and a cut that respects them."""

from __future__ import annotations

import re

from .errors import InputError

__all__ = ["BPE", "COUNTERS", "CharsPerToken", "WordPieces", "cut", "get_counter"]

# White space is this list and nothing else, so that a counter in JavaScript (whose \s it is) agrees:
# tab, line feed, vertical tab, form feed, carriage return, space, and the Unicode spaces.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
WHITE_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"

# The white-space characters need no escape inside a character class: none of them is special there.
_PIECE = re.compile(f" ?[A-Za-z]+| ?[0-9]{{1,3}}| ?[^{WHITE_SPACE}A-Za-z0-9]+|[{WHITE_SPACE}]+")


class _PieceCosts(dict):
    """The units of the pieces seen so far; looking one up costs less than counting its letters."""

    def __missing__(self, piece: str) -> int:
        letters = len(piece.lstrip(" ")) if piece[-1].isascii() and piece[-1].isalpha() else 0
        units = 1 if letters <= 7 else -(-letters // 4)
        if len(piece) <= 32 and len(self) < 50_000:  # bounded: about 5 MB at most
            self[piece] = units
        return units


_units_of = _PieceCosts().__getitem__


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise InputError(f"a counter takes a text, got {type(text).__name__}")


class CharsPerToken:
    """Count characters and divide: one unit for every `chars` characters, rounded up.

    Args:
        chars: code points a unit, at least 1.

    >>> CharsPerToken()("Hello, world")
    3
    """

    name = "chars"
    unit = "approximate units"
    __slots__ = ("chars",)

    def __init__(self, chars: int = 4) -> None:
        if isinstance(chars, bool) or not isinstance(chars, int) or chars < 1:
            raise InputError(f"chars must be a whole number of at least 1, got {chars!r}")
        self.chars = chars

    def __call__(self, text: str) -> int:
        """Return the approximate units of `text`."""
        _check_text(text)
        return -(-len(text) // self.chars)

    def __repr__(self) -> str:
        return f"CharsPerToken(chars={self.chars})"


class WordPieces:
    """Count pieces of words, numbers, signs and white space: the counter of the 200-turn lab.

    From left to right, the first rule that matches takes a piece: an optional space and a run of the letters
    A to Z and a to z; an optional space and one to three digits; an optional space and a run of anything that
    is neither white space, such a letter nor such a digit; a run of white space. A piece costs 1 unit when it has at
    most 7 letters, else a quarter of its letters, rounded up.

    >>> WordPieces().pieces("Remember 1,024 tokens.")
    ['Remember', ' 1', ',', '024', ' tokens', '.']
    >>> WordPieces()("Remember 1,024 tokens.")
    7
    """

    name = "pieces"
    unit = "approximate units"
    __slots__ = ()

    def __call__(self, text: str) -> int:
        """Return the approximate units of `text`."""
        _check_text(text)
        return sum(map(_units_of, _PIECE.findall(text)))

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` in order; joined, they are the text."""
        _check_text(text)
        return _PIECE.findall(text)

    def __repr__(self) -> str:
        return "WordPieces()"


class BPE:
    """Count the tokens of a real byte-pair vocabulary (in preparation)."""


COUNTERS = ("chars", "pieces", "cl100k_base", "o200k_base")


def get_counter(name: str) -> CharsPerToken | WordPieces | BPE:
    """Return the counter of that name, one of `COUNTERS`.

    Raises:
        InputError: there is no such counter; the message lists the known names.

    >>> get_counter("pieces")("What is my name?")
    5
    """
    if name == "chars":
        return CharsPerToken()
    if name == "pieces":
        return WordPieces()
    if name in COUNTERS:
        return BPE(name)
    raise InputError(f"unknown counter {name!r}: choose one of {', '.join(COUNTERS)}")


def cut(text: str, limit: int, counter, side: str = "right", mark: str = "") -> str:
    raise NotImplementedError
