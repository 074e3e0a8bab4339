"""Which format is it? Decided by the structure of the elements, never by a name of a file."""

from __future__ import annotations

from collections import namedtuple

from .api import ROLES, read_batch, read_chat, read_gemini, read_responses
from .apps import (
    read_grok,
    read_jan,
    read_librechat,
    read_llamacpp,
    read_lmstudio,
    read_openwebui,
    split_chatbot_ui,
)
from .chatgpt import read_chatgpt
from .claude import read_claude
from .datasets import read_oasst, read_sharegpt, read_ultrachat, read_wild
from .draft import as_dict, as_list, as_text
from .frameworks import LANGCHAIN_TYPES, flat, read_langchain, read_llamaindex, split_store
from .google import read_activity
from .transcripts import read_transcript

__all__ = ["FORMATS", "NOT_CHATS", "Format", "claims", "is_message", "message_claims", "seen"]


class Format(namedtuple("Format", "name what read split of_messages", defaults=(None, False))):
    """A format: name, description, reader, what splits an element into chats, whether a bare list is one chat."""

    __slots__ = ()


FORMATS = {
    one.name: one
    for one in (
        Format("openai_chat", "OpenAI chat messages", read_chat, None, True),
        Format("messages", "messages with role and content", read_chat, None, True),
        Format("anthropic", "Anthropic messages", read_chat, None, True),
        Format("ollama", "Ollama messages", read_chat, None, True),
        Format("responses", "OpenAI Responses", read_responses, None, True),
        Format("batch", "lines of a batch", read_batch),
        Format("chatgpt", "the export of ChatGPT", read_chatgpt),
        Format("claude_export", "the export of Claude", read_claude),
        Format("gemini_activity", "Gemini in Takeout", read_activity),
        Format("gemini_api", "Gemini contents", read_gemini, None, True),
        Format("aistudio", "a file of AI Studio", read_gemini),
        Format("workspace", "Gemini in Workspace", read_gemini),
        Format("grok", "the export of Grok", read_grok),
        Format("sharegpt", "ShareGPT", read_sharegpt, None, True),
        Format("lmsys_wildchat", "LMSYS-Chat or WildChat", read_wild),
        Format("oasst", "OpenAssistant", read_oasst),
        Format("ultrachat", "UltraChat", read_ultrachat),
        Format("langchain", "LangChain messages", read_langchain, None, True),
        Format("llamaindex", "LlamaIndex messages", read_llamaindex, split_store, True),
        Format("openwebui", "the export of Open WebUI", read_openwebui),
        Format("librechat", "the export of LibreChat", read_librechat),
        Format("lmstudio", "a conversation of LM Studio", read_lmstudio),
        Format("chatbot_ui", "the backup of chatbot-ui", read_chat, split_chatbot_ui),
        Format("llamacpp", "the export of llama.cpp's page", read_llamacpp),
        Format("jan", "messages of Jan", read_jan),
        Format("transcript", "a transcript in plain text", read_transcript),
    )
}

RESPONSE_ITEMS = frozenset(
    "function_call function_call_output reasoning item_reference web_search_call file_search_call "
    "code_interpreter_call computer_call image_generation_call mcp_call custom_tool_call "
    "custom_tool_call_output".split()
)
ANTHROPIC_BLOCKS = frozenset("tool_use tool_result thinking redacted_thinking server_tool_use".split())
OPENAI_PARTS = frozenset("image_url input_audio file refusal".split())

# What exports hold beside the chats: keys that tell -> what it is.
NOT_CHATS = (
    ({"uuid", "full_name"}, "the users of an export"),
    ({"uuid", "prompt_template"}, "the projects of an export"),
    ({"conversations_memory"}, "the memories of an export"),
    ({"email", "id"}, "the account of an export"),
    ({"conversation_id", "is_anonymous"}, "the shared links of an export"),
    ({"conversation_id", "rating"}, "the feedback of an export"),
    ({"export_files"}, "the list of files of an export"),
    ({"mappings", "version"}, "settings"),
)


