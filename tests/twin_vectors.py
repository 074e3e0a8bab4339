"""Generated inputs with the library's answers, for the page that computes them again in JavaScript."""

from __future__ import annotations

import json
from random import Random

from contextlab.chat import Message
from contextlab.errors import BudgetError
from contextlab.forgotten import as_dict, holds, look_back, plain
from contextlab.pins import EXTRACTORS, _plain, one_line, own_words
from contextlab.render import PlainRule
from contextlab.tokens import CharsPerToken, WordPieces, get_counter

ODD = [
    *"\U0001f98a\U0001f469\u200d\U0001f680\U0001f1f5\U0001f1f9",
    *"éßẞſİıΣςσǅŉ\u212aﬁ\u0301\u0345Ǆ",
    *"李雷你好мирЖпривет한국어हिन्दीعربعبรา",
    *"\u00a0\u2003\u3000\ufeff\u200b\u2028\u2029\x85\x1c\x00\x7f\u1680\u180e\u202f",
    *"١٢³½Ⅷ①_-'’“”«»\"`<>|.,!?。！？:=\n\r\t",
    *"\ud83d\ude00\udfff\ud800",
]
NAMES = [
    "Ada",
    "Zoë",
    "Zoë Ivanova-Lee",
    "Ada Moreno",
    "O'Brien",
    "李雷",
    "not sure",
    "Ⅷ",
    "École",
    "ada",
    "İpek",
    "Σ",
    "the",
]
KEYS = ["exam", "budget", "cabin", "name", "boat", "school budget", "Straße", "STRASSE"]
VALUES = ["on 12 May", "12", "19", "blue", "470 euros", "Plover", "Straße 9", "STRASSE 9", "a wooden dinghy", "now 5"]
FORMS = [
    "My name is {name}.",
    "my NAME İs {name}",
    "Hello! my name is {name} and I like tea.",
    "I'm {name}.",
    "I am {name}, from Porto",
    "I’m {name}",
    "Please call me {name}!",
    "Sorry, my name is {name}.",
    "actually my name is {name}",
    "Remember that my {key} is {value}.",
    "remember: {value}",
    "Please don't forget that the {key} is {value}, because it is late.",
    "Do not forget our {key} was {value}",
    "Keep in mind, {value}!",
    "Do you remember my {key}?",
    "Remember when my {key} was {value}.",
    "From now on use metric units, please.",
    "always answer in French.",
    "Never say {value}",
    "Reply in {name} for the rest of this chat.",
    "In future, {value}",
    "answer in German from now on!",
    "Use SI units from now on",
    "My {key} is {value}.",
    "Correction: my {key} is {value}.",
    "the {key} is now {value}",
    "No, our {key} = {value}",
    "I was wrong: my {key} are called {value}",
    "```\nRemember that my {key} is {value}.\n```",
    "> My {key} is {value}.",
    "“My name is {name} and my {key} is {value}.”",
    "<Page>Remember {value}</page> I'm {name}.",
    '"Remember that my {key} is {value}, always."',
    "«{value}»",
]
PLAIN_WORDS = "tide harbour the of a antidisestablishment lantern 1024 12 blue quartz Reply exam budget".split()


def joined(text: str) -> str:
    """Return ``text`` as JSON carries it: two halves of a pair are one character."""
    return json.loads(json.dumps(text))


def whole(text: str) -> str:
    """Return ``text`` with U+FFFD for halves of a pair, as both readers of files make it."""
    return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in joined(text))


def random_text(draw: Random, halves: bool = True) -> str:
    parts = []
    for _ in range(draw.randint(0, 7)):
        kind = draw.random()
        if kind < 0.35:
            form = draw.choice(FORMS)
            parts.append(form.format(name=draw.choice(NAMES), key=draw.choice(KEYS), value=draw.choice(VALUES)))
        elif kind < 0.75:
            parts.append(" ".join(draw.choice(PLAIN_WORDS) for _ in range(draw.randint(1, 8))))
        else:
            parts.append("".join(draw.choice(ODD) for _ in range(draw.randint(1, 9))))
    text = draw.choice([" ", "", "\n", ". "]).join(parts)
    if draw.random() < 0.3 and text:  # a sign in a place that no form foresees
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(ODD) + text[at + draw.randint(0, 1) :]
    if draw.random() < 0.2:
        text = draw.choice([str.upper, str.lower, str.swapcase])(text)
    return joined(text) if halves else whole(text)


