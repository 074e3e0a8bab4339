"""How far off two rules of thumb are: what was measured on other texts of the same kinds holds on ours."""

from __future__ import annotations

import pytest

from contextlab.texts import article_1, samples
from contextlab.tokens import BPE, CharsPerToken, WordPieces

TEXTS = {text.name: text.text for text in [*samples(), *article_1()]}
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")
CHARS, PIECES = CharsPerToken(), WordPieces()


def error(rule, name, counter=O200K):
    """By which share a rule counts too much (above 0) or too little."""
    return rule(TEXTS[name]) / counter(TEXTS[name]) - 1


@pytest.mark.parametrize("name", ["prose", "chat message", "English", "Python code"])
@pytest.mark.parametrize("rule", [CHARS, PIECES], ids=lambda rule: rule.name)
def test_on_english_and_code_both_are_within_30_percent(rule, name):
    assert abs(error(rule, name)) < 0.31


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("JSON records", -0.50, -0.25),  # by a third
        ("phone numbers", -0.65, -0.50),
        ("Chinese", -0.75, -0.55),
        ("Japanese", -0.75, -0.55),
        ("Korean", -0.65, -0.45),
        ("Greek", -0.40, -0.20),
        ("Arabic", -0.40, -0.15),
        ("Hindi", -0.20, -0.05),
        ("Finnish", -0.25, -0.10),
        ("German", 0.00, 0.30),
        ("French", 0.05, 0.30),
        ("Spanish", 0.05, 0.30),
    ],
)
def test_a_quarter_of_the_characters_is_too_little_where_tokens_are_short(name, least, most):
    assert least < error(CHARS, name) < most


@pytest.mark.parametrize("name", ["Russian", "Greek", "Arabic", "Hindi", "Chinese", "Japanese", "Korean"])
def test_with_the_older_vocabulary_most_other_scripts_are_undercounted_by_40_percent_and_more(name):
    assert error(CHARS, name, CL100K) < -0.40
    assert CL100K(TEXTS[name]) > 1.25 * O200K(TEXTS[name])


def test_english_has_4_to_5_characters_a_token_and_up_to_one_and_a_half_tokens_a_word():
    for name in ("prose", "English"):
        text = TEXTS[name]
        assert 4 < len(text) / O200K(text) < 5.2
        assert 1.0 < O200K(text) / len(text.split()) < 1.5


def test_other_languages_cost_up_to_two_and_a_half_times_english_now_and_five_times_before():
    newer = {text.name: O200K(text.text) / O200K(TEXTS["English"]) for text in article_1()}
    older = {text.name: CL100K(text.text) / CL100K(TEXTS["English"]) for text in article_1()}
    assert max(newer.values()) < 2.5
    assert 4.5 < max(older.values()) < 6
    assert newer["Greek"] < older["Greek"] / 2 and newer["Hindi"] < older["Hindi"] / 3
