"""Small files of chats, one of each format that `contextlab.histories` reads: invented, shaped like the real ones."""

from __future__ import annotations

import io
import json
import zipfile


def node(key, parent, role=None, text="", **message):
    """Return a node of a ChatGPT tree; without a role it is a root."""
    if role is None:
        return {"id": key, "parent": parent, "children": [], "message": None}
    content = message.pop("content", {"content_type": "text", "parts": [text]})
    author = {"role": role, "name": message.pop("name", None), "metadata": {}}
    return {
        "id": key,
        "parent": parent,
        "children": [],
        "message": {"id": key, "author": author, "content": content, **message},
    }


def chatgpt(*nodes, current="last", **about):
    """Return a conversation of ChatGPT's export from its nodes; by default the last of them is the current one."""
    mapping = {one["id"]: one for one in nodes}
    for one in nodes:
        if one.get("parent") in mapping:
            mapping[one["parent"]]["children"].append(one["id"])
    about = {"title": "Boat", "create_time": 1700000000.5, "update_time": 1700000009, "id": "c1", **about}
    if current is not None:
        about["current_node"] = nodes[-1]["id"] if current == "last" else current
    return {**about, "mapping": mapping}


CONTEXT = {"content_type": "user_editable_context", "user_profile": "Sails.", "user_instructions": "Short."}
HIDDEN = {"is_visually_hidden_from_conversation": True, "is_user_system_message": True}


def sailing(**about):
    """Two branches, a hidden context, a picture: (boat) -> answers a1 (abandoned) and a2."""
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://f", "size_bytes": 90}
    return chatgpt(
        node("r", None),
        node("ctx", "r", "user", content=CONTEXT, metadata=HIDDEN),
        node(
            "u1", "ctx", "user", content={"content_type": "multimodal_text", "parts": ["My boat is Plover.", picture]}
        ),
        node("a1", "u1", "assistant", "Nice.", status="in_progress"),
        node("a2", "u1", "assistant", "Fair winds, Plover.", recipient="all"),
        **about,
    )


ROOT = "00000000-0000-4000-8000-000000000000"


def claude(*messages, **about):
    """Return a conversation of Claude's export: messages are (uuid, parent, sender, content blocks or text)."""
    rows = []
    for uuid, parent, sender, content in messages:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        row = {"uuid": uuid, "sender": sender, "text": "", "content": blocks, "attachments": [], "files": []}
        rows.append({**row, "parent_message_uuid": parent, "created_at": "2026-05-01T09:00:00.000001Z"})
    about = {"uuid": "c1", "name": "Log", "updated_at": "2026-05-01T09:01:00Z", "account": {"uuid": "x"}, **about}
    return {**about, "chat_messages": rows}


