"""Messages as frameworks write them out: LangChain in three shapes, LlamaIndex and its chat store."""

from __future__ import annotations

from .api import ROLES
from .content import add_message, openai_calls
from .draft import Draft, Skip, as_dict, as_list, as_text

__all__ = ["LANGCHAIN_TYPES", "read_langchain", "read_llamaindex", "split_store"]

LANGCHAIN_TYPES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}


def flat(message):
    """Return (type, fields) of a LangChain message in any of its shapes; the type is "" when it is none."""
    message = as_dict(message)
    fields = message
    for key in ("kwargs", "data", "lc_kwargs"):
        if isinstance(message.get(key), dict):
            fields = message[key]
            break
    kind = as_text(message.get("type")) if fields is not message.get("kwargs") else as_text(fields.get("type"))
    path = message.get("id")
    if not kind and isinstance(path, list) and path and isinstance(path[-1], str):
        kind = path[-1]
    kind = kind or as_text(fields.get("type"))
    return kind.removesuffix("MessageChunk").removesuffix("Message").lower(), fields


def read_langchain(element, draft: Draft) -> None:
    """Read a list of LangChain's messages, or an object that has it under messages, or inputs and outputs."""
    where = ""
    if isinstance(element, dict):
        draft.about(id=element.get("id") or element.get("session_id"))
        if isinstance(element.get("messages"), list):
            messages, where = element["messages"], "messages"
        elif isinstance(element.get("inputs"), dict) or isinstance(element.get("outputs"), dict):
            inputs, outputs = as_dict(element.get("inputs")), as_dict(element.get("outputs"))
            given = inputs.get("input", inputs.get("messages"))
            answer = outputs.get("output", outputs.get("messages"))
            messages = [
                *(given if isinstance(given, list) else [given] if given is not None else []),
                *(answer if isinstance(answer, list) else [answer] if answer is not None else []),
            ]
            where = "inputs+outputs"
        elif isinstance(element.get("channel_values"), dict):
            messages, where = as_list(element["channel_values"].get("messages")), "channel_values.messages"
        else:
            messages = [element]
    else:
        messages = as_list(element)
    for index, message in enumerate(messages):
        _langchain_message(message, draft, f"{where}[{index}]")


def _langchain_message(message, draft, source):
    if isinstance(message, str):
        draft.warn("a message is a plain text: taken as the user's")
        draft.add("user", message, source=source)
        return
    kind, fields = flat(message)
    if kind == "remove":
        draft.unreadable(source, "an order to delete a message")
        return
    more = as_dict(fields.get("additional_kwargs"))
    role = LANGCHAIN_TYPES.get(kind) or ROLES.get((as_text(fields.get("role")) or kind).lower())
    if role is None:
        draft.unreadable(source, f"the type {kind[:40]!r} is unknown")
        return
    calls = openai_calls(fields, draft) + openai_calls({"tool_calls": fields.get("invalid_tool_calls")}, draft)
    if not calls:
        calls = openai_calls(more, draft)
    content = fields.get("content")
    if calls and isinstance(content, list):  # the calls stand among the blocks a second time
        content = [one for one in content if as_dict(one).get("type") not in ("tool_use", "tool_call", "function_call")]
    thought = as_text(more.get("reasoning_content"))
    add_message(
        draft,
        role,
        "" if content is None else content,
        calls=calls,
        thoughts=[thought] if thought else (),
        call_id=fields.get("tool_call_id"),
        name=fields.get("name"),
        source=source,
    )


def split_store(element):
    """Yield each chat of a chat store, or the element itself."""
    store = as_dict(element).get("store")
    if isinstance(store, dict):
        for key, messages in store.items():
            yield f".store.{key}", {"id": key, "messages": messages}
    else:
        yield "", element


def read_llamaindex(element, draft: Draft) -> None:
    """Read a list of LlamaIndex's messages."""
    where = ""
    messages = element
    if isinstance(element, dict):
        draft.about(id=element.get("id"))
        messages = element.get("messages", element.get("chat_history"))
        where = "messages"
    if not isinstance(messages, list):
        raise Skip("broken", "a chat without its list of messages")
    for index, message in enumerate(messages):
        source = f"{where}[{index}]"
        if isinstance(as_dict(message).get("data"), dict) and "role" not in message:
            message = message["data"]
        role = ROLES.get(as_text(as_dict(message).get("role")).lower())
        if role is None:
            draft.unreadable(source, "it has no known role")
            continue
        more = as_dict(message.get("additional_kwargs"))
        calls = openai_calls(more, draft)
        blocks = message.get("blocks")
        if isinstance(blocks, list):
            known = {call["id"] for call in calls}
            blocks = [
                one
                for one in blocks
                if not (
                    as_dict(one).get("block_type") == "tool_call"
                    and isinstance(one.get("tool_call_id"), str)
                    and one["tool_call_id"] in known
                )
            ]
        else:
            blocks = message.get("content")
        add_message(
            draft,
            role,
            "" if blocks is None else blocks,
            calls=calls,
            call_id=more.get("tool_call_id") or message.get("tool_call_id"),
            name=more.get("name"),
            source=source,
        )
