"""The prefix cache: worked examples, a simulator of another build, brute force, and the policies of a chat."""

import json
import math
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.cost import Prices, total, usage
from contextlab.errors import BudgetError, InputError
from contextlab.keep import KeepNewest, Kept, LowWater, PinnedFit
from contextlab.prefix import (
    FREE_ORDERS,
    PrefixCache,
    Served,
    as_usage,
    hit_rate,
    prompts,
    provider,
    providers,
    reuse,
    reuse_table,
    serve,
)
from contextlab.prefix import total as total_served
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.summary import RollingSummary
from contextlab.tokens import CharsPerToken, WordPieces

GOLDEN = json.loads((Path(__file__).parent / "data" / "kv_golden.json").read_text(encoding="utf-8"))["prefix_cache"]
MICRO = GOLDEN["micro_B4"]
CHAT = GOLDEN["chat_policies"]["results"]
X, Y = list(range(1, 17)), list(range(101, 117))
PLAIN = PlainRule(CharsPerToken(1), overhead=0, reply_start=0)  # a message costs its length
LAB_RULE = PlainRule(WordPieces())


def hits(requests, **options):
    cache = PrefixCache(block_size=4, **options)
    return [cache.request(prompt).hit_tokens for prompt in requests]


@pytest.mark.parametrize(
    ("name", "requests", "options"),
    [
        ("same_8_tokens_twice", [X[:8]] * 2, {}),
        ("same_8_twice_no_last_token_rule", [X[:8]] * 2, {"spare_last": False}),
        ("same_9_twice", [X[:9]] * 2, {}),
        ("same_3_twice", [X[:3]] * 2, {}),
        ("same_4_twice", [X[:4]] * 2, {}),
        ("same_5_twice", [X[:5]] * 2, {}),
        ("edit_index4_of16", [X, [*X[:4], 99, *X[5:]]], {}),
        ("edit_index3_of16", [X, [*X[:3], 99, *X[4:]]], {}),
        ("insert_at_front", [X, [99, *X]], {}),
        ("drop_first_block", [X, X[4:]], {}),
        ("extend16_to20", [X, [*X, 17, 18, 19, 20]], {}),
        ("swap_two_blocks", [X, [*X[4:8], *X[:4], *X[8:]]], {}),
        ("pool6_X16_Y16_X16", [X, Y, X], {"blocks": 6}),
        ("pool8_X16_Y16_X16", [X, Y, X], {"blocks": 8}),
        ("pool6_alternating", [X, Y] * 3, {"blocks": 6}),
        ("pool5_alternating", [X, Y] * 3, {"blocks": 5}),
        ("pool4_alternating", [X, Y] * 3, {"blocks": 4}),
    ],
)
def test_small_cases_worked_by_hand(name, requests, options):
    assert hits(requests, **options) == MICRO[name]


def test_every_small_case_is_here():
    assert len(MICRO) == 17


@pytest.mark.parametrize(("blocks", "third"), [(4, 0), (5, 4), (6, 8), (8, 12)])
def test_pools_of_four_sizes(blocks, third):
    assert hits([X, Y, X], blocks=blocks) == [0, 0, third]


def test_the_example_of_the_design_page():
    steps = {step["t"]: step for step in GOLDEN["vllm_doc_example"]["steps"]}
    cache = PrefixCache(blocks=10, block_size=4)
    first = cache.start(range(15))
    assert (first.table, cache.cached_blocks()) == (steps[1]["table"], steps[1]["cached"])
    first.append([15, 16])
    assert (first.table, cache.cached_blocks()) == (steps[3]["table"], steps[3]["cached"])
    second = cache.start([*range(10), 50, 51, 52, 53])
    assert second.served.hit_tokens == steps[4]["hit"]
    assert (second.table, cache.free_blocks()) == (steps[4]["table"], steps[4]["free"])
    first.finish()
    assert cache.free_blocks() == steps[5]["free"]
    second.finish()
    assert cache.free_blocks() == steps[6]["free"]
    third = cache.start([*range(12), *range(60, 77)])
    assert third.served.hit_tokens == steps[7]["hit"]
    assert (third.table, cache.free_blocks()) == (steps[7]["table"], steps[7]["free"])
    assert third.served.evicted == steps[7]["evicted_hashes"]


