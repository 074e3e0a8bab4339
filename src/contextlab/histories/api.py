"""What programs send to a model: OpenAI chat and Responses, Anthropic, Ollama, Gemini, and batches of such requests."""

from __future__ import annotations

from .content import Content, add_message, openai_calls
from .draft import Draft, Skip, as_dict, as_list, as_text, compact
from .records import Part, printable

__all__ = ["read_batch", "read_chat", "read_gemini", "read_responses"]

ROLES = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "tool": "tool",
    "function": "function",
    "ipython": "tool",
}


def read_chat(element, draft: Draft) -> None:
    """Read messages with role and content: a list of them, or an object that has them under ``messages``."""
    if isinstance(element, list):
        messages, where = element, ""
    else:
        element = as_dict(element)
        draft.about(
            id=element.get("id") or element.get("conversation_id") or element.get("prompt_id"),
            title=element.get("title") or element.get("name"),
            created=element.get("created") or element.get("created_at") or element.get("create_time"),
            updated=element.get("updated") or element.get("updated_at") or element.get("update_time"),
            model=element.get("model"),
        )
        messages, where = element.get("messages"), "messages"
        if not isinstance(messages, list) and isinstance(as_dict(element.get("input")).get("messages"), list):
            messages, where = element["input"]["messages"], "input.messages"  # a line of preferences
        if not isinstance(messages, list) and isinstance(element.get("conversations"), list):
            messages, where = element["conversations"], "conversations"
        if not isinstance(messages, list) and element.get("role"):
            messages, where = [element], ""
        if not isinstance(messages, list):
            raise Skip("broken", "a conversation without its messages")
        if element.get("system") is not None:
            add_message(draft, "system", element["system"], source="system")
        preferred = as_list(element.get("preferred_output"))
        messages = [*messages, *preferred]
        draft.branches = 2 if preferred and element.get("non_preferred_output") else 1
        choices = as_list(element.get("choices"))
        messages += [choice.get("message") for choice in map(as_dict, choices[:1])]
    for index, message in enumerate(messages):
        read_message(message, draft, f"{where}[{index}]")


def read_message(message, draft: Draft, source: str) -> None:
    """Read one message with a role."""
    if not isinstance(message, dict):
        if isinstance(message, str) and message.startswith(("HumanMessage(", "AIMessage(", "content=")):
            draft.warn("a message is the text that a program printed of an object: it is kept as it stands")
            draft.add("user", message, source=source, kind="other:printed")
            return
        draft.unreadable(source, "it is no object")
        return
    given = as_text(message.get("role"))
    role = ROLES.get(given.lower())
    if role is None:
        draft.unreadable(source, f"the role {given[:40]!r} is unknown" if given else "it has no role")
        return
    content = message.get("content")
    if isinstance(content, str) and content.startswith(("HumanMessage(", "AIMessage(")):
        draft.warn("a message is the text that a program printed of an object: it is kept as it stands")
    extra = []
    if isinstance(message.get("refusal"), str) and message["refusal"]:
        extra.append({"type": "refusal", "refusal": message["refusal"]})
    if isinstance(message.get("audio"), dict):
        extra.append({"type": "audio", "transcript": message["audio"].get("transcript")})
    extra += [
        {"type": "image", "source": {"type": "base64", "data": one}}
        for one in as_list(message.get("images"))
        if isinstance(one, str)
    ]
    if extra:
        content = [*(content if isinstance(content, list) else [content] if content else []), *extra]
    thoughts = [message[key] for key in ("reasoning_content", "reasoning", "thinking") if _filled(message.get(key))][:1]
    add_message(
        draft,
        role,
        "" if content is None else content,
        calls=openai_calls(message, draft) if "tool_calls" in message or "function_call" in message else (),
        thoughts=thoughts,
        call_id=message.get("tool_call_id"),
        name=message.get("name") or message.get("tool_name"),
        time=message.get("timestamp") or message.get("created_at") or message.get("time"),
        source=source,
    )


def _filled(value):
    return isinstance(value, str) and bool(value.strip())


def read_responses(element, draft: Draft) -> None:
    """Read a request or a response of OpenAI's Responses interface, or a list of its items."""
    if isinstance(element, list):
        read_items(element, draft, "")
        return
    element = as_dict(element)
    draft.about(
        id=element.get("id") or as_dict(element.get("conversation")).get("id"),
        created=element.get("created_at"),
        model=element.get("model"),
    )
    if element.get("instructions") is not None:
        value = element["instructions"]
        if isinstance(value, str):
            draft.add("system", value, source="instructions")
        else:
            read_items(as_list(value), draft, "instructions")
    if element.get("previous_response_id") or element.get("conversation"):
        draft.warn("earlier turns are not in this file: it names a previous response or a conversation")
    for key in ("input", "output"):
        value = element.get(key)
        if value is not None:
            read_items(value if isinstance(value, list) else [value], draft, key)


