"""The data export of Claude: an array of messages a conversation, with parents when there were edits."""

from __future__ import annotations

from .content import Content, add_message
from .draft import Draft, Skip, as_dict, as_list, as_text
from .trees import ends_of, up

__all__ = ["read_claude"]

ROLES = {"human": "user", "user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


def read_claude(element, draft: Draft) -> None:
    """Read one conversation of the export."""
    element = as_dict(element)
    draft.about(
        id=element.get("uuid"),
        title=element.get("name"),
        created=element.get("created_at"),
        updated=element.get("updated_at"),
        model=element.get("model"),
    )
    messages = element.get("chat_messages")
    if not isinstance(messages, list):
        raise Skip("broken", "a conversation without its chat_messages")
    rows, repeated = {}, 0  # key -> (message, index in the array)
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            draft.unreadable(f"chat_messages[{index}]", "it is no object")
            continue
        own = as_text(message.get("uuid")) or index
        if own in rows:
            repeated += 1
            if not _said(rows[own][0]) and _said(message):
                rows[own] = (message, rows[own][1])
        else:
            rows[own] = (message, index)
    draft.counts["repeated"] += repeated
    for key in _branch(rows, element.get("current_leaf_message_uuid"), draft):
        message, index = rows[key]
        _message(message, draft, f"chat_messages[{index}]")


def _said(message):
    return bool(message.get("text") or message.get("content"))


def _branch(rows, current, draft):
    """Return the keys of the wanted branch: by parents when any can be used, else all in the order of the array."""
    parents = {}
    usable = False
    for key, (message, _) in rows.items():
        parent = message.get("parent_message_uuid")
        parents[key] = parent if isinstance(parent, str) and parent in rows else None
        usable |= parents[key] is not None
    if not usable:
        draft.branch_of(list(rows)[-1:])
        return list(rows)
    ends = ends_of(parents)
    last = next(reversed(rows))
    if not isinstance(current, str) or current not in rows:
        if current is not None:
            draft.warn("current_leaf_message_uuid points at nothing: the branch of the last message is read")
        current = last
    path, wrong = up(parents, draft.branch_of([current, *(end for end in ends if end != current)]))
    if wrong:
        draft.warn(wrong)
    given = rows[path[0]][0].get("parent_message_uuid") if path else None
    if isinstance(given, str) and given and not given.startswith("00000000-0000-") and given not in rows:
        draft.warn("a parent of a message is missing: what lies before it is not in the file")
    return path


def _message(message, draft, source):
    role = ROLES.get(as_text(message.get("sender")) or as_text(message.get("role")))
    if role is None:
        draft.unreadable(source, f"the sender {str(message.get('sender'))[:40]!r} is unknown")
        return
    content, text = message.get("content"), as_text(message.get("text"))
    time = message.get("created_at")
    if not (message.get("attachments") or message.get("files") or message.get("files_v2")):
        first = content[0] if isinstance(content, list) and len(content) == 1 else None
        if isinstance(first, dict) and first.get("type") == "text" and as_text(first.get("text")):  # the usual case
            draft.add(role, first["text"], time=time, source=source)
            return
    blocks = (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else list(content)
        if isinstance(content, list)
        else [content]
    )
    if text and not any(as_dict(one).get("type") == "text" and as_dict(one).get("text") for one in blocks):
        blocks.append({"type": "text", "text": text})
    added = Content(None, draft)
    for one in map(as_dict, as_list(message.get("attachments"))):
        added.mark("attachment", one.get("file_name"), one.get("file_size"), as_text(one.get("extracted_content")))
    seen = {part.name for part in added.parts}
    for key in ("files", "files_v2"):
        for one in map(as_dict, as_list(message.get(key))):
            name = as_text(one.get("file_name")) or None
            if name is None or name not in seen:
                seen.add(name)
                added.mark("image" if one.get("file_kind") == "image" else "file", name, one.get("file_size"))
    # What is attached belongs to the message: it was sent with it.
    add_message(draft, role, [*blocks, *added.parts], time=time, source=source)
