"""Chapter 07: scores of a new token, bytes of a token and of a conversation, units, a card, five configurations."""

from __future__ import annotations

from fractions import Fraction
from math import floor

from contextlab.kv import GIB, KIB, attention_shape, cache_size, card_capacity, from_config, kv_bytes, latent_shape

from ..declare import CodeTask, Line, NumberTask, OrderTask, Predict, Step, Wrong
from ..rules import drop_turn_of

TURNS = 4000  # of a chat of equal turns: more than any card of the exercises holds


def kib(layers: int, kv_heads: int, head_dim: int | Fraction, element: int = 2, vectors: int = 2) -> Fraction:
    """Return the KiB of one token, from the numbers that a reader believes in."""
    return Fraction(layers * vectors * kv_heads * head_dim * element, KIB)


def token_kib(layers: int, kv_heads: int, head_dim: int) -> Fraction:
    """Return the library's KiB of one token in 16 bits."""
    return Fraction(kv_bytes(layers=layers, kv_heads=kv_heads, head_dim=head_dim, tokens=1), KIB)


def sessions(card, used, weights, other, layers, kv_heads, head_dim, tokens) -> int:
    """Return the library's number of sessions on a card; sizes in GiB, ``used`` in percent."""
    return card_capacity(
        attention_shape(layers, kv_heads, head_dim),
        tokens,
        card_bytes=card * GIB,
        utilisation=used / 100,
        weight_bytes=weights * GIB,
        other_bytes=other * GIB,
    ).sessions


def fit(
    free: Fraction, layers: int, kv_heads: int, head_dim: int, tokens: int, vectors: int = 2, unit: int = GIB
) -> int:
    """Return how many caches fit into ``free`` GiB, from the numbers that a reader believes in."""
    return floor(free / Fraction(layers * vectors * kv_heads * head_dim * 2 * tokens, unit))


def share(free: int, people: int, token: int, unit: int = KIB) -> int:
    """Return the tokens of each conversation when ``people`` share ``free`` GiB."""
    return free * GIB // people // (token * unit)


def gone(tokens: int, reserve: int, fixed: int, first: tuple[int, int], user: int, reply: int, **slips: bool) -> int:
    """Return the library's drop turn of the first message, with a window of ``tokens``."""
    costs = [*first, *([user, reply] * (TURNS - 1))]
    return drop_turn_of(costs, tokens - fixed - reserve, **slips)


# Five ways to keep 32 layers for 32,768 tokens. Each entry: bytes of one token in one full layer, tokens on average.
LAYERS, HEADS, HEAD_DIM, LONG, WINDOW = 32, 32, 128, 32_768, 1024
LATENT, ROPE = 512, 64


def five_sizes(group: bool = False, copies: int = 1, slides: bool = True) -> tuple[int, ...]:
    """Return the bytes of the five configurations of exercise 07-5; a slip changes how some of them are counted."""

    def size(kv_heads: int, **window: int) -> int:
        kv_heads = HEADS // kv_heads if group else kv_heads
        return kv_bytes(layers=LAYERS, kv_heads=kv_heads, head_dim=HEAD_DIM, tokens=LONG, **window)

    half = size(8, window=WINDOW, full_every=2) if slides else size(8) + 1
    return (
        size(HEADS),
        size(8),
        size(1),
        half,
        cache_size(latent_shape(LAYERS, LATENT, ROPE), LONG).bytes * copies,
    )


