"""KV-cache sizes: measured tensors, published figures, arrays, sums layer by layer, and the faults of other tools."""

import json
import math
from itertools import product
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlab.cli import main
from contextlab.errors import BudgetError, InputError
from contextlab.kv import (
    CAP_WORDS,
    ELEMENT_TYPES,
    GB,
    GIB,
    KIB,
    MIB,
    WINDOW_CAPS,
    Layers,
    Shape,
    attention_shape,
    binary,
    cache_size,
    card_capacity,
    decimal,
    element_type,
    from_config,
    grouped_bytes,
    kv_bytes,
    latent_shape,
    model,
    models,
    reserved_pages,
    stored_tokens,
)

GOLDEN = json.loads((Path(__file__).parent / "data" / "kv_golden.json").read_text(encoding="utf-8"))
TINY = {row["name"]: row for row in GOLDEN["tiny_measured"]}
FULL = GOLDEN["full_size_meta"]
# What a row of the measurements did that its config does not say.
TINY_OPTIONS = {
    "mistral-W16-unconfigured-DynamicCache": {"window_cap": "none"},
    "llama-gqa-StaticCache64": {"tokens": 64},  # a static cache takes its whole length at once
    "mistral-W16-StaticCache64": {"tokens": 64, "window_cap": "window"},
    "llama-gqa-fp8layer": {"dtype": "fp8"},
}
FULL_FLAGS = {"Phi-3-mini-4k(window 2047)": ["--window", "2047"]}
LLAMA = attention_shape(layers=32, kv_heads=8, head_dim=128)


def full_name(row):
    """The name of the table: the model in lower case, without its remark."""
    return row["model"].split("(")[0].lower()


