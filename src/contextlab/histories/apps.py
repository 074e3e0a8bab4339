"""Applications: Open WebUI, LibreChat, LM Studio, chatbot-ui, llama.cpp's page, Jan, and the export of Grok."""

from __future__ import annotations

import re

from .api import read_items, read_message
from .content import add_message
from .draft import Draft, Skip, as_dict, as_list, as_text, seconds
from .trees import ends_of, newest, up

__all__ = [
    "read_grok",
    "read_jan",
    "read_librechat",
    "read_llamacpp",
    "read_lmstudio",
    "read_openwebui",
    "split_chatbot_ui",
]

_DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"[^>]*>(.*?)</details>\s*', re.DOTALL)
_SUMMARY = re.compile(r"<summary>.*?</summary>", re.DOTALL)


def _tree(rows, parent_key, current, draft, valid, time_key):
    """Return the keys of the wanted branch of ``rows``: key -> message."""
    parents = {}
    for key, message in rows.items():
        parent = message.get(parent_key)
        parents[key] = parent if isinstance(parent, str | int) and parent in rows else None
    ends = ends_of(parents)
    if current is not None and (current not in rows or not valid(rows[current])):
        draft.warn("the pointer to the current message is no use: the newest branch is read")
        current = None
    if current is None:
        good = [end for end in ends if valid(rows[end])]
        if not good:  # the newest message is half written: the ones above it will do
            good = [key for key in rows if valid(rows[key])] or ends
        current = newest(good, parents, {end: seconds(rows[end].get(time_key)) for end in good})
    if current is None:
        draft.branch_of([])
        return []
    path, wrong = up(parents, draft.branch_of([current, *(end for end in ends if end != current and valid(rows[end]))]))
    if wrong:
        draft.warn(wrong)
    return path


def read_openwebui(element, draft: Draft) -> None:
    """Read one chat of Open WebUI."""
    element = as_dict(element)
    chat = element.get("chat") if isinstance(element.get("chat"), dict) else element
    draft.about(
        id=element.get("id"),
        title=element.get("title") or chat.get("title"),
        created=element.get("created_at") or chat.get("timestamp"),
        updated=element.get("updated_at"),
        model=next(iter(as_list(chat.get("models"))), None),
    )
    history = as_dict(chat.get("history"))
    messages = history.get("messages")
    if not isinstance(messages, dict):
        raise Skip("broken", "a chat without its history")
    rows = {key: one for key, one in messages.items() if isinstance(one, dict)}
    system = as_text(chat.get("system")) or as_text(as_dict(chat.get("params")).get("system"))
    if system:
        draft.add("system", system, source="chat.params.system")
    current = history.get("currentId")
    current = current if isinstance(current, str) else None
    for key in _tree(rows, "parentId", current, draft, lambda one: bool(as_text(one.get("role"))), "timestamp"):
        message, source = rows[key], f"chat.history.messages.{key}"
        output = message.get("output")
        if isinstance(output, list) and output and message.get("role") == "assistant":
            read_items(output, draft, source + ".output")
            continue
        content = message.get("content")
        thoughts = []
        if isinstance(content, str) and "<details" in content and message.get("role") == "assistant":
            for found in _DETAILS.finditer(content):
                text = _SUMMARY.sub("", found[2]).strip()
                if found[1] == "reasoning" and text:
                    thoughts.append(text)
            content, times = _DETAILS.subn("", content)
            if times:
                draft.clean("details", times)
        for thought in thoughts:
            draft.add("assistant", thought, kind="reasoning", source=source, time=message.get("timestamp"))
        files = [
            {"type": "image" if as_dict(one).get("type") == "image" else "file", "name": as_dict(one).get("name")}
            for one in as_list(message.get("files"))
        ]
        if files:
            content = [as_text(content), *files]
        if thoughts and not content:
            continue
        read_message({**message, "content": content}, draft, source)


def read_librechat(element, draft: Draft) -> None:
    """Read one conversation of LibreChat, flat or as a tree."""
    element = as_dict(element)
    options = as_dict(element.get("options"))
    draft.about(
        id=element.get("conversationId"),
        title=element.get("title"),
        created=element.get("createdAt"),
        updated=element.get("updatedAt") or element.get("exportAt"),
        model=options.get("model"),
    )
    given = element.get("messagesTree")
    given = given if isinstance(given, list) else element.get("messages")
    if not isinstance(given, list):
        raise Skip("broken", "a conversation without messages and messagesTree")
    rows = {}
    stack = [(one, None, "messages") for one in reversed(given)]  # message, key of its parent, where it stands
    while stack:
        message, parent, source = stack.pop()
        if not isinstance(message, dict):
            draft.unreadable(source, "it is no object")
            continue
        own = as_text(message.get("messageId")) or f"message {len(rows)}"
        if own in rows:
            draft.counts["repeated"] += 1
            continue
        parent = message.get("parentMessageId") if parent is None else parent
        rows[own] = {**message, "_parent": parent, "_source": f"messages.{own}"}
        rows[own].pop("children", None)
        children = as_list(message.get("children"))
        stack += [(one, own, f"messages.{own}") for one in reversed(children)]
    for key in ("system", "promptPrefix"):
        if as_text(options.get(key)):
            draft.add("system", options[key], source=f"options.{key}", kind="custom_instructions")
    for key in _tree(rows, "_parent", None, draft, lambda one: True, "createdAt"):
        message = rows[key]
        mine = message.get("isCreatedByUser")
        if not isinstance(mine, bool):
            mine = as_text(message.get("sender")).lower() in ("user", "you", "human")
        content = message.get("content")
        content = content if isinstance(content, list) and content and not mine else message.get("text")
        files = [{"type": "file", "name": as_dict(one).get("filename")} for one in as_list(message.get("files"))]
        more = {"kind": "error"} if message.get("error") is True else {}
        add_message(
            draft,
            "user" if mine else "assistant",
            [*(content if isinstance(content, list) else [as_text(content)]), *files] if files else content or "",
            time=message.get("createdAt"),
            source=message["_source"],
            **more,
        )


