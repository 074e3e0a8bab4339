"""Messages of other libraries: read by their attributes, written as the data that the library reads back."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab import InputError, Message, assemble
from contextlab.adapters import (
    from_anthropic,
    from_langchain,
    from_llama_index,
    from_openai,
    to_anthropic,
    to_langchain,
    to_llama_index,
    to_openai,
)
from contextlab.tokens import CharsPerToken

PIXEL = "iVBORw0KGgo="
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


def call(call_id, name="look_up", **arguments):
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    }


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What time is it, and what is this?"},
    {"role": "assistant", "content": "Let me see.", "tool_calls": [call("a", zone="UTC"), call("b")]},
    {"role": "tool", "tool_call_id": "a", "content": "9:00"},
    {"role": "tool", "tool_call_id": "b", "content": "a cat"},
    {"role": "assistant", "content": "Nine, and a cat."},
    {"role": "user", "content": [{"type": "text", "text": "And this?"}, IMAGE]},
]


def test_anthropic_blocks_in():
    blocks = [
        {"role": "user", "content": "What time is it, and what is this?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "a", "name": "look_up", "input": {"zone": "UTC"}},
                {"type": "tool_use", "id": "b", "name": "look_up", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "9:00"},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "a cat"}]},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Nine, and a cat."}]},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "And this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
            ],
        },
    ]
    assert from_anthropic(blocks, "Be brief.") == CHAT
    system, out = to_anthropic(CHAT)
    assert system == "Be brief."
    assert from_anthropic(out, system) == CHAT
    assert out[1] == blocks[1] and out[4] == blocks[4]
    assert [block["content"] for block in out[2]["content"]] == ["9:00", "a cat"]


def test_anthropic_objects_are_read_by_their_attributes():
    block = SimpleNamespace(
        type="tool_use",
        model_dump=lambda **_: {"type": "tool_use", "id": "a", "name": "clock", "input": {"zone": "UTC"}},
    )
    (message,) = from_anthropic([SimpleNamespace(role="assistant", content=[block])])
    assert message == {"role": "assistant", "content": None, "tool_calls": [call("a", "clock", zone="UTC")]}


def test_what_a_user_says_beside_results_is_a_message_of_its_own():
    content = [
        {"type": "tool_result", "tool_use_id": "a", "content": "", "is_error": True},
        {"type": "text", "text": "Stop."},
    ]
    made = from_anthropic([{"role": "user", "content": content}])
    assert made == [
        {"role": "tool", "tool_call_id": "a", "content": "", "is_error": True},
        {"role": "user", "content": "Stop."},
    ]
    _, out = to_anthropic(made)
    assert out == [{"role": "user", "content": content}]


def test_roles_take_turns_in_what_goes_to_anthropic():
    chat = [
        {"role": "system", "content": "one"},
        {"role": "developer", "content": "two"},
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": ""},
        {"role": "system", "content": "a note"},
        {"role": "user", "content": "c"},
    ]
    system, out = to_anthropic(chat)
    assert system == "one\n\ntwo"
    assert [message["role"] for message in out] == ["user"]
    assert [block["text"] for block in out[0]["content"]] == ["a", "b", "a note", "c"]


def test_blocks_without_a_counterpart_go_through_and_need_a_price():
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yes."}]},
        {"role": "user", "content": "And?"},
    ]
    chat = from_anthropic(blocks)
    with pytest.raises(InputError, match=r"message 1: .*'thinking'.*price"):
        assemble(chat, window=1000, max_output_tokens=10)
    made = assemble(chat, window=1000, max_output_tokens=10, part_prices={"thinking": 20})
    assert to_anthropic(made.messages)[1][1]["content"] == [thinking, {"type": "text", "text": "Yes."}]


def langchain_object(kind, content, **more):
    fields = {"additional_kwargs": {}, "name": None, **more}
    return SimpleNamespace(type=kind, content=content, **fields)


def test_langchain_objects_in():
    objects = [
        langchain_object("system", "Be brief."),
        langchain_object("human", "What time is it, and what is this?"),
        langchain_object(
            "ai",
            "Let me see.",
            tool_calls=[
                {"name": "look_up", "args": {"zone": "UTC"}, "id": "a", "type": "tool_call"},
                {"name": "look_up", "args": {}, "id": "b", "type": "tool_call"},
            ],
            invalid_tool_calls=[],
        ),
        langchain_object("tool", "9:00", tool_call_id="a", status="success"),
        langchain_object("tool", "a cat", tool_call_id="b", status="success"),
        langchain_object("AIMessageChunk", "Nine, and a cat.", tool_calls=[]),
        langchain_object("human", ["And this?", {"type": "image", "base64": PIXEL, "mime_type": "image/png"}]),
    ]
    assert from_langchain(objects) == CHAT
    assert from_langchain([SimpleNamespace(**one["data"]) for one in to_langchain(CHAT)]) == CHAT


def test_a_developer_message_survives_langchain():
    chat = [{"role": "developer", "content": "rules"}, {"role": "user", "content": "hi", "name": "ada"}]
    out = to_langchain(chat)
    assert out[0]["type"] == "system"
    assert from_langchain([SimpleNamespace(**one["data"]) for one in out]) == chat


def test_arguments_that_are_no_json_stay_visible_in_langchain_and_are_refused_by_anthropic():
    broken = {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": '{"zone": '}}
    chat = [{"role": "assistant", "content": None, "tool_calls": [broken]}]
    (out,) = to_langchain(chat)
    assert out["data"]["tool_calls"] == [] and out["data"]["invalid_tool_calls"][0]["args"] == '{"zone": '
    assert from_langchain([SimpleNamespace(**out["data"])])[0]["tool_calls"] == [broken]
    with pytest.raises(InputError, match="look_up"):
        to_anthropic(chat)


def test_llama_index_objects_in():
    def text(content):
        return {"block_type": "text", "text": content}

    def said(role, *blocks, **more):
        return SimpleNamespace(role=SimpleNamespace(value=role), blocks=list(blocks), additional_kwargs=more)

    block = {"block_type": "tool_call", "tool_call_id": "b", "tool_name": "look_up", "tool_kwargs": {}}
    objects = [
        said("system", text("Be brief.")),
        said("user", text("What time is it, and what is this?")),
        said("assistant", text("Let me see."), block, tool_calls=[call("a", zone="UTC")]),
        said("tool", text("9:00"), tool_call_id="a"),
        said("tool", text("a cat"), tool_call_id="b"),
        said("model", text("Nine, and a cat.")),
        said(
            "user", text("And this?"), {"block_type": "image", "image": PIXEL.encode(), "image_mimetype": "image/png"}
        ),
    ]
    assert from_llama_index(objects) == CHAT
    assert from_llama_index([SimpleNamespace(**one) for one in to_llama_index(CHAT)]) == CHAT


def test_openai_objects_in():
    sdk = SimpleNamespace(model_dump=lambda **_: {"role": "assistant", "tool_calls": [call("a")]})
    assert from_openai([sdk, Message("user", "hi")]) == [
        {"role": "assistant", "tool_calls": [call("a")], "content": None},
        {"role": "user", "content": "hi"},
    ]
    assert to_openai(CHAT) == CHAT


texts = st.text(min_size=1, max_size=20)
exchanges = st.lists(
    st.builds(
        lambda question, answer, ids: [
            {"role": "user", "content": question},
            *(
                [{"role": "assistant", "content": answer, "tool_calls": [call(i, q=question) for i in ids]}]
                + [{"role": "tool", "tool_call_id": i, "content": answer} for i in ids]
                if ids
                else []
            ),
            {"role": "assistant", "content": answer},
        ],
        texts,
        texts,
        st.lists(st.sampled_from("abc"), max_size=3, unique=True),
    ),
    min_size=1,
    max_size=4,
).map(lambda some: [{"role": "system", "content": "rules"}, *[m for one in some for m in one]])


@given(exchanges)
def test_what_goes_out_comes_back(chat):
    system, blocks = to_anthropic(chat)
    assert from_anthropic(blocks, system) == chat
    assert from_langchain([SimpleNamespace(**one["data"]) for one in to_langchain(chat)]) == chat
    assert from_llama_index([SimpleNamespace(**one) for one in to_llama_index(chat)]) == chat
    assert from_openai(chat) == chat


@pytest.mark.parametrize("way", ["anthropic", "langchain", "llama_index"])
def test_a_trimmed_request_goes_back_to_where_it_came_from(way):
    chat = [CHAT[0], *CHAT[1:6] * 5, CHAT[6]]
    made = assemble(chat, window=400, max_output_tokens=0, counter=CharsPerToken(1), images=Price(50))
    out = {
        "anthropic": lambda: from_anthropic(*reversed(to_anthropic(made.messages))),
        "langchain": lambda: from_langchain([SimpleNamespace(**one["data"]) for one in to_langchain(made.messages)]),
        "llama_index": lambda: from_llama_index([SimpleNamespace(**one) for one in to_llama_index(made.messages)]),
    }[way]()
    assert out == made.messages
    assert 1 < len(out) < len(chat)


class Price:
    """An image costs so much."""

    def __init__(self, tokens):
        self.tokens = tokens

    def part(self, part, where=""):
        return self.tokens


@pytest.mark.parametrize(
    ("read", "messages"),
    [
        (from_anthropic, [{"role": "system", "content": "x"}]),
        (from_anthropic, [{"role": "user", "content": [7]}]),
        (from_langchain, [SimpleNamespace(type="robot", content="x", additional_kwargs={})]),
        (from_langchain, ["hello"]),
        (from_llama_index, [SimpleNamespace(role="robot", blocks=[])]),
        (from_openai, ["hello"]),
        (from_openai, [{"role": "robot"}]),
        (to_anthropic, [{"role": "robot", "content": "x"}]),
    ],
)
def test_what_is_no_message_of_the_library_is_refused(read, messages):
    with pytest.raises(InputError):
        read(messages)


def test_nothing_that_comes_in_is_changed():
    before = json.dumps(CHAT)
    system, blocks = to_anthropic(CHAT)
    frozen = json.dumps(blocks)
    from_anthropic(blocks, system)
    to_langchain(CHAT)
    to_llama_index(CHAT)
    assert json.dumps(CHAT) == before and json.dumps(blocks) == frozen
