"""Files of chats: each format, and the ways in which other readers of them went wrong (T1 to T44)."""

from __future__ import annotations

import gzip
import io
import json
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import pytest
from chat_files import (
    CONTEXT,
    EXAMPLES,
    HIDDEN,
    NO_PARENT,
    PAIR,
    ROOT,
    archive,
    call,
    chatgpt,
    claude,
    claude_edited,
    example_bytes,
    langchain,
    libre,
    lines,
    node,
    oasst,
    said,
    sailing,
    webui,
)

from contextlab import histories
from contextlab.chat import groups
from contextlab.histories import LIMITS, HistoryError, to_messages
from contextlab.histories.draft import seconds
from contextlab.histories.report import MESSAGES, OBJECTS
from contextlab.keep import KeepNewest
from contextlab.render import PlainRule
from contextlab.repair import Sendable
from contextlab.replay import replay
from contextlab.tokens import WordPieces


def load(value, **options):
    """Read a value or bytes whole; returns the conversations and the report, whose numbers add up."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    reading = histories.read(io.BytesIO(data), **options)
    found = list(reading)
    report = reading.report
    assert report.objects == sum(getattr(report, name) for name in OBJECTS)
    assert report.messages == sum(getattr(report, name) for name in MESSAGES)
    assert len(found) == report.conversations
    return found, report


def one(value, **options):
    found, _ = load(value, **options)
    assert len(found) == 1
    return found[0]


def told(conversation):
    """What is in a conversation: (role, text), with * before the role of what is hidden."""
    return [("*" * record.hidden + record.role, record.text) for record in conversation.messages]


def refused(value, **options):
    with pytest.raises(HistoryError) as caught:
        load(value, **options)
    assert "\n" not in str(caught.value)
    return caught.value


# What each example holds, read by hand.
HAND = {
    "openai_chat": [
        ("*developer", "Be brief."),
        ("user", "Tide at Nord?\n[image]"),
        ("*assistant", ""),
        ("*tool", "05:40"),
        ("assistant", "At 05:40."),
    ],
    "messages": [("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "anthropic": [
        ("*system", "A tide clerk."),
        ("user", "Low water?"),
        ("*assistant", "look"),
        ("*assistant", ""),
        ("*tool", "05:40"),
        ("user", "thanks"),
    ],
    "ollama": [("user", "Look\n[image]"), ("*assistant", ""), ("*tool", "05:40")],
    "responses": [
        ("*system", "Be kind."),
        ("user", "Hello"),
        ("*assistant", ""),
        ("*tool", "noon"),
        ("assistant", "Noon."),
    ],
    "batch": [("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "chatgpt": [
        ("*system", "Sails.\n\nShort."),
        ("user", "My boat is Plover.\n[image]"),
        ("assistant", "Fair winds, Plover."),
    ],
    "claude_export": [("user", "See the log of Plover."), ("*assistant", "hm"), ("assistant", "Noted.")],
    "gemini_activity": [("user", "Which knot?"), ("assistant", "A bowline.\n\nover & under")],
    "gemini_api": [
        ("*system", "Be brief."),
        ("user", "Tide?"),
        ("*assistant", ""),
        ("*tool", '{"low": "05:40"}'),
        ("*assistant", "hm"),
        ("assistant", "05:40."),
    ],
    "aistudio": [("user", "Knot?"), ("*assistant", "hm"), ("assistant", "Bowline.")],
    "workspace": [("user", "Knot?"), ("assistant", "Bowline.")],
    "grok": [("user", "Knot?"), ("assistant", "Bowline.")],
    "sharegpt": [("*system", "A harbour guide."), ("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "lmsys_wildchat": [("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "oasst": [("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "oasst_flat": [("user", "Where?"), ("assistant", "Berth 4.")],
    "ultrachat": [("user", "Where to moor?"), ("assistant", "Berth 4."), ("user", "Thanks.")],
    "langchain": [("*system", "Be brief."), ("user", "Tide?"), ("*assistant", ""), ("*tool", "05:40")],
    "llamaindex": [("user", "My boat is Plover.\n[image]"), ("assistant", "Noted.")],
    "openwebui": [("user", "Best knot?"), ("*assistant", "hm"), ("assistant", "Bowline.")],
    "librechat": [("*system", "Be brief."), ("user", "Best knot?"), ("assistant", "Bowline.")],
    "lmstudio": [("*system", "Be brief."), ("user", "Best knot?"), ("assistant", "Bowline.")],
    "chatbot_ui": [("*system", "Be brief."), ("user", "Where to moor?"), ("assistant", "Berth 4.")],
    "llamacpp": [("user", "Best knot?"), ("assistant", "Bowline.")],
    "jan": [("user", "Best knot?"), ("assistant", "Bowline.")],
}
BRANCHED = {
    "chatgpt": "Nice.",
    "claude_export": "Which?",
    "oasst": "Berth 9.",
    "oasst_flat": "Berth 9.",
    "openwebui": "Reef.",
    "librechat": "Reef.",
    "lmstudio": "Reef.",
    "llamacpp": "Reef.",
}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_each_format_is_found_by_structure_and_read(name):
    found, report = load(example_bytes(name))
    assert told(found[0]) == HAND[name]
    assert report.format == found[0].format == name.removesuffix("_flat")


def test_there_is_an_example_of_every_format():
    assert {name.removesuffix("_flat") for name in EXAMPLES} == set(histories.FORMATS) - {"transcript"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_each_format_is_ready_for_a_replay(name):
    for conversation in load(example_bytes(name))[0]:
        messages = to_messages(conversation)
        assert all(isinstance(message.text, str) for message in messages)
        assert [list(group) for group in groups(messages) if messages[group[0]].tool_calls] == [
            list(range(i, i + 1 + len(message.tool_calls))) for i, message in enumerate(messages) if message.tool_calls
        ]  # every call has its result right behind it
        trace = replay(messages, KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()))
        assert len(trace) == conversation.turns > 0


@pytest.mark.parametrize("name", sorted(BRANCHED))
def test_the_other_branch_is_there_by_index(name):
    found, report = load(example_bytes(name))
    assert found[0].branches == 2 and report.branches == len(found) + 1
    (other, *_), report = load(example_bytes(name), branch=1)
    assert told(other)[-1] == ("assistant", BRANCHED[name])
    assert report.without_branch == len(found) - 1
    assert "has 1 branches, 1 is asked for" in str(refused([chatgpt(node("u", None, "user", "a"))], branch=1))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_record_says_where_it_stands_in_the_file(name):
    found, _ = load(example_bytes(name))
    sources = [(conversation.source, record.source) for conversation in found for record in conversation.messages]
    assert all(source.startswith("the stream") for source, _ in sources)
    assert all(place for _, place in sources)
    assert [record.position for record in found[0].messages] == list(range(len(found[0].messages)))


def test_the_place_leads_to_the_node():
    found, _ = load([sailing(), sailing(id="c2")])
    assert found[1].source == "the stream[1]"
    assert [record.source for record in found[1].messages] == ["mapping.ctx", "mapping.u1", "mapping.a2"]


def test_a_trace_of_an_export_is_what_one_computes_by_hand():
    nodes = [node("r", None)]
    for turn in range(1, 7):
        nodes.append(node(f"u{turn}", nodes[-1]["id"], "user", "u" * 10))
        nodes.append(node(f"a{turn}", nodes[-1]["id"], "assistant", "a" * 20))
    messages = to_messages(one([chatgpt(*nodes)]))
    # Room for 70: the question and two turns of 30 before it.
    rows = replay(messages, KeepNewest(), input_budget=70, rule=PlainRule(len, overhead=0, reply_start=0)).rows
    assert [row.messages_kept for row in rows] == [1, 3, 5, 5, 5, 5]
    assert [row.oldest_turn_kept for row in rows] == [1, 1, 1, 2, 3, 4]


def test_what_an_export_says_of_a_conversation():
    found = one([sailing(default_model_slug="m")])
    assert (found.id, found.title, found.model) == ("c1", "Boat", "m")
    assert (found.created, found.updated) == (1700000000.5, 1700000009.0)
    assert found.messages[1].parts == (
        histories.Part("text", "My boat is Plover."),
        histories.Part("image", "", None, 90),
    )


# ChatGPT's export


def test_t1_an_array_is_read_and_an_empty_conversation_is_no_success():
    assert "holds no conversation" in str(refused([{"mapping": {}}]))
    assert one([sailing(), {"mapping": {}}]).title == "Boat"
    error = refused(b'{"a": [1, 2]}')
    assert "the keys a" in str(error)  # never read as plain text


def test_t2_an_array_of_claudes_is_claudes_whatever_its_name(tmp_path):
    path = tmp_path / "conversations-000.zip"
    path.write_bytes(archive(conversations__json=[claude_edited()]))
    reading = histories.read(path)
    assert reading.format == "claude_export" and len(list(reading)) == 1


def numbered(*parts, **more):
    return archive(**{f"conversations-{number:03}__json": part for number, part in enumerate(parts)}, **more)


def test_t3_numbered_parts_are_one_export_and_the_newer_of_two_copies_stays():
    old, new = (
        chatgpt(node("u", None, "user", "old"), update_time=1),
        chatgpt(node("u", None, "user", "new"), update_time=2),
    )
    rest = [chatgpt(node("u", None, "user", str(number)), id=f"n{number}") for number in range(2, 12)]
    data = numbered(
        [old],
        [new],
        *([one] for one in rest),
        conversations__json__index=b"0 1\n",
        user__json={"id": "x", "email": "e"},
    )
    found, report = load(data)
    assert [told(one)[0][1] for one in found] == ["new", *map(str, range(2, 12))]
    assert report.duplicates == 1 and report.skipped[0].source == "conversations-000.json[0]"
    assert {member.what for member in report.members} == {"chatgpt", "no JSON", "the account of an export"}


def test_t3_parts_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 2, 1):
        value = [chatgpt(node("u", None, "user", str(number)), id=str(number))]
        (tmp_path / f"conversations-{number}.json").write_text(json.dumps(value))
    assert [told(one)[0][1] for one in histories.read(tmp_path)] == ["1", "2", "10"]


def test_t3_the_one_copy_that_is_kept_stands_first_when_both_are_as_new():
    found, report = load(numbered([sailing()], [sailing()]))
    assert [one.source for one in found] == ["conversations-000.json[0]"] and report.duplicates == 1


def test_t4_the_name_without_a_number_is_read_too_and_nothing_found_is_an_error():
    assert one(archive(conversations__json=[sailing()])).id == "c1"
    assert "no chat that is known" in str(refused(archive(user__json={"id": "x", "email": "e"})))


@pytest.mark.parametrize("drop", ["create_time", "update_time", "title", "id", "current_node"])
@pytest.mark.parametrize("null", [True, False])
def test_t5_what_a_conversation_says_of_itself_may_be_absent_or_null(drop, null):
    value = sailing()
    value[drop] = None
    if not null:
        del value[drop]
    assert told(one([value]))[-1] == ("assistant", "Fair winds, Plover.")


def test_t6_metadata_may_be_absent():
    value = chatgpt(node("u", None, "user", "a"), node("a", "u", "assistant", "b", metadata=None))
    assert told(one([value])) == [("user", "a"), ("assistant", "b")]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "code", "language": "py", "text": "1+1"}, "1+1"),
        ({"content_type": "execution_output", "text": "2"}, "2"),
        ({"content_type": "system_error", "name": "e", "text": "bad"}, "bad"),
        ({"content_type": "tether_quote", "title": "T", "text": "q", "url": "u"}, "T\nu\nq"),
        ({"content_type": "tether_browsing_display", "result": "r", "summary": "s"}, "r\ns"),
        ({"content_type": "tether_browsing_display", "text": "r"}, "r"),
        ({"content_type": "sonic_webpage", "text": "t", "title": "T", "url": "u", "snippet": "n"}, "T\nu\nt\nn"),
        ({"content_type": "model_editable_context", "model_set_context": "m"}, "m"),
        ({"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}, "s\nc"),
        ({"content_type": "thoughts", "parts": ["p"]}, "p"),
        ({"content_type": "reasoning_recap", "content": "Thought for 7s"}, "Thought for 7s"),
        ({"content_type": "reasoning_recap", "parts": ["p"]}, "p"),
        ({"content_type": "new_thing", "result": "r"}, "r"),
        ({"content_type": "new_thing", "parts": [{"text": "p"}]}, "p"),
        ({"content_type": "new_thing", "deep": {"er": 1}}, '{"deep": {"er": 1}}'),
        ({"parts": ["p"]}, "p"),
        ("bare", "bare"),
    ],
)
def test_t7_the_text_of_every_type_of_content_is_found(content, text):
    value = chatgpt(node("u", None, "user", "a"), node("x", "u", "assistant", content=content))
    last = one([value]).messages[-1]
    assert last.text == text
    kinds = {
        "new_thing": "other:new_thing",
        "thoughts": "reasoning",
        "reasoning_recap": "reasoning",
        "model_editable_context": "memory",
    }
    expected = kinds.get(content.get("content_type") if isinstance(content, dict) else None, "message")
    assert last.kind == expected
    assert last.hidden is (expected in ("reasoning", "memory"))


def test_t8_parts_may_be_objects():
    parts = [
        "a",
        {"content_type": "image_asset_pointer", "asset_pointer": "x"},
        {"content_type": "surprise", "n": 1},
        None,
        7,
    ]
    value = chatgpt(node("u", None, "user", content={"content_type": "multimodal_text", "parts": parts}))
    found, report = load([value])
    assert found[0].messages[0].text == "a\n[image]\n[surprise]\n7"
    assert [part.kind for part in found[0].messages[0].parts] == ["text", "image", "other:surprise", "other:int"]
    assert report.kinds == {"other:surprise": 1}


def test_t9_what_was_spoken_is_text():
    parts = [
        {"content_type": "audio_transcription", "text": "hi"},
        {"content_type": "real_time_user_audio_video_asset_pointer", "frames_asset_pointers": []},
    ]
    value = chatgpt(node("u", None, "user", content={"content_type": "multimodal_text", "parts": parts}))
    assert told(one([value])) == [("user", "hi\n[audio]")]


def test_t10_a_chat_of_20000_nodes_is_read_by_loops():
    nodes = [node("n0", None)]
    for index in range(1, 20_001):
        nodes.append(node(f"n{index}", f"n{index - 1}", "user" if index % 2 else "assistant", str(index)))
    found = one([chatgpt(*nodes)])
    assert [record.text for record in found.messages] == [str(index) for index in range(1, 20_001)]


def test_t10_a_tree_written_as_a_tree_is_read_at_any_depth():
    text = "".join(
        json.dumps(libre(f"m{index}", NO_PARENT, index % 2 == 0, str(index)))[: -len("]}")] for index in range(20_000)
    )
    data = '{"conversationId": "deep", "messagesTree": [' + text + "]}" * 20_000 + "]}"
    assert [record.text for record in one(data.encode()).messages] == [str(index) for index in range(20_000)]


def test_t11_a_circle_of_parents_ends():
    value = chatgpt(node("a", "b", "user", "a"), node("b", "a", "assistant", "b"))
    found = one([value])
    assert told(found) == [("user", "a"), ("assistant", "b")]
    assert found.warnings == ("the parents of a message form a circle",)


def test_t12_times_do_not_order():
    value = chatgpt(
        node("u", None, "user", "go", create_time=9),
        node("c", "u", "assistant", "search()", recipient="browser", create_time=8),
        node("t", "c", "tool", "found", name="browser", create_time=None),
        node("a", "t", "assistant", "done", create_time=1),
    )
    found = one([value])
    assert told(found) == [("user", "go"), ("*assistant", ""), ("*tool", "found"), ("assistant", "done")]
    assert found.messages[1].tool_calls[0]["function"] == {"name": "browser", "arguments": "search()"}
    assert found.messages[2].tool_call_id == found.messages[1].tool_calls[0]["id"]


def test_t13_the_branch_is_the_one_that_current_node_names():
    value = chatgpt(
        node("r", None),
        node("u", "r", "user", "q"),
        node("a1", "u", "assistant", "first"),
        node("a2", "u", "assistant", "second"),
        node("u2", "a2", "user", "deeper"),
        node("u3", "u2", "user", "deepest"),
        current="a1",
    )
    found = one([value])
    assert told(found) == [("user", "q"), ("assistant", "first")] and found.branches == 2


@pytest.mark.parametrize("current", [None, "gone", 7])
def test_t14_without_a_pointer_the_newest_end_is_read_with_a_warning(current):
    value = chatgpt(
        node("u", None, "user", "q", create_time=1),
        node("a1", "u", "assistant", "newer", create_time=5),
        node("a2", "u", "assistant", "older", create_time=3),
        current=current,
    )
    found = one([value])
    assert told(found)[-1] == ("assistant", "newer")
    assert "current_node" in found.warnings[0]


def test_t14_a_parent_that_is_missing_ends_the_walk_with_a_warning():
    found = one([chatgpt(node("u", "gone", "user", "q"), node("a", "u", "assistant", "r"))])
    assert told(found) == [("user", "q"), ("assistant", "r")]
    assert "a parent of a message is missing" in found.warnings[0]


def test_t15_hidden_context_is_kept_flagged_and_never_the_users():
    value = chatgpt(
        node("r", None),
        node("s", "r", "system", ""),
        node("c", "s", "user", content=CONTEXT, metadata=HIDDEN),
        node("h", "c", "user", "Injected.", metadata={"is_visually_hidden_from_conversation": True}),
        node("u", "h", "user", "Hello"),
        node("a", "u", "assistant", "Hi"),
    )
    found, report = load([value])
    assert told(found[0]) == [
        ("*system", "Sails.\n\nShort."),
        ("*system", "Injected."),
        ("user", "Hello"),
        ("assistant", "Hi"),
    ]
    assert found[0].messages[0].kind == "custom_instructions" and found[0].turns == 1
    assert (report.shown, report.hidden, report.empty_messages) == (2, 2, 1)
    assert [message.role for message in to_messages(found[0], hidden=False)] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("text", "plain", "times"),
    [
        ("Low\ue200cite\ue202turn0search3\ue201.", "Low.", 1),
        ("a\ue203b\ue204c", "abc", 2),
        ('At \ue200entity\ue202["place","Nord",0]\ue201 now', "At Nord now", 1),
        ("left \ue200cite and words", "left cite and words", 1),
        ("no marks: é", "no marks: é", 0),
    ],
)
def test_t16_marks_of_citations_leave_and_words_stay(text, plain, times):
    found, report = load([chatgpt(node("u", None, "user", "q"), node("a", "u", "assistant", text))])
    assert found[0].messages[-1].text == plain
    assert report.cleaned == ({"citation marks": times} if times else {})


@pytest.mark.parametrize(
    "citations", [[{"start_ix": 3, "end_ix": 13}, {"start_ix": 15, "end_ix": 25}], [{}], [{"start_ix": None}]]
)
def test_t17_old_marks_leave_whatever_their_indices_say(citations):
    value = chatgpt(
        node("u", None, "user", "q"),
        node("a", "u", "assistant", "low【1†source】, 😀【22†other】", metadata={"citations": citations}),
    )
    assert one([value]).messages[-1].text == "low, 😀"


# Claude's export


def test_t18_of_an_edited_chat_the_last_branch_is_read():
    found = one([claude_edited()])
    assert told(found)[0] == ("user", "See the log of Plover.") and found.branches == 2


def test_t18_a_pointer_to_the_shown_branch_wins():
    found = one([{**claude_edited(), "current_leaf_message_uuid": "a1"}])
    assert told(found) == [("user", "See the log."), ("assistant", "Which?")]


def test_t18_without_parents_the_order_of_the_array_counts():
    value = claude(("m1", None, "human", "a"), ("m2", None, "assistant", "b"), ("m3", None, "human", "c"))
    assert [text for _, text in told(one([value]))] == ["a", "b", "c"]


def test_t19_a_single_conversation_whose_text_is_always_empty_has_its_words_in_blocks():
    assert told(one(claude_edited()))[0] == ("user", "See the log of Plover.")


def test_t20_blocks_of_new_types_are_kept():
    blocks = [
        {"type": "text", "text": "Noted."},
        {"type": "token_budget"},
        {"type": "voice_note", "title": "Memo", "text": "spoken"},
        {"type": "flag", "helpline": {"name": "x"}},
    ]
    found, report = load([claude(("m", ROOT, "human", "a"), ("b", "m", "assistant", blocks))])
    assert found[0].messages[-1].text == "Noted.\n[token_budget]\nspoken\n[flag]"
    assert report.kinds == {"other:flag": 1, "other:token_budget": 1, "other:voice_note": 1}


@pytest.mark.parametrize("content", ["words", None, [], "missing", 5, [None]])
def test_t20_content_may_be_anything(content):
    value = claude(("m", ROOT, "human", "a"), ("b", "m", "assistant", "x"))
    value["chat_messages"][1]["content"] = content
    value["chat_messages"][1]["text"] = "" if content == "words" else "flat"
    if content == "missing":
        del value["chat_messages"][1]["content"]
    assert told(one([value]))[-1][1] == ("words" if content == "words" else "5\nflat" if content == 5 else "flat")


def test_t20_one_broken_conversation_does_not_stop_the_file():
    about = {"uuid": "b", "name": "No messages", "account": {"uuid": "x"}}
    found, report = load([about, claude(), claude_edited(), 7, {"surprise": 1}])
    assert len(found) == 1
    assert (report.objects, report.broken, report.empty, report.not_chats) == (5, 2, 1, 1)
    assert [one.source for one in report.skipped] == [f"the stream[{index}]" for index in (0, 1, 3, 4)]


def test_t21_what_was_attached_was_sent():
    value = claude(("m", ROOT, "human", "See the log."), ("b", "m", "assistant", "ok"))
    value["chat_messages"][0]["attachments"] = [
        {"file_name": "log.txt", "file_size": 20, "extracted_content": "Plover left at 05:10"}
    ]
    value["chat_messages"][0]["files"] = [{"file_name": "log.txt"}, {"file_name": "map.png"}]
    first = one([value]).messages[0]
    assert first.text == "See the log.\nPlover left at 05:10\n[file: map.png]"
    assert first.parts[1] == histories.Part("attachment", "Plover left at 05:10", "log.txt", 20)


def test_t22_an_artifact_is_the_call_that_made_it():
    blocks = [
        {"type": "text", "text": "Here:"},
        {"type": "tool_use", "name": "artifacts", "input": {"content": "the whole text"}},
        {"type": "tool_result", "name": "artifacts", "content": [{"type": "text", "text": "OK"}]},
        {"type": "text", "text": "Done."},
    ]
    value = claude(("m", ROOT, "human", "a"), ("b", "m", "assistant", blocks))
    value["chat_messages"][1]["text"] = "Here:\nThis block is not supported\nDone."
    found = one([value])
    assert told(found)[1:] == [("assistant", "Here:"), ("*tool", "OK"), ("assistant", "Done.")]
    assert "the whole text" in found.messages[1].tool_calls[0]["function"]["arguments"]
    assert found.messages[2].tool_call_id == found.messages[1].tool_calls[0]["id"]


def test_t23_a_message_that_stands_twice_is_read_once():
    value = claude(("m", ROOT, "human", ""), ("m", ROOT, "human", "real"), ("b", "m", "assistant", "ok"))
    value["chat_messages"][0]["content"] = []
    found, report = load([value])
    assert told(found[0]) == [("user", "real"), ("assistant", "ok")] and report.repeated == 1


# What programs send


def test_t24_a_call_needs_no_content():
    for content in ({"content": None}, {}, {"content": ""}):
        messages = [
            said("user", "?"),
            {"role": "assistant", **content, "tool_calls": [call("c", "f", "{}")]},
            said("tool", "1", tool_call_id="c"),
        ]
        found = one(messages)
        assert told(found)[1] == ("*assistant", "") and found.messages[1].kind == "tool_call"
        assert to_messages(found)[1].content is None


def test_t25_arguments_are_a_text_or_an_object_and_the_text_stays_as_it_is():
    for given, text in (('{"a":1}', '{"a":1}'), ({"a": 1}, '{"a": 1}'), (None, "{}"), ("{broken", "{broken")):
        found = one([said("user", "?"), {"role": "assistant", "tool_calls": [call("c", "f", given)]}])
        assert found.messages[1].tool_calls[0]["function"]["arguments"] == text


def test_t25_a_field_that_only_a_later_message_has_counts():
    assert load([PAIR[0], {"role": "assistant", "tool_calls": [call("c", "f", "{}")]}])[1].format == "openai_chat"


def test_t26_a_list_of_parts_of_an_assistant_is_text():
    parts = [{"type": "text", "text": "a"}, "b", {"type": "refusal", "refusal": "I cannot."}, {"type": "text"}, None]
    found = one([said("user", "?"), said("assistant", parts)])
    assert found.messages[1].text == "a\nb\nI cannot." and found.messages[1].kind == "refusal"


def test_t27_items_of_responses_are_messages():
    items = [
        said("user", "Time?"),
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "id": "f1", "call_id": "k1", "name": "clock", "arguments": "{}"},
        {"type": "function_call", "id": "f2", "call_id": "k2", "name": "date", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "k2", "output": [{"type": "input_text", "text": "Friday"}]},
        {"type": "function_call_output", "call_id": "k1", "output": "noon"},
        {"type": "web_search_call", "id": "w", "status": "completed"},
        {"type": "item_reference", "id": "i"},
        "and a bare text",
    ]
    found, report = load({"model": "m", "input": items, "previous_response_id": "resp_1"})
    assert told(found[0]) == [
        ("user", "Time?"),
        ("*assistant", "[reasoning]"),
        ("*assistant", ""),
        ("*tool", "Friday"),
        ("*tool", "noon"),
        ("*assistant", "[web_search_call]"),
        ("user", "and a bare text"),
    ]
    assert [one["id"] for one in found[0].messages[2].tool_calls] == ["k1", "k2"]
    assert report.unreadable == 1 and any("earlier turns are not in this file" in text for text in report.warnings)
    assert told(
        one(
            {
                "object": "response",
                "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}],
            }
        )
    )


def test_t28_a_result_belongs_to_its_call_at_any_distance():
    items = [{"type": "function_call", "call_id": f"k{n}", "name": "f", "arguments": "{}"} for n in range(3)]
    items += [said("user", "meanwhile")]
    items += [{"type": "function_call_output", "call_id": f"k{n}", "output": str(n)} for n in (2, 0, 1)]
    found = one({"model": "m", "input": items})
    assert [(record.tool_call_id, record.text) for record in found.messages if record.role == "tool"] == [
        ("k2", "2"),
        ("k0", "0"),
        ("k1", "1"),
    ]
    assert groups(to_messages(found)) == [(0, 2, 3, 4), (1,)]


def test_t29_results_come_before_the_rest_of_a_mixed_turn():
    found = one(EXAMPLES["anthropic"])
    assert [record.source for record in found.messages[-2:]] == ["messages[2].content[1]", "messages[2]"]
    assert Sendable  # the assembler takes it: no result without its call before it
    assert groups(to_messages(found)) == [(0,), (1,), (2, 3), (4,)]


def test_t30_a_printed_object_is_text_and_is_never_run():
    printed = "HumanMessage(content='hi', additional_kwargs={})"
    found = one([said("user", printed), PAIR[1]])
    assert found.messages[0].text == printed and "printed of an object" in found.warnings[0]


def test_t31_json_in_a_text_is_decoded_once_more():
    store = EXAMPLES["llamaindex"]
    assert told(one(json.dumps(json.dumps(store)).encode())) == HAND["llamaindex"]
    blocks = [{"block_type": "text", "text": "a"}, {"block_type": "text", "text": "b"}]
    found = one([{"role": "user", "blocks": blocks, "additional_kwargs": {}}])
    assert found.messages[0].text == "a\nb" and found.id is None
    assert one(store).id == "mira"


# Data sets, text, applications


def test_t32_speakers_have_many_names():
    names = [
        ("human", "user"),
        ("gpt", "assistant"),
        ("user", "user"),
        ("bing", "assistant"),
        ("Human", "user"),
        ("chatgpt", "assistant"),
        ("bard", "assistant"),
        ("assistant", "assistant"),
    ]
    found, report = load(
        [{"conversations": [{"from": name, "value": name} for name, _ in names] + [{"from": "oracle", "value": "?"}]}]
    )
    assert told(found[0]) == [(role, name) for name, role in names]
    assert report.unreadable == 1 and "oracle" in found[0].warnings[0]


def test_t33_roles_come_from_the_speaker_and_all_turns_are_read():
    turns = [
        {"from": "gpt", "value": "Welcome"},
        {"from": "human", "value": "a"},
        7,
        {"from": "human", "value": "b"},
        {"from": "gpt", "value": "c"},
    ]
    found, report = load([{"system": "s", "conversations": turns}])
    assert told(found[0]) == [
        ("*system", "s"),
        ("assistant", "Welcome"),
        ("user", "a"),
        ("user", "b"),
        ("assistant", "c"),
    ]
    assert report.unreadable == 1


def test_t33_calls_and_observations_of_a_data_set():
    turns = [
        {"from": "human", "value": "Tide?"},
        {"from": "function_call", "value": '{"name": "tide", "arguments": {"port": "Nord"}}'},
        {"from": "observation", "value": "05:40"},
    ]
    found = one([{"conversations": turns}])
    assert found.messages[1].tool_calls[0]["function"] == {"name": "tide", "arguments": '{"port": "Nord"}'}
    assert found.messages[2].tool_call_id == found.messages[1].tool_calls[0]["id"]


def test_t34_a_piece_of_a_chat_may_begin_with_the_answer():
    pieces = [
        {"id": "x_0", "conversations": [{"from": "human", "value": "a"}]},
        {"id": "x_1", "conversations": [{"from": "gpt", "value": "b"}, {"from": "human", "value": "c"}]},
    ]
    found, _ = load(pieces)
    assert [one.id for one in found] == ["x_0", "x_1"] and told(found[1])[0] == ("assistant", "b")


def activity(title, time, html=None, chat=None, **more):
    row = {"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"], **more}
    if html:
        row["safeHtmlItem"] = [{"html": html}]
    if chat:
        row["details"] = [{"name": "chat", "url": f"https://gemini.example/app/{chat}"}]
    return row


def test_t35_activities_of_one_chat_are_put_in_order_and_the_others_stay_alone():
    rows = [
        activity("Prompted second", "2026-03-02T09:20:00Z", "<p>two<br></p>", "0ff"),
        activity("Prompted alone", "2026-03-02T09:18:00Z"),
        activity("Prompted first", "2026-03-02T09:16:00Z", "<p>one</p>", "0ff"),
        activity("Used Gemini Apps", "2026-03-02T09:15:00Z"),
    ]
    found, report = load(rows)
    assert sorted(told(one) for one in found) == [
        [("user", "alone")],
        [("user", "first"), ("assistant", "one"), ("user", "second"), ("assistant", "two")],
    ]
    assert report.not_chats == 1


def test_t35_zones_of_times():
    assert (
        seconds("2026-03-02 09:16:00 GMT+2") == seconds("2026-03-02T07:16:00Z") == seconds("2026-03-02T09:16:00+02:00")
    )
    assert seconds("2026-03-02 09:16:00 UTC-03:30") == seconds("2026-03-02T12:46:00Z")
    assert seconds("16:33:32 GMT+0200 (Central European Summer Time)") is None


@pytest.mark.parametrize("current", ["gone", "half", None])
def test_t36_a_pointer_at_a_half_written_message_is_not_followed(current):
    value = webui(("a", None, "user", "q"), ("b", "a", "assistant", "r"), ("half", "b", None, ""), current=current)
    if current is None:
        del value["chat"]["history"]["messages"]["a"]["parentId"]
    found = one([value])
    assert told(found) == [("user", "q"), ("assistant", "r")]
    assert bool(found.warnings) is (current is not None)


def test_t36_clean_items_are_preferred_to_the_flattened_content():
    value = webui(
        ("a", None, "user", "q"), ("b", "a", "assistant", '<details type="tool_calls">x</details>Rain.'), current="b"
    )
    value["chat"]["history"]["messages"]["b"]["output"] = [
        {"type": "function_call", "call_id": "k", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "k", "output": [{"type": "input_text", "text": "rain"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Rain."}]},
    ]
    assert told(one([value])) == [("user", "q"), ("*assistant", ""), ("*tool", "rain"), ("assistant", "Rain.")]


def test_t37_without_a_pointer_one_branch_is_read_and_never_all():
    value = json.loads(json.dumps(EXAMPLES["llamacpp"]))
    for pointer in ("", None):
        value["conv"]["currNode"] = pointer
        found = one(value)
        assert told(found) == [("user", "Best knot?"), ("assistant", "Bowline.")] and found.branches == 2


TRANSCRIPT = """## User
My boat is called Plover. Ask me later.