@pytest.fixture
def kv(capsys, tmp_path):
    """Run the command and read its JSON."""

    def call(*arguments, config=None):
        arguments = [str(argument) for argument in arguments]
        if config is not None:
            file = tmp_path / "config.json"
            file.write_text(json.dumps(config), encoding="utf-8")
            arguments += ["--config", str(file)]
        assert main(["kv", *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return call


@pytest.mark.parametrize("name", TINY)
def test_tiny_models_take_the_bytes_that_were_measured(name, kv):
    row = TINY[name]
    options = {"tokens": row["tokens"], "dtype": row["dtype"], "batch": row["batch"], "window_cap": "window-1"}
    options |= TINY_OPTIONS.get(name, {})
    size = cache_size(from_config(row["config"]), **options)
    assert size.bytes == row["measured_bytes"]
    flags = [part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)]
    assert kv(*flags, config=row["config"])["bytes"] == row["measured_bytes"]


@pytest.mark.parametrize("name", [name for name in TINY if TINY[name]["config"].get("kv_lora_rank")])
def test_an_older_release_held_the_latent_expanded(name, kv):
    row = TINY[name]
    flags = ["--tokens", row["tokens"], "--dtype", row["dtype"], "--decompressed"]
    assert kv(*flags, config=row["config"])["bytes"] == row["measured_bytes_transformers_4_57_6"]


@pytest.mark.parametrize("name", [name for name in TINY if name.startswith("mistral-W16-T")])
def test_after_one_long_prefill_the_whole_buffer_stays_until_the_next_step(name):
    row = TINY[name]
    cap = "window" if row["decode_steps"] else "none"
    size = cache_size(from_config(row["config"]), row["tokens"], dtype=row["dtype"], window_cap=cap)
    assert size.bytes == row["storage_bytes"]


@pytest.mark.parametrize("row", FULL, ids=lambda row: f"{row['model']} at {row['tokens']}")
def test_full_size_models_take_the_bytes_that_were_measured(row, kv):
    flags = FULL_FLAGS.get(row["model"], [])
    found = kv(full_name(row), "--tokens", row["tokens"], "--window-cap", "window-1", *flags)
    assert found["bytes"] == row["bytes"]
    assert found["bytes"] / row["tokens"] == pytest.approx(row["per_token"])
    layers = {term["name"]: term["value"] for term in found["terms"] if term["unit"] == "layers"}
    kept = row["layers"].get("DynamicLayer", 0), row["layers"].get("DynamicSlidingWindowLayer", 0)
    assert (layers.get("full layers", layers.get("latent full layers", 0)), layers.get("sliding layers", 0)) == kept
    assert layers.get("layers that reuse another's cache", 0) == row["layers"].get("DummyLayer", 0)


@pytest.mark.parametrize("row", GOLDEN["direct_cache_fill"], ids=lambda row: str(row["tokens"]))
def test_a_cache_that_was_filled_directly(row):
    assert kv_bytes(layers=32, kv_heads=8, head_dim=128, dtype="fp16", tokens=row["tokens"]) == row["bytes"]


def extra(name):
    return next(row for row in GOLDEN["extra_behaviour"] if row["name"] == name)


TINY_LLAMA = {"layers": 4, "kv_heads": 2, "head_dim": 16}  # 512 bytes a token


def test_the_token_generated_last_is_not_stored():
    row = extra("generate-20prompt-7new")
    held = stored_tokens(20, generated=7)
    assert held == row["cache_tokens"]
    assert kv_bytes(**TINY_LLAMA, tokens=held) == row["measured_bytes"]
    assert (stored_tokens(20), stored_tokens(20, 1)) == (20, 20)


def test_padding_is_stored_batch_times_the_longest():
    row = extra("left-padded-batch3-len5,10,20")
    assert kv_bytes(**TINY_LLAMA, tokens=20, batch=3) == row["measured_bytes"]
    assert kv_bytes(**TINY_LLAMA, tokens=5 + 10 + 20) != row["measured_bytes"]


def test_beams_multiply_the_batch():
    row = extra("beam3-20prompt-4new")
    assert stored_tokens(20, 4) == row["cache_tokens"]
    assert kv_bytes(**TINY_LLAMA, tokens=row["cache_tokens"], beams=3) == row["measured_bytes"]


def test_an_encoder_decoder_also_keeps_the_source():
    row = extra("t5-2dec-30src-5tgt-fp32")
    shape = attention_shape(layers=2, kv_heads=4, head_dim=16)
    assert cache_size(shape, 5, dtype="fp32").bytes == row["self_bytes"]
    both = cache_size(shape, 5, dtype="fp32", cross_tokens=30)
    assert both.bytes == row["self_bytes"] + row["cross_bytes"]
    assert both.bytes_per_token == row["self_bytes"] // 5


def test_a_slice_keeps_its_storage():
    row = extra("sliding-view-keeps-storage")
    shape = from_config(TINY["mistral-W16-T40"]["config"])
    sizes = [cache_size(shape, 40, window_cap=cap).bytes for cap in ("window-1", "none", "window")]
    assert sizes == [row["view_bytes"], row["storage_after_prefill"], row["storage_after_1_decode"]]


def test_a_cache_quantised_in_groups_is_larger_than_its_bits_say():
    measured = GOLDEN["quantized_cache_quanto"]
    residual = kv_bytes(layers=2, kv_heads=2, head_dim=64, dtype="fp32", tokens=10)
    for row in measured["rows"]:
        packed = grouped_bytes(20_480, row["nbits"])
        assert packed == row["prefill40"]
        assert packed + residual == row["after10more"]
        assert 8 * packed / 20_480 == row["nbits"] + 1  # 5.0 bits for "4-bit", 3.0 for "2-bit"


PUBLISHED = [
    (model("llama-3.1-8b"), {"tokens": 1}, 131_072, 1),
    (model("llama-3.1-8b"), {"tokens": 32_768}, 4_294_967_296, 1),
    (model("llama-3.1-8b"), {"tokens": 4000}, 524_288_000, 1),
    (model("llama-3.1-8b"), {"tokens": 128_000}, 15.62, GIB),
    (model("llama-3.1-70b"), {"tokens": 128_000}, 39.06, GIB),
    (model("llama-3.1-405b"), {"tokens": 128_000}, 61.52, GIB),
    (model("llama-3.1-8b"), {"tokens": 1952 * 16, "dtype": "bf16"}, 3.81, GIB),
    (model("llama-3.1-8b"), {"tokens": 1478 * 16, "dtype": "bf16"}, 2.89, GIB),
    (model("deepseek-v3"), {"tokens": 32_768, "dtype": "q8_0"}, 1166.62, MIB),
    (model("gemma-3-27b"), {"tokens": 131_072}, 10.41, GIB),
    (model("deepseek-v3"), {"tokens": 163_840, "dtype": "bf16"}, 10.72, GIB),
    (model("qwen3-0.6b"), {"tokens": 40_960}, 4.38, GIB),
    (model("gpt-oss-20b"), {"tokens": 8192, "batch": 32}, 6.09, GIB),
    (model("gpt-oss-20b"), {"tokens": 8192, "batch": 32, "window_cap": "none"}, 12.00, GIB),
    (model("gemma-3-1b"), {"tokens": 32_768}, 139, MIB),
    (model("gemma-3-1b"), {"tokens": 32_768, "window_cap": "none"}, 832, MIB),
]


@pytest.mark.parametrize(("shape", "options", "value", "unit"), PUBLISHED, ids=lambda v: getattr(v, "name", None))
def test_published_numbers_that_reproduce(shape, options, value, unit):
    decimals = len(str(value).split(".")[1]) if isinstance(value, float) else 0
    assert cache_size(shape, **options).bytes / unit == pytest.approx(value, abs=0.51 * 10**-decimals)


def test_the_logs_of_vllm_issue_10517():
    assert round(1952 * 16 / 20_000, 2) == 1.56
    assert round(1478 * 16 / 29_000, 2) == 0.82


@pytest.mark.parametrize(
    ("name", "tokens", "gib", "all_full"),
    [
        ("gemma-3-27b", 131_072, 10.406, 62),
        ("gpt-oss-20b", 131_072, 3.003, 6.0),
        ("gpt-oss-120b", 131_072, 4.504, 9.0),
        ("gemma-2-9b", 8192, 1.969, 2.625),
        ("mistral-7b-v0.1", 32_768, 0.5, 4.0),
        ("deepseek-v3", 131_072, 8.578, 8.578),
    ],
)
def test_windows_at_full_context(name, tokens, gib, all_full):
    assert round(cache_size(model(name), tokens).bytes / GIB, 3) == gib
    assert round(cache_size(model(name), tokens, window_cap="none").bytes / GIB, 3) == all_full


PER_TOKEN = {
    "llama-2-7b": 524_288,
    "llama-2-13b": 819_200,
    "llama-2-70b": 327_680,
    "llama-3.1-8b": 131_072,
    "llama-3.1-70b": 327_680,
    "llama-3.1-405b": 516_096,
    "mistral-7b-v0.1": 131_072,
    "mistral-7b-v0.2": 131_072,
    "mistral-7b-v0.3": 131_072,
    "mixtral-8x7b": 131_072,
    "qwen2.5-7b": 57_344,
    "qwen2.5-72b": 327_680,
    "qwen3-0.6b": 114_688,
    "gemma-2-9b": 344_064,
    "gemma-2-27b": 376_832,
    "gemma-3-1b": 26_624,
    "gemma-3-4b": 139_264,
    "gemma-3-12b": 393_216,
    "gemma-3-27b": 507_904,
    "gemma-3n-e4b": 2 * 2 * 256 * 2 * 20,
    "gpt-oss-20b": 49_152,
    "gpt-oss-120b": 73_728,
    "deepseek-v3": 70_272,
    "deepseek-v2": 69_120,
    "deepseek-v2-lite": 31_104,
    "phi-3-mini-4k": 393_216,
    "smollm2-135m": 23_040,
    "smollm2-360m": 40_960,
    "smollm2-1.7b": 196_608,
}
SLIDING = {  # sliding and full layers, window
    "mistral-7b-v0.1": (32, 0, 4096),
    "gemma-2-9b": (21, 21, 4096),
    "gemma-2-27b": (23, 23, 4096),
    "gemma-3-1b": (22, 4, 512),
    "gemma-3-4b": (29, 5, 1024),
    "gemma-3-12b": (40, 8, 1024),
    "gemma-3-27b": (52, 10, 1024),
    "gemma-3n-e4b": (16, 4, 512),
    "gpt-oss-20b": (12, 12, 128),
    "gpt-oss-120b": (18, 18, 128),
}


@pytest.mark.parametrize("row", models(), ids=lambda row: row["name"])
def test_every_model_has_its_published_cost_a_token_and_a_source(row):
    shape = model(row["name"].upper())
    assert shape.name == row["name"]
    assert cache_size(shape, 1).bytes == PER_TOKEN[row["name"]]
    sliding = sum(layers.count for layers in shape.layers if layers.window)
    windows = {layers.window for layers in shape.layers if layers.window}
    assert (sliding, shape.count - sliding, *windows) == SLIDING.get(row["name"], (0, shape.count))
    assert len(row["source"]) > 10 and row["config"]["model_type"]


def test_the_table_has_the_models_of_the_measurements():
    assert {full_name(row) for row in FULL} <= {row["name"] for row in models()} == set(PER_TOKEN)


def test_a_latent_against_its_expanded_form_and_against_groups():
    v3 = model("deepseek-v3")
    latent, expanded = cache_size(v3, 1).bytes, cache_size(v3.expanded(), 1).bytes
    assert (latent, latent / KIB, expanded) == (70_272, 68.625, 4_997_120)
    assert round(expanded / latent, 1) == 71.1
    assert (512 + 64) / (2 * 128) == 2.25  # KV heads of width 128 that would take as much


class Counted:
    """The arrays of a small cache, allocated for real."""

    def __init__(self, layers, kv_heads, head_dim, tokens, batch, dtype):
        shape = (batch, kv_heads, tokens, head_dim)
        self.arrays = [numpy.zeros(shape, dtype) for _ in range(layers) for _ in ("keys", "values")]

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self.arrays)


