import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.budget import (
    Outcome,
    WindowParts,
    input_budget,
    outcome,
    overflow_rules,
    reply_room,
    resent,
    resent_with_summaries,
    room,
    windows,
)
from contextlab.errors import BudgetError, InputError

NO_WHOLE_NUMBER = [True, False, 1.0, "8", None, float("nan"), float("inf")]


def test_the_input_budget_is_the_window_less_reply_reserve_and_margin():
    assert input_budget(8000) == 8000
    assert input_budget(8000, reply_reserve=1000, margin=500) == 6500
    assert input_budget(1501, 1000, 500) == 1


@pytest.mark.parametrize("window", [-5, 0, 1, 1499, 1500])
def test_a_window_that_leaves_nothing_is_an_error_that_names_each_part(window):
    with pytest.raises(BudgetError) as caught:
        input_budget(window, reply_reserve=1000, margin=500)
    assert caught.value.budget == window
    assert caught.value.parts == {"reply reserve": 1000, "margin": 500}
    for words in (f"budget {window}", "reply reserve 1000", "margin 500", "= 1500"):
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        *((name, wrong) for name in ("window", "reply_reserve", "margin") for wrong in NO_WHOLE_NUMBER),
        ("reply_reserve", -1),
        ("margin", -1),
    ],
)
def test_an_argument_that_is_no_whole_number_or_a_negative_part_is_named(argument, wrong):
    with pytest.raises(InputError, match=argument.replace("_", " ")):
        input_budget(**{"window": 8000, argument: wrong})


@given(st.integers(-(10**6), 10**6), st.dictionaries(st.text(min_size=1), st.integers(0, 10**5), max_size=6))
def test_the_room_and_the_parts_are_the_budget_or_an_error_names_all_of_it(budget, parts):
    if budget > sum(parts.values()):
        left = room(budget, parts)
        assert left > 0
        assert left + sum(parts.values()) == budget
    else:
        with pytest.raises(BudgetError) as caught:
            room(budget, parts)
        assert caught.value.over == sum(parts.values()) - budget
        assert caught.value.parts == parts
        assert all(f"{name} {units}" in str(caught.value) for name, units in parts.items())


def test_a_room_of_exactly_0_is_an_error():
    assert room(21, {"instructions": 17, "reply start": 3}) == 1
    with pytest.raises(BudgetError, match="nothing is left"):
        room(20, {"instructions": 17, "reply start": 3})


@pytest.mark.parametrize("wrong", [-1, *NO_WHOLE_NUMBER])
def test_a_part_that_is_no_whole_number_from_0_is_named(wrong):
    with pytest.raises(InputError, match="the tools"):
        room(8000, {"instructions": 17, "the tools": wrong})
    if wrong != -1:
        with pytest.raises(InputError, match="budget"):
            room(wrong, {})


def test_ten_twenty_and_forty_turns_sent_again_each_time_cost_what_was_published():
    assert [resent(n, 200) for n in (10, 20, 40)] == [11_000, 42_000, 164_000]


def test_with_a_summary_every_ten_turns_they_cost_what_was_published():
    assert [resent_with_summaries(n, 200, summary=60, every=10) for n in (10, 20, 40)] == [11_000, 22_600, 45_800]
    assert resent_with_summaries(40, 200, summary=60, every=10, reading=True) == 51_920


def turn_by_turn(turns, per_turn, summary, every, reading):
    """The same conversation, played."""
    sent = header = since = 0
    for turn in range(1, turns + 1):
        since += per_turn
        sent += header + since
        if turn % every == 0 and turn < turns:
            sent += header + since if reading else 0
            header, since = summary, 0
    return sent