def read_items(items: list, draft: Draft, where: str) -> None:
    """Read items in order; calls that stand in a row are one assistant message."""
    calls, first = [], 0
    for index, item in enumerate([*items, None]):
        source = f"{where}[{index}]"
        kind = printable(as_text(as_dict(item).get("type"))[:60])
        if kind in ("function_call", "custom_tool_call"):
            if not calls:
                first = index
            calls.append(
                draft.call(
                    item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments", item.get("input"))
                )
            )
            continue
        if (calls and kind != "reasoning") or index == len(items):
            if calls:
                draft.add("assistant", "", calls=calls, source=f"{where}[{first}]")
            calls = []
        if index == len(items):
            return
        if isinstance(item, str):
            draft.add("user", item, source=source)
        elif not isinstance(item, dict):
            draft.unreadable(source, "it is no object")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            inner = Content(item.get("output"), draft)
            draft.add("tool", inner.text or "[no output]", parts=inner.told, call_id=item.get("call_id"), source=source)
        elif kind == "reasoning":
            inner = Content([*as_list(item.get("summary")), *as_list(item.get("content"))], draft)
            draft.add("assistant", inner.text or "[reasoning]", kind="reasoning", source=source)
        elif kind == "message" or (not kind and item.get("role")):
            read_message(item, draft, source)
        elif kind == "item_reference":
            draft.unreadable(source, "an item_reference: its content is elsewhere")
        else:
            inner = Content(None, draft)
            inner.block(item)
            text = inner.text or f"[{kind or 'item'}]"
            draft.add("assistant", text, hidden=True, kind="other:" + (kind or "item"), source=source)


def read_batch(element, draft: Draft) -> None:
    """Read a line of a batch: a request (``body`` or ``params``), or a result."""
    element = as_dict(element)
    inner = element.get("body") or element.get("params")
    if not isinstance(inner, dict):
        response = as_dict(element.get("response")) or as_dict(as_dict(element.get("result")).get("message"))
        inner = response.get("body") if isinstance(response.get("body"), dict) else response
    if not inner:
        raise Skip(
            "broken", f"a failed request: {compact(element.get('error'))[:80]}" if element.get("error") else "no body"
        )
    url = as_text(element.get("url"))
    if url.endswith("/embeddings") or (url.endswith("/completions") and "messages" not in inner and "prompt" in inner):
        raise Skip("not_chats", f"a request to {url}")
    if "input" in inner or inner.get("object") == "response" or "output" in inner:
        read_responses(inner, draft)
    elif inner.get("type") == "message" and "messages" not in inner:
        read_chat([inner], draft)
    elif "choices" in inner:
        read_chat({"messages": [], **inner}, draft)
    else:
        read_chat(inner, draft)
    draft.about(id=element.get("custom_id"), model=draft.model)


def read_gemini(element, draft: Draft) -> None:
    """Read a request of Gemini's interface (``contents``), an AI Studio file, or a Workspace conversation."""
    element = {"contents": element} if isinstance(element, list) else as_dict(element)
    draft.about(
        id=element.get("id"), title=element.get("title"), model=as_dict(element.get("runSettings")).get("model")
    )
    system = element.get("systemInstruction") or element.get("system_instruction")
    if system:
        parts = as_dict(system).get("parts") or as_dict(system).get("text") or system
        _gemini_parts(draft, "system", parts, "systemInstruction", None)
    if isinstance(element.get("conversation_turns"), list):
        for index, turn in enumerate(map(as_dict, element["conversation_turns"])):
            source = f"conversation_turns[{index}]"
            if isinstance(turn.get("user_turn"), dict):
                draft.add("user", as_text(turn["user_turn"].get("prompt")), source=source)
            elif isinstance(turn.get("system_turn"), dict):
                texts = [as_text(as_dict(one).get("data")) for one in as_list(turn["system_turn"].get("text"))]
                draft.add("assistant", "\n".join(filter(None, texts)), source=source)
            else:
                draft.unreadable(source, "neither user_turn nor system_turn")
        return
    chunks = as_dict(element.get("chunkedPrompt")).get("chunks")
    where = "chunkedPrompt.chunks" if isinstance(chunks, list) else "contents"
    for index, one in enumerate(as_list(chunks) or as_list(element.get("contents"))):
        source = f"{where}[{index}]"
        role = ROLES.get(as_text(as_dict(one).get("role")))
        if role is None:
            draft.unreadable(source, "it has no known role")
            continue
        if "parts" in one:
            _gemini_parts(draft, role, one["parts"], source, one.get("createTime"))
        elif one.get("isThought"):
            draft.add("assistant", as_text(one.get("text")), kind="reasoning", source=source)
        else:
            inner = Content(as_text(one.get("text")), draft)
            for key in ("driveImage", "driveVideo", "driveAudio", "driveDocument", "inlineImage", "inlineFile"):
                if one.get(key):
                    inner.mark(key.removeprefix("drive").removeprefix("inline").lower().replace("document", "file"))
            parts = ((Part("text", as_text(one.get("text"))),) if one.get("text") else ()) + tuple(inner.parts)
            draft.add(role, inner.text, parts=parts if inner.parts else (), source=source, time=one.get("createTime"))


def _gemini_parts(draft, role, parts, source, time):
    blocks = []
    for part in parts if isinstance(parts, list) else [parts]:
        if not isinstance(part, dict):
            blocks.append(part)
        elif part.get("thought") is True:
            blocks.append({"type": "thought", "text": as_text(part.get("text"))})
        elif isinstance(part.get("functionCall"), dict):
            blocks.append({"type": "function_call", **part["functionCall"]})
            blocks[-1]["type"] = "function_call"
        elif isinstance(part.get("functionResponse"), dict):
            answer = part["functionResponse"]
            output = answer.get("response")
            blocks.append(
                {
                    "type": "function_call_output",
                    "name": answer.get("name"),
                    "output": compact(output),
                    "call_id": answer.get("id"),
                }
            )
        elif isinstance(part.get("inlineData"), dict) or isinstance(part.get("fileData"), dict):
            data = as_dict(part.get("inlineData") or part.get("fileData"))
            kind = as_text(data.get("mimeType")).partition("/")[0]
            blocks.append(
                {
                    "type": kind if kind in ("image", "audio", "video") else "file",
                    "source": {"type": "base64", "data": data.get("data")},
                }
            )
        else:
            blocks.append(part)
    add_message(draft, role, blocks, source=source, time=time)
