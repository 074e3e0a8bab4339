"""Chats with planted facts: what is said, corrected or contradicted, and asked about near the end.

A planted chat is a scripted chat in which some user messages state a fact. `SimulatedModel` stands for the model that
writes summaries and notes of it: seeded, with rates for what it overlooks and loses.
"""

from __future__ import annotations

from collections import namedtuple
from random import Random

from .chat import Message
from .errors import InputError
from .notes import Update
from .script import scripted_chat
from .summary import Lossy
from .tokens import WordPieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("early", "middle", "corrected", "contradicted")
TURNS = 120
PER_KIND = 2  # facts of each kind in a chat
LOSS = 0.05  # of the simulated summariser: the rate at which a rewrite loses a fact
NOTICE = 0.9  # of the simulated summariser and note taker: the rate at which a fact is noticed at all

# Key, value, the question in the same words, the question in other words. {day} is 10 to 28, {n} has three digits.
SUBJECTS = (
    ("exam", "on {day} May", "When is my exam?", "Which day do I sit the big paper?"),
    ("deadline", "on {day} June", "When is my deadline?", "By which day must it all be handed in?"),
    ("trip", "on {day} October", "When is my trip?", "On which day do we travel?"),
    ("budget", "{n} euros", "What is my budget?", "How much money can I spend?"),
    ("room", "B{n}", "Which room is my room?", "Where do I have to go?"),
    ("locker code", "{n}#", "What is my locker code?", "Which number opens my cupboard?"),
    ("train seat", "{n}-C", "Which train seat is mine?", "Where do I sit on the way there?"),
    ("poster size", "{n} mm", "What is my poster size?", "How wide will the print be?"),
    ("flour order", "{n} grams", "How large is my flour order?", "How much of it goes into the dough?"),
    ("team number", "T{n}", "What is my team number?", "Under which label do we start?"),
    ("library card", "L{n}", "What is my library card?", "Which number do I show to lend books?"),
    ("rehearsal", "on {day} March", "When is my rehearsal?", "Which day do we practise the show?"),
)


class Planted(
    namedtuple("Planted", "kind key value stale said changed asked reference explicit paraphrased sentences")
):
    """A fact planted in a chat.

    ``value`` is the right one when it is asked about in turn ``asked``; ``stale`` is the one that it replaced, or None.
    It was ``said`` first, and ``changed`` (or None), in these turns; ``reference`` is a turn that refers back to the
    turn with the right value, or None. ``explicit``: the user asked to remember it. ``paraphrased``: the question uses
    other words. ``sentences`` are those that state it.
    """

    __slots__ = ()


class PlantedChat(namedtuple("PlantedChat", "seed messages facts")):
    """A chat, instructions first, and the facts planted in it."""

    __slots__ = ()


