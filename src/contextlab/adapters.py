"""Messages of other libraries in and out: OpenAI, Anthropic, LangChain, LlamaIndex. None of them has to be installed.

Everything here reads into, and writes from, dicts of OpenAI's chat format, which the assembler takes. Objects are read
by their attributes, whatever their class. What comes out is the data that the library reads back itself:

- Anthropic: ``system, messages = to_anthropic(...)``, the two arguments of a request;
- LangChain: ``langchain_core.messages.messages_from_dict(to_langchain(...))``;
- LlamaIndex: ``[ChatMessage.model_validate(one) for one in to_llama_index(...)]``.

A content part that has no counterpart goes through as it is: the assembler refuses it, or counts it at a given price.

>>> system, messages = to_anthropic([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}])
>>> system, messages
('Be brief.', [{'role': 'user', 'content': 'Hello'}])
>>> from_anthropic(messages, system)
[{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hello'}]
"""

from __future__ import annotations

from .chat import INSTRUCTION_ROLES, ROLES, Message
from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "from_anthropic",
    "from_langchain",
    "from_llama_index",
    "from_openai",
    "to_anthropic",
    "to_langchain",
    "to_llama_index",
    "to_openai",
]


# OpenAI.


def from_openai(messages: Iterable) -> list[dict]:
    """Return OpenAI's messages as dicts: dicts are copied, `Message` and objects of OpenAI's library are written out.

    >>> from_openai([Message("user", "Hello", turn=1)])
    [{'role': 'user', 'content': 'Hello'}]
    """
    found = []
    for i, message in enumerate(messages):
        if isinstance(message, Message):
            found.append(message.to_openai())
        elif isinstance(message, dict):
            found.append(dict(message))
        elif hasattr(message, "model_dump"):
            found.append(message.model_dump(exclude_none=True, mode="json"))
        else:
            raise InputError(
                f"message {i} is a {type(message).__name__}: expected a dict or a message of OpenAI's library"
            )
        found[-1].setdefault("content", None)
        Message.from_openai(found[-1], f"message {i}")
    return found


def to_openai(messages: Iterable) -> list[dict]:
    """Return messages, dicts or `Message`, as the dicts that OpenAI's API takes."""
    return from_openai(messages)


# Anthropic: content is a text or a list of blocks; results of tools are blocks of a user message.


def from_anthropic(messages: Iterable, system=None) -> list[dict]:
    """Return the messages of an Anthropic request, and its system text or blocks, as OpenAI's dicts.

    Each result block becomes a tool message; what a user says beside results follows as a user message.
    """
    found = []
    for block in [system] if isinstance(system, str) else system or ():
        found.append({"role": "system", "content": block if isinstance(block, str) else _field(block, "text")})
    for i, message in enumerate(messages):
        role, content = _field(message, "role"), _field(message, "content")
        if role not in ("user", "assistant"):
            raise InputError(f"message {i} has the role {role!r}; Anthropic's are user and assistant")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else [_plain(one) for one in content or ()]
        )
        parts, calls = [], []
        for block in blocks:
            kind = block.get("type")
            if kind == "tool_use":
                calls.append(_call(block.get("id"), block.get("name"), block.get("input")))
            elif kind == "tool_result":
                result = block.get("content")
                result = result if isinstance(result, str) else _content([_part_in(one) for one in result or ()]) or ""
                more = {"is_error": True} if block.get("is_error") else {}
                found.append({"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": result, **more})
            else:
                parts.append(_part_in(block))
        if role == "assistant":
            found.append({"role": role, "content": _content(parts), **({"tool_calls": calls} if calls else {})})
        elif parts or not blocks:
            found.append({"role": role, "content": _content(parts) or ""})
    return found


