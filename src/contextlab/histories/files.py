"""Files, folders and archives as members, each a stream of text; nothing is written to disk.

What is unpacked is counted byte by byte while it is read: a size that an archive declares is not believed.
"""

from __future__ import annotations

import codecs
import os
import re
from collections import namedtuple
from contextlib import contextmanager

from .records import HistoryError

__all__ = ["LIMITS", "Limits", "Source"]

CHUNK = 1 << 20  # bytes
PEEK = 512  # bytes that tell what a member of an archive is
ZIP = b"PK\x03\x04"


class Limits(namedtuple("Limits", "total member members depth conversation")):
    """Bounds of what is unpacked: bytes in all, bytes a member, members, archives inside archives; signs a chat."""

    __slots__ = ()


LIMITS = Limits(total=2_000_000_000, member=1_000_000_000, members=10_000, depth=1, conversation=256_000_000)

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Source:
    """What `read` was given: ``members`` lists (name, size, opener), an opener gives a binary stream.

    ``name``: a name for messages. ``packed``: whether there are members to choose from. ``refused``: (name, why) of
    those that are no chats for sure.
    """

    def __init__(self, path, limits: Limits):
        self.limits = limits
        self.unpacked = 0  # bytes so far, of all members
        self.refused = []
        self.packed = False
        self._closers = []
        if hasattr(path, "read"):
            self.name = os.path.basename(str(getattr(path, "name", "") or "the stream"))
            self._file(_Again(path), lambda: _Again(path))
            return
        path = os.fspath(path)
        self.name = os.path.basename(os.path.normpath(path))
        try:
            if os.path.isdir(path):
                self._folder(path)
            else:
                with open(path, "rb") as stream:
                    self._file(stream, lambda: open(path, "rb"))  # noqa: SIM115 - the caller closes it
        except OSError as error:
            raise HistoryError(f"cannot read {path}: {error.strerror or error}") from None

    def rewind(self):
        """Begin to count anew what is unpacked: each pass over the members has the whole limit."""
        self.unpacked = 0

    def close(self):
        for close in self._closers:
            close()

    def _file(self, stream, opener):
        head = _head(stream)
        if head.startswith((ZIP, b"PK\x05\x06")):
            self.packed = True
            archive = opener()
            self._closers.append(archive.close)
            self.members = list(self._zip(archive, "", 0))
            return
        stream.seek(0, os.SEEK_END)
        self.members = [(self.name, stream.tell(), opener)]

    def _folder(self, path):
        self.packed = True
        self.members = []
        with os.scandir(path) as entries:
            names = sorted(entry.name for entry in entries if entry.is_file())
        for name in sorted(names, key=_natural):
            file = os.path.join(path, name)
            with open(file, "rb") as stream:
                why = _no_json(stream.read(PEEK))
            if why:
                self.refused.append((name, why))
                continue
            self.members.append((name, os.path.getsize(file), lambda file=file: open(file, "rb")))  # noqa: SIM115

    def _zip(self, stream, outer, depth):
        from zipfile import BadZipFile, ZipFile

        try:
            archive = ZipFile(stream)
            rows = archive.infolist()
        except (BadZipFile, EOFError, ValueError, NotImplementedError, OverflowError) as error:
            raise HistoryError(
                f"{outer or self.name} is a cut or broken archive ({error}): download it again"
            ) from None
        if len(rows) > self.limits.members:
            raise HistoryError(f"{outer or self.name} has {len(rows):,} members; the limit is {self.limits.members:,}")
        for row in sorted(rows, key=lambda row: _natural(row.filename)):
            name = outer + row.filename
            base = re.split(r"[/\\]", row.filename)[-1]
            if not base or row.filename.startswith("__MACOSX/") or base.startswith("._"):
                continue
            if (row.external_attr >> 16) & 0o170000 == 0o120000:
                self.refused.append((name, "a link, not a file"))
                continue
            if row.flag_bits & 1:
                raise HistoryError(f"{name} is encrypted: unpack the archive with its password first")
            opener = self._opener(archive, row, name)
            try:
                with opener() as member:
                    head = member.read(PEEK)
                    if not head.startswith(ZIP):
                        why = _no_json(head)
                        if why:
                            self.refused.append((name, why))
                        else:
                            yield name, row.file_size, opener
                        continue
                    if depth >= self.limits.depth:
                        self.refused.append((name, "an archive inside an archive inside an archive"))
                        continue
                    from io import BytesIO

                    inner = BytesIO(head + member.read())
            except BadZipFile as error:
                self.refused.append((name, f"damaged ({error})"))
                continue
            yield from self._zip(inner, name + "/", depth + 1)

    def _opener(self, archive, row, name):
        def opener():
            try:
                return _Counted(archive.open(row), self, name)
            except (NotImplementedError, RuntimeError, ValueError) as error:
                raise HistoryError(f"{name} cannot be unpacked: {error}") from None

        return opener

    @contextmanager
    def stream(self, opener, name):
        """Give the bytes of a member, unpacked when it is gzip."""
        with opener() as raw:
            head = _head(raw)
            if head.startswith(b"\x1f\x8b"):
                from gzip import GzipFile

                with GzipFile(fileobj=raw) as inner:
                    yield _Counted(inner, self, name)
            else:
                yield raw


