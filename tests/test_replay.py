"""A replay is what one gets by making each request by hand."""

import random

import pytest

from contextlab.chat import Message
from contextlab.errors import BudgetError, ContextOverflow, InputError
from contextlab.keep import KeepNewest, Kept, LastN
from contextlab.pins import PinnedNote
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, holds_any, replay
from contextlab.script import NAME, scripted_chat
from contextlab.summary import RollingSummary
from contextlab.tokens import CharsPerToken, WordPieces

RULE = PlainRule(WordPieces())


@pytest.mark.parametrize("policy", [KeepNewest, PinnedNote, RollingSummary, lambda: LastN(9)])
@pytest.mark.parametrize("seed", [3, 20261105])
def test_every_row_can_be_recounted_from_the_request_itself(policy, seed):
    messages = scripted_chat(turns=60, seed=seed)
    trace = replay(messages, policy(), input_budget=3000, rule=RULE, fact=NAME)
    for row in trace.rows:
        request = trace.request(row.turn)
        said = [m for m in messages if m.turn is not None and m.turn < row.turn]
        assert row.input_units == RULE.request(request)
        assert request[0] == messages[0]
        assert request[-1].role == "user" and request[-1].turn == row.turn
        assert row.messages_kept + row.messages_dropped == len(said) + 1
        assert row.fact_visible == any(NAME in m.text for m in request)
        kept = [m for m in request if m.turn is not None]
        assert row.oldest_turn_kept == kept[0].turn
        if not isinstance(policy(), LastN):
            assert row.input_units <= 3000


def test_each_message_is_counted_once_whatever_is_replayed():
    calls = []

    def counter(text):
        calls.append(text)
        return len(text)

    messages = scripted_chat(turns=50)
    chat = CountedChat(messages, PlainRule(counter))
    for budget in (5000, 20000, 80000):
        replay(chat, KeepNewest(), input_budget=budget, fact=NAME)
    assert len(calls) == len(messages)


def test_a_fact_that_is_said_again_restarts_its_clock():
    messages = scripted_chat()
    first = replay(messages, KeepNewest(), input_budget=4000, rule=RULE, fact=NAME).gone_at_turn
    again = [
        m._replace(content=f"{m.content} Well done, {NAME}.") if (m.turn, m.role) == (10, "assistant") else m
        for m in messages
    ]
    second = replay(again, KeepNewest(), input_budget=4000, rule=RULE, fact=NAME).gone_at_turn
    assert first == 19
    assert second > first + 5


def test_a_fact_in_the_instructions_is_no_memory():
    chat = [Message("system", "You help Ada."), Message("user", "Hello")]
    trace = replay(chat, KeepNewest(), input_budget=100, rule=RULE, fact="Ada")
    assert (trace.turns_visible, trace.gone_at_turn) == (0, 1)


def test_no_fact_is_neither_visible_nor_gone():
    trace = replay(scripted_chat(turns=3), KeepNewest(), input_budget=4000, rule=RULE)
    assert {row.fact_visible for row in trace.rows} == {None}
    assert (trace.gone_at_turn, trace.turns_visible) == (None, 0)


def test_errors_name_the_turn_and_each_part():
    with pytest.raises(ContextOverflow) as caught:
        replay(scripted_chat(), PinnedNote(), input_budget=300, rule=RULE, reply_reserve=200)
    error = caught.value
    assert str(error).startswith("turn ")
    assert list(error.parts) == ["instructions", "reply start", "reply reserve", "pinned notes", "current user message"]
    assert error.budget == 300 < sum(error.parts.values())


@pytest.mark.parametrize("budget", [-1, 0, 19, 20])
def test_a_budget_at_or_below_the_fixed_part_is_an_error(budget):
    with pytest.raises((BudgetError, InputError)):
        replay(scripted_chat(turns=2), KeepNewest(), input_budget=budget, rule=RULE)


def test_a_chat_without_a_user_message_is_refused():
    with pytest.raises(InputError, match="no user message"):
        CountedChat([Message("system", "Be brief.")], RULE)


def test_a_greeting_before_the_first_question_belongs_to_turn_0():
    chat = [Message("assistant", "Welcome"), Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "?")]
    trace = replay(chat, KeepNewest(), input_budget=1000, rule=PlainRule(CharsPerToken()))
    assert [row.oldest_turn_kept for row in trace.rows] == [0, 0]
    assert [row.messages_kept for row in trace.rows] == [2, 4]


def test_a_policy_may_keep_messages_that_are_not_one_run():
    class FirstAndLast:
        def start(self, room):
            pass

        def select(self, history):
            indices = tuple(sorted({0, len(history) - 1}))
            return Kept(indices, (), 0, sum(history.units(i, i + 1) for i in indices))

    trace = replay(scripted_chat(turns=30), FirstAndLast(), input_budget=4000, rule=RULE, fact=NAME)
    assert trace.turns_visible == 30
    assert [m.turn for m in trace.request(30) if m.turn] == [1, 30]


def test_holds_any_is_set_intersection():
    rng = random.Random(7)
    for _ in range(500):
        holders = sorted(rng.sample(range(30), rng.randint(0, 5)))
        start = rng.randint(0, 30)
        run = range(start, rng.randint(start, 30))
        assert holds_any(run, holders) == bool(set(run) & set(holders)) == holds_any(tuple(run), holders)
