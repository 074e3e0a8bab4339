"""Real chats in: the exports, dumps and data sets that people have, as one kind of record.

A format is found by the structure of what is in the file. A file is read one conversation at a time, so that memory
is bounded by the largest of them; nothing of an archive is written to disk, and nothing is dropped in silence: the
report of a reading adds up.

>>> import io
>>> from contextlab import histories
>>> file = io.BytesIO(b'[{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]')
>>> reading = histories.read(file)
>>> for conversation in reading:
...     print(conversation.turns, [message.role for message in histories.to_messages(conversation)])
1 ['user', 'assistant']
>>> print(reading.report.lines()[1])
messages: 2 = 2 shown
"""

from __future__ import annotations

from .records import Conversation, HistoryError, Part, Record, to_messages

__all__ = [
    "FORMATS",
    "LIMITS",
    "Conversation",
    "HistoryError",
    "Limits",
    "Part",
    "Reading",
    "Record",
    "Report",
    "newest",
    "read",
    "to_messages",
]

# Public name -> the module that has it: json, re and the readers are loaded when a file is read.
_HOME = {
    "FORMATS": "formats",
    "LIMITS": "files",
    "Limits": "files",
    "Reading": "reading",
    "Report": "report",
    "newest": "reading",
    "read": "reading",
}


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    return value
