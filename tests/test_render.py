import functools
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.errors import InputError
from contextlab.render import OpenAIRecipe, PlainRule
from contextlab.tokens import BPE, CharsPerToken, WordPieces

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
COOKBOOK = GOLDEN["cookbook_messages"]
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")


def both_forms(dicts):
    """The same messages as OpenAI dicts and as the library's records."""
    return dicts, [Message.from_openai(d) for d in dicts]


# The Cookbook's list.


@pytest.mark.parametrize("form", [0, 1], ids=["dicts", "records"])
def test_the_cookbook_list_counts_as_the_api_billed_it(form):
    messages = both_forms(COOKBOOK["messages"])[form]
    assert OpenAIRecipe(CL100K).request(messages) == COOKBOOK["cl100k_base"] == 129
    assert OpenAIRecipe(O200K).request(messages) == COOKBOOK["o200k_base"] == 124
    assert OpenAIRecipe(CL100K, per_message=4, per_name=-1).request(messages) == 127


def test_each_message_of_the_cookbook_list_has_its_share():
    assert [OpenAIRecipe(CL100K).message(m) for m in COOKBOOK["messages"]] == [22, 17, 16, 25, 23, 23]
    assert [OpenAIRecipe(O200K).message(m) for m in COOKBOOK["messages"]] == [21, 17, 16, 24, 21, 22]
    assert [CL100K(m["content"]) for m in COOKBOOK["messages"]] == [18, 10, 8, 18, 15, 19]
    assert [O200K(m["content"]) for m in COOKBOOK["messages"]] == COOKBOOK["content_tokens_o200k"]


def test_one_small_conversation_counts_23_as_texts_and_42_as_a_request():
    messages = GOLDEN["small_conversation"]["messages"]
    for counter in (CL100K, O200K):
        assert sum(counter(m["content"]) for m in messages) == 23
        assert OpenAIRecipe(counter).request(messages) == 42


def user(text):
    return {"role": "user", "content": text}


def system(text, **more):
    return {"role": "system", "content": text, **more}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


JARGON = "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."
HEALTHCARE = (
    "Assistant helps the company employees with their healthcare plan questions, and questions about the employee "
    "handbook. Be brief in your answers."
)
DRESS_CODE = "Yes, there is a dress code at Contoso Electronics. Look sharp! [employee_handbook-1.pdf]"


@pytest.mark.parametrize(
    ("messages", "billed"),
    [
        # hmarr/openai-chat-tokens, tests/token-counts.test.ts
        ([user("hello")], 8),
        ([user("hello world")], 9),
        ([system("hello")], 8),
        ([system("hello:")], 9),
        ([system("# Important: you're the best robot"), user("hello robot"), assistant("hello world")], 27),
        # pamelafox/openai-messages-token-helper, tests/messages.py
        ([system("You are a bot.")], 12),
        ([system(JARGON)], 25),
        ([system(HEALTHCARE)], 31),
        ([system("\u00e1")], 8),
        ([user("\u00e1")], 8),
        ([system("New synergies will help drive top-line growth.", name="example_user")], 20),
        ([user("Hello, how are you?")], 13),
        ([user("What happens in a performance review?")], 14),
        ([user("Is there a dress code?")], 13),
        ([assistant(DRESS_CODE)], 30),
        ([user("What does a Product Manager do?")], 14),
    ],
)
def test_the_recipe_agrees_with_what_the_api_counted(messages, billed):
    for form in both_forms(messages):
        assert OpenAIRecipe(CL100K).request(form) == billed


def test_the_newer_vocabulary_differs_where_the_api_says_so():
    assert OpenAIRecipe(O200K).request([system(JARGON)]) == 24


