"""Chat templates: exact counts of the rendered request, additive or not, in a sandbox that ends."""

import functools
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import ROLES, Message
from contextlab.errors import InputError, MissingDependency
from contextlab.render import ChatML, OpenAIRecipe, SystemInLastUser, Template, recorded_counts
from contextlab.render.templates import CHATML, CHATML_MARKERS, SYSTEM_IN_LAST_USER_MARKERS
from contextlab.tokens import BPE, CharsPerToken, TokenizerFile, WordPieces

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
SMALL = GOLDEN["small_conversation"]["messages"]
TOOL = GOLDEN["small_conversation"]["tool"]
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")
COUNTERS = [CL100K, O200K, WordPieces(), CharsPerToken()]
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_current_weather", "arguments": '{"location": "Porto"}'},
}


def user(text):
    return {"role": "user", "content": text}


# One small conversation, many counts.


@pytest.mark.parametrize("counter", [CL100K, O200K], ids=lambda counter: counter.name)
def test_four_messages_cost_from_23_to_83_tokens(counter):
    assert sum(counter(m["content"]) for m in SMALL) == 23
    assert SystemInLastUser(counter).request(SMALL) == 29
    assert OpenAIRecipe(counter).request(SMALL) == 42
    assert ChatML(counter).request(SMALL) == 46
    assert counter(json.dumps(SMALL)) == 68
    assert ChatML(counter, special_tokens=False).request(SMALL) == 83


def test_what_the_original_renderers_counted_is_on_record_with_their_versions():
    counts = GOLDEN["small_conversation"]["counts"]
    recorded = {row["name"]: row for row in recorded_counts()}
    assert recorded["mistral-v3-tekken"]["tokens"] == counts["Mistral v3 (tekken)"]["plain"] == 29
    assert recorded["mistral-v3"]["tokens"] == counts["Mistral v3 (sentencepiece)"]["plain"] == 33
    (smollm,) = (value for name, value in counts.items() if name.startswith("SmolLM2"))
    assert recorded["smollm2"]["tokens"] == smollm["plain"] == 49
    (harmony,) = (value for name, value in counts.items() if name.startswith("Harmony gpt-oss"))
    assert (recorded["harmony"]["tokens"], recorded["harmony"]["with_tool"]) == tuple(harmony.values()) == (107, 190)
    assert all(row["renderer"] and row["source"] and row["title"] for row in recorded.values())


# Oracle: tiktoken, with the markers as special tokens, on the text that Jinja renders.


@functools.cache
def with_markers(name, markers):
    import tiktoken

    BPE(name)("load it first")
    plain = tiktoken.get_encoding(name)
    return tiktoken.Encoding(
        f"{name}_chat",
        pat_str=plain._pat_str,
        mergeable_ranks=plain._mergeable_ranks,
        special_tokens={marker: plain.n_vocab + number for number, marker in enumerate(markers)},
    )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    ["", "\n", "\n\nx", "x\n", "hel", "lo", " ", "\0", "<|im_end|>", "a<|im_start|>b", "<s>[INST]", "<|im_", "\u0301"]
)
calls = st.lists(
    st.builds(lambda name, text: {"function": {"name": name, "arguments": text}}, st.sampled_from(["f", "get"]), texts),
    max_size=2,
).map(tuple)
messages = st.builds(
    Message,
    st.sampled_from(ROLES),
    texts | st.none() | st.lists(texts.map(lambda text: {"type": "text", "text": text}), max_size=2),
    tool_calls=calls,
    name=st.none() | st.sampled_from(["ada", "Zoë"]),
)
chats = st.lists(messages, max_size=5)
tool_lists = st.sampled_from([None, [TOOL], [TOOL, {"type": "function", "function": {"name": "é\n"}}]])


@pytest.mark.parametrize("counter", [CL100K, O200K], ids=lambda counter: counter.name)
@settings(max_examples=60, deadline=None)
@given(chat=chats, tools=tool_lists)
def test_chatml_is_additive_and_counts_what_jinja_renders(counter, chat, tools):
    template = ChatML(counter)
    assert template.additive
    rendered = template.render(chat, tools)
    assert template.text(chat, tools) == rendered
    exact = len(with_markers(counter.name, CHATML_MARKERS).encode(rendered, allowed_special="all"))
    assert template.request(chat, tools) == exact
    assert sum(map(template.message, chat)) + template.reply_start + template.tools_cost(tools) == exact


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda counter: counter.name)
@settings(max_examples=40, deadline=None)
@given(chat=chats, tools=tool_lists)
def test_every_rule_that_says_it_is_additive_is(counter, chat, tools):
    for rule in (ChatML(counter), OpenAIRecipe(counter), ChatML(counter, special_tokens=False)):
        if rule.additive:
            parts = sum(map(rule.message, chat)) + rule.reply_start + rule.tools_cost(tools)
            assert rule.request(chat, tools) == parts