def count_vector(draw):
    text = random_text(draw)
    return {"kind": "count", "text": text, "wanted": [WordPieces()(text), CharsPerToken()(text), len(text)]}


def compare_vector(draw):
    text = random_text(draw, halves=False)
    words = text.split() or ["x"]
    other = draw.choice([draw.choice(words), draw.choice(NAMES), random_text(draw, halves=False), text[1:5]]) or "y"
    if not plain(other):
        other = "tide"
    wanted = [plain(text), holds(plain(text), plain(other)), one_line(text), _plain(text)]
    return {"kind": "compare", "text": text, "other": other, "wanted": wanted}


def extract_vector(draw):
    text = random_text(draw)
    own = own_words(text)
    found = []
    for extract in EXTRACTORS:
        answer = extract(own)
        found += answer if isinstance(answer, list) else [answer] if answer else []
    return {"kind": "extract", "text": text, "wanted": [own, [[*one] for one in found]]}


def random_chat(draw: Random) -> list[Message]:
    messages = [Message("system", random_text(draw, halves=False))] * draw.choice([0, 0, 1, 2])
    for _ in range(draw.randint(1, 12)):
        if draw.random() < 0.2 and messages:  # something is said again
            messages.append(Message(draw.choice(["user", "assistant"]), draw.choice(messages).content))
        messages.append(Message("user", random_text(draw, halves=False)))
        if draw.random() < 0.2:
            messages.append(Message("tool", random_text(draw, halves=False)))
        if draw.random() < 0.9:
            messages.append(Message("assistant", random_text(draw, halves=False)))
    return messages


def traced(messages, counter, windows, reply_reserve=0, facts=(), title=""):
    """Return the trace that the page has, as dicts: without what a summary would have saved."""
    rule = PlainRule(get_counter(counter))
    trace = look_back(
        messages, rule, windows=windows, reply_reserve=reply_reserve, facts=facts, title=title, instead=False
    )
    found = as_dict(trace)
    del found["assumptions"]
    for window in found["windows"]:
        del window["instead"]
    return found


def chat_vector(draw):
    while True:
        messages = random_chat(draw)
        facts = [draw.choice([*NAMES, *VALUES, "tide", "lantern"])] if draw.random() < 0.3 else []
        options = {
            "counter": draw.choice(["pieces", "chars"]),
            "windows": sorted(draw.sample(range(60, 500), 2)),
            "reply_reserve": draw.choice([0, 0, 20]),
            "facts": facts,
        }
        try:
            wanted = traced(messages, **options)
        except BudgetError:
            continue
        shown = [[message.role, message.text] for message in messages]
        return {"kind": "chat", "messages": shown, "options": options, "wanted": wanted}


# As JSON has them; JavaScript does not tell 1.0 from 1, and keeps 53 bits of a whole number.
NUMBERS = [
    3,
    1.0,
    -0.0,
    0.5,
    1e16,
    1e21,
    -2.5e300,
    1e-4,
    1.25e-5,
    1e-7,
    5e-324,
    2**53 + 1,
    123456789012345678901,
    10**30,
]
NUMBERS += [10**400, 1.2345678901234567e20, 0.1 + 0.2]


