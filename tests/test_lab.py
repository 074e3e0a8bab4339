"""The 200-turn chat gives the published figures, to the last digit."""

import json
from pathlib import Path

import pytest

from contextlab import forecast
from contextlab.keep import KeepNewest
from contextlab.pins import PinnedNote
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, TOPICS, WORDS, mulberry32, scripted_chat
from contextlab.summary import RollingSummary
from contextlab.tokens import WordPieces

PUBLISHED = json.loads((Path(__file__).parent / "data" / "published_lab.json").read_text(encoding="utf-8"))
POLICIES = {"keep_newest": KeepNewest, "pinned_note": PinnedNote, "rolling_summary": RollingSummary}
RULE = PlainRule(WordPieces())
CASES = [(run, name) for run in PUBLISHED["runs"] for name in POLICIES]


@pytest.fixture(scope="module")
def chat():
    return CountedChat(scripted_chat(), RULE)


def run_of(chat, budget, policy, **options):
    return replay(chat, policy, input_budget=budget, fact=NAME, **options)


def test_the_random_source_is_mulberry32():
    def reference(state):  # the public-domain function, one call a value, every step masked to 32 bits
        mask = 0xFFFFFFFF
        while True:
            state = (state + 0x6D2B79F5) & mask
            t = state
            t = ((t ^ (t >> 15)) * (t | 1)) & mask
            t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & mask)) & mask
            yield ((t ^ (t >> 14)) & mask) / 2**32

    for seed in (0, 1, 20261105, 2**32 - 1):
        ours, theirs = mulberry32(seed), reference(seed)
        assert [next(ours) for _ in range(3000)] == [next(theirs) for _ in range(3000)]


def test_words_and_topics_are_the_published_lists():
    assert PUBLISHED["generator"]["words"] == WORDS
    assert list(TOPICS) == PUBLISHED["generator"]["topics"]


def test_every_message_has_its_published_cost(chat):
    rows = [[m.turn, m.role, m.topic, chat.history.units(i, i + 1)] for i, m in enumerate(chat.history.messages)]
    assert rows == PUBLISHED["messages"]["rows"]


def test_the_fixed_part_is_17_and_3(chat):
    assert chat.fixed == {"instructions": 17, "reply start": 3}


def test_the_name_is_said_once_and_first(chat):
    assert [i for i, m in enumerate(chat.history.messages) if any(part in m.text for part in NAME.split())] == [0]


def test_the_average_turn_is_the_published_one(chat):
    assert forecast.sizes(chat).mean_turn == PUBLISHED["average_turn"]


@pytest.mark.parametrize(("published", "name"), CASES, ids=lambda v: v if isinstance(v, str) else v["input_budget"])
def test_every_row_of_every_trace(chat, published, name):
    expected = published["strategies"][name]
    trace = run_of(chat, published["input_budget"], POLICIES[name]())
    assert [[int(value) for value in row] for row in trace.rows] == expected["trace"]
    assert trace.gone_at_turn == expected["gone_at_turn"]
    assert trace.turns_visible == expected["turns_visible"]
    assert trace.total_input_units == expected["total_input_units"]
    assert trace.mean_messages_kept == expected["mean_messages_kept"]
    assert list(trace.header_units_min_max) == expected["header_units_min_max"]


def test_the_published_table(chat):
    traces = {
        (budget, name): run_of(chat, budget, policy())
        for budget in (4000, 8000, 32000)
        for name, policy in POLICIES.items()
    }
    gone = [traces[budget, "keep_newest"].gone_at_turn for budget in (4000, 8000, 32000)]
    assert gone == [19, 36, 141]
    net = [
        traces[budget, "pinned_note"].total_input_units - traces[budget, "keep_newest"].total_input_units
        for budget in (4000, 8000, 32000)
    ]
    assert net == [-424, 1384, 1485]
    assert traces[4000, "keep_newest"].rows[17].messages_kept == 35
    assert traces[4000, "keep_newest"].rows[17].messages_dropped == 0
    assert traces[4000, "keep_newest"].rows[18].messages_dropped == 2
    assert traces[8000, "keep_newest"].rows[35].messages_dropped == 4
    assert sum(not row.fact_visible for row in traces[32000, "keep_newest"].rows[-60:]) == 60


@pytest.mark.parametrize(("reserve", "gone"), [(0, [19, 36, 70, 141]), (1000, [15, 32, None, 136])])
def test_a_reply_reserve_brings_the_drop_turn_forward(chat, reserve, gone):
    for budget, turn in zip((4000, 8000, 16000, 32000), gone, strict=True):
        if turn is not None:
            trace = run_of(chat, budget, KeepNewest(), reply_reserve=reserve)
            assert trace.gone_at_turn == turn
            assert forecast.drop_turn(chat, chat.room(budget, reserve)) == turn


def test_a_summary_without_facts_deletes_the_name(chat):
    traces = [run_of(chat, budget, RollingSummary(extract=None)) for budget in (4000, 8000, 32000)]
    assert [trace.turns_visible for trace in traces] == [18, 34, 139]


def test_replies_twice_as_long():
    long = CountedChat(scripted_chat(reply_sentences=(18, 30)), RULE)
    assert [run_of(long, budget, KeepNewest()).gone_at_turn for budget in (4000, 8000, 32000)] == [12, 22, 81]


def test_what_a_summary_says_at_the_end(chat):
    trace = run_of(chat, 4000, RollingSummary())
    (summary,) = trace.kept[-1].header
    assert summary.text.startswith(
        f"Summary of 366 earlier messages: user name: {NAME}. Topics so far: introductions, "
    )
    assert all(topic in summary.text for topic in TOPICS)
    assert RULE.message(summary) == 87
