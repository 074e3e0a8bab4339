"""The explorer of chapter 12: six rules of eviction on one trace of accesses."""

from __future__ import annotations

from contextlab.eviction import POLICIES, simulate

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped

TRACES = (
    ("one comes back late", "ABACADAEBFA"),
    ("everything moves on", "AAABCDCDEDEFEF"),
    ("one favourite", "ABACADAEAFAGAHA"),
    ("a walk through all", "ABCDEFABCDEFABCDEF"),
)
NAMES = {"fifo": "FIFO", "random": "random", "lru": "LRU", "lfu": "LFU", "ttl": "TTL of 8", "noeviction": "noeviction"}


def eviction_explorer(
    *,
    title: str = "Six rules, one trace",
    question: str = "Choose a trace and the number of places. A bar is the number of hits of a rule.",
) -> Explorer:
    """Return the explorer of eviction: hits of six policies on one of four traces, by the number of places.

    Returns:
        An explorer; `settings` holds `trace` (0 to 3) and `places`.
    """

    def results(trace: int, places: int) -> tuple[int, ...]:
        accesses = TRACES[trace][1]
        hits = [simulate(policy, accesses, places).hits for policy in POLICIES]
        return (*hits, max(hits), len(accesses))

    rows = []
    for number, (name, accesses) in enumerate(TRACES):
        for places in (2, 3, 4):
            rows.append([name, " ".join(accesses), grouped(places), *map(grouped, results(number, places)[:-2])])
    names = (*POLICIES, "best", "accesses")
    read = "At best {best} of {accesses} accesses are hits, with {places} places."
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("trace", "Trace", start=0, values=range(len(TRACES)), labels=[name for name, _ in TRACES]),
            Control("places", "Places", 2, 6, 1, "", 3),
        ],
        table_of=(("trace", "places"), names, results),
        digits=dict.fromkeys(names, 0),
        sentences=[
            *((f"trace == {number}", f"{' '.join(accesses)}. {read}") for number, (_, accesses) in enumerate(TRACES)),
            read,
        ],
        draw={
            "type": "bars",
            "unit": "hits",
            "bars": [{"name": policy, "label": NAMES[policy], "role": "user", "digits": 0} for policy in POLICIES],
        },
        table={"head": ["Trace", "Accesses", "Places", *NAMES.values()], "rows": rows},
    )
