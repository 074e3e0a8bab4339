"""Chats with planted facts, the comparison of all policies on them, and its sweep on every kind of executor."""

import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab import compare
from contextlab.compare import (
    COMPARISON_COLUMNS,
    POLICIES,
    SETUPS,
    average,
    best_trades,
    comparison_rows,
    count,
    outcome,
    rate,
    read_sweep,
    results,
    sweep,
    visible,
)
from contextlab.errors import InputError, MissingDependency
from contextlab.keep import Beside, KeepNewest
from contextlab.planted import KINDS, LOSS, NOTICE, PER_KIND, SUBJECTS, SimulatedModel, planted_chat
from contextlab.replay import replay
from contextlab.summary import Lossy, Summarised

NAMES = list(POLICIES)


# Planted chats


@pytest.mark.parametrize("seed", range(1, 16))
def test_a_planted_chat_says_what_its_facts_say(seed):
    chat = planted_chat(seed)
    assert chat == planted_chat(seed)
    users = {message.turn: message.text for message in chat.messages if message.role == "user"}
    assert [fact.kind for fact in chat.facts] == [kind for kind in KINDS for _ in range(PER_KIND)]
    assert len({fact.key for fact in chat.facts}) == len(chat.facts)
    for fact in chat.facts:
        holding = [message.turn for message in chat.messages if fact.value in message.text]
        assert holding == [fact.changed or fact.said]  # said once, never in a question or a reply
        assert fact.said < (fact.changed or fact.asked) < fact.asked + (fact.changed is None)
        assert users[fact.said].endswith(fact.sentences[0])
        assert users[fact.said].endswith(fact.value + ".") is (fact.changed is None)
        assert ("Remember that" in fact.sentences[0]) is fact.explicit
        if fact.changed:
            assert [message.turn for message in chat.messages if fact.stale in message.text] == [fact.said]
            assert users[fact.changed].endswith(fact.sentences[1])
            assert ("Correction" in fact.sentences[1]) is (fact.kind == "corrected")
        if fact.reference:
            assert f"turn {fact.changed or fact.said}." in users[fact.reference]
            assert max(fact.said, fact.changed or 0) < fact.reference < fact.asked
        same, other = next(subject[2:] for subject in SUBJECTS if subject[0] == fact.key)
        assert users[fact.asked] == (other if fact.paraphrased else same)


def test_the_other_words_share_no_word_with_the_statement():
    from contextlab.retrieval import words

    for key, form, same, other in SUBJECTS:
        statement = set(words(f"my {key} is {form.format(n=470, day=12)}"))
        assert statement & set(words(same))
        assert not statement & set(words(other))


def test_a_planted_chat_needs_room_for_its_facts():
    with pytest.raises(InputError):
        planted_chat(1, turns=79)
    assert len(planted_chat(1, turns=80).facts) == 8


def test_the_simulated_model_notices_at_its_rate_and_always_the_same():
    noticed = told = 0
    for seed in range(1, 31):
        chat = planted_chat(seed)
        model, again = SimulatedModel(chat), SimulatedModel(chat)
        for message in chat.messages:
            assert model.facts(message) == again.facts(message)
            noticed += len(model.facts(message))
        told += sum(len(fact.sentences) for fact in chat.facts)
    assert noticed / told == pytest.approx(NOTICE, abs=0.04)


# One run


def brute_force(chat, trace):
    """Read every request as one text."""
    right, stale, misled = dict.fromkeys(KINDS, 0), 0, 0
    for fact in chat.facts:
        text = "\n".join(message.text for message in trace.request(fact.asked))
        right[fact.kind] += fact.value in text
        if fact.stale and fact.stale in text:
            stale += 1
            misled += fact.value not in text
    return right, stale, misled


@pytest.mark.parametrize("name", NAMES)
def test_what_is_visible_against_the_whole_text_of_each_request(name):
    chat = planted_chat(7)
    counted = count(chat)
    seen = outcome(chat, POLICIES[name](SimulatedModel(chat)), 4000, counted)
    trace = replay(counted, POLICIES[name](SimulatedModel(chat)), input_budget=4000)
    assert seen[:3] == brute_force(chat, trace)
    assert all(row.input_units <= 4000 for row in trace.rows)
    assert seen.sent == sum(counted.rule.request(trace.request(turn)) for turn in range(1, len(trace) + 1))
    assert 0 < seen.computed <= seen.sent