CONFIGS = (
    {
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "hidden_size": 4096,
    },
    {"num_hidden_layers": 10, "num_attention_heads": 12, "num_key_value_heads": 4, "head_dim": 64, "hidden_size": 640},
    {"num_hidden_layers": 30, "num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576},
    {
        "num_hidden_layers": 48,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "hidden_size": 3840,
    },
    {"num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "hidden_size": 3584},
)


def config_bytes(config: dict, tokens: int) -> int:
    """Return the library's bytes for a config whose layers are all full, in 16 bits."""
    return cache_size(from_config({"model_type": "llama", **config}), tokens).bytes


def by_hand(config: dict, tokens: int, heads="num_key_value_heads", vectors=2, element=2, layers=True, own_dim=True):
    """Return what a slip makes of a config."""
    divided = config["hidden_size"] // config["num_attention_heads"]
    head_dim = config.get("head_dim", divided) if own_dim else divided
    count = config["num_hidden_layers"] if layers else 1
    return count * vectors * config[heads] * head_dim * element * tokens


EXERCISES = (
    Predict(
        "07-p",
        "Eight times the conversation",
        "A conversation has {short} tokens. Later it has {long}, eight times as many. How many times as much memory "
        "does the server keep for it?",
        unit="times",
        measured="Computed",
        units=("time", "x", "fold"),
        operands={"short": 4000, "long": 32_000},
        right=lambda short, long: Fraction(
            kv_bytes(layers=32, kv_heads=8, head_dim=128, tokens=long),
            kv_bytes(layers=32, kv_heads=8, head_dim=128, tokens=short),
        ),
        wrong=(
            Wrong(
                "K1",
                lambda short, long: Fraction(long, short) ** 2,
                "{given} is the square. The *scores* of attention grow like that, because every token is compared with "
                "every earlier one. What is kept for each token does not grow with the others.",
            ),
            Wrong(
                "K17",
                lambda: 1,
                "the weights stay the same, whatever is said. Beside them the server keeps something for every token "
                "of every conversation.",
            ),
            Wrong(
                "R3",
                lambda short, long: Fraction(long // short * (long // short + 1), 2),
                "{given} adds up all lengths on the way. That is what is *sent* over a conversation. The memory holds "
                "each token once.",
            ),
        ),
        praise="each token takes the same number of bytes, however many there are.",
        sure_miss="You were sure, so it is worth a second look at what is kept. For each token the server keeps one "
        "set of numbers, its keys and values. A token that comes later adds its own set and changes none of the "
        "others. So {long} tokens take {long} / {short} = {right} times the memory. The comparisons between tokens do "
        "grow with the square. They are computed, used and thrown away.",
        why="Why this factor, and not its square? One sentence. Nobody grades it.",
        points=(
            "What is kept for a token does not depend on how many tokens there are.",
            "The comparisons of every token with every earlier one are work. They are not kept.",
            "Doubling the tokens doubles the memory; the scores that are computed become four times as many.",
        ),
        solution="{long} / {short} = {right}: the memory grows in a straight line with the tokens.",
    ),
    NumberTask(
        "07-q1",
        "One more token",
        "The keys and values of {n} tokens are kept. One more token is read, and it attends as “She” did. How many "
        "scores are computed for it?",
        unit="scores",
        right=lambda n: n + 1,
        wrong=(
            Wrong(
                "K1",
                lambda n: (n + 1) ** 2,
                "{given} compares every token with every token. The earlier ones have asked already.",
            ),
            Wrong(
                "K20",
                lambda n: (n + 1) * (n + 2) // 2,
                "{given} is the whole triangle. Only its last row is new.",
            ),
            Wrong("K21", lambda n: n, "{given} leaves out one: a token also sees itself."),
            Wrong(
                "K22", lambda: 1, "there is one new *query*. It is compared with the key of each token that it sees."
            ),
        ),
        praise="one query, {right} keys.",
        solution="The new token has one query. It is compared with {n} keys that were kept, and with its own: "
        "{right} scores.",
        variants=({"n": 5}, {"n": 11}, {"n": 39}),
        quick=True,
    ),
    NumberTask(
        "07-q2",
        "GiB and GB",
        "The cache of a conversation takes {gib} GiB. Your monitoring shows GB, powers of ten. Which number does it "
        "show? Two decimals are enough.",
        unit="GB",
        right=lambda gib: Fraction(gib * GIB, 10**9),
        wrong=(
            Wrong("K9", lambda gib: gib, "{given} would be right if a GiB were a GB. It is larger by about 7 %."),
            Wrong(
                "K23",
                lambda gib: round(Fraction(gib * 10**9, GIB), 2),
                "{given} goes in the wrong direction. A GB is smaller than a GiB, so there are more of them.",
            ),
            Wrong(
                "K24",
                lambda gib: gib * Fraction(1024, 1000),
                "{given} takes the factor 1.024 once. From bytes to GiB it is taken three times.",
            ),
        ),
        praise="{gib} × 1.024 × 1.024 × 1.024.",
        solution="{gib} GiB are {gib} × 1,073,741,824 bytes. Divided by 1,000,000,000 that is {shown} GB.",
        variants=tuple({"gib": gib, "shown": f"{gib * GIB / 1e9:.2f}"} for gib in (5, 20, 10)),
        tolerance=0.01,
        quick=True,
    ),
    NumberTask(
        "07-1",
        "A model that was made up",
        "A model has {layers} layers, {heads} query heads, {kv_heads} KV heads and a head_dim of {head_dim}. Its "
        "hidden size is {hidden}. Keys and values are stored as 16-bit numbers. How many KiB does one token take in "
        "the cache?",
        unit="KiB",
        right=token_kib,
        wrong=(
            Wrong(
                "K2",
                lambda layers, kv_heads, head_dim: kib(layers, kv_heads, head_dim, vectors=1),
                "{given} holds the keys alone. The values take the same again.",
            ),
            Wrong(
                "K3",
                lambda layers, heads, head_dim: kib(layers, heads, head_dim),
                "{given} counts all {heads} query heads. Queries are not kept; {kv_heads} KV heads are.",
            ),
            Wrong(
                "K4",
                lambda layers, group, head_dim: kib(layers, group, head_dim),
                "{given} takes {group}, the size of a group, for the number of KV heads. That number is {kv_heads}.",
            ),
            Wrong(
                "K6",
                lambda layers, heads, kv_heads, hidden: round(kib(layers, kv_heads, Fraction(hidden, heads)), 2),
                "{given} divides the hidden size by the heads. Here head_dim is stated, and it is {head_dim}.",
            ),
            Wrong(
                "K7",
                lambda layers, hidden: kib(layers, 1, hidden),
                "{given} takes the hidden size for what is kept. A layer keeps KV heads × head_dim numbers for the "
                "keys, and as many for the values.",
            ),
            Wrong(
                "K8",
                lambda kv_heads, head_dim: kib(1, kv_heads, head_dim),
                "{given} is one layer. Each of the {layers} layers keeps its own keys and values.",
            ),
            Wrong(
                "K10",
                lambda layers, kv_heads, head_dim: kib(layers, kv_heads, head_dim, 4),
                "{given} gives four bytes to a number. Sixteen bits are two bytes.",
            ),
            Wrong(
                "K9",
                lambda layers, kv_heads, head_dim: kib(layers, kv_heads, head_dim) * Fraction(1024, 1000),
                "{given} is in kB, thousands of bytes. A KiB has 1,024 bytes.",
            ),
        ),
        praise="{layers} × 2 × {kv_heads} × {head_dim} × 2 bytes.",
        solution="{layers} layers × 2 × {kv_heads} KV heads × {head_dim} × 2 bytes = {bytes} bytes, and "
        "{bytes} / 1,024 = {right} KiB. The query heads and the hidden size are not needed.",
        hints=(
            "Two of the five numbers are not needed.",
            "Begin with one layer: two vectors for each KV head, each of head_dim numbers, each number two bytes.",
        ),
        variants=tuple(
            {
                "layers": layers,
                "heads": heads,
                "kv_heads": kv_heads,
                "group": heads // kv_heads,
                "head_dim": head_dim,
                "hidden": hidden,
                "bytes": layers * 2 * kv_heads * head_dim * 2,
            }
            for layers, heads, kv_heads, head_dim, hidden in (
                (10, 12, 4, 64, 640),
                (24, 24, 4, 80, 1024),
                (16, 24, 3, 80, 1536),
            )
        ),
        step=Step(
            "how many bytes does one token take in one layer?",
            lambda kv_heads, head_dim: 2 * kv_heads * head_dim * 2,
            "bytes",
            "Keys and values: 2 vectors for each KV head. A vector has head_dim numbers of two bytes.",
            "{step} bytes in one layer. Now all layers, and KiB in place of bytes.",
        ),
        tolerance=0.01,
    ),
    NumberTask(
        "07-2",
        "Conversations on a card",
        "A card has {card} GiB, and the engine may use {used} % of it. The weights take {weights} GiB, everything else "
        "{other} GiB. The model has {layers} layers, {heads} query heads, {kv_heads} KV heads and a head_dim of "
        "{head_dim}; the cache is stored in 16 bits. How many conversations of {tokens} tokens fit at the same time?",
        unit="conversations",
        right=sessions,
        wrong=(
            Wrong(
                "K17",
                lambda card, layers, kv_heads, head_dim, tokens: fit(card, layers, kv_heads, head_dim, tokens),
                "{given} would need the whole card. The weights are there before any conversation.",
            ),
            Wrong(
                "K25",
                lambda card, used, layers, kv_heads, head_dim, tokens: fit(
                    Fraction(card * used, 100), layers, kv_heads, head_dim, tokens
                ),
                "{given} forgets the weights and the rest, {weights} + {other} GiB.",
            ),
            Wrong(
                "K26",
                lambda card, weights, other, layers, kv_heads, head_dim, tokens: fit(
                    card - weights - other, layers, kv_heads, head_dim, tokens
                ),
                "{given} uses all of the card. The engine may use {used} % of it.",
            ),
            Wrong(
                "K9",
                lambda free, layers, kv_heads, head_dim, tokens: fit(
                    free, layers, kv_heads, head_dim, tokens, unit=10**9
                ),
                "{given} divides GiB by GB. One conversation takes {each} GiB.",
            ),
            Wrong(
                "K3",
                lambda free, layers, heads, head_dim, tokens: fit(free, layers, heads, head_dim, tokens),
                "{given} keeps keys and values for all {heads} query heads. There are {kv_heads} KV heads.",
            ),
            Wrong(
                "K2",
                lambda free, layers, kv_heads, head_dim, tokens: fit(
                    free, layers, kv_heads, head_dim, tokens, vectors=1
                ),
                "{given} conversations fit when only keys are kept, or only values. Both are.",
            ),
        ),
        praise="{free} GiB are free, and one conversation takes {each} GiB.",
        solution="The engine may use {card} × {used} / 100 GiB. Less weights and the rest, {free} GiB stay. One "
        "conversation takes {layers} × 2 × {kv_heads} × {head_dim} × 2 bytes × {tokens} tokens = {each} GiB. "
        "{free} / {each}, rounded down, is {right}.",
        hints=(
            "Two numbers: what is free on the card, and what one conversation takes.",
            "Free: the part that the engine may use, less the weights, less everything else.",
            "One conversation: the bytes of one token, times its tokens, divided by 1,073,741,824.",
        ),
        variants=tuple(
            {
                "card": card,
                "used": 90,
                "weights": weights,
                "other": other,
                "free": Fraction(card * 90, 100) - weights - other,
                "layers": layers,
                "heads": heads,
                "kv_heads": kv_heads,
                "head_dim": head_dim,
                "tokens": tokens,
                "each": kv_bytes(layers=layers, kv_heads=kv_heads, head_dim=head_dim, tokens=tokens) / GIB,
            }
            for card, weights, other, layers, heads, kv_heads, head_dim, tokens in (
                (48, 16, 2, 28, 28, 4, 128, 16_384),
                (24, 8, 1, 24, 32, 8, 64, 8192),
                (80, 16, 3, 40, 40, 8, 128, 32_768),
            )
        ),
        step=Step(
            "how many GiB does one conversation take?",
            lambda each: each,
            "GiB",
            "Layers × 2 × KV heads × head_dim × 2 bytes × tokens, divided by 1,073,741,824.",
            "{step} GiB. Now: how many GiB are free on the card?",
        ),
    ),
    NumberTask(
        "07-3",
        "From the card to the name",
        "{free} GiB of a card are free for caches, and {people} people chat at the same time. A token takes "
        "{token} KiB. Everybody gets an equal window, and {reserve} tokens of it are kept for the reply. A request "
        "has {fixed} fixed tokens. The first turn has {first_turn} tokens; every later turn has a message of {user} "
        "and a reply of {reply}. The name is said in the first message. Which request is the first without it?",
        unit="request",
        units=("number", "turn"),
        right=lambda window, reserve, fixed, first, user, reply: gone(window, reserve, fixed, first, user, reply),
        wrong=(
            Wrong(
                "F2",
                lambda window, fixed, first, user, reply: gone(window, 0, fixed, first, user, reply),
                "{given} fills the whole window. The reply needs {reserve} tokens of it.",
            ),
            Wrong(
                "F1",
                lambda window, reserve, fixed, user, reply: floor((window - reserve - fixed) / (user + reply)) + 1,
                "{given} divides the room by whole turns. The reply of a turn is not in its own request, and the "
                "first turn is short. Chapter 05 has the better forecast.",
            ),
            Wrong(
                "K27",
                lambda free, token, reserve, fixed, first, user, reply: gone(
                    share(free, 1, token), reserve, fixed, first, user, reply
                ),
                "{given} gives the whole memory to one person. {people} share it.",
            ),
            Wrong(
                "K2",
                lambda free, people, token, reserve, fixed, first, user, reply: gone(
                    share(free, 2 * people, token), reserve, fixed, first, user, reply
                ),
                "{given} halves the window. The {token} KiB of a token hold its keys and its values.",
            ),
            Wrong(
                "R13",
                lambda window, reserve, fixed, first, user, reply: gone(
                    window, reserve, fixed, first, user, reply, users_only=True
                ),
                "{given} counts the user's messages only. The replies are in the window as well.",
            ),
        ),
        praise="{window} tokens for each, and a room of {room}.",
        solution="{free} GiB / {people} / {token} KiB gives {window} tokens for each. The room is {window} − {fixed} − "
        "{reserve} = {room}. With the forecast of chapter 05: floor(({room} − {first_turn} − {user}) / {turn}) + 3 = "
        "{right}. Memory decides the window, and the window decides when the name leaves.",
        hints=(
            "First the window: how many tokens may each conversation have?",
            "One GiB has 1,048,576 KiB.",
            "Then the room, and the forecast of chapter 05: first turn, whole turns, one new message.",
        ),
        variants=tuple(
            {
                "free": free,
                "people": people,
                "token": token,
                "window": share(free, people, token),
                "reserve": reserve,
                "fixed": 20,
                "room": share(free, people, token) - 20 - reserve,
                "first": first,
                "first_turn": sum(first),
                "user": user,
                "reply": reply,
                "turn": user + reply,
            }
            for free, people, token, reserve, first, user, reply in (
                (55, 100, 128, 800, (30, 50), 60, 170),
                (30, 60, 96, 700, (25, 35), 50, 150),
                (12, 40, 56, 900, (30, 40), 60, 190),
            )
        ),
        step=Step(
            "how many tokens has each window?",
            lambda window: window,
            "tokens",
            "Free GiB × 1,048,576, divided by the people, divided by the KiB of a token, rounded down.",
            "{step} tokens. Take off the fixed tokens and the reply; then it is the question of chapter 05.",
        ),
    ),
    CodeTask(
        "07-4",
        "A calculator that reads the right fields",
        "Write a function `cache_bytes(config, tokens)` for a model whose layers all keep every token, in 16 bits. "
        "`config` has the field names of a `config.json`: `num_hidden_layers`, `num_attention_heads`, "
        "`num_key_value_heads`, `hidden_size`, and in some models `head_dim`.",
        name="cache_bytes",
        lines=(
            "def cache_bytes(config, tokens):",
            '    heads = config["num_attention_heads"]',
            Line(
                "    head_dim = □",
                ('config["hidden_size"] // heads', 'config.get("head_dim", config["hidden_size"] // heads)'),
                1,
                ("this divides even where head_dim is stated. The two need not be equal.", ""),
                ("K6", ""),
            ),
            Line(
                "    width = head_dim * □",
                ("heads", 'config["num_key_value_heads"]', 'heads // config["num_key_value_heads"]'),
                1,
                (
                    "these are the query heads. Queries are not kept.",
                    "",
                    "this is the size of a group. It is not the number of KV heads.",
                ),
                ("K3", "", "K4"),
            ),
            Line(
                "    layer = □ * width  # bytes of one token",
                ("2", "2 * 2", "2 * 4"),
                1,
                (
                    "one factor 2 is for keys and values, the other for the bytes of a number.",
                    "",
                    "sixteen bits are two bytes.",
                ),
                ("K2", "", "K10"),
            ),
            Line(
                "    return □",
                ("layer * tokens", 'layer * config["num_hidden_layers"] * tokens'),
                1,
                ("each layer keeps its own.", ""),
                ("K8", ""),
            ),
        ),
        reference=config_bytes,
        cases=lambda: [(config, tokens) for config in CONFIGS for tokens in (1, 4000)],
        wrong=(
            Wrong(
                "K2",
                lambda config, tokens: by_hand(config, tokens, vectors=1),
                "Your function keeps keys or values. Both are kept.",
            ),
            Wrong(
                "K3",
                lambda config, tokens: by_hand(config, tokens, heads="num_attention_heads"),
                "Your function counts the query heads.",
            ),
            Wrong(
                "K6",
                lambda config, tokens: by_hand(config, tokens, own_dim=False),
                "Your function divides hidden size by heads even where head_dim is stated.",
            ),
            Wrong(
                "K10",
                lambda config, tokens: by_hand(config, tokens, element=4),
                "Your function gives four bytes to a number of 16 bits.",
            ),
            Wrong(
                "K8", lambda config, tokens: by_hand(config, tokens, layers=False), "Your function counts one layer."
            ),
            Wrong(
                "K7",
                lambda config, tokens: config["num_hidden_layers"] * 4 * config["hidden_size"] * tokens,
                "Your function takes the hidden size for the width of the cache.",
            ),
        ),
        praise="it agrees with the library on five models.",
        hints=(
            "Four numbers of the model are needed: layers, KV heads, head_dim, bytes of a number.",
            '`config.get("head_dim", 64)` is 64 where the field is missing.',
        ),
        tip="Each line uses what the line before it has made.",
    ),
    OrderTask(
        "07-5",
        "★ Five ways to keep 32,768 tokens",
        "Five models have {layers} layers, {heads} query heads, a head_dim of {head_dim} and a cache in 16 bits. They "
        "differ in what their layers keep. Put them in the order of the memory that a conversation of {tokens} tokens "
        "takes.",
        items=(
            "a KV head for each query head",
            "8 KV heads",
            "1 KV head",
            "8 KV heads; every second layer looks back {window} tokens",
            "a latent of {latent} + {rope} numbers",
        ),
        value=five_sizes,
        wrong=(
            Wrong(
                "K16",
                lambda: five_sizes(copies=2),
                "a latent is stored once. Keys and values are both made from it, so there is no factor 2.",
            ),
            Wrong(
                "K28",
                lambda: five_sizes(copies=2 * HEADS),
                "a latent is shared by all heads. It is stored neither twice nor for each head.",
            ),
            Wrong(
                "K13",
                lambda: five_sizes(slides=False),
                "a layer that looks back {window} tokens keeps {window} tokens, however long the conversation is.",
            ),
            Wrong(
                "K4",
                lambda: five_sizes(group=True),
                "fewer KV heads keep less. You read the number of KV heads as the size of a group.",
            ),
            Wrong(
                "S10",
                lambda: [-size for size in five_sizes()],
                "this is the right order, turned around. The smallest comes first.",
            ),
        ),
        praise="in MiB: {values}.",
        solution="In MiB, in this order: {values}. One KV head keeps 2 × {head_dim} numbers a token and layer, the "
        "latent {latent} + {rope}. Half of the layers at {window} tokens nearly halve the 8 KV heads.",
        ends="The smallest comes first.",
        hints=(
            "Count the numbers of one token in one layer: 2 × KV heads × {head_dim}, or {latent} + {rope}.",
            "A layer that looks back {window} tokens keeps a thirty-second of {tokens} tokens.",
        ),
        variants=(
            {
                "layers": LAYERS,
                "heads": HEADS,
                "head_dim": HEAD_DIM,
                "tokens": LONG,
                "window": f"{WINDOW:,}",
                "latent": LATENT,
                "rope": ROPE,
                "values": ", ".join(f"{size // 2**20:,}" for size in sorted(five_sizes())),
            },
        ),
    ),
)
