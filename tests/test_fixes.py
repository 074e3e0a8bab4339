"""First forms of the two fixes: the pinned note and the rolling summary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.keep import History
from contextlab.pins import PinnedNote, user_name
from contextlab.render import PlainRule
from contextlab.summary import RollingSummary
from contextlab.tokens import WordPieces

COST = PlainRule(WordPieces()).message


def history(*texts, topics=()):
    topics = [*topics, *[None] * len(texts)]
    return History([Message("user", text, topic=topic) for text, topic in zip(texts, topics, strict=False)], COST)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hello! My name is Ada Moreno. I want", "Ada Moreno"),
        ("my name is Zoë", "Zoë"),
        ("My name is José Ángel Núñez, and", "José Ángel Núñez"),
        ("My name is O'Neil", "O'Neil"),
        ("My name is 李雷。", "李雷"),
        ("my name is Ada and I like tea", "Ada"),
        ("My name is not important.", None),
        ("My name is", None),
        ("My name is 42", None),
        ("There is no name here", None),
    ],
)
def test_a_name_is_found_in_every_script_and_nothing_else(text, name):
    assert user_name(text) == name


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text):
    found = user_name(f"My name is {text}")
    assert found is None or found.replace(" ", "") != ""


def test_a_pinned_note_stays_and_is_replaced_by_a_later_one():
    policy = PinnedNote()
    policy.start(room=60)
    chat = history("Hello", "My name is Ada Moreno.", *["word " * 20] * 3, "My name is Mira.")
    notes = [policy.select(chat.until(stop)).header for stop in range(1, 7)]
    assert notes[0] == ()
    assert {note[0].text for note in notes[1:5]} == {"Memory: user name: Ada Moreno."}
    assert notes[5][0].text == "Memory: user name: Mira."


def test_a_policy_that_starts_again_remembers_nothing():
    for policy in (PinnedNote(), RollingSummary(reserve=60)):
        policy.start(room=110)
        first = policy.select(history("My name is Ada.", "word " * 40))
        policy.start(room=110)
        second = policy.select(history("Hello.", "word " * 40))
        assert any("Ada" in message.text for message in first.header)
        assert not any("Ada" in message.text for message in second.header)


def test_there_is_no_summary_before_a_message_has_left_yet_the_reserve_stays():
    policy = RollingSummary(reserve=60)
    policy.start(room=100)
    assert policy.select(history("word " * 30)).header == ()
    two = history("word " * 30, "word " * 30)
    assert len(two.until(2)) == 2 and two.units(0, 2) <= 100
    assert policy.select(two).indices == range(1, 2)


def test_a_topic_that_does_not_fit_the_reserve_is_left_out_and_a_shorter_later_one_may_come_in():
    reserve = COST(Message("system", "Summary of 2 earlier messages: Topics so far: tea."))
    policy = RollingSummary(reserve=reserve)
    policy.start(room=reserve + 20)
    chat = history("one two three", "four five six", "word " * 10, topics=["a very long topic of many words", "tea"])
    (summary,) = policy.select(chat).header
    assert summary.text == "Summary of 2 earlier messages: Topics so far: tea."


@given(st.lists(st.integers(1, 12), min_size=2, max_size=25), st.integers(12, 60))
def test_a_summary_never_costs_more_than_its_reserve(lengths, reserve):
    chat = history(*["word " * n for n in lengths], topics=[f"topic {n}" for n in range(len(lengths))])
    policy = RollingSummary(reserve=reserve)
    policy.start(room=reserve + 20)
    for stop in range(1, len(lengths) + 1):
        kept = policy.select(chat.until(stop))
        assert kept.header_units <= reserve
        assert kept.units <= reserve + 20
        assert kept.indices.start == 0 or f"Summary of {kept.indices.start} earlier" in kept.header[0].text
