"""The explorers of chapter 07: the bytes of a cache with every term in view, and real models at any length."""

from __future__ import annotations

from contextlab.kv import GIB, KIB, binary, cache_size, kv_bytes, model, models

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

TOKENS = (1000, 2000, 4000, 8000, 16_000, 32_000, 32_768, 65_536, 131_072)
SHOWN = (
    "llama-2-7b",
    "llama-3.1-8b",
    "llama-3.1-70b",
    "mistral-7b-v0.1",
    "qwen2.5-7b",
    "gemma-3-27b",
    "gpt-oss-20b",
    "deepseek-v3",
    "smollm2-135m",
)
ELEMENTS = (("fp16", 16), ("q8_0", 8.5), ("q4_0", 4.5))


def bytes_explorer(
    *,
    title: str = "A cache, term by term",
    question: str = "Move a slider. It starts with Llama 3.1 8B in 16 bits and the 13 conversations of the text.",
) -> Explorer:
    """Return the calculator with every term in view: layers, KV heads, head_dim, bytes of a number, tokens, sessions.

    Returns:
        An explorer; `settings` holds the value of each term.
    """

    def oracle(layers: int, kv_heads: int, head_dim: int, size: int, tokens: int, sessions: int) -> dict:
        shape = {"layers": layers, "kv_heads": kv_heads, "head_dim": head_dim, "dtype": {4: "fp32", 2: "fp16"}[size]}
        return {
            "layer": kv_bytes(**{**shape, "layers": 1}, tokens=1),
            "token": kv_bytes(**shape, tokens=1),
            "one": kv_bytes(**shape, tokens=tokens),
            "all": kv_bytes(**shape, tokens=tokens, batch=sessions),
        }

    rows = [
        [
            name,
            *map(str, (layers, kv_heads, head_dim)),
            grouped(tokens),
            binary(kv_bytes(layers=layers, kv_heads=kv_heads, head_dim=head_dim, tokens=tokens)),
        ]
        for name, layers, kv_heads, head_dim, tokens in (
            ("Llama 3.1 8B", 32, 8, 128, 1),
            ("Llama 3.1 8B", 32, 8, 128, 4000),
            ("Llama 3.1 8B", 32, 8, 128, 32_768),
            ("the same, a KV head for each query head", 32, 32, 128, 32_768),
            ("the same, one KV head", 32, 1, 128, 32_768),
            ("Llama 3.1 70B", 80, 8, 128, 32_768),
            ("SmolLM2 135M", 30, 3, 64, 8192),
        )
    ]
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("layers", "Layers", 1, 128, 1, "", 32),
            Control("kv_heads", "KV heads", start=8, values=(1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 40, 64)),
            Control("head_dim", "head_dim", start=128, values=(32, 64, 80, 96, 128, 192, 256)),
            Control("size", "Bytes of a number", start=2, values=(2, 4), labels=("2 (fp16, bf16)", "4 (fp32)")),
            Control("tokens", "Tokens of a conversation", start=32_768, values=TOKENS),
            Control("sessions", "Conversations", 1, 128, 1, "", 13),
        ],
        formulas={
            "layer": "2 * kv_heads * head_dim * size",
            "token": "layers * layer",
            "kib": f"token / {KIB}",
            "one": "token * tokens",
            "one_gib": f"one / {GIB}",
            "all": "one * sessions",
            "all_gib": f"all / {GIB}",
            "all_gb": "all / 1000000000",
        },
        oracle=oracle,
        sentences=[
            "One token in one layer: 2 × {kv_heads} × {head_dim} × {size} = {layer} bytes. "
            "In {layers} layers: {token} bytes, {kib} KiB. "
            "A conversation of {tokens} tokens: {one} bytes, {one_gib} GiB. "
            "{sessions} of them: {all_gib} GiB, which is {all_gb} GB."
        ],
        draw={
            "type": "bars",
            "unit": "GiB",
            "most": 80,
            "bars": [
                {"name": "one_gib", "label": "One conversation"},
                {"name": "all_gib", "label": "All of them, on a scale of 80 GiB"},
            ],
        },
        table={"head": ["Model", "Layers", "KV heads", "head_dim", "Tokens", "Cache"], "rows": rows},
        digits={"kib": 3, "one_gib": 3, "all_gib": 3, "all_gb": 3},
    )