User: is what one says at sea. What does the log say?
## Assistant
It says:
~~~
## User
ahoy
~~~
Note: that line is part of the log.
> ## User
    ## User
## User
Thanks.
## User
And again.
"""


def test_t38_labels_count_at_the_start_of_a_line_and_all_lines_to_the_next_belong_to_the_speaker():
    found = one(TRANSCRIPT.encode())
    assert [role for role, _ in told(found)] == ["user", "assistant", "user", "user"]
    assert told(found)[0][1].endswith("What does the log say?") and "\n\nUser: is" in told(found)[0][1]
    assert told(found)[1][1].endswith("    ## User") and "~~~\n## User\nahoy\n~~~" in told(found)[1][1]
    assert found.warnings == ("labels: User 3, Assistant 1",)


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("User: a\nAssistant: b\n", ["a", "b"]),
        ("**User:** a\n\n**Assistant:** b", ["a", "b"]),
        ("**You**\na\n**ChatGPT**\nb", ["a", "b"]),
        ("You said:\na\nChatGPT said:\nb\nUser: no label here", ["a", "b\nUser: no label here"]),
        ("\n\nHuman: a\n\nAssistant: b", ["a", "b"]),
        ("[2026-01-01 10:00] Me: a\n[2026-01-01 10:01] Bot: b", ["a", "b"]),
        ("# My chat\n\nUser: a\nAI: b", ["a", "b"]),
        ("User: a\r\nAI: b\r\n", ["a", "b"]),
    ],
)
def test_t38_styles_of_labels(text, texts):
    assert [text.strip() for _, text in told(one(text.encode()))] == texts


@pytest.mark.parametrize(
    "text",
    [
        "Dear diary",
        "User: only one speaks",
        "He told the User: wait.\nAssistant: no",
        "Mira: a\nBot: b",
        "[",
        "{",
        '"x"',
    ],
)
def test_t38_a_text_that_is_no_transcript_is_refused(text):
    assert str(refused(text.encode()))


def test_t34_pieces_of_one_chat_are_joined_when_asked():
    def piece(id, *said):
        return {"id": id, "conversations": [{"from": speaker, "value": text} for speaker, text in said]}

    value = [
        piece("kx_0", ("human", "a"), ("gpt", "b")),
        piece("kx_1", ("gpt", "c"), ("human", "d")),
        piece("other", ("human", "e")),
        piece("ky_0", ("human", "f")),
        [{"from": "human", "value": "g"}],
        piece("kx_2", ("human", "h")),
    ]
    apart, _ = load(value)
    whole, _ = load(value, join_pieces=True)
    assert len(apart) == 6
    assert [(one.id, "".join(message.text for message in one.messages)) for one in whole] == [
        ("kx", "abcd"),
        ("other", "e"),
        ("ky", "f"),
        (None, "g"),
        ("kx", "h"),
    ]
    assert [message.role for message in whole[0].messages] == ["user", "assistant", "assistant", "user"]


def test_t35_activities_close_in_time_are_one_chat_when_asked_and_marked_as_guessed():
    def activity(time, title, **more):
        return {"header": "Gemini Apps", "title": title, "time": f"2026-03-02T{time}Z", "products": ["x"], **more}

    value = [
        activity("12:00:01", "Prompted e"),
        activity("09:30:00", "Prompted d"),
        activity("09:20:01", "Used Gemini Apps"),
        activity("09:20:00", "Prompted c", safeHtmlItem=[{"html": "<p>answer</p>"}]),
        activity("09:09:59", "Prompted b"),
        activity("09:05:00", "Prompted a"),
    ]
    assert len(load(value)[0]) == 5
    found, report = load(value, group_by_gap=10)
    assert [[text for _, text in told(one)] for one in found] == [["e"], ["c", "answer", "d"], ["a", "b"]]
    assert [any(text.startswith("guessed") for text in one.warnings) for one in found] == [False, True, True]
    assert report.not_chats == 1


def test_t38_names_of_speakers_can_be_given():
    found = one(b"Mira: a\nBot: b\nMira: c", labels={"Mira": "user"})
    assert told(found) == [("user", "a"), ("assistant", "b"), ("user", "c")]


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("A\u0130: x\nUser: y", ["assistant", "user"]),
        ("\u017fystem: x\nU\u017fer: y", ["*system", "user"]),
        ("Cop\u0131lot: x\nYou: y", ["assistant", "user"]),
    ],
)
def test_t38_a_label_may_have_letters_whose_case_folds_to_others(text, roles):
    assert told(one(text.encode())) == list(zip(roles, "xy", strict=True))


@pytest.mark.parametrize("label", ["\u0130lke", "STRASSE", "Mira.", "user", "USER"])
def test_t38_a_name_that_is_given_is_found_as_it_is_written(label):
    found = one(f"{label}: x\nSystem: y".encode(), labels={label: "assistant"})
    assert told(found) == [("assistant", "x"), ("*system", "y")]


def test_t39_messages_of_one_speaker_in_a_row_stay_apart():
    for value in (
        [said("user", "a"), said("user", "b"), PAIR[1]],
        [chatgpt(node("u", None, "user", "a"), node("v", "u", "user", "b"), node("a", "v", "assistant", "Berth 4."))],
    ):
        assert told(one(value)) == [("user", "a"), ("user", "b"), ("assistant", "Berth 4.")]


def test_t40_lines_of_role_and_content_are_not_claimed_without_a_word():
    data = lines(*PAIR)
    assert 'format="messages"' in str(refused(data))
    assert told(one(data, format="messages")) == HAND["messages"]
    message = str(refused(lines({"level": "info", "text": "started"})))
    assert "the keys level, text" in message and "name its format (format=" in message


# Files


def test_t41_the_report_says_what_was_read_before_such_bytes():
    data = json.dumps([sailing(id=str(n), pad="x" * 2_000_000) for n in range(5)]).encode()[:-1] + b', {"a": "\xe9"}]'
    reading = histories.read(io.BytesIO(data))
    with pytest.raises(HistoryError, match="does not fit") as caught:
        list(reading)
    assert 1 <= caught.value.report.conversations < 5


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("1.0", "1"),
        ("-0.0", "0"),
        ("1e21", "1e+21"),
        ("1e20", "100000000000000000000"),
        ("9007199254740993", "9007199254740992"),
        ("1e-7", "1e-07"),
        ("1" + "0" * 400, "null"),
        ("true", "true"),
    ],
)
def test_numbers_in_arguments_are_written_as_the_page_can_write_them(number, written):
    call = {"type": "tool_use", "id": "t1", "name": "tide", "input": {"day": "NUMBER"}}
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [call]}]
    found = one(json.dumps({"messages": messages}).replace('"NUMBER"', number).encode())
    assert found.messages[-1].tool_calls[0]["function"]["arguments"] == f'{{"day": {written}}}'


@pytest.mark.parametrize("name", ["openai_chat", "claude_export", "chatgpt", "sharegpt"])
def test_each_prefix_of_a_single_object_is_an_error_with_place_and_advice(name):
    value = EXAMPLES[name]
    text = json.dumps(value[0] if isinstance(value, list) else value)
    for end in range(1, len(text)):
        message = str(refused(text[:end].encode()))
        assert f"cut off at sign {end:,}, " in message and "get the file again" in message, text[:end]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_t41_a_byte_order_mark_hides_nothing(encoding):
    text = json.dumps(PAIR[0] | {"content": "Plover é 😀"}, ensure_ascii=False)
    assert told(one(f"[{text}]".encode(encoding))) == [("user", "Plover é 😀")]
    two = f"[{text}]\n[{text}]\n".encode(encoding)
    assert len(load(two)[0]) == 2


def test_t41_bytes_of_another_encoding_are_an_error_with_the_place():
    data = '[{"role": "user", "content": "é"}]'.encode("cp1252")
    assert f"byte {data.index(0xE9)} does not fit" in str(refused(data))


def test_t42_lone_halves_of_a_pair_become_a_mark_and_are_counted():
    data = b'[{"role": "user", "content": "a\\ud83d b \\ud83d\\ude00 \\udc00"}]'
    found, report = load(data)
    assert told(found[0]) == [("user", "a\ufffd b 😀 \ufffd")] and report.cleaned == {"half characters": 2}


def test_t43_memory_holds_one_conversation_at_a_time(tmp_path):
    nodes = [node("n0", None)]
    for index in range(1, 300):
        nodes.append(node(f"n{index}", f"n{index - 1}", "user" if index % 2 else "assistant", "word " * 200))
    piece = json.dumps(chatgpt(*nodes))
    peaks = []
    for times in (10, 50):
        path = tmp_path / f"{times}.json"
        path.write_text(f"[{', '.join([piece] * times)}]")
        tracemalloc.start()
        assert sum(1 for _ in histories.read(path)) == times
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert path.stat().st_size > 15_000_000 and peaks[1] < 1.05 * peaks[0] < 30_000_000


@pytest.mark.parametrize("limits", [LIMITS._replace(member=20_000), LIMITS._replace(total=20_000)])
def test_t44_unpacked_bytes_are_counted_while_they_are_read(limits):
    data = archive(conversations__json=b"[" + b" " * 5_000_000 + b"]")
    assert len(data) < 20_000
    assert "20,000 bytes" in str(refused(data, limits=limits))
    assert "20,000 bytes" in str(refused(gzip.compress(b"[" + b" " * 5_000_000 + b"]"), limits=limits))


def test_t44_a_declared_size_is_not_believed():
    data = bytearray(archive(conversations__json=[sailing() for _ in range(200)]))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    assert "damaged (Bad CRC-32" in str(refused(bytes(data)))


def test_t44_each_pass_over_numbered_parts_has_the_whole_limit():
    data = numbered(*([sailing(id=str(n), pad="x" * 50_000)] for n in range(3)))
    assert len(load(data, limits=LIMITS._replace(total=200_000))[0]) == 3
    assert "200,000" not in str(refused(data, limits=LIMITS._replace(total=100_000)))


def test_ids_of_data_sets_that_begin_anew_in_each_file_are_no_duplicates():
    part = [{"id": "0", "data": ["a", "b"]}]
    assert len(load(archive(a__json=part, b__json=part))[0]) == 2


def test_a_deep_tree_of_answers_is_read():
    value = oasst("last", "assistant")
    data = json.dumps({"message_tree_id": "t", "prompt": None})
    head, tail = data[: -len("null}")], "}"
    piece = '{"message_id": "m", "role": "prompter", "text": "x", "replies": ['
    found = one((head + piece * 20_000 + json.dumps(value) + "]}" * 20_000 + tail).encode())
    assert len(found.messages) == 20_001


def test_t44_odd_names_and_links_in_an_archive_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out:
        out.writestr("../../conversations.json", json.dumps([sailing()]))
        out.writestr("__MACOSX/._conversations.json", b"\x00")
        out.writestr("..\\data\\user.json", json.dumps({"id": "x", "email": "e"}))
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        out.writestr(link, "/etc/passwd")
    found, report = load(stream.getvalue())
    assert len(found) == 1 and list(tmp_path.iterdir()) == []
    assert ("link.json", "a link, not a file") in report.members


def test_t44_two_members_of_one_name_are_both_read():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as out, pytest.warns(UserWarning, match="Duplicate name"):
        out.writestr("conversations.json", json.dumps([sailing(id="a")]))
        out.writestr("conversations.json", json.dumps([sailing(id="b")]))
    assert [one.id for one in load(stream.getvalue())[0]] == ["a", "b"]


def test_an_archive_in_an_archive_is_read_and_no_deeper():
    inner = archive(conversations__json=[sailing()])
    outer = archive(export__zip=inner)
    assert one(outer).source == "export.zip/conversations.json[0]"
    assert "archive inside an archive inside" in str(refused(archive(more__zip=outer)))


def test_an_encrypted_member_is_named():
    data = bytearray(archive(conversations__json=[sailing()]))
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in str(refused(bytes(data)))


def test_a_cut_archive_says_so():
    data = archive(conversations__json=[sailing()])
    assert "cut or broken archive" in str(refused(data[: len(data) // 2]))


def test_a_cut_gzip_gives_what_is_whole():
    data = gzip.compress(json.dumps([sailing(id=str(n), salt=str(hash(n) * 7919)) for n in range(3000)]).encode())
    found, report = load(data[: len(data) * 2 // 3])
    assert 100 < len(found) < 3000 and "too early" in report.truncated


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"SQLite format 3\x00" + bytes(90), "database"),
        (b"\xef\xbb\xbf\n <!DOCTYPE html><html>", "HTML"),
        (b"%PDF-1.7", "PDF"),
        (b"PAR1xxxx", "Parquet"),
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"[]", "nothing in it"),
        (b'[{"uuid": "u", "full_name": "Mira"}]', "users of an export"),
        (b"null", "transcript"),
    ],
)
def test_what_is_no_chat_is_named(data, what):
    assert what in str(refused(data))


def test_several_formats_are_an_error_with_the_candidates():
    both = archive(a__json=[sailing()], b__json=[claude_edited()])
    error = refused(both)
    assert error.candidates == ("chatgpt", "claude_export") and "format=" in str(error) and error.report.objects == 0
    assert refused(archive(a__json=[sailing()], b__json=PAIR)).candidates == ("chatgpt", "messages")
    assert load(archive(a__json=EXAMPLES["openai_chat"], b__json=PAIR))[1].conversations == 2
    found, report = load(both, format="claude_export")
    assert [one.format for one in found] == ["claude_export"]
    assert ("a.json", "it is chatgpt, not claude_export") in report.members
    mixed = {"mapping": sailing()["mapping"], "chat_messages": claude_edited()["chat_messages"]}
    assert set(refused([mixed]).candidates) == {"chatgpt", "claude_export"}
    assert set(refused([], format="nonsense").candidates) == set(histories.FORMATS)


@pytest.mark.parametrize("wrapper", ["conversations", "chats", "data", "items"])
@pytest.mark.parametrize("many", [2, 3000])
def test_chats_in_a_wrapper_are_streamed(wrapper, many):
    chats = [sailing(id=str(index), pad="x" * 1000) for index in range(many)]
    found, report = load({"version": 1, wrapper: chats, "end": True})
    assert [one.id for one in found] == [str(index) for index in range(many)]
    assert found[1].source == f"the stream.{wrapper}[1]" and report.format == "chatgpt"


def test_a_large_chat_with_its_messages_under_a_wrappers_key_is_one_chat():
    turns = [{"from": "human" if index % 2 == 0 else "gpt", "value": "x" * 1000} for index in range(6000)]
    assert len(one({"id": "big", "conversations": turns}).messages) == 6000


def test_json_lines_skip_a_broken_line_and_say_so():
    data = lines({"messages": PAIR}) + b'{"messages": [{"role": "user", "cont\n' + b"\n" + lines({"messages": PAIR})
    found, report = load(data)
    assert [one.source for one in found] == ["the stream: line 1", "the stream: line 4"]
    assert report.broken == 1 and report.skipped == (("the stream: line 2", "the line is cut"),)


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "\n\n \n"])
def test_json_lines_have_any_end(end):
    data = end.join(json.dumps({"messages": PAIR}) for _ in range(3)).encode()
    assert len(load(data)[0]) == len(load(data + end.encode())[0]) == 3


def test_values_in_a_row_need_no_line_of_their_own():
    text = json.dumps({"messages": PAIR}, indent=1)
    assert len(load((text + text).encode())[0]) == 2


def test_broken_json_in_the_middle_gives_what_stands_before_it():
    data = json.dumps([sailing(id="a"), sailing(id="b")])[:-1] + ", {nonsense}, 7]"
    found, report = load(data.encode())
    assert [one.id for one in found] == ["a", "b"]
    assert report.broken == 1 and "is broken (Expecting property name" in report.truncated


def test_a_number_of_5000_digits_does_no_harm():
    value = json.dumps([sailing()]).replace("1700000009", "9" * 5000)
    assert one(value.encode()).updated is None


def test_raw_control_signs_and_duplicate_keys_are_read_as_others_read_them():
    data = b'[{"role": "user", "content": "first", "content": "a\tb"}]'
    assert told(one(data)) == [("user", "a\tb")]


def test_one_conversation_has_a_limit():
    limits = LIMITS._replace(conversation=2_000_000)
    assert "longer than 2,000,000 signs" in str(
        refused([chatgpt(node("u", None, "user", "x" * 5_000_000))], limits=limits)
    )


def test_progress_goes_up_to_the_end(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([sailing(id=str(index), pad="x" * 3000) for index in range(1000)]))
    seen = []
    found = histories.read(path, progress=lambda done, total: seen.append((done, total)))
    assert sum(1 for _ in found) == 1000
    assert seen == sorted(seen) and seen[-1] == (path.stat().st_size,) * 2 and len(seen) > 2
    assert found.report.bytes_read == found.report.total_bytes == path.stat().st_size


def test_the_report_is_true_at_any_time():
    reading = histories.read(io.BytesIO(json.dumps([sailing(), 7, sailing()]).encode()))
    assert reading.report.objects == 0
    next(reading)
    assert (reading.report.objects, reading.report.conversations) == (1, 1)
    assert len(list(reading)) == 1 and reading.report.objects == 3


def test_the_newest_conversation():
    value = [
        sailing(id="a", update_time=5),
        sailing(id="b", update_time=9),
        sailing(id="c", update_time=None, create_time=7),
    ]
    conversation, report = histories.newest(io.BytesIO(json.dumps(value).encode()))
    assert conversation.id == "b" and report.conversations == 3


def test_a_path_that_is_not_there():
    with pytest.raises(HistoryError, match=r"cannot read /nowhere/a\.json: No such file"):
        histories.read("/nowhere/a.json")


def test_files_are_closed(tmp_path, recwarn):
    path = tmp_path / "a.zip"
    path.write_bytes(numbered([sailing()], [sailing(id="c2")]))
    with histories.read(path) as reading:
        next(reading)
    assert list(reading) == []
    assert [one for one in recwarn if issubclass(one.category, ResourceWarning)] == []


def test_importing_it_loads_no_reader():
    modules = {"json", "re", "zipfile", "datetime", "html"}
    code = f"import sys, contextlab.histories; print(*({modules} & set(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; " + code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == []


# More shapes


def test_batches_of_each_interface():
    data = lines(
        {"custom_id": "a", "url": "/v1/chat/completions", "body": {"model": "m", "messages": PAIR}},
        {"custom_id": "b", "params": {"model": "m", "system": "s", "messages": PAIR}},
        {"custom_id": "c", "url": "/v1/responses", "body": {"model": "m", "input": "Hello"}},
        {"custom_id": "d", "response": {"body": {"choices": [{"message": PAIR[1]}]}}, "error": None},
        {"custom_id": "e", "url": "/v1/embeddings", "body": {"model": "m", "input": "x"}},
        {"custom_id": "f", "response": None, "error": {"code": "expired"}},
    )
    found, report = load(data)
    assert [(one.id, len(one.messages)) for one in found] == [("a", 2), ("b", 3), ("c", 1), ("d", 1)]
    assert (report.not_chats, report.broken) == (1, 1)


def test_preferences_have_the_preferred_answer():
    value = {
        "input": {"messages": [PAIR[0]]},
        "preferred_output": [PAIR[1]],
        "non_preferred_output": [said("assistant", "No.")],
    }
    assert told(one(lines(value))) == HAND["messages"]


def test_the_older_function_call_is_a_call():
    messages = [
        said("user", "Tide?"),
        {"role": "assistant", "content": None, "function_call": {"name": "tide", "arguments": "{}"}},
        {"role": "function", "name": "tide", "content": "05:40"},
    ]
    found = to_messages(one(messages))
    assert [message.role for message in found] == ["user", "assistant", "tool"] and groups(found) == [(0,), (1, 2)]


def test_langchain_shapes_around_messages():
    human, ai = langchain("human", "Tide?"), langchain("ai", "05:40.")
    assert told(one(lines({"inputs": {"input": [human]}, "outputs": {"output": ai}}))) == [
        ("user", "Tide?"),
        ("assistant", "05:40."),
    ]
    assert told(one({"messages": [human, langchain("remove", "", id="x"), ai]})) == [
        ("user", "Tide?"),
        ("assistant", "05:40."),
    ]
    invalid = [{"name": "tide", "args": "{broken", "id": "c1", "error": "e"}]
    assert (
        one([human, langchain("ai", "", invalid_tool_calls=invalid)]).messages[1].tool_calls[0]["function"]["arguments"]
        == "{broken"
    )
    old = {"additional_kwargs": {"tool_calls": [call("c1", "tide", "{}")]}}
    assert one([human, langchain("ai", "", **old)]).messages[1].tool_calls[0]["id"] == "c1"
    assert told(one([human, langchain("chat", "hi", role="assistant")]))[1] == ("assistant", "hi")


def test_langchain_calls_beside_the_same_calls_in_blocks_count_once():
    blocks = [{"type": "text", "text": "look"}, {"type": "tool_use", "id": "c1", "name": "tide", "input": {}}]
    value = [langchain("human", "?"), langchain("ai", blocks, tool_calls=[{"name": "tide", "args": {}, "id": "c1"}])]
    assert len(one(value).messages[1].tool_calls) == 1


def test_a_thread_and_a_list_of_lists():
    thread = {"thread_id": "t", "thread": [oasst("a", "prompter"), oasst("b", "assistant")]}
    assert told(one(lines(thread))) == [("user", "a"), ("assistant", "b")]
    assert len(load([PAIR, PAIR])[0]) == 2
    assert told(one([[{"from": "human", "value": "a"}], [{"from": "gpt", "value": "b"}]][0])) == [("user", "a")]


def test_deleted_messages_of_a_tree_are_no_part_of_the_path():
    gone = {**oasst("no", "assistant", rank=0, key="x"), "deleted": True}
    value = [{"message_tree_id": "t", "prompt": oasst("a", "prompter", gone, oasst("b", "assistant", rank=1, key="y"))}]
    assert told(one(value)) == [("user", "a"), ("assistant", "b")]


def test_ids_under_other_names_are_an_unknown_format():
    row = {"task_message_id": "t", "user_message_id": "u", "parent_message_id": None, "text": "Hi", "role": "prompter"}
    assert "task_message_id" in str(refused([row, row]))


def test_librechat_calls_and_errors():
    answer = libre("m2", "m1", False, "")
    answer["content"] = [
        {"type": "think", "think": "hm"},
        {"type": "tool_call", "tool_call": {"id": "c", "name": "tide", "args": "{}", "output": "05:40"}},
        {"type": "text", "text": "At 05:40."},
    ]
    value = {
        "conversationId": "x",
        "messages": [
            libre("m1", NO_PARENT, True, "?"),
            answer,
            {**libre("m3", "m2", False, "Overloaded", second=3), "error": True},
        ],
    }
    found = one(value)
    assert told(found) == [
        ("user", "?"),
        ("*assistant", "hm"),
        ("assistant", "At 05:40."),
        ("*tool", "05:40"),
        ("assistant", "Overloaded"),
    ]
    assert found.messages[-1].kind == "error"


def test_attachments_of_chatgpt_are_named():
    attachments = [{"name": "log.pdf", "mime_type": "application/pdf", "size": 900}]
    found = one([chatgpt(node("u", None, "user", "See", metadata={"attachments": attachments}))])
    assert found.messages[0].text == "See\n[attachment: log.pdf]" and found.messages[0].parts[1].size == 900