@given(st.integers(0, 80), st.integers(0, 500), st.integers(0, 300), st.integers(1, 90), st.booleans())
def test_the_closed_forms_equal_the_conversation_played_turn_by_turn(turns, per_turn, summary, every, reading):
    closed = resent_with_summaries(turns, per_turn, summary, every, reading=reading)
    assert closed == turn_by_turn(turns, per_turn, summary, every, reading)
    assert resent(turns, per_turn) == turn_by_turn(turns, per_turn, 0, turns + 1, False)


@pytest.mark.parametrize("wrong", [-1, *NO_WHOLE_NUMBER])
def test_the_closed_forms_refuse_what_is_no_whole_number(wrong):
    for argument in ("turns", "per_turn"):
        with pytest.raises(InputError, match=argument):
            resent(**{"turns": 10, "per_turn": 200, argument: wrong})
    for argument in ("turns", "per_turn", "summary", "every"):
        with pytest.raises(InputError, match=argument):
            resent_with_summaries(**{"turns": 10, "per_turn": 200, "summary": 60, "every": 10, argument: wrong})


def test_a_summary_every_0_turns_is_refused():
    with pytest.raises(InputError, match="every must be at least 1"):
        resent_with_summaries(10, 200, summary=60, every=0)


# The parts of a window, by name.

PARTS = "instructions tools notes retrieved tool_results history new_message reply margin".split()
units = st.integers(0, 10**5)
some_parts = st.builds(WindowParts, *[units] * len(PARTS))


def test_the_room_for_the_history_is_what_all_other_parts_leave():
    parts = WindowParts(instructions=350, tools=640, new_message=90, reply=1024, margin=200)
    assert parts.room(8192) == 5888
    assert parts._replace(history=5888).left(8192) == 0
    assert WindowParts._fields == tuple(PARTS)
    parts = WindowParts(instructions=1500, tools=3200, notes=200, new_message=300, reply=2000, margin=500)
    assert parts.room(16_000) == 8300
    assert (parts.input, parts.total) == (5200, 7700)


def test_parts_that_do_not_fit_are_an_error_that_names_each_and_the_largest():
    parts = WindowParts(instructions=1500, tools=11_600, notes=200, new_message=300, reply=2000, margin=500)
    with pytest.raises(BudgetError) as caught:
        parts.room(16_000)
    assert caught.value.over == 100
    assert caught.value.parts == parts.by_name()
    text = str(caught.value)
    assert "the largest part is tools" in text and "new message 300" in text and "100 over" in text
    with pytest.raises(BudgetError, match="the largest part is history"):
        WindowParts(instructions=20, history=4000).left(4000)
    assert WindowParts(instructions=20, history=3980).left(4000) == 0


@given(some_parts, st.integers(0, 10**6))
def test_room_and_left_agree_with_the_sum_of_the_parts(parts, window):
    assert parts.input + parts.reply + parts.margin == parts.total == sum(parts)
    assert sum(parts.by_name().values()) == parts.total
    others = parts.total - parts.history
    if others <= window:
        assert parts.room(window) == window - others
    else:
        with pytest.raises(BudgetError) as caught:
            parts.room(window)
        assert caught.value.over == others - window
        assert "history" not in caught.value.parts
    if parts.total <= window:
        assert parts.left(window) == window - parts.total
    else:
        with pytest.raises(BudgetError, match="do not fit"):
            parts.left(window)


@pytest.mark.parametrize("wrong", [-1, *NO_WHOLE_NUMBER])
@pytest.mark.parametrize("name", PARTS)
def test_a_wrong_part_of_a_window_is_named(name, wrong):
    with pytest.raises(InputError, match=name.replace("_", " ")):
        WindowParts(**{name: wrong}).left(8000)


# The reply: its cap and the window are two limits.