def gpt_content(draw):
    text = random_text(draw)
    return draw.choice(
        [
            {"content_type": "text", "parts": [text]},
            {"content_type": "text", "parts": [text]},
            {"content_type": "text", "parts": [text, random_text(draw)]},
            {"content_type": "text", "parts": [f"A \ue200cite\ue202turn0search3\ue201{text}\ue203"]},
            {"content_type": "text", "parts": ['\ue200entity\ue202["place","Nord",0]\ue201 and 【1†source】']},
            {"content_type": "multimodal_text", "parts": [text, {"content_type": "image_asset_pointer", "width": 9}]},
            {"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": text}]},
            {"content_type": "code", "language": "python", "text": text},
            {"content_type": "execution_output", "text": text},
            {"content_type": "tether_browsing_display", "result": text, "summary": "sum"},
            {"content_type": "user_editable_context", "user_profile": text, "user_instructions": "Short."},
            {"content_type": "model_editable_context", "model_set_context": text},
            {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": text}]},
            {"content_type": "reasoning_recap", "content": "Thought for 7s"},
            {"content_type": "newly_made", "other": {"deep": [text, 3, None, True]}},
            {"content_type": "text"},
            text,
            None,
        ]
    )


def gpt_export(draw, number):
    mapping, keys = {"root": {"id": "root", "message": None, "parent": None}}, ["root"]
    for i in range(draw.randint(1, 9)):
        parent = draw.choice(keys[-2:]) if draw.random() < 0.9 else draw.choice(keys)
        author = {"role": draw.choice(["user", "assistant", "user", "assistant", "tool", "system", "martian"])}
        message = {"id": f"m{i - (draw.random() < 0.05)}", "author": author, "content": gpt_content(draw)}
        if draw.random() < 0.2:
            message["recipient"] = draw.choice(["all", "python", "bio", "canmore.create_textdoc"])
        if draw.random() < 0.8:
            message["create_time"] = draw.choice([None, 1_700_000_000.5 + draw.randint(0, 99)])
        if draw.random() < 0.3:
            message["metadata"] = draw.choice(
                [
                    None,
                    {},
                    {"is_visually_hidden_from_conversation": True},
                    {"is_user_system_message": True},
                    {"citations": [1]},
                    {"attachments": [{"name": "log.txt", "mime_type": "text/plain"}, {"mime_type": "image/png"}]},
                ]
            )
        mapping[f"n{i}"] = {"id": f"n{i}", "parent": parent, "children": [], "message": message}
        keys.append(f"n{i}")
    element = {"title": draw.choice([None, "", f"Chat {number}", "Straße \U0001f98a"]), "mapping": mapping}
    if draw.random() < 0.8:
        element["current_node"] = draw.choice([*keys[-3:], None, "gone"])
    if draw.random() < 0.8:
        element["update_time"] = draw.choice([None, 1_700_000_000.25 + number])
    return element


def claude_export(draw, number):
    messages, ids = [], ["00000000-0000-4000-8000-000000000000"]
    branches = draw.random() < 0.5
    for i in range(draw.randint(1, 9)):
        text = random_text(draw)
        message = {
            "uuid": f"u{i - (draw.random() < 0.05)}",
            "sender": draw.choice(["human", "assistant", "human", "robot"]),
        }
        message["text"] = draw.choice(["", text])
        blocks = [
            {"type": "text", "text": draw.choice(["", text, random_text(draw)])},
            {"type": "thinking", "thinking": "hm"},
            {
                "type": "tool_use",
                "id": f"t{i}",
                "name": "tide",
                "input": {"port": text, "day": draw.choice(NUMBERS), "deep": [None, True, draw.choice(NUMBERS)]},
            },
            {"type": "tool_result", "tool_use_id": f"t{i}", "content": [{"type": "text", "text": text}]},
            {"type": "token_budget"},
            {"type": "voice_note", "title": "t", "text": text},
        ]
        message["content"] = draw.choice([None, text, [], draw.sample(blocks, draw.randint(1, 4)), blocks[:1]])
        if draw.random() < 0.2:
            message["attachments"] = [
                {"file_name": "log.txt", "file_size": 9, "extracted_content": draw.choice(["", text])}
            ]
        if draw.random() < 0.2:
            message["files"] = [{"file_name": draw.choice(["log.txt", "a.png"])}, {"file_kind": "image"}]
        if branches:
            message["parent_message_uuid"] = draw.choice(ids[-2:])
        ids.append(message["uuid"])
        messages.append(message)
    element = {"uuid": f"c{number}", "name": draw.choice(["", f"Chat {number}"]), "chat_messages": messages}
    element["updated_at"] = f"2026-05-0{draw.randint(1, 9)}T09:00:00.000001Z"
    if draw.random() < 0.3:
        element["current_leaf_message_uuid"] = draw.choice(ids)
    return element


