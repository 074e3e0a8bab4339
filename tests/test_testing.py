"""A test that talks past the drop turn: it passes when the fact survives, and fails with the turns when it does not."""

import pytest

from contextlab import Assembler, InputError, KeepNewest, LastN, Message, PinnedNote, RollingSummary, assemble
from contextlab.render import OpenAIRecipe, PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.testing import Survival, assert_survives
from contextlab.tokens import CharsPerToken, WordPieces

CHAT = scripted_chat(turns=30)


def pinning(messages):
    return assemble(messages, window=4000, max_output_tokens=0, counter=WordPieces(), template="plain", pinned=[NAME])


def forgetting(messages):
    return assemble(messages, window=4000, max_output_tokens=0, counter=WordPieces(), template="plain").messages


@pytest.mark.parametrize("policy", [PinnedNote(), RollingSummary()], ids=["pinned note", "rolling summary"])
def test_a_policy_that_keeps_the_fact_passes_beyond_the_published_drop_turn(policy):
    assert assert_survives(CHAT, policy, NAME, input_budget=4000) == Survival(1, 19, 39)


def test_a_short_chat_is_talked_on_until_keep_newest_has_dropped_the_fact():
    short = CHAT[:7]
    survival = assert_survives(short, PinnedNote(), NAME, input_budget=4000, past=5)
    assert survival.turns == survival.drop_turn + 5 > 15


def test_the_drop_turn_is_the_one_that_a_replay_sees():
    for budget in (1500, 2500, 4000):
        survival = assert_survives(CHAT, PinnedNote(), NAME, input_budget=budget, past=0)
        trace = replay(CHAT, KeepNewest(), input_budget=budget, rule=PlainRule(WordPieces()), fact=NAME)
        assert survival.drop_turn == trace.gone_at_turn


@pytest.mark.parametrize("policy", [KeepNewest(), LastN(10)], ids=["keep-newest", "last 10"])
def test_a_policy_that_forgets_fails_and_says_when(policy):
    with pytest.raises(AssertionError) as caught:
        assert_survives(CHAT, policy, NAME, input_budget=4000)
    gone = replay(CHAT, policy, input_budget=4000, rule=PlainRule(WordPieces()), fact=NAME).gone_at_turn
    assert f"first in turn {gone};" in str(caught.value)
    assert "keep-newest drops it in turn 19 at 4000 approximate units" in str(caught.value)


def test_without_a_budget_half_of_the_chat_is_the_budget():
    survival = assert_survives(CHAT, PinnedNote(), NAME)
    assert survival.drop_turn < 25


def test_a_function_of_ones_own_is_asked_at_every_turn():
    assert assert_survives(CHAT, pinning, NAME, input_budget=4000) == Survival(1, 19, 39)
    with pytest.raises(AssertionError, match="turn 19"):
        assert_survives(CHAT, forgetting, NAME, input_budget=4000)
    with pytest.raises(InputError, match="input_budget"):
        assert_survives(CHAT, pinning, NAME)


def test_an_assembler_is_handed_each_message_once():
    counter = CharsPerToken()
    pinned = Assembler(window=4000, max_output_tokens=500, counter=counter, pinned=[NAME])
    survival = assert_survives(CHAT, pinned, NAME)
    longer = CountedChat(CHAT, OpenAIRecipe(counter))
    assert survival.drop_turn == replay(longer, KeepNewest(), input_budget=3500, fact=NAME).gone_at_turn
    with pytest.raises(AssertionError, match="keep-newest drops it in turn"):
        assert_survives(CHAT, Assembler(window=4000, max_output_tokens=500, counter=counter), NAME)


def test_dicts_and_facts_that_come_later_or_twice():
    chat = [{"role": "system", "content": f"{NAME} is no memory here."}]
    for turn in range(8):
        fact = f" I am {NAME}." if turn in (2, 4) else ""
        chat += [{"role": "user", "content": f"Question {turn}.{fact}"}, {"role": "assistant", "content": "a" * 400}]
    survival = assert_survives(chat, lambda messages: messages, NAME, input_budget=800)
    assert survival.said == 3
    assert survival.drop_turn > 6
    with pytest.raises(AssertionError, match="said in turn 3"):
        assert_survives(chat, LastN(1), NAME, input_budget=800)


def test_images_and_tools_do_no_harm():
    chat = [Message("user", [{"type": "text", "text": f"I am {NAME}."}]), Message("assistant", "Hello.")]
    chat += [Message("user", "And?"), Message("assistant", "So.")]
    assert assert_survives(chat, lambda messages: messages, NAME, input_budget=200).said == 1


@pytest.mark.parametrize(
    ("chat", "words"),
    [
        ([Message("system", NAME), Message("user", "hi")], "no message of the chat says"),
        ([Message("user", NAME)], "at least one turn without"),
        (["hello"], "message 0"),
    ],
)
def test_a_chat_that_cannot_be_tested_is_refused(chat, words):
    with pytest.raises(InputError, match=words):
        assert_survives(chat, KeepNewest(), NAME, input_budget=1000)