def planted_chat(seed: int, turns: int = TURNS) -> PlantedChat:
    """Return a seeded chat of `scripted_chat` with two planted facts of each kind of `KINDS`.

    Early facts are said in the first eighth, middle ones around the middle; the others are said in the first quarter
    and changed around the middle, with the word “correction” or without a word. All are asked about in the last
    quarter, about half of them in other words; about half are said with “remember”, and about half are referred back
    to in between. Raises `InputError` when there are fewer than 80 turns.

    >>> chat = planted_chat(seed=1)
    >>> fact = chat.facts[4]
    >>> fact.kind, fact.key, fact.stale, fact.value
    ('corrected', 'train seat', '150-C', '759-C')
    """
    if turns < 80:
        raise InputError(f"the planted facts need at least 80 turns, not {turns}")
    rng = Random(f"planted {seed}")
    kinds = [kind for kind in KINDS for _ in range(PER_KIND)]
    subjects = rng.sample(SUBJECTS, len(kinds))
    numbers, days = rng.sample(range(100, 1000), 2 * len(kinds)), rng.sample(range(10, 29), 2 * len(kinds))
    asks = rng.sample(range(turns * 3 // 4, turns + 1), len(kinds))
    taken = {1, *asks}

    def turn_in(low, high):
        turn = rng.choice([turn for turn in range(int(low * turns) + 1, int(high * turns) + 1) if turn not in taken])
        taken.add(turn)
        return turn

    facts, texts = [], {}  # turn -> what its user message says, after the scripted text or, when asked, in its place
    for kind, (key, form, same, other), asked in zip(kinds, subjects, asks, strict=True):
        first, second = (form.format(n=numbers.pop(), day=days.pop()) for _ in range(2))
        explicit, paraphrased, referred = (rng.random() < 0.5 for _ in range(3))
        said = turn_in(*{"early": (0.01, 0.125), "middle": (0.4, 0.55)}.get(kind, (0.02, 0.25)))
        changed = turn_in(0.35, 0.6) if kind in ("corrected", "contradicted") else None
        reference = turn_in(0.62, 0.74) if referred else None
        sentences = [f"{'Remember that' if explicit else 'By the way,'} my {key} is {first}."]
        if changed:
            sentences.append(f"{'Correction: my' if kind == 'corrected' else 'My'} {key} is {second}.")
            texts[changed] = sentences[1]
        if reference:
            texts[reference] = f"This goes with turn {changed or said}."
        texts[said], texts[asked] = sentences[0], other if paraphrased else same
        value, stale = (second, first) if changed else (first, None)
        facts.append(
            Planted(
                *(kind, key, value, stale, said, changed, asked),
                *(reference, explicit, paraphrased, tuple(sentences)),
            )
        )
    messages = []
    for message in scripted_chat(turns, seed):
        if message.role == "user" and message.turn in texts:
            text = texts[message.turn]
            message = message._replace(content=text if message.turn in asks else f"{message.content} {text}")
        messages.append(message)
    return PlantedChat(seed, messages, tuple(facts))


class SimulatedModel:
    """What stands for a model in the comparison: it notices a planted fact with the rate ``notice``, or never.

    As a summariser it loses each fact with the rate ``loss`` at each rewrite. It sees that a sentence replaces an
    earlier one when the sentence says so; a value that contradicts an earlier one without a word stands beside it.

    >>> chat = planted_chat(seed=1)
    >>> model = SimulatedModel(chat, notice=1)
    >>> [model.facts(message) for message in chat.messages if message.turn == chat.facts[4].changed][0]
    ['Correction: my train seat is 759-C.']
    """

    def __init__(self, chat: PlantedChat, loss: float = LOSS, notice: float = NOTICE):
        self.chat = chat
        self.loss = loss
        draws = Random(f"notice {chat.seed}")
        self._key = {}  # sentence that is noticed -> the key of its fact
        self._linked = {}  # the same, where the model sees that two sentences are about one thing
        for fact in chat.facts:
            for sentence in fact.sentences:
                if draws.random() < notice:
                    self._key[sentence] = fact.key
                    if fact.kind == "corrected":
                        self._linked[sentence] = fact.key

    def facts(self, message: Message) -> list[str]:
        """Return the sentences of a message that are noticed as facts."""
        if message.role != "user":
            return []
        return [sentence for sentence in self._key if message.content.endswith(sentence)]

    def summariser(self) -> Lossy:
        """Return a `Lossy` summariser for `Summarised`."""
        return Lossy(self.loss, self.chat.seed, facts=self.facts, counter=WordPieces(), key=self._linked.get)

    def updates(self, exchange: Sequence[Message]) -> list[Update]:
        """Return the notes on an exchange, for `Noted`: each fact in a section of its key, and a point on the topic."""
        found = []
        for message in exchange:
            found += [Update(self._key[fact], (fact,), "confirmed") for fact in self.facts(message)]
            if message.role == "assistant" and message.topic:
                found.append(Update(message.topic, (" ".join(message.content.split(". ")[1].split()[:12]),)))
        return found