@pytest.mark.parametrize(
    ("window", "prompt", "limits", "room_left"),
    [
        (4096, 62, {}, 4034),  # max_tokens limits the reply only
        (4096, 62, {"asked": 4096}, 4034),
        (256, 208, {"asked": 400}, 48),  # the reply needs room
        (128_000, 50_000, {"cap": 4096}, 4096),  # a window of 128k gives no answer of 128k
        (128_000, 127_800, {"cap": 4096}, 200),
        (128_000, 50_000, {"cap": 4096, "asked": 100}, 100),
        (4096, 62, {"asked": 200, "reasoning": 199}, 1),  # hidden reasoning comes off
        (4096, 62, {"asked": 200, "reasoning": 300}, 0),
        (4096, 62, {"asked": 0}, 0),
    ],
)
def test_a_reply_ends_at_its_first_limit(window, prompt, limits, room_left):
    assert reply_room(window, prompt, **limits) == room_left


@pytest.mark.parametrize("prompt", [256, 498])
def test_a_prompt_that_fills_the_window_leaves_no_reply(prompt):
    with pytest.raises(BudgetError, match=f"no room for a reply: budget 256, prompt {prompt}"):
        reply_room(256, prompt)


@pytest.mark.parametrize("wrong", [-1, True, 1.0, "8"])
@pytest.mark.parametrize("name", ["window", "prompt", "cap", "asked", "reasoning"])
def test_a_wrong_limit_is_named(name, wrong):
    with pytest.raises(InputError, match=name):
        reply_room(**{"window": 4096, "prompt": 62, name: wrong})


# What services do when it does not fit: data with dates and sources.


def test_a_request_over_the_window_is_rejected_stopped_or_cut():
    assert outcome("vllm", 4096, prompt=2778, asked=8000) == Outcome("rejected", 0, 0)
    assert outcome("llama.cpp", 256, prompt=208, asked=400) == Outcome("stopped", 208, 48)
    assert outcome("llama.cpp", 256, prompt=498, asked=1) == Outcome("rejected", 0, 0)
    assert outcome("ollama", 4096, prompt=5000, asked=500) == Outcome("cut", 3596, 500)
    with pytest.raises(InputError, match="does not say"):
        outcome("openai-responses", 4096, prompt=4000, asked=500)
    with pytest.raises(InputError, match="there is no rule of a service 'vlm'; did you mean vllm"):
        outcome("vlm", 4096, 1, 1)


@given(st.sampled_from(overflow_rules()), st.integers(1, 5000), st.integers(0, 6000), st.integers(0, 6000))
def test_whatever_a_service_does_nothing_exceeds_the_window(rule, window, prompt, asked):
    try:
        what, read, written = outcome(rule, window, prompt, asked)
    except InputError:
        assert rule["sum_over"] is None and prompt < window < prompt + asked
        return
    assert (what == "fits") == (prompt + asked <= window)
    assert 0 <= read <= prompt
    assert 0 <= written <= asked and read + written <= window


def test_every_rule_and_every_window_has_a_date_and_a_source():
    for row in (*overflow_rules(), *windows()):
        assert row["title"] and len(row["source"]) > 20
        year, month = map(int, row["read"].split("-"))
        assert 2023 <= year <= 2026 and 1 <= month <= 12
    assert len({row["name"] for row in overflow_rules()}) == len(overflow_rules())
    assert len({row["name"] for row in windows()}) == len(windows())
    for row in overflow_rules():
        assert {row["input_over"], row["sum_over"]} <= {"rejected", "stopped", "cut", None}


def test_windows_are_whole_and_a_reply_cap_is_smaller():
    for row in windows():
        assert row["window"] >= 2048
        assert row["reply_cap"] is None or 0 < row["reply_cap"] < row["window"]
    assert {row["kind"] for row in windows()} == {"advertised", "served"}
    assert len(windows("advertised")) + len(windows("served")) == len(windows())
    with pytest.raises(InputError, match="advertised"):
        windows("real")


def test_an_advertised_window_is_not_always_the_served_one():
    by_name = {row["name"]: row["window"] for row in windows()}
    assert by_name["ollama-small"] * 32 == by_name["llama-3.1-8b"]
