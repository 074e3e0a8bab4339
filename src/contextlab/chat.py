"""A chat as data: messages, turns, atomic groups, leading instructions."""

from __future__ import annotations

from collections import namedtuple
from itertools import pairwise

from .errors import InputError

ROLES = ("system", "developer", "user", "assistant", "tool", "function")
INSTRUCTION_ROLES = ("system", "developer")


class Message(
    namedtuple(
        "Message",
        "role content tool_calls tool_call_id name turn topic",
        defaults=(None, (), None, None, None, None),
    )
):
    """One message of a chat, immutable.

    ``role`` is one of `ROLES`; ``content`` is the text, a list of content parts, or None. ``tool_calls`` is a
    tuple of call dicts in OpenAI's form, ``tool_call_id`` names the call that a tool message answers, ``name``
    is the optional name of the speaker. ``turn`` (1, 2, …) and ``topic`` are for reading a chat; they are never
    sent and never counted.

    >>> Message("user", "My name is Ada.").content
    'My name is Ada.'
    """

    __slots__ = ()

    @property
    def text(self):
        """The content as one text: None is empty, of a list of parts the text parts joined by line ends.

        >>> Message("user", [{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {}}]).text
        'Look:'
        """
        if isinstance(self.content, list):
            return "\n".join(part.get("text", "") for part in self.content if part.get("type") == "text")
        return self.content or ""

    @classmethod
    def from_openai(cls, message, where="message"):
        """Read a message from a dict of OpenAI's chat format; unknown keys raise nothing and are not kept.

        ``where`` is used in error messages. Raises `InputError` when the value is no dict, has no known role,
        has content of another type than text, a list of parts, or None, or tool calls that are no list.

        >>> Message.from_openai({"role": "user", "content": "Hello"}).role
        'user'
        """
        if not isinstance(message, dict):
            raise InputError(f"{where} is a {type(message).__name__}; expected a dict with the keys role and content")
        role = message.get("role")
        if role not in ROLES:
            raise InputError(f"{where} has the role {role!r}; expected one of {', '.join(ROLES)}")
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            raise InputError(
                f"{where} has content of type {type(content).__name__}; expected text, a list of parts, or None"
            )
        calls = message.get("tool_calls") or ()
        if not isinstance(calls, list | tuple):
            raise InputError(f"{where} has tool_calls of type {type(calls).__name__}; expected a list")
        return cls(
            role,
            content,
            tool_calls=tuple(calls),
            tool_call_id=message.get("tool_call_id"),
            name=message.get("name"),
        )

    def to_openai(self):
        """Return the message as a dict of OpenAI's chat format; keys without a value are left out.

        >>> Message("assistant", "Hello, Ada.", turn=1).to_openai()
        {'role': 'assistant', 'content': 'Hello, Ada.'}
        """
        message = {"role": self.role, "content": self.content}
        if self.name is not None:
            message["name"] = self.name
        if self.tool_calls:
            message["tool_calls"] = list(self.tool_calls)
        if self.tool_call_id is not None:
            message["tool_call_id"] = self.tool_call_id
        return message


def leading_instructions(messages):
    """Return how many messages at the start are instructions (role system or developer).

    >>> leading_instructions([Message("system", "Be brief."), Message("user", "Hello")])
    1
    """
    count = 0
    for message in messages:
        if message.role not in INSTRUCTION_ROLES:
            break
        count += 1
    return count


def turns(messages):
    """Return the turns of a chat as ranges of indices into ``messages``; leading instructions belong to none.

    A turn runs from a user message to the one before the next user message. Messages between the instructions
    and the first user message, if any, are a turn of their own.

    >>> roles = ["system", "user", "assistant", "user"]
    >>> turns([Message(role, "…") for role in roles])
    [range(1, 3), range(3, 4)]
    """
    first = leading_instructions(messages)
    starts = [i for i in range(first, len(messages)) if messages[i].role == "user" or i == first]
    return [range(a, b) for a, b in pairwise([*starts, len(messages)])]


def groups(messages):
    """Return the atomic groups of a chat as tuples of indices into ``messages``, in the order of their first index.

    An assistant message that calls tools and all results of its calls are one group, wherever the results stand;
    every other message is a group of its own. A result belongs to the latest call with its id that stands before it;
    a result without such a call is a group of its own.

    >>> call = {"id": "a", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    >>> groups([Message("user", "Time?"), Message("assistant", None, (call,)), Message("tool", "9:00", (), "a")])
    [(0,), (1, 2)]
    """
    found = []
    group_of_call = {}
    for i, message in enumerate(messages):
        if message.role == "tool" and message.tool_call_id in group_of_call:
            group_of_call[message.tool_call_id].append(i)
            continue
        group = [i]
        found.append(group)
        for call in message.tool_calls:
            group_of_call[call.get("id")] = group
    return [tuple(group) for group in found]
