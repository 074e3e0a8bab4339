"""Policies side by side: what each sends and computes; and sweeps, the same task over many seeds into one file."""

from __future__ import annotations

import csv
import os
from collections import namedtuple
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from . import cost
from .errors import InputError, MissingDependency
from .eviction import LeastUsed
from .keep import Beside, KeepNewest, LastN, LowWater
from .notes import Noted
from .pins import Pinned
from .planted import KINDS, PER_KIND, PlantedChat, SimulatedModel, planted_chat
from .render import PlainRule
from .replay import CountedChat, holds_any, replay
from .retrieval import Retrieved
from .summary import Summarised
from .tokens import WordPieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from .keep import Policy
    from .replay import Trace

Z = 1.959964  # standard deviations on each side that hold 95 % of a normal distribution
CHUNK = 20  # keys that one job of the executor takes on at most; fewer when there are few keys


def sweep(
    task: Callable[[int], list[Sequence]],
    keys: Iterable[int],
    path: str | os.PathLike,
    columns: Sequence[str],
    executor: Executor | None = None,
) -> Iterator[int]:
    """Run ``task`` for each key and write its rows to the CSV file ``path``; yield the number of keys done so far.

    ``task(key)`` returns rows of whole numbers, the key first; it is a function that the executor can send elsewhere.
    ``executor`` is any `concurrent.futures` executor (None: one key after the other, here). Rows are kept in
    ``path`` + ``.part`` until every key is done, so that a sweep that was stopped goes on where it was; then the file
    is written in the order of its rows and put in place in one step. The same keys give the same bytes, on every
    executor. Raises `InputError` when the part file has other columns.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    rows = _read_part(part, columns)
    keys = sorted(set(keys))
    done = {row[0] for row in rows}
    todo = [key for key in keys if key not in done]
    size = max(1, min(CHUNK, len(todo) // 50))
    chunks = [todo[i : i + size] for i in range(0, len(todo), size)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(part, "a", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if stream.tell() == 0:
            writer.writerow(columns)
        for finished in _results(task, chunks, executor):
            rows.extend(finished)
            writer.writerows(finished)
            stream.flush()
            done.update(row[0] for row in finished)
            yield len(done)
    ready = path.with_name(path.name + ".ready")
    wanted = set(keys)
    with open(ready, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(sorted(row for row in rows if row[0] in wanted))
    os.replace(ready, path)
    part.unlink()


def cluster_executor(workers: int = 2, address: str | None = None):
    """Return an executor on a Dask cluster for `sweep`: a local one of ``workers`` processes, or that at ``address``.

    It is a context manager: ``with cluster_executor() as executor``. Raises `MissingDependency` without the extra
    ``contextlab[cluster]``.
    """
    from contextlib import contextmanager

    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingDependency(f"a cluster needs the extra: pip install 'contextlab[cluster]' ({error})") from None

    @contextmanager
    def running():
        if address is not None:
            with Client(address) as client:
                yield client.get_executor()
            return
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor()

    return running()


def data_file(name: str) -> Path:
    """Return where the book's data file of this name is: beside the notebooks, or in the installed package.

    Raises `InputError` when it is in neither place.

    >>> data_file("forecast_errors.csv").name
    'forecast_errors.csv'
    """
    here = Path(__file__).resolve().parent
    places = [here.parents[1] / "notebooks" / "data" / name, here / "sweeps" / name]
    for place in places:
        if place.is_file():
            return place
    raise InputError(f"there is no data file {name}: `make data` in the repository makes it")


def read_sweep(path: str | os.PathLike) -> tuple[list[str], list[tuple[int, ...]]]:
    """Return the columns and the rows of a sweep's file; a bare name is looked up with `data_file`."""
    path = Path(path)
    if path.name == str(path) and not path.exists():
        path = data_file(path.name)
    with open(path, newline="", encoding="utf-8") as stream:
        reader = csv.reader(stream)
        columns = next(reader)
        return columns, [tuple(map(int, row)) for row in reader]


def _results(task, chunks, executor):
    if executor is None:
        for chunk in chunks:
            yield _run(task, chunk)
        return
    from concurrent.futures import as_completed

    jobs = [executor.submit(_run, task, chunk) for chunk in chunks]
    try:
        for job in as_completed(jobs):
            yield job.result()
    finally:
        for job in jobs:
            job.cancel()


def _run(task, chunk):
    return [tuple(row) for key in chunk for row in task(key)]


