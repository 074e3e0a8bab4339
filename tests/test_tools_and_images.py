"""Tools and images inside a request, against what the API counted."""

import base64
import json
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.errors import InputError
from contextlab.render import (
    ChatML,
    ImageTiles,
    OpenAIDeclarations,
    OpenAIRecipe,
    PlainRule,
    declarations,
    image_size,
    tools_cost,
)
from contextlab.tokens import BPE, WordPieces

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")


def user(text):
    return {"role": "user", "content": text}


def system(text):
    return {"role": "system", "content": text}


def tool(name, description=None, properties=None, required=None):
    function = {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}}
    if required:
        function["parameters"]["required"] = required
    if properties is None:
        del function["parameters"]
    if description is None:
        del function["description"]
    return {"type": "function", "function": function}


# The rule that the Cookbook publishes; 105 and 101 are what the API counted in its notebook.


def test_the_cookbook_tool_costs_105_and_101():
    messages, tools = GOLDEN["cookbook_tools"]["messages"], GOLDEN["cookbook_tools"]["tools"]
    for counter, total, text in ((CL100K, 105, 34), (O200K, 101, 33)):
        for rule in (OpenAIRecipe(counter), OpenAIDeclarations(counter)):
            assert rule.request(messages) == text
            assert rule.request(messages, tools) == total
            assert tools_cost(rule, tools, messages) == total - text
            assert rule.request(list(map(Message.from_openai, messages)), tools) == total
        assert OpenAIRecipe(counter).tools_cost(tools) == total - text


def test_a_tool_travels_with_the_small_conversation_at_113_and_110():
    small = GOLDEN["small_conversation"]
    for counter, total in ((CL100K, 113), (O200K, 110)):
        assert OpenAIRecipe(counter).request(small["messages"], [small["tool"]]) == total


def test_a_recipe_with_other_constants():
    tools = GOLDEN["cookbook_tools"]["tools"]
    assert OpenAIRecipe(O200K, per_function=10).tools_cost(tools) == OpenAIRecipe(O200K).tools_cost(tools) + 3


# What the API counted for hmarr/openai-chat-tokens (tests/token-counts.test.ts), exact.

NESTED = {
    "type": "object",
    "properties": {"bar": {"type": "string", "enum": ["a", "b", "c"]}, "baz": {"type": "boolean"}},
}
INGREDIENT = {
    "type": "object",
    "required": ["name", "unit", "amount"],
    "properties": {
        "name": {"type": "string"},
        "unit": {"enum": ["grams", "ml", "cups", "pieces", "teaspoons"], "type": "string"},
        "amount": {"type": "number"},
    },
}
RECIPE = {
    "ingredients": {"type": "array", "items": INGREDIENT},
    "instructions": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Steps to prepare the recipe (no numbering)",
    },
    "time_to_cook": {"type": "number", "description": "Total time to prepare the recipe in minutes"},
}
BAR = {"type": "number", "description": "A number"}
STUFF = tool("do_stuff", properties={})


@pytest.mark.parametrize(
    ("messages", "one", "billed"),
    [
        ([user("hello")], tool("foo", properties={}), 31),
        ([user("hello")], tool("foo", "Do a foo", {}), 36),
        ([user("hello")], tool("bing_bong", "Do a bing bong", {"foo": {"type": "string"}}), 49),
        ([user("hello")], tool("bing_bong", "Do a bing bong", {"foo": {"type": "string"}, "bar": BAR}), 57),
        ([user("hello")], tool("bing_bong", "Do a bing bong", {"foo": NESTED}), 68),
        ([user("hello")], tool("get_recipe", None, RECIPE, list(RECIPE)), 106),
        ([system("Hello"), user("Hi there")], STUFF, 35),
        ([system("Hello:"), user("Hi there")], STUFF, 35),
        ([system("Hello:"), system("Hello"), user("Hi there")], STUFF, 40),
    ],
)
def test_declarations_agree_with_what_the_api_counted(messages, one, billed):
    assert OpenAIDeclarations(CL100K).request(messages, [one]) == billed
    assert OpenAIDeclarations(CL100K).request(messages, [one["function"]]) == billed  # the older form
    assert OpenAIDeclarations(CL100K).request(map(Message.from_openai, messages), [one]) == billed


# ... and for pamelafox/openai-messages-token-helper (tests/functions.py): never below, at most 3 above.

