"""Rows of the assembler: beside the least that fitting a chat can cost, beside a render, and beside other libraries.

The chat has messages of 58 tokens, all different; it is fitted into 8,000 tokens (o200k_base) at every turn. Peers are
installed by `make extras`; one that is missing is named, and its row is left out.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from contextlab import BPE
from contextlab.assembler import Assembler
from contextlab.render import ChatML

BUDGET = 8_000
COUNTER = BPE("o200k_base")
WORDS = """the a of to in and that river mountain planning station budget token window history because through another
message question answer simple number letter garden""".split()

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "false")


def chat_of(turns):
    """Return turns of two messages, each of about 58 tokens."""
    rng = random.Random(20261105)
    texts = (f"{i} {' '.join(rng.choices(WORDS, k=56))}." for i in range(2 * turns))
    return [{"role": ("user", "assistant")[i % 2], "content": text} for i, text in enumerate(texts)]


def floor(chat):
    """Count each message once and move a window: the work that nobody can save."""
    encode = COUNTER._encoding().encode_ordinary
    units, total, first, kept = [], 0, 0, 0
    for i in range(0, len(chat), 2):
        for message in chat[i : i + 2]:
            units.append(len(encode(message["content"])))
            total += units[-1]
        while total > BUDGET:
            total -= units[first]
            first += 1
        kept += len(units) - first
    return kept


def fitted(chat):
    """Fit the chat into the budget at every turn."""
    assembler = Assembler(window=BUDGET, max_output_tokens=0, counter=COUNTER)
    kept = 0
    for i in range(0, len(chat), 2):
        assembler.append(*chat[i : i + 2])
        kept += len(assembler.request().messages)
    return kept


def per_turn(messages):
    """Return a function that appends a message to a chat of so many and makes a request, again and again."""
    assembler = Assembler(window=BUDGET, max_output_tokens=0, counter=COUNTER)
    chat = chat_of(messages)
    assembler.append(*chat[:messages])
    more = iter(chat[messages:] * 1_000)

    def turn():
        assembler.append(next(more))
        return assembler.request().messages

    return turn


def cached_or_rendered():
    """Return the request of 100 messages that are counted already, and the count of its rendered text."""
    template = ChatML(COUNTER)
    assembler = Assembler(window=BUDGET, max_output_tokens=0, counter=COUNTER, template=template)
    assembler.append(*chat_of(50), {"role": "user", "content": "And now?"})
    messages = assembler.request().messages
    return assembler.request, lambda: template.count(template.text(messages))


def checked_or_bare(template):
    """Return the count of a request that has to be rendered, and bare tiktoken on the same text."""
    messages = [{"role": "system", "content": "Be brief."}, *chat_of(50), {"role": "user", "content": "And now?"}]
    text = template.render(messages)
    encode = COUNTER._encoding().encode
    return lambda: template.request(messages), lambda: encode(text, allowed_special="all")


def _exactly(messages):
    return 3 + sum(4 + COUNTER(message.content) for message in messages)


@cache
def _units(text):
    return 4 + COUNTER(text)


def _memoised(messages):
    return 3 + sum(_units(message.content) for message in messages)


def langchain(turns, counter):
    from langchain_core.messages import AIMessage, HumanMessage, trim_messages

    chat = [(HumanMessage, AIMessage)[i % 2](one["content"], id=str(i)) for i, one in enumerate(chat_of(turns))]

    def fit():
        _units.cache_clear()
        for stop in range(2, len(chat) + 1, 2):
            trim_messages(chat[:stop], max_tokens=BUDGET, token_counter=counter, strategy="last", start_on="human")

    return fit


def llama_index(turns):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    chat = [ChatMessage(role=one["role"], content=one["content"]) for one in chat_of(turns)]
    encode = COUNTER._encoding().encode

    def fit():
        memory = ChatMemoryBuffer.from_defaults(token_limit=BUDGET, tokenizer_fn=encode)
        for i in range(0, len(chat), 2):
            memory.put_messages(chat[i : i + 2])
            memory.get()

    return fit


def haystack(turns):
    from haystack.dataclasses import ChatMessage
    from haystack.hooks.compaction import SlidingWindowCompactor
    from haystack.token_counters import TiktokenCounter

    make = {"user": ChatMessage.from_user, "assistant": ChatMessage.from_assistant}
    chat = [make[one["role"]](one["content"]) for one in chat_of(turns)]
    compactor, counter = SlidingWindowCompactor(), TiktokenCounter("o200k_base")

    def fit():
        kept = []
        for i in range(0, len(chat), 2):
            kept += chat[i : i + 2]
            kept = compactor.compact(kept, BUDGET, counter) or kept

    return fit


def in_a_thread(coroutine):
    """Run a coroutine to its end; in a thread, since whoever measures may have an event loop of its own."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: asyncio.run(coroutine())).result()


def agent_framework(turns):
    from agent_framework import Message
    from agent_framework._compaction import (
        TruncationStrategy,
        annotate_message_groups,
        annotate_token_counts,
        included_messages,
    )

    class Tokenizer:
        def count_tokens(self, text):
            return COUNTER(text)

    chat, tokenizer = chat_of(turns), Tokenizer()
    strategy = TruncationStrategy(max_n=BUDGET, compact_to=BUDGET, tokenizer=tokenizer)

    async def turns_of():
        messages = []
        for i in range(0, len(chat), 2):
            messages += [Message(role=one["role"], contents=[one["content"]]) for one in chat[i : i + 2]]
            annotate_message_groups(messages)
            annotate_token_counts(messages, tokenizer=tokenizer)
            await strategy(messages)
            included_messages(messages)

    return lambda: in_a_thread(turns_of)


PEERS = (  # name, package, turns (fewer where 500 take minutes), limit, the function that prepares it
    ("LangChain, same counter", "langchain_core", 500, 0.01, lambda turns: langchain(turns, _exactly)),
    ("LangChain, memoised", "langchain_core", 500, 0.2, lambda turns: langchain(turns, _memoised)),
    ("LlamaIndex", "llama_index", 100, None, llama_index),
    ("Haystack", "haystack", 500, None, haystack),
    ("Agent Framework", "agent_framework", 200, None, agent_framework),
)


def peers():
    """Return those peers that are installed, and say which are not."""
    missing = sorted({package for _, package, *_ in PEERS if importlib.util.find_spec(package) is None})
    if missing:
        print(f"bench: no rows about {', '.join(missing)}, which `make extras` installs", file=sys.stderr)
    return [peer for peer in PEERS if peer[1] not in missing]
