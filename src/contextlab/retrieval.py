"""Retrieval: old messages in a store outside the window, looked up when a question needs them.

`Store` keeps every message in an index and finds those that fit a question: by shared words (`BM25Index`, SQLite's
full-text search, which comes with Python) or by likeness of meaning (`EmbeddingIndex`, with the extra
``contextlab[embeddings]``). What is found goes into the request as quoted history, in whole groups, under a cap.
"""

from __future__ import annotations

from collections import namedtuple

from .chat import Message, groups
from .errors import InputError, MissingDependency
from .keep import Part
from .pins import PLACES, Shortened, one_line
from .summary import readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .keep import History

CAP = 500  # units of the message with what was found
HEAD = "Quoted from earlier in this chat, as a reminder and not as a new message:"
# Words that nearly every message has; a question made of them alone finds nothing.
STOP_WORDS = frozenset(
    "a about am an and are as at be been but by can could did do does for from had has have how i if in into is it its "
    "let ll m may me might my of on or our re s shall should so t than that the their them then there these they this "
    "those to us ve was we were what when where which who whom whose why will with would you your".split()
)


def words(text: str, stop: frozenset = STOP_WORDS) -> list[str]:
    """Return the words of a text as the lexical index sees them: without case, accents and stop words.

    A run of Chinese, Japanese or Korean signs, which has no spaces, is cut into pairs of signs.

    >>> words("What is Zoë's budget? 470 euros!"), words("予算は")
    (['zoe', 'budget', '470', 'euros'], ['予算', '算は'])
    """
    import re

    if text.isascii():
        return [word for word in re.findall(r"[a-z0-9]+", text.lower()) if word not in stop]
    from unicodedata import normalize

    plain = re.sub("[\u0300-\u036f]", "", normalize("NFKD", text.casefold()))
    found = []
    for run in re.findall(r"[^\W_]+", normalize("NFC", plain)):
        for piece in re.findall(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+", run):
            if re.match(f"[{_UNSPACED}]", piece):
                found += [piece[i : i + 2] for i in range(max(1, len(piece) - 1))]
            elif piece not in stop:
                found.append(piece)
    return found


_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"  # kana, Chinese characters, Hangul


class BM25Index:
    """Texts under numbers, ranked by BM25 over shared words (k1 = 1.2, b = 0.75), in SQLite's FTS5.

    A text is added without a rebuild. A word that more than half of the texts hold weighs next to nothing. Raises
    `MissingDependency` when Python's SQLite lacks FTS5.

    >>> index = BM25Index()
    >>> index.add(0, "My budget is 470 euros.")
    >>> index.add(1, "Sort the list by date.")
    >>> [number for number, score in index.search("How large is the budget?")]
    [0]
    """

    def __init__(self, stop: frozenset = STOP_WORDS):
        try:
            import sqlite3

            self._table = sqlite3.connect(":memory:", check_same_thread=False)
            self._table.execute("CREATE VIRTUAL TABLE said USING fts5(words, content='', tokenize='unicode61')")
        except (ImportError, sqlite3.OperationalError) as error:
            raise MissingDependency(f"lexical search needs a Python whose SQLite has FTS5: {error}") from None
        self.stop = stop

    def add(self, number: int, text: str) -> None:
        """Put a text into the index under a number that it does not hold yet."""
        self._table.execute("INSERT INTO said(rowid, words) VALUES (?, ?)", (number, " ".join(words(text, self.stop))))

    def search(self, query: str) -> Iterator[tuple[int, float]]:
        """Yield number and score of the texts that share a word with the query, best first, the newest among equals."""
        asked = dict.fromkeys(words(query, self.stop))
        if not asked:
            return iter(())
        match = " OR ".join(f'"{word}"' for word in asked)
        found = self._table.execute(
            "SELECT rowid, -bm25(said) FROM said WHERE said MATCH ? ORDER BY 2 DESC, 1 DESC", (match,)
        )
        return ((number, score) for number, score in found)


class EmbeddingIndex:
    """Texts under numbers, ranked by the likeness of their meaning to that of the query; the same calls as `BM25Index`.

    A small model turns each text into a list of numbers, so that texts of like meaning get like numbers; the score is
    their cosine, from -1 to 1. Only scores of at least ``least`` count. ``embed`` takes a list of texts and returns an
    array of unit vectors, one row a text; by default the model of the package wordllama, whose weights lie in the
    package. Raises `MissingDependency` when it is not installed.
    """

    def __init__(self, embed: Callable[[list[str]], Sequence] | None = None, least: float = 0.2):
        self.embed = _wordllama() if embed is None else embed
        self.least = least
        self._numbers, self._waiting, self._vectors = [], [], None

    def add(self, number: int, text: str) -> None:
        """Put a text into the index under a number that it does not hold yet."""
        self._numbers.append(number)
        self._waiting.append(text)

    def search(self, query: str) -> Iterator[tuple[int, float]]:
        """Yield number and score of the texts that are like the query, best first, the newest among equals."""
        import numpy

        if self._waiting:
            new = numpy.asarray(self.embed(self._waiting))
            self._vectors = new if self._vectors is None else numpy.concatenate([self._vectors, new])
            self._waiting = []
        if self._vectors is None or not query.strip():
            return
        scores = self._vectors @ numpy.asarray(self.embed([query]))[0]
        ranked = sorted(zip(scores.tolist(), self._numbers, strict=True), reverse=True)
        yield from ((number, score) for score, number in ranked if score >= self.least)


_MODEL = []


def _wordllama():
    """Return the function that embeds with wordllama's model; it is loaded once, from the package, never fetched."""
    if not _MODEL:
        try:
            import wordllama
        except ImportError as error:
            raise MissingDependency(
                f"embeddings need the extra: pip install 'contextlab[embeddings]' ({error})"
            ) from None
        from pathlib import Path

        # The loader looks for weights and tokenizer under these folders of a cache; they are the package's own.
        home = Path(wordllama.__file__).parent
        _MODEL.append(wordllama.WordLlama.load(cache_dir=home, disable_download=True))
    return lambda texts: _MODEL[0].embed(list(texts), norm=True)


def likeness(texts: Sequence[str], queries: Sequence[str], embed=None) -> list[list[float]]:
    """Return for each query the cosine of its vector and that of each text; ``embed`` as in `EmbeddingIndex`.

    >>> likeness(["ab"], ["b"], embed=lambda texts: [[float(letter in text) for letter in "ab"] for text in texts])
    [[1.0]]
    """
    import numpy

    embed = _wordllama() if embed is None else embed
    return (numpy.asarray(embed(list(queries))) @ numpy.asarray(embed(list(texts))).T).tolist()


class Found(namedtuple("Found", "message groups units scores skipped")):
    """What a lookup gives to a request.

    ``message``: the quotations as one message, None when nothing was found. ``groups``: the indices of the quoted
    messages, a tuple a group, in the order of the chat. ``units``: what the message costs. ``scores``: the score of
    each group. ``skipped``: groups that were found and did not fit, as `Shortened`.
    """

    __slots__ = ()


class Store:
    """Old messages in an index; `find` looks up what a question needs.

    ``index``: a `BM25Index` (the default), an `EmbeddingIndex`, or anything with their methods ``add`` and ``search``.

    >>> store = Store()
    >>> store.add([Message("user", "My budget is 470 euros."), Message("assistant", "Noted.")])
    >>> found = store.find("What is my budget?", cap=200, cost=lambda message: len(message.text))
    >>> print(found.message.content)
    Quoted from earlier in this chat, as a reminder and not as a new message:
    [message 1, user] My budget is 470 euros.
    >>> found.units
    115
    """

    def __init__(self, index=None):
        self.index = BM25Index() if index is None else index
        self.messages = []
        self._group_of = {}  # index of a message -> its group
        self._regroup = False

    def add(self, messages: Iterable[Message]) -> None:
        """Put messages at the end of the store; instructions and messages without text are kept, and never found."""
        for message in messages:
            text = readable(message)
            if text.strip() and message.role not in ("system", "developer"):
                self.index.add(len(self.messages), text)
            self._group_of[len(self.messages)] = (len(self.messages),)
            self._regroup = self._regroup or message.role == "tool" or bool(message.tool_calls)
            self.messages.append(message)

    def find(
        self,
        query: str,
        cap: int,
        cost: Callable[[Message], int],
        inside: Iterable[int] = (),
        most: int | None = None,
        role: str = "system",
    ) -> Found:
        """Return what the index finds for the query, as one message of at most ``cap`` units of ``cost``.

        Results are atomic groups, best first, in whole; one that does not fit is skipped and reported, and a smaller
        one after it may still fit. ``inside``: indices of messages that the request holds already: their groups are
        not quoted again. ``most``: at most that many groups. Raises `InputError` for a negative cap, or ``most``
        below 1.
        """
        if cap < 0 or (most is not None and most < 1):
            raise InputError(f"a cap of {cap} units and at most {most} groups: the least are 0 and 1")
        if self._regroup:
            self._group_of = {index: group for group in groups(self.messages) for index in group}
            self._regroup = False
        group_of = self._group_of
        inside = inside if isinstance(inside, range) else frozenset(inside)
        chosen, skipped, tried = {}, [], set()
        message, units = None, 0
        for number, score in self.index.search(query):
            group = group_of[number]
            if group in tried or any(index in inside for index in group):
                continue
            tried.add(group)
            longer = Message(role, self._quote([*chosen, group]))
            needs = cost(longer)
            if needs <= cap:
                chosen[group] = score
                message, units = longer, needs
            else:
                alone = cost(Message(role, self._quote([group])))
                why = "alone it is larger than the cap" if alone > cap else "the cap is full"
                name = "message" if len(group) == 1 else "messages"
                skipped.append(Shortened(f"{name} {', '.join(str(i + 1) for i in group)}", alone, why))
            if len(chosen) == most or (len(tried) - len(chosen)) >= 5:
                break
        order = sorted(chosen)
        return Found(message, tuple(order), units, tuple(chosen[group] for group in order), tuple(skipped))

    def _quote(self, chosen):
        lines = [HEAD]
        for group in sorted(chosen):
            lines += [
                f"[message {i + 1}, {self.messages[i].role}] {one_line(readable(self.messages[i]))}" for i in group
            ]
        return "\n".join(lines)


class Retrieved(Part):
    """A lookup for the current user message as a part of a request, for `Beside`.

    ``cap`` units of the room are set aside for what is found, in the units of the rule. It stands beside the question
    by default: it changes with every question, and on top it would end all prefix reuse. ``index``: a function that
    makes an empty index. ``found`` is the last lookup; ``hits`` are pairs of indices so far, the asking message and
    the found one, for policies that go by use.

    >>> from contextlab.keep import Beside, History
    >>> policy = Beside(Retrieved(cap=150))
    >>> policy.start(room=200)
    >>> texts = ["My budget is 470 euros.", "x" * 60, "How large is the budget?"]
    >>> kept = policy.select(History([Message("user", text) for text in texts], cost=lambda message: len(message.text)))
    >>> kept.indices, kept.footer[0].content.splitlines()[1:]
    (range(2, 3), ['[message 1, user] My budget is 470 euros.'])
    """

    name = "retrieved passages"

    def __init__(self, cap: int = CAP, index=BM25Index, most: int | None = None, place="beside", role: str = "system"):
        if cap < 0:
            raise InputError(f"the cap of what is found is a number of units from 0 on, not {cap}")
        if place not in PLACES:
            raise InputError(f"the place of what is found is one of {', '.join(PLACES)}, not {place!r}")
        self.cap, self.index, self.most, self.place, self.role = cap, index, most, place, role

    def start(self, room: int) -> None:
        self.store = Store(self.index())
        self.hits = []
        self.found = None
        self._room = room

    def read(self, history: History) -> tuple[int, int]:
        stop = len(history)
        self.store.add(history.messages[len(self.store.messages) : stop - 1])
        self._cap = max(0, min(self.cap, self._room - history.units(stop - 1, stop)))  # the question comes first
        return self._cap, self._cap

    def write(self, history: History, first: int) -> tuple[Sequence[Message], Sequence[Message]]:
        stop = len(history)
        query = history[stop - 1].text
        self.found = self.store.find(query, self._cap, history.cost, range(first, stop), self.most, self.role)
        self.hits += [(stop - 1, index) for group in self.found.groups for index in group]
        note = (self.found.message,) if self.found.message else ()
        return (note, ()) if self.place == "top" else ((), note)
