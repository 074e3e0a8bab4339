"""The data export of ChatGPT: a tree of nodes a conversation, and a pointer to the message shown last."""

from __future__ import annotations

import re

from .content import Content
from .draft import Draft, Skip, as_dict, as_list, as_text, compact, seconds
from .records import Part, printable
from .trees import ends_of, newest, up

__all__ = ["read_chatgpt"]

ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
}
THINKING = ("thoughts", "reasoning_recap")
_MARKED = re.compile("\ue200([^\ue200\ue201\ue202]*)(?:\ue202([^\ue200\ue201]*))?\ue201")
_MARKS = re.compile("[\ue200-\ue206]")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_OLD_MARK = re.compile("【[0-9]+(?::[0-9]+)?†[^【】]*】")


def read_chatgpt(element, draft: Draft) -> None:
    """Read one conversation of the export."""
    element = as_dict(element)
    draft.about(
        id=element.get("conversation_id") or element.get("id"),
        title=element.get("title"),
        created=element.get("create_time"),
        updated=element.get("update_time"),
        model=element.get("default_model_slug"),
    )
    mapping = element.get("mapping")
    if not isinstance(mapping, dict):
        raise Skip("broken", "a conversation without its mapping")
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    if len(nodes) < len(mapping):
        draft.warn(f"{len(mapping) - len(nodes)} nodes are no objects")
    if not nodes:
        raise Skip("empty", "its mapping is empty")
    parents = {}
    for key, node in nodes.items():
        parent = node.get("parent")
        parents[key] = parent if isinstance(parent, str) and parent else None
    ends = ends_of(parents)
    current = element.get("current_node")
    if not isinstance(current, str) or current not in nodes:
        times = {end: seconds(as_dict(nodes[end].get("message")).get("create_time")) for end in ends}
        current = newest(ends, parents, times)
        if len(ends) != 1:
            draft.warn("current_node is missing or points at nothing: the newest branch is read")
    end = draft.branch_of([current, *(one for one in ends if one != current)])
    path, wrong = up(parents, end)
    if wrong:
        draft.warn(wrong)
    seen = set()
    for key in path:
        message = nodes[key].get("message")
        if message is None:
            continue
        if not isinstance(message, dict):
            draft.unreadable(f"mapping.{key}", "it is no object")
            continue
        own = message.get("id")
        if isinstance(own, str) and own:
            if own in seen:
                draft.counts["repeated"] += 1
                continue
            seen.add(own)
        _message(message, draft, f"mapping.{key}")


def _message(message, draft, source):
    author, metadata = as_dict(message.get("author")), as_dict(message.get("metadata"))
    given = as_text(author.get("role")) or as_text(message.get("role"))
    role = ROLES.get(given.lower())
    if role is None:
        draft.unreadable(source, f"the role {given[:40]!r} is unknown")
        return
    name = as_text(author.get("name")) or None
    recipient = as_text(message.get("recipient")) or "all"
    content = message.get("content")
    time = message.get("create_time")
    kind, shown, parts, text = "message", "text", (), ""
    if isinstance(content, dict):
        shown = printable(as_text(content.get("content_type"))[:60]) or "text"
        pieces = content.get("parts")
        if shown == "text" and isinstance(pieces, list) and len(pieces) == 1 and isinstance(pieces[0], str):
            text = pieces[0]
        else:
            kind, text, parts = _content(content, shown, draft)
    elif isinstance(content, str | list):
        inner = Content(content, draft)
        text, parts = inner.text, inner.told
    elif content is not None:
        draft.unreadable(source, "its content is no object")
        return
    if not text.isascii():
        text = _unmarked(text, draft, metadata)
    attached = as_list(metadata.get("attachments"))
    if attached and role == "user":
        inner = Content(None, draft)
        for one in map(as_dict, attached):
            mime = as_text(one.get("mime_type") or one.get("mimeType"))
            if not mime.startswith("image/") or not any(part.kind == "image" for part in parts):
                inner.mark("attachment", one.get("name"), one.get("size"))
        if inner.parts:
            parts = (*(parts or ((Part("text", text),) if text else ())), *inner.parts)
            text = "\n".join(filter(None, [text, inner.text]))
    hidden = None
    if metadata.get("is_visually_hidden_from_conversation") is True:
        hidden = True
    if kind in ("custom_instructions", "memory") or metadata.get("is_user_system_message") is True:
        role, name = "system", None
        kind = "custom_instructions" if kind == "message" else kind
    elif role == "user" and hidden:
        role = "system"  # the application said it, not the user
    calls = ()
    if role == "assistant" and recipient != "all" and kind != "reasoning" and text:
        calls = [draft.call(None, recipient, text)]
        kind = "canvas" if recipient.startswith("canmore") else "memory" if recipient == "bio" else "tool_call"
        text, hidden, parts = "", True, ()
    elif shown == "reasoning_recap" or shown == "thoughts":
        role, kind = "assistant", "reasoning"
    elif role == "tool" and kind.startswith("other:") is False:
        kind = "tool_result"
    if draft.model is None:
        slug = metadata.get("model_slug")
        if isinstance(slug, str):
            draft.model = draft.whole(slug)
    draft.add(role, text, parts=parts, calls=calls, name=name, time=time, hidden=hidden, kind=kind, source=source)