def to_anthropic(messages: Iterable) -> tuple[str | None, list[dict]]:
    """Return system text and messages for Anthropic's API.

    Leading instructions are the system text, joined by empty lines. A system message further behind is a text block of
    a user message. Messages of one role in a row become one, because roles take turns there; empty ones are left out.
    """
    system, found = [], []
    for message in from_openai(messages):
        role, content = message["role"], message["content"]
        if role in INSTRUCTION_ROLES and not found:
            system.append(Message.from_openai(message).text)
            continue
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        blocks = [_part_out(part) for part in parts if part.get("type") != "text" or part.get("text")]
        if role == "tool":
            block = {
                "type": "tool_result",
                "tool_use_id": message.get("tool_call_id"),
                "content": _content(blocks) or "",
            }
            blocks = [{**block, **({"is_error": True} if message.get("is_error") else {})}]
        for call in message.get("tool_calls") or ():
            function = call["function"]
            arguments = _arguments(function)
            blocks.append({"type": "tool_use", "id": call.get("id"), "name": function["name"], "input": arguments})
        role = "assistant" if role == "assistant" else "user"
        if blocks and found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        elif blocks:
            found.append({"role": role, "content": blocks})
    for message in found:
        message["content"] = _content(message["content"])
    return "\n\n".join(system) or None, found


def _part_in(block):
    """Return an Anthropic block as a content part of OpenAI's."""
    block = _plain(block)
    source = block.get("source")
    if block.get("type") == "image" and isinstance(source, dict) and source.get("type") in ("base64", "url"):
        url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "text", "text": block["text"]} if block.get("type") == "text" else block


def _part_out(part):
    """Return a content part of OpenAI's as an Anthropic block."""
    if part.get("type") != "image_url":
        return part
    url = part["image_url"]["url"]
    head, comma, data = url.partition(";base64,")
    if comma:
        source = {"type": "base64", "media_type": head.removeprefix("data:"), "data": data}
    else:
        source = {"type": "url", "url": url}
    return {"type": "image", "source": source}


# LangChain: objects with a type, a content, and tool calls whose arguments are objects.

LANGCHAIN_TYPES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}


def from_langchain(messages: Iterable) -> list[dict]:
    """Return LangChain's message objects as OpenAI's dicts."""
    found = []
    for i, message in enumerate(messages):
        kind = str(_field(message, "type")).removesuffix("MessageChunk").lower()
        more = _field(message, "additional_kwargs") or {}
        role = LANGCHAIN_TYPES.get(kind) or _field(message, "role")
        role = more.get("__openai_role__") or {"human": "user", "ai": "assistant"}.get(role, role)
        if role not in ROLES:
            raise InputError(f"message {i} has the type {kind!r} and the role {role!r}, which are none of LangChain's")
        content = _field(message, "content")
        if not isinstance(content, str):
            parts = [{"type": "text", "text": one} if isinstance(one, str) else _plain(one) for one in content or ()]
            content = _content(
                [_langchain_part(part) for part in parts if part.get("type") not in ("tool_use", "tool_call")]
            )
        calls = [_call(one["id"], one["name"], one["args"]) for one in _field(message, "tool_calls") or ()]
        calls += [_call(one["id"], one["name"], one["args"]) for one in _field(message, "invalid_tool_calls") or ()]
        found.append(_message(role, content, calls, _field(message, "tool_call_id"), _field(message, "name")))
    return found


def _langchain_part(part):
    """Return a content part in OpenAI's form: LangChain has one of its own for images."""
    if part.get("type") != "image" or "source" in part:
        return _part_in(part)
    data = part.get("base64") or part.get("data")
    url = f"data:{part.get('mime_type')};base64,{data}" if data else part.get("url")
    return {"type": "image_url", "image_url": {"url": url}} if url else part


def to_langchain(messages: Iterable) -> list[dict]:
    """Return messages in the form that ``langchain_core.messages.messages_from_dict`` reads.

    >>> to_langchain([{"role": "user", "content": "Hello"}])
    [{'type': 'human', 'data': {'type': 'human', 'content': 'Hello'}}]
    """
    types = {role: kind for kind, role in LANGCHAIN_TYPES.items()}
    found = []
    for message in from_openai(messages):
        kind = types.get(message["role"], "system")
        data = {"type": kind, "content": message["content"] or ""}
        if message["role"] == "developer":
            data["additional_kwargs"] = {"__openai_role__": "developer"}
        if message.get("name"):
            data["name"] = message["name"]
        if message.get("tool_call_id"):
            data["tool_call_id"] = message["tool_call_id"]
        if message.get("tool_calls"):
            data["tool_calls"], data["invalid_tool_calls"] = [], []
            for call in message["tool_calls"]:
                name, id_ = call["function"]["name"], call.get("id")
                try:
                    args = _arguments(call["function"])
                    data["tool_calls"].append({"type": "tool_call", "name": name, "args": args, "id": id_})
                except InputError as error:
                    args = call["function"].get("arguments")
                    data["invalid_tool_calls"].append(
                        {"type": "invalid_tool_call", "name": name, "args": args, "id": id_, "error": str(error)}
                    )
        found.append({"type": kind, "data": data})
    return found