def claude_edited():
    """The first question was edited: m1 -> a1, and m1' -> a1'."""
    return claude(
        ("m1", ROOT, "human", "See the log."),
        ("a1", "m1", "assistant", "Which?"),
        ("n1", ROOT, "human", "See the log of Plover."),
        ("b1", "n1", "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}]),
    )


def webui(*messages, current, **about):
    """Return a chat of Open WebUI: messages are (id, parent, role, content)."""
    rows = {
        key: {
            "id": key,
            "parentId": parent,
            "childrenIds": [],
            "role": role,
            "content": content,
            "timestamp": 1700000000 + n,
        }
        for n, (key, parent, role, content) in enumerate(messages)
    }
    return {
        "id": "w1",
        "title": "Knots",
        "chat": {"models": ["m"], "history": {"currentId": current, "messages": rows}},
        **about,
    }


def libre(key, parent, mine, text, *children, second=0):
    return {
        "messageId": key,
        "parentMessageId": parent,
        "sender": "User" if mine else "M-4",
        "isCreatedByUser": mine,
        "text": text,
        "createdAt": f"2026-01-01T10:00:{second:02}Z",
        "children": list(children),
    }


NO_PARENT = "00000000-0000-0000-0000-000000000000"


def version(text, role="assistant", kind="multiStep"):
    content = [{"type": "text", "text": text}]
    if kind == "singleStep":
        return {"type": kind, "role": role, "content": content}
    return {"type": kind, "role": role, "steps": [{"type": "contentBlock", "content": content}]}


def call(call_id, name, arguments):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(role, text, **more):
    return {"role": role, "content": text, **more}


PAIR = [said("user", "Where to moor?"), said("assistant", "Berth 4.")]


def oasst(text, role, *replies, rank=None, key="m"):
    return {"message_id": key, "text": text, "role": role, "rank": rank, "replies": list(replies)}


def langchain(kind, content, **more):
    return {"type": kind, "data": {"type": kind, "content": content, "additional_kwargs": {}, **more}}


# Each has two messages that can be read at least; those with branches have two of them, those with hidden nodes one.
EXAMPLES = {
    "openai_chat": [
        said("developer", "Be brief."),
        said(
            "user",
            [
                {"type": "text", "text": "Tide at Nord?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        ),
        {"role": "assistant", "content": None, "tool_calls": [call("c1", "tide", '{"port":"Nord"}')]},
        said("tool", "05:40", tool_call_id="c1"),
        said("assistant", "At 05:40.", weight=1),
    ],
    "messages": PAIR,
    "anthropic": {
        "model": "m",
        "system": [{"type": "text", "text": "A tide clerk."}],
        "messages": [
            said("user", "Low water?"),
            said(
                "assistant",
                [
                    {"type": "thinking", "thinking": "look"},
                    {"type": "tool_use", "id": "t1", "name": "tide", "input": {}},
                ],
            ),
            said(
                "user",
                [{"type": "text", "text": "thanks"}, {"type": "tool_result", "tool_use_id": "t1", "content": "05:40"}],
            ),
        ],
    },
    "ollama": {
        "model": "m",
        "messages": [
            said("user", "Look", images=["AAAA"]),
            said("assistant", "", tool_calls=[{"function": {"name": "tide", "arguments": {"port": "Nord"}}}]),
            said("tool", "05:40", tool_name="tide"),
        ],
    },
    "responses": {
        "model": "m",
        "instructions": "Be kind.",
        "input": [
            "Hello",
            {"type": "function_call", "id": "fc", "call_id": "k9", "name": "clock", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "k9", "output": "noon"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noon."}]},
        ],
    },
    "batch": {
        "custom_id": "q-7",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": PAIR},
    },
    "chatgpt": [
        sailing(),
        chatgpt(node("r", None), node("u", "r", "user", "Pasta?"), node("a", "u", "assistant", "Yes."), id="c2"),
    ],
    "claude_export": [claude_edited()],
    "gemini_activity": [
        {
            "header": "Gemini Apps",
            "title": "Prompted Which knot?",
            "time": "2026-03-02T09:16:00.000Z",
            "products": ["Gemini Apps"],
            "safeHtmlItem": [{"html": "<p>A <b>bowline</b>.</p>"}, {"html": "<pre>over &amp; under</pre>"}],
        },
        {
            "header": "Gemini Apps",
            "title": "Used Gemini Apps",
            "time": "2026-03-02T09:15:00Z",
            "products": ["Gemini Apps"],
        },
    ],
    "gemini_api": {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Tide?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "tide", "args": {"port": "Nord"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "tide", "response": {"low": "05:40"}}}]},
            {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "05:40."}]},
        ],
    },
    "aistudio": {
        "runSettings": {"model": "m"},
        "chunkedPrompt": {
            "chunks": [
                {"role": "user", "text": "Knot?"},
                {"role": "model", "text": "hm", "isThought": True},
                {"role": "model", "text": "Bowline."},
            ]
        },
    },
    "workspace": {
        "title": "Knots",
        "conversation_turns": [{"user_turn": {"prompt": "Knot?"}}, {"system_turn": {"text": [{"data": "Bowline."}]}}],
    },
    "grok": {
        "conversations": [
            {
                "conversation": {"title": "Knots", "create_time": "2026-08-01T10:00:00Z"},
                "responses": [
                    {"sender": "human", "message": "Knot?", "create_time": "2026-08-01T10:00:01Z"},
                    {
                        "response": {
                            "sender": "m-4",
                            "message": "Bowline.",
                            "create_time": {"$date": {"$numberLong": "1785578402000"}},
                        }
                    },
                ],
            }
        ]
    },
    "sharegpt": [
        {
            "id": "kx_0",
            "system": "A harbour guide.",
            "conversations": [{"from": "human", "value": "Where to moor?"}, {"from": "gpt", "value": "Berth 4."}],
        }
    ],
    "lmsys_wildchat": [{"conversation_id": "w1", "model": "m", "turn": 1, "conversation": [*PAIR, said("user", "")]}],
    "oasst": [
        {
            "message_tree_id": "t1",
            "prompt": oasst(
                "Where to moor?",
                "prompter",
                oasst("Berth 9.", "assistant", rank=1, key="r2"),
                oasst("Berth 4.", "assistant", rank=0, key="r1"),
            ),
        }
    ],
    "oasst_flat": [
        {"message_id": "a", "message_tree_id": "a", "parent_id": None, "text": "Where?", "role": "prompter"},
        {
            "message_id": "b",
            "message_tree_id": "a",
            "parent_id": "a",
            "text": "Berth 9.",
            "role": "assistant",
            "rank": 1,
        },
        {
            "message_id": "c",
            "message_tree_id": "a",
            "parent_id": "a",
            "text": "Berth 4.",
            "role": "assistant",
            "rank": 0,
        },
    ],
    "ultrachat": [{"id": "0", "data": ["Where to moor?", "Berth 4.", "Thanks."]}],
    "langchain": [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "SystemMessage"],
            "kwargs": {"content": "Be brief."},
        },
        langchain("human", [{"type": "text", "text": "Tide?"}]),
        {
            "content": "",
            "type": "ai",
            "tool_calls": [{"name": "tide", "args": {"port": "Nord"}, "id": "c1", "type": "tool_call"}],
        },
        {"content": "05:40", "type": "tool", "tool_call_id": "c1", "status": "success"},
    ],
    "llamaindex": {
        "store": {
            "mira": [
                {
                    "role": "user",
                    "additional_kwargs": {},
                    "blocks": [
                        {"block_type": "text", "text": "My boat is Plover."},
                        {"block_type": "image", "url": "x"},
                    ],
                },
                {"role": "assistant", "additional_kwargs": {}, "content": "Noted."},
            ]
        },
        "class_name": "SimpleChatStore",
    },
    "openwebui": [
        webui(
            ("a", None, "user", "Best knot?"),
            ("b1", "a", "assistant", "Reef."),
            ("b2", "a", "assistant", '<details type="reasoning"><summary>Thought</summary>hm</details>Bowline.'),
            current="b2",
        )
    ],
    "librechat": {
        "conversationId": "lc1",
        "title": "Knots",
        "recursive": True,
        "options": {"promptPrefix": "Be brief."},
        "messagesTree": [
            libre(
                "m1",
                NO_PARENT,
                True,
                "Best knot?",
                libre("m2", "m1", False, "Reef.", second=1),
                libre("m3", "m1", False, "Bowline.", second=2),
            )
        ],
    },
    "lmstudio": {
        "name": "Knots",
        "createdAt": 1746605587520,
        "systemPrompt": "Be brief.",
        "messages": [
            {"versions": [version("Best knot?", "user", "singleStep")], "currentlySelected": 0},
            {"versions": [version("Reef."), version("Bowline.")], "currentlySelected": 1},
        ],
    },
    "chatbot_ui": {
        "version": 4,
        "history": [
            {"id": "h1", "name": "Knots", "messages": PAIR, "model": {"id": "m"}, "prompt": "Be brief."},
            {"id": "h2", "name": "Tides", "messages": PAIR, "model": {"id": "m"}, "prompt": "Be kind."},
        ],
        "folders": [],
        "prompts": [],
    },
    "llamacpp": {
        "conv": {"id": "v1", "name": "Knots", "currNode": 3, "lastModified": 1700000000000},
        "messages": [
            {"id": 0, "type": "root", "parent": -1, "children": [1], "role": "system", "content": "", "timestamp": 0},
            {
                "id": 1,
                "type": "text",
                "parent": 0,
                "children": [2, 3],
                "role": "user",
                "content": "Best knot?",
                "timestamp": 1,
            },
            {
                "id": 2,
                "type": "text",
                "parent": 1,
                "children": [],
                "role": "assistant",
                "content": "Reef.",
                "timestamp": 2,
            },
            {
                "id": 3,
                "type": "text",
                "parent": 1,
                "children": [],
                "role": "assistant",
                "content": "Bowline.",
                "timestamp": 3,
            },
        ],
    },
    "jan": [
        {
            "object": "thread.message",
            "thread_id": "t",
            "role": role,
            "content": [{"type": "text", "text": {"value": text}}],
            "created": 1700000000,
        }
        for role, text in (("user", "Best knot?"), ("assistant", "Bowline."))
    ],
}
LINES = ("oasst_flat", "jan", "batch")


def example_bytes(name: str) -> bytes:
    """Return the example as people have it: JSON, or JSON Lines where that is usual."""
    value = EXAMPLES[name]
    if name in LINES:
        return lines(*(value if isinstance(value, list) else [value]))
    return json.dumps(value, ensure_ascii=False).encode()


def lines(*values) -> bytes:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in values).encode()


def archive(**files) -> bytes:
    """Return a zip archive: names, with __ for a full stop, and bytes or values."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as out:
        for name, value in files.items():
            out.writestr(name.replace("__", "."), value if isinstance(value, bytes) else json.dumps(value))
    return stream.getvalue()
