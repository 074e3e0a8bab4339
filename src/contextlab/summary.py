"""Rolling summaries: messages that leave are folded into a note of bounded size.

This is the first form: a rule writes the summary (the facts, then the topics), so that it costs nothing to make and
comes out the same on every machine. It tells what a summary displaces; it does not tell how well a model summarises.
"""

from __future__ import annotations

from .chat import Message
from .keep import ReservedFit
from .pins import name_fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .keep import History

RESERVE = 200  # units set aside for the summary, its message overhead included


class RollingSummary(ReservedFit):
    """Keep-newest beside a summary of the messages that left, in a fixed reserve of units.

    The summary is updated from its own content and the messages that have left since: first the fact that
    ``extract`` found in them (a later one replaces it; None for ``extract`` writes no facts), then each new topic as
    long as the whole summary fits ``reserve``. Until a message has left there is no summary, yet the reserve stays.

    >>> from contextlab.keep import History
    >>> policy = RollingSummary(reserve=100)
    >>> policy.start(room=150)
    >>> said = [Message("user", "My name is Ada Moreno.", topic="introductions"), Message("user", "x" * 40)]
    >>> policy.select(History(said, cost=lambda message: len(message.text))).header[0].content
    'Summary of 1 earlier messages: user name: Ada Moreno. Topics so far: introductions.'
    """

    part = "summary reserve"

    def __init__(self, reserve: int = RESERVE, extract=name_fact):
        super().__init__(reserve)
        self.extract = extract

    def start(self, room: int) -> None:
        super().start(room)
        self._covered = 0  # messages that have left and are in the summary
        self._fact = None
        self._topics = []
        self._header = ()

    def header(self, history: History, start: int) -> tuple[Message, ...]:
        if start > self._covered:
            topics = []
            for index in range(self._covered, start):
                message = history[index]
                if self.extract is not None and message.role == "user":
                    self._fact = self.extract(message.text) or self._fact
                if message.topic is not None and message.topic not in self._topics and message.topic not in topics:
                    topics.append(message.topic)
            self._covered = start
            self._header = (self._render(),)
            for topic in topics:
                self._topics.append(topic)
                longer = self._render()
                if history.cost(longer) > self.reserve:
                    self._topics.pop()
                else:
                    self._header = (longer,)
        return self._header

    def _render(self) -> Message:
        text = f"Summary of {self._covered} earlier messages:"
        if self._fact is not None:
            text += f" {self._fact}"
        if self._topics:
            text += f" Topics so far: {', '.join(self._topics)}."
        return Message("system", text)
