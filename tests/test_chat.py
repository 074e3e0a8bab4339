"""Messages in and out, turns, atomic groups."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.chat import Message, groups, leading_instructions, turns
from contextlab.errors import InputError


def call(*ids):
    return tuple({"id": i, "type": "function", "function": {"name": "look_up", "arguments": "{}"}} for i in ids)


def result(call_id):
    return Message("tool", "found", tool_call_id=call_id)


def test_openai_dicts_come_back_as_they_went_in():
    dicts = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": [{"type": "text", "text": "Hello"}]},
        {"role": "assistant", "content": None, "tool_calls": list(call("a", "b"))},
        {"role": "tool", "content": "found", "tool_call_id": "a"},
    ]
    assert [Message.from_openai(d).to_openai() for d in dicts] == dicts


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("hello", "str"),
        ({"content": "hello"}, "role None"),
        ({"role": "robot", "content": "hello"}, "robot"),
        ({"role": "user", "content": 7}, "int"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(value, words):
    with pytest.raises(InputError, match=words) as caught:
        Message.from_openai(value, where="message 3 of chat.json")
    assert "message 3 of chat.json" in str(caught.value)


def test_every_leading_instruction_counts_whatever_its_role():
    roles = ["system", "developer", "system", "user", "system", "assistant"]
    assert leading_instructions([Message(role, "…") for role in roles]) == 3


@given(st.lists(st.sampled_from(["system", "user", "assistant", "tool"]), max_size=20))
def test_turns_cover_everything_after_the_instructions_once(roles):
    messages = [Message(role, "…") for role in roles]
    covered = [i for turn in turns(messages) for i in turn]
    assert covered == list(range(leading_instructions(messages), len(messages)))
    assert all(messages[turn[0]].role == "user" for turn in turns(messages)[1:])
    assert all(messages[i].role != "user" for turn in turns(messages) for i in turn[1:])


def test_a_call_and_its_results_are_one_group_whatever_the_distance():
    chat = [
        Message("user", "?"),
        Message("assistant", None, call("a", "b")),
        result("a"),
        Message("user", "!"),
        result("b"),
    ]
    assert groups(chat) == [(0,), (1, 2, 4), (3,)]


def test_a_result_without_a_call_before_it_stands_alone():
    assert groups([result("a"), Message("assistant", None, call("a")), result("a")]) == [(0,), (1, 2)]


@given(st.lists(st.sampled_from(["user", "assistant", "call a", "call b", "result a", "result b"]), max_size=15))
def test_groups_hold_every_message_once(kinds):
    make = {
        "user": Message("user", "…"),
        "assistant": Message("assistant", "…"),
        "call a": Message("assistant", None, call("a")),
        "call b": Message("assistant", None, call("b")),
        "result a": result("a"),
        "result b": result("b"),
    }
    found = groups([make[kind] for kind in kinds])
    assert sorted(i for group in found for i in group) == list(range(len(kinds)))
    assert [group[0] for group in found] == sorted(group[0] for group in found)