SOURCES = "Retrieve sources from the Azure AI Search index"
QUERY = {
    "type": "string",
    "description": "Query string to retrieve documents from azure search eg: 'Health care plan'",
}
SEARCH = tool("search_sources", SOURCES, {"search_query": QUERY}, ["search_query"])
BARE = tool("search_sources", SOURCES)
MAIN = "This is the main function description"
ENUM = tool("data_demonstration", MAIN, {"integer_enum": {"type": "integer", "enum": [-1, 1]}})
HAPPY = {"string_2a": {"type": "string", "enum": ["Happy", "Sad"]}}
LOST = {**HAPPY, "string_2b": {"type": "string", "description": "Description in a second object is lost"}}
ORDER = {
    "product_name": {"type": "string", "description": "Product name ordered by customer"},
    "quantity": {"type": "integer", "description": "Quantity ordered by customer"},
    "unit": {"type": "string", "enum": ["meals", "days"], "description": "unit of measurement of the customer order"},
}
ESCALATION = (
    "If user is showing signs of frustration or anger in the query. Also if the user says they want to talk to a real "
    "person and not a chat bot."
)


def demonstration(properties, **more):
    inner = {"type": "object", "description": "The object data type as a property", "properties": properties}
    return tool("data_demonstration", MAIN, {"object_1": inner, **more}, ["object_1"])


def one_argument(name, description, argument, schema):
    return tool(name, description, {argument: schema}, [argument])


def named(name):
    return {"type": "function", "function": {"name": name}}


HELPER = [
    (SEARCH, "auto", 66, 0),
    (SEARCH, "none", 67, 0),
    (SEARCH, named("search_sources"), 75, 0),
    (ENUM, "none", 54, 1),
    (ENUM, named("data_demonstration"), 64, 1),
    (BARE, "auto", 42, 0),
    (BARE, named("search_sources"), 51, 0),
    (tool("search_sources", SOURCES, {"search_query": {"type": "string"}}), "auto", 49, 1),
    (one_argument("search_sources", SOURCES, "search_query", {"type": "string"}), "auto", 49, 1),
    (tool("summarize_order", "Summarize the customer order request", ORDER, list(ORDER)), "none", 86, 0),
    (demonstration({"string1": {"type": "string"}}), "none", 65, 2),
    (demonstration(HAPPY), "none", 73, 1),
    (demonstration(LOST), "none", 89, 3),
    (
        demonstration(LOST, string_1={"type": "string", "description": "Not required gets a question mark"}),
        "none",
        103,
        3,
    ),
    (
        one_argument(
            "human_escalation",
            "Check if user wants to escalate to a human",
            "requires_escalation",
            {"type": "boolean", "description": ESCALATION},
        ),
        "none",
        89,
        0,
    ),
    (
        one_argument(
            "get_coordinates",
            "Get the latitude and longitude of multiple mailing addresses",
            "addresses",
            {"type": "array", "description": "The mailing addresses to be located", "items": {"type": "string"}},
        ),
        "none",
        59,
        0,
    ),
    (
        one_argument(
            "get_null",
            "Get the null value",
            "null_value",
            {"type": "null", "description": "The null value to be returned"},
        ),
        "none",
        55,
        0,
    ),
    (
        one_argument(
            "get_no_type",
            "Get the no type value",
            "no_type_value",
            {"description": "The no type value to be returned"},
        ),
        "none",
        59,
        0,
    ),
]


@pytest.mark.parametrize(("one", "choice", "billed", "above"), HELPER)
def test_declarations_are_at_most_3_above_what_the_api_counted_and_never_below(one, choice, billed, above):
    assert OpenAIDeclarations(CL100K).request([system("You are a bot.")], [one], choice) == billed + above


def test_the_published_rule_reads_the_first_level_only():
    """Nested schemas are where the two rules part: the recipe says 76 for what was billed as 106."""
    nested = tool("get_recipe", None, RECIPE, list(RECIPE))
    assert OpenAIRecipe(CL100K).request([user("hello")], [nested]) == 106 - 30


def test_declarations_are_not_additive_and_the_cost_alone_is_never_low():
    rule = OpenAIDeclarations(CL100K)
    assert not rule.additive
    for text in ("Hello", "Hello:", "Be brief.", ""):
        chat = [system(text), user("Hi there")]
        parts = sum(map(rule.message, chat)) + rule.reply_start + rule.tools_cost([STUFF])
        assert 0 <= parts - rule.request(chat, [STUFF]) <= 1
    assert rule.request([user("hello")]) == OpenAIRecipe(CL100K).request([user("hello")])


def test_no_tools_cost_nothing():
    for rule in (OpenAIRecipe(CL100K), OpenAIDeclarations(CL100K), PlainRule(WordPieces()), ChatML(CL100K)):
        assert rule.tools_cost(None) == rule.tools_cost([]) == 0
        assert rule.request([user("hello")], []) == rule.request([user("hello")], None) == rule.request([user("hello")])


