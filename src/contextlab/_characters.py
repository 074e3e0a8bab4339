"""Where a text can be cut without breaking what a reader takes for one character.

The rules are those of Unicode Standard Annex 29 (extended grapheme clusters), with the character data that the
standard library has. Where that data is coarser, two characters stay together that the annex would part;
none is parted that the annex keeps together, as far as this Python knows the characters.
"""

from __future__ import annotations

from unicodedata import category

__all__ = ["is_boundary"]

_ZWNJ, _ZWJ = "\u200c", "\u200d"
# These stand before the character that they belong to (property Prepend).
_PREPEND = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u1cf5\u1cf6\U000110bd\U000110cd\U000111c2\U000111c3"
    "\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)
# Combining in effect, though their category does not say so: Thai and Lao AM, half-width voicing marks.
_COMBINING = frozenset("\u0e33\u0eb3\uff9e\uff9f")
# Viramas that tie the consonant after them to the one before (property Indic_Conjunct_Break = Linker).
_LINKERS = frozenset(
    "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d\u1039\u17d2\u1a60\u1b44\u1bab\ua9c0\uaaf6"
    "\U00010a3f\U00011133\U000113d0\U0001193e\U00011a47\U00011a99\U00011f42"
)


def _extends(char: str) -> bool:
    """Whether `char` belongs to the character before it: marks, joiners, skin tones, tag letters."""
    if char in (_ZWNJ, _ZWJ) or category(char)[0] == "M" or char in _COMBINING:
        return True
    return "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"


def _controls(char: str) -> bool:
    """Whether `char` is a control: always a character of its own."""
    return (
        category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs")
        and char not in (_ZWNJ, _ZWJ)
        and char not in _PREPEND
        and not "\U000e0020" <= char <= "\U000e007f"
    )


def _pictograph(char: str) -> bool:
    """Whether `char` may follow a joiner inside one emoji; the ranges hold other characters too."""
    return char in "\u00a9\u00ae" or "\u203c" <= char <= "\u3299" or "\U0001f000" <= char <= "\U0001fffd"


def _regional(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _hangul(char: str) -> str:
    """Return the part that `char` plays in a Korean syllable block: L, V, T, LV, LVT or ""."""
    if "\u1100" <= char <= "\u115f" or "\ua960" <= char <= "\ua97c":
        return "L"
    if "\u1160" <= char <= "\u11a7" or "\ud7b0" <= char <= "\ud7c6":
        return "V"
    if "\u11a8" <= char <= "\u11ff" or "\ud7cb" <= char <= "\ud7fb":
        return "T"
    if "\uac00" <= char <= "\ud7a3":
        return "LV" if (ord(char) - 0xAC00) % 28 == 0 else "LVT"
    return ""


def _after_linker(text: str, index: int) -> bool:
    """Whether the marks just before `index` hold a virama, which ties the consonant at `index` to them."""
    while index > 0 and _extends(text[index - 1]):
        index -= 1
        if text[index] in _LINKERS:
            return True
    return False


def is_boundary(text: str, index: int) -> bool:
    """Return whether `text` can be cut before `text[index]` without breaking a character.

    Args:
        text: any text.
        index: a position in code points, from 0 to `len(text)`; both ends are boundaries.

    Source: Unicode Standard Annex 29, rules GB1 to GB999.

    >>> [index for index in range(5) if is_boundary("e\\u0301\\r\\n", index)]  # e with an acute, end of line
    [0, 2, 4]
    """
    if index <= 0 or index >= len(text):
        return True
    before, after = text[index - 1], text[index]
    if before < "\u0300" and after < "\u0300" and before not in "\u00a9\u00ae":  # most text
        return not (before == "\r" and after == "\n")
    if _controls(before) or _controls(after):
        return True
    if _extends(after) or before in _PREPEND:
        return False
    if before == _ZWJ and _pictograph(after):
        return False
    if _regional(before) and _regional(after):  # flags are pairs, counted from where the row of letters begins
        start = index
        while start > 0 and _regional(text[start - 1]):
            start -= 1
        return (index - start) % 2 == 0
    left, right = _hangul(before), _hangul(after)
    if left and right:
        if left == "L" and right != "T":
            return False
        if left in ("V", "LV") and right in ("V", "T"):
            return False
        if left in ("T", "LVT") and right == "T":
            return False
    return not (category(after) == "Lo" and _after_linker(text, index))
