"""Read a file of chats: find its format, then give one conversation after the other and count what was not read."""

from __future__ import annotations

from .decoding import Broken, Cut, Window, elements
from .draft import Draft, Skip, as_dict, seconds
from .files import LIMITS, Limits, Source, Text
from .formats import FORMATS, seen
from .joining import joined
from .probing import PLAIN, probe_member, whole_text
from .records import Conversation, HistoryError
from .report import Report, Tally
from .transcripts import split_transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Reading", "newest", "read"]

WITH_IDS = ("chatgpt", "claude_export", "openwebui", "librechat")  # an id is never used twice


def read(
    path,
    *,
    format: str | None = None,
    labels: dict[str, str] | None = None,
    branch: int = 0,
    join_pieces: bool = False,
    group_by_gap: float | None = None,
    limits: Limits = LIMITS,
    progress: Callable[[int, int], None] | None = None,
) -> Reading:
    """Return the conversations of a file, an archive or a folder: an iterator that holds one of them at a time.

    Args:
        path: a path, or a binary file object that can seek.
        format: a name of `FORMATS`; None finds it by structure.
        labels: for plain transcripts, further names of speakers: label -> role.
        branch: which branch of each conversation: 0 is the one that was shown last, 1, 2, … are the others.
        join_pieces: of ShareGPT's pieces with the ids x_0, x_1, … in a row make one conversation x.
        group_by_gap: activities of Gemini that name no chat and are at most so many minutes apart make one; a guess.
        limits: bounds of what is unpacked, see `LIMITS`.
        progress: called with the bytes done and the bytes in all.

    Raises:
        HistoryError: no format claims the file, or several do (its ``candidates``); it holds no conversation; its
            bytes are no text; an archive is broken, encrypted or over a limit. While the conversations are taken, too.

    >>> import io
    >>> reading = read(io.BytesIO(b'[{"role": "user", "content": "Hello"}]'))
    >>> [record.text for conversation in reading for record in conversation.messages], reading.format
    (['Hello'], 'messages')
    """
    return Reading(path, format, labels, branch, (join_pieces, group_by_gap), limits, progress)


def newest(path, **options) -> tuple[Conversation, Report]:
    """Return the conversation that was updated (else created) last, and the report; options as for `read`."""
    best, latest = None, None
    reading = read(path, **options)
    for conversation in reading:
        time = conversation.updated if conversation.updated is not None else conversation.created
        time = float("-inf") if time is None else time
        if best is None or time >= latest:
            best, latest = conversation, time
    return best, reading.report


