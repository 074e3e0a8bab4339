"""The explorer of chapter 01: a text in pieces, word pieces live and real tokens of prepared texts."""

from __future__ import annotations

import random

from .base import Explorer
from .markup import grouped, html, paragraphs

JSON = '[{"id":1041,"loaf":"rye","grams":1000,"sold":true},\n {"id":1048,"loaf":"spelt","grams":750,"sold":false}]'
PHONES = "+49 30 23125-014\n(202) 555-0143\n+49 30 23125-388\n(202) 555-0177"
EMOJI = "Bread is out of the oven 🍞🔥 thanks again 🙏🏽 the kids 👩‍👩‍👧‍👦 ate half of it ❤️"
LANGUAGES = ("English", "Finnish", "Greek", "Arabic", "Hindi", "Japanese", "Korean")
# What a text for the checks is made of: each row is a kind that the rule of word pieces treats in its own way.
ALPHABET = (
    "abcdefgXYZ",
    "0123456789",
    " \t\n\v\f\r\u00a0\u1680\u2003\u2028\u202f\u3000\ufeff",
    ".,;:!?-_()[]{}'\"\\/^$|*+",
    "\u00e9\u00df\u0130\u017f\u212a",  # letters that are not A to Z, two of them equal to K and s without case
    "e\u0301\u0308\u0928\u093f\u094d\u0924\u0644\u0651",
    "\ud55c\u65e5\u306e\u4e00",
    "\U0001f35e\U0001f469\u200d\U0001f467\U0001f3fd\ufe0f\u20e3\U0001f1f5",  # emoji, their joiner and modifiers
    "\x00\x1c\x1f\x7f\x85\u180e\u200b\u2060",  # no white space here, though Python or a font may think so
    "\ud800\udbff",  # halves of a surrogate pair, which may stand alone in a text from elsewhere
)


def texts() -> list[tuple[str, str, str, str]]:
    """Return the prepared texts: name, language, direction, text."""
    from contextlab.texts import article_1

    found = [("JSON", "en", "ltr", JSON), ("Telephone numbers", "en", "ltr", PHONES), ("Emoji", "en", "ltr", EMOJI)]
    articles = [article_1(name) for name in LANGUAGES]
    named = [(f"Article 1, {one.name}", one.lang, one.dir, one.text) for one in articles]
    return [named[0], *found, *named[1:]]


def check_texts(number: int = 60) -> list[str]:
    """Return texts that try the rule of word pieces, the same on every call."""
    draw = random.Random(1)
    made = ["", "Remember 1,024 tokens.", "antidisestablishmentarianism", "1234567"]
    while len(made) < number:
        made.append("".join(draw.choice(draw.choice(ALPHABET)) for _ in range(draw.randint(1, 24))))
    return made


def pieces_explorer(
    *,
    title: str = "A text in pieces",
    question: str = "Choose a text and a counter. The text can be changed; word pieces are counted as you type.",
) -> Explorer:
    """Return the explorer that shows a text in the pieces of a counter, and counts them.

    Returns:
        An explorer; its trait `settings` holds `text` (the number of a prepared text), `own` (the reader's text, or
        None) and `counter`.
    """
    from contextlab.figures import piece_groups
    from contextlab.tokens import BPE, WHITE_SPACE, CharsPerToken, WordPieces

    names = ("cl100k_base", "o200k_base")
    vocabularies = {name: BPE(name) for name in names}
    words, chars = WordPieces(), CharsPerToken()

    def lengths(text: str, name: str) -> list:
        groups = piece_groups(vocabularies[name].pieces(text))
        return [len(part) if count == 1 else [len(part), count] for part, count in groups]

    prepared = texts()
    checks = []
    for text in check_texts():
        pieces = [len(piece) for piece in words.pieces(text)]
        checks.append([list(map(ord, text)), pieces, words(text), len(text)])
    rows = [
        [name, *(grouped(count(text)) for count in (chars, words, *vocabularies.values()))]
        for name, _, _, text in prepared
    ]
    return Explorer(
        "pieces",
        {
            "label": "Explore",
            "title": title,
            "question": paragraphs(question),
            "own": "Your own text",
            "counters": [["pieces", "word pieces"], *([name, name] for name in names)],
            "space": WHITE_SPACE,
            "texts": [
                {"name": name, "lang": lang, "dir": dir, "text": text, "tokens": {n: lengths(text, n) for n in names}}
                for name, lang, dir, text in prepared
            ],
            "no_vocabulary": html(
                'The vocabularies are not on this page. In a notebook `BPE("o200k_base")` counts any text.'
            ),
            "shared": "A small number: tokens that share a group of characters.",
            "long": "A small number: units of a long word.",
            "checks": checks,
            "table_title": "All texts and counters as a table",
            "table": {"head": ["Text", "Characters ÷ 4", "Word pieces", *names], "rows": rows},
            "height": 34,
        },
    )
