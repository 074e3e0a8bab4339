"""Chapter 12: what a lookup finds, and what leaves when use counts."""

from __future__ import annotations

from functools import cache

from contextlab.chat import Message
from contextlab.eviction import LeastUsed, Signal, simulate
from contextlab.keep import History
from contextlab.retrieval import BM25Index, Store
from contextlab.script import CAFE, CAFE_QUESTIONS
from contextlab.summary import survival

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong


@cache
def ranked() -> tuple[tuple[int, ...], ...]:
    """Return for each question of the café the messages that the lexical lookup finds, best first."""
    index = BM25Index()
    for number, text in enumerate(CAFE):
        index.add(number, text)
    return tuple(tuple(number for number, _ in index.search(question)) for question, _ in CAFE_QUESTIONS)


def right_first() -> int:
    return sum(found[:1] == (answer,) for found, (_, answer) in zip(ranked(), CAFE_QUESTIONS, strict=True))


def hits(policy: str):
    return lambda trace, places: simulate(policy, trace.split(), places).hits


def leaving(used, times):
    """Return how late each of four messages leaves under least recently used: what leaves first comes first."""
    history = History([Message("user", "x") for _ in range(12)], cost=lambda message: 1)
    order = {}
    for room in range(12, 0, -1):
        policy = LeastUsed("lru", signals=())
        policy.start(room)
        policy.use(Signal(at, i, "quote") for i, at in enumerate(used) if at > i)
        kept = policy.select(history).indices
        for i in range(4):
            if i not in kept:
                order.setdefault(i, len(order))
    return [order[i] for i in range(4)]


def visible_facts(loss, rewrites, found):
    kept = survival(loss, rewrites)
    return round(100 * (kept + (1 - kept) * found / 100), 1)


class InOrder:
    """An index that finds everything, in the order in which it came in."""

    def __init__(self):
        self.numbers = []

    def add(self, number, text):
        self.numbers.append(number)

    def search(self, query):
        return [(number, 0.0) for number in self.numbers]


def chosen(sizes, cap):
    """Return the indices of the results, best first, that are quoted whole under a cap."""
    store = Store(InOrder())
    store.add([Message("user", "x" * size) for size in sizes])
    around = len(store._quote([]))  # what stands around the quotations costs nothing here
    label = len("\n[message 1, user] ")
    found = store.find("?", cap, lambda message: max(0, len(message.text) - around - label * message.text.count("\n")))
    return [group[0] for group in found.groups]


def stopping(sizes, cap):
    kept = []
    for i, size in enumerate(sizes):
        if size > cap:
            break
        kept.append(i)
        cap -= size
    return kept


def strictly(sizes, cap):
    kept = []
    for i, size in enumerate(sizes):
        if size < cap:
            kept.append(i)
            cap -= size
    return kept


def without_cap_left(sizes, cap):
    return [i for i, size in enumerate(sizes) if size <= cap]


def smallest_first(sizes, cap):
    kept = []
    for i in sorted(range(len(sizes)), key=lambda i: sizes[i]):
        if sizes[i] <= cap:
            kept.append(i)
            cap -= sizes[i]
    return sorted(kept)