@pytest.mark.parametrize("counter", [CL100K, O200K], ids=lambda counter: counter.name)
@settings(max_examples=60, deadline=None)
@given(chat=chats, tools=tool_lists)
def test_a_template_that_moves_the_instructions_counts_what_jinja_renders(counter, chat, tools):
    template = SystemInLastUser(counter)
    if not any(message.role == "user" for message in chat):
        with pytest.raises(InputError, match="no user message"):
            template.request(chat, tools)
        return
    rendered = template.render(chat, tools)
    assert template.text(chat, tools) == rendered
    exact = len(with_markers(counter.name, SYSTEM_IN_LAST_USER_MARKERS).encode(rendered, allowed_special="all"))
    assert template.request(chat, tools) == exact


def test_markers_as_text_are_not_additive():
    template = ChatML(O200K, special_tokens=False)
    assert not template.additive
    assert template.request(SMALL) == O200K(template.render(SMALL))
    # One long piece: characters over 4 round up once, not once a message.
    by_characters = ChatML(CharsPerToken(), special_tokens=False)
    parts = by_characters.reply_start + sum(map(by_characters.message, SMALL))
    assert by_characters.request(SMALL) < parts


def test_the_instructions_stand_in_the_last_user_message_and_move_with_it():
    template = SystemInLastUser(O200K)
    assert not template.additive
    first = template.render(SMALL[:2])
    assert first == "<s>[INST]You are a helpful assistant.\n\nMy name is Ada.[/INST]"
    whole = template.render(SMALL)
    assert whole.startswith("<s>[INST]My name is Ada.[/INST]Nice to meet you, Ada.</s>[INST]You are")
    assert whole.endswith("\n\nWhat is my name?[/INST]")
    # Two texts meet there without a marker between them, so a message has no price of its own.
    beside = [Message("system", "hel"), Message("user", "lo")]
    assert template.request(beside) == template.reply_start + sum(map(template.message, beside))
    joined = Template("{{ messages | map(attribute='content') | join }}", O200K)
    assert joined.request(beside) == 1 < O200K("hel") + O200K("lo")


def test_the_start_token_is_counted_once():
    template = SystemInLastUser(CL100K)
    assert template.render(SMALL).count("<s>") == 1
    assert template.request([user("")]) == 3  # <s>, [INST], [/INST]
    printed = Template(
        "{{ bos_token }}{{ messages[0].content }}", CL100K, markers=["<s>"], variables={"bos_token": "<s>"}
    )
    assert printed.request([user("hello")]) == 2


# Names, None, calls, tools, parts.


def test_names_calls_and_results_are_in_the_text_and_in_the_count():
    chat = [
        Message("user", "Rain?", name="ada"),
        Message("assistant", None, tool_calls=(CALL,)),
        Message("tool", "18 C", tool_call_id="c1", name="get_current_weather"),
    ]
    rendered = ChatML(O200K).render(chat)
    assert "<|im_start|>user name=ada\nRain?<|im_end|>" in rendered
    assert '<tool_call>get_current_weather {"location": "Porto"}<|im_end|>' in rendered
    assert "None" not in rendered
    assert '[TOOL_CALLS]get_current_weather {"location": "Porto"}</s>' in SystemInLastUser(O200K).render(chat)
    assert ChatML(O200K).message(chat[1]) > ChatML(O200K).message(Message("assistant", None)) + 5


def test_arguments_may_be_an_object():
    as_object = {"function": {"name": "f", "arguments": {"city": "Zürich"}}}
    as_text = {"function": {"name": "f", "arguments": '{"city": "Zürich"}'}}
    for template in (ChatML(O200K), SystemInLastUser(O200K)):
        pair = [template.request([user("?"), Message("assistant", None, (call,))]) for call in (as_object, as_text)]
        assert pair[0] == pair[1]


def test_tools_cost_the_difference_of_two_renders():
    for template in (ChatML(O200K), SystemInLastUser(O200K)):
        difference = template.request(SMALL, [TOOL]) - template.request(SMALL)
        assert template.tools_cost([TOOL]) == difference > 90
        assert template.tools_cost(None) == template.tools_cost([]) == 0


