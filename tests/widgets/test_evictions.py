"""The explorer of chapter 12: its bars are the hits of caches that are played by hand."""

from __future__ import annotations

from collections import OrderedDict

from contextlab.eviction import POLICIES
from contextlab.widgets import eviction_explorer
from contextlab.widgets.evictions import TRACES


def by_hand(accesses, places, refresh):
    """FIFO, or LRU when a hit makes an entry the newest again."""
    inside, hits = OrderedDict(), 0
    for key in accesses:
        if key in inside:
            hits += 1
            if refresh:
                inside.move_to_end(key)
            continue
        if len(inside) == places:
            inside.popitem(last=False)
        inside[key] = True
    return hits


def test_the_bars_are_the_hits_of_caches_played_by_hand():
    data = eviction_explorer().data
    names = [bar["name"] for bar in data["draw"]["bars"]]
    assert names == list(POLICIES)
    for number, (_, accesses) in enumerate(TRACES):
        for places in range(2, 7):
            row = dict(
                zip(data["table_of"]["names"], map(int, data["table_of"]["rows"][f"{number}|{places}"]), strict=True)
            )
            assert row["fifo"] == by_hand(accesses, places, refresh=False)
            assert row["lru"] == by_hand(accesses, places, refresh=True)
            first = list(dict.fromkeys(accesses))[:places]
            assert row["noeviction"] == sum(key in first for key in accesses) - len(first)
            assert row["best"] == max(row[name] for name in names) and row["accesses"] == len(accesses)


def test_no_rule_is_the_best_on_every_trace():
    rows = eviction_explorer().data["table_of"]["rows"]
    best = [{i for i, hits in enumerate(rows[f"{n}|3"][:6]) if int(hits) == int(rows[f"{n}|3"][6])} for n in range(4)]
    assert not set.intersection(*best)
