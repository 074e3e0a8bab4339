"""Eight failure modes: each is found when it is made, and none is found in a request of the assembler."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab import BPE, WordPieces, assemble
from contextlab.chat import Message
from contextlab.errors import ContextOverflow, InputError
from contextlab.failures import FAILURE_MODES, failures
from contextlab.render import OpenAIRecipe, PlainRule

RULE = PlainRule(WordPieces())
CALLS = tuple({"id": id, "type": "function", "function": {"name": "stock", "arguments": "{}"}} for id in "ab")
CHAT = [
    Message("system", "You sell bicycle parts."),
    Message("user", "I ride a size 54 frame."),
    Message("assistant", "Noted."),
    Message("user", "Are the pedals and the saddle in stock?"),
    Message("assistant", None, CALLS),
    Message("tool", "pedals: 4", tool_call_id="a"),
    Message("tool", "saddle: none in stock", tool_call_id="b"),
    Message("assistant", "The pedals are, the saddle is not."),
    Message("user", "And my frame size, what is it?"),
]


def found(sent, **options):
    options = {"input_budget": 1_000, "rule": RULE, **options}
    return [failure.mode for failure in failures(sent, CHAT, **options)]


def test_a_right_request_has_no_failure():
    assert found(CHAT) == []
    assert found([one.to_openai() for one in CHAT]) == []
    assert found([CHAT[0], *CHAT[3:]], summary="a size 54 frame", facts=["54"], stale=["size 56"]) == []


LOST, HEADLESS, ORPHAN, HALF, FLOOD, DRIFT, STALE, MISCOUNT = FAILURE_MODES


@pytest.mark.parametrize(
    ("sent", "modes"),
    [
        (CHAT[1:], [LOST]),
        ([CHAT[0]._replace(content="You sell parts."), *CHAT[1:]], [LOST]),
        ([CHAT[0], *CHAT], [LOST]),
        ([*CHAT[1:], CHAT[0]], [LOST]),
        ([CHAT[0]], [HEADLESS]),
        ([], [LOST, HEADLESS]),
        ([CHAT[0], *CHAT[2:]], [HEADLESS]),
        (CHAT[:-1], [HEADLESS]),
        ([CHAT[0], CHAT[3], *CHAT[5:]], [ORPHAN, ORPHAN]),
        ([*CHAT[:5], CHAT[5], *CHAT[7:]], [ORPHAN]),
        ([*CHAT[:4], CHAT[5], CHAT[6], CHAT[4], *CHAT[7:]], [ORPHAN] * 4),
        ([*CHAT[:6], CHAT[5], *CHAT[6:]], [ORPHAN]),
        ([CHAT[0], CHAT[1]._replace(content="size 54 frame."), *CHAT[2:]], [HALF]),
        ([*CHAT[:5], CHAT[5]._replace(content="pedals:"), *CHAT[6:]], [HALF]),
    ],
)
def test_each_way_to_break_a_request_is_found(sent, modes):
    assert found(sent) == modes


def test_a_large_result_is_a_flood_and_a_small_one_is_not():
    cost = RULE.message(CHAT[6])
    assert found(CHAT, input_budget=1_000, flood=(cost - 1) / 1_000) == [FLOOD]
    assert found(CHAT, input_budget=1_000, flood=cost / 1_000) == []


def test_a_summary_is_held_against_what_it_has_to_say():
    assert found(CHAT, summary="They asked for pedals.", facts=["54", "pedals"]) == [DRIFT]
    assert found(CHAT, facts=["54"]) == [], "where there is no summary, nothing can drift"


def test_a_stale_note_is_found_and_what_the_user_once_said_is_no_note():
    note = Message("system", "The frame has size 56.")
    assert found([CHAT[0], note, *CHAT[1:]], stale=["size 56"]) == [STALE]
    assert found([CHAT[0], note, *CHAT[1:]], stale=["size 54"]) == []


def test_a_request_one_token_over_is_a_miscount():
    tokens = RULE.request(CHAT)
    assert found(CHAT, input_budget=tokens) == []
    assert found(CHAT, input_budget=tokens - 1) == [MISCOUNT]


def test_a_text_shortened_with_a_mark_is_no_half_message():
    assert found([*CHAT[:5], CHAT[5]._replace(content="pedals: [shortened]"), *CHAT[6:]]) == []


def test_what_is_no_chat_is_refused_by_its_place():
    with pytest.raises(InputError, match="message 1 of the request"):
        failures([CHAT[0], "text"], CHAT, input_budget=9, rule=RULE)
    with pytest.raises(InputError, match="no user message"):
        failures([], CHAT[:1], input_budget=9, rule=RULE)


words = st.lists(st.sampled_from("pedal saddle chain 54 blue when then ok".split()), max_size=6).map(" ".join)
plain = st.builds(Message, st.sampled_from(["user", "assistant"]), words.filter(bool))
ids = st.lists(st.sampled_from("abc"), max_size=3)
called = st.builds(
    lambda asked, answered: [
        Message("assistant", None, tuple({"id": i, "function": {"name": "f", "arguments": "{}"}} for i in asked)),
        *[Message("tool", "found", tool_call_id=i) for i in answered],
    ],
    ids.filter(bool),
    ids,
)
chats = st.builds(
    lambda blocks: [Message("system", "Be brief."), *[m for block in blocks for m in block], Message("user", "now?")],
    st.lists(st.one_of(plain.map(lambda one: [one]), called), max_size=12),
)


@given(chats, st.integers(1, 300))
def test_the_assembler_sends_nothing_in_which_a_failure_is_found(chat, window):
    counter = BPE("o200k_base")
    try:
        request = assemble(chat, window=window, max_output_tokens=0, counter=counter)
    except ContextOverflow:
        return
    assert failures(request.messages, chat, input_budget=window, rule=OpenAIRecipe(counter), flood=1) == ()
