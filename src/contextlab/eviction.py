"""Eviction: which entry leaves a full cache, and which message leaves a full window when use counts, not age alone.

`simulate` plays six policies on one trace of accesses. `LeastUsed` brings two of them to a chat, where a message counts
as used only when there is a sign of it: a quotation or a reference back. Being found by a lookup and sent is no use.
"""

from __future__ import annotations

from collections import namedtuple

from .chat import groups
from .errors import ContextOverflow, InputError
from .keep import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from .keep import History

POLICIES = ("fifo", "random", "lru", "lfu", "ttl", "noeviction")


class Step(namedtuple("Step", "key hit left inside")):
    """One access: its ``key``, whether that was a ``hit``, the keys that ``left``, the keys ``inside`` afterwards.

    ``inside`` is in the order in which the keys came in.
    """

    __slots__ = ()


class Run(namedtuple("Run", "policy capacity steps")):
    """What `simulate` saw, access by access."""

    __slots__ = ()

    @property
    def hits(self) -> int:
        """The number of accesses that found their key inside."""
        return sum(step.hit for step in self.steps)

    @property
    def refused(self) -> list[Hashable]:
        """Keys that were not taken in, because the cache was full and nothing leaves (noeviction)."""
        return [step.key for step in self.steps if not step.hit and step.key not in step.inside]


def simulate(policy: str, accesses: Iterable[Hashable], capacity: int, seed: int = 1, ttl: int = 8) -> Run:
    """Return how a cache of ``capacity`` entries fares on a trace of accesses; a key that is missed comes in.

    ``policy`` is one of `POLICIES`. When the cache is full:

    - "fifo": the entry that came in first leaves;
    - "random": any entry leaves, drawn by ``seed``;
    - "lru": the one whose last access is longest ago;
    - "lfu": the one with the fewest accesses since it came in; among equals the one whose last access is longest ago;
    - "ttl": entries leave ``ttl`` accesses after they came in, full or not; when full, the next one to expire;
    - "noeviction": nothing leaves, and the new key is refused.

    Raises `InputError` for an unknown policy, a capacity or a ``ttl`` below 1.

    >>> trace = "A B C A D A".split()
    >>> [simulate(policy, trace, capacity=3).hits for policy in ("fifo", "lru")]
    [1, 2]
    """
    if policy not in POLICIES:
        raise InputError(f"the policy is one of {', '.join(POLICIES)}, not {policy!r}")
    if capacity < 1 or ttl < 1:
        raise InputError(f"capacity {capacity} and ttl {ttl}: both must be at least 1")
    from random import Random

    rng = Random(seed)
    inside = {}  # key -> [came in, last access, accesses], in the order in which they came in
    steps = []
    for now, key in enumerate(accesses):
        left = []
        if policy == "ttl":
            left = [old for old, (came, _, _) in inside.items() if now - came >= ttl]
            for old in left:
                del inside[old]
        hit = key in inside
        if hit:
            inside[key][1] = now
            inside[key][2] += 1
        elif len(inside) < capacity or policy != "noeviction":
            if len(inside) >= capacity:
                goes = _victim(policy, inside, rng)
                del inside[goes]
                left.append(goes)
            inside[key] = [now, now, 1]
        steps.append(Step(key, hit, tuple(left), tuple(inside)))
    return Run(policy, capacity, tuple(steps))


def _victim(policy, inside, rng):
    if policy == "random":
        return list(inside)[int(rng.random() * len(inside))]
    if policy == "lru":
        return min(inside, key=lambda key: inside[key][1])
    if policy == "lfu":
        return min(inside, key=lambda key: (inside[key][2], inside[key][1]))
    return next(iter(inside))  # fifo; and with one lifetime for all, the first that came in expires first


class Signal(namedtuple("Signal", "at used kind")):
    """A sign of use: the message ``at`` uses the message ``used`` (indices in the history).

    ``kind`` names the sign: "quote", "reference", or one of the caller's own.
    """

    __slots__ = ()


LEAST_QUOTE = 12  # characters; shorter quotations occur by chance


def quotes(history: Sequence, at: int, least: int = LEAST_QUOTE) -> list[Signal]:
    """Return a signal for each earlier message that the message ``at`` quotes: the latest one that has the words.

    A quotation is text of at least ``least`` characters in quotation marks, or a line that begins with ``>``.

    >>> from contextlab.chat import Message
    >>> chat = [Message("user", "Twenty rows a page."), Message("user", "You said “Twenty rows a page”, right?")]
    >>> quotes(chat, 1)
    [Signal(at=1, used=0, kind='quote')]
    """
    text = history[at].text
    if not any(mark in text for mark in ('"', "“", "«", ">")):
        return []
    import re

    found = []
    for match in re.finditer(r"“([^”]+)”|\"([^\"]+)\"|«([^»]+)»|^[ \t]*>[ \t]?(.+)$", text, re.MULTILINE):
        words = next(group for group in match.groups() if group).strip(" .,;!?")
        if len(words) >= least:
            used = next((i for i in range(at - 1, -1, -1) if words in history[i].text), None)
            if used is not None:
                found.append(Signal(at, used, "quote"))
    return list(dict.fromkeys(found))


