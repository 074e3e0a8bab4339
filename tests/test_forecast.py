"""The exact drop turn against simulation; the three forecasts against their own definitions."""

import csv
import random
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab import forecast
from contextlab.chat import Message
from contextlab.compare import read_sweep, sweep
from contextlab.errors import ContextOverflow, InputError
from contextlab.keep import KeepNewest
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import CharsPerToken, WordPieces

DATA = Path(__file__).parent.parent / "notebooks" / "data" / "forecast_errors.csv"
RULE = PlainRule(WordPieces())
UNIT = PlainRule(CharsPerToken(1), overhead=0, reply_start=0)  # a message costs its length


def chat_of(costs):
    roles = ("user", "assistant")
    return CountedChat([Message(roles[i % 2], "x" * cost) for i, cost in enumerate(costs)], UNIT)


def simulated_drop_turn(costs, room, index):
    """Walk every request, newest first; return the first that comes after the message and does not hold it."""
    for turn, current in enumerate(range(0, len(costs), 2), start=1):
        if current < index:
            continue
        used, start = 0, current + 1
        while start > 0 and used + costs[start - 1] <= room:
            start -= 1
            used += costs[start]
        if start > index:
            return turn
    return None


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(1, 600), st.data())
def test_prefix_sums_and_bisection_agree_with_the_walk(costs, room, data):
    index = data.draw(st.integers(0, len(costs) - 1))
    assert forecast.drop_turn(chat_of(costs), room, index) == simulated_drop_turn(costs, room, index)


def test_the_exact_drop_turn_is_that_of_the_replay_on_many_seeds():
    rng = random.Random(5)
    for _ in range(25):
        seed, budget = rng.randrange(2**32), rng.randrange(1500, 12000)
        chat = CountedChat(scripted_chat(turns=80, seed=seed), RULE)
        trace = replay(chat, KeepNewest(), input_budget=budget, fact=NAME)
        assert forecast.drop_turn(chat, chat.room(budget)) == trace.gone_at_turn


@given(st.lists(st.integers(1, 50), min_size=3, max_size=40), st.data())
def test_budget_for_is_the_least_that_still_holds_the_message(costs, data):
    chat = chat_of(costs)
    turn = data.draw(st.integers(1, len(chat.requests)))
    index = data.draw(st.integers(0, chat.requests[turn - 1]))
    budget = forecast.budget_for(chat, turn, index)
    for given_budget, holds in ((budget, True), (budget - 1, False)):
        try:
            kept = replay(chat, KeepNewest(), input_budget=given_budget).kept_indices(turn)
        except (ContextOverflow, ValueError):  # some request of the chat does not fit at all
            continue
        assert (index in kept) == holds


