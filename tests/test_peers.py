"""Other libraries beside us, where they are installed (`make extras`)."""

import importlib.util
import random

import pytest

from contextlab import assemble
from contextlab.adapters import from_langchain, from_llama_index, to_langchain, to_llama_index
from contextlab.render import OpenAIRecipe
from contextlab.tokens import CharsPerToken

RULE = OpenAIRecipe(CharsPerToken(1))


def installed(*names):
    """Skip, and say which package is missing, unless all of them are here."""
    missing = [name.replace("_", "-") for name in names if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"a peer is not installed: {', '.join(missing)} (make extras)")


def plain_chat(rng, turns):
    chat = [{"role": "system", "content": "Be brief."}]
    for _ in range(turns):
        chat += [{"role": "user", "content": "u" * rng.randint(0, 30)}]
        chat += [{"role": "assistant", "content": "a" * rng.randint(0, 60)}]
    return [*chat, {"role": "user", "content": "last"}]


def test_langchain_trims_a_plain_chat_to_the_same_messages():
    """With the system message kept and a start on a question, its rules are ours, as long as the question fits.

    The reply start stays out of its counter: it would be charged twice.
    """
    installed("langchain_core")
    from langchain_core.messages import messages_from_dict, trim_messages

    rng = random.Random(20261105)
    for _ in range(30):
        chat = plain_chat(rng, rng.randint(0, 8))
        objects = messages_from_dict(to_langchain(chat))
        least = RULE.request([chat[0], chat[-1]])
        for window in sorted({least, RULE.request(chat), *(rng.randint(least, RULE.request(chat)) for _ in range(10))}):
            trimmed = trim_messages(
                objects,
                max_tokens=window - RULE.reply_start,
                token_counter=lambda some: sum(map(RULE.message, from_langchain(some))),
                strategy="last",
                include_system=True,
                start_on="human",
            )
            made = assemble(chat, window=window, max_output_tokens=0, counter=CharsPerToken(1))
            assert from_langchain(trimmed) == made.messages


CALL = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": '{"zone": "UTC"}'}}
CHAT = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "Time?", "name": "ada"},
    {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "9:00"},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "And this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        ],
    },
]


def test_langchain_reads_what_we_write_and_we_read_its_objects():
    installed("langchain_core")
    from langchain_core.messages import AIMessage, messages_from_dict

    objects = messages_from_dict(to_langchain(CHAT))
    assert isinstance(objects[2], AIMessage) and objects[2].tool_calls[0]["args"] == {"zone": "UTC"}
    assert from_langchain(objects) == CHAT


def test_llama_index_reads_what_we_write_and_we_read_its_objects():
    installed("llama_index")
    from llama_index.core.llms import ChatMessage

    objects = [ChatMessage.model_validate(one) for one in to_llama_index(CHAT)]
    assert objects[1].content == "Time?"
    assert from_llama_index(objects) == CHAT
