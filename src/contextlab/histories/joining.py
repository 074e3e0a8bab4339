"""Messages that stand in a file as elements of their own are put together into conversations."""

from __future__ import annotations

import re

from .decoding import Broken
from .draft import as_text
from .google import chat_of

__all__ = ["joined"]


_PIECE = re.compile(r"(.+)_\d+\Z", re.DOTALL)


def joined(found, bare: bool, format: str, pieces: bool = False):
    """Put messages that stand as elements of their own together into conversations; with ``pieces`` x_0, x_1 … too."""
    if bare:
        messages = []
        try:
            for _, element in found:
                messages.append(element)
        except Broken:
            if messages:
                yield "", messages
            raise
        yield "", messages
    elif format == "jan":
        yield from _runs(found, lambda one: as_text(one.get("thread_id")) or "thread")
    elif format == "oasst":
        yield from _runs(found, lambda one: as_text(one.get("message_tree_id")) if "message_id" in one else None)
    elif format == "gemini_activity":
        yield from _activities(found)
    elif format == "sharegpt" and pieces:
        for name, element in _runs(found, _stem):
            yield name, _whole(element) if isinstance(element, list) and _stem(element[0]) else element
    else:
        yield from found


def _stem(element):
    """The id of a piece of a ShareGPT chat without its number, or None."""
    match = isinstance(element, dict) and _PIECE.match(as_text(element.get("id")))
    return match[1] if match and isinstance(element.get("conversations"), list) else None


def _whole(pieces):
    said = [message for piece in pieces for message in piece["conversations"]]
    return {**pieces[0], "id": _stem(pieces[0]), "conversations": said}


def _runs(found, key_of):
    """Put elements with the same key that follow each other together; those without a key stay alone."""
    run, key, first = [], None, ""
    try:
        for name, element in found:
            own = key_of(element) if isinstance(element, dict) else None
            if run and own != key:
                yield first, run
                run = []
            if own is None:
                yield name, element
                key = None
                continue
            if not run:
                key, first = own, name
            run.append(element)
    except Broken:
        if run:
            yield first, run
        raise
    if run:
        yield first, run


def _activities(found):
    """Turn activities, which are newest first, into chats: those that name the same chat, in the order of time."""
    chats, first = {}, {}
    broken = None
    try:
        for name, element in found:
            key = chat_of(element)
            if key is None:
                yield name, element
            else:
                chats.setdefault(key, []).append(element)
                first.setdefault(key, name)
    except Broken as error:
        broken = error
    for key, rows in chats.items():
        yield first[key], rows[::-1]
    if broken is not None:
        raise broken
