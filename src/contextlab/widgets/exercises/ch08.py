"""Chapter 08: what a prefix cache finds, and what a policy does to it."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from contextlab.cost import Usage, total, usage
from contextlab.keep import KeepNewest, LowWater
from contextlab.prefix import PrefixCache, provider
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, Trace, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import WordPieces

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong

BUDGET = 4000


@cache
def chat() -> CountedChat:
    """Return the chat of the chapter."""
    return CountedChat(scripted_chat(), PlainRule(WordPieces()))


@cache
def trace(budget: int, mark: float) -> Trace:
    """Return the chat under a low-water mark; a mark of 1 is keep-newest."""
    policy = KeepNewest() if mark == 1 else LowWater(mark)
    return replay(chat(), policy, input_budget=budget, fact=NAME)


def whole(budget: int, mark: float = 1) -> Usage:
    return total(usage(trace(budget, mark)))


def cuts(budget: int, mark: float) -> list[int]:
    """Return the computed units of the requests that begin with another message than the one before."""
    of = trace(budget, mark)
    used = usage(of)
    return [used[i].computed for i, (a, b) in enumerate(pairwise(of.kept), 1) if a.indices.start != b.indices.start]


def after_a_reply(size: int, prompt: int, generated: int, following: int, cache_output: bool = True) -> int:
    """Return what the next prompt of a chat that only grows finds."""
    server = PrefixCache(block_size=size, cache_output=cache_output)
    server.request(range(prompt), range(prompt, prompt + generated))
    return server.request(range(following)).hit_tokens


def after_a_drop(size: int, instructions: int, history: int, gone: int, new: int) -> int:
    """Return what a request finds when the oldest part of its history has left."""
    server = PrefixCache(block_size=size)
    head = [("s", i) for i in range(instructions)]
    server.request([*head, *range(history)])
    return server.request([*head, *range(gone, history + new)]).hit_tokens


def service_bill(sent: int, shared: int) -> float:
    """Return what one request costs under a minimum and steps, in tokens at the full price."""
    rules = provider("openai")
    return round(rules.prices().bill(Usage(2, sent, rules.cached(shared)), per=1), 1)


def layouts(turns: int = 20) -> tuple[int, ...]:
    """Return the tokens that each layout of exercise 08-3 computes over a chat that only grows."""
    instructions, note = [("s", i) for i in range(300)], [("n", i) for i in range(100)]

    def time(turn):
        return [("t", turn, i) for i in range(8)]

    def user(turn):
        return [("u", turn, i) for i in range(60)]

    def reply(turn):
        return [("a", turn, i) for i in range(140)]

    def history(turn, timed=False):
        before = range(turn)
        return [one for t in before for one in [*(time(t) if timed else []), *user(t), *reply(t)]]

    build = (
        lambda t: [*instructions, *note, *history(t, timed=True), *time(t), *user(t)],
        lambda t: [*instructions, *note, *history(t), *time(t), *user(t)],
        lambda t: [*instructions, *((*one, t) for one in note), *history(t), *user(t)],
        lambda t: [*time(t), *instructions, *note, *history(t), *user(t)],
    )
    computed = []
    for prompt in build:
        server = PrefixCache()
        computed.append(sum(server.request(prompt(turn), reply(turn)).computed_tokens for turn in range(turns)))
    return tuple(computed)


def found(before, prompt, size):
    """Return how many tokens of a prompt a cache finds that has served one other."""
    server = PrefixCache(block_size=size)
    server.request(before)
    return server.request(prompt).hit_tokens


def token_by_token(before, prompt, size):
    return found(before, prompt, 1)


def last_token_too(before, prompt, size):
    server = PrefixCache(block_size=size, spare_last=False)
    server.request(before)
    return server.request(prompt).hit_tokens


def behind_a_miss(before, prompt, size):
    ends = range(size, len(prompt), size)
    return sum(size for end in ends if prompt[end - size : end] == before[end - size : end])


def anywhere(before, prompt, size):
    held = {tuple(before[end - size : end]) for end in range(size, len(before) + 1, size)}
    return sum(size for end in range(size, len(prompt), size) if tuple(prompt[end - size : end]) in held)


def in_blocks(before, prompt, size):
    return found(before, prompt, size) // size


NEW_MESSAGES = total(usage(replay(chat(), KeepNewest(), input_budget=10**6))).computed

EXERCISES = (
    Predict(
        "08-p",
        "Cut to half",
        "How many units are computed over the 200 requests, if the history is cut to half of the room whenever it does "
        "not fit?",
        unit="units",
        operands={
            "budget": BUDGET,
            "mark": 0.5,
            "newest": whole(BUDGET).computed,
            "sent": whole(BUDGET, 0.5).sent,
            "half": chat().room(BUDGET) // 2,
            "cuts": len(cuts(BUDGET, 0.5)),
            "moves": len(cuts(BUDGET, 1)),
            "each": round(sum(cuts(BUDGET, 0.5)) / len(cuts(BUDGET, 0.5))),
            "rest": whole(BUDGET, 0.5).computed - sum(cuts(BUDGET, 0.5)),
        },
        right=lambda budget, mark: whole(budget, mark).computed,
        tolerance=8000,
        wrong=(
            Wrong(
                "P4",
                lambda newest: newest // 2,
                "{given} is half the work for half the window. But the work does not come from the size of a request. "
                "It comes from moving its beginning.",
            ),
            Wrong(
                "P16",
                lambda sent: sent,
                "{given} is all that the rule sends. Between two cuts the beginning stays, and is found.",
            ),
            Wrong(
                "P17",
                lambda: NEW_MESSAGES,
                "{given} are the new messages alone. Each cut moves the beginning, and what is left is read again.",
            ),
            Wrong(
                "P4",
                lambda newest: newest,
                "{given} is what keep-newest computes. It moves the beginning {moves} times, this rule {cuts} times.",
            ),
        ),
        praise="{cuts} cuts in place of {moves}.",
        sure_miss="You were sure, so count the cuts. Half a room is {half} units, and it takes eight or nine "
        "turns until it is full again. So there are only {cuts} cuts, where keep-newest moves the beginning {moves} "
        "times. A cut computes the half window that stays: {cuts} × {each}. All other requests compute their new "
        "message, {rest} units in all. Together {right}.",
        why="Why so few, although the rule throws away much more at once? One sentence. Nobody grades it.",
        points=(
            "Between two cuts each request begins as the one before it did.",
            "A cut is expensive, and it comes only every ninth or tenth turn.",
            "Keep-newest pays nearly a whole window on nearly every turn.",
        ),
        solution="In the run {right} units are computed, against {newest} under keep-newest.",
    ),
    NumberTask(
        "08-q1",
        "A reply is cached too",
        "Blocks have {size} tokens. A prompt of {prompt} tokens is served and {generated} tokens are generated. The "
        "next prompt has {following} tokens and begins with all of them. How many of its tokens are found?",
        unit="tokens",
        right=after_a_reply,
        wrong=(
            Wrong(
                "P11",
                lambda size, prompt, generated, following: after_a_reply(size, prompt, generated, following, False),
                "{given} are the blocks of the first prompt. What was generated is cached as well, as its blocks fill.",
            ),
            Wrong(
                "P6",
                lambda prompt, generated: prompt + generated,
                "{given} counts token by token. Only full blocks of {size} are kept.",
            ),
            Wrong(
                "P18",
                lambda size, following: (following - 1) // size * size,
                "{given} are the blocks of the new prompt. Its last part has never been seen.",
            ),
            Wrong("P18", lambda following: following, "{given} is the whole new prompt. Its last part is new."),
        ),
        praise="{blocks} full blocks.",
        solution="{prompt} + {generated} − 1 tokens have keys and values (the last generated one has none yet). That "
        "is {blocks} full blocks of {size}: {right} tokens.",
        variants=tuple(
            {
                "size": size,
                "prompt": prompt,
                "generated": generated,
                "following": following,
                "blocks": (prompt + generated - 1) // size,
            }
            for size, prompt, generated, following in ((16, 100, 30, 150), (16, 200, 51, 280))
        ),
        quick=True,
    ),
    ChooseTask(
        "08-q2",
        "In the cache",
        "The block with the name is in the cache. Request 200 does not hold the message with the name. What can the "
        "model that answers it know?",
        options=(
            Option(
                "The name, since the server still holds its keys and values.",
                "a cache holds them for a request that begins with the same tokens. This request does not.",
                "P1",
            ),
            Option(
                "The name, until the time to live is over.",
                "the time to live decides whether work can be saved. What is not in the request is not seen at all.",
                "P1",
            ),
            Option(
                "The name, if the user asks in the same words as before.",
                "the same words in another place are other tokens for the cache: everything before them counts.",
                "P10",
            ),
            Option(
                "Nothing of it. The model sees the request, cached or not.",
                "a cache saves work and adds no text.",
                right=True,
            ),
        ),
        solution="The model sees its request. A cache only spares the computation of a beginning that is sent again.",
        quick=True,
    ),
    NumberTask(
        "08-1",
        "What is left of the cache",
        "A request holds instructions of {instructions} tokens and {history} tokens of history. In the next request "
        "the oldest {gone} tokens of the history have left, and {new} tokens are new at the end. Blocks have {size} "
        "tokens. How many tokens are found?",
        unit="tokens",
        right=after_a_drop,
        wrong=(
            Wrong(
                "P3",
                lambda instructions, history, gone: instructions + history - gone,
                "{given} tokens are in both requests. But most of them stand in another place now.",
            ),
            Wrong(
                "P3",
                lambda size, instructions, history, gone: (instructions + history - gone) // size * size,
                "{given} are the full blocks of what is in both requests. But behind the instructions another token "
                "follows.",
            ),
            Wrong(
                "P6",
                lambda instructions: instructions,
                "the instructions are the same, but {given} tokens are no whole number of blocks of {size}.",
            ),
            Wrong("P16", lambda: 0, "the instructions stand in the same place as before, and fill some blocks."),
        ),
        praise="the full blocks of the instructions.",
        solution="From the start only the instructions are equal, {instructions} tokens. That is {blocks} full blocks: "
        "{right} tokens. The block after them holds tokens of the history and differs.",
        hints=(
            "Compare the two requests from the first token on. Where is the first difference?",
            "Only the instructions are equal. How many full blocks are they?",
        ),
        variants=tuple(
            {
                "size": size,
                "instructions": instructions,
                "history": history,
                "gone": gone,
                "new": new,
                "blocks": instructions // size,
            }
            for size, instructions, history, gone, new in (
                (16, 42, 900, 180, 150),
                (16, 75, 800, 220, 190),
                (32, 100, 1500, 230, 210),
            )
        ),
        step=Step(
            "how many tokens are equal from the start?",
            lambda instructions: instructions,
            "tokens",
            "Only what stands in front of the first message that left.",
            "{step} tokens are equal. Only full blocks of them are found.",
        ),
    ),
    NumberTask(
        "08-2",
        "A minimum and steps",
        "A service caches from {minimum} tokens on, and beyond that in steps of {steps}. Cached tokens cost a tenth. A "
        "request of {sent} tokens begins with {shared} tokens that the service has seen. What does its input cost, in "
        "tokens at the full price?",
        unit="tokens",
        right=service_bill,
        wrong=(
            Wrong(
                "P6",
                lambda sent, shared: sent - shared + shared / 10,
                "{given} takes all {shared} tokens as cached. The service counts whole steps.",
            ),
            Wrong(
                "P20",
                lambda sent, minimum: sent - minimum + minimum / 10,
                "{given} takes only the minimum as cached. Whole steps come on top.",
            ),
            Wrong("P9", lambda sent: sent / 10, "{given} is a tenth of everything. The rest costs the full price."),
            Wrong(
                "P23",
                lambda sent, counted: sent - counted,
                "{given} is the uncached part. The cached part is not free.",
            ),
            Wrong("P14", lambda counted: counted / 10, "{given} is the cached part alone."),
            Wrong("P16", lambda sent: sent, "{given} would be paid without a cache. The prefix is above the minimum."),
        ),
        praise="{counted} tokens count as cached.",
        solution="{minimum} + {number} × {steps} = {counted} tokens are cached. {rest} + {counted} / 10 = {right}.",
        hints=(
            "How many whole steps fit between the minimum and {shared}?",
            "{counted} tokens count as cached. The others cost the full price.",
        ),
        variants=tuple(
            {
                "minimum": provider("openai").minimum,
                "steps": provider("openai").step,
                "sent": sent,
                "shared": shared,
                "counted": (counted := provider("openai").cached(shared)),
                "number": (counted - provider("openai").minimum) // provider("openai").step,
                "rest": sent - counted,
            }
            for sent, shared in ((2000, 1500), (3000, 2300), (1800, 1400))
        ),
        step=Step(
            "how many tokens count as cached?",
            lambda counted: counted,
            "tokens",
            "The minimum, and as many whole steps as fit.",
            "{step} tokens are cached. They cost a tenth, and the others the full price.",
        ),
    ),
    OrderTask(
        "08-3",
        "Where does it stand?",
        "A chat that only grows. Instructions have 300 tokens, a note 100, a message 60, a reply 140, the time 8. Put "
        "the four layouts in order of the tokens that are computed over 20 turns.",
        items=(
            "instructions, fixed note, history, question; the time is part of each user message and stays in it",
            "instructions, fixed note, history, the time, question; the next request has no time at this place",
            "instructions, a note that is written anew each time, history, question",
            "the time, instructions, fixed note, history, question",
        ),
        value=layouts,
        wrong=(
            Wrong("S10", lambda: [-one for one in layouts()], "this is the right order, turned around."),
            Wrong(
                "P5",
                lambda: (0, 1, 3, 2),
                "the time is shorter than the note. Its length does not matter: everything behind it is read again.",
            ),
            Wrong(
                "P21",
                lambda: (1, 0, 2, 3),
                "a line beside the question does not cost only itself. In the next request the question stands in its "
                "place, so that the question and its reply are read again.",
            ),
        ),
        praise="the tokens are {values}.",
        solution="In blocks of 16 the library computes, in this order, {values} tokens. The further to the front a "
        "change stands, the more is read again; and what was sent once must stay as it was.",
        ends="The layout that computes the fewest tokens comes first.",
        hints=(
            "For each layout: at which place do two requests in a row differ first?",
            "Everything behind the first difference is read again.",
        ),
        variants=({"values": ", ".join(f"{one:,}" for one in sorted(layouts()))},),
    ),
    CodeTask(
        "08-4",
        "What the cache finds",
        "Write a function `found(before, prompt, size)`. A cache with blocks of `size` tokens has served the prompt "
        "`before`, and nothing else. The answer is the number of tokens of `prompt` that it finds.",
        name="found",
        lines=(
            "def found(before, prompt, size):",
            "    hits = 0",
            Line(
                "    for end in range(size, □, size):",
                ("len(prompt) + 1", "len(prompt)"),
                1,
                ("this takes the last token from the cache. It is always computed.", ""),
                ("P7", ""),
            ),
            "        block = slice(end - size, end)",
            "        if prompt[block] != before[block]:",
            Line(
                "            □",
                ("continue", "break"),
                1,
                ("this counts blocks behind a missing one.", ""),
                ("P8", ""),
            ),
            Line(
                "        hits = □",
                ("hits + 1", "end"),
                1,
                ("this counts blocks. Tokens are asked for.", ""),
                ("P22", ""),
            ),
            "    return hits",
        ),
        reference=found,
        cases=lambda: [
            (list(range(8)), list(range(8)), 4),
            (list(range(9)), list(range(9)), 4),
            (list(range(16)), list(range(20)), 4),
            (list(range(16)), [0, 1, 2, 99, *range(4, 20)], 4),
            (list(range(16)), [*range(4), 99, *range(5, 20)], 4),
            (list(range(16)), list(range(4, 20)), 4),
            (list(range(16)), [99, *range(16)], 4),
            (list(range(130)), list(range(150)), 16),
            ([1, 2, 3], [1, 2, 3], 4),
            ([7], [7, 7, 7, 7, 7], 2),
        ],
        wrong=(
            Wrong("P7", last_token_too, "Your function takes the last token from the cache."),
            Wrong("P8", behind_a_miss, "Your function counts blocks behind a missing one."),
            Wrong("P3", anywhere, "Your function finds blocks that stand in another place."),
            Wrong("P6", token_by_token, "Your function counts token by token. Only full blocks are kept."),
            Wrong("P22", in_blocks, "Your function counts blocks. Tokens are asked for."),
        ),
        praise="it agrees with the library's cache on all cases.",
        hints=(
            "Go from block to block, from the left. The last token never counts.",
            "Stop at the first block that differs.",
        ),
        tip="A block that ends with the last token of the prompt is not looked up.",
    ),
)
