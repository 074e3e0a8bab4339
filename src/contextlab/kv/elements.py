"""How an element of a key or a value is stored, and what its scales take."""

from __future__ import annotations

from collections import namedtuple
from math import ceil

from ..budget import _whole
from ..errors import InputError


class ElementType(
    namedtuple(
        "ElementType",
        "name group_elements group_bytes vector_bytes layer_bytes token_bytes",
        defaults=(0, 0, None),
    )
):
    """How an element of a key or a value is stored, with what its scales take.

    ``group_elements`` elements take ``group_bytes`` bytes, scales included. ``vector_bytes``: a scale for each token
    and head, once for keys and once for values. ``layer_bytes``: scales of a whole layer. ``token_bytes``: a fixed
    size of a token in a layer, for a format made for one latent.

    >>> ELEMENT_TYPES["q4_0"].bits
    4.5
    """

    __slots__ = ()

    @property
    def bits(self) -> float:
        """Bits of one element, the scales of its group included."""
        return 8 * self.group_bytes / self.group_elements


# Sources: llama.cpp (q8_0: 34 bytes for 32 elements; q4_0: 18), vLLM (fp8, per-token-head scales, nvfp4,
# fp8_ds_mla), transformers (an fp8 layer has one fp32 scale for keys and one for values).
ELEMENT_TYPES = {
    kind.name: kind
    for kind in (
        ElementType("fp32", 1, 4),
        ElementType("fp16", 1, 2),
        ElementType("bf16", 1, 2),
        ElementType("fp8", 1, 1, layer_bytes=8),
        ElementType("fp8_per_token_head", 1, 1, vector_bytes=4),
        ElementType("int8_per_token_head", 1, 1, vector_bytes=4),
        ElementType("q8_0", 32, 34),
        ElementType("q4_0", 32, 18),
        ElementType("nvfp4", 16, 9),
        ElementType("fp8_ds_mla", 576, 656, token_bytes=656),
    )
}
_ALIASES = {
    "float32": "fp32",
    "float": "fp32",
    "f32": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "bfloat16": "bf16",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
}


def element_type(name: str | ElementType) -> ElementType:
    """Return the element type with this name; PyTorch's names are known too.

    Raises:
        InputError: there is none.

    >>> element_type("bfloat16").name
    'bf16'
    """
    if isinstance(name, ElementType):
        return name
    wanted = str(name).strip().lower().removeprefix("torch.")
    found = ELEMENT_TYPES.get(_ALIASES.get(wanted, wanted))
    if found is None:
        raise InputError(f"unknown element type {name!r}; known: {', '.join(ELEMENT_TYPES)}")
    return found


def grouped_bytes(elements: int, bits: int, group: int = 64, group_overhead: int = 8) -> int:
    """Return the bytes of elements that are quantised in groups, each with a scale and a shift.

    The defaults are those of transformers' quanto cache on an fp32 model: 4 bytes of scale and 4 of shift for 64
    elements. Its newest ``residual_length`` tokens stay in full precision and come on top.

    >>> grouped_bytes(20_480, bits=4)
    12800
    """
    return ceil(_whole("elements", elements) * bits / 8) + ceil(elements / group) * group_overhead
