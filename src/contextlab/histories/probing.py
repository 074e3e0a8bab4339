"""The first elements of a member of an archive, or of a file, decide on its format."""

from __future__ import annotations

from itertools import chain

from .decoding import Broken, Cut, Window, elements
from .files import Text
from .formats import FORMATS, claims, is_message, message_claims, seen
from .records import HistoryError
from .transcripts import begins, split_transcript

__all__ = ["PLAIN", "Probe", "probe_member", "whole_text"]

PROBED = 20  # elements that decide on the format
PROBED_SIGNS = 1 << 20
TRANSCRIPT_SIGNS = 64 << 20
PLAIN = {"messages"}  # what is claimed when there is no sign of another


class Probe:
    """What the first elements of a member say: ``formats`` that claim it, or ``why`` none does."""

    def __init__(self, name, opener):
        self.name, self.opener = name, opener
        self.formats, self.why, self.size = (), "", 0
        self.bare = self.transcript = False


def probe_member(source, name, opener, format, labels, packed):
    probe = Probe(name, opener)
    with source.stream(opener, name) as stream:
        try:
            text = Text(stream, name)
            if text.refuse:
                probe.why = text.refuse
                return probe
            window = Window(text, source.limits.conversation)
            sign = window.sign()
        except HistoryError as error:
            if not packed:
                raise
            probe.why = str(error)
            return probe
        if not sign:
            probe.why = "it is empty"
            return probe
        text_first = sign not in '[{"' or begins(window.text, labels)
        if format == "transcript" or (format is None and text_first and not packed):
            probe.formats, probe.transcript = ("transcript",), True
            try:
                split_transcript(whole_text(_all_of(window, text)), labels)
            except HistoryError as error:
                raise HistoryError(f"{name}: {error}") from None
            return probe
        _look(probe, window, format, packed)
    return probe


def _all_of(window, text):
    """Return a reader that gives what a window holds, then the rest."""
    pieces = chain([window.text], iter(text, ""))
    return lambda: next(pieces, "")


def whole_text(text):
    pieces, size = [], 0
    while piece := text():
        pieces.append(piece)
        size += len(piece)
        if size > TRANSCRIPT_SIGNS:
            raise HistoryError(f"a transcript is longer than {TRANSCRIPT_SIGNS:,} signs: split it")
    return "".join(pieces)


def _look(probe, window, format, packed):
    """Look at the first elements: set formats, or why there is none."""
    head, shape, why = [], {}, ""
    found = elements(window, shape)
    try:
        for _, element in found:
            if not isinstance(element, Broken):
                head.append(element)
            if len(head) >= PROBED or window.place > PROBED_SIGNS:
                break
    except Broken as error:
        why = f"it is no JSON ({error})"
        if isinstance(error, Cut):
            end = window.before + len(window.text)
            why = f"its JSON is cut off at sign {end:,}, in the middle of its first element: get the file again"
    except HistoryError as error:
        if not packed:
            raise
        why = str(error)
    finally:
        found.close()
    kind = shape.get("kind")
    names = set()
    for element in head:
        names |= claims(element)
    bare = False
    first = next((one for one in head if isinstance(one, dict | str)), None)
    if kind == "array" and is_message(first):
        names, bare = message_claims(head), True
    elif kind == "lines" and names <= {"jan", "oasst"}:
        bare = False
    elif kind in ("lines", "values", "object") and first is not None and is_message(first) and not names:
        names = message_claims(head) & {"langchain"} if kind != "object" else message_claims(head)
    if len(names) > 1:
        names -= PLAIN
    probe.bare = bare
    if format is not None:
        reader = FORMATS[format]
        if packed and names and format not in names:
            probe.why = f"it is {', '.join(sorted(names))}, not {format}"
        elif not head:
            probe.why = why or "there is nothing in it"
        elif packed and not names:
            probe.why = why or seen(head[0])
        else:
            probe.formats = (format,)
            probe.bare = reader.of_messages and is_message(first) and kind in ("array", "lines", "values")
        return
    probe.formats = tuple(sorted(names))
    if not names:
        if head:
            what = seen(head[0])
            if not packed:
                what = f"no format claims it; its first element is {what}"
            if kind in ("lines", "values") and message_claims(head) == PLAIN:
                what += '. Lines of messages may be one chat: say so with format="messages"'
            elif not packed:
                what += ". If it is a chat, name its format (format=, or --format of the command)"
            probe.why = what
        else:
            probe.why = why or "there is nothing in it"
