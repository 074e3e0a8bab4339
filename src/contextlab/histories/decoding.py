"""JSON values out of a stream of text, one at a time: arrays, JSON Lines, values in a row, and one value alone.

The decoder is the standard library's, set on a window of the text that grows until the value in it is whole. A window
doubles, so no sign is decoded more than twice on average, and what lies behind is forgotten.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import islice

from .nesting import decode_nested
from .records import HistoryError

__all__ = ["Broken", "Cut", "Window", "elements"]

CHUNK = 1 << 20  # signs read at a time
HEAD = 4 << 20  # signs after which an object is looked at key by key
WRAPPERS = ("conversations", "chats", "data", "items")
CHATS = {"messages", "mapping", "chat_messages", "history", "chat", "contents"}  # an object with one is a chat itself

_SPACE = re.compile(r"[ \t\n\r\ufeff]*")
_OPEN_END = re.compile(r'[^\s"{}\[\],:]{0,16}\Z')  # a number, a literal or an escape that may go on
_DECODE = json.JSONDecoder(strict=False).raw_decode
_DECODE_LINE = json.JSONDecoder().raw_decode  # the end of a line ends a text, too


class Broken(Exception):
    """The text is no JSON at this place."""


class Cut(Broken):
    """The text ends before the value does."""


def _whole_number(digits):
    """Return an integer; one with more digits than Python reads becomes a float, as in other languages."""
    try:
        return int(digits)
    except ValueError:
        return float(digits)


_DECODE_LONG = json.JSONDecoder(strict=False, parse_int=_whole_number).raw_decode


def _goes_on(error, text):
    return error.msg.startswith("Unterminated string") or _OPEN_END.match(text, error.pos) is not None


class Window:
    """A window on a text. ``read`` returns the next piece of it, "" at the end; ``at`` is where we are in ``text``."""

    def __init__(self, read, most=sys.maxsize):
        self.read, self.most = read, most
        self.text, self.at, self.ended = "", 0, False
        self.before = 0  # signs that lay before ``text``

    @property
    def place(self) -> int:
        """How many signs lie behind."""
        return self.before + self.at

    def more(self, least: int = CHUNK) -> bool:
        """Read ``least`` further signs, or to the end; returns whether there were any."""
        pieces, got = [self.text[self.at :]], 0
        if len(pieces[0]) + least > self.most + CHUNK:
            raise HistoryError(f"a conversation is longer than {self.most:,} signs: raise the limit `conversation`")
        while got < least and not self.ended:
            piece = self.read()
            if not piece:
                self.ended = True
            got += len(piece)
            pieces.append(piece)
        self.before += self.at
        self.text, self.at = "".join(pieces), 0
        return got > 0

    def sign(self) -> str:
        """Step over white space and return the sign that follows, "" at the end."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def value(self):
        """Decode the value that begins here and step over it; raises `Cut` or `Broken`."""
        decode = _DECODE
        while True:
            try:
                value, end = decode(self.text, self.at)
            except json.JSONDecodeError as error:
                if not _goes_on(error, self.text):
                    raise Broken(f"{error.msg} at sign {self.before + error.pos:,}") from None
                if not self.more(max(CHUNK, len(self.text) - self.at)):
                    raise Cut("the text ends in the middle of a value") from None
                continue
            except RecursionError:
                decode = decode_nested
                continue
            except ValueError:
                decode = _DECODE_LONG
                continue
            # A number at the edge may go on.
            if not isinstance(value, dict | list | str) and _OPEN_END.match(self.text, end):
                if self.more():
                    continue
                if end < len(self.text):
                    raise Cut("the text ends in the middle of a number")
            self.at = end
            return value

    def expect(self, signs: str) -> str:
        """Return the next sign and step over it; raises unless it is one of ``signs``."""
        sign = self.sign()
        if not sign:
            raise Cut("the text ends before its last bracket")
        if sign not in signs:
            raise Broken(f"expected {' or '.join(signs)} at sign {self.place:,}, found {sign!r}")
        self.at += 1
        return sign


def elements(window: Window, shape: dict):
    """Yield (name, value) of each element; ``shape["kind"]`` is then array, lines, values, object or the wrapper's key.

    A value that cannot be decoded raises `Cut` or `Broken` and ends the text; a line of JSON Lines that cannot be
    decoded is yielded as (name, the exception), since the next line can.
    """
    sign = window.sign()
    if sign == "[":
        shape["kind"] = "array"
        yield from _array(window, "")
        yield from _rest(window, shape, 1)
    elif sign == "{" and _is_lines(window):
        shape["kind"] = "lines"
        yield from _lines(window)
    elif sign == "{":
        yield from _object(window, shape)
    elif sign == '"':
        inner = window.value()
        if not inner.lstrip().startswith(("[", "{")):
            raise Broken("it is one text in quotation marks")
        shape["twice"] = True
        pieces = iter([inner])
        yield from elements(Window(lambda: next(pieces, ""), window.most), shape)
    else:
        raise Broken(f"expected [ or {{ at the start, found {sign!r}")