def claims(element) -> set[str]:
    """Return the names of the formats whose signature a conversation, or a list of messages, has."""
    if isinstance(element, list):
        return message_claims(element)
    if not isinstance(element, dict):
        return set()
    get = element.get
    found = set()
    mapping = get("mapping")
    if isinstance(mapping, dict) and (
        any(
            isinstance(one, dict) and ("parent" in one or "children" in one or "message" in one)
            for one in mapping.values()
        )
        or not mapping
    ):
        found.add("chatgpt")
    if isinstance(get("chat_messages"), list) or (
        {"uuid", "name", "account"} <= element.keys() and "chat_messages" not in element
    ):
        found.add("claude_export")
    history = as_dict(as_dict(get("chat")).get("history")) or as_dict(get("history"))
    if isinstance(history.get("messages"), dict):
        found.add("openwebui")
    if (
        "version" in element
        and isinstance(get("history"), list)
        and any("messages" in as_dict(one) for one in get("history"))
    ):
        found.add("chatbot_ui")
    if {"header", "title", "time"} <= element.keys() and (
        {"products", "safeHtmlItem", "activityControls"} & element.keys()
    ):
        found.add("gemini_activity")
    if isinstance(as_dict(get("chunkedPrompt")).get("chunks"), list):
        found.add("aistudio")
    if isinstance(get("contents"), list) and any("parts" in as_dict(one) for one in get("contents")):
        found.add("gemini_api")
    if isinstance(get("conversation_turns"), list):
        found.add("workspace")
    if isinstance(get("conversation"), dict) and isinstance(get("responses"), list):
        found.add("grok")
    if isinstance(get("conv"), dict) and isinstance(get("messages"), list):
        return {"llamacpp"}
    if get("object") == "thread.message":
        return {"jan"}
    if "custom_id" in element and ({"body", "params", "response", "result"} & element.keys()):
        return found | {"batch"}
    if get("object") == "response" or (
        "input" in element
        and isinstance(get("input"), str | list)
        and ("model" in element or (isinstance(get("input"), list) and message_claims(get("input")) & {"responses"}))
    ):
        found.add("responses")
    if isinstance(get("data"), list) and get("data") and all(isinstance(one, str) for one in get("data")[:20]):
        found.add("ultrachat")
    if ("message_tree_id" in element and isinstance(get("prompt"), dict)) or (
        "thread_id" in element and isinstance(get("thread"), list)
    ):
        found.add("oasst")
    if {"message_id", "text"} <= element.keys() and get("role") in ("prompter", "assistant"):
        found.add("oasst")
    if as_text(get("class_name")) == "SimpleChatStore" or (
        isinstance(get("store"), dict)
        and any("llamaindex" in message_claims(as_list(one)) for one in get("store").values())
    ):
        found.add("llamaindex")
    if isinstance(get("conversation"), list) and ("conversation_id" in element or "conversation_hash" in element):
        found.add("lmsys_wildchat")
    elif isinstance(get("conversation"), list) and message_claims(get("conversation")) == {"sharegpt"}:
        found.add("sharegpt")
    if isinstance(get("conversations"), list):
        inner = message_claims(get("conversations"))
        found |= {"sharegpt"} if "sharegpt" in inner else inner
    found |= _langchain_wrapped(element)
    messages = get("messages")
    if not isinstance(messages, list) and isinstance(as_dict(get("input")).get("messages"), list):
        messages = element["input"]["messages"]
    if "conversationId" in element and ("messagesTree" in element or isinstance(messages, list)):
        return found | {"librechat"}
    if isinstance(messages, list):
        if any(isinstance(as_dict(one).get("versions"), list) for one in messages[:20]):
            return found | {"lmstudio"}
        inner = message_claims(messages)
        if isinstance(get("system"), str | list) and inner <= {"messages", "anthropic"} and inner:
            inner = {"anthropic"}
        found |= inner
    return found


