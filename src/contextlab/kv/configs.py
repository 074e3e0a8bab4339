"""Shapes of real models: by name from a table with sources, and from a Hugging Face config.json."""

from __future__ import annotations

from .._data import read_table, row_named
from ..budget import _whole
from ..errors import InputError
from .shapes import Layers, Shape, check_heads, latent_shape


def models() -> list[dict]:
    """Return the rows of the model table: name, title, config, source, and a note where there is one."""
    return read_table("models")


def model(name: str) -> Shape:
    """Return the shape of a model by its name in the table, letter case aside.

    Raises:
        InputError: there is none; the message suggests the nearest.

    >>> model("gemma-3-27b").layers[0].window
    1024
    """
    row = row_named(models(), name, "model")
    return from_config(row["config"])._replace(name=row["name"])


# What a config leaves to its model type: which layers slide when it has no layer_types.
# "never"; "all": all when there is a window; "qwen": only with use_sliding_window, from max_window_layers on;
# a number K: all but every K-th. Sources: the configuration and modelling files of transformers.
_SLIDING = {
    "deepseek_v2": "never",
    "deepseek_v3": "never",
    "falcon": "never",
    "gemma": "never",
    "gemma2": 2,
    "gemma3_text": 6,
    "gemma3n_text": 5,
    "gemma4_text": 6,
    "gpt2": "never",
    "gpt_neox": "never",
    "gpt_oss": 2,
    "granite": "never",
    "llama": "never",
    "llama4_text": "llama4",
    "mistral": "all",
    "mixtral": "all",
    "olmo2": "never",
    "phi": "never",
    "phi3": "all",
    "qwen2": "qwen",
    "qwen2_moe": "qwen",
    "qwen3": "qwen",
    "qwen3_moe": "qwen",
    "starcoder2": "all",
}
# Where an absent num_key_value_heads means one for each head, and not a default of the class.
_MHA_WHEN_ABSENT = {"gpt2", "gpt_neox", "granite", "llama", "olmo2", "phi", "phi3"}
# Where an absent head_dim is a default of the class, and hidden / heads would be wrong.
_OWN_HEAD_DIM = {"gemma", "gemma2", "gemma3_text", "gemma3n_text", "gemma4_text", "gpt_oss", "qwen3", "qwen3_moe"}
_OTHER_NAMES = {
    "num_hidden_layers": ("n_layer",),
    "num_attention_heads": ("n_head",),
    "hidden_size": ("n_embd",),
    "max_position_embeddings": ("n_positions",),
}


def from_config(config: dict) -> Shape:
    """Return the shape that a Hugging Face ``config.json`` describes.

    Read by field, not by name: ``kv_lora_rank`` makes a latent, ``layer_types`` says which layers slide, ``head_dim``
    goes before hidden / heads, a window counts only where it is used, ``num_kv_shared_layers`` keep nothing. A config
    with a ``text_config`` is read there.

    Raises:
        InputError: the model type is not known, a field that its cache depends on is missing or impossible, or two
            fields contradict each other. Nothing is guessed.

    >>> config = {"model_type": "llama", "num_hidden_layers": 32, "num_attention_heads": 32,
    ...           "num_key_value_heads": 8, "hidden_size": 4096}
    >>> from_config(config).layers
    (Layers(count=32, kv_heads=8, key_dim=128, value_dim=128, window=None, latent=False),)
    """
    if not isinstance(config, dict):
        raise InputError(f"a config is a JSON object, not {type(config).__name__}")
    if "num_hidden_layers" not in config and isinstance(config.get("text_config"), dict):
        outer = config.get("model_type")
        config = {"model_type": f"{outer}_text", **config["text_config"]}
    kind = config.get("model_type")
    if kind not in _SLIDING:
        raise InputError(
            f"model type {kind!r} is not known, so neither is what its layers keep; known: {', '.join(_SLIDING)}"
        )

    def get(field):
        names = (field, *_OTHER_NAMES.get(field, ()))
        return next((config[name] for name in names if config.get(name) is not None), None)

    def need(field):
        value = get(field)
        if value is None:
            raise InputError(f"the config lacks {field}, which the cache of a {kind} model depends on")
        return value

    count = _whole("num_hidden_layers", need("num_hidden_layers"), least=1)
    max_context = get("max_position_embeddings")
    reusing = _whole("num_kv_shared_layers", get("num_kv_shared_layers") or 0)
    if reusing >= count:
        raise InputError(f"num_kv_shared_layers {reusing} leaves no layer of {count} with a cache")
    if get("kv_lora_rank") is not None:
        shape = latent_shape(
            count,
            get("kv_lora_rank"),
            need("qk_rope_head_dim"),
            heads=get("num_attention_heads"),
            nope_dim=get("qk_nope_head_dim"),
            value_dim=get("v_head_dim"),
        )
        return shape._replace(max_context=max_context)
    if kind.startswith("deepseek"):
        need("kv_lora_rank")

    heads = _whole("num_attention_heads", need("num_attention_heads"), least=1)
    kv_heads = _config_kv_heads(kind, count, heads, get, need)
    head_dim = get("head_dim")
    if head_dim is None:
        if kind in _OWN_HEAD_DIM:
            need("head_dim")
        hidden = _whole("hidden_size", need("hidden_size"), least=1)
        if hidden % heads:
            raise InputError(f"hidden_size {hidden} cannot be divided by {heads} heads: the config needs head_dim")
        head_dim = hidden // heads
    _whole("head_dim", head_dim, least=1)
    found = {}
    for index, window in enumerate(_config_windows(kind, count, get, need)[: count - reusing]):
        own_heads, own_dim = kv_heads[index], head_dim
        if kind == "gemma4_text" and window is None:  # the full layers have heads of their own
            own_dim = get("global_head_dim") or 512
            if get("attention_k_eq_v") and get("num_global_key_value_heads") is not None:
                own_heads = get("num_global_key_value_heads")
        layers = Layers(0, own_heads, own_dim, own_dim, window)
        found[layers] = found.get(layers, 0) + 1
    layers = tuple(layers._replace(count=number) for layers, number in found.items())
    return Shape(layers, max_context=max_context, reusing=reusing)


