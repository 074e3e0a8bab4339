"""Prefix caching: which part of a request need not be computed again, and what of it a provider bills.

`PrefixCache` reuses blocks of tokens as vLLM's automatic prefix caching does (docs/design/prefix_caching.md). A policy
decides only how a prompt is built; the cache never changes. `Provider` applies the documented rules of a service to
the ideal reuse of `contextlab.cost.usage`.
"""

from __future__ import annotations

from collections import deque, namedtuple
from itertools import islice

from ._data import read_table, row_named
from .budget import _whole
from .cost import Prices, Usage, usage
from .cost import total as total_usage
from .errors import BudgetError, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from .replay import Trace

FREE_ORDERS = ("tail", "unhashed first")


class Served(namedtuple("Served", "prompt_tokens hit_tokens output_tokens new_blocks evicted", defaults=(0, 0, 0))):
    """What a request found: its prompt, how much of it was cached, and what it cost the cache.

    ``new_blocks``: blocks taken from the pool. ``evicted``: how many of them held something, which they lost.

    >>> Served(prompt_tokens=20, hit_tokens=16).computed_tokens
    4
    """

    __slots__ = ()

    @property
    def computed_tokens(self) -> int:
        """The tokens of the prompt that had to be computed."""
        return self.prompt_tokens - self.hit_tokens


def total(served: Iterable[Served]) -> Served:
    """Return the sum of several requests.

    >>> total([Served(12, 0), Served(20, 12)])
    Served(prompt_tokens=32, hit_tokens=12, output_tokens=0, new_blocks=0, evicted=0)
    """
    return Served(*map(sum, list(zip(*served, strict=True)) or [()] * 5))


def hit_rate(served: Iterable[Served]) -> float:
    """Return hit tokens / prompt tokens over several requests; 0 when there are none.

    A rate alone says little: a shorter prompt can have a lower one and still be less work. Look at
    `Served.computed_tokens` too.

    >>> round(hit_rate([Served(12, 0), Served(20, 12)]), 3)
    0.375
    """
    whole = total(served)
    return whole.hit_tokens / whole.prompt_tokens if whole.prompt_tokens else 0.0