def test_newer_code_uses_blocks_that_are_not_full_again_first():
    golden = GOLDEN["vllm_test_prefill_free_order"]
    cache = PrefixCache(blocks=golden["usable_blocks"], block_size=golden["B"], free_order="unhashed first")
    first = cache.start(range(55))
    second = cache.start([*range(48), *range(100, 105)])
    assert second.served.hit_tokens == 48
    first.finish()
    second.finish()
    assert [block + 1 for block in cache.free_blocks()] == golden["order_newer_prepends_unhashed"]  # they count from 1


@pytest.mark.parametrize("order", FREE_ORDERS)
def test_the_cliff_when_the_pool_becomes_too_small(order):
    golden = GOLDEN["session_cliff"]["append_all_to_tail" if order == "tail" else "prepend_unhashed"]
    for sessions, (hit, prompt, rate) in golden.items():
        cache = PrefixCache(blocks=20, block_size=4, free_order=order)
        talks = [[*range(8), *range(1000 * session, 1000 * session + 17)] for session in range(1, int(sessions) + 1)]
        rounds = [[cache.request(talk) for talk in talks] for _ in range(4)]
        counted = [one for served in rounds[1:] for one in served]
        assert sum(one.hit_tokens for one in counted) == hit
        assert sum(one.prompt_tokens for one in counted) == prompt
        assert round(hit_rate(counted), 5) == rate


def test_two_lines_of_a_real_trace():
    """Blocks of 512; the second request shares 12 of its 13 blocks with the first, the last one is not full."""
    first = [(block, place) for block in range(14) for place in range(512)][:6758]
    second = [(block if block < 12 else 99, place) for block in range(13) for place in range(512)][:6472]
    cache = PrefixCache(block_size=512)
    cache.request(first)
    assert cache.request(second) == Served(6472, 6144, 0, 1, 0)


