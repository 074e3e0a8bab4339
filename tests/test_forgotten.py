"""What a chat forgets: every figure of a trace against a walk that counts each message anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.errors import BudgetError, InputError
from contextlab.forecast import drop_turn
from contextlab.forgotten import FIRST, as_dict, holds, look_back, plain, said_facts
from contextlab.keep import KeepNewest
from contextlab.render import OpenAIRecipe, PlainRule, SystemInLastUser
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import BPE, CharsPerToken, WordPieces

PUBLISHED = json.loads((Path(__file__).parent / "data" / "published_lab.json").read_text(encoding="utf-8"))
RULE = PlainRule(WordPieces())
WORDS = "plum harbour quartz violet lantern".split()


def chat_of(*texts):
    """A chat whose messages are user and assistant by turns."""
    return [Message("assistant" if i % 2 else "user", text) for i, text in enumerate(texts)]


def test_the_published_chat_forgets_in_the_published_turns():
    trace = look_back(scripted_chat(), RULE, windows=(4000, 8000, 32000), facts=[NAME])
    assert [window.facts[0].drop_turn for window in trace.windows] == [19, 36, 141]
    assert [window.facts[0].turns_visible for window in trace.windows] == [18, 35, 140]
    for window, run in zip(trace.windows, PUBLISHED["runs"], strict=True):
        published = run["strategies"]["keep_newest"]
        assert window.sent_units == published["total_input_units"]
        columns = published["trace_columns"]
        for row, wanted in zip(window.requests, published["trace"], strict=True):
            wanted = dict(zip(columns, wanted, strict=True))
            assert row.fits
            for name in ("turn", "input_units", "messages_kept", "messages_dropped", "oldest_turn_kept"):
                assert getattr(row, name) == wanted[name]


def test_a_reply_reserve_moves_the_published_turns():
    trace = look_back(scripted_chat(), RULE, windows=(4000, 8000, 32000), facts=[NAME], reply_reserve=1000)
    assert [window.facts[0].drop_turn for window in trace.windows] == [15, 32, 136]


def test_the_published_pin_costs_what_the_lab_says():
    fact = look_back(scripted_chat(), RULE, windows=[4000]).windows[0].facts[1]
    assert (fact.key, fact.text) == ("user name", NAME)
    assert (fact.pin_units, fact.pin_sent_units) == (12, 12 * 200)


def test_the_default_facts_are_the_first_message_and_what_the_patterns_find():
    chat = chat_of(
        "Hello. I'm Ada.",
        "Hello, Ada.",
        "Remember that my exam is on 12 May.",
        "Noted.",
        "Correction: my exam is on 19 May.",
        "Good.",
        "From now on use metric units, please.",
    )
    found = said_facts(CountedChat(chat, RULE), [plain(message.text) for message in chat])
    assert [(fact.key, fact.text, fact.said_turn, fact.replaced_turn) for fact in found] == [
        (FIRST, "Hello. I'm Ada.", 1, None),
        ("user name", "Ada", 1, None),
        ("exam", "on 12 May", 2, 3),
        ("exam", "on 19 May", 3, None),
        ("units", "metric", 4, None),
    ]


def test_a_value_of_one_word_counts_only_beside_its_key():
    chat = chat_of("Remember that my cabin is 12.", "Row 12 is free.", "Go on.", "Your cabin is number 12.", "Thanks.")
    texts = [plain(message.text) for message in chat]
    assert said_facts(CountedChat(chat, RULE), texts)[1].messages == (0, 3)


def test_a_fact_is_no_part_of_a_longer_word():
    assert holds("ada and i", "ada") and not holds("adamant", "ada") and not holds("room 120", "12")
    assert holds("我叫李雷。", "李雷") and holds("a🦊b", "🦊")


def test_a_repeated_fact_comes_back_and_the_user_who_says_it_again_is_reported():
    filler = "word " * 30
    chat = chat_of(
        "My boat is the Plover, a wooden dinghy.", "Fine.", filler, filler, filler, filler,
        "As I said, a wooden dinghy. Is she safe?", "She is.", filler, filler, filler,
    )  # fmt: skip
    window = look_back(chat, RULE, windows=[120], facts=["wooden dinghy"]).windows[0]
    fact = window.facts[0]
    assert fact.messages == (0, 6)
    assert (fact.drop_turn, fact.back_turns, fact.said_again_turns) == (3, (4,), (4,))
    assert [row.turn for row in window.requests if row.turn in (3, 6)] == [3, 6]
    assert fact.turns_visible == 4  # 1, 2, 4, 5


def test_two_rare_words_are_a_sign_that_the_user_comes_back_to_a_lost_message():
    filler = "word " * 30
    chat = chat_of(
        "The engine coughs when the harbour is cold.", "Aha.", filler, filler, filler, filler,
        "Again that cough of the engine in the harbour!", "Aha.",
    )  # fmt: skip
    fact = look_back(chat, RULE, windows=[100]).windows[0].facts[0]
    assert fact.messages == (0,) and fact.back_turns == ()
    assert (fact.drop_turn, fact.said_again_turns) == (3, (4,))


def test_a_message_larger_than_the_window_makes_no_request_and_does_not_stop_the_trace():
    chat = chat_of("I'm Ada.", "Hello.", "word " * 300, "Long.", "And now?")
    window = look_back(chat, RULE, windows=[60]).windows[0]
    assert [row.fits for row in window.requests] == [True, False, True]
    assert window.requests[1].input_units == 0 and window.requests[1].oldest_turn_kept is None
    assert window.facts[1].drop_turn == 3
    assert all("turn 2" in other.why and other.sent_units is None for other in window.instead)


def test_what_a_summary_saves_is_what_the_replay_says():
    window = look_back(scripted_chat(), RULE, windows=[4000]).windows[0]
    pins, summary, notes = window.instead
    assert pins.sent_units == 747_510  # the published run with the pinned note
    assert (pins.calls, pins.read_units) == (0, 0)
    assert summary.saved_units == window.sent_units - summary.sent_units > 0
    assert summary.calls > 0 and 190 * summary.calls <= summary.written_units <= 200 * summary.calls
    assert notes.calls == 199 and notes.saved_units > 0
    assert summary.pays_after == 2


def test_a_chat_that_fits_forgets_nothing():
    trace = look_back(chat_of("I'm Ada.", "Hello.", "Bye."), RULE)
    assert [window.window for window in trace.windows] == [8192, 32768, 131072]
    for window in trace.windows:
        assert all(fact.drop_turn is None and not fact.said_again_turns for fact in window.facts)
        assert all(row.messages_dropped == 0 for row in window.requests)


def test_a_fact_that_nobody_says_is_in_no_request():
    fact = look_back(chat_of("Hello.", "Hi."), RULE, windows=[100], facts=["Plover"]).windows[0].facts[0]
    assert (fact.said_turn, fact.drop_turn, fact.turns_visible, fact.pin_sent_units) == (None, None, 0, 0)


def test_every_message_is_counted_once_whatever_the_number_of_windows_and_facts():
    counted = []

    def counter(text):
        counted.append(text)
        return len(text)

    chat = chat_of(*[f"text {i}" for i in range(41)])
    look_back(chat, PlainRule(counter), windows=range(100, 200, 10), facts=["text 3", "text 7"], instead=False)
    assert sorted(counted[:41]) == sorted(message.text for message in chat)
    assert all(text.startswith("Memory:") for text in counted[41:])


def test_bad_arguments_are_refused_in_words():
    chat = chat_of("Hello.")
    with pytest.raises(InputError, match="do not add up"):
        look_back(chat, SystemInLastUser(len))
    with pytest.raises(InputError, match="needs a window"):
        look_back(chat, RULE, windows=())
    with pytest.raises(InputError, match="not empty"):
        look_back(chat, RULE, facts=[" \n"])
    with pytest.raises(InputError, match="no user message"):
        look_back([Message("assistant", "Hello.")], RULE)
    with pytest.raises(BudgetError, match="reply reserve 100"):
        look_back(chat, RULE, windows=[100], reply_reserve=100)


def test_the_trace_as_dicts_is_json_with_the_names_of_the_fields():
    trace = look_back(chat_of("I'm Ada.", "Hello."), OpenAIRecipe(BPE("o200k_base")), title="A chat")
    data = json.loads(json.dumps(as_dict(trace)))
    assert list(data) == list(trace._fields)
    assert data["counter"] == "o200k_base" and data["unit"] == "tokens"
    assert list(data["windows"][0]["facts"][0]) == list(trace.windows[0].facts[0]._fields)


def texts():
    return st.lists(st.sampled_from([*WORDS, "and", "the"]), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=300)
@given(
    messages=st.lists(
        st.tuples(st.sampled_from(["user", "user", "assistant", "tool"]), texts()), min_size=1, max_size=14
    ),
    instructions=st.booleans(),
    window=st.integers(12, 120),
    reserve=st.integers(0, 10),
    fact=st.sampled_from(WORDS),
)
def test_a_trace_agrees_with_a_walk_that_counts_everything_anew(messages, instructions, window, reserve, fact):
    chat = [Message(role, text) for role, text in messages]
    chat = [Message("system", "Be brief.")] * instructions + chat
    if not any(message.role == "user" for message in chat):
        return
    count = CharsPerToken()
    first = 1 if instructions else 0
    fixed = sum(4 + count(message.text) for message in chat[:first]) + 3
    room = window - reserve - fixed
    if room <= 0:
        with pytest.raises(BudgetError):
            look_back(chat, PlainRule(count), windows=[window], reply_reserve=reserve, facts=[fact])
        return
    got = look_back(chat, PlainRule(count), windows=[window], reply_reserve=reserve, facts=[fact]).windows[0]

    seen_before, sent, first_units, said = set(), 0, 0, None
    drop, back, visible, again = None, [], 0, []
    before = True
    turn = 0
    for place in range(first, len(chat)):
        words = chat[place].text.split()
        if said is None and fact in words:
            said = turn + (chat[place].role == "user")
        if chat[place].role != "user":
            continue
        turn += 1
        kept, left = [], room
        for index in range(place, first - 1, -1):
            cost = 4 + count(chat[index].text)
            if cost > left:
                break
            kept.append(index)
            left -= cost
        row = got.requests[turn - 1]
        said_before = any(fact in chat[i].text.split() for i in range(first, place))
        if said_before and fact in words and not any(fact in chat[i].text.split() for i in kept if i != place):
            again.append(turn)
        if not kept:
            assert row.fits is False and row.input_units == 0
            continue
        units = fixed + room - left
        assert (row.input_units, row.messages_kept, row.messages_dropped) == (
            units, len(kept), place + 1 - first - len(kept),
        )  # fmt: skip
        first_units += sum(4 + count(chat[i].text) for i in kept if i not in seen_before) + (0 if sent else fixed)
        sent += units
        seen_before |= set(kept)
        holds_it = any(fact in chat[i].text.split() for i in kept)
        if said is not None:
            visible += holds_it
            if not holds_it and drop is None:
                drop = turn
            if holds_it and not before:
                back.append(turn)
            before = holds_it
    assert (got.sent_units, got.first_units, got.resent_units) == (sent, first_units, sent - first_units)
    one = got.facts[0]
    assert (one.said_turn, one.drop_turn, one.back_turns, one.turns_visible) == (said, drop, tuple(back), visible)
    assert one.said_again_turns == tuple(again)


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6), window=st.integers(1500, 12000))
def test_the_drop_turn_is_that_of_the_forecast_and_of_the_replay(seed, window):
    chat = CountedChat(scripted_chat(60, seed), RULE)
    fact = look_back(chat, windows=[window], facts=[NAME], instead=False).windows[0].facts[0]
    trace = replay(chat, KeepNewest(), input_budget=window, fact=NAME)
    assert fact.drop_turn == trace.gone_at_turn == drop_turn(chat, chat.room(window))
    assert fact.turns_visible == trace.turns_visible