@pytest.mark.parametrize(
    ("messages", "billed"),
    [
        ([user("hello world"), {"role": "function", "name": "do_stuff", "content": "{}"}], 15),
        ([user("hello world"), {"role": "function", "name": "do_stuff", "content": '{"foo": "bar", "baz": 1.5}'}], 28),
        ([{"role": "function", "name": "dance_the_tango", "content": '{"a": { "b" : { "c": false}}}'}], 24),
    ],
)
def test_the_old_function_role_counts_two_too_high_and_never_too_low(messages, billed):
    assert OpenAIRecipe(CL100K).request(messages) == billed + 2


@pytest.mark.parametrize(
    ("arguments", "billed"), [('{"foo": "bar", "baz": 1.5}', 26), ('{"foo":"bar", "baz":\n\n 1.5}', 25)]
)
def test_one_function_call_counts_as_the_api_counted_it(arguments, billed):
    function = {"name": "do_stuff", "arguments": arguments}
    older = {"role": "assistant", "content": "", "function_call": function}
    newer = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    recipe = OpenAIRecipe(CL100K)
    assert recipe.request([older]) == recipe.request([newer]) == billed
    assert recipe.request([Message.from_openai(newer)]) == billed


# Edges of both rules.


def test_an_empty_list_costs_the_reply_start_and_one_empty_message_7():
    for rule in (OpenAIRecipe(CL100K), OpenAIRecipe(O200K), OpenAIRecipe(WordPieces())):
        assert rule.request([]) == rule.reply_start == 3
        assert rule.request([user("")]) == 7
    assert PlainRule(WordPieces()).request([]) == 3
    assert PlainRule(WordPieces()).request([user("")]) == 7


@given(st.text(), st.sampled_from(["system", "user", "assistant", "tool"]), st.integers(0, 9), st.integers(0, 9))
def test_the_plain_rule_charges_the_text_and_the_overhead_whatever_the_role(text, role, overhead, reply_start):
    counter = WordPieces()
    rule = PlainRule(counter, overhead=overhead, reply_start=reply_start)
    assert rule.message(Message(role, text)) == counter(text) + overhead
    assert rule.message(Message(role, text, name="Ada")) == counter(text) + overhead
    assert rule.request([Message(role, text)] * 3) == 3 * (counter(text) + overhead) + reply_start