def _config_kv_heads(kind, count, heads, get, need):
    """Return the KV heads of each layer."""
    if kind == "falcon":
        one_head = 1 if get("multi_query") else heads
        stated = need("num_kv_heads") if get("new_decoder_architecture") else one_head
    else:
        stated = get("num_key_value_heads")
        if stated is None:
            stated = heads if kind in _MHA_WHEN_ABSENT else need("num_key_value_heads")
    each = stated if isinstance(stated, list) else [stated] * count
    if len(each) != count:
        raise InputError(f"num_key_value_heads lists {len(each)} layers, num_hidden_layers says {count}")
    for kv_heads in set(each):
        check_heads(heads, _whole("num_key_value_heads", kv_heads, least=1))
    return each


def _config_windows(kind, count, get, need):
    """Return the window of each layer, None where it is full."""
    types = get("layer_types")
    if types is None:
        types = _default_layer_types(kind, count, get, need)
    if len(types) != count:
        raise InputError(f"layer_types lists {len(types)} layers, num_hidden_layers says {count}")
    if kind == "gemma4_text":
        types = [*types[:-1], "full_attention"]  # whatever the config says, as its class does
    windows = {"full_attention": None}
    for name in sorted(set(types) - {"full_attention"}):
        if name == "sliding_attention":
            if get("use_sliding_window") is False:
                raise InputError("layer_types has sliding layers and use_sliding_window is false")
            windows[name] = _whole("sliding_window", need("sliding_window"), least=1)
        elif name == "chunked_attention":
            windows[name] = _whole("attention_chunk_size", need("attention_chunk_size"), least=1)
        else:
            raise InputError(f"layers of type {name!r} are not known, so neither is what they keep")
    return [windows[name] for name in types]


def _default_layer_types(kind, count, get, need):
    rule = _SLIDING[kind]
    window = get("sliding_window")
    if rule == "never":
        if window is not None:
            raise InputError(f"the config has a sliding_window, which {kind} models do not use: set it to null")
        slides = [False] * count
    elif rule == "all":
        slides = [window is not None] * count
    elif rule == "qwen":
        used = bool(get("use_sliding_window"))
        first = need("max_window_layers") if used else count
        slides = [index >= first for index in range(count)]
    elif rule == "llama4":
        rope = need("no_rope_layers")  # 1: the layer has positions, and looks at one chunk
        return ["chunked_attention" if flag else "full_attention" for flag in rope]
    else:
        every = get("sliding_window_pattern") or rule
        slides = [(index + 1) % every != 0 for index in range(count)]
    return ["sliding_attention" if flag else "full_attention" for flag in slides]
