"""Messages that stand in a file as elements of their own are put together into conversations."""

from __future__ import annotations

import re

from .decoding import Broken
from .draft import as_dict, as_text, seconds
from .google import chat_of, is_prompt

__all__ = ["joined"]


_PIECE = re.compile(r"(.+)_\d+\Z", re.DOTALL)


def joined(found, bare: bool, format: str, pieces: bool = False, gap: float | None = None):
    """Put messages that stand as elements of their own together into conversations.

    ``pieces``: ShareGPT's x_0, x_1, … too. ``gap``: activities without a chat, too, that are so many minutes apart.
    """
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
        yield from _activities(found, gap)
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


def _activities(found, gap):
    """Turn activities, which are newest first, into chats: those that name the same chat, in the order of time."""
    near, start, last = [], "", 0.0  # prompts that name no chat, each at most a gap before the one above it
    chats, first = {}, {}
    broken = None
    try:
        for name, element in found:
            key = chat_of(element)
            if key is not None:
                chats.setdefault(key, []).append(element)
                first.setdefault(key, name)
                continue
            time = seconds(as_dict(element).get("time")) if gap and is_prompt(element) else None
            if time is None:
                yield name, element
                continue
            if near and abs(last - time) > 60 * gap:
                yield start, near[::-1]
                near = []
            start = start if near else name
            near.append(element)
            last = time
    except Broken as error:
        broken = error
    if near:
        yield start, near[::-1]
    for key, rows in chats.items():
        yield first[key], rows[::-1]
    if broken is not None:
        raise broken