def test_everything_shows_every_right_value_and_every_outdated_one():
    chat = planted_chat(3)
    seen = outcome(chat, KeepNewest(), budget=100_000)
    assert seen.right == dict.fromkeys(KINDS, PER_KIND) and seen.stale == 2 * PER_KIND and seen.misled == 0


def test_a_perfect_summariser_keeps_every_fact_and_replaces_what_says_so():
    chat = planted_chat(3)
    model = SimulatedModel(chat, loss=0, notice=1)
    seen = outcome(chat, Beside(Summarised(model.summariser(), cap=400), mark=0.5), budget=4000)
    assert seen.right == dict.fromkeys(KINDS, PER_KIND)
    assert (seen.stale, seen.misled) == (PER_KIND, 0)  # what contradicts without a word stands beside the old value
    blind = SimulatedModel(chat, notice=0)
    assert (
        sum(outcome(chat, Beside(Summarised(blind.summariser(), cap=400), mark=0.5), budget=4000).right.values()) == 0
    )


def test_the_cost_of_the_policy_s_own_calls_is_counted():
    chat = planted_chat(3)
    part = Summarised(Lossy(LOSS), cap=300)
    seen = outcome(chat, Beside(part, mark=0.5), budget=4000)
    assert (seen.calls, seen.read, seen.written) == tuple(part.spent)[:3] and seen.calls > 3 and seen.read > 10_000
    assert outcome(chat, POLICIES["pins"](None), budget=4000)[5:8] == (0, 0, 0)


# Rates, intervals, trades


@pytest.mark.parametrize("tries", [1, 7, 40])
def test_the_wilson_interval_against_its_definition(tries):
    for hits in range(tries + 1):
        value, low, high = rate(hits, tries)
        assert low <= value <= high and value == hits / tries
        for end in (low, high):  # an end of the interval is a rate from which the value is 1.96 deviations away
            deviation = (end * (1 - end) / tries) ** 0.5
            assert abs(value - end) == pytest.approx(compare.Z * deviation, abs=1e-9)


def test_the_wilson_interval_covers_nineteen_times_in_twenty():
    tries, p = 60, 0.85
    covered = sum(
        comb(tries, hits) * p**hits * (1 - p) ** (tries - hits)
        for hits in range(tries + 1)
        if rate(hits, tries).low <= p <= rate(hits, tries).high
    )
    assert 0.93 <= covered <= 0.98


def test_bad_rates_and_single_values():
    for hits, tries in ((1, 0), (3, 2), (-1, 2)):
        with pytest.raises(InputError):
            rate(hits, tries)
    assert average([5]) == (5, 5, 5)


ROWS = [row for seed in (1, 2, 3) for row in comparison_rows(seed, setups=[0, 1, 3])]


def test_results_add_up():
    found = results(ROWS)
    assert [(one.policy, one.budget, one.seeds) for one in found] == [(*SETUPS[setup], 3) for setup in (0, 1, 3)]
    pins = found[2]
    rows = [dict(zip(COMPARISON_COLUMNS, row, strict=True)) for row in ROWS if row[1] == 3]
    assert pins.right.value == sum(row[kind] for row in rows for kind in KINDS) / 24
    assert pins.by_kind["early"].value == sum(row["early"] for row in rows) / 6
    assert pins.sent.value == pytest.approx(sum(row["sent"] for row in rows) / 3)
    assert pins.units == pins.sent.value + pins.own.value
    both = sum(row["stale"] - row["misled"] for row in rows)
    assert pins.clean.value == (sum(row[kind] for row in rows for kind in KINDS) - both) / 24
    assert pins.bill(1) == pytest.approx(pins.units) and pins.bill(0) == pytest.approx(pins.computed.value)


def test_what_shows_both_values_is_not_clean():
    rows = [(seed, len(SETUPS) - 1, 2, 2, 2, 2, 4, 0, 9, 9, 0, 0, 0, 100) for seed in (1, 2)]
    (found,) = results(rows)
    assert (found.right.value, found.stale.value, found.clean.value) == (1, 1, 0.5)


