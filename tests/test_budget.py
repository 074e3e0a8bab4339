import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.budget import input_budget, resent, resent_with_summaries, room
from contextlab.errors import BudgetError, InputError

NO_WHOLE_NUMBER = [True, False, 1.0, "8", None, float("nan"), float("inf")]


def test_the_input_budget_is_the_window_less_reply_reserve_and_margin():
    assert input_budget(8000) == 8000
    assert input_budget(8000, reply_reserve=1000, margin=500) == 6500
    assert input_budget(1501, 1000, 500) == 1


@pytest.mark.parametrize("window", [0, 1, 1499, 1500])
def test_a_window_that_leaves_nothing_is_an_error_that_names_each_part(window):
    with pytest.raises(BudgetError) as caught:
        input_budget(window, reply_reserve=1000, margin=500)
    assert caught.value.budget == window
    assert caught.value.parts == {"reply reserve": 1000, "margin": 500}
    for words in (f"budget {window}", "reply reserve 1000", "margin 500", "= 1500"):
        assert words in str(caught.value)


@pytest.mark.parametrize("wrong", [-1, *NO_WHOLE_NUMBER])
@pytest.mark.parametrize("argument", ["window", "reply_reserve", "margin"])
def test_an_argument_that_is_no_whole_number_from_0_is_named(argument, wrong):
    with pytest.raises(InputError, match=argument.replace("_", " ")):
        input_budget(**{"window": 8000, argument: wrong})


@given(st.integers(0, 10**6), st.dictionaries(st.text(min_size=1), st.integers(0, 10**5), max_size=6))
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
