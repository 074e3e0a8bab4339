"""Tiered notes: sections by topic, shown in full, by their last points or in one line, under a hard cap.

What is stored stays in full. Tiers are a view: age and status decide how much of a section is shown, so that the detail
comes back when its topic does.
"""

from __future__ import annotations

from collections import namedtuple

from .chat import Message
from .errors import InputError
from .keep import Part
from .pins import PLACES, Rendered, Shortened, one_line
from .script import TOPICS, WORDS, mulberry32
from .summary import Spent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .keep import History

CAP = 1500  # units
RECENT = 10  # a section is shown in full up to this many messages after its last update
OLD = 20  # and by its last points up to this many
LAST_POINTS = 3
STATUSES = ("active", "confirmed", "superseded")
TIERS = ("full", "last points", "one line")
HEAD = "Notes on this chat:"
SLACK = 8  # units that two texts may cost less together than apart


class Section(namedtuple("Section", "topic status points updated superseded_by", defaults=(None,))):
    """One topic: its ``status``, all its ``points`` and the index of the message that updated it last."""

    __slots__ = ()


class Update(namedtuple("Update", "topic points status by", defaults=((), "active", None))):
    """What an extractor found in an exchange: new points on a topic, and its status now, one of `STATUSES`.

    ``by`` is the topic that stands in place of a superseded one.
    """

    __slots__ = ()