def _read_part(part, columns):
    """Return the rows of a sweep that was stopped; a last line or a last key cut off in the middle is left out."""
    if not part.exists():
        return []
    text = part.read_text(encoding="utf-8")
    lines = text[: text.rfind("\n") + 1].splitlines()
    if lines and lines[0] != ",".join(columns):
        raise InputError(f"{part} has the columns {lines[0]}; expected {','.join(columns)}; delete it to begin anew")
    rows = [tuple(map(int, line.split(","))) for line in lines[1:]]
    if rows:
        last = rows[-1][0]  # it may lack rows
        rows = [row for row in rows if row[0] != last]
    with open(part, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    return rows


# Name -> a function from a `SimulatedModel` to a policy. Caps are in the units of the word pieces.
POLICIES = {
    "last 10 messages": lambda model: LastN(10),
    "keep-newest": lambda model: KeepNewest(),
    "low-water mark": lambda model: LowWater(0.5),
    "pins": lambda model: Beside(Pinned(cap=200)),
    "pins beside the question": lambda model: Beside(Pinned(cap=200, place="beside")),
    "rolling summary": lambda model: Beside(Summarised(model.summariser(), cap=300), mark=0.5),
    "summary every turn": lambda model: Beside(Summarised(model.summariser(), cap=300)),
    "notes + last 10": lambda model: Beside(Noted(model.updates, cap=1000), last=10),
    "window + notes": lambda model: Beside(Noted(model.updates, cap=1000, place="beside"), mark=0.5),
    "retrieval": lambda model: Beside(Retrieved(cap=500)),
    "least recently used": lambda model: LeastUsed("lru"),
    "least often used": lambda model: LeastUsed("lfu"),
    "pins + summary": lambda model: Beside(Pinned(cap=200), Summarised(model.summariser(), cap=300), mark=0.5),
    "pins + retrieval": lambda model: Beside(Pinned(cap=200), Retrieved(cap=500), mark=0.5),
    "new chat + carried note": lambda model: Beside(Summarised(model.summariser(), cap=300), mark=0),
}
# What the sweep runs: each policy at two budgets, and larger windows for keep-newest alone.
SETUPS = (
    *((name, budget) for budget in (4000, 8000) for name in POLICIES),
    *(("keep-newest", budget) for budget in (16000, 32000)),
)
COMPARISON_COLUMNS = (
    *("seed", "setup", *KINDS, "stale", "misled"),
    *("sent", "computed", "read", "written", "calls", "kept"),
)


class Outcome(namedtuple("Outcome", "right stale misled sent computed read written calls kept")):
    """What one policy did on one planted chat.

    ``right``: kind -> facts whose right value stood in the request that asked about them. ``stale``: requests with an
    outdated value; ``misled``: those of them without the right one. ``sent`` and ``computed``: units of all requests,
    and what of them the prefix of the request before could not save. ``read``, ``written``, ``calls``: what the
    policy's own calls of a summariser or note taker cost. ``kept``: messages kept on average.
    """

    __slots__ = ()


def outcome(chat: PlantedChat, policy: Policy, budget: int, counted: CountedChat | None = None) -> Outcome:
    """Play a planted chat under a policy with an input budget in word pieces.

    ``counted`` is the chat counted before (`count`), so that several policies share the work.

    >>> pins = outcome(planted_chat(seed=1), Beside(Pinned(cap=200)), budget=4000)
    >>> pins.right, pins.misled
    ({'early': 0, 'middle': 0, 'corrected': 2, 'contradicted': 1}, 0)
    """
    trace = replay(counted or count(chat), policy, input_budget=budget)
    right, stale, misled = dict.fromkeys(KINDS, 0), 0, 0
    for fact in chat.facts:
        seen = visible(trace, fact.asked, fact.value)
        right[fact.kind] += seen
        if fact.stale and visible(trace, fact.asked, fact.stale):
            stale += 1
            misled += not seen
    used = cost.total(cost.usage(trace))
    own = [part.spent for part in getattr(policy, "parts", ()) if hasattr(part, "spent")]
    calls, read, written = (sum(spent[i] for spent in own) for i in range(3))
    return Outcome(right, stale, misled, used.sent, used.computed, read, written, calls, trace.mean_messages_kept)


def count(chat: PlantedChat) -> CountedChat:
    """Return a planted chat counted in word pieces."""
    return CountedChat(chat.messages, PlainRule(WordPieces()))


def visible(trace: Trace, turn: int, text: str) -> bool:
    """Return whether a text stands in the request of a turn: in its header, its footer or a kept message."""
    kept = trace.kept[turn - 1]
    noted = any(text in message.text for message in (*kept.header, *kept.footer))
    return noted or holds_any(kept.indices, trace.chat.holders(text))


def comparison_rows(seed: int, setups: Iterable[int] = range(len(SETUPS))) -> list[tuple[int, ...]]:
    """Return one row of `COMPARISON_COLUMNS` for each of the `SETUPS` on the planted chat of this seed.

    ``setups`` are indices into `SETUPS`, all by default. ``kept`` is in hundredths of a message.

    >>> comparison_rows(1, setups=[1])
    [(1, 1, 0, 0, 0, 0, 0, 0, 436116, 395596, 0, 0, 0, 3151)]
    """
    chat = planted_chat(seed)
    counted = count(chat)
    rows = []
    for setup in setups:
        name, budget = SETUPS[setup]
        seen = outcome(chat, POLICIES[name](SimulatedModel(chat)), budget, counted)
        rows.append((seed, setup, *(seen.right[kind] for kind in KINDS), *seen[1:-1], round(seen.kept * 100)))
    return rows


class Interval(namedtuple("Interval", "value low high")):
    """A value and the ends of its 95 % interval."""

    __slots__ = ()


def rate(hits: int, tries: int) -> Interval:
    """Return hits / tries with its Wilson score interval (Wilson 1927), 95 %.

    >>> [round(number, 3) for number in rate(18, 20)]
    [0.9, 0.699, 0.972]
    """
    if tries < 1 or not 0 <= hits <= tries:
        raise InputError(f"{hits} hits of {tries} tries are no rate")
    share, scale = hits / tries, 1 + Z * Z / tries
    middle = (share + Z * Z / (2 * tries)) / scale
    half = Z / scale * sqrt(share * (1 - share) / tries + Z * Z / (4 * tries * tries))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Interval(share, min(low, share), max(high, share))  # where rounding would put an end beyond the rate


def average(values: Sequence[float]) -> Interval:
    """Return a mean with its 95 % interval from the spread of the values (normal approximation).

    >>> [round(number, 2) for number in average([9.0, 10.0, 11.0, 10.0])]
    [10.0, 9.2, 10.8]
    """
    half = Z * stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
    return Interval(fmean(values), fmean(values) - half, fmean(values) + half)


class Result(namedtuple("Result", "policy budget seeds right by_kind stale misled sent own computed hit_rate kept")):
    """One line of the comparison's table, over all seeds.

    ``right``: how often the right value was visible when asked about; ``by_kind``: the same for each kind. ``stale``
    and ``misled``: rates over the facts that changed (see `Outcome`). ``sent``: units of all requests of a chat;
    ``own``: units that the policy's own calls read and wrote; ``computed``: of ``sent``, what was not cached; all
    averages. ``hit_rate``: the share that was cached. ``kept``: messages kept on average. Rates and averages are
    `Interval`, but for the last two.
    """

    __slots__ = ()

    @property
    def units(self) -> float:
        """All units that a chat costs on average: sent, and the policy's own calls."""
        return self.sent.value + self.own.value

    @property
    def clean(self) -> Interval:
        """How often the right value was visible and no outdated one beside it."""
        both = (self.stale.value - self.misled.value) / 2  # of all facts: half of them changed
        asks = PER_KIND * len(KINDS) * self.seeds
        return rate(round((self.right.value - both) * asks), asks)

    def bill(self, cached_price: float = 0.1) -> float:
        """What a chat's input and the policy's own calls cost, in units at the full price; a cached one costs less."""
        cached = self.sent.value - self.computed.value
        return self.computed.value + cached_price * cached + self.own.value


def results(rows: Iterable[Sequence[int]]) -> list[Result]:
    """Return one `Result` a setup from rows of `comparison_rows`, in the order of `SETUPS`."""
    by_setup = {}
    for row in rows:
        by_setup.setdefault(row[1], []).append(dict(zip(COMPARISON_COLUMNS, row, strict=True)))
    found = []
    for setup, runs in sorted(by_setup.items()):
        sums = {column: sum(one[column] for one in runs) for column in COMPARISON_COLUMNS}
        asks = PER_KIND * len(runs)  # of each kind
        found.append(
            Result(
                *SETUPS[setup],
                seeds=len(runs),
                right=rate(sum(sums[kind] for kind in KINDS), asks * len(KINDS)),
                by_kind={kind: rate(sums[kind], asks) for kind in KINDS},
                stale=rate(sums["stale"], 2 * asks),
                misled=rate(sums["misled"], 2 * asks),
                sent=average([one["sent"] for one in runs]),
                own=average([one["read"] + one["written"] for one in runs]),
                computed=average([one["computed"] for one in runs]),
                hit_rate=1 - sums["computed"] / sums["sent"],
                kept=sums["kept"] / 100 / len(runs),
            )
        )
    return found


def best_trades(found: Iterable[Result], price: Callable[[Result], float] = lambda one: one.units) -> list[Result]:
    """Return the results that no other beats, the cheapest first: what costs less shows the right value less often."""
    line = []
    for one in sorted(found, key=lambda one: (price(one), -one.right.value)):
        if not line or one.right.value > line[-1].right.value:
            line.append(one)
    return line