def openai_export(draw, number):
    messages = []
    if draw.random() < 0.4:
        messages.append({"role": draw.choice(["system", "developer"]), "content": random_text(draw)})
    for i in range(draw.randint(1, 7)):
        text = random_text(draw)
        parts = [
            {"type": "text", "text": text},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]
        messages.append({"role": "user", "content": draw.choice([text, text, parts, None])})
        if draw.random() < 0.3:
            arguments = {"port": text, "day": draw.choice(NUMBERS)}
            call = {
                "id": f"c{i}",
                "type": "function",
                "function": {"name": "tide", "arguments": draw.choice([json.dumps(arguments), arguments])},
            }
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{i}", "content": draw.choice([text, [parts[0]]])})
        if draw.random() < 0.8:
            messages.append({"role": "assistant", "content": random_text(draw)})
        if draw.random() < 0.1:
            messages[-1]["refusal"] = "No."
    return {"messages": messages, **({"title": f"Chat {number}"} if draw.random() < 0.3 else {})}


def transcript(draw):
    user, assistant = draw.choice(
        [
            ("User:", "Assistant:"),
            ("## User", "## ChatGPT"),
            ("**You:**", "**Claude:**"),
            ("You said:", "Gemini said:"),
            ("U\u017fer:", "A\u0130:"),
            ("**Human:**", "**Cop\u0131lot:**"),
        ]
    )
    rows = draw.choice([[], ["# A chat", ""], ["Saved in May.", ""]])
    for _ in range(draw.randint(1, 6)):
        for label in (user, assistant):
            text = draw.choice([random_text(draw), f"see\n```\n{user} ahoy\n```\nNote: fine", "> quoted", ""])
            rows.append(f"{label}\n{text}" if label.startswith("#") else f"{label} {text}")
    return "\n".join(rows)


def read_by_library(text: str):
    """Return title, turns and messages of each conversation in a text, as the library reads them; None is no chat."""
    from io import BytesIO

    from contextlab import histories

    try:
        found = list(histories.read(BytesIO(text.encode())))
    except histories.HistoryError:
        return None
    return [
        {
            "title": one.title,
            "turns": one.turns,
            "messages": [
                [
                    message.role,
                    message.text,
                    [[call["function"]["name"], call["function"]["arguments"]] for call in message.tool_calls],
                ]
                for message in histories.to_messages(one)
            ],
        }
        for one in found
    ]


def export_vector(draw):
    while True:
        kind = draw.choice([gpt_export, claude_export, openai_export, transcript])
        if kind is transcript:
            text = whole(transcript(draw))
        else:
            elements = [kind(draw, number) for number in range(draw.randint(1, 3))]
            ascii_only = draw.random() < 0.5
            value = draw.choice([elements, elements, elements[0]])
            if kind is openai_export and draw.random() < 0.3:
                value = elements[0]["messages"]
            text = json.dumps(value)
            if kind is openai_export and isinstance(value, list) and value is elements:
                text = "\n".join(map(json.dumps, elements))
            if not ascii_only:
                text = json.dumps(json.loads(text), ensure_ascii=False) if "\n" not in text else text
                text = text.encode("utf-8", "replace").decode()
        wanted = read_by_library(text)
        if wanted is not None:
            return {"kind": "export", "text": text, "wanted": wanted}


def vectors(number: int, seed: int = 1) -> list[dict]:
    """Return ``number`` vectors: texts to count and compare, texts to read for facts, chats to trace."""
    draw = Random(seed)
    makers = [count_vector, compare_vector, extract_vector, chat_vector, export_vector]
    return [draw.choice(makers)(draw) for _ in range(number)]