class Notes:
    """Sections of notes that are merged, confirmed, superseded, and shown under a cap.

    ``recent`` and ``old`` are ages in messages since the last update: up to ``recent`` a section is shown in full, up
    to ``old`` by its last ``last_points`` points, beyond that, or when confirmed, in one line. A border belongs to the
    fuller tier. ``degrade`` says which section is shown in a lower tier when it does not fit: "first" (the most
    relevant one), "all", or "none"; every other section that does not fit is left out whole, and a smaller one after it
    may still fit.

    >>> notes = Notes()
    >>> notes.update("task list", ["Twenty rows a page.", "Sorted by date."], at=3)
    >>> notes.update("login", ["A link by mail."], at=5)
    >>> rendered = notes.render(cap=200, counter=len)
    >>> print(rendered.text)
    Notes on this chat:
    task list (active):
    - Twenty rows a page.
    - Sorted by date.
    login (active):
    - A link by mail.
    >>> rendered.tokens == len(rendered.text)
    True
    >>> notes.render(cap=70, counter=len).skipped
    (Shortened(topic='task list', tokens=59, why='the cap is full'),)
    """

    def __init__(self, recent: int = RECENT, old: int = OLD, last_points: int = LAST_POINTS, degrade: str = "first"):
        if not 0 <= recent <= old:
            raise InputError(f"ages from {recent} to {old}: recent must be 0 or more, and old not below it")
        if last_points < 1:
            raise InputError(f"the last points are at least 1, not {last_points}")
        if degrade not in ("first", "all", "none"):
            raise InputError(f"degrade is one of first, all, none, not {degrade!r}")
        self.recent, self.old, self.last_points, self.degrade = recent, old, last_points, degrade
        self.at = 0  # index of the newest message that the notes know of
        self._sections = {}  # identity of the topic -> Section, in the order in which they began
        self._counter, self._counted = None, {}

    def copy(self) -> Notes:
        """Return notes with the same settings and sections; what happens to one does not touch the other."""
        notes = Notes(self.recent, self.old, self.last_points, self.degrade)
        notes.at, notes._sections = self.at, dict(self._sections)
        notes._counter, notes._counted = self._counter, self._counted
        return notes

    def __iter__(self) -> Iterator[Section]:
        return iter(list(self._sections.values()))

    def __len__(self) -> int:
        return len(self._sections)

    def __getitem__(self, topic: str) -> Section:
        return self._sections[_identity(topic)]

    def __contains__(self, topic: str) -> bool:
        return _identity(topic) in self._sections

    def update(self, topic: str, points: Iterable[str], at: int) -> None:
        """Add points to a topic, a new or a known one, which is active from then on; a point is stored once.

        ``at`` is the index of the message in the chat. Raises `InputError` for an empty topic and for points that are
        no texts; empty points are left out.
        """
        if isinstance(points, str):
            raise InputError(f"the points of {topic!r} are a list of texts, not one text")
        points = tuple(points)
        if not all(isinstance(point, str) for point in points):
            raise InputError(f"the points of {topic!r} must be texts")
        section = self._known(topic)
        known = {_identity(point) for point in section.points}
        for point in points:
            if point.strip() and _identity(point) not in known:
                known.add(_identity(point))
                section = section._replace(points=(*section.points, point))
        self._store(section._replace(status="active", superseded_by=None), at)

    def confirm(self, topic: str, at: int) -> None:
        """Mark a topic as settled: it is shown in one line until it is updated again. KeyError if it is unknown."""
        self._store(self[topic]._replace(status="confirmed"), at)

    def supersede(self, topic: str, by: str, at: int) -> None:
        """Mark a topic as replaced by another one: it is stored, shown no more, and reported as skipped.

        Raises KeyError if it is unknown, and `InputError` when a topic would replace itself.
        """
        if not isinstance(by, str) or not one_line(by):
            raise InputError(f"what supersedes {topic!r} must be named, got {by!r}")
        if _identity(topic) == _identity(by):
            raise InputError(f"{topic!r} cannot supersede itself")
        self._store(self[topic]._replace(status="superseded", superseded_by=by), at)

    def merge(self, topic: str, into: str, at: int) -> None:
        """Move the points of one topic to another and drop the first; KeyError if it is unknown."""
        if _identity(topic) != _identity(into):
            points = self[topic].points
            self.update(into, points, at)
            del self._sections[_identity(topic)]

    def take(self, update: Update, at: int) -> None:
        """Apply what an extractor found; raises `InputError` when it makes no sense."""
        if update.status not in STATUSES:
            raise InputError(f"the status of a topic is one of {', '.join(STATUSES)}, not {update.status!r}")
        if update.status == "superseded":
            if update.topic in self:
                self.supersede(update.topic, update.by, at)
            return
        if update.points or update.topic not in self:
            self.update(update.topic, update.points, at)
        if update.status == "confirmed":
            self.confirm(update.topic, at)

    def tier(self, topic: str, now: int | None = None) -> str:
        """Return the tier in which a section is shown if it fits: one of `TIERS`, or "superseded"."""
        return self._tier(self[topic], self.at if now is None else now)[0]

    def render(
        self, cap: int, counter: Callable[[str], int], now: int | None = None, relevant: Sequence[str] = ()
    ) -> Rendered:
        """Return the view of the notes that fits ``cap`` units of ``counter``, measured on the whole text.

        Sections are taken by relevance: the topics of ``relevant`` first, in their order, then the one updated last.
        The text has them in the order in which they began, so that it changes as little as it can. ``now`` is the index
        of the newest message (what the notes know by default). ``compressed`` and ``skipped`` say which section is
        shown in short or not at all, the units that it would need, and why. Raises `InputError` for a negative cap.
        """
        if cap < 0:
            raise InputError(f"the cap of the notes is a number of units from 0 on, not {cap}")
        now = self.at if now is None else now
        first = {_identity(topic): place for place, topic in enumerate(relevant)}
        begun = list(self._sections)
        ranked = sorted(
            begun, key=lambda key: (first.get(key, len(first)), -self._sections[key].updated, -begun.index(key))
        )
        count = self._counts(counter)
        chosen, text, tokens, compressed, skipped = {}, "", 0, [], []
        most_relevant = True
        for key in ranked:
            section = self._sections[key]
            tier, why = self._tier(section, now)
            full = count(self._show(section, "full"))
            if tier == "superseded":
                skipped.append(Shortened(section.topic, full, why))
                continue
            may_degrade = self.degrade == "all" or (self.degrade == "first" and most_relevant)
            most_relevant = False
            lower = TIERS[TIERS.index(tier) :] if may_degrade else (tier,)
            for shown in lower:
                view = self._show(section, shown)
                alone = count(view)
                if tokens + alone - count("") > cap + SLACK:
                    continue  # far too large: the whole need not be counted
                longer = {**chosen, key: view}
                whole = "\n".join([HEAD, *(longer[other] for other in begun if other in longer)])
                units = counter(whole)
                if units <= cap:
                    chosen, text, tokens = longer, whole, units
                    if shown != "full":
                        why = why if shown == tier else "the cap is full"
                        compressed.append(Shortened(section.topic, full, f"{why}: {shown}"))
                    break
            else:
                skipped.append(Shortened(section.topic, alone, "the cap is full"))
        return Rendered(text, tokens, tuple(compressed), tuple(skipped))

    def cut_down(self, now: int | None = None) -> Notes:
        """Return notes that store no more than is shown now: the form that compresses what it keeps, for comparison.

        What it drops cannot come back when the topic does.

        >>> notes = Notes()
        >>> notes.update("login", ["Why: the mails are late.", "A code by phone."], at=1)
        >>> [len(kept["login"].points) for kept in (notes, notes.cut_down(now=40))]
        [2, 1]
        """
        notes = self.copy()
        for key, section in self._sections.items():
            tier = self._tier(section, self.at if now is None else now)[0]
            points = {"one line": section.points[-1:], "last points": section.points[-self.last_points :]}
            notes._sections[key] = section._replace(points=points.get(tier, section.points))
        return notes

    def message(self, cap: int, counter: Callable[[str], int], role: str = "system", **options) -> Message | None:
        """Return the rendered notes as a message, or None when nothing fits."""
        rendered = self.render(cap, counter, **options)
        return Message(role, rendered.text) if rendered.text else None

    def export(self) -> list[dict]:
        """Return all sections in full as plain dicts, ready for JSON."""
        return [{**section._asdict(), "points": list(section.points)} for section in self._sections.values()]

    def _counts(self, counter):
        """Return a counter of single sections that counts each text once, as long as it is asked for the same one."""
        if self._counter is not counter or len(self._counted) > 5000:
            self._counter, self._counted = counter, {}
        counted = self._counted

        def count(text):
            if text not in counted:
                counted[text] = counter(text)
            return counted[text]

        return count

    def _known(self, topic):
        if not isinstance(topic, str) or not one_line(topic):
            raise InputError(f"a topic is a text that is not empty, not {topic!r}")
        return self._sections.get(_identity(topic), Section(topic, "active", (), 0))

    def _store(self, section, at):
        if at < 0:
            raise InputError(f"the index of a message is 0 or more, not {at}")
        self.at = max(self.at, at)
        self._sections[_identity(section.topic)] = section._replace(updated=max(section.updated, at))

    def _tier(self, section, now):
        age = max(0, now - section.updated)
        if section.status == "superseded":
            return "superseded", f"superseded by {one_line(section.superseded_by)}"
        if section.status == "confirmed":
            return "one line", "confirmed"
        if age > self.old:
            return "one line", f"{age} messages old"
        if age > self.recent and len(section.points) > self.last_points:
            return "last points", f"{age} messages old"
        return "full", ""

    def _show(self, section, tier):
        topic = one_line(section.topic)
        points = [one_line(point) for point in section.points]
        if tier == "one line":
            last = f": {points[-1]}" if points else ""
            return f"{topic} ({section.status}, {len(points)} point{'s' * (len(points) != 1)}){last}"
        if tier == "last points" and len(points) > self.last_points:
            points = points[-self.last_points :]
        return "\n".join([f"{topic} ({section.status}):", *(f"- {point}" for point in points)])