def read_lmstudio(element, draft: Draft) -> None:
    """Read one conversation of LM Studio: of each message the version that was chosen."""
    element = as_dict(element)
    draft.about(
        id=element.get("id"),
        title=element.get("name") or element.get("title"),
        created=element.get("createdAt"),
        updated=element.get("userLastMessagedAt") or element.get("assistantLastMessagedAt"),
        model=as_dict(element.get("lastUsedModel")).get("identifier"),
    )
    messages = element.get("messages")
    if not isinstance(messages, list):
        raise Skip("broken", "a conversation without its messages")
    draft.add("system", as_text(element.get("systemPrompt")), source="systemPrompt") if element.get(
        "systemPrompt"
    ) else None
    widest = max((len(as_list(as_dict(one).get("versions"))) for one in messages), default=1)
    branch = draft.branch_of(list(range(max(1, widest))))
    for index, message in enumerate(messages):
        versions = as_list(as_dict(message).get("versions"))
        source = f"messages[{index}]"
        if not versions:
            draft.unreadable(source, "it has no versions")
            continue
        chosen = as_dict(message).get("currentlySelected")
        if not isinstance(chosen, int) or isinstance(chosen, bool) or not 0 <= chosen < len(versions):
            chosen = len(versions) - 1
        order = [chosen, *(i for i in range(len(versions)) if i != chosen)]
        chosen = order[branch] if branch < len(order) else chosen
        _version(as_dict(versions[chosen]), draft, f"{source}.versions[{chosen}]")


def _version(version, draft, source):
    if not isinstance(version.get("steps"), list):
        read_message(version, draft, source)
        return
    blocks = []
    for step in map(as_dict, version["steps"]):
        if step.get("type") == "debugInfoBlock":
            continue
        content = step.get("content")
        if as_dict(step.get("style")).get("type") == "thinking":
            texts = [as_text(as_dict(one).get("text")) for one in as_list(content)]
            blocks.append({"type": "thinking", "thinking": "\n".join(filter(None, texts)) or as_text(content)})
        else:
            blocks += content if isinstance(content, list) else [content] if content is not None else [step]
    role = as_text(version.get("role"))
    add_message(draft, role if role in ("user", "assistant", "system", "tool") else "assistant", blocks, source=source)


def split_chatbot_ui(element):
    """Yield each conversation of a chatbot-ui backup."""
    for index, one in enumerate(as_list(as_dict(element).get("history"))):
        one = as_dict(one)
        model = as_dict(one.get("model")).get("id") or one.get("model")
        yield (
            f".history[{index}]",
            {**one, "title": one.get("name"), "system": as_text(one.get("prompt")) or None, "model": model},
        )


def read_llamacpp(element, draft: Draft) -> None:
    """Read one conversation of llama.cpp's page: ``conv`` and ``messages``."""
    element = as_dict(element)
    conv = as_dict(element.get("conv"))
    draft.about(id=conv.get("id"), title=conv.get("name"), updated=conv.get("lastModified"))
    rows = {}
    for index, message in enumerate(as_list(element.get("messages"))):
        if not isinstance(message, dict):
            draft.unreadable(f"messages[{index}]", "it is no object")
            continue
        own = message.get("id")
        own = own if isinstance(own, str | int) else f"[{index}]"
        rows[own] = {**message, "_source": f"messages[{index}]"}
    current = conv.get("currNode")
    current = current if isinstance(current, str | int) and current != "" else None
    for key in _tree(rows, "parent", current, draft, lambda one: bool(as_text(one.get("role"))), "timestamp"):
        if rows[key].get("type") != "root":
            read_message(rows[key], draft, rows[key]["_source"])


def read_jan(element, draft: Draft) -> None:
    """Read the messages of one thread of Jan."""
    for index, message in enumerate(as_list(element)):
        message = as_dict(message)
        if draft.id is None:
            draft.about(id=message.get("thread_id"))
        read_message({**message, "timestamp": message.get("created") or message.get("created_at")}, draft, f"[{index}]")


def read_grok(element, draft: Draft) -> None:
    """Read one conversation of Grok's export."""
    element = as_dict(element)
    about = as_dict(element.get("conversation"))
    draft.about(
        id=about.get("id") or about.get("conversation_id"),
        title=about.get("title"),
        created=about.get("create_time"),
        updated=about.get("modify_time"),
    )
    responses = element.get("responses")
    if not isinstance(responses, list):
        raise Skip("broken", "a conversation without its responses")
    for index, one in enumerate(responses):
        source = f"responses[{index}]"
        one = one["response"] if isinstance(as_dict(one).get("response"), dict) else as_dict(one)
        sender = as_text(one.get("sender")).lower()
        if not sender:
            draft.unreadable(source, "it has no sender")
            continue
        role = "user" if sender in ("human", "user") else "system" if sender == "system" else "assistant"
        draft.add(role, as_text(one.get("message")), time=one.get("create_time"), source=source)
