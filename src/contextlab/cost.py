"""What a conversation costs: tokens sent and computed, money, time, and when a summary pays for itself.

Prices and rates are arguments. `example_prices` and `example_cards` read dated examples with their sources: they show
the form, and they age.
"""

from __future__ import annotations

from collections import namedtuple
from itertools import chain
from math import ceil

from ._data import read_table, row_named
from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .keep import History, Kept
    from .replay import Trace

MILLION = 1_000_000


class Usage(namedtuple("Usage", "turn sent cached written output", defaults=(0, 0, 0))):
    """The tokens of one request, or of several together (then ``turn`` is None), in the units of the counter.

    ``sent``: the whole input. ``cached``: what of it a prefix cache already held. ``written``: what of the rest is
    stored in a cache that charges for it. ``output``: the reply.

    >>> request = Usage(turn=2, sent=1000, cached=900)
    >>> request.computed, request.hit_rate
    (100, 0.9)
    """

    __slots__ = ()

    @property
    def computed(self) -> int:
        """The input that had to be read anew: sent - cached."""
        return self.sent - self.cached

    @property
    def hit_rate(self) -> float:
        """The share of the input that was cached; 0 when nothing was sent."""
        return self.cached / self.sent if self.sent else 0.0


def usage(trace: Trace, writes: bool = False, replies: bool = True) -> list[Usage]:
    """Return the tokens of each request of a trace, with ideal prefix reuse.

    Ideal: everything that the previous request *and its reply* held is still cached. A request shares with them its
    instructions and then, message by message, everything up to the first message that differs. The reply start is
    never shared. No blocks, no minimum and no time limit: `contextlab.prefix` knows those. The output of the last turn
    is its reply, if the chat has one.

    Args:
        trace: what `contextlab.replay.replay` returned.
        writes: whether the cache charges for writing; then everything computed is written.
        replies: whether a reply is cached as it is generated. When it is not, the next request computes it.

    >>> from contextlab import KeepNewest, PlainRule, WordPieces, scripted_chat
    >>> from contextlab.replay import replay
    >>> trace = replay(scripted_chat(), KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()))
    >>> whole = total(usage(trace))
    >>> whole.sent, whole.computed
    (747934, 708383)
    """
    chat = trace.chat
    history = chat.history
    ends = [*chat.requests[1:], len(history)]  # each reply ends where the next request's message stands
    found = []
    before = None
    known = 0  # index of the first message that is not cached yet
    for row, kept, current, end in zip(trace.rows, trace.kept, chat.requests, ends, strict=True):
        cached = 0 if before is None else chat.fixed["instructions"] + _shared(history, before, kept, known)
        computed = row.input_units - cached
        found.append(
            Usage(row.turn, row.input_units, cached, computed if writes else 0, history.units(current + 1, end))
        )
        before = kept
        known = end if replies else current + 1
    return found