def _identity(text):
    return " ".join(text.casefold().split())


def marked_points(messages: Sequence[Message]) -> list[Update]:
    """Return the points of an exchange whose messages mark them: the extractor of the scripted session.

    Lines that begin with “- ” in a reply are points on the reply's topic. A line “Settled.” confirms the topic, a line
    “This replaces X.” supersedes the topic X.

    >>> marked_points([Message("assistant", "Good.\\n- Twenty rows a page.\\nSettled.", topic="task list")])
    [Update(topic='task list', points=('Twenty rows a page.',), status='confirmed', by=None)]
    """
    found = []
    for message in messages:
        if message.role != "assistant" or not message.topic:
            continue
        lines = message.text.split("\n")
        points = tuple(line[2:] for line in lines if line.startswith("- "))
        if points or "Settled." in lines:
            found.append(Update(message.topic, points, "confirmed" if "Settled." in lines else "active"))
        for line in lines:
            if line.startswith("This replaces ") and line.endswith("."):
                found.append(Update(line[14:-1], (), "superseded", message.topic))
    return found


class Noted(Part):
    """Tiered notes as a part of a request, for `Beside`: after each exchange the notes are updated by ``extract``.

    ``extract`` takes the messages of an exchange (a user message and what follows it) and returns a list of `Update`;
    when it raises or returns anything else, the notes stay as they are and `failures` says so. ``cap``: the most that
    the message with the notes may cost, in the units of the rule; only what it uses is taken off the room. ``notes``
    is where every replay begins: it is copied. `spent` tells what extracting cost so far, `rendered` is the last view.

    >>> from contextlab.keep import Beside, History
    >>> policy = Beside(Noted(cap=100))
    >>> policy.start(room=300)
    >>> said = [Message("user", "Rows?"), Message("assistant", "- Twenty rows.", topic="task list")]
    >>> history = History([*said, Message("user", "Good.")], cost=lambda message: len(message.text))
    >>> kept = policy.select(history)
    >>> kept.header[0].content
    'Notes on this chat:\\ntask list (active):\\n- Twenty rows.'
    """

    name = "tiered notes"

    def __init__(self, extract=marked_points, cap: int = CAP, place: str = "top", role: str = "system", notes=None):
        if cap < 0:
            raise InputError(f"the cap of the notes is a number of units from 0 on, not {cap}")
        if place not in PLACES:
            raise InputError(f"the place of the notes is one of {', '.join(PLACES)}, not {place!r}")
        self.extract, self.cap, self.place, self.role = extract, cap, place, role
        self.given = Notes() if notes is None else notes

    def start(self, room: int) -> None:
        self.notes = self.given.copy()
        self.rendered = Rendered("", 0, (), ())
        self.failures = []
        self._cap = min(self.cap, room)
        self._read = 0
        self._note = ()
        self._cost = Spent(0, 0, 0)
        self._counter = None

    @property
    def spent(self) -> Spent:
        """What extracting cost so far, in the units of the rule, message overheads left out of what is written."""
        return self._cost

    def read(self, history: History) -> tuple[int, int]:
        stop = len(history) - 1  # the current question has no reply yet
        while self._read < stop:
            end = self._read + 1
            while end < stop and history[end].role != "user":
                end += 1
            self._exchange(history, end)
            self._read = end
        if self._counter is None:
            role, cost = self.role, history.cost
            self._counter = lambda text: cost(Message(role, text))
        self.rendered = self.notes.render(self._cap, self._counter, now=stop)
        if not self._note or self._note[0].content != self.rendered.text:
            self._note = (Message(self.role, self.rendered.text),) if self.rendered.text else ()
        return self.rendered.tokens, self.rendered.tokens

    def _exchange(self, history, end):
        exchange = history.messages[self._read : end]
        try:
            updates = list(self.extract(exchange))
            if not all(isinstance(update, Update) for update in updates):
                raise TypeError(f"expected a list of Update, got {updates!r}")
            trial = self.notes.copy()
            for update in updates:
                trial.take(update, end - 1)
        except Exception as error:  # whatever a model behind it may raise
            self.failures.append((end - 1, f"{type(error).__name__}: {error}"))
            updates = []
        else:
            self.notes = trial
        written = sum(history.cost(Message(self.role, "\n".join([update.topic, *update.points]))) for update in updates)
        calls, read, before, _ = self._cost
        self._cost = Spent(calls + 1, read + history.units(self._read, end), before + written)

    def write(self, history: History, first: int) -> tuple[Sequence[Message], Sequence[Message]]:
        return (self._note, ()) if self.place == "top" else ((), self._note)


