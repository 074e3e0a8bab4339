"""What was read, and what was not and why: numbers that add up."""

from __future__ import annotations

from collections import namedtuple

from .records import printable

__all__ = ["Member", "Report", "Skipped", "Tally"]

LISTED = 100  # places that are listed one by one; further ones are only counted
OBJECTS = ("conversations", "empty", "broken", "duplicates", "not_chats", "without_branch")
MESSAGES = ("shown", "hidden", "empty_messages", "unreadable", "repeated")

Skipped = namedtuple("Skipped", "source reason")
Member = namedtuple("Member", "name what")


class Report(
    namedtuple(
        "Report",
        (
            "source",
            "format",
            "objects",
            *OBJECTS,
            "messages",
            *MESSAGES,
            "branches",
            "bytes_read",
            "total_bytes",
            "skipped",
            "skipped_more",
            "members",
            "members_more",
            "cleaned",
            "kinds",
            "warnings",
            "truncated",
        ),
    )
):
    """How much of a file was read.

    ``objects`` = ``conversations`` + ``empty`` + ``broken`` + ``duplicates`` + ``not_chats`` + ``without_branch``.
    ``messages`` (on the branches that were read) = ``shown`` + ``hidden`` + ``empty_messages`` + ``unreadable`` +
    ``repeated``. ``skipped``: the first places that were not read, with the reason; ``skipped_more``: how many further
    ones. ``members``: the files of an archive or folder and what they are. ``cleaned``, ``kinds``, ``warnings``: what
    -> how often. ``truncated``: where the file breaks off, else empty.
    """

    __slots__ = ()

    def as_dict(self) -> dict:
        """Return the report as dicts and lists, ready for JSON."""
        rows = self._asdict()
        for name in ("skipped", "members"):
            rows[name] = [one._asdict() for one in rows[name]]
        return rows

    def lines(self) -> list[str]:
        """Return the report as short lines of text."""
        lines = [_sum("objects", self.objects, self, OBJECTS), _sum("messages", self.messages, self, MESSAGES)]
        if self.branches > self.conversations:
            lines.append(f"branches: {self.branches} in {self.conversations} conversations, one of each is read")
        for head, rows in (("kinds", self.kinds), ("cleaned", self.cleaned)):
            if rows:
                lines.append(f"{head}: " + ", ".join(f"{what} {n}" for what, n in sorted(rows.items())))
        lines += [f"{n} × {text}" if n > 1 else text for text, n in self.warnings.items()]
        lines += [f"skipped {source}: {reason}" for source, reason in self.skipped]
        if self.skipped_more:
            lines.append(f"skipped: {self.skipped_more} further ones")
        if self.truncated:
            lines.append(self.truncated)
        return lines


def _sum(name, total, report, names):
    parts = [f"{getattr(report, one)} {one.replace('_', ' ')}" for one in names if getattr(report, one)]
    return f"{name}: {total}" + (f" = {' + '.join(parts)}" if parts else "")


class Tally:
    """Counts while a file is read; `report` gives what it knows so far."""

    def __init__(self, source: str):
        self.source = source
        self.format = None
        self.counts = dict.fromkeys(OBJECTS + MESSAGES, 0)
        self.branches = self.bytes_read = self.total_bytes = 0
        self.skipped, self.skipped_more = [], 0
        self.members, self.members_more = [], 0
        self.cleaned, self.kinds, self.warnings = {}, {}, {}
        self.truncated = ""

    def skip(self, what: str, source: str, reason: str) -> None:
        """Count an object that is no conversation: ``what`` is one of `OBJECTS`."""
        self.counts[what] += 1
        if len(self.skipped) < LISTED:
            self.skipped.append(Skipped(printable(source), printable(reason)))
        else:
            self.skipped_more += 1

    def member(self, name: str, what: str) -> None:
        if len(self.members) < LISTED:
            self.members.append(Member(printable(name), printable(what)))
        else:
            self.members_more += 1

    def warn(self, text: str) -> None:
        if text in self.warnings or len(self.warnings) < LISTED:
            self.warnings[text] = self.warnings.get(text, 0) + 1
        else:
            self.warnings["further warnings"] = self.warnings.get("further warnings", 0) + 1

    def report(self) -> Report:
        """Return the numbers so far."""
        counts = self.counts
        return Report(
            source=self.source,
            format=self.format,
            objects=sum(counts[name] for name in OBJECTS),
            messages=sum(counts[name] for name in MESSAGES),
            branches=self.branches,
            bytes_read=self.bytes_read,
            total_bytes=max(self.total_bytes, self.bytes_read),  # of gzip the size is not known before
            skipped=tuple(self.skipped),
            skipped_more=self.skipped_more,
            members=tuple(self.members),
            members_more=self.members_more,
            cleaned=dict(self.cleaned),
            kinds=dict(self.kinds),
            warnings=dict(self.warnings),
            truncated=self.truncated,
            **counts,
        )
