"""Tokens sent and computed, money, time and work: against recounts that share no code, and the published figures."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.budget import resent, resent_with_summaries
from contextlab.chat import Message
from contextlab.cost import (
    Prices,
    Usage,
    decode_work,
    example_cards,
    example_prices,
    matrix_parameters,
    prefill_rate,
    prefill_work,
    summary_break_even,
    time_per_token,
    time_to_first_token,
    total,
    usage,
)
from contextlab.errors import ContextOverflow, InputError
from contextlab.keep import History, KeepNewest, Kept, LastN, LowWater, PinnedFit
from contextlab.pins import PinnedNote
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.summary import RollingSummary
from contextlab.tokens import CharsPerToken, WordPieces

RULE = PlainRule(WordPieces())
TENTH = Prices(uncached=1, cached=0.1)


@pytest.fixture(scope="module")
def chat():
    return CountedChat(scripted_chat(), RULE)


@pytest.fixture(scope="module")
def lab(chat):
    """The usages of the 200-turn chat: at a budget, under a policy."""

    def of(budget, policy=None):
        return usage(replay(chat, policy or KeepNewest(), input_budget=budget, fact=NAME))

    return of


def recounted(trace):
    """Brute force: lay each request beside the one before it and its reply, message object by message object."""
    cached = [0]
    messages = trace.chat.history.messages
    for turn in range(2, len(trace) + 1):
        before = trace.request(turn - 1)
        first, last = trace.chat.requests[turn - 2], trace.chat.requests[turn - 1]
        before += messages[first + 1 : last]
        units = 0
        for old, new in zip(before, trace.request(turn), strict=False):
            if old is not new and old != new:
                break
            units += trace.chat.rule.message(new)
        cached.append(units)
    return cached


class Clock:
    """Keep-newest with a line on top that says another time in each request."""

    def start(self, room):
        self.room, self.time = room, 0

    def select(self, history):
        self.time += 1
        inner = PinnedFit([Message("system", f"It is {self.time} o'clock.")])
        inner.start(self.room)
        return inner.select(history)


class Beside:
    """Keep-newest with a line beside the question, every other time."""

    def start(self, room):
        self.room, self.time = room, 0

    def select(self, history):
        self.time += 1
        footer = (Message("system", "Answer in one sentence."),) if self.time % 3 else ()
        beside = sum(map(history.cost, footer))
        inner = KeepNewest()
        inner.start(self.room - beside)
        kept = inner.select(history)
        return Kept(kept.indices, (), beside, kept.units + beside, footer)


class Scattered:
    """Some messages from anywhere, as retrieval would choose them."""

    def start(self, room):
        self.rng = random.Random(3)

    def select(self, history):
        stop = len(history)
        chosen = sorted({0, *self.rng.sample(range(stop), min(stop, 4)), stop - 1})
        return Kept(tuple(chosen), (), 0, sum(history.units(i, i + 1) for i in chosen))


POLICIES = [KeepNewest, LowWater, PinnedNote, RollingSummary, Clock, Beside, Scattered, lambda: LastN(6)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("budget", [2000, 4000])
def test_ideal_reuse_is_what_two_requests_have_in_common(policy, budget):
    trace = replay(scripted_chat(turns=60), policy(), input_budget=budget, rule=RULE)
    assert [used.cached for used in usage(trace)] == recounted(trace)
    assert [used.sent for used in usage(trace)] == [row.input_units for row in trace.rows]


def test_the_first_request_computes_everything_and_later_ones_share_at_least_the_instructions(lab):
    used = lab(4000)
    assert used[0].cached == 0
    assert min(one.cached for one in used[1:]) == 17


def test_until_the_first_eviction_a_request_computes_the_new_message_and_the_reply_start(chat, lab):
    for one, current in zip(lab(32000)[1:140], chat.requests[1:140], strict=True):
        assert one.computed == chat.history.units(current, current + 1) + 3


@pytest.mark.parametrize(
    ("budget", "turns", "sent", "computed", "billed"),
    [
        (4000, 140, 513_381, None, 478_703),
        (32000, 140, 2_251_782, None, 232_337),
        (4000, 200, 747_934, 708_383, 712_338),
        (32000, 200, 4_167_129, 1_922_281, 2_146_766),
    ],
)
def test_the_bill_of_the_large_and_of_the_small_window(lab, budget, turns, sent, computed, billed):
    whole = total(lab(budget)[:turns])
    assert whole.sent == sent
    assert computed in (None, whole.computed)
    assert round(TENTH.bill(whole._replace(output=0), per=1)) == billed


def test_the_large_window_costs_half_until_it_evicts_and_three_times_as_much_in_the_end(lab):
    small, large = ([TENTH.bill(used._replace(output=0), per=1) for used in lab(budget)] for budget in (4000, 32000))
    assert round(sum(large[:140]) / sum(small[:140]), 2) == 0.49
    assert round(sum(large) / sum(small), 2) == 3.01
    sent = [total(lab(budget)[:140]).sent for budget in (4000, 32000)]
    assert round(sent[1] / sent[0], 1) == 4.4


def test_a_low_water_mark_at_half_the_room(chat):
    trace = replay(chat, LowWater(0.5), input_budget=4000, fact=NAME)
    whole = total(usage(trace))
    assert (whole.sent, whole.computed) == (558_926, 48_835)
    assert round(trace.mean_messages_kept, 1) == 24.7
    assert trace.gone_at_turn == 19
    newest = replay(chat, KeepNewest(), input_budget=4000, fact=NAME)
    assert (round(newest.mean_messages_kept, 2), newest.gone_at_turn) == (32.95, 19)
    assert total(usage(newest)).computed == 708_383


def test_eight_times_the_budget_sends_5_6_times_as_much(lab):
    small, large = total(lab(4000)).sent, total(lab(32000)).sent
    assert (round(small / 1e6, 2), round(large / 1e6, 2), round(large / small, 1)) == (0.75, 4.17, 5.6)


def test_output_is_the_replies(chat, lab):
    replies = sum(RULE.message(m) for m in chat.history.messages if m.role == "assistant")
    assert total(lab(4000)).output == replies
    unanswered = scripted_chat(turns=3)[:-1]
    assert usage(replay(unanswered, KeepNewest(), input_budget=4000, rule=RULE))[-1].output == 0


def test_with_writes_everything_computed_is_written(chat):
    trace = replay(chat, KeepNewest(), input_budget=4000)
    assert all(one.written == one.computed for one in usage(trace, writes=True))


def test_a_total_of_nothing_is_zero():
    assert total([]) == Usage(None, 0, 0, 0, 0)
    assert total([]).hit_rate == 0.0


def test_nine_tenths_cached_is_no_tenth_of_the_bill():
    assert TENTH.bill(Usage(1, 100, 90), per=100) == pytest.approx(0.19)
    writing = Prices(uncached=1, cached=0.1, cache_write=1.25)
    assert writing.bill(Usage(1, 100, 90, written=10), per=100) == pytest.approx(0.215)
    assert Prices(uncached=1).bill(Usage(1, 100, 90), per=100) == pytest.approx(1)


@given(
    st.lists(st.tuples(*[st.integers(0, 10_000)] * 4), max_size=8),
    st.tuples(*[st.floats(0, 100)] * 4),
)
def test_a_bill_adds_up_token_by_token(rows, prices):
    usages = [Usage(turn, cached + written + plain, cached, written, output)
              for turn, (cached, written, plain, output) in enumerate(rows)]  # fmt: skip
    uncached, cached, write, out = prices
    expected = sum(p * uncached + c * cached + w * write + o * out for c, w, p, o in rows) / 1_000_000
    assert Prices(*prices).bill(usages) == pytest.approx(expected)
    assert Prices(*prices).bill(usages) == pytest.approx(sum(Prices(*prices).bill(one) for one in usages))


def test_examples_carry_a_date_and_a_source():
    for row in [*example_prices(), *example_cards()]:
        assert row["read"] >= "2026-01" and len(row["source"]) > 20
    opus = example_prices("claude-opus-5")
    assert opus.cached / opus.uncached == pytest.approx(0.1)
    assert opus.cache_write / opus.uncached == pytest.approx(1.25)
    with pytest.raises(InputError, match="did you mean claude-opus-5"):
        example_prices("claude-opus-55")


def test_time_to_first_token_and_time_per_token():
    assert time_to_first_token(0, 1000) == 0
    assert time_to_first_token(3000, 1000) == 3
    card = example_cards("h100-sxm")
    alone = time_per_token(16e9, 0, card["bandwidth"])
    with_cache = time_per_token(16e9, 4 * 2**30, card["bandwidth"])
    assert with_cache / alone == pytest.approx(1 + 4 * 2**30 / 16e9)


@pytest.mark.parametrize(
    "call",
    [
        lambda: time_to_first_token(-1, 10),
        lambda: time_to_first_token(1, 0),
        lambda: time_per_token(1, -1, 10),
        lambda: time_per_token(1, 1, 0),
        lambda: prefill_rate(1e12, 8e9, utilisation=1.5),
        lambda: prefill_rate(0, 8e9),
        lambda: prefill_work(-1, layers=1, heads=1, head_dim=1, parameters=1),
        lambda: summary_break_even(-1, 1),
    ],
)
def test_impossible_figures_are_refused(call):
    with pytest.raises(InputError):
        call()


def counted_decoder(tokens, layers, hidden, heads, kv_heads, head_dim, mlp, vocabulary):
    """Count the operations of a small decoder by walking through it: an m × n matrix on a vector is 2mn."""
    linear = attention = 0
    for place in range(1, tokens + 1):
        for _ in range(layers):
            for rows, columns in (
                (heads * head_dim, hidden),
                (kv_heads * head_dim, hidden),
                (kv_heads * head_dim, hidden),
                (hidden, heads * head_dim),
                (mlp, hidden),
                (mlp, hidden),
                (hidden, mlp),
            ):
                linear += 2 * rows * columns
            for _head in range(heads):
                for _seen in range(place):
                    attention += 2 * head_dim  # one score
                    attention += 2 * head_dim  # one weighted value
        linear += 2 * vocabulary * hidden
    return linear, attention


@pytest.mark.parametrize("tokens", [0, 1, 7, 40])
def test_the_work_of_a_small_decoder_is_what_a_walk_through_it_counts(tokens):
    shape = {"layers": 3, "hidden": 10, "heads": 4, "kv_heads": 2, "head_dim": 5, "mlp": 12, "vocabulary": 30}
    parameters = matrix_parameters(**shape)
    known = {"layers": 3, "heads": 4, "head_dim": 5, "parameters": parameters}
    assert tuple(prefill_work(tokens, **known)) == counted_decoder(tokens, **shape)
    if tokens:
        work, earlier = (counted_decoder(n, **shape) for n in (tokens, tokens - 1))
        assert tuple(decode_work(tokens, **known)) == (work[0] - earlier[0], work[1] - earlier[1])


def test_attention_work_grows_with_the_square_and_the_rest_with_the_length():
    llama = {"layers": 32, "heads": 32, "head_dim": 128, "parameters": 7_504_658_432}
    short, long = prefill_work(4_000, **llama), prefill_work(32_000, **llama)
    assert long.linear / short.linear == 8
    assert 63.9 < long.attention / short.attention < 64


@given(
    st.integers(0, 800),
    st.integers(1, 2000),
    st.integers(0, 300),
    st.integers(0, 900),
    st.booleans(),
    st.integers(1, 20),
    st.integers(0, 40),
)
def test_the_break_even_is_the_first_request_at_which_two_running_bills_cross(
    summary, saved, prompt, rest, cached, uncached, output
):
    replaced = summary + saved
    prices = Prices(uncached, cached=1, output=output)
    without, with_summary = 0, (prompt + replaced) * uncached + summary * output
    crossed = None
    for request in range(1, 400):
        price = 1 if cached else uncached
        without += (replaced + rest) * price
        with_summary += (summary + rest) * (uncached if cached and request == 1 else price)
        if with_summary <= without:
            crossed = request
            break
    found = summary_break_even(replaced, summary, prices=prices, prompt=prompt, rest=rest, cached=cached)
    assert found == crossed or (crossed is None and found >= 400)


def test_a_summary_that_is_no_shorter_never_pays():
    assert summary_break_even(100, 100) is None
    assert summary_break_even(100, 200) is None


def test_the_sums_of_the_lesson_and_its_reading():
    assert [resent_with_summaries(n, 200, 60, 10) for n in (10, 20, 40)] == [11_000, 22_600, 45_800]
    assert resent_with_summaries(40, 200, 60, 10, reading=True) == 51_920
    trace = replay(
        [Message(role, "x" * 100) for _ in range(40) for role in ("user", "assistant")],
        KeepNewest(),
        input_budget=10**9,
        rule=PlainRule(CharsPerToken(1), overhead=0, reply_start=0),
    )
    whole = total(usage(trace))
    assert whole.sent + whole.output == resent(40, 200)  # the lesson counts the reply of a turn with its request


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(60, 400), st.sampled_from([0.25, 0.5, 0.8, 1])
)
def test_a_low_water_mark_moves_only_when_the_history_does_not_fit(costs, room, mark):
    history = History(costs, cost=int)
    policy, newest = LowWater(mark), KeepNewest()
    policy.start(room)
    newest.start(room)
    first = 0
    for stop in range(1, len(costs) + 1):
        kept = policy.select(history.until(stop))
        assert kept.indices.stop == stop and kept.units == sum(costs[kept.indices.start : stop]) <= room
        if sum(costs[first:stop]) <= room:
            assert kept.indices.start == first
        else:  # as many as fit the mark, and the current message in any case
            first = kept.indices.start
            assert sum(costs[first:stop]) <= mark * room or first == stop - 1
            assert first == 0 or sum(costs[first - 1 : stop]) > mark * room
        if mark == 1:
            assert kept == newest.select(history.until(stop))


@pytest.mark.parametrize("mark", [0, -0.5, 1.01, float("nan")])
def test_a_mark_outside_the_room_is_refused(mark):
    with pytest.raises(InputError):
        LowWater(mark)


def test_a_current_message_above_the_room_is_an_error_under_a_low_water_mark():
    policy = LowWater()
    policy.start(100)
    assert policy.select(History([60, 70], cost=int)).indices == range(1, 2)  # above the mark, so alone
    with pytest.raises(ContextOverflow):
        policy.select(History([60, 70, 101], cost=int))