SESSION_SEED = 17

# What the scripted session says once, and the topic it belongs to; each shows one of the losses of tiered notes.
SESSION_FACTS = {
    "tangent": "a poster in blue and yellow",  # a tangent that nobody confirms
    "reason": "because the school network is slow",  # the reason of a decision that is confirmed
    "debugging": "error E4217 in line 88",  # said once at the start of a long hunt for an error, never noted
}


def scripted_session(messages: int = 56, seed: int = SESSION_SEED) -> list[Message]:
    """Return a scripted working session over many topics: the instructions, then a user message and a reply a turn.

    Its sizes and its seed are chosen, in word pieces, so that the ranges of a published post on tiered notes
    (2026-02-26) can be met: instructions of about 1,500, messages of about 450 on average, about 110 of points a turn.
    That they are met is therefore no finding. Turns stay on a topic for some time; a topic is confirmed or left open,
    and may come back.
    Replies mark their points as `marked_points` reads them. The texts of `SESSION_FACTS` are said once each, in the
    turns 3 (reason), 6 (tangent) and 14 (debugging). ``messages`` counts no instructions; raises `InputError` when it
    is odd or below 2.

    >>> session = scripted_session()
    >>> len(session), session[1].topic
    (57, 'login screen')
    """
    if messages < 2 or messages % 2:
        raise InputError(
            f"a session has a user message and a reply a turn, so an even number of messages, not {messages}"
        )
    draw = mulberry32(seed).__next__

    def words(least, most):
        picked = [WORDS[int(draw() * len(WORDS))] for _ in range(least + int(draw() * (most - least + 1)))]
        return " ".join(picked).capitalize() + "."

    def text(size):
        sentences, length = [], 0
        while length < size:
            sentences.append(words(8, 16))
            length += sentences[-1].count(" ") + 2
        return " ".join(sentences)

    names = iter(
        [*TOPICS, *(f"{topic}, {part}" for part in ("errors", "speed", "tests", "wording") for topic in TOPICS)]
    )
    chat = [Message("system", "You help a student team to plan and build an app. " + text(1440))]
    left, topic, open_topics, settled, replaced = 0, None, [], [], None
    for turn in range(1, messages // 2 + 1):
        if turn in (6, 7):
            topic, ends = "poster for the fair", False
        elif 14 <= turn <= 22:
            topic, ends = "login loop", turn == 22
        else:
            if left == 0 or turn in (8, 23):
                back = open_topics + settled
                replaced = None
                if turn > 8 and back and draw() < 0.2:
                    topic = back[int(draw() * len(back))]
                else:
                    topic = next(names, f"topic {turn}")
                    if turn > 8 and settled and draw() < 0.15:
                        replaced = settled.pop()
                left = 3 + int(draw() * 3)
            left -= 1
            ends = left == 0 and (turn <= 5 or draw() < 0.7)
            if left == 0:
                for names_of in (open_topics, settled):
                    if topic in names_of:
                        names_of.remove(topic)
                (settled if ends else open_topics).append(topic)
        question = f"Now {topic}. {text(100)}"
        points = [words(26, 36) for _ in range(3)]
        if turn == 3:
            points[0] = f"We ask the server once a minute, {SESSION_FACTS['reason']}."
        if turn == 6:
            points[0] = f"One wish was {SESSION_FACTS['tangent']}."
        if turn == 14:
            question += f" It stops with {SESSION_FACTS['debugging']}."
        reply = [f"On {topic}. {text(660)}", *(f"- {point}" for point in points)]
        if ends:
            reply.append("Settled.")
        if replaced:
            reply.append(f"This replaces {replaced}.")
            replaced = None
        chat.append(Message("user", question, turn=turn, topic=topic))
        chat.append(Message("assistant", "\n".join(reply), turn=turn, topic=topic))
    return chat