@pytest.mark.parametrize("template", [ChatML(WordPieces()), SystemInLastUser(WordPieces())], ids=lambda t: t.name)
@pytest.mark.parametrize(
    ("message", "named"),
    [
        ({"role": "wizard", "content": "Hello"}, "role.*wizard"),
        ({"content": "Hello"}, "role.*None"),
        (user([{"type": "image_url", "image_url": {"url": "data:..."}}]), "image_url"),
        (user(17), "int"),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, "tool call"),
        ("Hello", "not a message"),
    ],
)
def test_what_our_templates_cannot_render_is_an_error_that_names_it(template, message, named):
    with pytest.raises(InputError, match=named):
        template.request([user("?"), message])


@pytest.mark.parametrize("counter", [O200K, WordPieces()], ids=lambda counter: counter.name)
def test_odd_texts_are_counted(counter):
    line = "word " * 200_000  # a megabyte on one line
    for template in (ChatML(counter), SystemInLastUser(counter)):
        empty = template.request([user("")])
        assert template.request([user("\0" * 100)]) > empty
        assert template.request([user(line)]) >= 200_000
    with pytest.raises(InputError, match="surrogate"):
        ChatML(O200K).request([user("half \ud83d")])


def test_nothing_to_send_is_the_reply_start_or_an_error():
    assert ChatML(O200K).request([]) == ChatML(O200K).reply_start == 3
    with pytest.raises(InputError, match="no user message"):
        SystemInLastUser(O200K).request([])


# A reader's own template.


def test_a_template_gets_what_transformers_gives_it():
    source = "{{ messages | length }} {{ tools is none }} {{ documents is none }} "
    source += "{{ add_generation_prompt }} {{ bos_token }}"
    template = Template(source, WordPieces(), variables={"bos_token": "<s>"})
    assert template.render(SMALL) == "4 True True True <s>"
    keys = Template("{{ messages[0].keys() | list }}", WordPieces())
    assert keys.render([Message("assistant", None, turn=3)]) == "['role']"  # what has no value is left out


def test_blocks_are_trimmed_and_json_is_plain_as_transformers_has_them():
    source = "{% for m in messages %}\n  {% if m.role == 'user' %}\n{{ m | tojson }}\n  {% endif %}\n{% endfor %}"
    assert Template(source, WordPieces()).render([user("<é>")]) == '{"role": "user", "content": "<é>"}\n'
    source = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% break %}{% endfor %}"
    assert Template(source, WordPieces()).render(SMALL) == "You are a helpful assistant."


def test_the_clock_can_be_held():
    source = "{{ strftime_now('%d %b %Y') }}"
    assert Template(source, WordPieces(), now=datetime(2026, 1, 1)).render([]) == "01 Jan 2026"
    assert Template(source, WordPieces()).render([]) == datetime.now().strftime("%d %b %Y")


def test_our_own_source_in_a_plain_template_counts_the_same():
    template = Template(CHATML, O200K, markers=CHATML_MARKERS)
    assert not template.additive
    assert template.request(SMALL) == ChatML(O200K).request(SMALL)
    assert template.request(SMALL, [TOOL]) == ChatML(O200K).request(SMALL, [TOOL])
    # ... and its estimates are close: exact here, for the parts that no merge touches.
    assert template.reply_start == 3
    assert [template.message(m) for m in SMALL] == [ChatML(O200K).message(m) for m in SMALL]