def references(history: Sequence, at: int) -> list[Signal]:
    """Return a signal for each message of a turn that the message ``at`` names: “in turn 3”, “message 12”.

    Turns are counted from 1, a user message each; messages are counted from 1, as a reader counts them.

    >>> from contextlab.chat import Message
    >>> said = [("user", "Rows?"), ("assistant", "Twenty."), ("user", "Keep the answer of turn 1.")]
    >>> chat = [Message(*message) for message in said]
    >>> [signal.used for signal in references(chat, 2)]
    [0, 1]
    """
    text = history[at].text
    low = text.lower()
    if "turn " not in low and "message " not in low:
        return []
    import re

    used = []
    for word, number in re.findall(r"\b(turn|message) #?(\d{1,6})\b", low):
        if word == "message":
            used.append(int(number) - 1)
        else:
            turn = 0
            for i in range(at):
                turn += history[i].role == "user"
                if turn == int(number):
                    used.append(i)
                elif turn > int(number):
                    break
    return [Signal(at, i, "reference") for i in dict.fromkeys(used) if 0 <= i < at]


class LeastUsed:
    """Keep what was used last ("lru") or most ("lfu") by explicit signs of use, the newest among equals.

    Messages leave in atomic groups, a call with its results. ``signals`` are functions of the history and an index that
    return the signals of that message; each message is asked about once. `use` takes signals from elsewhere, an answer
    that repeats words of a message for instance; that a lookup found and sent a message is none. Without any signal
    both orders are by age, and the policy is keep-newest over groups. A group that left comes back when it is used
    again. The group of the current user message is always kept, else `ContextOverflow`.

    "lru" orders by the message in which a group was used last, its own included. "lfu" orders by the number of signals,
    and by age among equals: a group that was used once stays for as long as it can, however old.

    >>> from contextlab.chat import Message
    >>> from contextlab.keep import History
    >>> texts = ["Twenty rows a page.", "x" * 20, "As you said: “Twenty rows a page”.", "y" * 20]
    >>> policy = LeastUsed("lru")
    >>> policy.start(room=80)
    >>> history = History([Message("user", text) for text in texts], cost=lambda message: len(message.text))
    >>> policy.select(history).indices
    (0, 2, 3)
    """

    def __init__(self, order: str = "lru", signals: Iterable[Callable] = (quotes, references)):
        if order not in ("lru", "lfu"):
            raise InputError(f"the order is lru or lfu, not {order!r}")
        self.order = order
        self.signals = tuple(signals)

    def start(self, room: int) -> None:
        self.room = room
        self.seen = []  # all signals so far
        self._read = 0

    def use(self, signals: Iterable[Signal]) -> None:
        """Take note of signals from elsewhere; raises `InputError` when one does not use an earlier message."""
        for signal in signals:
            if not 0 <= signal.used < signal.at:
                raise InputError(f"message {signal.at} cannot use message {signal.used}")
            self.seen.append(signal)

    def select(self, history: History) -> Kept:
        stop = len(history)
        for at in range(self._read, stop):
            for find in self.signals:
                self.use(find(history, at))
        self._read = stop
        found = groups(history.messages[:stop])
        group_of = {index: number for number, group in enumerate(found) for index in group}
        last = [group[-1] for group in found]
        times = [0] * len(found)
        for signal in self.seen:
            if signal.at < stop:
                number = group_of[signal.used]
                times[number] += 1
                last[number] = max(last[number], signal.at)
        rank = (lambda g: (times[g], found[g][-1])) if self.order == "lfu" else (lambda g: (last[g], found[g][-1]))
        current = group_of[stop - 1]
        units = [sum(history.units(i, i + 1) for i in group) for group in found]
        if units[current] > self.room:
            raise ContextOverflow(
                "the current user message does not fit", self.room, {"current user message": units[current]}
            )
        kept, total = [current], units[current]
        for number in sorted((g for g in range(len(found)) if g != current), key=rank, reverse=True):
            if total + units[number] > self.room:
                break
            kept.append(number)
            total += units[number]
        indices = tuple(sorted(index for number in kept for index in found[number]))
        return Kept(indices, (), 0, total)
