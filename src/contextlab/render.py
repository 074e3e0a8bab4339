"""What a message costs inside a request: its text, and what the serialised form adds to it."""

from __future__ import annotations

from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .chat import Message

__all__ = ["OpenAIRecipe", "PlainRule"]


def _content_texts(content: object) -> list[str]:
    """Return the texts of a message's content: a string, None, or a list of text parts."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list | tuple):
        raise InputError(f"content must be a text, None or a list of text parts, got {type(content).__name__}")
    texts = []
    for number, part in enumerate(content):
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            raise InputError(f"content part {number} is {kind!r}: only text parts can be counted")
        texts.append(part["text"])
    return texts


def _call_texts(call: object) -> list[str]:
    """Return the name and the arguments of a tool call in OpenAI's form."""
    inner = call
    if isinstance(call, dict):
        inner = call.get("function") or call.get("custom") or call
    if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
        raise InputError(f"not a tool call with a name: {call!r}")
    arguments = inner.get("arguments", inner.get("input"))
    if arguments is None:
        return [inner["name"]]
    if not isinstance(arguments, str):
        import json

        arguments = json.dumps(arguments, ensure_ascii=False)
    return [inner["name"], arguments]


def _fields(message: Message | dict) -> tuple:
    """Return role, content, name, tool calls and tool call id of a message or of an OpenAI message dict."""
    if isinstance(message, dict):
        calls = message.get("tool_calls") or ()
        if message.get("function_call"):  # the older form, one call a message
            calls = [*calls, message["function_call"]]
        get = message.get
        return get("role"), get("content"), get("name"), calls, get("tool_call_id")
    try:
        return message.role, message.content, message.name, message.tool_calls, message.tool_call_id
    except AttributeError:
        raise InputError(f"not a message: {message!r}") from None


def _count_content(content: object, count: Callable[[str], int]) -> int:
    return count(content) if isinstance(content, str) else sum(map(count, _content_texts(content)))


class PlainRule:
    """Charge each message its text and a fixed overhead: the rule of the 200-turn lab.

    The overhead stands for the role, the name and the markers around the message. The name and the
    arguments of tool calls are text.

    Args:
        counter: a callable that counts a text.
        overhead: units added to each message.
        reply_start: units added to each request, for the opening of the reply.

    >>> from contextlab.tokens import WordPieces
    >>> rule = PlainRule(WordPieces())
    >>> rule.message({"role": "user", "content": "Hello"})
    5
    >>> rule.request([{"role": "user", "content": "Hello"}])
    8
    """

    additive = True  # the cost of a request is the sum of its messages and the reply start

    def __init__(self, counter: Callable[[str], int], overhead: int = 4, reply_start: int = 3) -> None:
        self.counter = counter
        self.overhead = overhead
        self.reply_start = reply_start

    def message(self, message: Message | dict) -> int:
        """Return the units of one message inside a request.

        Raises:
            InputError: the content is neither text nor a list of text parts, or a tool call has no name.
        """
        _, content, _, calls, _ = _fields(message)
        units = self.overhead + _count_content(content, self.counter)
        for call in calls or ():
            units += sum(map(self.counter, _call_texts(call)))
        return units

    def request(self, messages: Iterable[Message | dict]) -> int:
        """Return the units of a whole request: its messages and the reply start."""
        return self.reply_start + sum(map(self.message, messages))


class OpenAIRecipe:
    """Count a request as the OpenAI Cookbook does: each value, 3 a message, 1 a name, 3 for the reply.

    An estimate: the count that the service returns is the bill. Sources: OpenAI Cookbook, "How to count tokens
    with tiktoken" (its older rule, for gpt-3.5-turbo-0301, is `per_message=4, per_name=-1`). For tool calls the
    Cookbook has no rule. A call is charged its name, its arguments and `per_call`, which agrees with the counts
    that the API returned for hmarr/openai-chat-tokens; the id of a call costs `per_call` in the result that
    carries it, whatever its letters, as LangChain infers, and nothing in the call.

    Args:
        counter: a callable that counts a text, usually `BPE(...)`.
        per_message: tokens that stand around each message.
        per_name: tokens that a name adds to its own.
        reply_start: tokens that open the reply.
        per_call: tokens that stand around a tool call, and that tie a result to its call.

    >>> from contextlab.tokens import WordPieces
    >>> OpenAIRecipe(WordPieces()).request([{"role": "user", "content": ""}])
    7
    """

    additive = True

    def __init__(
        self,
        counter: Callable[[str], int],
        per_message: int = 3,
        per_name: int = 1,
        reply_start: int = 3,
        per_call: int = 3,
    ) -> None:
        self.counter = counter
        self.per_message = per_message
        self.per_name = per_name
        self.reply_start = reply_start
        self.per_call = per_call

    def message(self, message: Message | dict) -> int:
        """Return the tokens of one message inside a request.

        Raises:
            InputError: there is no role, the content is neither text nor a list of text parts, or a tool call
                has no name.
        """
        role, content, name, calls, call_id = _fields(message)
        if not isinstance(role, str):
            raise InputError(f"a message needs a role, got {role!r}")
        count = self.counter
        tokens = self.per_message + count(role) + _count_content(content, count)
        if name:
            tokens += count(name) + self.per_name
        for call in calls or ():
            tokens += sum(map(count, _call_texts(call))) + self.per_call
        return tokens + self.per_call if call_id else tokens

    def request(self, messages: Iterable[Message | dict]) -> int:
        """Return the tokens of a whole request: its messages and the reply start."""
        return self.reply_start + sum(map(self.message, messages))