def _array(window, name):
    window.expect("[")
    index = 0
    if window.sign() == "]":
        window.at += 1
        return
    while True:
        if not window.sign():
            raise Cut("the text ends before its last bracket")
        yield f"{name}[{index}]", window.value()
        index += 1
        if window.expect(",]") == "]":
            return


def _is_lines(window):
    """Whether the text is JSON Lines: its first or its second line is a whole value, and more follows."""
    end = window.text.find("\n", window.at)
    if end < 0 or (not window.text[end:].strip() and not window.more() and not window.text[window.at :].strip()):
        return False
    lines = window.text[window.at :].split("\n", 2)[:2]
    more = window.text[window.at + len(lines[0]) :].strip()
    return bool(more) and any(line.lstrip().startswith(("{", "[")) and _is_value(line) for line in lines)


def _is_value(line):
    inner = Window(iter([line, ""]).__next__)
    try:
        inner.sign()
        inner.value()
        return not inner.sign()
    except Broken:
        return False


def _lines(window, number=0):
    while True:
        number += 1
        end = window.text.find("\n", window.at)
        while end < 0 and window.more(max(CHUNK, len(window.text) - window.at)):
            end = window.text.find("\n", window.at)
        last = end < 0
        try:  # the usual case: one value, and nothing else in the line
            value, stop = _DECODE_LINE(window.text, window.at)
        except (ValueError, RecursionError):
            stop = -1
        if 0 <= stop <= end and window.text[stop:end] in ("", "\r"):
            yield f"line {number}", value
            window.at = end + 1
            continue
        line = window.text[window.at :] if last else window.text[window.at : end]
        inner = Window(iter([line, ""]).__next__, window.most)
        try:
            while inner.sign():
                yield f"line {number}", inner.value()
        except Broken as error:
            if last and isinstance(error, Cut):
                raise
            yield f"line {number}", Broken("the line is cut" if isinstance(error, Cut) else str(error))
        if last:
            return
        window.at = end + 1


def _rest(window, shape, index):
    """Yield the values that follow the first, in a row."""
    while window.sign():
        shape["kind"] = "values"
        yield f"[{index}]", window.value()
        index += 1


def _object(window, shape):
    shape["kind"] = "object"
    while len(window.text) - window.at < HEAD and window.more():
        pass
    if not window.ended and (yield from _wrapped(window, shape)):
        return
    value = shape.pop("value", None)
    if value is None:
        value = window.value()
    lists = (
        []
        if value.keys() & CHATS
        else [key for key in WRAPPERS if isinstance(value.get(key), list) and _holds_chats(value[key])]
    )
    if len(lists) == 1:
        shape["kind"] = lists[0]
        for index, one in enumerate(value[lists[0]]):
            yield f".{lists[0]}[{index}]", one
    else:
        yield "", value
    yield from _rest(window, shape, 1)


def _holds_chats(values):
    """Whether a list holds chats, each an object of its own, and not the messages of one chat."""
    dicts = [one for one in values[:5] if isinstance(one, dict)]
    return bool(dicts) and not any("from" in one or "role" in one or "sender" in one for one in dicts)


def _wrapped(window, shape):
    """Read a large object key by key: yield the elements of a wrapper's list, or put the object into ``shape``."""
    value = {}
    window.expect("{")
    while window.sign() != "}":
        if not window.sign():
            raise Cut("the text ends before its last bracket")
        key = window.value()
        if not isinstance(key, str):
            raise Broken(f"expected a key at sign {window.place:,}")
        window.expect(":")
        if key in WRAPPERS and window.sign() == "[":
            found = _array(window, f".{key}")
            head = list(islice(found, 5))
            if _holds_chats([one for _, one in head]):
                shape["kind"] = key
                yield from head
                yield from found
            else:
                value[key] = [one for _, one in head] + [one for _, one in found]
        else:
            window.sign()
            value[key] = window.value()
        if window.expect(",}") == "}":
            window.at -= 1
    window.at += 1
    if shape["kind"] in WRAPPERS:
        return True
    shape["value"] = value
    return False