def test_the_plain_rule_counts_the_json_of_a_tool():
    rule = PlainRule(WordPieces())
    assert rule.tools_cost([STUFF]) == WordPieces()(json.dumps(STUFF))
    assert rule.request([user("hello")], [STUFF]) == rule.request([user("hello")]) + rule.tools_cost([STUFF])


@pytest.mark.parametrize(
    "rule", [OpenAIRecipe(CL100K), OpenAIDeclarations(CL100K)], ids=lambda rule: type(rule).__name__
)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("clock", "not a tool"),
        ({}, "not a tool"),
        ({"type": "function", "function": {"name": 7}}, "not a tool"),
        ({"type": "web_search"}, "not a tool"),
        (tool("clock", 7), "description of the tool clock"),
        (tool("clock", "", []), None),
        ({"name": "clock", "parameters": []}, None),
        ({"name": "clock", "parameters": [1]}, "JSON schema"),
        ({"name": "clock", "parameters": {"properties": [1]}}, "JSON schema"),
        ({"name": "clock", "parameters": {"properties": {"zone": "string"}}}, "JSON schema"),
    ],
)
def test_what_is_no_tool_is_an_error_that_says_so(rule, wrong, said):
    if said is None:
        assert rule.tools_cost([wrong]) > 0
        return
    with pytest.raises(InputError, match=said):
        rule.tools_cost([wrong])


def test_a_schema_without_a_bottom_is_an_error():
    schema = {"type": "object", "properties": {}}
    schema["properties"]["again"] = schema
    with pytest.raises(InputError, match="deeper than 32"):
        declarations([{"name": "f", "parameters": schema}])


# A result and the id that ties it to its call: an assumption, held above the one bill that we found.


def test_a_call_and_its_result_count_above_what_gpt_4_billed():
    function = {"name": "get_current_weather", "arguments": '{\n  "location": "Boston, MA"\n}'}
    call = {"id": "call_Id8ycVMsW8gdsf7kSXfgAcf1", "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": call["id"], "content": "29 degree celcius"}
    chat = [{"role": "assistant", "content": None, "tool_calls": [call]}, result]
    billed = 35  # forestwanglin/openai-java, issue 5, where the result repeats the name of the function
    assert OpenAIRecipe(CL100K).request(chat) == billed + 1
    result["name"] = "get_current_weather"
    assert OpenAIRecipe(CL100K).request(chat) == billed + 5
    # The bill is explained by a result that costs 3, the name of its function, and its content.
    assert OpenAIRecipe(CL100K).request(chat[:1]) + 3 + CL100K("get_current_weather") + CL100K(result["content"]) == 35


# Images.


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        ((1, 1), 255),  # openai-messages-token-helper
        ((512, 512), 255),
        ((513, 512), 425),
        ((1024, 1024), 765),  # OpenAI's own examples: this one and the next
        ((2048, 4096), 1105),
        ((768, 2048), 85 + 8 * 170),
        ((100_000, 1), 85 + 4 * 170),
        ((100_000, 100_000), 765),
    ],
)
def test_an_image_costs_its_tiles(size, tokens):
    images = ImageTiles()
    for width, height in (size, size[::-1]):
        assert images.tokens(width, height) == images.tokens(width, height, "auto") == tokens
        assert images.tokens(width, height, "low") == 85


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_no_image_costs_more_than_8_tiles_or_less_than_one(width, height):
    tokens = ImageTiles().tokens(width, height)
    assert 255 <= tokens <= 1445
    assert (tokens - 85) % 170 == 0
    assert tokens == ImageTiles().tokens(height, width)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_tiles_follow_the_description_step_by_step(width, height):
    from fractions import Fraction
    from math import ceil

    w, h = Fraction(width), Fraction(height)
    if max(w, h) > 2048:
        w, h = (side * 2048 / max(w, h) for side in (w, h))
    if min(w, h) > 768:
        w, h = (side * 768 / min(w, h) for side in (w, h))
    assert ImageTiles().tokens(width, height) == 85 + 170 * ceil(w / 512) * ceil(h / 512)


def png(width, height):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


def image(data, kind="png", **more):
    url = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return {"type": "image_url", "image_url": {"url": url, **more}}


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z/C/HgAGgwJ/lK3Q6wAAAABJRU5ErkJggg=="