def _shared(history: History, before: Kept, kept: Kept, known: int) -> int:
    """Return the units, instructions aside, that a request shares with the one before it.

    That one held its header, the messages that it kept, and what follows them up to the message ``known``.
    """
    if before.header != kept.header:
        units = 0
        for old, new in zip(before.header, kept.header, strict=False):
            if old != new:
                break
            units += history.cost(new)
        return units
    units = kept.header_units - sum(map(history.cost, kept.footer))
    old, new = before.indices, kept.indices
    if before.footer:  # it stood before the question, where this request has the question: reuse ends there
        known = old[-1]
    if isinstance(old, range) and isinstance(new, range):
        return units + history.units(new.start, min(new.stop, known)) if old.start == new.start else units
    for old_index, new_index in zip(chain(old, range(old[-1] + 1, known)), new, strict=False):
        if old_index != new_index or new_index >= known:
            break
        units += history.units(new_index, new_index + 1)
    return units


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of several usages, as one without a turn.

    >>> total([Usage(1, 100, 0, 0, 20), Usage(2, 180, 120, 0, 20)])
    Usage(turn=None, sent=280, cached=120, written=0, output=40)
    """
    columns = list(zip(*usages, strict=True))[1:] or [()] * 4
    return Usage(None, *map(sum, columns))


class Prices(namedtuple("Prices", "uncached cached cache_write output", defaults=(None, None, 0))):
    """Prices of tokens, all in one currency for the same number of tokens (a million, as a rule).

    ``uncached``: input that is read anew. ``cached``: input that the cache held; the uncached price when None.
    ``cache_write``: input that is read anew and stored; the uncached price when None. ``output``: the reply.

    >>> relative = Prices(uncached=1, cached=0.1)
    >>> relative.bill(Usage(1, sent=1000, cached=900), per=1000)
    0.19
    """

    __slots__ = ()

    def bill(self, usages: Usage | Iterable[Usage], per: int = MILLION) -> float:
        """Return what these tokens cost, in the currency of the prices.

        Args:
            usages: a `Usage`, or several.
            per: the number of tokens that a price is for.
        """
        used = usages if isinstance(usages, Usage) else total(usages)
        cached_price = self.uncached if self.cached is None else self.cached
        write_price = self.uncached if self.cache_write is None else self.cache_write
        money = (used.computed - used.written) * self.uncached + used.cached * cached_price
        return (money + used.written * write_price + used.output * self.output) / per


def example_prices(name: str | None = None) -> list[dict] | Prices:
    """Return the dated examples as rows with their sources, or the `Prices` of the one with this name.

    >>> [row["read"] for row in example_prices()][:1]
    ['2026-11']
    """
    rows = read_table("prices")
    if name is None:
        return rows
    row = row_named(rows, name, "example of prices")
    return Prices(*(row[field] for field in Prices._fields))


def example_cards(name: str | None = None) -> list[dict] | dict:
    """Return the accelerator cards with memory, bandwidth and source, or the one with this name.

    >>> example_cards("h100-sxm")["bandwidth"]
    3350000000000
    """
    rows = read_table("cards")
    return rows if name is None else row_named(rows, name, "example of a card")


def prefill_rate(operations_per_second: float, parameters: int, utilisation: float = 1.0) -> float:
    """Return the input tokens that a machine reads in a second, attention aside: an upper bound.

    A token takes about 2 operations for each parameter that it meets. Source: Kaplan et al., *Scaling Laws for
    Neural Language Models* (2020), section 2.1.

    >>> round(prefill_rate(989e12, 8_030_261_248, utilisation=0.4))
    24632
    """
    _positive("operations_per_second", operations_per_second)
    _positive("parameters", parameters)
    if not 0 < utilisation <= 1:
        raise InputError(f"utilisation is a share above 0 and up to 1, got {utilisation}")
    return operations_per_second * utilisation / (2 * parameters)


def time_to_first_token(computed: int, rate: float) -> float:
    """Return the seconds until the first token of a reply: the input that is not cached has to be read first.

    Args:
        computed: input tokens that no cache holds.
        rate: input tokens read in a second, measured on the machine or estimated with `prefill_rate`.

    >>> time_to_first_token(4000, rate=10_000)
    0.4
    """
    _positive("rate", rate)
    return _not_negative("computed", computed) / rate


def time_per_token(weight_bytes: float, cache_bytes: float, bandwidth: float) -> float:
    """Return the seconds that each token of a reply takes at least: all weights and the KV cache are read once.

    One step of a batch reads the weights once and the cache of every sequence in it: ``cache_bytes`` is their sum.

    Args:
        weight_bytes: bytes of the weights.
        cache_bytes: bytes of the KV cache of all sequences that are generated together.
        bandwidth: bytes that the memory delivers in a second.

    >>> round(1000 * time_per_token(16e9, 4 * 2**30, bandwidth=3.35e12), 2)  # milliseconds
    6.06
    """
    _positive("bandwidth", bandwidth)
    return (_not_negative("weight_bytes", weight_bytes) + _not_negative("cache_bytes", cache_bytes)) / bandwidth


class Work(namedtuple("Work", "linear attention")):
    """Operations, a multiplication and an addition counted as two: in the matrices, and between tokens."""

    __slots__ = ()

    @property
    def attention_share(self) -> float:
        """The share of attention in the whole work."""
        return self.attention / (self.linear + self.attention)


def matrix_parameters(
    *, layers: int, hidden: int, heads: int, kv_heads: int, head_dim: int, mlp: int, vocabulary: int = 0
) -> int:
    """Return the parameters in the matrices that each token meets, for a decoder with a gated MLP.

    Per layer: queries and output 2 · hidden · heads · head_dim, keys and values 2 · hidden · kv_heads · head_dim, MLP
    3 · hidden · mlp. The last matrix has hidden · vocabulary. Norms, biases and the input table, which is only looked
    up, are left out.

    >>> shape = dict(layers=32, hidden=4096, heads=32, kv_heads=8, head_dim=128, mlp=14336, vocabulary=128256)
    >>> matrix_parameters(**shape)
    7504658432
    """
    layer = 2 * hidden * heads * head_dim + 2 * hidden * kv_heads * head_dim + 3 * hidden * mlp
    return layers * layer + hidden * vocabulary


def prefill_work(tokens: int, *, layers: int, heads: int, head_dim: int, parameters: int) -> Work:
    """Return the operations of reading ``tokens`` tokens at once, each looking at itself and all before it.

    Matrices: 2 · parameters a token. Attention: the token at place t takes 2 · heads · head_dim · t operations for its
    scores and as many for the mixture of values, in each layer; over all places 2 · layers · heads · head_dim ·
    n(n + 1). Source: Chowdhery et al., *PaLM* (2022), appendix B, here with the causal mask. Layers with a window look
    at less.

    >>> llama = dict(layers=32, heads=32, head_dim=128, parameters=7_504_658_432)
    >>> [round(prefill_work(n, **llama).attention_share, 2) for n in (1_000, 4_000, 32_000, 128_000)]
    [0.02, 0.07, 0.36, 0.69]
    """
    _not_negative("tokens", tokens)
    return Work(2 * parameters * tokens, 2 * layers * heads * head_dim * tokens * (tokens + 1))


def decode_work(tokens: int, *, layers: int, heads: int, head_dim: int, parameters: int) -> Work:
    """Return the operations of one more token, the last of ``tokens``, when a KV cache holds the others."""
    _not_negative("tokens", tokens)
    return Work(2 * parameters, 4 * layers * heads * head_dim * tokens)


def summary_break_even(
    replaced: int,
    summary: int,
    *,
    prices: Prices | None = None,
    prompt: int = 0,
    rest: int = 0,
    cached: bool = False,
) -> int | None:
    """Return after how many requests a summary call costs no more than sending the old text again, or None if never.

    The call reads ``prompt`` and the ``replaced`` text at the uncached price and writes the summary at the output
    price. Each later request sends ``summary`` in place of ``replaced``. With ``cached`` every request would have found
    the old text in a prefix cache: a summary then saves only the cached price, and the first request after it reads
    the summary and the ``rest`` behind it anew.

    Args:
        replaced: tokens of the text that leaves.
        summary: tokens of the summary that takes its place.
        prices: what tokens cost; by default each costs 1, whatever it is.
        prompt: tokens of the summariser's instructions.
        rest: tokens that stand behind the summary in the next request; they matter with ``cached`` only.
        cached: whether the text was cached.

    >>> summary_break_even(2000, 60, prompt=100)
    2
    >>> summary_break_even(2000, 60, prompt=100, prices=Prices(1, cached=0.1, output=5), rest=400, cached=True)
    15
    """
    for name, value in (("replaced", replaced), ("summary", summary), ("prompt", prompt), ("rest", rest)):
        _not_negative(name, value)
    price = Prices(1, output=1) if prices is None else prices
    resend = price.uncached if price.cached is None or not cached else price.cached
    call = (prompt + replaced) * price.uncached + summary * price.output
    call += (summary + rest) * (price.uncached - resend)  # the prefix changed
    saving = (replaced - summary) * resend
    if saving <= 0:
        return None
    return ceil(round(call / saving, 9))


def _positive(name, value):
    if not value > 0:
        raise InputError(f"{name} must be above 0, got {value}")
    return value


def _not_negative(name, value):
    if not value >= 0:
        raise InputError(f"{name} must not be negative, got {value}")
    return value