@pytest.mark.parametrize(("dtype", "numpy_dtype"), [("fp16", "float16"), ("fp32", "float32")])
@pytest.mark.parametrize("shape", [(2, 3, 8, 5, 1), (4, 2, 16, 40, 3), (1, 1, 1, 0, 1)])
def test_nbytes_of_real_arrays(shape, dtype, numpy_dtype):
    layers, kv_heads, head_dim, tokens, batch = shape
    arrays = Counted(*shape, numpy_dtype)
    found = kv_bytes(layers=layers, kv_heads=kv_heads, head_dim=head_dim, tokens=tokens, batch=batch, dtype=dtype)
    assert found == arrays.nbytes


def summed(kinds, tokens, element_bytes, sequences, cap, block):
    """Layer by layer, token by token: is this token held? Then its keys and values are."""
    total = 0
    for kv_heads, key_dim, value_dim, window in kinds:
        held = set()
        for place in range(tokens):
            age = tokens - place  # the newest token has age 1
            if window is None or cap == "none" or age <= (window - 1 if cap == "window-1" else window):
                held.add(place)
        slots = len(held)
        if block is not None and cap == "blocks":
            slots = len({place // block for place in held}) * block
        elif block is not None:
            slots = math.ceil(slots / block) * block
        total += slots * kv_heads * (key_dim + value_dim) * element_bytes * sequences
    return total


layer_kinds = st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 6), st.none() | st.integers(1, 20))


@given(
    st.lists(layer_kinds, min_size=1, max_size=6), st.integers(0, 50), st.sampled_from([("fp16", 2), ("fp32", 4)]),
    st.integers(1, 3), st.integers(1, 3), st.sampled_from(WINDOW_CAPS), st.none() | st.integers(1, 9),
)  # fmt: skip
def test_the_formula_is_the_sum_over_layers_and_tokens(kinds, tokens, dtype, batch, beams, cap, block):
    if cap == "blocks" and block is None:
        block = 16
    shape = Shape(tuple(Layers(1, *kind) for kind in kinds))
    options = {"dtype": dtype[0], "window_cap": cap, "block_size": block}
    size = cache_size(shape, tokens, batch=batch, beams=beams, **options)
    assert size.bytes == summed(kinds, tokens, dtype[1], batch * beams, cap, block)
    more = summed(kinds, tokens + 1, dtype[1], 1, cap, block) - summed(kinds, tokens, dtype[1], 1, cap, block)
    assert size.bytes_per_token == more


@pytest.mark.parametrize(("window", "full_every"), [*product((1, 2, 7, 64), (None, 1, 2, 3, 9))])
def test_around_the_window(window, full_every):
    shape = attention_shape(8, kv_heads=2, head_dim=4, window=window, full_every=full_every)
    full = 0 if full_every is None else sum((index + 1) % full_every == 0 for index in range(8))
    per_layer = 2 * 2 * 4 * 2
    for tokens in (window - 1, window, window + 1):
        for cap, most in (("window", window), ("window-1", window - 1), ("none", 10**9)):
            expected = per_layer * (full * tokens + (8 - full) * min(tokens, most))
            assert cache_size(shape, tokens, window_cap=cap).bytes == expected