@given(st.integers(1, 10**6), st.integers(1, 500), st.integers(1, 500), st.integers(1, 900))
def test_each_forecast_is_the_first_turn_whose_expected_request_is_too_big(room, user, reply, first):
    """A formula states how big the request of turn t is; the forecast is the first t at which that exceeds the room."""
    turn = user + reply

    def first_over(size_at):
        t = max(1, room // turn - 6)
        while t > 1 and size_at(t - 1) > room:
            t -= 1
        while size_at(t) <= room:
            t += 1
        return t

    assert forecast.published(room, turn) == first_over(lambda t: t * turn)
    assert forecast.corrected(room, user, turn) == first_over(lambda t: (t - 1) * turn + user)
    if room >= first + user + turn:  # later than turn 2, where "turn 1 and t - 2 average turns" has a meaning
        assert forecast.unbiased(room, first, user, turn) == first_over(lambda t: first + (t - 2) * turn + user)


def test_the_forecasts_of_the_lab():
    chat = CountedChat(scripted_chat(), RULE)
    known = forecast.sizes(chat)
    rooms = [chat.room(budget) for budget in (4000, 8000, 16000, 32000)]
    assert [forecast.published(r, known.mean_turn) for r in rooms] == [18, 35, 70, 140]
    assert [forecast.corrected(r, known.mean_user, known.mean_turn) for r in rooms] == [19, 36, 71, 141]
    assert [forecast.unbiased(r, *known) for r in rooms] == [19, 37, 72, 141]
    assert forecast.budget_for(chat, turn=100) == 23017


def test_the_two_causes_add_up_to_the_bias():
    """unbiased − published, before rounding: the reply of turn t, and the part by which turn 1 is short."""
    known = forecast.sizes(CountedChat(scripted_chat(), RULE))
    turn, user, first = (
        Fraction(value).limit_denominator(10**9) for value in (known.mean_turn, known.mean_user, known.first_turn)
    )
    reply_not_yet_sent = (turn - user) / turn
    short_first_turn = (turn - first) / turn
    assert (round(float(reply_not_yet_sent), 2), round(float(short_first_turn), 2)) == (0.77, 0.63)
    assert (2 * turn - first - user) / turn == reply_not_yet_sent + short_first_turn


@pytest.mark.parametrize("turn", [0, 201])
def test_budget_for_a_turn_outside_the_chat_is_refused(turn):
    with pytest.raises(InputError, match="1 to 200"):
        forecast.budget_for(CountedChat(scripted_chat(), RULE), turn)


def test_sizes_need_a_second_turn():
    with pytest.raises(InputError, match="at least 2 turns"):
        forecast.sizes(CountedChat(scripted_chat(turns=1), RULE))


def test_the_data_file_is_complete_and_a_random_sample_of_it_comes_out_again():
    columns, rows = read_sweep(DATA)
    assert tuple(columns) == forecast.SWEEP_COLUMNS
    seeds = sorted({row[0] for row in rows})
    assert len(seeds) >= 1000
    assert [(row[0], row[1]) for row in rows] == [(s, b) for s in seeds for b in forecast.SWEEP_BUDGETS]
    by_seed = {seed: [row for row in rows if row[0] == seed] for seed in random.sample(seeds, 8)}
    for seed, expected in by_seed.items():
        assert forecast.sweep_rows(seed) == expected


def test_over_many_seeds_the_third_forecast_is_unbiased_and_the_first_is_early():
    _, rows = read_sweep(DATA)
    for budget in forecast.SWEEP_BUDGETS:
        here = [row for row in rows if row[1] == budget]
        bias = [sum(row[k] - row[2] for row in here) / len(here) for k in (3, 4, 5)]
        assert bias[0] < -1.1 and -0.8 < bias[1] < -0.6 and abs(bias[2]) < 0.1


def rows_of(key):
    return [(key, key * key), (key, -key)]


@pytest.mark.parametrize("make", [lambda: None, lambda: ThreadPoolExecutor(3), lambda: ProcessPoolExecutor(2)])
def test_a_sweep_gives_the_same_bytes_on_every_executor(tmp_path, make):
    path = tmp_path / "squares.csv"
    executor = make()
    *_, last = sweep(rows_of, range(70, 0, -1), path, ("key", "value"), executor)
    if executor:
        executor.shutdown()
    assert last == 70
    with open(path, newline="") as stream:
        lines = list(csv.reader(stream))
    assert lines[:3] == [["key", "value"], ["1", "-1"], ["1", "1"]]
    assert len(lines) == 141
    assert list(tmp_path.iterdir()) == [path]


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, 400))
def test_a_sweep_that_was_cut_anywhere_goes_on_to_the_same_file(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("sweep")
    whole, resumed = folder / "whole.csv", folder / "resumed.csv"
    for _ in sweep(rows_of, range(60), whole, ("key", "value")):
        pass
    part = resumed.with_name("resumed.csv.part")
    part.write_text(whole.read_text()[:cut])
    for _ in sweep(rows_of, range(60), resumed, ("key", "value")):
        pass
    assert resumed.read_bytes() == whole.read_bytes()


def test_a_sweep_does_not_go_on_with_a_file_of_other_columns(tmp_path):
    (tmp_path / "a.csv.part").write_text("key,other\n1,2\n")
    with pytest.raises(InputError, match="has the columns key,other"):
        list(sweep(rows_of, [1], tmp_path / "a.csv", ("key", "value")))


def test_a_task_that_fails_leaves_what_is_done_and_no_file(tmp_path):
    def failing(key):
        if key == 45:
            raise ZeroDivisionError
        return rows_of(key)

    with pytest.raises(ZeroDivisionError):
        list(sweep(failing, range(60), tmp_path / "a.csv", ("key", "value")))
    assert not (tmp_path / "a.csv").exists()
    assert len((tmp_path / "a.csv.part").read_text().splitlines()) == 1 + 2 * 45
