"""What every format becomes: conversations of records, in order, nothing of the file's own shape left."""

from __future__ import annotations

from collections import namedtuple

from ..chat import Message
from ..errors import InputError

__all__ = ["Conversation", "HistoryError", "Part", "Record", "printable", "to_messages"]


def printable(text: str) -> str:
    """Return a text of a file as one line that can be shown: no control signs, no halves of surrogate pairs.

    >>> printable("one\\ntwo\\x1b[2J")
    'one two [2J'
    """
    if text.isprintable():
        return text
    text = text.encode("utf-8", "replace").decode()
    return "".join(sign if sign.isprintable() else " " for sign in text)


class HistoryError(InputError):
    """A file that cannot be read as chats; says what was seen and what to do.

    ``candidates``: names of the formats between which the reader has to choose, if that is the matter.
    ``report``: the `Report` up to here, or None.
    """

    def __init__(self, message: str, candidates: tuple[str, ...] = (), report=None):
        message = printable(message)
        super().__init__(message, candidates, report)
        self.message, self.candidates, self.report = message, tuple(candidates), report

    def __str__(self):
        return self.message


class Part(namedtuple("Part", "kind text name size", defaults=("", None, None))):
    """A part of a message: its ``kind`` (text, image, audio, file, …), its text, a file's name, its size in bytes."""

    __slots__ = ()


class Record(
    namedtuple(
        "Record",
        "role text parts tool_calls tool_call_id name time hidden kind position source",
    )
):
    """One message of a chat.

    ``role``: one of `contextlab.chat.ROLES`. ``text``: all its text; a part without text stands in it as a mark such
    as ``[image]``. ``parts``: a tuple of `Part`, empty when the message is one text. ``tool_calls``: a tuple of call
    dicts in OpenAI's form; ``tool_call_id``: the call that a tool message answers. ``time``: seconds since 1970, UTC,
    or None. ``hidden``: it did not stand on the screen. ``kind``: what the role does not say: ``message``,
    ``custom_instructions``, ``memory``, ``reasoning``, ``tool_call``, ``tool_result``, ``canvas``, ``refusal``,
    ``error`` or ``other:`` and the type in the file. ``position``: its index in the conversation. ``source``: where it
    stands inside the conversation's element of the file.
    """

    __slots__ = ()


class Conversation(
    namedtuple("Conversation", "id title format created updated model messages branches warnings source")
):
    """One chat: its `Record` tuple ``messages`` along one branch.

    ``created``, ``updated``: seconds since 1970, UTC, or None. ``branches``: how many there are to choose from.
    ``source``: the file or the member of an archive, and the index of the element in it.
    """

    __slots__ = ()

    @property
    def turns(self) -> int:
        """How many user messages stood on the screen."""
        return sum(record.role == "user" and not record.hidden for record in self.messages)


def to_messages(conversation: Conversation, *, hidden: bool = True, reasoning: bool = False) -> list[Message]:
    """Return a conversation as messages that `contextlab.replay.CountedChat` takes.

    Args:
        conversation: what `read` gave.
        hidden: with the messages that were sent but did not stand on the screen.
        reasoning: with the thoughts of the model, which are not sent again as a rule.

    Without ``hidden`` an assistant message comes without its tool calls, since their results stay away too.

    >>> said = Record("user", "Hello", (), (), None, None, None, False, "message", 0, "[0]")
    >>> to_messages(Conversation(None, "", "messages", None, None, None, (said,), 1, (), "a.json"))[0].content
    'Hello'
    """
    found = []
    for record in conversation.messages:
        if record.kind == "reasoning":
            if not reasoning or not hidden:
                continue
        elif record.hidden and not hidden:
            continue
        calls = record.tool_calls if hidden else ()
        content = record.text if record.text or not calls else None
        name = None if record.role == "tool" else record.name
        found.append(Message(record.role, content, calls, record.tool_call_id, name))
    return found