def _content(content, shown, draft):
    """Return (kind, text, parts) of a content that is more than one text."""
    pieces = content.get("parts")
    if shown == "text" or shown == "multimodal_text":
        inner = Content(pieces if isinstance(pieces, list) else as_text(content.get("text")), draft)
        return "message", inner.text, inner.told
    if shown == "user_editable_context":
        texts = [as_text(content.get("user_profile")), as_text(content.get("user_instructions"))]
        return "custom_instructions", "\n\n".join(filter(None, texts)) or _any_text(content), ()
    if shown == "model_editable_context":
        return "memory", as_text(content.get("model_set_context")) or _any_text(content), ()
    if shown in THINKING:
        texts = []
        for one in as_list(content.get("thoughts")):
            one = as_dict(one)
            texts += [as_text(one.get("summary")), as_text(one.get("content"))]
        return "reasoning", "\n".join(filter(None, texts)) or _any_text(content), ()
    if shown in ("tether_quote", "sonic_webpage", "tether_browsing_display"):
        keys = ("title", "url", "result", "text", "snippet", "summary")
        texts = [as_text(content.get(key)) for key in keys]
        return "message", "\n".join(filter(None, texts)) or _any_text(content), ()
    if shown in ("code", "execution_output", "system_error"):
        return "message", as_text(content.get("text")) or _any_text(content), ()
    return "other:" + shown, _any_text(content), ()


def _any_text(content):
    """Return the first text in a content of an unknown shape; without one, all of it as JSON."""
    for key in ("text", "result", "content"):
        if isinstance(content.get(key), str) and content[key]:
            return content[key]
    texts = []
    for one in as_list(content.get("parts")):
        texts.append(as_text(one) or as_text(as_dict(one).get("text")))
    text = "\n".join(filter(None, texts))
    rest = {key: value for key, value in content.items() if key not in ("content_type", "parts") and value}
    return text or (compact(rest) if rest and content.get("content_type") not in THINKING else "")


def _unmarked(text, draft, metadata):
    """Return a text without the marks of citations; the name in an entity mark stays."""
    times = 0
    if _MARKS.search(text):
        text, times = _MARKED.subn(_named, text)
        text, more = _MARKS.subn("", text)
        times += more
    if metadata.get("citations") and "【" in text:
        text, more = _OLD_MARK.subn("", text)
        times += more
    if times:
        draft.clean("citation marks", times)
    return text


def _named(found):
    if found[1] != "entity":
        return ""
    quoted = _QUOTED.findall(found[2] or "")
    return quoted[1] if len(quoted) > 1 else quoted[0] if quoted else ""
