"""A JSON decoder for values that are nested deeper than the standard library's decoder goes.

A chat saved as a tree of answers is as deep as it is long. This decoder keeps its own stack, so that only memory
limits the depth. It is slow, and used for nothing else.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring

__all__ = ["decode_nested"]

_TOKEN = re.compile(r"[ \t\n\r]*(?:([\[\]{},:\"])|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|[A-Za-z-]+))")
_LITERALS = {
    "true": True,
    "false": False,
    "null": None,
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


def decode_nested(text: str, at: int = 0):
    """Return the value that begins at index ``at`` and the index behind it; raises ``json.JSONDecodeError``.

    >>> decode_nested('{"a": [1, true]} and more')
    ({'a': [1, True]}, 16)
    """
    stack, value, key = [], None, None  # the open containers, each with the key that waits for a value
    while True:
        # A value begins here.
        token, word, at = _token(text, at)
        if token == "{" or token == "[":
            stack.append(({} if token == "{" else [], None))
            closing, _, end = _token(text, at)
            if closing == ("}" if token == "{" else "]"):
                at, value = end, stack.pop()[0]
            elif token == "{":
                key, at = _key(text, at)
                stack[-1] = (stack[-1][0], key)
                continue
            else:
                continue
        elif token == '"':
            value, at = scanstring(text, at, False)
        elif word is None:
            raise json.JSONDecodeError("Expecting value", text, at - 1)
        else:
            value = _scalar(text, word, at - len(word))
        # A value has ended: put it where it belongs.
        while stack:
            holder, key = stack[-1]
            if key is None:
                holder.append(value)
            else:
                holder[key] = value
            token, _, end = _token(text, at)
            if token == ",":
                at = end
                if key is not None:
                    key, at = _key(text, at)
                    stack[-1] = (holder, key)
                break
            if token != ("]" if key is None else "}"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, _start(text, at))
            at, value = end, stack.pop()[0]
        else:
            return value, at


def _start(text, at):
    return re.compile(r"[ \t\n\r]*").match(text, at).end()


def _token(text, at):
    found = _TOKEN.match(text, at)
    if found is None:
        raise json.JSONDecodeError("Expecting value", text, _start(text, at))
    return found[1], found[2], found.end()


def _key(text, at):
    token, _, end = _token(text, at)
    if token != '"':
        raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, _start(text, at))
    key, at = scanstring(text, end, False)
    token, _, end = _token(text, at)
    if token != ":":
        raise json.JSONDecodeError("Expecting ':' delimiter", text, _start(text, at))
    return key, end


def _scalar(text, word, start):
    if word in _LITERALS:
        return _LITERALS[word]
    if word[-1:].isdigit():
        try:
            return int(word)
        except ValueError:
            return float(word)
    raise json.JSONDecodeError("Expecting value", text, start)
