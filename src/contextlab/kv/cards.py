"""How many sessions fit on a card at the same time."""

from __future__ import annotations

from collections import namedtuple
from math import ceil

from ..budget import _whole
from ..errors import BudgetError, InputError
from .elements import element_type
from .shapes import DEFAULT_BLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elements import ElementType
    from .shapes import Shape


class Capacity(namedtuple("Capacity", "cache_bytes block_bytes blocks tokens session_blocks sessions")):
    """What fits on a card: bytes left for the cache, its blocks, and sessions of the length asked for.

    ``tokens``: what the blocks hold, when all layers are of one kind (else None: the number would depend on the
    length of the sessions).
    """

    __slots__ = ()


def card_capacity(
    shape: Shape,
    tokens: int,
    *,
    card_bytes: float,
    weight_bytes: float,
    utilisation: float,
    other_bytes: float = 0,
    dtype: str | ElementType = "fp16",
    block_size: int = DEFAULT_BLOCK,
    shared_prefix: int = 0,
) -> Capacity:
    """Return how many sessions of ``tokens`` tokens fit on a card at the same time, in blocks as vLLM makes them.

    utilisation · card - weights - other, divided into blocks; a session takes whole blocks. All layers of one kind
    make one cache group, whose block holds ``block_size`` tokens in all of them. Layers of two kinds are cut into
    groups of equal size, that of the smaller kind, and each group takes blocks of its own; the last group may be
    partly empty. Source: vLLM, docs/design/hybrid_kv_cache_manager.md.

    Args:
        shape: what the layers keep.
        tokens: tokens of a session.
        card_bytes: memory of the card, in bytes (80 * GIB).
        weight_bytes: bytes of the weights.
        utilisation: the share of the card that the engine may use (vLLM: 0.92, in older releases 0.9).
        other_bytes: activations and everything else.
        shared_prefix: tokens that all sessions begin with; its full blocks in the full layers are stored once.

    Raises:
        InputError: layers differ in width, or a number is out of range.
        BudgetError: weights and other parts leave nothing.

    >>> from contextlab.kv import GIB, model
    >>> llama = model("llama-3.1-8b")
    >>> left = card_capacity(
    ...     llama, 4000, card_bytes=80 * GIB, utilisation=0.9, weight_bytes=14.9888 * GIB, other_bytes=2 * GIB
    ... )
    >>> left.blocks, left.sessions
    (28165, 112)
    """
    _whole("tokens", tokens, least=1)
    _whole("block_size", block_size, least=1)
    _whole("shared_prefix", shared_prefix)
    if not 0 < utilisation <= 1:
        raise InputError(f"utilisation is a share above 0 and up to 1, got {utilisation}")
    if shared_prefix > tokens:
        raise InputError(f"a prefix of {shared_prefix} tokens is longer than the session of {tokens}")
    kind = element_type(dtype)
    sizes = {layers.token_bytes(kind) for layers in shape.layers}
    if len(sizes) > 1:
        raise InputError("the layers differ in the bytes of a token: this block arithmetic is for equal ones")
    usable = round(utilisation * card_bytes)
    left = usable - round(weight_bytes) - round(other_bytes) - shape.count * kind.layer_bytes
    if left <= 0:
        parts = {"weights": round(weight_bytes), "other": round(other_bytes)}
        raise BudgetError("the card leaves no bytes for a cache", usable, parts)
    group_size = min(layers.count for layers in shape.layers)
    block_bytes = block_size * group_size * sizes.pop()
    blocks = left // block_bytes
    session = shared = 0
    for layers in shape.layers:
        groups = ceil(layers.count / group_size)
        session += groups * layers.held(tokens, "blocks", block_size) // block_size
        if layers.window is None:
            shared += groups * (shared_prefix // block_size)
    sessions = max(blocks - shared, 0) // (session - shared) if session > shared else blocks // session
    one_kind = len(shape.layers) == 1 and shape.layers[0].window is None
    return Capacity(left, block_bytes, blocks, blocks * block_size if one_kind else None, session, sessions)
