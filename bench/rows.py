"""The rows of the bench: each sets one thing beside another that does the same work, or none.

To add a row, add a `Row` to `rows`. Its two sides are commands (lists of words) or functions without arguments: the
two themselves, or a function that prepares what they need and returns them, so that only their work is measured.
"""

from __future__ import annotations

import os
import random
import sys
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import assembling
import pages
import reading
import tracing

from contextlab import forecast
from contextlab.keep import KeepNewest, newest_run
from contextlab.prefix import PrefixCache
from contextlab.render import ChatML, PlainRule, SystemInLastUser, Template
from contextlab.render.templates import SYSTEM_IN_LAST_USER
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable

    Side = list[str] | Callable[[], object]

PYTHON = sys.executable
CONTEXTLAB = str(Path(PYTHON).with_name("contextlab"))
RULE = PlainRule(WordPieces())


@dataclass
class Row:
    """Two sides, run in turn; the ratio is what the first, the subject, takes over what the second takes."""

    name: str
    shows: str  # in words: what the ratio compares
    sides: tuple[Side, Side] | Callable[[], tuple[Side, Side]]
    limit: float | None = None  # the ratio is at most this; None: there is no limit
    stretch: float | None = None  # what we would like it to be
    seconds: float | None = None  # the subject takes at most this
    megabytes: float | None = None  # the subject, a command that prints its peak memory, takes at most this
    pairs: int = 25
    same: bool = False  # both sides are functions that return equal results


def rows(quick: bool = False) -> list[Row]:
    """Return all rows; ``quick`` makes the chats short, to show that every row runs."""
    nothing = [PYTHON, "-c", "pass"]
    short, long = (20, 100) if quick else (1_000, 5_000)
    longest = 2_000 if quick else 100_000
    usual = 20 if quick else 200
    million = 20_000 if quick else 1_000_000
    export = 1 if quick else float(os.environ.get("CONTEXTLAB_BENCH_MB", 100))  # 1000 for the size of the claim
    return [
        Row(
            "lab",
            "the whole command `contextlab lab` / an empty Python",
            ([CONTEXTLAB, "lab"], nothing),
            limit=8,
            stretch=6,
        ),
        Row(
            "lab, five times as long",
            f"`contextlab lab` with {long:,} turns / with {short:,}",
            ([CONTEXTLAB, "lab", "--turns", str(long)], [CONTEXTLAB, "lab", "--turns", str(short)]),
            limit=5,
            pairs=7,
        ),
        Row(
            "import",
            "`import contextlab` / an empty Python",
            ([PYTHON, "-c", "import contextlab"], nothing),
            limit=3,
        ),
        Row(
            "long replay",
            f"{longest:,} turns replayed, counted before / a loop that adds up the same counts",
            lambda: _replay_or_add(longest),
            limit=150,
            seconds=10,
            pairs=9,
        ),
        Row(
            "long replay, counted",
            f"{longest:,} turns counted and replayed / counted only",
            lambda: _replay_or_count(longest),
            limit=2,
            seconds=20,
            pairs=3,
        ),
        Row(
            "count once",
            f"keep-newest over {usual} turns: each message counted once / counted again at each request",
            lambda: _count_once_or_again(usual),
            limit=0.1,
            pairs=9,
            same=True,
        ),
        Row(
            "drop turn",
            f"the exact drop turn in {short:,} turns: by bisection / by a replay",
            lambda: _bisect_or_replay(short),
            limit=0.05,
            same=True,
        ),
        Row(
            "prefix cache",
            f"{million:,} tokens of 20 growing chats in a pool of 2,000 blocks / a hash chain in an ordered dict",
            lambda: _pool_or_chain(million),
            limit=1 / 0.7,
            pairs=9,
        ),
        Row(
            "prefix cache, four times as long",
            f"{4 * million:,} tokens / {million:,}",
            lambda: _pool_of(4 * million, million),
            limit=6,
            pairs=5,
        ),
        *rows_of_the_assembler(quick),
        Row(
            "big export",
            f"an export of {export:g} MB read by contextlab.histories / by json.load, whole",
            lambda: reading.sides(export),
            limit=1 / 0.7,
            megabytes=100,
            pairs=5,
        ),
        Row(
            "trace",
            f"a chat of {usual * 10:,} turns read, counted and traced in three windows / its texts encoded once",
            lambda: tracing.traced_or_counted(usual * 10),
            limit=50,
            pairs=5,
        ),
        Row(
            "trace, five times as long",
            f"{usual * 50:,} turns read, counted and traced / {usual * 10:,}",
            lambda: (tracing.traced_or_counted(usual * 50)[0], tracing.traced_or_counted(usual * 10)[0]),
            limit=6.5,
            pairs=3,
        ),
        *rows_of_pages(quick),
    ]