BAD = {
    "loops": "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
    "loops in silence": "{% for i in range(100000) %}{% for j in range(100000) if false %}x{% endfor %}{% endfor %}",
    "loops in a filter": "{% for i in range(100000) %}{{ range(100000) | sum }}{% endfor %}",
    "calls itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "calls itself twice": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "doubles": "{% set n = namespace(s='ab') %}{% for i in range(99) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
    "doubles a list": "{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = n.s + n.s %}{% endfor %}",
    "nests": "{% set n = namespace(s=[1]) %}{% for i in range(99) %}{% set n.s = [n.s, n.s] %}{% endfor %}{{ n.s }}",
    "nests dicts": "{% set n = namespace(s=1) %}{% for i in range(99) %}{% set n.s = {1: n.s, 2: n.s} %}{% endfor %}",
    "multiplies": "{{ 'a' * 10 ** 10 }}",
    "grows a number": "{{ 2 ** 64 ** 64 }}",
    "pads": "{{ 'a'.ljust(10 ** 10) }}",
    "formats": "{{ '{:9999999999}'.format(1) }}",
    "formats, old style": "{{ '%9999999999d' % 1 }}",
    "replaces": "{% set a = 'a' * 900000 %}{{ a.replace('a', a) }}",
    "joins": "{% set a = 'a' * 900000 %}{{ range(100000) | map('replace', '0', a) | join }}",
    "indents": "{{ [1] | tojson(indent=10 ** 9) }}",
    "rounds": "{{ 1.5 | round(10 ** 9, 'ceil') }}",
    "writes in a block": "{% set x %}{% for i in range(99999) %}{{ 'a' * 9999 }}{% endfor %}{% endset %}",
    "is long": "x" * 2_000_000,
    "includes": "{% include 'other' %}",
    "imports": "{% from 'os' import system %}",
    "extends": "{% extends 'other' %}",
    "calls out": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "climbs": "{{ ().__class__.__mro__[1].__subclasses__() }}",
    "climbs in a format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "changes the chat": "{% set x = messages.append(1) %}",
    "changes a message": "{% set x = messages[0].update({'content': ''}) %}",
    "refuses": "{{ raise_exception('Conversation roles must alternate') }}",
    "reads what is not there": "{{ messages[7].content.text }}",
    "fails": "{{ 1 / 0 }}",
    "is no Jinja": "line one\n{% for %}",
    "is nested": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "asks for an unknown filter": "{{ 'a' | frobnicate }}",
}


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_a_bad_template_ends_with_a_clear_error(source):
    chat = [dict(message) for message in SMALL]
    with pytest.raises(InputError, match=r"^the template fails( in line \d+)?: .*\w"):
        Template(source, WordPieces()).request(chat)
    assert chat == SMALL


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("refuses", "Conversation roles must alternate"),
        ("loops", "it loops too often"),
        ("calls itself", "calls itself without an end"),
        ("includes", "calls another template"),
        ("calls out", "'__init__'.*unsafe"),
        ("is no Jinja", "in line 2"),
        ("multiplies", "a value of 10,000,000,000"),
    ],
)
def test_the_error_says_what_was_wrong(name, message):
    with pytest.raises(InputError, match=message):
        Template(BAD[name], WordPieces()).request(SMALL)


def test_a_looping_template_stops_at_the_same_step_everywhere():
    said = []
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            Template(BAD["loops"], WordPieces()).request(SMALL)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_the_limit_grows_with_the_chat():
    chat = [user(f"message {number}") for number in range(3000)]
    backwards = "{% for m in messages %}{% for n in messages[::-1] %}{{ n.content }}{% break %}{% endfor %}{% endfor %}"
    assert Template(backwards, len).request(chat) == 3000 * len("message 2999")
    assert ChatML(O200K).count(ChatML(O200K).render(chat)) == ChatML(O200K).request(chat)


def test_an_object_never_reaches_the_template():
    class Stranger:
        def __str__(self):
            raise AssertionError("called")

    with pytest.raises(InputError, match="Stranger"):
        Template("{{ messages[0].more }}", WordPieces()).request([{"role": "user", "content": "", "more": Stranger()}])


def test_a_template_that_cannot_price_images_refuses_them():
    with pytest.raises(InputError, match="image_url"):
        Template("{{ messages }}", WordPieces()).request([user([{"type": "image_url", "image_url": {}}])])


# From a file.


def folder(path, config, **files):
    path.mkdir(exist_ok=True)
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    for name, text in files.items():
        (path / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return path


PRINTS = "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}<|assistant|>"
CONFIG = {
    "bos_token": {"__type": "AddedToken", "content": "<s>"},
    "eos_token": "</s>",
    "pad_token": None,
    "added_tokens_decoder": {"3": {"content": "<|user|>", "special": True}},
    "additional_special_tokens": ["<|system|>", {"content": "<|assistant|>"}],
    "chat_template": PRINTS,
}


def test_a_file_brings_its_template_its_start_token_and_its_markers(tmp_path):
    path = folder(tmp_path / "tiny", CONFIG)
    for place in (path, str(path), path / "tokenizer_config.json"):
        template = Template.from_file(place, O200K)
        assert template.render(SMALL[:2]).startswith("<s><|system|>You are")
        # start token, a marker a message, the reply's marker; SMALL's second reply is text here
        assert template.request(SMALL[:2]) == 1 + 2 + 6 + 5 + 1


def test_a_template_of_its_own_file_is_found_beside_it(tmp_path):
    without = {key: value for key, value in CONFIG.items() if key != "chat_template"}
    path = folder(tmp_path / "tiny", without, chat_template__jinja=PRINTS)
    assert Template.from_file(path, O200K).request(SMALL[:2]) == 15


def test_of_several_templates_the_default_is_taken_and_the_one_for_tools_with_tools(tmp_path):
    several = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "with tools"}]
    template = Template.from_file(folder(tmp_path / "two", {"chat_template": several}), WordPieces())
    assert template.render(SMALL) == "plain"
    assert template.render(SMALL, [TOOL]) == "with tools"
    with pytest.raises(InputError, match=r"default.*\['rag', 'tool_use'\]"):
        several[0]["name"] = "rag"
        Template.from_file(folder(tmp_path / "none", {"chat_template": several}), WordPieces())