def _natural(name):
    """A key that sorts part 2 before part 10."""
    return [(int(one[:18]), "") if one.isdigit() else (0, one) for one in re.split(r"([0-9]+)", name)]


def _head(stream):
    head = stream.read(16)
    stream.seek(0)
    return head


class _Again:
    """A stream of the caller: read from its start, not closed."""

    def __init__(self, stream):
        self.stream = stream
        stream.seek(0)

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        pass


class _Counted:
    """A stream that is being unpacked: it stops at the limits."""

    def __init__(self, stream, source, name):
        self.stream, self.source, self.name = stream, source, name
        self.got = 0

    def read(self, size=-1):
        limits = self.source.limits
        most = min(limits.member - self.got, limits.total - self.source.unpacked) + 1
        data = self.stream.read(most if size is None or size < 0 else min(size, most))
        self.got += len(data)
        self.source.unpacked += len(data)
        if self.got > limits.member:
            raise HistoryError(f"{self.name} holds more than {limits.member:,} bytes: raise the limit `member`")
        if self.source.unpacked > limits.total:
            raise HistoryError(
                f"{self.source.name} unpacks to more than {limits.total:,} bytes: raise the limit `total`"
            )
        return data

    def seek(self, place):
        """Go back to the start: what was read is not counted twice."""
        self.stream.seek(place)
        self.source.unpacked -= self.got
        self.got = 0

    def tell(self):
        return self.stream.tell()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stream.close()


class Text:
    """The text of a stream of bytes: call it for the next piece, "" at the end.

    ``cut``: why the bytes end before their end, else empty. ``refuse``: what the bytes are, when they are no text.
    """

    def __init__(self, stream, name, progress=None):
        self.stream, self.name, self.progress = stream, name, progress
        self.cut, self.done = "", 0
        head = self._bytes()
        while len(head) < 16 and (more := self._bytes()):
            head += more
        self.refuse = _no_text(head)
        self.encoding, skipped = _encoding(head)
        self.decoder = codecs.getincrementaldecoder(self.encoding)()
        self.next = head[skipped:]
        self.before = skipped  # bytes that were decoded or stepped over
        self.ended = False

    def _bytes(self):
        from zipfile import BadZipFile
        from zlib import error as zlib_error

        try:
            data = self.stream.read(CHUNK)
        except (EOFError, BadZipFile, zlib_error, OSError) as error:
            self.cut = f"the packed bytes of {self.name} end or break too early ({error})"
            data = b""
        self.done += len(data)
        if self.progress and data:
            self.progress(len(data))
        return data

    def __call__(self):
        while not self.ended:
            data, self.next = self.next, None
            if data is None:
                data = self._bytes()
            self.ended = not data
            pending = len(self.decoder.getstate()[0])
            try:
                text = self.decoder.decode(data, final=False)
            except UnicodeDecodeError as error:
                place = self.before - pending + error.start
                raise HistoryError(
                    f"{self.name} is not {self.encoding.upper()} text: byte {place:,} does not fit; save it as UTF-8"
                ) from None
            self.before += len(data)
            if self.ended and pending and not self.cut:
                self.cut = f"{self.name} ends in the middle of a sign"
            if text:
                return text
        return ""


def _encoding(head):
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name, len(mark)
    if len(head) >= 4 and head[0] and not head[1]:
        return ("utf-16-le" if head[2] or head[3] else "utf-32-le"), 0
    if len(head) >= 4 and not head[0] and (head[1] or head[3]):
        return ("utf-16-be" if head[1] else "utf-32-be"), 0
    return "utf-8", 0


def _no_json(head):
    """Return why a member of an archive is not looked at, or an empty text: it may be JSON, packed or not."""
    if head.startswith((b"\x1f\x8b", *(mark for mark, _ in _BOMS))) or (b"\x00" in head[:4] and not _no_text(head)):
        return ""
    return "" if head.lstrip()[:1] in (b"[", b"{", b'"') else _no_text(head) or ("no JSON" if head else "it is empty")


def _no_text(head):
    if head.startswith(b"SQLite format 3"):
        return "the database of an application: use the export of the application instead"
    start = head[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")):
        return "a page in HTML: ask for the export as JSON instead"
    if start.startswith(b"%pdf"):
        return "a PDF: ask for the export as JSON instead"
    if (
        head.startswith((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"OggS", b"ID3", b"PAR1"))
        or b"ftyp" in head[:12]
    ):
        what = "Parquet: write it as JSON Lines" if head.startswith(b"PAR1") else "an image, audio or video"
        return what
    return ""