def _langchain_wrapped(element):
    found = set()
    if element.get("lc") == 1 and isinstance(element.get("kwargs"), dict):
        found.add("langchain")
    for outer, inner in (
        ("inputs", "input"),
        ("inputs", "messages"),
        ("outputs", "output"),
        ("channel_values", "messages"),
    ):
        value = as_dict(element.get(outer)).get(inner)
        if "langchain" in message_claims(value if isinstance(value, list) else [value]):
            found.add("langchain")
    return found


def is_message(element) -> bool:
    """Whether an element is one message and no chat of its own."""
    if isinstance(element, str):
        return True
    if not isinstance(element, dict):
        return False
    if isinstance(element.get("from"), str) and "value" in element:
        return True
    if as_text(element.get("role")) and not isinstance(element.get("messages"), list):
        return True
    return bool(message_claims([element])) and not isinstance(element.get("messages"), list)


def message_claims(messages: list) -> set[str]:
    """Return the names of the formats that claim a list of messages; no signature but role and content: messages."""
    found, plain = set(), False
    for message in messages[:200] if isinstance(messages, list) else ():
        if not isinstance(message, dict):
            continue
        keys = message.keys()
        role, kind, content = as_text(message.get("role")), as_text(message.get("type")), message.get("content")
        if "from" in keys and "value" in keys:
            found.add("sharegpt")
            continue
        if (
            (message.get("lc") == 1 and isinstance(message.get("kwargs"), dict))
            or (isinstance(message.get("data"), dict) and "content" in message["data"] and kind)
            or "lc_kwargs" in keys
            or (flat(message)[0] in (*LANGCHAIN_TYPES, "remove", "chat") and "additional_kwargs" in keys)
        ):
            found.add("langchain")
            continue
        if role and (
            (isinstance(message.get("blocks"), list) and all("block_type" in as_dict(one) for one in message["blocks"]))
            or "additional_kwargs" in keys
        ):
            found.add("llamaindex")
            continue
        if {"message_id", "text"} <= keys and role in ("prompter", "assistant"):
            found.add("oasst")
            continue
        if message.get("object") == "thread.message":
            found.add("jan")
            continue
        if role and isinstance(message.get("parts"), list) and "content" not in keys:
            found.add("gemini_api")
            continue
        types = {as_text(as_dict(one).get("type")) for one in content} if isinstance(content, list) else set()
        if kind in RESPONSE_ITEMS or types & {"input_text", "output_text", "input_image", "input_file"}:
            found.add("responses")
            continue
        if role.lower() not in ROLES or not ("content" in keys or "tool_calls" in keys or "function_call" in keys):
            plain = plain or False
            continue
        plain = True
        has_source = isinstance(content, list) and any(
            as_dict(one).get("type") in ("image", "document") and "source" in as_dict(one) for one in content
        )
        if types & ANTHROPIC_BLOCKS or has_source:
            found.add("anthropic")
        if isinstance(message.get("images"), list) or "tool_name" in keys or isinstance(message.get("thinking"), str):
            found.add("ollama")
        elif (
            {"tool_calls", "tool_call_id", "function_call", "refusal"} & keys
            or role in ("developer", "tool", "function")
            or types & OPENAI_PARTS
        ):
            found.add("openai_chat")
    if {"ollama", "openai_chat"} <= found:
        found.discard("openai_chat")
    return found or ({"messages"} if plain else set())


def seen(element) -> str:
    """Return in a few words what an element is: for the error when no format claims it."""
    if isinstance(element, dict):
        for keys, what in NOT_CHATS:
            if keys <= element.keys():
                return what
        names = ", ".join(str(key)[:30] for key in list(element)[:8])
        return f"an object with the keys {names or '(none)'}"
    if isinstance(element, list):
        return f"a list of {len(element)}"
    return f"a {type(element).__name__}"
