"""Six eviction policies against slow references; messages that stay because they are used."""

import random
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import Message, groups
from contextlab.errors import ContextOverflow, InputError
from contextlab.eviction import POLICIES, LeastUsed, Signal, quotes, references, simulate
from contextlab.keep import History, KeepNewest
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import CharsPerToken, WordPieces

LENGTH = PlainRule(CharsPerToken(1), overhead=0, reply_start=0)
TRACES = st.lists(st.sampled_from("ABCDEFG"), max_size=60)


def slow(policy, accesses, capacity, seed=1, ttl=8):
    """Keep the log of everything that ever happened, and ask it anew at each access."""
    rng, log, inside, hits, left = random.Random(seed), [], [], [], []
    for now, key in enumerate(accesses):
        if policy == "ttl":
            expired = [old for old in inside if now - max(i for i, e in log if e == ("in", old)) >= ttl]
            left += [(now, old) for old in expired]
            inside = [old for old in inside if old not in expired]
        hits.append(key in inside)
        if key not in inside:
            if len(inside) == capacity and policy == "noeviction":
                continue
            if len(inside) == capacity:
                born = {k: max(i for i, e in log if e == ("in", k)) for k in inside}
                used = {k: [i for i, e in log if e == ("use", k) and i >= born[k]] for k in inside}
                if policy == "random":
                    goes = inside[int(rng.random() * capacity)]
                elif policy == "lru":
                    goes = sorted(inside, key=lambda k: used[k][-1])[0]
                elif policy == "lfu":
                    goes = sorted(inside, key=lambda k: (len(used[k]), used[k][-1]))[0]
                else:
                    goes = sorted(inside, key=lambda k: born[k])[0]
                inside.remove(goes)
                left.append((now, goes))
            inside.append(key)
            log.append((now, ("in", key)))
        log.append((now, ("use", key)))
    return hits, left, inside


@settings(deadline=None)
@given(TRACES, st.integers(1, 5), st.sampled_from(POLICIES), st.integers(0, 9), st.integers(1, 12))
def test_every_policy_against_a_slow_reference(trace, capacity, policy, seed, ttl):
    run = simulate(policy, trace, capacity, seed=seed, ttl=ttl)
    hits, left, inside = slow(policy, trace, capacity, seed, ttl)
    assert [step.hit for step in run.steps] == hits
    assert [(now, key) for now, step in enumerate(run.steps) for key in step.left] == left
    assert list(run.steps[-1].inside if run.steps else ()) == inside
    assert all(len(step.inside) <= capacity for step in run.steps)
    assert run == simulate(policy, trace, capacity, seed=seed, ttl=ttl)


@given(TRACES, st.integers(1, 5))
def test_lru_against_the_standard_library(trace, capacity):
    cached = lru_cache(maxsize=capacity)(lambda key: key)
    for key in trace:
        cached(key)
    assert simulate("lru", trace, capacity).hits == cached.cache_info().hits


@pytest.mark.parametrize(
    ("policy", "hits", "inside"),
    [("fifo", 1, "CDA"), ("lru", 2, "ACD"), ("lfu", 2, "ACD"), ("ttl", 1, "CDA"), ("noeviction", 2, "ABC")],
)
def test_six_accesses_with_room_for_three(policy, hits, inside):
    run = simulate(policy, "ABCADA", 3)
    assert (run.hits, "".join(run.steps[-1].inside)) == (hits, inside)


def test_what_noeviction_refuses_and_what_a_lifetime_ends():
    assert simulate("noeviction", "ABCADA", 3).refused == ["D"]
    assert simulate("lru", "ABCADA", 3).refused == []
    run = simulate("ttl", "AABA", 3, ttl=2)
    assert [step.hit for step in run.steps] == [False, True, False, False]  # the hit does not prolong the life of A
    assert run.steps[2].left == ("A",)


def test_a_seed_decides_what_random_eviction_drops():
    trace = [f"k{i % 7}" for i in range(60)]
    assert len({simulate("random", trace, 3, seed=seed).hits for seed in range(12)}) > 1


@pytest.mark.parametrize("wrong", [("mru", 2, 8), ("lru", 0, 8), ("ttl", 2, 0)])
def test_settings_that_make_no_sense(wrong):
    policy, capacity, ttl = wrong
    with pytest.raises(InputError):
        simulate(policy, "AB", capacity, ttl=ttl)
    with pytest.raises(InputError):
        LeastUsed("mru")


# Signals


def user(text):
    return Message("user", text)


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("You said “twenty rows a page”, right?", [1]),
        ('You said "twenty rows a page".', [1]),
        ("> twenty rows a page\nwhy?", [1]),
        ("You said “rows”.", []),
        ("You said twenty rows a page.", []),
        ("“twenty rows a page” and “the list is sorted”", [1, 2]),
        ("“never said before by anyone”", []),
    ],
)
def test_a_quotation_is_a_sign_of_use(text, used):
    chat = [user("Hi."), user("It has twenty rows a page."), user("And the list is sorted."), user(text)]
    assert [signal.used for signal in quotes(chat, 3)] == used