EXERCISES = (
    Predict(
        "12-p",
        "Found by shared words",
        "For how many of the ten questions is the message that answers it found, and in the first place?",
        unit="questions",
        operands={
            "all": len(CAFE_QUESTIONS),
            "nothing": sum(not found for found in ranked()),
            "something": sum(bool(found) for found in ranked()),
        },
        right=right_first,
        wrong=(
            Wrong("U1", lambda all: all, "{given} would need a shared word for each. People ask in other words."),
            Wrong(
                "U2",
                lambda something: something,
                "{given} questions find a message. For one of them it is the wrong message.",
            ),
            Wrong("U3", lambda: 0, "where the question repeats a rare word of the message, it is found at once."),
        ),
        praise="{nothing} questions find nothing, one finds the wrong message.",
        sure_miss="You were sure, so look at the words. {nothing} questions share no word with any message, and one "
        "shares a word with a wrong message only. {right} are left.",
        why="Why do so many find nothing? One sentence. Nobody grades it.",
        points=(
            "A question often uses other words than the statement.",
            "Common words are left out, since nearly every message has them.",
            "A wrong message is found where it shares a word with the question and the right one does not.",
        ),
        solution="In the run {right} of {all} questions have their message in the first place.",
    ),
    ChooseTask(
        "12-q1",
        "Not found",
        "“On which day are we closed?” does not find “We open at seven … Mondays off.” What makes it found by the same "
        "lookup, for certain?",
        options=(
            Option(
                "A larger cap for what is found.",
                "a cap limits what is quoted. Here nothing is found that could be quoted.",
                "U4",
            ),
            Option(
                "A note in words: “The café is closed on Mondays.”",
                "it shares the word “closed” with the question.",
                right=True,
            ),
            Option(
                "A larger store.",
                "more messages do not change the words of this one.",
                "U4",
            ),
            Option(
                "A message nearer to the end of the chat.",
                "BM25 knows no place and no time, only words.",
                "U5",
            ),
        ),
        solution="A lexical lookup finds what shares a word. Write the fact as a sentence with the word that a "
        "question will have.",
        quick=True,
    ),
    ChooseTask(
        "12-q2",
        "Is it a use?",
        "Which of these tells that an old message was used?",
        options=(
            Option(
                "It was in each of the last fifty requests.",
                "our own code put it there. What it puts in would then stay for ever.",
                "U6",
            ),
            Option(
                "It is the longest message.",
                "length says nothing about use.",
                "U6",
            ),
            Option(
                "A reply of this turn repeats its numbers, in quotation marks.",
                "somebody did something with it.",
                right=True,
            ),
            Option(
                "It was found by a lookup and put into the request, and no reply took it up.",
                "a lookup that finds by mistake would make its mistakes permanent. Wait for what the reply does.",
                "U6",
            ),
        ),
        solution="A use is what somebody does with a message. To be sent is our doing.",
        quick=True,
    ),
    NumberTask(
        "12-1",
        "Least recently used",
        "A cache has {places} places. The accesses are {trace}. How many of them are hits under LRU?",
        unit="hits",
        right=hits("lru"),
        wrong=(
            Wrong("U7", hits("fifo"), "{given} are the hits of FIFO. A hit makes an entry the newest again."),
            Wrong("U8", hits("lfu"), "{given} are the hits of LFU. LRU asks when the last use was, not how many."),
            Wrong(
                "U9",
                hits("noeviction"),
                "{given} are the hits of a cache from which nothing leaves, and which refuses what is new.",
            ),
        ),
        praise="what is used becomes the newest again.",
        solution="After each access the entry that was used stands last. When a new one comes, the first of the row "
        "leaves. That gives {right} hits.",
        hints=(
            "Write down the entries in the order of their last use. A hit moves its entry to the end.",
            "When a new entry comes and the cache is full, the first of the row leaves. Its next access is a miss.",
        ),
        variants=(
            {"trace": "A A C C B C E A C A A B", "places": 3},
            {"trace": "D C C B E C B A E A A E", "places": 3},
            {"trace": "A C D B C E C D A B D A", "places": 3},
        ),
        step=Step(
            "how many different entries are there?",
            lambda trace: len(set(trace.split())),
            "entries",
            "Count letters, each once.",
            "{step} entries come in by a miss at least once each.",
        ),
    ),
    OrderTask(
        "12-2",
        "Who leaves first?",
        "A chat has twelve messages. Messages 1, 2, 3 and 4 were last quoted by the messages {used}, in this order, "
        "and in all {times} times. The window shrinks, and the rule is LRU over messages. Put the four in the order in "
        "which they leave.",
        items=("message 1", "message 2", "message 3", "message 4"),
        value=lambda at, count: leaving(at, count),
        wrong=(
            Wrong("U10", lambda: (0, 1, 2, 3), "this is the order of age. A use makes a message young again."),
            Wrong("U8", lambda count: count, "this is the order of the number of uses, LFU. LRU asks for the last."),
            Wrong("S10", lambda at: [-one for one in at], "this is the right order, turned around."),
        ),
        praise="the one whose last use is longest ago leaves first.",
        solution="Under LRU the time of the last use decides, not how often, and not when the message was said.",
        ends="The one that leaves first comes first.",
        hints=("For each message: when was it used last?", "The longest ago leaves first."),
        variants=(
            {"at": (9, 5, 11, 7), "count": (1, 3, 2, 4), "used": "10, 6, 12 and 8", "times": "1, 3, 2 and 4"},
            {"at": (8, 10, 6, 4), "count": (3, 1, 4, 2), "used": "9, 11, 7 and 5", "times": "3, 1, 4 and 2"},
        ),
    ),
    NumberTask(
        "12-3",
        "A summary and a lookup",
        "A summary loses {percent} % of its facts at each rewrite, each fact independently (chapter 10). There were "
        "{rewrites} rewrites. For a fact that the summary has lost a lookup is tried, and it finds {found} of 100 such "
        "facts. How many of 100 facts can be seen when they are asked for?",
        unit="facts",
        right=lambda loss, rewrites, found: visible_facts(loss, rewrites, found),
        wrong=(
            Wrong(
                "U11",
                lambda loss, rewrites: round(100 * survival(loss, rewrites), 1),
                "{given} is the summary alone. The lookup finds some of those that it lost.",
            ),
            Wrong("U11", lambda found: found, "{given} is the lookup alone. Some facts are still in the summary."),
            Wrong(
                "U12",
                lambda loss, rewrites, found: round(100 * survival(loss, rewrites) + found, 1),
                "{given} adds the two. The lookup is needed only for what the summary has lost.",
            ),
            Wrong(
                "U12",
                lambda loss, rewrites, found: round(survival(loss, rewrites) * found, 1),
                "{given} asks for both at once. One of the two is enough.",
            ),
        ),
        tolerance=0.3,
        praise="one of the two is enough.",
        solution="{kept} of 100 facts are in the summary. Of the other {lost} the lookup finds {found} %. "
        "Together {right}.",
        hints=(
            "How many facts are in the summary? The losses are independent: (1 − rate) to the power of the rewrites.",
            "The lookup is tried for the others only.",
        ),
        variants=tuple(
            {
                "loss": loss,
                "percent": round(100 * loss),
                "rewrites": rewrites,
                "found": found,
                "kept": round(100 * survival(loss, rewrites), 1),
                "lost": round(100 - 100 * survival(loss, rewrites), 1),
            }
            for loss, rewrites, found in ((0.1, 5, 40), (0.05, 12, 60))
        ),
        step=Step(
            "how many of 100 facts are still in the summary?",
            lambda kept: kept,
            "facts",
            "(1 − rate) to the power of the rewrites, times 100.",
            "{step} are in the summary. The lookup is tried for the others.",
        ),
    ),
    CodeTask(
        "12-4",
        "What is quoted",
        "Write a function `quoted(sizes, cap)`. `sizes` are the units of the results of a lookup, best first. Each "
        "result is quoted whole or not at all; one that does not fit is left out, and the next is tried. The answer is "
        "the list of the indices that are quoted, in ascending order.",
        name="quoted",
        lines=(
            "def quoted(sizes, cap):",
            "    kept = []",
            Line(
                "    for i, size in □:",
                ("sorted(enumerate(sizes), key=lambda pair: pair[1])", "enumerate(sizes)"),
                1,
                ("the best result comes first, not the smallest.", ""),
                ("U13", ""),
            ),
            Line(
                "        if size □ cap:",
                ("<", "<="),
                1,
                ("what fits exactly is left out.", ""),
                ("S5", ""),
            ),
            Line(
                "            kept, cap = [*kept, i], □",
                ("cap", "cap - size"),
                1,
                ("each result is compared with the whole cap.", ""),
                ("U14", ""),
            ),
            "    return sorted(kept)",
        ),
        reference=chosen,
        cases=lambda: [
            ([30, 50, 20, 10], 60),
            ([30, 50, 20, 10], 80),
            ([30, 50, 20, 10], 9),
            ([70, 30, 30, 10], 60),
            ([10, 10, 10], 30),
            ([10, 10, 10], 29),
            ([90, 10, 80, 20], 100),
            ([5], 5),
            ([5], 4),
        ],
        wrong=(
            Wrong("F12", stopping, "Your function stops at the first result that does not fit. Try the next one."),
            Wrong("S5", strictly, "Your function leaves out a result that fits exactly."),
            Wrong("U14", without_cap_left, "Your function compares each result with the whole cap."),
            Wrong("U13", smallest_first, "Your function begins with the smallest result. The best comes first."),
        ),
        praise="it agrees with the library's store on all cases.",
        hints=(
            "Go through the results in their order.",
            "Take the units of what is quoted off the cap. After a result that does not fit, go on.",
        ),
        tip="Exactly full still fits.",
    ),
)
