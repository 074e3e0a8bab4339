"""The bytes of a KV cache, with every term that they come from."""

from __future__ import annotations

from collections import namedtuple
from math import ceil

from ..budget import _whole
from ..errors import InputError
from .elements import element_type
from .shapes import CAP_WORDS, DEFAULT_BLOCK, WINDOW_CAPS, described_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elements import ElementType
    from .shapes import Shape


class Term(namedtuple("Term", "name value unit")):
    """One line of a calculation."""

    __slots__ = ()


class CacheSize(namedtuple("CacheSize", "bytes bytes_per_token terms")):
    """A counted cache: ``bytes`` on all ranks, ``bytes_per_token`` of one more token in one sequence, ``terms``."""

    __slots__ = ()


def cache_size(
    shape: Shape,
    tokens: int,
    *,
    dtype: str | ElementType = "fp16",
    batch: int = 1,
    beams: int = 1,
    window_cap: str = "window",
    block_size: int | None = None,
    tp: int = 1,
    cross_tokens: int = 0,
) -> CacheSize:
    """Return the bytes of a KV cache, and every term that they come from.

    Sum over the layers of 2 · KV heads · head_dim · bytes of an element · tokens held · sequences.

    Args:
        shape: what the layers keep.
        tokens: tokens of each sequence. Padding is stored too: a batch of unequal sequences holds the longest of them.
            The token that was generated last is not stored yet (`stored_tokens`).
        dtype: element type of the cache, whatever the weights have; a name of `ELEMENT_TYPES`.
        batch: sequences.
        beams: beams of each sequence.
        window_cap: how many tokens a sliding layer holds at most, one of `WINDOW_CAPS`.
        block_size: tokens a block, when memory comes in blocks; with the cap "blocks" 16 unless you say another.
        tp: ranks of tensor parallelism; ``bytes`` is the sum over all of them.
        cross_tokens: tokens of the source, for a decoder that also keeps the keys and values of an encoder's output.

    Raises:
        InputError: a number is no whole number or too small, or a name is not known.

    >>> from contextlab.kv import attention_shape, binary, decimal
    >>> llama = attention_shape(layers=32, kv_heads=8, head_dim=128)
    >>> size = cache_size(llama, tokens=32_768)
    >>> size.bytes, size.bytes_per_token, binary(size.bytes), decimal(size.bytes)
    (4294967296, 131072, '4 GiB', '4.295 GB')
    """
    _whole("tokens", tokens)
    _whole("cross_tokens", cross_tokens)
    sequences = _whole("batch", batch, least=1) * _whole("beams", beams, least=1)
    _whole("tp", tp, least=1)
    kind = element_type(dtype)
    if window_cap not in WINDOW_CAPS:
        raise InputError(f"unknown window cap {window_cap!r}; known: {', '.join(WINDOW_CAPS)}")
    if block_size is None and window_cap == "blocks":
        block_size = DEFAULT_BLOCK
    if block_size is not None:
        _whole("block_size", block_size, least=1)

    def total(tokens, sequences):
        return sum(
            layers.count
            * layers.copies(tp)
            * layers.token_bytes(kind)
            * (layers.held(tokens, window_cap, block_size) + cross_tokens)
            * sequences
            for layers in shape.layers
        )

    size = total(tokens, sequences) + shape.count * kind.layer_bytes * tp
    per_token = total(tokens + 1, 1) - total(tokens, 1)
    terms = list(_terms(shape, tokens, kind, window_cap, block_size, tp, cross_tokens))
    if sequences > 1:
        terms.append(Term("sequences (batch x beams)", sequences, "sequences"))
    if tp > 1:
        terms.append(Term("on each rank", size // tp, "bytes"))
    terms.append(Term("one more token", per_token, "bytes"))
    terms.append(Term("in all", size, "bytes"))
    return CacheSize(size, per_token, terms)


def _terms(shape, tokens, kind, cap, block_size, tp, cross_tokens):
    """Yield the terms that come before the sums."""
    yield Term("tokens of a sequence", tokens, "tokens")
    if shape.max_context is not None and tokens > shape.max_context:
        yield Term("maximum context, exceeded", shape.max_context, "tokens")
    if kind.token_bytes is None:
        size = kind.group_bytes / kind.group_elements
        yield Term(f"an element ({kind.name})", int(size) if size.is_integer() else size, "bytes")
    if kind.vector_bytes:
        yield Term("scale of a key or a value vector", kind.vector_bytes, "bytes")
    if kind.layer_bytes:
        yield Term("scales of one layer", kind.layer_bytes, "bytes")
    for layers in shape.layers:
        which = f" ({layers.kind})" if len(shape.layers) > 1 else ""
        yield Term(f"{layers.kind} layers", layers.count, "layers")
        if layers.latent:
            yield Term(f"latent{which}", layers.key_dim, "elements")
            yield Term(f"position part{which}", layers.value_dim, "elements")
        else:
            yield Term(f"KV heads{which}", layers.kv_heads, "heads")
            if layers.key_dim == layers.value_dim:
                yield Term(f"head_dim{which}", layers.key_dim, "elements")
                yield Term(f"keys and values{which}", 2, "vectors")
            else:
                yield Term(f"elements of a key{which}", layers.key_dim, "elements")
                yield Term(f"elements of a value{which}", layers.value_dim, "elements")
        yield Term(f"a token in one layer{which}", layers.token_bytes(kind), "bytes")
        if layers.window is not None:
            yield Term(f"window{which}", layers.window, "tokens")
            yield Term(f"window cap{which}", cap, CAP_WORDS[cap])
        held = layers.held(tokens, cap, block_size)
        yield Term(f"tokens held{which}", held, "tokens")
        if block_size is not None:
            used = layers.held(tokens, "window" if cap == "blocks" else cap)
            yield Term(f"of them unused{which}", held - used, "tokens")
        if cross_tokens:
            yield Term(f"tokens of the source{which}", cross_tokens, "tokens")
        if tp > 1:
            yield Term(f"copies over the ranks{which}", layers.copies(tp), "copies")
    if shape.reusing:
        yield Term("layers that reuse another's cache", shape.reusing, "layers")
    if block_size is not None:
        yield Term("block size", block_size, "tokens")
    if tp > 1:
        yield Term("ranks (tensor parallel)", tp, "ranks")


def kv_bytes(
    *,
    tokens: int,
    layers: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    heads: int | None = None,
    kv_lora_rank: int | None = None,
    rope_dim: int | None = None,
    window: int | None = None,
    full_every: int | None = None,
    **options,
) -> int:
    """Return the bytes of a KV cache from the numbers of an architecture.

    Either ``kv_heads`` and ``head_dim``, or ``kv_lora_rank`` and ``rope_dim`` (MLA). ``options`` are those of
    `cache_size`: dtype, batch, beams, window_cap, block_size, tp.

    Raises:
        InputError: a number is missing, is no whole number, or is too small; a name is not known.

    >>> kv_bytes(layers=32, kv_heads=8, head_dim=128, dtype="fp16", tokens=4000) // 2**20
    500
    """
    shape = described_shape(layers, kv_heads, head_dim, kv_lora_rank, rope_dim, heads)
    if window is not None:
        shape = shape.with_window(window, full_every)
    elif full_every is not None:
        raise InputError("full_every says which layers do not slide: it goes with a window")
    return cache_size(shape, tokens, **options).bytes


def stored_tokens(prompt: int, generated: int = 0) -> int:
    """Return how many tokens a cache holds after a reply: the token generated last has no keys and values yet.

    >>> stored_tokens(20, generated=7)
    26
    """
    return _whole("prompt", prompt) + max(_whole("generated", generated) - 1, 0)


def reserved_pages(max_len: int, block_size: int, window: int | None = None, batched_tokens: int | None = None) -> int:
    """Return the pages that vLLM sets aside at most for one layer and one sequence.

    A full layer: ceil(max_len / block). A sliding one: ceil(min(window - 1 + batched tokens, max_len) / block) + 1,
    because the window may begin inside a block. Source: vllm/v1/kv_cache_interface.py.

    >>> reserved_pages(131_072, 16), reserved_pages(131_072, 16, window=128, batched_tokens=8192)
    (8192, 521)
    """
    if window is None:
        return ceil(max_len / block_size)
    if batched_tokens is None:
        raise InputError("a sliding layer also holds the tokens of one step: give batched_tokens")
    return ceil(min(window - 1 + batched_tokens, max_len) / block_size) + 1
