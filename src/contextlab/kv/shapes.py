"""What the layers of a model keep for each token, and for how many tokens."""

from __future__ import annotations

from collections import namedtuple
from math import ceil

from ..budget import _whole
from ..errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .elements import ElementType


WINDOW_CAPS = ("window", "window-1", "blocks", "none")
CAP_WORDS = {
    "window": "the window (textbook, rolling buffer, static cache)",
    "window-1": "the window - 1 (transformers, dynamic cache)",
    "blocks": "every block that the window touches (vLLM)",
    "none": "nothing: sliding layers charged as full (vLLM without its hybrid manager)",
}
DEFAULT_BLOCK = 16  # vLLM's block size


class Layers(namedtuple("Layers", "count kv_heads key_dim value_dim window latent", defaults=(None, False))):
    """``count`` layers that keep the same.

    ``kv_heads`` heads with ``key_dim`` elements of keys and ``value_dim`` of values a token. ``window``: how many
    tokens the layer looks back on, itself included; None: all. ``latent``: one compressed vector for all heads (MLA),
    held as ``key_dim`` elements of latent and ``value_dim`` of position.

    >>> Layers(32, kv_heads=8, key_dim=128, value_dim=128).elements
    2048
    """

    __slots__ = ()

    @property
    def elements(self) -> int:
        """Elements that one token takes in one layer."""
        return self.kv_heads * (self.key_dim + self.value_dim)

    @property
    def kind(self) -> str:
        return ("latent " if self.latent else "") + ("full" if self.window is None else "sliding")

    def held(self, tokens: int, cap: str = "window", block_size: int | None = None) -> int:
        """Return for how many tokens of a sequence each of these layers has memory.

        With ``block_size`` memory comes in whole blocks. Source of the rules: `CAP_WORDS`.
        """
        first = 0
        if self.window is not None and cap != "none":
            first = max(0, tokens - (self.window - 1 if cap == "window-1" else self.window))
        if block_size is None:
            return tokens - first
        if cap == "blocks":  # a window may begin inside a block, which is then kept whole
            return (ceil(tokens / block_size) - first // block_size) * block_size
        return ceil((tokens - first) / block_size) * block_size

    def token_bytes(self, dtype: ElementType) -> int:
        """Return the bytes of one token in one layer, scales included.

        Raises:
            InputError: the elements do not fill the groups of the element type.
        """
        if dtype.token_bytes is not None:
            if not self.latent or (self.key_dim, self.value_dim) != (512, 64):
                raise InputError(f"{dtype.name} is made for a latent of 512 + 64 elements, not for {self._words()}")
            return dtype.token_bytes
        size = 0
        for width in (self.kv_heads * self.key_dim, self.kv_heads * self.value_dim):
            if width % dtype.group_elements:
                raise InputError(
                    f"{dtype.name} packs {dtype.group_elements} elements together; "
                    f"{self._words()} leave a part of a group"
                )
            size += width // dtype.group_elements * dtype.group_bytes
        return size + 2 * self.kv_heads * dtype.vector_bytes

    def copies(self, ranks: int) -> int:
        """Return how often each element is stored when ``ranks`` ranks share the layer (tensor parallel).

        KV heads are divided over the ranks, at least one a rank; a latent is one and stands on each of them.

        Raises:
            InputError: the KV heads cannot be divided evenly.
        """
        if self.latent:
            return ranks
        if self.kv_heads % ranks and ranks % self.kv_heads:
            raise InputError(f"{self.kv_heads} KV heads cannot be divided evenly over {ranks} ranks")
        return max(1, ranks // self.kv_heads)

    def _words(self):
        if self.latent:
            return f"a latent of {self.key_dim} + {self.value_dim} elements"
        return f"{self.kv_heads} KV heads of {self.key_dim} and {self.value_dim} elements"


class Shape(namedtuple("Shape", "layers name max_context reusing decompressed", defaults=("", None, 0, None))):
    """What the layers of a model keep: a tuple of `Layers`, each kind once.

    ``max_context``: tokens that the model was made for, if known. ``reusing``: layers that keep nothing because they
    read the cache of another layer. ``decompressed``: for a model with a latent, the `Layers` that an engine keeps when
    it expands the latent for every head.

    >>> Shape((Layers(32, 8, 128, 128),)).count
    32
    """

    __slots__ = ()

    @property
    def count(self) -> int:
        """Layers that keep something."""
        return sum(layers.count for layers in self.layers)

    def expanded(self) -> Shape:
        """Return the shape with the latent held decompressed, keys and values for every head.

        Raises:
            InputError: there is no latent, or its expanded widths are not known.
        """
        if self.decompressed is None:
            raise InputError(f"{self.name or 'this shape'} has no latent whose expanded widths are known")
        return self._replace(layers=self.decompressed, decompressed=None)

    def with_window(self, window: int, full_every: int | None = None) -> Shape:
        """Return the shape with another window.

        With ``full_every`` K the layers K, 2K, … are full and all others slide. Without it the layers that slide now
        get the new window; when none does, all do.

        Raises:
            InputError: a number is below 1, or ``full_every`` meets layers that differ in width.
        """
        _whole("window", window, least=1)
        if full_every is not None:
            widths = {layers._replace(count=0, window=None) for layers in self.layers}
            if len(widths) > 1:
                raise InputError("full_every needs layers of one width; these differ in more than their window")
            full = self.count // _whole("full_every", full_every, least=1)
            layers = self.layers[0]
            both = (layers._replace(count=self.count - full, window=window), layers._replace(count=full, window=None))
            return self._replace(layers=tuple(one for one in both if one.count))
        slides = any(layers.window is not None for layers in self.layers)
        return self._replace(
            layers=tuple(
                layers._replace(window=window) if layers.window is not None or not slides else layers
                for layers in self.layers
            )
        )


def attention_shape(
    layers: int,
    kv_heads: int,
    head_dim: int,
    *,
    value_dim: int | None = None,
    heads: int | None = None,
    window: int | None = None,
    full_every: int | None = None,
) -> Shape:
    """Return the shape of a model whose layers have the same heads: MHA, GQA or MQA, with or without windows.

    Args:
        layers: layers that keep keys and values.
        kv_heads: KV heads a layer: all heads (MHA), some (GQA), or one (MQA). Not the size of a group of heads.
        head_dim: elements of a key, as the config states it.
        value_dim: elements of a value, when it differs.
        heads: query heads, to check that the KV heads divide them; they take no memory.
        window: tokens that a sliding layer looks back on, itself included.
        full_every: every so many layers one is full; without it all layers slide.

    Raises:
        InputError: a number is no whole number above 0, or the KV heads do not divide the heads.

    >>> attention_shape(6, kv_heads=2, head_dim=64, window=512, full_every=3).layers[1].count
    2
    """
    _whole("layers", layers, least=1)
    _whole("kv_heads", kv_heads, least=1)
    _whole("head_dim", head_dim, least=1)
    if heads is not None:
        check_heads(heads, kv_heads)
    value_dim = head_dim if value_dim is None else _whole("value_dim", value_dim, least=1)
    shape = Shape((Layers(layers, kv_heads, head_dim, value_dim),))
    if window is not None:
        return shape.with_window(window, full_every)
    if full_every is not None:
        raise InputError("full_every says which layers do not slide: it goes with a window")
    return shape


def latent_shape(
    layers: int,
    kv_lora_rank: int,
    rope_dim: int,
    *,
    heads: int | None = None,
    nope_dim: int | None = None,
    value_dim: int | None = None,
) -> Shape:
    """Return the shape of a model with multi-head latent attention (MLA): one latent and one position part a token.

    There is no factor 2 and no number of heads. With ``heads``, ``nope_dim`` and ``value_dim`` (elements a head without
    position, and of a value) `Shape.expanded` knows what an engine keeps that expands the latent. Source: DeepSeek-V2
    paper; deepseek-ai/DeepSeek-V3, inference/model.py ("absorb" and "naive").

    >>> from contextlab.kv import cache_size
    >>> v3 = latent_shape(61, 512, 64, heads=128, nope_dim=128, value_dim=128)
    >>> cache_size(v3, tokens=1).bytes, cache_size(v3.expanded(), tokens=1).bytes
    (70272, 4997120)
    """
    _whole("layers", layers, least=1)
    _whole("kv_lora_rank", kv_lora_rank, least=1)
    _whole("rope_dim", rope_dim, least=1)
    expanded = None
    if heads is not None and nope_dim is not None and value_dim is not None:
        expanded = (Layers(layers, _whole("heads", heads, least=1), nope_dim + rope_dim, value_dim),)
    return Shape((Layers(layers, 1, kv_lora_rank, rope_dim, latent=True),), decompressed=expanded)


def check_heads(heads: int, kv_heads: int) -> None:
    """Raise `InputError` when the KV heads do not divide the query heads."""
    _whole("heads", heads, least=1)
    if heads % kv_heads:
        raise InputError(f"{kv_heads} KV heads do not divide {heads} heads: each KV head serves as many heads")


def described_shape(
    layers: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    kv_lora_rank: int | None = None,
    rope_dim: int | None = None,
    heads: int | None = None,
) -> Shape:
    """Return the shape with either KV heads and head_dim, or the two parts of a latent.

    Raises:
        InputError: a number is missing, or both ways are mixed.

    >>> described_shape(61, kv_lora_rank=512, rope_dim=64).layers[0].kind
    'latent full'
    """
    latent = (kv_lora_rank, rope_dim)
    if latent == (None, None):
        if kv_heads is None or head_dim is None:
            raise InputError("a model of your own needs KV heads and head_dim, or the two parts of a latent")
        return attention_shape(layers, kv_heads, head_dim, heads=heads)
    if None in latent:
        raise InputError("a latent needs both parts: kv_lora_rank and rope_dim")
    if kv_heads is not None or head_dim is not None:
        raise InputError("a latent has no KV heads and no head_dim: give either those or kv_lora_rank and rope_dim")
    return latent_shape(layers, kv_lora_rank, rope_dim)
