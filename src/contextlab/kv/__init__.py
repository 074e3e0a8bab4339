"""How many bytes the keys and values of a conversation take, and how many conversations fit on a card.

A transformer keeps, for each token, each layer and each KV head, one vector of keys and one of values: the KV cache.
`kv_bytes` is the formula; a `Shape` describes what the layers of a model keep; `cache_size` counts its bytes under a
stated rule for windows, blocks and ranks, with every term in view; `card_capacity` divides a card into sessions.

>>> kv_bytes(layers=32, kv_heads=8, head_dim=128, tokens=1)  # Llama 3.1 8B in fp16
131072
"""

from .cards import Capacity, card_capacity
from .configs import from_config, model, models
from .elements import ELEMENT_TYPES, ElementType, element_type, grouped_bytes
from .shapes import (
    CAP_WORDS,
    WINDOW_CAPS,
    Layers,
    Shape,
    attention_shape,
    described_shape,
    latent_shape,
)
from .size import CacheSize, Term, cache_size, kv_bytes, reserved_pages, stored_tokens
from .units import GB, GIB, KB, KIB, MB, MIB, binary, decimal

__all__ = [
    "CAP_WORDS",
    "ELEMENT_TYPES",
    "GB",
    "GIB",
    "KB",
    "KIB",
    "MB",
    "MIB",
    "WINDOW_CAPS",
    "CacheSize",
    "Capacity",
    "ElementType",
    "Layers",
    "Shape",
    "Term",
    "attention_shape",
    "binary",
    "cache_size",
    "card_capacity",
    "decimal",
    "described_shape",
    "element_type",
    "from_config",
    "grouped_bytes",
    "kv_bytes",
    "latent_shape",
    "model",
    "models",
    "reserved_pages",
    "stored_tokens",
]