def test_the_window_caps_differ_by_a_token_and_each_is_named():
    shape = model("mistral-7b-v0.1")
    sizes = {cap: cache_size(shape, 5000, window_cap=cap) for cap in WINDOW_CAPS}
    assert sizes["window"].bytes - sizes["window-1"].bytes == 131_072
    assert sizes["blocks"].bytes == (math.ceil(5000 / 16) - (5000 - 4096) // 16) * 16 * 131_072
    assert sizes["none"].bytes == 5000 * 131_072
    for cap, size in sizes.items():
        assert [(term.value, term.unit) for term in size.terms if term.name == "window cap"] == [(cap, CAP_WORDS[cap])]


@given(st.integers(0, 500), st.integers(1, 40))
def test_blocks_waste_less_than_one_block_a_sequence(tokens, block):
    paged, exact = (cache_size(LLAMA, tokens, block_size=size).bytes for size in (block, None))
    assert 0 <= (paged - exact) // 131_072 < block
    assert paged % (block * 131_072) == 0


def test_the_worked_example_of_the_hybrid_manager():
    """10 full and 20 sliding layers, blocks of 16, window 32, 112 tokens: 11 blocks."""
    shape = attention_shape(30, kv_heads=2, head_dim=64, window=32).with_window(32, full_every=3)
    assert [(layers.count, layers.held(112, "blocks", 16) // 16) for layers in shape.layers] == [(20, 2), (10, 7)]
    left = card_capacity(shape, 112, card_bytes=GIB, weight_bytes=0, utilisation=1)
    assert left.session_blocks == 11
    assert left.block_bytes == 10 * 16 * 2 * 64 * 2 * 2


def test_groups_of_ten_with_padding_for_gemma_3_27b():
    left = card_capacity(model("gemma-3-27b"), 16, card_bytes=80 * GIB, weight_bytes=0, utilisation=1)
    assert left.session_blocks == 1 + 6  # 10 full layers; 52 sliding ones in groups of 10, the last with 2
    ideal = cache_size(model("gemma-3-27b"), 16).bytes
    assert left.session_blocks * left.block_bytes / ideal == pytest.approx(70 / 62)


def test_what_vllm_reserves_for_a_sliding_layer():
    assert reserved_pages(4000, 16) == 250
    assert reserved_pages(131_072, 16, window=1024, batched_tokens=2048) == math.ceil((1023 + 2048) / 16) + 1
    assert reserved_pages(100, 16, window=1024, batched_tokens=2048) == 7 + 1
    with pytest.raises(InputError, match="batched_tokens"):
        reserved_pages(100, 16, window=8)


@pytest.mark.parametrize(
    ("name", "bits"),
    [("fp32", 32), ("fp16", 16), ("bf16", 16), ("fp8", 8), ("q8_0", 8.5), ("q4_0", 4.5), ("nvfp4", 4.5)],
)
def test_bits_of_an_element_with_its_scales(name, bits):
    assert ELEMENT_TYPES[name].bits == bits
    size = cache_size(LLAMA, 1000, dtype=name)
    assert size.bytes_per_token == 131_072 * bits / 16
    assert size.bytes - 1000 * size.bytes_per_token == (8 * 32 if name == "fp8" else 0)


def test_a_scale_for_each_token_and_head_takes_3_1_percent():
    plain, scaled = (cache_size(LLAMA, 1, dtype=name).bytes_per_token for name in ("fp8", "fp8_per_token_head"))
    assert scaled / plain == 1 + 4 / 128
    assert cache_size(LLAMA, 1, dtype="int8_per_token_head").bytes_per_token == scaled


def test_fp8_of_a_latent_in_vllm_is_not_half():
    v3 = model("deepseek-v3")
    assert cache_size(v3, 10, dtype="fp8_ds_mla").bytes == 61 * 656 * 10
    assert cache_size(v3, 10).bytes == 61 * 1152 * 10
    with pytest.raises(InputError, match="512 \\+ 64"):
        cache_size(LLAMA, 10, dtype="fp8_ds_mla")


def test_a_quarter_is_never_exact():
    assert cache_size(LLAMA, 1, dtype="q4_0").bytes == 36 * KIB
    assert cache_size(LLAMA, 1, dtype="q8_0").bytes == 68 * KIB


def test_an_element_type_that_packs_needs_whole_groups():
    with pytest.raises(InputError, match="32"):
        cache_size(attention_shape(1, kv_heads=1, head_dim=16), 1, dtype="q8_0")


def test_torch_names_are_known_and_others_refused():
    assert element_type("torch.bfloat16") is element_type("bf16") is element_type(ELEMENT_TYPES["bf16"])
    with pytest.raises(InputError, match="known: fp32, fp16"):
        cache_size(LLAMA, 1, dtype="int3")


@given(st.sampled_from([1, 2, 4, 8, 16, 32]), st.integers(1, 100))
def test_kv_heads_are_divided_over_the_ranks_and_copied_when_there_are_too_few(ranks, tokens):
    size = cache_size(LLAMA, tokens, tp=ranks)
    heads_on_a_rank = max(1, 8 // ranks)
    assert size.bytes == ranks * 2 * 32 * heads_on_a_rank * 128 * 2 * tokens
    assert cache_size(model("deepseek-v3"), tokens, tp=ranks).bytes == ranks * 70_272 * tokens


def test_ranks_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(InputError, match="3 ranks"):
        cache_size(LLAMA, 1, tp=3)


CARD = GOLDEN["capacity_example"]
CARD_OPTIONS = {
    "card_bytes": CARD["total_gib"] * GIB,
    "utilisation": CARD["utilization"],
    "weight_bytes": CARD["weights_gib"] * GIB,
    "other_bytes": CARD["other_gib"] * GIB,
}


def test_sessions_on_an_80_gib_card():
    llama = model("llama-3.1-8b")
    short = card_capacity(llama, 4000, **CARD_OPTIONS)
    assert short.block_bytes == 2 * MIB
    assert short.cache_bytes / GIB == pytest.approx(CARD["kv_budget_gib"])
    assert (short.blocks, short.tokens, short.sessions) == (CARD["blocks"], CARD["tokens"], CARD["sessions_4000"])
    assert card_capacity(llama, 32_768, **CARD_OPTIONS).sessions == CARD["sessions_32768"]
    shared = card_capacity(llama, 4000, shared_prefix=1024, **CARD_OPTIONS)
    assert shared.sessions == CARD["sessions_4000_sharing_1024_prefix"]


def test_wrong_ways_to_the_number_of_sessions_give_other_numbers():
    """20 without weights on the full card, 18 without weights, 12 with GB for GiB, 3 with query heads, 27 without 2."""
    llama = model("llama-3.1-8b")

    def sessions(shape=llama, **changes):
        return card_capacity(shape, 32_768, **(CARD_OPTIONS | changes)).sessions

    assert sessions(weight_bytes=0, other_bytes=0, utilisation=1) == 20
    assert sessions(weight_bytes=0, other_bytes=0) == 18
    decimal_units = {"card_bytes": 80 * GB, "weight_bytes": 14.9888 * GB, "other_bytes": 2 * GB}
    assert sessions(**decimal_units) == 12
    assert sessions(attention_shape(32, 32, 128)) == 3
    assert sessions(Shape((Layers(32, 8, 128, 0),))) == 27
    assert sessions() == 13


@given(st.integers(1, 3000), st.integers(0, 3000), st.integers(10, 4000))
def test_sessions_against_filling_the_blocks_one_session_after_another(tokens, prefix, blocks):
    prefix = min(prefix, tokens)
    shape = attention_shape(1, kv_heads=1, head_dim=8)
    options = {"card_bytes": blocks * 16 * 32, "weight_bytes": 0, "utilisation": 1}
    free, sessions, stored = blocks, 0, False
    while sessions < blocks + 5:
        need = math.ceil(tokens / 16) - (prefix // 16 if stored else 0)
        if need > free:
            break
        free, sessions, stored = free - need, sessions + 1, True
    if math.ceil(tokens / 16) == prefix // 16:  # everything is shared: the sessions differ in nothing
        return
    assert card_capacity(shape, tokens, shared_prefix=prefix, **options).sessions == sessions


def test_a_card_that_the_weights_fill_is_an_error_that_names_them():
    with pytest.raises(BudgetError) as caught:
        card_capacity(LLAMA, 100, card_bytes=16 * GIB, weight_bytes=15 * GIB, utilisation=0.9)
    assert set(caught.value.parts) == {"weights", "other"}


@pytest.mark.parametrize(
    "options",
    [{"utilisation": 0}, {"utilisation": 1.1}, {"block_size": 0}, {"shared_prefix": 200}, {"shared_prefix": -1}],
)
def test_impossible_cards_are_refused(options):
    with pytest.raises(InputError):
        card_capacity(LLAMA, 100, **({"card_bytes": GIB, "weight_bytes": 0, "utilisation": 0.9} | options))


MADE_UP = {"layers": 10, "kv_heads": 4, "head_dim": 64, "heads": 12}  # hidden 640, group size 3


def test_the_made_up_model_tells_the_slips_apart():
    """Every wrong path has a number of its own; ours is 10 KiB a token. Faults 10, 11, 12 and 14 are among them."""
    right = kv_bytes(**MADE_UP, tokens=1)
    slips = {
        "one tensor": right // 2,
        "group size for KV heads": kv_bytes(layers=10, kv_heads=3, head_dim=64, tokens=1),
        "head_dim by division": round(2 * 10 * 4 * 640 / 12 * 2),
        "fp32": kv_bytes(**MADE_UP, tokens=1, dtype="fp32"),
        "hidden size": 2 * 10 * 640 * 2,
        "query heads": kv_bytes(layers=10, kv_heads=12, head_dim=64, tokens=1),
        "one layer": kv_bytes(layers=1, kv_heads=4, head_dim=64, tokens=1),
    }
    assert right == 10 * KIB
    assert [round(value / KIB, 2) for value in slips.values()] == [5, 7.5, 8.33, 20, 25, 30, 1]
    assert len({right, *slips.values()}) == 8


@pytest.mark.parametrize(
    ("name", "by_division"), [("qwen3-0.6b", 64), ("gemma-3-12b", 240), ("gemma-3-27b", 168), ("gpt-oss-20b", 45)]
)
def test_faults_1_3_13_head_dim_goes_before_hidden_over_heads(name, by_division):
    config = next(row["config"] for row in models() if row["name"] == name)
    assert config["hidden_size"] // config["num_attention_heads"] == by_division
    assert {layers.key_dim for layers in model(name).layers} == {config["head_dim"]}
    if name == "gpt-oss-20b":
        assert round(100 * (by_division / config["head_dim"] - 1), 1) == -29.7


@pytest.mark.parametrize("name", ["qwen3-0.6b", "gemma-2-9b", "gemma-3-1b", "gpt-oss-20b"])
def test_faults_1_8_13_where_a_missing_head_dim_is_a_class_default_nothing_is_guessed(name):
    config = next(dict(row["config"]) for row in models() if row["name"] == name)
    del config["head_dim"]
    with pytest.raises(InputError, match="head_dim"):
        from_config(config)


def test_faults_2_6_7_a_latent_has_no_factor_2_no_heads_and_its_position_part():
    assert model("deepseek-v3").layers == (Layers(61, 1, 512, 64, latent=True),)
    per_token = cache_size(model("deepseek-v3"), 1).bytes
    assert per_token not in (2 * 61 * 512 * 2, 2 * 61 * 576 * 2, 61 * 512 * 2, 2 * 61 * 128 * 56 * 2)
    assert round(2 * 61 * 128 * 56 * 2 / per_token) == 25


def test_faults_3_19_a_latent_is_recognised_by_its_field_and_an_unknown_type_refused():
    config = {**TINY["deepseek-v3-mla"]["config"], "model_type": "llama"}
    assert from_config(config).layers[0].latent
    without = {key: value for key, value in TINY["deepseek-v3-mla"]["config"].items() if key != "kv_lora_rank"}
    with pytest.raises(InputError, match="kv_lora_rank"):
        from_config(without)
    with pytest.raises(InputError, match="deepseek_v4"):
        from_config({**without, "model_type": "deepseek_v4"})


def test_faults_4_15_sliding_layers_cost_neither_nothing_nor_everything():
    oss = model("gpt-oss-20b")
    assert cache_size(oss, 1).bytes == 49_152  # 24,576 when the sliding layers are left out
    assert cache_size(oss, 131_072).bytes < 0.51 * cache_size(oss, 131_072, window_cap="none").bytes


def test_fault_5_the_mode_of_the_engine_is_named():
    terms = cache_size(model("gpt-oss-20b"), 8192, window_cap="none").terms
    assert any("hybrid manager" in term.unit for term in terms)


def test_fault_8_one_formula_for_all_would_be_far_off():
    for name, tokens, wrong in (
        ("gemma-3-27b", 131_072, 2 * 62 * 16 * 168 * 2 * 131_072),
        ("qwen3-0.6b", 40_960, 2 * 28 * 8 * 64 * 2 * 40_960),
    ):
        off = 100 * (wrong / cache_size(model(name), tokens).bytes - 1)
        assert off == pytest.approx({"gemma-3-27b": 682, "qwen3-0.6b": -50}[name], abs=0.5)


def test_fault_9_copied_heads_and_mixed_units():
    size = cache_size(model("llama-3.1-405b"), 128_000).bytes
    assert round(size / GIB, 2) == 61.52 and round(2 * size / GIB, 2) == 123.05
    assert (binary(size), decimal(size)) == ("61.523 GiB", "66.06 GB")


def test_fault_16_a_list_of_kv_heads_is_read_layer_by_layer():
    config = {**TINY["llama-gqa"]["config"], "num_key_value_heads": [4, 2, 2, 1]}
    assert cache_size(from_config(config), 40).bytes == 2 * 16 * 2 * 40 * (4 + 2 + 2 + 1)
    with pytest.raises(InputError, match="lists 3 layers"):
        from_config({**config, "num_key_value_heads": [4, 2, 2]})
    with pytest.raises(InputError, match="at least 1"):
        from_config({**config, "num_key_value_heads": [4, 2, 2, 0]})


def test_fault_17_tokens_of_a_hybrid_model_are_not_a_capacity():
    options = {"card_bytes": 80 * GIB, "weight_bytes": 14 * GIB, "utilisation": 0.9}
    short, long = (card_capacity(model("gpt-oss-20b"), tokens, **options) for tokens in (1000, 100_000))
    assert short.tokens is None
    per_token = [one.cache_bytes / (one.sessions * tokens) for one, tokens in ((short, 1000), (long, 100_000))]
    assert per_token[0] / per_token[1] > 1.1  # so memory / tokens is no cost of a token


GEMMA_4_12B = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "num_global_key_value_heads": 1,
    "attention_k_eq_v": True,
    "head_dim": 256,
    "global_head_dim": 512,
    "sliding_window": 1024,
    "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 8,
}


def test_fault_18_each_layer_type_has_its_own_heads_and_widths():
    shape = from_config({"model_type": "gemma4", "text_config": GEMMA_4_12B})
    assert shape.layers == (Layers(40, 8, 256, 256, 1024), Layers(8, 1, 512, 512))
    assert cache_size(shape, 100_000).bytes_per_token == 16 * KIB
    assert cache_size(shape, 100_000).bytes_per_token != 8 * 8 * 512 * 2 * 2  # 8 times as much


def test_fault_20_size_does_not_follow_from_the_number_of_parameters():
    seven_billion = [cache_size(model(name), 1).bytes for name in ("llama-2-7b", "mistral-7b-v0.3", "qwen2.5-7b")]
    assert seven_billion == [524_288, 131_072, 57_344]


LLAMA_CONFIG = TINY["llama-gqa"]["config"]


def test_window_fields_that_mean_nothing():
    assert from_config({**LLAMA_CONFIG, "sliding_window": None}).layers[0].window is None
    qwen = {**LLAMA_CONFIG, "model_type": "qwen2", "sliding_window": 16, "max_window_layers": 3}
    assert [layers.window for layers in from_config(qwen).layers] == [None]
    assert [layers.window for layers in from_config({**qwen, "use_sliding_window": False}).layers] == [None]
    used = from_config({**qwen, "use_sliding_window": True})
    assert [(layers.count, layers.window) for layers in used.layers] == [(3, None), (1, 16)]


def test_head_dim_null_falls_back_to_division():
    assert from_config({**LLAMA_CONFIG, "head_dim": None}).layers[0].key_dim == 16


def test_no_kv_heads_means_one_for_each_head_only_where_that_is_so():
    config = {key: value for key, value in LLAMA_CONFIG.items() if key != "num_key_value_heads"}
    assert from_config(config).layers[0].kv_heads == 4
    with pytest.raises(InputError, match="num_key_value_heads"):
        from_config({**config, "model_type": "mistral"})


def test_gpt2_has_names_of_its_own_and_falcon_three_forms():
    gpt2 = {"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768, "n_positions": 1024}
    assert from_config(gpt2) == Shape((Layers(12, 12, 64, 64),), max_context=1024)
    falcon = {"model_type": "falcon", "num_hidden_layers": 2, "num_attention_heads": 8, "hidden_size": 64}
    assert from_config({**falcon, "multi_query": True}).layers[0].kv_heads == 1
    assert from_config({**falcon, "multi_query": False}).layers[0].kv_heads == 8
    new = {**falcon, "new_decoder_architecture": True, "num_kv_heads": 4, "multi_query": True}
    assert from_config(new).layers[0].kv_heads == 4


def test_llama_4_says_which_layers_look_at_a_chunk():
    listed = TINY["llama4-chunked3:1"]["config"]
    flags = {key: value for key, value in listed.items() if key != "layer_types"} | {"no_rope_layers": [1, 1, 1, 0]}
    assert from_config(flags) == from_config(listed)


BAD_CONFIGS = {
    "no object": ([], "JSON object"),
    "no model type": ({"num_hidden_layers": 2}, "None is not known"),
    "unknown model type": ({**LLAMA_CONFIG, "model_type": "mamba"}, "mamba"),
    "no layers": ({**LLAMA_CONFIG, "num_hidden_layers": None}, "num_hidden_layers"),
    "zero layers": ({**LLAMA_CONFIG, "num_hidden_layers": 0}, "at least 1"),
    "half a layer": ({**LLAMA_CONFIG, "num_hidden_layers": 1.5}, "whole number"),
    "layers in words": ({**LLAMA_CONFIG, "num_hidden_layers": "4"}, "whole number"),
    "no heads": ({**LLAMA_CONFIG, "num_attention_heads": None}, "num_attention_heads"),
    "kv heads that do not divide the heads": ({**LLAMA_CONFIG, "num_key_value_heads": 3}, "3 KV heads do not divide 4"),
    "more kv heads than heads": ({**LLAMA_CONFIG, "num_key_value_heads": 8}, "do not divide"),
    "no width": ({**LLAMA_CONFIG, "head_dim": None, "hidden_size": None}, "hidden_size"),
    "width that does not divide": ({**LLAMA_CONFIG, "head_dim": None, "hidden_size": 66}, "needs head_dim"),
    "too few layer types": ({**LLAMA_CONFIG, "layer_types": ["full_attention"]}, "lists 1 layers"),
    "unknown layer type": ({**LLAMA_CONFIG, "layer_types": ["linear_attention"] * 4}, "linear_attention"),
    "sliding without a window": ({**LLAMA_CONFIG, "layer_types": ["sliding_attention"] * 4}, "sliding_window"),
    "window zero": (
        {**LLAMA_CONFIG, "layer_types": ["sliding_attention"] * 4, "sliding_window": 0},
        "at least 1",
    ),
    "window of a model that has none": ({**LLAMA_CONFIG, "sliding_window": 16}, "do not use"),
    "contradicting fields": (
        {
            **LLAMA_CONFIG,
            "model_type": "qwen2",
            "layer_types": ["sliding_attention"] * 4,
            "use_sliding_window": False,
            "sliding_window": 4,
        },
        "use_sliding_window",
    ),
    "latent without its position part": (
        {**TINY["deepseek-v3-mla"]["config"], "qk_rope_head_dim": None},
        "qk_rope_head_dim",
    ),
    "all layers shared": ({**TINY["gemma3n-kvshared4of10"]["config"], "num_kv_shared_layers": 10}, "leaves no layer"),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_a_config_that_cannot_be_read_is_refused_with_the_reason(case):
    config, words = BAD_CONFIGS[case]
    with pytest.raises(InputError, match=words):
        from_config(config)


@pytest.mark.parametrize(
    "change",
    [{"layers": 0}, {"layers": 1.5}, {"layers": True}, {"kv_heads": 0}, {"head_dim": -1}, {"tokens": -1},
     {"tokens": 2.5}, {"batch": 0}, {"beams": 0}, {"tp": 0}, {"block_size": 0}, {"window": 0}, {"window_cap": "half"},
     {"full_every": 2}, {"window": 8, "full_every": 0}, {"heads": 12, "kv_heads": 5}, {"kv_lora_rank": 8},
     {"kv_heads": None}, {"kv_lora_rank": 8, "rope_dim": 4}, {"dtype": "fp12"}],
    ids=str,
)  # fmt: skip
def test_impossible_numbers_are_refused(change):
    with pytest.raises(InputError):
        kv_bytes(**({"layers": 2, "kv_heads": 2, "head_dim": 4, "tokens": 10} | change))


def test_shapes_refuse_what_they_cannot_do():
    with pytest.raises(InputError, match="no latent"):
        LLAMA.expanded()
    with pytest.raises(InputError, match="one width"):
        from_config(GEMMA_4_12B).with_window(8, full_every=2)
    with pytest.raises(InputError, match="differ"):
        card_capacity(from_config(GEMMA_4_12B), 10, card_bytes=GIB, weight_bytes=0, utilisation=1)
    assert latent_shape(2, 8, 4).with_window(3).layers[0].window == 3


@pytest.mark.parametrize(
    ("name", "near"), [("llama-3.1-8", "llama-3.1-8b"), ("Gemma3-27b", "gemma-3-27b"), ("gptoss20b", "gpt-oss-20b")]
)
def test_a_typo_gets_the_nearest_name(name, near):
    with pytest.raises(InputError, match=f"did you mean {near}"):
        model(name)


def test_a_name_like_no_other_gets_all_names():
    with pytest.raises(InputError, match=r"known: llama-2-7b, .*smollm2-1\.7b"):
        model("zzz")


def test_the_command_from_numbers_agrees_with_the_command_from_a_name(kv):
    named = kv("llama-3.1-8b", "--tokens", 32768)
    flags = ["--layers", 32, "--kv-heads", 8, "--head-dim", 128, "--dtype", "fp16", "--tokens", 32768]
    assert (named["bytes"], named["bytes_per_token"]) == (4 * GIB, 131_072)
    assert kv(*flags)["bytes"] == 4 * GIB
    assert kv(*flags, "--batch", 3, "--beams", 2)["bytes"] == 24 * GIB
    assert kv("--layers", 61, "--kv-lora-rank", 512, "--rope-dim", 64, "--tokens", 1)["bytes"] == 70_272
    hybrid = ["--layers", 62, "--kv-heads", 16, "--head-dim", 128, "--window", 1024, "--full-every", 6]
    assert kv(*hybrid, "--tokens", 131_072) == kv("gemma-3-27b", "--tokens", 131_072)
    assert kv(*flags, "--block-size", 16, "--tp", 16)["bytes"] == 8 * GIB


def test_one_more_token_at_that_length(kv):
    for tokens, cap, more in ((4095, "window", 131_072), (4096, "window", 0), (4095, "window-1", 0)):
        assert kv("mistral-7b-v0.1", "--tokens", tokens, "--window-cap", cap)["bytes_per_token"] == more
    batch = kv("llama-3.1-8b", "--tokens", 100, "--batch", 4)
    assert (batch["bytes"], batch["bytes_per_token"]) == (4 * 100 * 131_072, 131_072)


def test_terms_multiply_to_the_bytes(kv):
    terms = {term["name"]: term["value"] for term in kv("qwen2.5-7b", "--tokens", 1234)["terms"]}
    names = ("full layers", "KV heads", "head_dim", "keys and values", "an element (fp16)", "tokens held")
    assert math.prod(terms[name] for name in names) == terms["in all"] == 57_344 * 1234


def test_the_table_for_people_names_the_cap_both_units_and_the_source(capsys):
    assert main(["kv", "mistral-7b-v0.1", "--tokens", "8192", "--window-cap", "window-1"]) == 0
    out = capsys.readouterr().out
    assert CAP_WORDS["window-1"] in out
    assert "= 511.875 MiB = 536.74 MB" in out
    assert "Source: Mistral 7B paper" in out
    assert main(["kv", "gemma-2-9b", "--tokens", "9000"]) == 0
    assert "maximum context, exceeded" in capsys.readouterr().out


BAD_COMMANDS = {
    "nothing to size": (["--tokens", "5"], "name a model"),
    "no tokens": (["llama-3.1-8b"], "--tokens"),
    "negative tokens": (["llama-3.1-8b", "--tokens", "-5"], "tokens must be at least 0"),
    "a typo": (["lama-3.1-8b", "--tokens", "5"], "did you mean llama-3.1-8b"),
    "zero layers": (["--layers", "0", "--kv-heads", "1", "--head-dim", "8", "--tokens", "5"], "layers must be"),
    "half a layer": (["--layers", "1.5", "--kv-heads", "1", "--head-dim", "8", "--tokens", "5"], "1.5"),
    "no head_dim": (["--layers", "2", "--kv-heads", "1", "--tokens", "5"], "head_dim"),
    "half a latent": (["--layers", "2", "--kv-lora-rank", "8", "--tokens", "5"], "rope_dim"),
    "unknown element type": (["llama-3.1-8b", "--tokens", "5", "--dtype", "fp3"], "unknown element type 'fp3'"),
    "unknown cap": (["llama-3.1-8b", "--tokens", "5", "--window-cap", "all"], "unknown window cap"),
    "pattern without a window": (["llama-3.1-8b", "--tokens", "5", "--full-every", "2"], "--window"),
    "name and numbers": (["llama-3.1-8b", "--layers", "2", "--tokens", "5"], "--layers"),
    "name and file": (["llama-3.1-8b", "--config", "x.json", "--tokens", "5"], "not both"),
    "missing file": (["--config", "no-such.json", "--tokens", "5"], "no-such.json"),
    "no latent to expand": (["llama-3.1-8b", "--tokens", "5", "--decompressed"], "no latent"),
    "ranks": (["llama-3.1-8b", "--tokens", "5", "--tp", "3"], "3 ranks"),
}


@pytest.mark.parametrize("case", BAD_COMMANDS)
def test_bad_input_gives_one_clear_line_and_status_2(case, capsys):
    arguments, words = BAD_COMMANDS[case]
    assert main(["kv", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("contextlab: ") and words in err


def test_a_config_that_is_no_json_says_where(tmp_path, capsys):
    file = tmp_path / "config.json"
    file.write_text('{"model_type": "llama",\n oops}', encoding="utf-8")
    assert main(["kv", "--config", str(file), "--tokens", "5"]) == 2
    assert "is not JSON: line 2" in capsys.readouterr().err