class PrefixCache:
    """A pool of blocks that keeps the keys and values of past requests, and finds them again by their tokens.

    A full block is known by its tokens and by the block before it, so that a hit is a hit from the first token on. (An
    engine hashes this chain; here each link gets a number, and nothing can collide.) A lookup goes from left to right
    and stops at the first miss. It never covers the last token of a prompt: its result is needed to go on. Hit blocks
    are taken out of the queue of free blocks before new ones are taken from its head; a block that is taken loses
    what it held. The blocks of a finished request go to the tail of the queue, the deepest first, so that the deepest
    is evicted first. Blocks in use are never evicted. Two blocks may hold the same.

    Args:
        blocks: blocks in the pool; None: as many as needed, and nothing is ever evicted.
        block_size: tokens a block.
        free_order: "tail" puts all blocks of a finished request at the tail of the queue (vLLM's design page);
            "unhashed first" puts those that are not full at its head (newer code).
        cache_output: whether generated tokens are cached when their blocks fill. False is right where the next prompt
            renders a reply differently from how it was generated, as templates do that drop old reasoning.
        spare_last: whether the last token of a prompt is always computed. An engine must; False shows what that costs.

    Raises:
        InputError: a number is no whole number above 0, or the order is not known.

    >>> cache = PrefixCache(block_size=4)
    >>> [cache.request(range(8)).hit_tokens, cache.request(range(9)).hit_tokens]
    [0, 8]
    """

    def __init__(
        self,
        blocks: int | None = None,
        block_size: int = 16,
        *,
        free_order: str = "tail",
        cache_output: bool = True,
        spare_last: bool = True,
    ) -> None:
        self.blocks = None if blocks is None else _whole("blocks", blocks, least=1)
        self.block_size = _whole("block_size", block_size, least=1)
        if free_order not in FREE_ORDERS:
            raise InputError(f"unknown free order {free_order!r}; known: {', '.join(FREE_ORDERS)}")
        self.free_order = free_order
        self.cache_output = cache_output
        self.spare_last = spare_last
        self._links = {}  # (number of the link before, tokens) -> number of the link
        self._holder = []  # link -> the block that holds it, or -1
        self._twins = {}  # link -> further blocks that hold it, oldest first
        self._link_of = []  # block -> its link, or -1
        # A block belongs to the request that took it last. A finished request is one entry of the queue: its number
        # and its blocks, of which those still count that belong to it. So a hit costs one assignment a block.
        self._owner = []  # block -> number of the request that took it last
        self._queue = deque()
        self._queued = 0  # blocks in all entries of the queue, those that no longer count included
        self._spare = []  # blocks without a link that are used again first, the last one first
        self._running = {}  # number -> request that holds blocks now
        self._in_use = 0
        self._requests = 0

    def request(self, prompt: Iterable[Hashable], output: Sequence[Hashable] = (), salt: Hashable = None) -> Served:
        """Serve a request from start to finish: look up, compute, generate, free; return what was found.

        Args:
            prompt: the tokens of the prompt, at least one; any hashable values, ids as a rule.
            output: the tokens of the reply. The last has no keys and values yet, so it is not cached.
            salt: requests with different salts share nothing (a LoRA adapter, a tenant).

        Raises:
            InputError: the prompt is empty, or a token cannot be hashed.
            BudgetError: the pool has too few free blocks.
        """
        running = self.start(prompt, salt)
        if len(output) > 1:
            running.append(islice(output, len(output) - 1))
        running.finish()
        return running.served._replace(output_tokens=len(output))

    def start(self, prompt: Iterable[Hashable], salt: Hashable = None) -> Running:
        """Look up a prompt and take blocks for the rest of it; the request holds them until it is finished.

        Arguments and errors are those of `request`.
        """
        tokens = prompt if isinstance(prompt, list | tuple) else list(prompt)
        size = self.block_size
        length = len(tokens)
        if not length:
            raise InputError("a prompt has at least one token")
        findable = (length - self.spare_last) // size  # full blocks, without the last token
        holder = self._holder
        links = []
        try:
            link = -1 if salt is None else self._link(-1, salt)
            known = self._links.setdefault
            for chunk in zip(*[iter(tokens)] * size, strict=False):  # the full blocks; `_link` without its call
                new = len(holder)
                link = known((link, chunk), new)
                if link == new:
                    holder.append(-1)
                links.append(link)
        except TypeError:
            raise InputError("a token must be hashable, such as a number or a text") from None
        table = [holder[found] for found in links[:findable]]
        if -1 in table:  # nothing behind the first miss is a hit
            del table[table.index(-1) :]
        hits = len(table)
        needed = -(-length // size) - hits
        self._reserve(needed, table)

        number = self._requests = self._requests + 1
        owner = self._owner
        for block in table:
            owner[block] = number
        evicted = self._take(needed, number, table)
        for position in range(hits, len(links)):
            self._hold(links[position], table[position])
        served = Served(length, hits * size, 0, needed, evicted)
        running = self._running[number] = Running(self, number, table, link, tokens[len(links) * size :], served)
        return running

    def free_blocks(self) -> list[int]:
        """Return the free blocks of a bounded pool in the order in which they will be taken."""
        if self.blocks is None:
            raise InputError("a pool without a bound has no list of free blocks")
        queued = [block for number, table in self._queue for block in reversed(table) if self._owner[block] == number]
        return [*reversed(self._spare), *range(len(self._owner), self.blocks), *queued]

    def cached_blocks(self) -> list[int]:
        """Return the blocks that a lookup can find, in the order of their numbers."""
        return sorted(block for block in self._holder if block >= 0)

    def _link(self, before, chunk):
        """Return the number of a link of the chain, a new one at its first sight."""
        new = len(self._holder)
        link = self._links.setdefault((before, chunk), new)
        if link == new:
            self._holder.append(-1)
        return link

    def _hold(self, link, block):
        """Note that ``block`` is full and holds this link."""
        self._link_of[block] = link
        if self._holder[link] < 0:
            self._holder[link] = block
        else:
            self._twins.setdefault(link, []).append(block)

    def _reserve(self, needed, hit_blocks=()):
        """Count the blocks that come into use, or say that there are not enough."""
        if self.blocks is None:
            return
        owner, running = self._owner, self._running
        shared = sum(owner[block] in running for block in hit_blocks) if running else 0
        newly = needed + len(hit_blocks) - shared
        if newly > self.blocks - self._in_use:
            parts = {"in use": self._in_use, "needed": newly}
            raise BudgetError("the pool has too few free blocks for the request", self.blocks, parts)
        self._in_use += newly

    def _take(self, needed, number, table):
        """Add ``needed`` free blocks to a table; return how many of them lost what they held."""
        owner, link_of, spare, queue = self._owner, self._link_of, self._spare, self._queue
        while needed and spare:
            block = spare.pop()
            owner[block] = number
            table.append(block)
            needed -= 1
        fresh = needed if self.blocks is None else min(needed, self.blocks - len(owner))
        if fresh:
            table.extend(range(len(owner), len(owner) + fresh))
            owner.extend([number] * fresh)
            link_of.extend([-1] * fresh)
            needed -= fresh
        evicted = 0
        while needed:
            freed, blocks = queue[0]
            while blocks and needed:
                block = blocks.pop()  # the deepest first
                self._queued -= 1
                if owner[block] != freed:
                    continue
                owner[block] = number
                table.append(block)
                needed -= 1
                link = link_of[block]
                if link >= 0:
                    evicted += 1
                    link_of[block] = -1
                    self._forget(link, block)
            if not blocks:
                queue.popleft()
        return evicted

    def _forget(self, link, block):
        twins = self._twins.get(link)
        if twins is None:
            self._holder[link] = -1
            return
        if self._holder[link] == block:
            self._holder[link] = twins.pop(0)
        else:
            twins.remove(block)
        if not twins:
            del self._twins[link]

    def _free(self, number, table):
        """Give the blocks of a finished request back, but for those that a running one shares."""
        running, owner = self._running, self._owner
        del running[number]
        if not running:
            self._in_use = 0
        else:
            for other in running.values():
                for block in other.table:
                    if owner[block] == number:
                        owner[block] = other.number
            self._in_use -= sum(owner[block] == number for block in table)
        if self.blocks is None:
            return
        if self.free_order != "tail":
            while table and self._link_of[table[-1]] < 0:  # only the last blocks of a request are not full
                self._spare.append(table.pop())
        self._queue.append((number, table))
        self._queued += len(table)
        if self._queued > 4 * self.blocks + 1024:
            self._tidy()

    def _tidy(self):
        """Drop the blocks of the queue that no longer count: once in a while, so that the queue stays small."""
        owner = self._owner
        entries = ((number, [block for block in table if owner[block] == number]) for number, table in self._queue)
        self._queue = deque((number, table) for number, table in entries if table)
        self._queued = sum(len(table) for _, table in self._queue)


class Running:
    """A request that holds blocks of a `PrefixCache`: its ``table`` of blocks and what it was ``served``.

    >>> cache = PrefixCache(blocks=10, block_size=4)
    >>> running = cache.start(range(15))
    >>> running.append([15, 16])
    >>> running.table, cache.cached_blocks()
    ([0, 1, 2, 3, 4], [0, 1, 2, 3])
    >>> running.finish()
    >>> cache.free_blocks()
    [5, 6, 7, 8, 9, 4, 3, 2, 1, 0]
    """

    __slots__ = ("_cache", "_link", "_rest", "number", "served", "table")

    def __init__(self, cache, number, table, link, rest, served):
        self._cache = cache
        self.number = number
        self.table = table
        self.served = served
        self._link = link  # of the last full block
        self._rest = list(rest)  # tokens of the block that is not full

    def append(self, tokens: Iterable[Hashable]) -> None:
        """Add generated tokens whose keys and values are stored; their blocks are cached as they fill.

        Raises:
            BudgetError: the pool has too few free blocks; the tokens before it are added.
        """
        cache, size = self._cache, self._cache.block_size
        rest = self._rest
        for token in tokens:
            if not rest:
                cache._reserve(1)
                evicted = cache._take(1, self.number, self.table)
                served = self.served
                self.served = served._replace(new_blocks=served.new_blocks + 1, evicted=served.evicted + evicted)
            rest.append(token)
            if len(rest) == size:
                if cache.cache_output:
                    self._link = cache._link(self._link, tuple(rest))
                    cache._hold(self._link, self.table[-1])
                rest.clear()

    def finish(self) -> None:
        """Give the blocks back; what they hold stays findable until they are taken again.

        Raises:
            InputError: the request was finished before.
        """
        if self.number not in self._cache._running:
            raise InputError("the request is finished already")
        self._cache._free(self.number, self.table.copy())


def prompts(trace: Trace) -> Iterator[tuple[list[int], list[int]]]:
    """Yield, for each request of a trace, the tokens of its prompt and of its reply, as numbers that stand for them.

    A message of u units becomes u numbers: the same for the same message, and different for any two that differ. The
    first of them, as many as the reply start has units, are the opening of the role, as in a chat template: a prompt
    ends with the opening of the assistant, and the reply continues it. The reply to the last message may be empty.

    Args:
        trace: what `contextlab.replay.replay` returned.
    """
    chat = trace.chat
    history = chat.history
    opening_units = chat.fixed["reply start"]
    numbers = {}
    made = {}
    count = 0

    def fresh(units):
        nonlocal count
        count += units
        return list(range(count - units, count))

    def opening(role):
        if role not in numbers:
            numbers[role] = fresh(opening_units)
        return numbers[role]

    def tokens(message, units):
        key = (message.role, repr(message.content), message.name, repr(message.tool_calls), message.tool_call_id)
        if key not in made:
            head = opening(message.role)[:units]
            made[key] = head + fresh(units - len(head))
        return made[key]

    spoken = [tokens(message, history.units(i, i + 1)) for i, message in enumerate(history.messages)]
    instructions = [tokens(message, chat.rule.message(message)) for message in chat.instructions]
    ends = [*chat.requests[1:], len(history)]
    for kept, current, end in zip(trace.kept, chat.requests, ends, strict=True):
        header, footer = (
            [tokens(message, history.cost(message)) for message in part] for part in (kept.header, kept.footer)
        )
        kept_parts = [spoken[i] for i in kept.indices]
        parts = [*instructions, *header, *kept_parts[:-1], *footer, *kept_parts[-1:]]
        prompt = [number for part in parts for number in part] + opening("assistant")
        reply = [number for i in range(current + 1, end) for number in spoken[i]]
        yield prompt, reply[opening_units:]


def serve(trace: Trace, cache: PrefixCache) -> list[Served]:
    """Return what a cache finds for each request of a trace, one after the other.

    >>> from contextlab import LowWater, PlainRule, WordPieces, scripted_chat
    >>> from contextlab.replay import replay
    >>> trace = replay(scripted_chat(turns=60), LowWater(), input_budget=4000, rule=PlainRule(WordPieces()))
    >>> round(hit_rate(serve(trace, PrefixCache())), 2)
    0.91
    """
    return [cache.request(prompt, reply) for prompt, reply in prompts(trace)]


def as_usage(served: Iterable[Served]) -> list[Usage]:
    """Return requests as usages of `contextlab.cost`, so that prices can bill them.

    >>> as_usage([Served(12, 0), Served(20, 12)])[1].computed
    8
    """
    return [
        Usage(turn, one.prompt_tokens, one.hit_tokens, 0, one.output_tokens) for turn, one in enumerate(served, start=1)
    ]


class Reuse(namedtuple("Reuse", "policy sent hit_rate computed billed messages drop_turn")):
    """What a policy costs over a whole chat: one row of a table that grows from chapter to chapter.

    ``sent``: units of all requests. ``hit_rate``: the share of them that was cached, from 0 to 1. ``computed``: the
    units that were not. ``billed``: the price of the input, in units at the full price. ``messages``: the mean number
    of messages in a request. ``drop_turn``: the first request without the fact; None: it never leaves.
    """

    __slots__ = ()


def reuse(
    traces: Mapping[str, Trace], *, block_size: int | None = None, cached_price: float = 0.1, turns: int | None = None
) -> list[Reuse]:
    """Return what each policy sends, how much of it is cached, and what that costs: one row a trace.

    Hit rate and computed units stand side by side because each alone misleads: a larger request with the same new
    part has a higher rate.

    Args:
        traces: name of the policy -> what `contextlab.replay.replay` returned.
        block_size: tokens in a block of a `PrefixCache` without a bound; None: the ideal reuse of
            `contextlab.cost.usage`, message by message.
        cached_price: price of a cached unit; an uncached one is 1.
        turns: count the first so many requests only.

    Raises:
        InputError: there is no trace.

    >>> from contextlab import KeepNewest, LowWater, PlainRule, WordPieces, scripted_chat
    >>> from contextlab.replay import CountedChat, replay
    >>> chat = CountedChat(scripted_chat(), PlainRule(WordPieces()))
    >>> policies = {"keep-newest": KeepNewest(), "low-water mark": LowWater()}
    >>> traces = {name: replay(chat, policy, input_budget=4000) for name, policy in policies.items()}
    >>> [(row.computed, round(row.messages, 2)) for row in reuse(traces)]
    [(708383, 32.95), (48835, 24.7)]
    """
    if not traces:
        raise InputError("there is no policy to compare: give at least one trace")
    prices = Prices(uncached=1, cached=cached_price)
    rows = []
    for policy, trace in traces.items():
        used = usage(trace) if block_size is None else as_usage(serve(trace, PrefixCache(block_size=block_size)))
        whole = total_usage(used[:turns])._replace(output=0)
        counts = [row.messages_kept for row in trace.rows[:turns]]
        billed = prices.bill(whole, per=1)
        mean = sum(counts) / len(counts)
        rows.append(Reuse(policy, whole.sent, whole.hit_rate, whole.computed, billed, mean, trace.gone_at_turn))
    return rows


def reuse_table(rows: Iterable[Reuse]) -> str:
    """Return rows of `reuse` as a table of text, the numbers aligned.

    >>> print(reuse_table([Reuse("keep-newest", 747934, 0.0529, 708383, 712338.1, 32.95, 19)]))
    policy          sent  cached  computed   billed  messages  drop turn
    keep-newest  747,934   5.3 %   708,383  712,338      33.0         19
    """
    head = ("policy", "sent", "cached", "computed", "billed", "messages", "drop turn")
    lines = [head]
    for row in rows:
        lines.append(
            (
                row.policy,
                f"{row.sent:,}",
                f"{100 * row.hit_rate:.1f} %",
                f"{row.computed:,}",
                f"{row.billed:,.0f}",
                f"{row.messages:.1f}",
                "never" if row.drop_turn is None else f"{row.drop_turn}",
            )
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


class Provider(namedtuple("Provider", "name title minimum step ttl read write replies date source note")):
    """The documented cache rules of a service, with the month in which they were read and their source.

    ``minimum``: tokens of the shortest prefix that is cached. ``step``: hits beyond it come in steps of so many tokens.
    ``ttl``: seconds that a prefix is kept after its last use; None: not stated. ``read``, ``write``: factors on the
    price of uncached input; ``read`` None: not looked up; ``write`` None: writing is not charged. ``replies``: whether
    a reply is in the cache before the next request sends it.
    """

    __slots__ = ()

    def cached(self, shared: int) -> int:
        """Return how many of the tokens that a request shares with the cache are billed as cached.

        >>> [provider("openai").cached(shared) for shared in (1000, 1024, 1500)]
        [0, 1024, 1408]
        """
        if shared < self.minimum:
            return 0
        return self.minimum + (shared - self.minimum) // self.step * self.step

    def usage(self, trace: Trace, seconds: float = 60) -> list[Usage]:
        """Return the tokens of each request of a trace as the service would count them.

        The prefix that a request shares with the one before it is taken from `contextlab.cost.usage`; breakpoints are
        assumed to stand where they help.

        Args:
            trace: what `contextlab.replay.replay` returned.
            seconds: time between two requests; beyond the time to live nothing is cached.
        """
        alive = self.ttl is None or seconds <= self.ttl
        counted = []
        for one in usage(trace, replies=self.replies):
            cached = self.cached(one.cached) if alive else 0
            stored = self.write is not None and one.sent >= self.minimum
            counted.append(one._replace(cached=cached, written=one.sent - cached if stored else 0))
        return counted

    def prices(self, uncached: float = 1, output: float = 0) -> Prices:
        """Return prices with this service's factors on the price of uncached input.

        Raises:
            InputError: its price of cached input is not in the table.
        """
        if self.read is None:
            raise InputError(f"the price of cached input at {self.title} was not looked up: give `Prices` of your own")
        return Prices(uncached, self.read * uncached, None if self.write is None else self.write * uncached, output)


def providers() -> list[Provider]:
    """Return the rules of the services in the table.

    >>> {one.date for one in providers()}
    {'2026-11'}
    """
    return [Provider(**row) for row in read_table("providers")]


def provider(name: str) -> Provider:
    """Return the rules of one service by its name in the table.

    Raises:
        InputError: there is none; the message suggests the nearest.
    """
    return Provider(**row_named(read_table("providers"), name, "provider"))
