"""Public data sets of chats: ShareGPT, LMSYS and WildChat, OpenAssistant, UltraChat."""

from __future__ import annotations

from .api import ROLES as CHAT_ROLES
from .content import add_message, openai_calls
from .draft import Draft, Skip, as_dict, as_list, as_text, compact
from .trees import ends_of

__all__ = ["read_oasst", "read_sharegpt", "read_ultrachat", "read_wild"]

SPEAKERS = {
    **CHAT_ROLES,
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "prompter": "user",
    "function_call": "assistant",
    "observation": "tool",
    "function_response": "tool",
}


def read_sharegpt(element, draft: Draft) -> None:
    """Read messages with ``from`` and ``value``."""
    element = {"conversations": element} if isinstance(element, list) else as_dict(element)
    draft.about(id=element.get("id"), title=element.get("title"), model=element.get("model"))
    messages = element.get("conversations")
    messages = messages if isinstance(messages, list) else element.get("conversation")
    if not isinstance(messages, list):
        raise Skip("broken", "a conversation without its conversations list")
    if element.get("system") is not None:
        draft.add("system", as_text(element["system"]), source="system")
    for index, message in enumerate(messages):
        source = f"conversations[{index}]"
        if not isinstance(message, dict):
            draft.unreadable(source, "it is no object")
            continue
        speaker = as_text(message.get("from") or message.get("role"))
        role = SPEAKERS.get(speaker) or SPEAKERS.get(speaker.lower())
        if role is None:
            draft.unreadable(source, f"the speaker {speaker[:40]!r} is unknown")
            continue
        value = message.get("value", message.get("content"))
        if speaker == "function_call":
            call = as_dict(value) or _decoded(as_text(value))
            arguments = call.get("arguments", value)
            draft.add("assistant", "", calls=[draft.call(None, call.get("name"), arguments)], source=source)
        elif isinstance(value, str) and "tool_calls" not in message:
            draft.add(role, value, source=source)
        else:
            add_message(draft, role, "" if value is None else value, source=source, calls=openai_calls(message, draft))


def _decoded(text):
    import json

    try:
        return as_dict(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def read_wild(element, draft: Draft) -> None:
    """Read a record of LMSYS-Chat or WildChat: role and content under ``conversation``."""
    element = as_dict(element)
    draft.about(
        id=element.get("conversation_id") or element.get("conversation_hash"),
        created=element.get("timestamp"),
        model=element.get("model"),
    )
    messages = element.get("conversation")
    if not isinstance(messages, list):
        raise Skip("broken", "a record without its conversation")
    for index, message in enumerate(messages):
        source = f"conversation[{index}]"
        role = SPEAKERS.get(as_text(as_dict(message).get("role")))
        if role is None:
            draft.unreadable(source, "it has no known role")
            continue
        content = message.get("content")
        add_message(draft, role, "" if content is None else content, source=source, time=message.get("timestamp"))


def read_ultrachat(element, draft: Draft) -> None:
    """Read texts that alternate between user and assistant."""
    element = as_dict(element)
    draft.about(id=element.get("id"))
    data = element.get("data")
    if not isinstance(data, list):
        raise Skip("broken", "a record without its data")
    for index, text in enumerate(data):
        if isinstance(text, str):
            draft.add("assistant" if index % 2 else "user", text, source=f"data[{index}]")
        else:
            draft.unreadable(f"data[{index}]", "it is no text")


def read_oasst(element, draft: Draft) -> None:
    """Read a tree of OpenAssistant, a thread of it, or the flat messages of one tree."""
    if isinstance(element, list):
        rows, key = element, "message_id"
        draft.about(id=as_dict(element[0]).get("message_tree_id") if element else None)
    else:
        element = as_dict(element)
        draft.about(id=element.get("message_tree_id") or element.get("thread_id"))
        if isinstance(element.get("thread"), list):
            for index, message in enumerate(element["thread"]):
                _oasst_message(message, draft, f"thread[{index}]")
            return
        if not isinstance(element.get("prompt"), dict):
            raise Skip("broken", "a tree without its prompt")
        rows, key = None, None
    nodes, parents = {}, {}  # key -> (message, source); key -> key of the parent
    if rows is None:
        stack = [(element["prompt"], None)]
        while stack:
            message, parent = stack.pop()
            own = len(nodes)
            name = as_text(as_dict(message).get("message_id")) or str(own)
            nodes[own], parents[own] = (message, f"replies.{name}" if own else "prompt"), parent
            stack += [(one, own) for one in reversed(as_list(as_dict(message).get("replies")))]
    else:
        for index, message in enumerate(rows):
            message = as_dict(message)
            own = message.get(key) if isinstance(message.get(key), str) else index
            if own in nodes:
                draft.counts["repeated"] += 1
                continue
            parent = message.get("parent_id")
            nodes[own], parents[own] = (message, f"[{index}]"), parent if isinstance(parent, str) else None
        missing = [own for own, parent in parents.items() if parent is not None and parent not in parents]
        for own in missing:
            parents[own] = None
            draft.warn("the parent of a message is not in the file")
    children = {}
    for own, parent in parents.items():
        if not as_dict(nodes[own][0]).get("deleted"):
            children.setdefault(parent, []).append(own)
    best, path, here = None, [], None
    while children.get(here) and here not in path[:-1]:
        here = min(children.pop(here), key=lambda own: _rank(nodes[own][0]))
        path.append(here)
    best = path[-1] if path else None
    ends = [end for end in ends_of(parents) if end != best]
    end = draft.branch_of(([best] if best is not None else []) + ends)
    if end != best:
        from .trees import up

        path, _ = up(parents, end)
    for own in path:
        _oasst_message(nodes[own][0], draft, nodes[own][1])


def _rank(message):
    rank = as_dict(message).get("rank")
    return rank if isinstance(rank, int | float) and rank == rank else float("inf")


def _oasst_message(message, draft, source):
    message = as_dict(message)
    role = SPEAKERS.get(as_text(message.get("role")))
    if role is None:
        draft.unreadable(source, "it has no known role")
        return
    if message.get("synthetic"):
        draft.warn("some messages are marked as synthetic")
    text = message.get("text")
    draft.add(
        role,
        text if isinstance(text, str) else compact(text) if text else "",
        time=message.get("created_date"),
        source=source,
    )
