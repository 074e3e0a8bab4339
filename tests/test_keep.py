"""Keep-newest against every suffix; edges and errors of the policies."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.budget import input_budget
from contextlab.chat import Message
from contextlab.errors import BudgetError, ContextOverflow, InputError
from contextlab.keep import (
    Beside,
    History,
    KeepNewest,
    LastN,
    Line,
    LowWater,
    PinnedFit,
    ReservedFit,
    newest_run,
    newest_that_fit,
)

SIX_TURNS = {"system": 20, "history": [300, 250, 180, 400, 120]}  # user, assistant, user, assistant, user


def history_of(costs):
    """A history whose messages cost what is asked: a message is its own cost here."""
    return History(costs, cost=int)


def longest_suffix(costs, room):
    """Brute force: try every suffix, the longest first."""
    for start in range(len(costs) + 1):
        if sum(costs[start:]) <= room:
            return start
    return None


def walk(costs, room):
    """The loop of the chapter: newest first, stop at the first message that does not fit."""
    start, used = len(costs), 0
    while start > 0 and used + costs[start - 1] <= room:
        start -= 1
        used += costs[start]
    return start


def select(policy, costs, room):
    policy.start(room)
    return policy.select(history_of(costs))


def test_3000_seeded_histories_against_every_suffix():
    rng = random.Random(20261105)
    for _ in range(3000):
        costs = [rng.randint(1, 400) for _ in range(rng.randint(0, 12) * 2 + 1)]
        system, window, reply = rng.randint(5, 80), rng.randint(100, 1500), rng.randint(0, 300)
        room = window - reply - system
        if room <= 0:
            with pytest.raises(BudgetError):
                newest_that_fit(history_of(costs), window - reply if window > reply else 1, {"system": system + window})
            continue
        start = longest_suffix(costs, room)
        if start == len(costs):
            with pytest.raises(ContextOverflow):
                select(KeepNewest(), costs, room)
            continue
        kept = select(KeepNewest(), costs, room)
        assert kept.indices == range(start, len(costs))
        assert kept.units + system + reply <= window


@given(st.lists(st.integers(0, 400), max_size=30), st.integers(-5, 4000))
def test_bisection_agrees_with_the_walk_and_with_brute_force(costs, room):
    start = newest_run(history_of(costs).prefix, room)
    assert start == walk(costs, room)
    if room >= 0:
        assert start == longest_suffix(costs, room)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=30), st.data())
def test_what_is_kept_is_one_newest_run_with_the_current_message(costs, data):
    room = data.draw(st.integers(costs[-1], sum(costs) + 10))
    kept = select(KeepNewest(), costs, room)
    assert kept.indices.stop == len(costs)
    assert len(kept.indices) >= 1
    assert kept.units == sum(costs[kept.indices.start :]) <= room


@given(st.lists(st.integers(1, 400), min_size=1, max_size=20))
def test_a_budget_equal_to_the_total_keeps_all_and_one_unit_less_does_not(costs):
    assert select(KeepNewest(), costs, sum(costs)).indices == range(len(costs))
    if len(costs) > 1:
        assert select(KeepNewest(), costs, sum(costs) - 1).indices.start == 1


def test_the_six_turn_walk():
    costs = [SIX_TURNS["system"], *SIX_TURNS["history"]]
    assert sum(costs) == 1270
    assert select(KeepNewest(), costs, 700)[0] == range(3, 6)  # three of six, the system turn is lost
    assert select(KeepNewest(), costs, 700).units == 700
    assert len(select(KeepNewest(), costs, input_budget(700, reply_reserve=120)).indices) == 2


def test_the_six_turn_walk_with_the_system_turn_pinned():
    kept = select(PinnedFit([SIX_TURNS["system"]]), SIX_TURNS["history"], input_budget(700, reply_reserve=120))
    assert (len(kept.indices), kept.units) == (2, 540)  # 40 are left: the next older turn has 180
    summary_included = select(PinnedFit([60]), SIX_TURNS["history"], input_budget(700, reply_reserve=120))
    assert summary_included.units == 580  # with the system turn folded into the summary the window is full


def test_a_summary_beside_the_pinned_system_turn_pushes_the_long_reply_out():
    kept = select(PinnedFit([SIX_TURNS["system"], 60]), SIX_TURNS["history"], input_budget(700, reply_reserve=120))
    assert (len(kept.indices), kept.units) == (1, 200)


def test_a_current_message_that_does_not_fit_is_an_error_with_its_cost():
    with pytest.raises(ContextOverflow) as caught:
        select(PinnedFit([30]), [10, 500], 400)
    assert caught.value.parts == {"pinned notes": 30, "current user message": 500}
    assert caught.value.budget == 400
    assert "current user message 500" in str(caught.value)


def test_a_header_that_takes_the_whole_room_is_an_error():
    with pytest.raises(BudgetError, match="pinned notes 400"):
        select(PinnedFit([400]), [10], 400)


def test_a_reserve_that_takes_the_whole_room_is_an_error():
    with pytest.raises(BudgetError, match="reserve 400"):
        select(ReservedFit(400), [10], 400)


def test_last_n_counts_messages_and_does_not_bound_units():
    kept = select(LastN(2), [5, 5, 1000, 1000], room=100)
    assert (kept.indices, kept.units) == (range(2, 4), 2000)
    assert select(LastN(10), [1, 2], room=100).indices == range(2)


@pytest.mark.parametrize("n", [0, -1])
def test_last_n_of_nothing_is_refused(n):
    with pytest.raises(InputError):
        LastN(n)


def test_whole_turns_never_begin_with_a_reply():
    roles = ["user", "assistant"] * 4 + ["user"]
    history = History([Message(role, "x" * 10) for role in roles], cost=lambda message: len(message.text))
    policy = KeepNewest(whole_turns=True)
    policy.start(45)  # four messages fit; the oldest of them is a reply
    kept = policy.select(history)
    assert history[kept.indices[0]].role == "user"
    assert (kept.indices, kept.units) == (range(6, 9), 30)


def test_a_view_of_a_history_shares_its_counts():
    counted = []
    history = History([3, 4, 5], cost=lambda message: counted.append(message) or message)
    view = history.until(2)
    assert (len(view), view.units(0, 2), view[-1]) == (2, 7, 4)
    assert counted == [3, 4, 5]
    with pytest.raises(IndexError):
        view[2]


def spoken(policy, room, turns=6):
    """The requests of a small chat under a policy, as lists of texts."""
    history = History([Message("user", f"message {i}") for i in range(turns)], cost=lambda message: len(message.text))
    policy.start(room)
    kept = [policy.select(history.until(stop)) for stop in range(1, turns + 1)]
    for one, stop in zip(kept, range(1, turns + 1), strict=True):
        assert one.units == sum(len(message.text) for message in one.messages(history.until(stop))) <= room
    return [[message.text for message in one.messages(history)] for one in kept]


def test_a_line_is_in_every_request_on_top_or_beside_the_question():
    top = spoken(Beside(Line("short")), room=30)
    assert [request[0] for request in top] == ["short"] * 6
    beside = spoken(Beside(Line("short", place="beside")), room=30)
    assert [request[-2] for request in beside] == ["short"] * 6
    assert top[-1][1:] == [text for text in beside[-1] if text != "short"] == ["message 4", "message 5"]


def test_a_line_can_be_another_in_each_request_and_begins_anew_in_each_replay():
    policy = Beside(Line(lambda request: f"it is {request}"), mark=0.5)
    expected = [f"it is {request}" for request in range(1, 7)]
    for _ in range(2):
        assert [request[0] for request in spoken(policy, room=40)] == expected


def test_a_line_that_never_changes_keeps_the_messages_of_pinned_fit_and_of_a_low_water_mark():
    line = Message("system", "short")
    assert spoken(Beside(Line("short")), 40) == spoken(PinnedFit([line]), 40)
    without = [request[1:] for request in spoken(Beside(Line(""), mark=0.5), 40)]
    assert without == spoken(LowWater(0.5), 40)


def test_the_place_of_a_line_is_known():
    with pytest.raises(InputError, match="top or beside"):
        Line("short", place="below")