# LlamaIndex: a role, a list of blocks, and further keys beside them.


def from_llama_index(messages: Iterable) -> list[dict]:
    """Return LlamaIndex's chat messages as OpenAI's dicts."""
    found = []
    for i, message in enumerate(messages):
        role = _field(message, "role")
        role = getattr(role, "value", role)
        role = {"model": "assistant", "chatbot": "assistant"}.get(role, role)
        if role not in ROLES:
            raise InputError(f"message {i} has the role {role!r}, which is none of LlamaIndex's")
        more = _field(message, "additional_kwargs") or {}
        calls = [_plain(one) for one in more.get("tool_calls") or ()]
        parts = []
        for block in map(_plain, _field(message, "blocks") or ()):
            kind = block.get("block_type")
            if kind == "tool_call":
                if block.get("tool_call_id") not in [call.get("id") for call in calls]:
                    calls.append(_call(block.get("tool_call_id"), block.get("tool_name"), block.get("tool_kwargs")))
            elif kind == "text":
                parts.append({"type": "text", "text": block.get("text") or ""})
            elif kind == "image" and (block.get("url") or block.get("image")):
                data = block.get("image")
                data = data.decode("ascii") if isinstance(data, bytes) else data
                url = f"data:{block.get('image_mimetype') or 'image/png'};base64,{data}" if data else str(block["url"])
                detail = {"detail": block["detail"]} if block.get("detail") else {}
                parts.append({"type": "image_url", "image_url": {"url": url, **detail}})
            else:
                parts.append({**block, "type": kind})
        found.append(_message(role, _content(parts), calls, more.get("tool_call_id"), more.get("name")))
    return found


def to_llama_index(messages: Iterable) -> list[dict]:
    """Return messages in the form that LlamaIndex's ``ChatMessage.model_validate`` reads.

    >>> to_llama_index([{"role": "user", "content": "Hello"}])
    [{'role': 'user', 'blocks': [{'block_type': 'text', 'text': 'Hello'}], 'additional_kwargs': {}}]
    """
    found = []
    for message in from_openai(messages):
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or ()
        blocks = []
        for part in parts:
            if part.get("type") == "image_url":
                image = part["image_url"]
                head, comma, data = image["url"].partition(";base64,")
                more = {"image": data, "image_mimetype": head.removeprefix("data:")} if comma else {"url": image["url"]}
                blocks.append(
                    {"block_type": "image", **more, **({"detail": image["detail"]} if "detail" in image else {})}
                )
            else:
                blocks.append({"block_type": part.get("type"), **{k: v for k, v in part.items() if k != "type"}})
        more = {key: message[key] for key in ("tool_calls", "tool_call_id", "name") if message.get(key)}
        found.append({"role": message["role"], "blocks": blocks, "additional_kwargs": more})
    return found


# What they share.


def _field(value, name):
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _plain(value):
    """Return a dict for a dict or for an object of a library that can write itself out."""
    if isinstance(value, dict):
        return value
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True)
    raise InputError(f"expected a block with a type, got {type(value).__name__}")


def _content(parts):
    """Return the content for a list of parts: one text as a text, none as None."""
    if len(parts) == 1 and parts[0].get("type") == "text" and set(parts[0]) == {"type", "text"}:
        return parts[0]["text"]
    return parts or None


def _call(call_id, name, arguments):
    if not isinstance(arguments, str):
        import json

        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _arguments(function):
    """Return the arguments of a call as an object."""
    import json

    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise InputError(f"the arguments of the call of {function.get('name')} are no JSON object")
    return arguments


def _message(role, content, calls, call_id, name):
    message = {"role": role, "content": content}
    more = {"tool_calls": calls, "tool_call_id": call_id, "name": name}
    return {**message, **{key: value for key, value in more.items() if value}}