def models_explorer(
    *,
    title: str = "Real models, any length",
    question: str = "Choose a model, a length, and how a number is stored.",
) -> Explorer:
    """Return the cache of real models by length, full and sliding layers apart, beside what full layers would take.

    A sliding layer is capped at its window.

    Returns:
        An explorer; `settings` holds `model` (its place in the list), `tokens` and `bits`.
    """
    titles = {row["name"]: row["title"] for row in models()}
    names = {bits: name for name, bits in ELEMENTS}

    def parts(index: int) -> tuple[int, int, int, int, int]:
        """Full layers, sliding layers, numbers of a token in a layer, window (1 if none), maximum context."""
        shape = model(SHOWN[index])
        full = sum(layers.count for layers in shape.layers if layers.window is None)
        window = max((layers.window or 1) for layers in shape.layers)
        return full, shape.count - full, shape.layers[0].elements, window, shape.max_context

    def oracle(model: int, tokens: int, bits: float) -> dict:
        shape = shape_of(SHOWN[model])
        return {
            "all": cache_size(shape, tokens, dtype=names[bits]).bytes,
            "flat": cache_size(shape, tokens, dtype=names[bits], window_cap="none").bytes,
        }

    shape_of = model
    rows = []
    for name in SHOWN:
        shape = shape_of(name)
        row = [binary(cache_size(shape, tokens).bytes) for tokens in (1, 4000, 32_768) if tokens <= shape.max_context]
        rows.append([titles[name], *row, *["longer than it reads"] * (3 - len(row))])
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("model", "Model", start=5, values=range(len(SHOWN)), labels=[titles[name] for name in SHOWN]),
            Control("tokens", "Tokens", start=32_768, values=TOKENS),
            Control(
                "bits",
                "Stored as",
                start=16,
                values=[b for _, b in ELEMENTS],
                labels=[f"{n}, {b} bits" for n, b in ELEMENTS],
            ),
        ],
        table_of=(("model",), ("full", "sliding", "width", "window", "most"), parts),
        formulas={
            "token": "width * bits / 8",
            "held": "min(tokens, window)",
            "full_bytes": "full * token * tokens",
            "sliding_bytes": "sliding * token * held",
            "all": "full_bytes + sliding_bytes",
            "flat": "(full + sliding) * token * tokens",
            "full_gib": f"full_bytes / {GIB}",
            "sliding_gib": f"sliding_bytes / {GIB}",
            "all_gib": f"all / {GIB}",
            "flat_gib": f"flat / {GIB}",
        },
        oracle=oracle,
        sentences=[
            (
                "tokens > most",
                "This model reads at most {most} tokens. Its cache for {tokens} would take {all_gib} GiB.",
            ),
            (
                "sliding > 0",
                "{full} full layers hold {tokens} tokens, {sliding} sliding ones {held}. A token takes {token} bytes "
                "in a layer. Together {all} bytes, {all_gib} GiB.",
            ),
            "{full} layers, all full, hold {tokens} tokens. A token takes {token} bytes in a layer. Together {all} "
            "bytes, {all_gib} GiB.",
        ],
        draw={
            "type": "bars",
            "unit": "GiB",
            "most": 16,
            "bars": [
                {"name": "full_gib", "label": "Full layers", "digits": 3},
                {"name": "sliding_gib", "label": "Sliding layers", "digits": 3},
                {"name": "flat_gib", "label": "If every layer were full", "digits": 3},
            ],
        },
        table={"head": ["Model", "1 token", "4,000 tokens", "32,768 tokens"], "rows": rows},
        digits={"full_gib": 3, "sliding_gib": 3, "all_gib": 3, "flat_gib": 3},
    )