def test_a_file_that_is_missing_or_wrong_is_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*nowhere"):
        Template.from_file(tmp_path / "nowhere.json", O200K)
    with pytest.raises(InputError, match="has no chat_template"):
        Template.from_file(folder(tmp_path / "plain", {"bos_token": "<s>"}), O200K)
    for name, text, said in [
        ("broken", '{"chat_template": ', "is not JSON: line 1"),
        ("list", "[1]", "holds a list"),
        ("deep", "[" * 100_000, "nested too deeply"),
    ]:
        path = folder(tmp_path / name, {})
        (path / "tokenizer_config.json").write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            Template.from_file(path, O200K)
    (path / "tokenizer_config.json").write_bytes(b'{"chat_template": "\xff"}')
    with pytest.raises(InputError, match="not UTF-8"):
        Template.from_file(path, O200K)


def test_without_a_counter_the_vocabulary_lies_beside_the_file(tmp_path):
    template = Template.from_file(folder(tmp_path / "tiny", CONFIG))
    assert isinstance(template.counter, TokenizerFile)
    assert template.markers == ()  # the vocabulary knows them
    with pytest.raises(InputError, match=r"no file .*tokenizer\.json.*give a counter"):
        template.request(SMALL)


def test_no_code_beside_a_template_is_run(tmp_path):
    config = {**CONFIG, "auto_map": {"AutoTokenizer": ["evil.Tokenizer", None]}, "tokenizer_class": "evil.Tokenizer"}
    path = folder(
        tmp_path / "tiny", config, evil__py="raise SystemExit('run')", tokenizer__py="raise SystemExit('run')"
    )
    assert Template.from_file(path, O200K).request(SMALL) > 0


# Templates travel, and threads share them.


def test_a_template_travels_to_another_process(tmp_path):
    path = folder(tmp_path / "tiny", CONFIG)
    for template in (ChatML(O200K), SystemInLastUser(O200K), Template.from_file(path, O200K)):
        count = template.request(SMALL)
        copy = pickle.loads(pickle.dumps(template))
        assert copy.request(SMALL) == count
        assert copy.additive == template.additive
    without = pickle.loads(pickle.dumps(Template.from_file(path)))
    assert without.counter.path == str(path / "tokenizer.json")


def test_threads_share_a_template():
    template = SystemInLastUser(O200K)
    chats = [[user("word " * number)] for number in range(40)]
    alone = list(map(template.text, chats))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(template.render, chats)) == alone


# What is loaded when.


def test_counting_with_our_templates_needs_the_standard_library_alone():
    code = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in sys.stdlib_module_names | {"contextlab"}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
from contextlab.errors import MissingDependency
from contextlab.render import ChatML, OpenAIRecipe, PlainRule, SystemInLastUser, Template, ImageTiles, tools_cost
from contextlab.tokens import TokenizerFile, WordPieces
assert "json" not in sys.modules and "typing" not in sys.modules and "dataclasses" not in sys.modules
chat = [{"role": "user", "content": "Hello"}]
words = WordPieces()
for rule in (ChatML(words), ChatML(words, special_tokens=False), OpenAIRecipe(words), SystemInLastUser(words)):
    assert rule.request(chat) > 2
try:
    SystemInLastUser(words).render(chat)
except MissingDependency as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "SystemInLastUser needs Jinja2 to be rendered: install it (pip install jinja2)\n", run.stderr


def test_a_vocabulary_without_its_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    path = folder(tmp_path / "tiny", CONFIG, tokenizer__json="{}")
    with pytest.raises(MissingDependency, match=r"pip install 'contextlab\[renderers\]'"):
        Template.from_file(path).request(SMALL)