class Reading:
    """An iterator over the conversations of a file. ``format``: its name; ``report``: the numbers so far."""

    def __init__(self, path, format, labels, branch, joins, limits, progress):
        if format is not None and format not in FORMATS:
            raise HistoryError(f"there is no format {format!r}; there are {', '.join(FORMATS)}", tuple(FORMATS))
        if not isinstance(branch, int) or branch < 0:
            raise HistoryError(f"branch is {branch!r}; expected 0, 1, 2, …")
        self.branch, self.labels, self.limits = branch, labels, limits
        self._joins = joins
        self._source = Source(path, limits)
        self._tally = Tally(self._source.name)
        self._progress = progress
        self._total = sum(size for _, size, _ in self._source.members)
        self._tally.total_bytes = self._total
        try:
            self._begin(format)
        except BaseException:
            self._source.close()
            raise
        self._found = self._conversations()

    @property
    def format(self) -> str:
        return self._tally.format

    @property
    def report(self) -> Report:
        return self._tally.report()

    def __iter__(self):
        return self

    def __next__(self) -> Conversation:
        return next(self._found)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        """Close the file; the iterator ends."""
        self._found.close()
        self._source.close()

    def _count(self, size):
        self._tally.bytes_read += size
        if self._progress:
            self._progress(self._tally.bytes_read, max(self._total, self._tally.bytes_read))

    def _begin(self, format):
        source, tally = self._source, self._tally
        for name, why in source.refused:
            tally.member(name, why)
        probes = []
        for name, _, opener in source.members:
            probe = probe_member(source, name, opener, format, self.labels, source.packed)
            probes.append(probe)
        formats = []
        for probe in probes:
            formats += [one for one in probe.formats if one not in formats]
        signed = [one for one in formats if one not in PLAIN]
        if len(signed) == 1 and all(_same_reader(signed[0], one) for one in formats):
            formats = signed
        if len(formats) > 1:
            places = "; ".join(
                f"{one} ({', '.join([probe.name for probe in probes if one in probe.formats][:3])})" for one in formats
            )
            raise HistoryError(
                f"{source.name} can be read as {places}: choose one with format=", tuple(formats), tally.report()
            )
        if not formats:
            if len(probes) == 1 and not source.packed:
                raise HistoryError(f"{source.name}: {probes[0].why}", (), tally.report())
            for probe in probes:
                tally.member(probe.name, probe.why)
            listed = "; ".join(f"{one.name}: {one.what}" for one in tally.members[:5]) or "it is empty"
            raise HistoryError(f"{source.name} holds no chat that is known: {listed}", (), tally.report())
        tally.format = formats[0]
        self._parts = []
        for probe in probes:
            if probe.formats:
                self._parts.append(probe)
            if source.packed:
                tally.member(probe.name, ", ".join(probe.formats) or probe.why)
        for probe, (_, size, _) in zip(probes, source.members, strict=True):
            probe.size = size
        self._total = sum(probe.size for probe in self._parts)
        tally.total_bytes = self._total

    def _conversations(self):
        tally = self._tally
        try:
            latest = None
            if len(self._parts) > 1 and tally.format in WITH_IDS:
                latest = self._latest()
            self._source.rewind()
            for number, part in enumerate(self._parts):
                for index, (where, element) in enumerate(self._elements(part, self._count)):
                    if latest is not None and latest.get(_key(element), (0, number, index))[1:] != (number, index):
                        tally.skip("duplicates", where, "the same conversation stands elsewhere, as new or newer")
                        continue
                    yield from self._read(where, element)
            if not tally.counts["conversations"]:
                raise HistoryError(
                    f"{tally.source} is {FORMATS[tally.format].what}, but holds no conversation that can be read: "
                    f"{_reasons(tally)}",
                    (),
                    tally.report(),
                )
        except HistoryError as error:
            error.report = error.report or tally.report()
            raise
        finally:
            self._source.close()

    def _latest(self):
        """Read all parts once: which conversation of each id is the one to keep. Holds one number a conversation."""
        latest = {}
        self._total *= 2
        self._tally.total_bytes = self._total
        self._source.rewind()
        for number, part in enumerate(self._parts):
            for index, (_, element) in enumerate(self._elements(part, self._count, quiet=True)):
                key = _key(element)
                if key is None:
                    continue
                element = as_dict(element)
                time = seconds(element.get("update_time", element.get("updated_at")))
                time = float("-inf") if time is None else time
                if key not in latest or time > latest[key][0]:
                    latest[key] = (time, number, index)
        return latest

    def _elements(self, part, count, quiet=False):
        """Yield (where, element) of a member; what cannot be decoded is counted, unless ``quiet``."""
        tally = self._tally
        index = 0
        with self._source.stream(part.opener, part.name) as stream:
            text = Text(stream, part.name, count)
            if part.transcript:
                yield part.name, split_transcript(whole_text(text), self.labels)
                return
            shape = {}
            found = elements(Window(text, self.limits.conversation), shape)
            found = joined(found, part.bare, tally.format, *self._joins)
            try:
                for name, element in found:
                    where = f"{part.name}{name if name[:1] in ('[', '.', '') else ': ' + name}"
                    if isinstance(element, Broken):
                        if not quiet:
                            tally.skip("broken", where, str(element))
                        continue
                    index += 1
                    yield where, element
            except Broken as error:
                if not quiet:
                    self._break(part, index, error, text)
                return
            if text.cut and not quiet:
                tally.warn(text.cut)

    def _break(self, part, index, error, text):
        tally = self._tally
        what = "ends in the middle of" if isinstance(error, Cut) else f"is broken ({error}) in"
        place = f"{what} element {index} (counted from 0)"
        tally.truncated = f"{part.name} {place}; " + (text.cut or "what stands before it is read")
        tally.skip("broken", f"{part.name}[{index}]", "cut" if isinstance(error, Cut) else str(error))

    def _read(self, where, element):
        tally = self._tally
        reader = FORMATS[tally.format]
        for name, one in reader.split(element) if reader.split else (("", element),):
            draft = Draft(tally.format, where + name, self.branch)
            try:
                if not isinstance(one, dict | list):
                    raise Skip("not_chats", seen(one))
                reader.read(one, draft)
                conversation = draft.conversation()
            except Skip as skip:
                tally.skip(skip.what, draft.source, skip.reason)
                continue
            tally.counts["conversations"] += 1
            tally.branches += draft.branches
            for name_, number in draft.counts.items():
                tally.counts[name_] += number
            for kind, number in draft.kinds.items():
                if kind in tally.kinds or len(tally.kinds) < 100:
                    tally.kinds[kind] = tally.kinds.get(kind, 0) + number
            for kind, number in draft.cleaned.items():
                tally.cleaned[kind] = tally.cleaned.get(kind, 0) + number
            for text in draft.warnings:
                tally.warn(text)
            yield conversation


def _same_reader(one, other):
    return FORMATS[one].read is FORMATS[other].read


def _reasons(tally):
    reasons = {}
    for one in tally.skipped:
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    told = ", ".join(f"{n} × {reason}" for reason, n in list(reasons.items())[:4])
    return told or tally.truncated or "the list is empty"


def _key(element):
    """The id of a conversation, as one number; None when it has none."""
    element = as_dict(element)
    for name in ("conversation_id", "uuid", "id", "conversationId"):
        if isinstance(element.get(name), str) and element[name]:
            return hash(element[name])
    return None
