"""A text in pieces on the page: nothing lost, no character divided, readable without seeing it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab import figures
from contextlab._characters import is_boundary
from contextlab.errors import InputError
from contextlab.texts import article_1, samples
from contextlab.tokens import BPE, WordPieces

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}\u200d\N{BOY}"
TEXTS = [*article_1(), *samples()]
WORDS = WordPieces()


def shown(strip) -> ET.Element:
    html = strip._repr_html_().split("<style>")[0] + "</figure>"
    return ET.fromstring(html)


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_groups_are_the_text_and_their_numbers_are_the_count(text, name):
    pieces = BPE(name).pieces(text.text)
    groups = figures.piece_groups(pieces)
    assert "".join(part for part, _ in groups) == text.text
    assert sum(count for _, count in groups) == len(pieces)


@given(
    st.text(
        alphabet=st.sampled_from("ae\u0301\u0308\N{MAN}\u200d\N{WOMAN}\u0928\u094d\u0924\u093f\ud55c 1\n"), max_size=30
    )
)
def test_a_group_begins_and_ends_between_characters(text):
    for pieces in (WORDS.pieces(text), [bytes([byte]) for byte in text.encode()], list(text)):
        at = 0
        for part, count in figures.piece_groups(pieces):
            assert is_boundary(text, at) and count >= 1
            at += len(part)
        assert at == len(text)


def test_no_group_can_be_divided():
    """A group of several pieces holds no place where a piece and a character both end."""
    for text in TEXTS:
        pieces = BPE("cl100k_base").pieces(text.text)
        ends = {len(b"".join(pieces[:i])) for i in range(len(pieces) + 1)}
        at = 0
        for part, _ in figures.piece_groups(pieces):
            inside = [i for i in range(1, len(part)) if is_boundary(text.text, at + i)]
            before = len(text.text[:at].encode())
            assert not [i for i in inside if before + len(part[:i].encode()) in ends]
            at += len(part)


def test_a_character_of_many_tokens_is_shown_once_with_their_number():
    strip = figures.pieces_strip(BPE("cl100k_base").pieces(f"Hi{FAMILY}"))
    spans = shown(strip).findall("p/span")
    assert [span.text for span in spans] == ["Hi", FAMILY]
    assert spans[1].find("sup").text == "18 tokens"
    assert strip.caption == "19 tokens."


def test_many_groups_carry_numbers_and_the_word_is_there_for_those_who_listen():
    hindi = article_1("Hindi")
    strip = figures.pieces_strip(BPE("cl100k_base").pieces(hindi.text), lang=hindi.lang)
    marks = shown(strip).findall("p/span/sup")
    assert len(marks) > figures.pieces.FEW
    assert all(mark.text.isdigit() and mark.find("i").text == " tokens" for mark in marks)
    assert "small number" in strip.caption


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_the_page_has_the_text_its_language_and_its_direction(text):
    strip = figures.pieces_strip(BPE().pieces(text.text), lang=text.lang, dir=text.dir)
    paragraph = shown(strip).find("p")
    assert (paragraph.get("lang"), paragraph.get("dir")) == (text.lang, text.dir)
    assert "".join(span.text for span in paragraph).replace("↵", "") == text.text
    assert shown(strip).get("role") == "group" and len(shown(strip).get("aria-label")) > 15


def test_neighbours_differ_in_tint_and_line_and_use_no_role_colour():
    strip = figures.pieces_strip(WORDS.pieces("one two three"), unit="pieces")
    assert [span.get("class") for span in shown(strip).findall("p/span")] == [None, "cl-odd", None]
    html = strip._repr_html_()
    assert "1px dotted" in html and "2px solid" in html
    assert not re.search(r"#[0-9a-f]{3,6}|--cl-", html)


def test_a_cut_inside_a_character_shows_the_broken_part():
    groups = figures.piece_groups(BPE("cl100k_base").pieces(f"Hi{FAMILY}")[:3])
    assert groups == [("Hi", 1), ("\ufffd", 2)]


def test_markup_in_a_text_stays_text():
    strip = figures.pieces_strip(["<b>", "&", '"'], alt='a "b"')
    assert [span.text for span in shown(strip).findall("p/span")] == ["<b>", "&", '"']
    assert shown(strip).get("aria-label") == 'a "b"'


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pieces": []}, "nothing to show"),
        ({"pieces": ["a"], "dir": "up"}, '"ltr" or "rtl"'),
        ({"pieces": ["a"], "caption": "word " * 13}, "at most 12 words"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(InputError, match=message):
        figures.pieces_strip(**options)