class Engine:
    """A simulator of another build: block objects with counts, a plain list as queue, whole prefixes as keys."""

    def __init__(self, blocks, size, order, cache_output):
        self.size, self.order, self.cache_output = size, order, cache_output
        self.queue = list(range(blocks))
        self.holds = {}  # block -> whole prefix that it completes, in the order in which blocks were filled
        self.used = dict.fromkeys(range(blocks), 0)

    def find(self, prefix):
        return next((block for block, held in self.holds.items() if held == prefix), None)

    def take(self):
        block = self.queue.pop(0)
        self.holds.pop(block, None)
        self.used[block] = 1
        return block

    def start(self, prompt):
        prompt = tuple(prompt)
        table = []
        for end in range(self.size, len(prompt), self.size):  # never up to the last token
            block = self.find(prompt[:end])
            if block is None:
                break
            table.append(block)
        hit = len(table) * self.size
        new = math.ceil(len(prompt) / self.size) - len(table)
        if new > len(self.queue) - sum(self.used[block] == 0 for block in table):
            return None
        for block in table:
            if self.used[block] == 0:
                self.queue.remove(block)
            self.used[block] += 1
        table += [self.take() for _ in range(new)]
        for index in range(hit // self.size, len(prompt) // self.size):
            self.holds[table[index]] = prompt[: (index + 1) * self.size]
        return [prompt, table, hit]

    def append(self, request, token):
        prompt, table, _ = request
        if len(prompt) % self.size == 0:
            if not self.queue:
                return False
            table.append(self.take())
        request[0] = prompt = (*prompt, token)
        if len(prompt) % self.size == 0 and self.cache_output:
            self.holds[table[-1]] = prompt
        return True

    def finish(self, request):
        for block in reversed(request[1]):
            self.used[block] -= 1
            if self.used[block] == 0:
                if self.order == "tail" or block in self.holds:
                    self.queue.append(block)
                else:
                    self.queue.insert(0, block)


actions = st.lists(
    st.tuples(st.sampled_from("ssssaaf"), st.integers(0, 3), st.lists(st.integers(0, 1), min_size=1, max_size=14)),
    max_size=30,
)


@settings(max_examples=300, deadline=None)
@given(actions, st.integers(1, 3), st.integers(4, 14), st.sampled_from(FREE_ORDERS), st.booleans())
def test_the_simulator_agrees_with_one_of_another_build(steps, size, blocks, order, cache_output):
    """Requests that overlap in time, pools that run full, shared blocks, twins: tables, queues and hits are equal."""
    ours = PrefixCache(blocks, size, free_order=order, cache_output=cache_output)
    theirs = Engine(blocks, size, order, cache_output)
    running = []
    for action, pick, tokens in steps:
        if action == "s":
            expected = theirs.start(tokens)
            if expected is None:
                with pytest.raises(BudgetError):
                    ours.start(tokens)
                continue
            started = ours.start(tokens)
            running.append((started, expected))
            assert started.served.hit_tokens == expected[2]
        elif running and action == "a":
            started, expected = running[pick % len(running)]
            for token in tokens:
                if theirs.append(expected, token):
                    started.append([token])
                else:
                    with pytest.raises(BudgetError):
                        started.append([token])
                    break
        elif running:
            started, expected = running.pop(pick % len(running))
            started.finish()
            theirs.finish(expected)
        assert [one.table for one, _ in running] == [other[1] for _, other in running]
        assert ours.free_blocks() == theirs.queue
        findable = {theirs.find(prefix) for prefix in theirs.holds.values()}
        assert ours.cached_blocks() == sorted(findable)


requests = st.lists(
    st.tuples(st.lists(st.integers(0, 1), min_size=1, max_size=20), st.lists(st.integers(0, 1), max_size=8)),
    max_size=12,
)


@given(requests, st.integers(1, 4))
def test_without_a_bound_a_hit_is_the_longest_common_prefix_with_any_earlier_request(sequence, size):
    cache = PrefixCache(block_size=size)
    seen = []
    for prompt, output in sequence:
        longest = 0
        for earlier in seen:
            common = 0
            for old, new in zip(earlier, prompt, strict=False):
                if old != new:
                    break
                common += 1
            longest = max(longest, common)
        expected = min(longest, len(prompt) - 1) // size * size
        assert cache.request(prompt, output).hit_tokens == expected
        seen.append(prompt + output[:-1])


@given(requests, st.integers(1, 3), st.integers(10, 30))
def test_with_the_deepest_freed_first_what_is_cached_is_closed_under_prefixes(sequence, size, blocks):
    cache = PrefixCache(blocks, size)
    for prompt, output in sequence:
        if math.ceil((len(prompt) + max(len(output) - 1, 0)) / size) > blocks:
            continue
        cache.request(prompt, output)
        parents = {link: before for (before, _), link in cache._links.items()}
        held = {link for link, block in enumerate(cache._holder) if block >= 0}
        assert all(parents[link] < 0 or parents[link] in held for link in held)


def test_fault_21_blocks_behind_a_missing_one_are_no_hits():
    cache = PrefixCache(blocks=7, block_size=4)
    chain = list(range(12))
    cache.request(chain)  # blocks 0, 1, 2: freed as 2, 1, 0
    held = cache.start([50])  # block 3
    other = [*range(100, 116)]
    running = cache.start(other)  # 4, 5, 6 and then block 2, the deepest of the chain
    assert running.table == [4, 5, 6, 2]
    running.finish()
    assert cache.start([*chain, 12]).served.hit_tokens == 8
    held.finish()
    broken = [*chain[:3], 99, *chain[4:], 12]
    assert PrefixCache(block_size=4).request(broken).hit_tokens == 0
    whole = PrefixCache(block_size=4)
    whole.request(chain)
    assert whole.request(broken).hit_tokens == 0  # the second and third block are the same, behind another first


def test_only_the_prompt_or_generated_tokens_too():
    """Block 16, prompt 100, 30 generated, next prompt 150: 128 tokens hit; 96 when only prompts are reused."""
    prompt, output = list(range(100)), list(range(100, 130))
    following = [*prompt, *output, *range(200, 220)]
    for cache_output, expected in ((True, 128), (False, 96)):
        cache = PrefixCache(cache_output=cache_output)
        assert cache.request(prompt, output) == Served(100, 0, 30, 9, 0)
        assert cache.request(following).hit_tokens == expected


def test_the_token_generated_last_is_not_cached():
    cache = PrefixCache(block_size=4)
    cache.request([1, 2, 3], [4])  # the 4 was sampled, nothing was computed for it
    assert cache.request([1, 2, 3, 4, 5]).hit_tokens == 0
    cache = PrefixCache(block_size=4)
    cache.request([1, 2, 3], [4, 5])
    assert cache.request([1, 2, 3, 4, 5]).hit_tokens == 4


def test_salts_share_nothing():
    cache = PrefixCache(block_size=4)
    assert [cache.request(X, salt=salt).hit_tokens for salt in (None, "a", "b", "a", None)] == [0, 0, 0, 12, 12]


def test_any_hashable_token_will_do():
    cache = PrefixCache(block_size=4)
    cache.request("the cat sat")
    assert cache.request("the cat ran").hit_tokens == 8


@pytest.mark.parametrize(
    "call",
    [
        lambda: PrefixCache(0),
        lambda: PrefixCache(block_size=0),
        lambda: PrefixCache(1.5),
        lambda: PrefixCache(free_order="head"),
        lambda: PrefixCache().request([]),
        lambda: PrefixCache().request([[1], [2]] * 8),
        lambda: PrefixCache().free_blocks(),
    ],
)
def test_impossible_caches_and_requests_are_refused(call):
    with pytest.raises(InputError):
        call()


def test_a_request_is_finished_once():
    running = PrefixCache().start([1])
    running.finish()
    with pytest.raises(InputError, match="finished"):
        running.finish()


def test_a_request_larger_than_the_pool_is_an_error_and_changes_nothing():
    cache = PrefixCache(blocks=4, block_size=4)
    cache.request(X)
    with pytest.raises(BudgetError) as caught:
        cache.request([*X, 17])
    assert caught.value.parts == {"in use": 0, "needed": 5}
    assert cache.request(X).hit_tokens == 12


def test_the_queue_of_a_large_pool_does_not_grow_without_end():
    cache = PrefixCache(blocks=50, block_size=1)
    for _ in range(2000):
        cache.request(range(20))
    assert cache._queued <= 4 * 50 + 1024 + 20
    assert sorted(cache.free_blocks()) == list(range(50))


def test_sums_of_requests():
    served = [Served(12, 0, 3, 3, 0), Served(20, 12, 5, 2, 1)]
    assert total_served(served) == Served(32, 12, 8, 5, 1)
    assert (total_served([]), hit_rate([])) == (Served(0, 0, 0, 0, 0), 0.0)
    assert served[1].computed_tokens == 8


class Talk:
    """The golden chat as tokens: a system text, and for each turn a user message and a reply, all different."""

    def __init__(self, system=8, user=4, assistant=4, turns=12):
        self.system = [("s", i) for i in range(system)]
        self.users = [[("u", turn, i) for i in range(user)] for turn in range(turns)]
        self.replies = [[("a", turn, i) for i in range(assistant)] for turn in range(turns)]

    def messages(self, turn):
        """All messages up to the question of this turn."""
        said = [part for pair in zip(self.users[:turn], self.replies[:turn], strict=True) for part in pair]
        return [*said, self.users[turn]]


def newest(messages, room):
    """The newest whole turns that fit, the question in any case; the plain walk."""
    kept = messages[-1:]
    for turn in range(len(messages) - 3, -1, -2):
        pair = messages[turn : turn + 2]
        if sum(map(len, pair + kept)) > room:
            break
        kept = pair + kept
    return kept


def run_policy(build, talk=None):
    """Rows of prompt and hit tokens for prompts that ``build(turn, talk, state)`` makes as lists of parts."""
    talk = talk or Talk()
    cache = PrefixCache(block_size=4)
    state = {}
    rows = []
    for turn in range(len(talk.users)):
        prompt = [token for part in build(turn, talk, state) for token in part]
        rows.append(cache.request(prompt, talk.replies[turn])[:2])
    return [list(row) for row in rows]


def note(version, size=4):
    return [("n", version, i) for i in range(size)]


def append_only(turn, talk, state):
    return [talk.system, *talk.messages(turn)]


def keep_newest(turn, talk, state):
    return newest(talk.messages(turn), 36)


def keep_newest_with_system(turn, talk, state):
    return [talk.system, *newest(talk.messages(turn), 36 - len(talk.system))]


def static_note(turn, talk, state):
    return [talk.system, note(0), *newest(talk.messages(turn), 24)]


def changing_note_in_front(turn, talk, state):
    return [talk.system, note(turn), *newest(talk.messages(turn), 24)]


def changing_note_at_the_end(turn, talk, state):
    *older, question = newest(talk.messages(turn), 24)
    return [talk.system, *older, note(turn), question]


def drop_to_half(turn, talk, state):
    messages = talk.messages(turn)[state.get("first", 0) :]
    if sum(map(len, messages)) > 28:
        kept = newest(messages, 14)
        state["first"] = state.get("first", 0) + len(messages) - len(kept)
        messages = kept
    return [talk.system, *messages]


def summary_at_overflow(keep_turns):
    """Everything since the last summary; when it does not fit, a new summary replaces all but the newest turns."""

    def build(turn, talk, state):
        first = state.get("first", 0)
        parts = [talk.system, *([note(state["version"])] if "version" in state else []), *talk.messages(turn)[first:]]
        if sum(map(len, parts)) > 36:
            state["first"] = 2 * (turn - keep_turns)
            state["version"] = turn
            parts = [talk.system, note(turn), *talk.messages(turn)[state["first"] :]]
        return parts

    return build


def summary_every_turn(turn, talk, state):
    first = max(0, 2 * (turn - 2))
    return [talk.system, *([note(turn)] if first else []), *talk.messages(turn)[first:]]


POLICIES = {
    "append_only": append_only,
    "keep_newest_no_system": keep_newest,
    "keep_newest_system_pinned": keep_newest_with_system,
    "system+static_note_front": static_note,
    "system+note_rewritten_each_turn_front": changing_note_in_front,
    "system+note_rewritten_each_turn_at_end": changing_note_at_the_end,
    "chunked_drop_to_half": drop_to_half,
    "rolling_summary_keep1": summary_at_overflow(1),
    "rolling_summary_keep2": summary_at_overflow(2),
    "summary_rewritten_every_turn_keep2": summary_every_turn,
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_policies_of_the_12_turn_chat(name):
    golden = CHAT[name]
    rows = run_policy(POLICIES[name])
    assert rows == golden["rows"]
    served = [Served(*row) for row in rows]
    whole = total_served(served)
    assert (whole.prompt_tokens, whole.hit_tokens) == (golden["prompt_tokens"], golden["hit_tokens"])
    assert whole.computed_tokens == golden["uncached_prompt_tokens"]
    assert round(hit_rate(served), 6) == golden["hit_rate"]


@pytest.mark.parametrize("name", ["append_only", "keep_newest_system_pinned"])
def test_the_policies_with_other_sizes(name):
    rows = run_policy(POLICIES[name], Talk(system=10, user=3, assistant=5, turns=8))
    assert rows == CHAT[f"{name}_S10_u3_a5"]["rows"]


def test_every_policy_of_the_golden_file_is_here():
    assert set(CHAT) == {*POLICIES, "append_only_S10_u3_a5", "keep_newest_system_pinned_S10_u3_a5"}


def golden_chat(system=8, user=4, assistant=4, turns=12):
    said = [
        Message(role, f"{turn:0{size}d}")
        for turn in range(turns)
        for role, size in (("user", user), ("assistant", assistant))
    ]
    return CountedChat([Message("system", "s" * system), *said] if system else said, PLAIN)


class Rewritten(PinnedFit):
    """Keep-newest below a line that differs in each request."""

    def __init__(self):
        super().__init__(())
        self.time = 0

    def select(self, history):
        self.time += 1
        self.header = (Message("system", f"{self.time:04d}"),)
        return super().select(history)


@pytest.mark.parametrize(
    ("name", "policy", "budget", "system"),
    [
        ("append_only", KeepNewest(), 10**6, 8),
        ("keep_newest_no_system", KeepNewest(whole_turns=True), 36, 0),
        ("keep_newest_system_pinned", KeepNewest(whole_turns=True), 36, 8),
        # One unit less than 36, so that no reply begins the history: the golden policies keep whole turns.
        ("system+static_note_front", PinnedFit([Message("system", "note")]), 35, 8),
        ("system+note_rewritten_each_turn_front", Rewritten(), 35, 8),
        ("chunked_drop_to_half", LowWater(0.5), 36, 8),
    ],
)
def test_the_policies_of_the_library_build_the_same_prompts(name, policy, budget, system):
    trace = replay(golden_chat(system=system), policy, input_budget=budget)
    served = serve(trace, PrefixCache(block_size=4))
    assert [list(one[:2]) for one in served] == CHAT[name]["rows"]


def test_closed_forms_of_the_golden_chat():
    """S system, u user, a assistant tokens, blocks of B; once trimming happens on every turn."""
    for system, user, assistant, size in ((8, 4, 4, 4), (10, 3, 5, 4), (17, 6, 9, 5)):
        chat = golden_chat(system, user, assistant, turns=20)
        append = serve(replay(chat, KeepNewest(), input_budget=10**6), PrefixCache(block_size=size))
        per_turn = user + assistant
        expected = [0, *(size * ((system + k * per_turn - 1) // size) for k in range(1, 20))]
        assert [one.hit_tokens for one in append] == expected
        trimmed = serve(replay(chat, KeepNewest(), input_budget=system + 40), PrefixCache(block_size=size))
        assert {one.hit_tokens for one in trimmed[8:]} == {size * (system // size)}
        pinned = PinnedFit([Message("system", "n" * 7)])
        noted = serve(replay(chat, pinned, input_budget=system + 47), PrefixCache(block_size=size))
        assert {one.hit_tokens for one in noted[8:]} == {size * ((system + 7) // size)}


class Scattered:
    """A few messages from anywhere."""

    def start(self, room):
        pass

    def select(self, history):
        chosen = tuple(sorted({0, len(history) // 3, len(history) // 2, len(history) - 1}))
        return Kept(chosen, (), 0, sum(history.units(i, i + 1) for i in chosen))


class Beside(LowWater):
    """A low-water mark, with a line beside the question in two requests of three."""

    def select(self, history):
        kept = super().select(history)
        footer = (Message("system", "Answer in one sentence."),) if len(history) % 3 else ()
        units = sum(map(history.cost, footer))
        return Kept(kept.indices, (), units, kept.units + units, footer)


@pytest.mark.parametrize("policy", [KeepNewest, LowWater, RollingSummary, Rewritten, Scattered, Beside])
def test_prompts_have_the_units_of_the_trace_and_share_what_the_messages_share(policy):
    trace = replay(scripted_chat(turns=50), policy(), input_budget=3000, rule=LAB_RULE)
    made = list(prompts(trace))
    used = usage(trace)
    assert [len(prompt) for prompt, _ in made] == [row.input_units for row in trace.rows]
    for (before, reply), (prompt, _), ideal, earlier in zip(made, made[1:], used[1:], used, strict=False):
        assert len(reply) == earlier.output - 3  # the reply start is its opening
        common = 0
        for old, new in zip(before + reply, prompt, strict=False):
            if old != new:
                break
            common += 1
        assert ideal.cached <= common <= ideal.cached + 3  # at most the opening of the role more


def test_blocks_find_a_little_less_than_ideal_reuse():
    """The 4k lab: computed tokens with blocks of 16 against those of ideal reuse, and the order of the policies."""
    chat = CountedChat(scripted_chat(), LAB_RULE)
    computed = {}
    for policy in (KeepNewest(), LowWater(0.5)):
        trace = replay(chat, policy, input_budget=4000)
        ideal = total(usage(trace)).computed
        blocks = total_served(serve(trace, PrefixCache())).computed_tokens
        assert 0 <= blocks - ideal <= 16 * 200
        computed[type(policy).__name__] = ideal
    assert computed == {"KeepNewest": 708_383, "LowWater": 48_835}


def test_served_requests_become_usages():
    used = as_usage([Served(12, 0, 4), Served(20, 12, 4)])
    assert Prices(1, cached=0.1, output=2).bill(used, per=1) == pytest.approx(12 + 8 + 1.2 + 16)


def test_the_steps_of_a_provider():
    openai = provider("openai")
    assert [openai.cached(shared) for shared in (0, 1000, 1023, 1024, 1151, 1152, 1500)] == [
        0, 0, 0, 1024, 1024, 1152, 1408,
    ]  # fmt: skip
    for rules in providers():
        for shared in range(0, 6000, 7):
            cached = rules.cached(shared)
            assert cached <= shared and (cached == 0 or cached >= rules.minimum)
            assert cached == 0 or (cached - rules.minimum) % rules.step == 0
            assert shared < rules.minimum or shared - cached < rules.step


def test_providers_carry_a_date_and_a_source():
    assert [rules.name for rules in providers()][:2] == ["openai", "openai-gpt-5.6"]
    for rules in providers():
        assert rules.date >= "2026-01" and rules.source and rules.note
    with pytest.raises(InputError, match="did you mean anthropic-5m"):
        provider("anthropic")
    with pytest.raises(InputError, match="not looked up"):
        provider("xai").prices()


def test_what_a_policy_costs_under_a_provider():
    chat = CountedChat(scripted_chat(), LAB_RULE)
    trace = replay(chat, LowWater(), input_budget=4000)
    ideal = total(usage(trace))
    openai, claude, deepseek = provider("openai"), provider("anthropic-5m"), provider("deepseek")
    used = total(openai.usage(trace))
    assert used.sent == ideal.sent and used.written == 0 and used.cached < ideal.cached
    assert total(openai.usage(trace, seconds=301)).cached == 0
    assert total(provider("anthropic-1h").usage(trace, seconds=301)).cached > 0
    assert total(deepseek.usage(trace)).cached == ideal.cached
    written = [one.written for one in claude.usage(trace)]
    assert written[0] == 0  # the first requests are below the minimum
    assert max(written) > 0
    for one in claude.usage(trace):
        assert one.written in (0, one.computed)
        assert (one.written > 0) == (one.sent >= 1024)
    prices = claude.prices(uncached=5, output=25)
    assert prices == Prices(5, 0.5, 6.25, 25)


def test_without_replies_the_next_request_computes_the_reply():
    chat = CountedChat(scripted_chat(turns=10), LAB_RULE)
    trace = replay(chat, KeepNewest(), input_budget=10**6)
    with_replies, without = usage(trace), usage(trace, replies=False)
    for turn, (before, after) in enumerate(pairwise(without)):
        assert after.cached == before.sent - 3  # all but the reply start
        assert with_replies[turn + 1].cached - after.cached == before.output


class Token(int):
    """A token id that counts how often it is looked at."""

    looks = 0

    def __hash__(self):
        Token.looks += 1
        return int.__hash__(self)


def test_each_token_of_a_prompt_is_hashed_once_whatever_was_cached_before():
    cache = PrefixCache(blocks=300)
    tokens = [Token(number) for number in range(2000)]
    for length in range(400, 2000, 100):
        before = Token.looks
        cache.request(tokens[:length])
        assert Token.looks - before == length // 16 * 16


@pytest.fixture(scope="module")
def lab():
    """The 200-turn chat under keep-newest at two budgets, and with a low-water mark."""
    chat = CountedChat(scripted_chat(), LAB_RULE)
    policies = {"4k": (KeepNewest(), 4000), "32k": (KeepNewest(), 32_000), "mark": (LowWater(0.5), 4000)}
    return {name: replay(chat, policy, input_budget=budget, fact=NAME) for name, (policy, budget) in policies.items()}


def test_the_table_of_policies_has_hit_rate_and_computed_tokens_side_by_side(lab):
    small, large, mark = reuse(lab)
    assert [(row.sent, row.computed, round(row.billed), row.drop_turn) for row in (small, large, mark)] == [
        (747_934, 708_383, 712_338, 19),
        (4_167_129, 1_922_281, 2_146_766, 141),
        (558_926, 48_835, 99_844, 19),
    ]
    assert (round(small.messages, 2), round(mark.messages, 1)) == (32.95, 24.7)
    assert large.hit_rate > 10 * small.hit_rate and large.computed > 2 * small.computed
    assert small.hit_rate == pytest.approx(1 - small.computed / small.sent)
    assert [round(row.billed) for row in reuse(lab, turns=140)[:2]] == [478_703, 232_337]
    assert reuse(lab, cached_price=1)[0].billed == 747_934


def test_the_table_of_policies_with_blocks(lab):
    rows = reuse(lab, block_size=16)
    assert [row.computed for row in rows] == [708_702, 1_923_481, 50_446]
    assert [round(row.hit_rate, 4) for row in rows] == [0.0525, 0.5384, 0.9097]


def test_the_table_as_text_is_aligned_and_says_never(lab):
    lines = reuse_table([*reuse(lab), reuse(lab)[0]._replace(policy="a longer name", drop_turn=None)]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert [line.split()[-1] for line in lines] == ["turn", "19", "141", "19", "never"]
    assert lines[0].startswith("policy       ")


def test_a_table_without_a_policy_is_refused():
    with pytest.raises(InputError, match="at least one trace"):
        reuse({})