CALLS = [
    {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'}},
    {"id": "call_2", "type": "custom", "custom": {"name": "run", "input": "print(1)"}},
]


@pytest.mark.parametrize("rule", [PlainRule(CharsPerToken(1), 0), OpenAIRecipe(CharsPerToken(1), 0, 0, 0, per_call=0)])
def test_a_message_without_content_counts_the_names_and_arguments_of_its_calls(rule):
    role = 0 if isinstance(rule, PlainRule) else len("assistant")
    texts = "get_weather" + '{"city": "Porto"}' + "run" + "print(1)"
    for message in both_forms([{"role": "assistant", "content": None, "tool_calls": CALLS}]):
        assert rule.message(message[0]) == role + len(texts)


@pytest.mark.parametrize("rule", [PlainRule(O200K), OpenAIRecipe(O200K)])
def test_a_long_call_costs_about_what_its_arguments_do(rule):
    arguments = json.dumps({"text": "word " * 200})
    call = {"id": "c", "type": "function", "function": {"name": "save", "arguments": arguments}}
    message = Message("assistant", None, tool_calls=(call,))
    assert rule.message(message) - rule.message(Message("assistant", None)) >= O200K(arguments) > 200


@pytest.mark.parametrize("rule", [PlainRule(O200K), OpenAIRecipe(O200K)])
def test_arguments_given_as_an_object_count_as_their_json(rule):
    as_text = Message("assistant", None, tool_calls=({"function": {"name": "f", "arguments": '{"city": "Zürich"}'}},))
    as_object = Message("assistant", None, tool_calls=({"function": {"name": "f", "arguments": {"city": "Zürich"}}},))
    assert rule.message(as_object) == rule.message(as_text)


def test_the_id_of_a_call_costs_the_same_whatever_its_letters():
    recipe = OpenAIRecipe(CL100K)
    results = [Message("tool", "18 C", tool_call_id=call_id) for call_id in ("a", "call_7f3e9b2c41d8a6")]
    assert recipe.message(results[0]) == recipe.message(results[1])
    assert recipe.message(results[0]) == recipe.message(Message("tool", "18 C")) + 3


@pytest.mark.parametrize("rule", [PlainRule(WordPieces()), OpenAIRecipe(WordPieces())])
def test_text_parts_count_as_their_texts_and_their_keys_cost_nothing(rule):
    parts = [{"type": "text", "text": "Describe"}, {"type": "text", "text": "internationalization"}]
    assert rule.message(user(parts)) == rule.message(user("Describe")) + WordPieces()("internationalization")
    assert rule.message(user([])) == rule.message(user("")) == rule.message(user(None))


@pytest.mark.parametrize("rule", [PlainRule(WordPieces()), OpenAIRecipe(WordPieces())])
@pytest.mark.parametrize(
    ("message", "named"),
    [
        (
            user([{"type": "text", "text": "Look"}, {"type": "image_url", "image_url": {"url": "data:..."}}]),
            "image_url",
        ),
        (user([{"type": "text", "text": None}]), "part 0"),
        (user(["text"]), "part 0 is 'str'"),
        (user(17), "int"),
        (user(b"text"), "bytes"),
        (assistant(None, tool_calls=[{"id": "c"}]), "tool call"),
        (assistant(None, tool_calls=[{"function": {"name": None}}]), "tool call"),
        (assistant(None, tool_calls=["get_weather"]), "tool call"),
        ("Hello", "not a message"),
        (None, "not a message"),
    ],
)
def test_what_cannot_be_counted_is_an_error_that_names_it_and_never_0(rule, message, named):
    with pytest.raises(InputError, match=named):
        rule.message(message)


def test_the_recipe_needs_a_role():
    with pytest.raises(InputError, match="role"):
        OpenAIRecipe(WordPieces()).message({"content": "Hello"})


# Additive: the sum of cached counts is the count of the rendered request.


@functools.cache
def with_control_tokens(name):
    """The vocabulary, with the markers of a chat as special tokens that no text can spell."""
    import tiktoken

    CL100K("load it first") if name == "cl100k_base" else O200K("load it first")
    plain = tiktoken.get_encoding(name)
    markers = ["<|im_start|>", "<|im_name|>", "<|im_sep|>", "<|im_end|>"]
    first = plain.n_vocab
    return tiktoken.Encoding(
        f"{name}_chat",
        pat_str=plain._pat_str,
        mergeable_ranks=plain._mergeable_ranks,
        special_tokens={marker: first + number for number, marker in enumerate(markers)},
    )


def rendered(messages):
    text = ""
    for m in messages:
        name = f"<|im_name|>{m.name}" if m.name else ""
        text += f"<|im_start|>{m.role}{name}<|im_sep|>{m.content}<|im_end|>"
    return text + "<|im_start|>assistant<|im_sep|>"


plain_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40).map(lambda text: text.replace("<|", ""))
chats = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant"]),
        plain_texts | st.sampled_from(["New ", "York", "hel", "lo", " ", "\n\n", "\u0301"]),
        name=st.none() | st.sampled_from(["ada", "example_user", "Zoë"]),
    ),
    max_size=6,
)


@pytest.mark.parametrize("counter", [CL100K, O200K], ids=lambda counter: counter.name)
@settings(max_examples=60, deadline=None)
@given(messages=chats)
def test_the_sum_of_the_messages_is_the_count_of_the_rendered_request(counter, messages):
    recipe = OpenAIRecipe(counter)
    assert recipe.additive
    tokens = with_control_tokens(counter.name).encode(rendered(messages), allowed_special="all")
    assert recipe.request(messages) == len(tokens)


def test_texts_alone_do_not_add_up():
    assert CL100K("hel") + CL100K("lo") > CL100K("hello")
    assert CL100K("New ") + CL100K("York") > CL100K("New York")
