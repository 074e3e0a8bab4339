"""contextlab: predict, price and repair what a long chat forgets.

Importing the package loads nothing but this file; a name is loaded from its module at first use.

>>> import contextlab
>>> contextlab.WordPieces()("Hello, context window!")
5
"""

__version__ = "0.1.0"

# Public name -> the module that has it. A name that is also a module (replay) stays in its module.
_HOME = {
    "BudgetError": "errors",
    "ContextLabError": "errors",
    "ContextOverflow": "errors",
    "InputError": "errors",
    "MissingDependency": "errors",
    "BPE": "tokens",
    "CharsPerToken": "tokens",
    "TokenizerFile": "tokens",
    "WordPieces": "tokens",
    "cut": "tokens",
    "get_counter": "tokens",
    "Message": "chat",
    "groups": "chat",
    "leading_instructions": "chat",
    "turns": "chat",
    "WindowParts": "budget",
    "input_budget": "budget",
    "reply_room": "budget",
    "ChatML": "render",
    "ImageTiles": "render",
    "OpenAIDeclarations": "render",
    "OpenAIRecipe": "render",
    "PlainRule": "render",
    "SystemInLastUser": "render",
    "Template": "render",
    "Beside": "keep",
    "History": "keep",
    "KeepNewest": "keep",
    "Kept": "keep",
    "LastN": "keep",
    "LowWater": "keep",
    "Part": "keep",
    "PinnedFit": "keep",
    "ReservedFit": "keep",
    "scripted_chat": "script",
    "CountedChat": "replay",
    "Trace": "replay",
    "Prices": "cost",
    "Usage": "cost",
    "usage": "cost",
    "kv_bytes": "kv",
    "PrefixCache": "prefix",
    "Pinned": "pins",
    "PinnedNote": "pins",
    "Pins": "pins",
    "Rolling": "summary",
    "RollingSummary": "summary",
    "Summarised": "summary",
    "Noted": "notes",
    "Notes": "notes",
    "Retrieved": "retrieval",
    "Store": "retrieval",
    "LeastUsed": "eviction",
    "planted_chat": "planted",
    "Assembler": "assembler",
    "assemble": "assembler",
}
__all__ = [*sorted(_HOME), "__version__"]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'contextlab' has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"contextlab.{_HOME[name]}"), name)
    return value


def __dir__():
    return __all__