def test_a_text_and_an_image_of_one_pixel_cost_what_the_api_counted():
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}", "detail": "auto"}}
    message = user([{"type": "text", "text": "Describe this picture:"}, part])
    for counter in (CL100K, O200K):
        recipe = OpenAIRecipe(counter, images=ImageTiles())
        assert recipe.request([message]) == recipe.request([Message.from_openai(message)]) == 266
        assert recipe.request([message]) - recipe.request([user([message["content"][0]])]) == 255
    mini = OpenAIRecipe(O200K, images=ImageTiles(2833, 5667))
    assert mini.request([message]) == 8511
    part["image_url"]["detail"] = "low"
    assert mini.request([message]) == 2844
    assert OpenAIRecipe(O200K, images=ImageTiles()).request([message]) == 96


def jpeg(width, height):
    frame = struct.pack(">BHHB", 8, height, width, 3) + b"\1\x22\0\2\x11\1\3\x11\1"
    return (
        b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\3x\xff\xc2" + struct.pack(">H", len(frame) + 2) + frame + b"\xff\xd9"
    )


def webp(kind, body):
    return b"RIFF" + struct.pack("<I", 4 + 8 + len(body)) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    "data",
    [
        png(300, 200),
        b"GIF89a" + struct.pack("<HH", 300, 200) + b"\0\0\0;",
        jpeg(300, 200),
        webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 300, 200 | 0x4000) + b"\0" * 8),
        webp(b"VP8L", b"\x2f" + struct.pack("<I", 299 | 199 << 14) + b"\0" * 8),
        webp(b"VP8X", b"\0\0\0\0" + (299).to_bytes(3, "little") + (199).to_bytes(3, "little")),
    ],
    ids=["PNG", "GIF", "JPEG", "WebP lossy", "WebP lossless", "WebP extended"],
)
def test_the_size_of_an_image_is_read_from_its_first_bytes(data):
    assert image_size(data) == (300, 200)
    assert ImageTiles().part(image(data)) == 255


@pytest.mark.parametrize(
    "data", [b"", b"PK\3\4", png(3, 2)[:20], b"\xff\xd8\xff\xe0\xff\xff", b"\xff\xd8" * 9, b"GIF89a"]
)
def test_bytes_without_a_size_are_an_error(data):
    with pytest.raises(InputError, match="no PNG, GIF, JPEG or WebP"):
        image_size(data)


@given(st.binary(max_size=60), st.sampled_from([b"\xff\xd8", b"\x89PNG\r\n\x1a\n", b"RIFF1234WEBPVP8X", b""]))
def test_any_bytes_have_a_size_or_are_an_error(data, head):
    try:
        width, height = image_size(head + data)
    except InputError:
        return
    assert width > 0 < height


def test_a_large_image_is_never_counted_as_text():
    large = png(1000, 1000) + b"\0" * 250_000
    message = user([{"type": "text", "text": "Look"}, image(large)])
    assert OpenAIRecipe(O200K, images=ImageTiles()).message(message) == 5 + 765
    assert PlainRule(WordPieces(), images=ImageTiles()).message(message) == 5 + 765
    forty_five = [message] * 45
    assert OpenAIRecipe(O200K, images=ImageTiles()).request(forty_five) == 45 * (5 + 765) + 3


def test_an_image_of_unknown_size_is_an_error_or_has_the_price_that_was_given():
    part = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    with pytest.raises(InputError, match=r"unknown size.*low.*width and height.*data URL"):
        ImageTiles().part(part)
    assert ImageTiles(unknown=1445).part(part) == 1445
    part["image_url"] |= {"width": 1024, "height": 1024}
    assert ImageTiles().part(part) == 765
    part["image_url"]["detail"] = "low"
    assert ImageTiles().part(part) == 85
    assert ImageTiles(unknown=9).part({"type": "image_url", "image_url": "https://example.org/a.png"}) == 9


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"type": "input_audio", "input_audio": {}}, "part 1 is 'input_audio'"),
        ({"type": "file"}, "part 1 is 'file'"),
        ({"type": "text", "text": None}, "part 1 is 'text'"),
        ({}, "part 1 is None"),
        ("text", "part 1 is 'str'"),
        ({"type": "image_url"}, "part 1 is 'image_url'"),
        ({"type": "image_url", "image_url": {"url": "data:image/png,plain"}}, "part 1.*not base64"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@@"}}, "part 1.*not base64"),
        ({"type": "image_url", "image_url": {"detail": "ultra", "width": 3, "height": 3}}, "ultra"),
        ({"type": "image_url", "image_url": {"width": 0, "height": 3}}, "from 1, got 0, 3"),
    ],
)
@pytest.mark.parametrize("make", [PlainRule, OpenAIRecipe])
def test_a_part_without_a_price_is_an_error_that_names_it(make, part, said):
    with pytest.raises(InputError, match=said):
        make(WordPieces(), images=ImageTiles()).message(user([{"type": "text", "text": "Look"}, part]))