def test_a_reference_to_a_turn_uses_its_messages_and_never_the_future():
    chat = [
        user("one"),
        Message("assistant", "two"),
        user("three"),
        Message("assistant", "four"),
        user("As in turn 1."),
    ]
    assert [signal.used for signal in references(chat, 4)] == [0, 1]
    assert references([*chat[:4], user("See message #2 and turn 9, turn 3.")], 4) == [Signal(4, 1, "reference")]
    assert references([user("turn 1")], 0) == []


# Messages


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=30), st.integers(30, 300), st.sampled_from(["lru", "lfu"]))
def test_without_signals_it_is_keep_newest(costs, room, order):
    history = History([user("x" * units) for units in costs], LENGTH.message)
    ours, newest = LeastUsed(order), KeepNewest()
    ours.start(room)
    newest.start(room)
    for stop in range(1, len(costs) + 1):
        assert list(ours.select(history.until(stop)).indices) == list(newest.select(history.until(stop)).indices)


def brute_force(order, sizes, signals, room):
    """Evict one message after the other, the worst first, until the rest fits; never the last one."""
    inside = list(range(len(sizes)))
    uses = {i: [signal.at for signal in signals if signal.used == i] for i in inside}
    key = {"lru": lambda i: (max([i, *uses[i]]), i), "lfu": lambda i: (len(uses[i]), i)}[order]
    while sum(sizes[i] for i in inside) > room:
        inside.remove(min(inside[:-1], key=key))
    return inside


@settings(deadline=None)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=25), st.data(), st.sampled_from(["lru", "lfu"]))
def test_what_leaves_is_what_eviction_one_by_one_drops(sizes, data, order):
    room = data.draw(st.integers(20, 150))
    pairs = data.draw(st.lists(st.tuples(st.integers(1, len(sizes) - 1), st.integers(0, len(sizes) - 1)), max_size=12))
    signals = [Signal(at, used, "hit") for at, used in pairs if used < at]
    policy = LeastUsed(order, signals=())
    policy.start(room)
    policy.use(signals)
    kept = policy.select(History([user("x" * size) for size in sizes], LENGTH.message))
    assert list(kept.indices) == brute_force(order, sizes, signals, room)
    assert kept.units <= room


def test_a_used_message_stays_and_one_that_left_comes_back_when_it_is_used_again():
    texts = ["My budget is 470 euros.", *["x" * 20] * 6, "Keep to turn 1.", *["y" * 20] * 2]
    history = History([user(text) for text in texts], LENGTH.message)
    policy = LeastUsed("lru")
    policy.start(room=90)
    held = [0 in policy.select(history.until(stop)).indices for stop in range(1, len(texts) + 1)]
    assert held == [True] * 4 + [False] * 3 + [True] * 3


def test_being_sent_is_no_use():
    """A note taker that counted injection as use would keep everything: 60 requests with the message, no signal."""
    history = History([user("fact" * 5), *[user("x" * 20)] * 60], LENGTH.message)
    policy = LeastUsed("lru")
    policy.start(room=200)
    for stop in range(1, 62):
        policy.select(history.until(stop))
    assert policy.seen == [] and 0 not in policy.select(history).indices


def test_calls_and_results_leave_together_and_the_caller_keeps_the_list():
    call = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    said = [
        user("Time?"),
        Message("assistant", None, (call,)),
        Message("tool", "9:00", (), "a"),
        user("x" * 30),
        user("y" * 30),
    ]
    history = History(list(said), LENGTH.message)
    for room in range(30, 80):
        policy = LeastUsed("lru")
        policy.start(room)
        indices = policy.select(history).indices
        assert (1 in indices) == (2 in indices)
        assert {index for group in groups(said) for index in group if set(group) <= set(indices)} == set(indices)
    assert history.messages == said


def test_a_message_that_does_not_fit_and_a_signal_from_nowhere_are_errors():
    policy = LeastUsed("lfu")
    policy.start(room=5)
    with pytest.raises(ContextOverflow, match="current user message 6"):
        policy.select(History([user("too big"[:6])], LENGTH.message))
    for signal in (Signal(1, 1, "hit"), Signal(0, 3, "hit"), Signal(2, -1, "hit")):
        with pytest.raises(InputError):
            policy.use([signal])


def test_the_lab_chat_has_no_signs_of_use():
    chat = CountedChat(scripted_chat(60), PlainRule(WordPieces()))
    used = replay(chat, LeastUsed("lru"), input_budget=4000, fact=NAME)
    plain = replay(chat, KeepNewest(), input_budget=4000, fact=NAME)
    assert used.rows == plain.rows