@given(st.integers(1, 2000), st.data())
def test_a_rate_lies_within_its_interval(tries, data):
    value, low, high = rate(data.draw(st.integers(0, tries)), tries)
    assert 0 <= low <= value <= high <= 1


POINTS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 20)), min_size=1, max_size=25)


@given(POINTS)
def test_best_trades_are_those_that_no_other_beats(points):
    class One:
        def __init__(self, units, hits):
            self.units, self.right = units, rate(hits, 20)

    ones = [One(*point) for point in points]
    line = best_trades(ones)
    beaten = {
        id(a)
        for a in ones
        for b in ones
        if b.units <= a.units and b.right.value >= a.right.value and (b.units, b.right) != (a.units, a.right)
    }
    assert {(one.units, one.right) for one in line} == {(one.units, one.right) for one in ones if id(one) not in beaten}
    assert [one.units for one in line] == sorted(one.units for one in line)
    assert best_trades(ones, price=lambda one: -one.units)[0].units == max(one.units for one in ones)


# The sweep


def few(seed):
    return comparison_rows(seed, setups=[0, 5, 10])


def swept(path, executor):
    assert list(sweep(few, range(1, 5), path, COMPARISON_COLUMNS, executor))[-1] == 4
    return path.read_bytes()


def test_the_same_sweep_here_and_on_processes_and_threads_gives_the_same_bytes(tmp_path):
    here = swept(tmp_path / "here.csv", None)
    with ProcessPoolExecutor(2) as pool:
        assert swept(tmp_path / "processes.csv", pool) == here
    with ThreadPoolExecutor(2) as pool:
        assert swept(tmp_path / "threads.csv", pool) == here


def test_the_same_sweep_on_a_cluster_gives_the_same_bytes(tmp_path):
    pytest.importorskip("distributed", reason="the extra contextlab[cluster] is not installed: run `make extras`")
    here = swept(tmp_path / "here.csv", None)
    with compare.cluster_executor(workers=2) as executor:
        assert swept(tmp_path / "cluster.csv", executor) == here


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependency, match=r"contextlab\[cluster\]"):
        compare.cluster_executor()


def test_the_committed_sweep_is_current():
    columns, rows = read_sweep("comparison.csv")
    assert tuple(columns) == COMPARISON_COLUMNS
    seeds = sorted({row[0] for row in rows})
    assert seeds == list(range(1, 101)) and len(rows) == len(seeds) * len(SETUPS)
    by_seed = {(row[0], row[1]): row for row in rows}
    for seed, setups in ((17, range(0, 15, 2)), (58, range(1, 15, 2)), (93, [15, 20, 24, 27, 30, 31])):
        for row in comparison_rows(seed, setups):
            assert row == by_seed[row[0], row[1]]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", [4, 77])
def test_the_committed_sweep_is_current_in_every_setup(seed):
    _, rows = read_sweep("comparison.csv")
    assert comparison_rows(seed) == [row for row in rows if row[0] == seed]


def test_what_the_comparison_says():
    """The claims of the chapter; each by a margin wider than its intervals."""
    _, rows = read_sweep("comparison.csv")
    found = {(one.policy, one.budget): one for one in results(rows)}
    right = {setup: one.right for setup, one in found.items()}
    assert right["keep-newest", 4000].high < 0.05
    assert right["pins", 4000].low > 0.4 and right["pins", 4000].high < 0.65
    assert right["rolling summary", 4000].low > right["summary every turn", 4000].high
    assert right["pins + summary", 4000].low > right["pins", 4000].high
    assert right["keep-newest", 32000].value == 1 and found["keep-newest", 32000].stale.value == 1
    assert found["low-water mark", 4000].computed.high < found["keep-newest", 4000].computed.low / 5
    line = [(one.policy, one.budget) for one in best_trades(found.values())]
    assert line[0] == ("last 10 messages", 4000) and line[-1] == ("keep-newest", 32000)
    billed = [(one.policy, one.budget) for one in best_trades(found.values(), price=lambda one: one.bill())]
    assert billed[-1] == ("keep-newest", 32000) and billed != line


def test_visible_reads_header_footer_and_history():
    chat = planted_chat(7)
    trace = replay(count(chat), KeepNewest(), input_budget=100_000)
    assert visible(trace, 120, re.sub(r"\s+", " ", chat.facts[0].value))
    assert not visible(trace, 1, chat.facts[0].value)
