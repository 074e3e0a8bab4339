"""What a message costs inside a request: its text, and what the serialised form adds to it.

`PlainRule` and `OpenAIRecipe` charge a message by a published rule. `ChatML` and `SystemInLastUser` are two chat
templates of this book; `Template` runs one of a reader's own, sandboxed. All of them answer to the same names:
``message(m)``, ``reply_start``, ``tools_cost(tools)``, ``request(messages, tools)`` and ``additive``, which says
whether the sum of the first three is the fourth. Where it is not, ``request`` is exact and ``message`` an estimate.

>>> from contextlab.tokens import BPE
>>> ChatML(BPE("o200k_base")).request([{"role": "user", "content": "Hello"}])
9
"""

from __future__ import annotations

from .rules import OpenAIRecipe, PlainRule

# Loaded at first use: the commands need the rules alone.
_HOME = {
    "ChatML": "templates",
    "ImageTiles": "images",
    "OpenAIDeclarations": "tools",
    "SystemInLastUser": "templates",
    "Template": "templates",
    "declarations": "tools",
    "image_size": "images",
    "recorded_counts": "recorded",
    "tools_cost": "tools",
}
__all__ = [
    "ChatML",
    "ImageTiles",
    "OpenAIDeclarations",
    "OpenAIRecipe",
    "PlainRule",
    "SystemInLastUser",
    "Template",
    "declarations",
    "image_size",
    "recorded_counts",
    "tools_cost",
]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'contextlab.render' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"contextlab.render.{_HOME[name]}"), name)
    return value


def __dir__():
    return __all__