def rows_of_the_assembler(quick: bool) -> list[Row]:
    """Return the rows of the assembler, and one for each other library that is installed."""
    turns = 20 if quick else 500
    chat, long = assembling.chat_of(turns), assembling.chat_of(10 * turns)
    few, many = (10, 100) if quick else (100, 10_000)
    return [
        Row(
            "assembler",
            f"a chat of {turns} turns fitted at every turn / each message counted once and a window moved",
            (lambda: assembling.fitted(chat), lambda: assembling.floor(chat)),
            limit=2,
            pairs=9,
        ),
        Row(
            "assembler, ten times as long",
            f"{10 * turns:,} turns fitted / {turns}",
            (lambda: assembling.fitted(long), lambda: assembling.fitted(chat)),
            limit=11,
            pairs=5,
        ),
        Row(
            "assembler, one more message",
            f"a message and a request in a chat of {many:,} messages / of {few}",
            lambda: (assembling.per_turn(many), assembling.per_turn(few)),
            limit=1.5,
        ),
        Row(
            "cached sum",
            "a request of 100 messages counted before / tokenizing its rendered text",
            assembling.cached_or_rendered,
            limit=1 / 30,
        ),
        Row(
            "rendered check",
            "100 messages as text, ChatML with its markers as letters, counted / bare tiktoken on that text",
            lambda: assembling.checked_or_bare(ChatML(assembling.COUNTER, special_tokens=False)),
            limit=1.3,
        ),
        Row(
            "rendered check, moved instructions",
            "100 messages whose instructions move, as text, counted / bare tiktoken on that text",
            lambda: assembling.checked_or_bare(SystemInLastUser(assembling.COUNTER)),
            limit=1.3,
        ),
        Row(
            "rendered check, sandboxed",
            "100 messages rendered by Jinja in the sandbox and counted / bare tiktoken on that text",
            lambda: assembling.checked_or_bare(Template(SYSTEM_IN_LAST_USER, assembling.COUNTER)),
        ),
        *(
            Row(
                name,
                f"a chat of {20 if quick else turns} turns fitted at every turn, by the assembler / by {name}",
                partial(_beside, prepare, 20 if quick else turns),
                limit=None if quick else limit,
                pairs=2,
            )
            for name, _, turns, limit, prepare in assembling.peers()
        ),
    ]


def _beside(prepare, turns):
    chat = assembling.chat_of(turns)
    return lambda: assembling.fitted(chat), prepare(turns)


def rows_of_pages(quick: bool) -> list[Row]:
    """Return the rows that need the built site and Chromium, or none, and say so."""
    if lacks := pages.missing():
        print(f"bench: no rows about pages, because this machine lacks {lacks}", file=sys.stderr)
        return []
    return [
        Row(
            "first widget",
            "opening chapter 05 until a widget is alive / until it is loaded without the widgets' scripts",
            pages.no_browser if quick else pages.first_widget,
            seconds=0.8,
            pairs=9,
        ),
        Row(
            "slider step",
            "a step of the drop-turn explorer until the page is laid out / a question to the same page",
            pages.no_browser if quick else pages.slider_step,
            seconds=0.05,
        ),
    ]


def _repeated_chat(turns):
    """Return a chat of this many turns, the same hundred over and over: writing it would take longer than the row."""
    instructions, *said = scripted_chat(turns=100)
    return [instructions, *said * (turns // 100)]


def _replay_or_add(turns):
    chat = CountedChat(_repeated_chat(turns), RULE)
    costs = [chat.history.units(i, i + 1) for i in range(len(chat.history))]

    def add_up():
        total = 0
        for units in costs:
            total += units
        return total

    return lambda: replay(chat, KeepNewest(), input_budget=8_000, fact=NAME), add_up


def _replay_or_count(turns):
    messages = _repeated_chat(turns)
    return (
        lambda: replay(messages, KeepNewest(), input_budget=8_000, rule=RULE, fact=NAME),
        lambda: [RULE.message(message) for message in messages],
    )


def _count_once_or_again(turns):
    instructions, *said = scripted_chat(turns)
    requests = range(0, len(said), 2)
    room = 40 * turns  # about a sixth of the chat

    def once():
        chat = CountedChat([instructions, *said], RULE)
        return [newest_run(chat.history.prefix, room, current + 1) for current in requests]

    def again():
        starts = []
        for current in requests:
            start, left = current + 1, room
            while start and (units := RULE.message(said[start - 1])) <= left:
                start, left = start - 1, left - units
            starts.append(start)
        return starts

    return once, again


def _bisect_or_replay(turns):
    chat = CountedChat(scripted_chat(turns), RULE)
    room = 40 * turns
    budget = room + sum(chat.fixed.values())
    return (
        lambda: forecast.drop_turn(chat, room),
        lambda: replay(chat, KeepNewest(), input_budget=budget, fact=NAME).gone_at_turn,
    )


def _growing_chats(tokens):
    """Return the prompts of 20 chats that begin alike and grow; together they have at least so many tokens."""
    rng = random.Random(20261105)
    start = [rng.randrange(200_000) for _ in range(300)]
    chats = [list(start) for _ in range(20)]
    prompts, sent = [], 0
    while sent < tokens:
        chat = chats[min(19, int(rng.expovariate(0.2)))]  # some speak more often than others
        chat += (rng.randrange(200_000) for _ in range(rng.randrange(60, 160)))
        prompts.append(list(chat))
        sent += len(chat)
        if len(chat) > 5_000:
            chat[:] = start
    return prompts


def _pool_or_chain(tokens):
    prompts = _growing_chats(tokens)

    def pool():
        cache = PrefixCache(2_000)
        for prompt in prompts:
            cache.request(prompt)

    def chain():
        cached = OrderedDict()
        for prompt in prompts:
            links, link = [], 0
            for start in range(0, len(prompt) - 15, 16):
                link = hash((link, tuple(prompt[start : start + 16])))
                links.append(link)
            for link in links:  # the lookup
                if link not in cached:
                    break
            for link in reversed(links):
                if link in cached:
                    cached.move_to_end(link)
                else:
                    if len(cached) >= 2_000:
                        cached.popitem(last=False)
                    cached[link] = None

    return pool, chain


def _pool_of(many, few):
    sides = []
    for tokens in (many, few):
        prompts = _growing_chats(tokens)

        def pool(prompts=prompts):
            cache = PrefixCache(2_000)
            for prompt in prompts:
                cache.request(prompt)

        sides.append(pool)
    return tuple(sides)
