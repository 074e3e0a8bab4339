"""Rules that charge a message its text and a published overhead."""

from __future__ import annotations

from ..chat import ROLES
from ..errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..chat import Message
    from .images import ImageTiles

__all__ = ["OpenAIRecipe", "PlainRule"]


def content_texts(content: object) -> list[str]:
    """Return the texts of a message's content: a string, None, or a list of text parts."""
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    texts = []
    for number, part in enumerate(_parts(content)):
        if not _is_text(part):
            kind = part.get("type") if isinstance(part, dict) else type(part).__name__
            raise InputError(f"content part {number} is {kind!r}: only text parts can be counted")
        texts.append(part["text"])
    return texts


def _parts(content: object) -> list | tuple:
    if not isinstance(content, list | tuple):
        raise InputError(f"content must be a text, None or a list of text parts, got {type(content).__name__}")
    return content


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)


def call_texts(call: object) -> list[str]:
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


def fields_of(message: Message | dict) -> tuple:
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


def check_role(role: object) -> None:
    if role not in ROLES:
        raise InputError(f"a message needs a role, one of {', '.join(ROLES)}; got {role!r}")


def _count_content(content: object, count: Callable[[str], int], images: ImageTiles | None) -> int:
    if isinstance(content, str):
        return count(content)
    if images is None or content is None:
        return sum(map(count, content_texts(content)))
    units = 0
    for number, part in enumerate(_parts(content)):
        if _is_text(part):
            units += count(part["text"])
        elif isinstance(part, dict):
            units += images.part(part, f"content part {number}")
        else:
            raise InputError(f"content part {number} is {type(part).__name__!r}: a part is a dict with a type")
    return units


class PlainRule:
    """Charge each message its text and a fixed overhead: the rule of the 200-turn lab.

    The overhead stands for the role, the name and the markers around the message. The name and the
    arguments of tool calls are text.

    Args:
        counter: a callable that counts a text.
        overhead: units added to each message.
        reply_start: units added to each request, for the opening of the reply.
        images: what images cost, such as `ImageTiles()`; without it an image is an error, never 0.

    >>> from contextlab.tokens import WordPieces
    >>> rule = PlainRule(WordPieces())
    >>> rule.message({"role": "user", "content": "Hello"})
    5
    >>> rule.request([{"role": "user", "content": "Hello"}])
    8
    """

    additive = True  # the cost of a request is the sum of its messages and the reply start

    def __init__(
        self,
        counter: Callable[[str], int],
        overhead: int = 4,
        reply_start: int = 3,
        images: ImageTiles | None = None,
    ) -> None:
        self.counter = counter
        self.overhead = overhead
        self.reply_start = reply_start
        self.images = images

    def message(self, message: Message | dict) -> int:
        """Return the units of one message inside a request.

        Raises:
            InputError: the content is neither text nor a list of parts with a price, or a tool call has no name.
        """
        _, content, _, calls, _ = fields_of(message)
        units = self.overhead + _count_content(content, self.counter, self.images)
        for call in calls or ():
            units += sum(map(self.counter, call_texts(call)))
        return units

    def tools_cost(self, tools: Iterable[dict] | None) -> int:
        """Return the units of the tools of a request: their JSON, one text a tool."""
        if not tools:
            return 0
        import json

        return sum(self.counter(json.dumps(tool, ensure_ascii=False)) for tool in tools)

    def request(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> int:
        """Return the units of a whole request: its messages, its tools and the reply start."""
        return self.reply_start + sum(map(self.message, messages)) + self.tools_cost(tools)


class OpenAIRecipe:
    """Count a request as the OpenAI Cookbook does: each value, 3 a message, 1 a name, 3 for the reply.

    An estimate: the count that the service returns is the bill. Sources: OpenAI Cookbook, "How to count tokens
    with tiktoken" (its older rule, for gpt-3.5-turbo-0301, is `per_message=4, per_name=-1`), for messages and for
    tools.

    For tool calls the Cookbook has no rule. A call is charged its name, its arguments and `per_call`, which agrees
    with the counts that the API returned for hmarr/openai-chat-tokens. The id that ties a result to its call is
    charged `per_call` too, whatever its letters. That is an assumption: LangChain makes it
    (langchain_openai/chat_models/base.py, there "an inferred approximation"), and OpenAI documents nothing. The one
    bill that we found for a call and its result, 35 tokens from gpt-4 in January 2024 (forestwanglin/openai-java,
    issue 5), is explained by a result that costs 3, the name of its function and its content. This rule says 36
    for that request, and 40 when the result repeats the name: above the bill.

    Args:
        counter: a callable that counts a text, usually `BPE(...)`.
        per_message: tokens that stand around each message.
        per_name: tokens that a name adds to its own.
        reply_start: tokens that open the reply.
        per_call: tokens that stand around a tool call, and that tie a result to its call.
        images: what images cost, such as `ImageTiles()`; without it an image is an error, never 0.
        per_function: tokens that stand around a tool; None is the Cookbook's 7 for o200k_base (gpt-4o) and 10 for
            every other vocabulary (gpt-4).

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
        images: ImageTiles | None = None,
        per_function: int | None = None,
    ) -> None:
        self.counter = counter
        self.per_message = per_message
        self.per_name = per_name
        self.reply_start = reply_start
        self.per_call = per_call
        self.images = images
        self.per_function = per_function

    def message(self, message: Message | dict) -> int:
        """Return the tokens of one message inside a request.

        Raises:
            InputError: the role is none of `contextlab.chat.ROLES`, the content is neither text nor a list of parts
                with a price, or a tool call has no name.
        """
        role, content, name, calls, call_id = fields_of(message)
        check_role(role)
        count = self.counter
        tokens = self.per_message + count(role) + _count_content(content, count, self.images)
        if name:
            tokens += count(name) + self.per_name
        for call in calls or ():
            tokens += sum(map(count, call_texts(call))) + self.per_call
        return tokens + self.per_call if call_id else tokens

    def tools_cost(self, tools: Sequence[dict] | None) -> int:
        """Return the tokens of the tools of a request, by the rule of the Cookbook.

        It reads the first level of the parameters; `OpenAIDeclarations` reads all of them.

        Raises:
            InputError: a tool is no function with a name, or its parameters are no JSON schema of an object.
        """
        if not tools:
            return 0
        from .tools import cookbook_cost

        per_function = self.per_function
        if per_function is None:
            per_function = 7 if getattr(self.counter, "name", "") == "o200k_base" else 10
        return cookbook_cost(tools, self.counter, per_function)

    def request(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> int:
        """Return the tokens of a whole request: its messages, its tools and the reply start."""
        return self.reply_start + sum(map(self.message, messages)) + self.tools_cost(tools)
