"""A text as the pieces that a counter cuts it into, on the page, in any script."""

from __future__ import annotations

from collections import namedtuple

from .._characters import is_boundary
from ..errors import InputError
from .svg import CAPTION_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FEW = 3  # up to so many groups say their number of pieces in words; more carry the number alone

# Tints and lines of the page's own ink: colours are for roles. No padding, which would break joined scripts apart.
_RULES = (
    ".cl-pieces .cl-text{margin:0;max-width:40rem;font-size:1.1em;line-height:2.1;white-space:pre-wrap;"
    "overflow-wrap:anywhere;text-align:start}"
    ".cl-pieces .cl-text span{background:color-mix(in srgb,currentColor 7%,transparent);"
    "border-bottom:1px dotted;padding-block:.15em}"
    ".cl-pieces .cl-text span.cl-odd{background:color-mix(in srgb,currentColor 19%,transparent);"
    "border-bottom:2px solid}"
    ".cl-pieces .cl-text sup{font:600 .62em/1 var(--sans,system-ui,sans-serif);white-space:nowrap;"
    "margin-inline:.15em}"
    ".cl-pieces .visually-hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);border:0}"
)


class Pieces(namedtuple("Pieces", "body alt caption lang dir")):
    """A text in pieces: the HTML of its paragraph, what it shows in words, caption, language and direction."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        caption = f"<figcaption>{_escape(self.caption)}</figcaption>" if self.caption else ""
        return (
            f'<figure class="cl-figure cl-pieces" role="group" aria-label="{_escape(self.alt)}">'
            f'<p class="cl-text" lang="{_escape(self.lang)}" dir="{self.dir}">{self.body}</p>'
            f"{caption}<style>{_RULES}</style></figure>"
        )

    def __repr__(self) -> str:
        return f"Pieces: {self.alt}"

    __str__ = __repr__


def piece_groups(pieces: Sequence[bytes | str]) -> list[tuple[str, int]]:
    """Return the text of the pieces in groups that begin and end between characters, each with its number of pieces.

    A piece that is whole characters is a group of one. What a reader takes for one character is never divided: the
    pieces that share it are one group. From the first bytes that are no character on, there is one group; each
    broken part of it is shown as U+FFFD.

    >>> piece_groups([b"caf", b"\\xc3", b"\\xa9"])
    [('caf', 1), ('é', 2)]
    """
    parts = [piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass") for piece in pieces]
    whole = b"".join(parts)
    try:
        text, rest = whole.decode(), b""
    except UnicodeDecodeError as error:
        text, rest = whole[: error.start].decode(), whole[error.start :]
    starts = {}  # byte offset -> index of the character that begins there, where the text may be cut
    at = 0
    for index, char in enumerate(text):
        if is_boundary(text, index):
            starts[at] = index
        at += len(char.encode())
    starts[at] = len(text)
    groups, begin, count, offset = [], 0, 0, 0
    for part in parts:
        count += 1
        offset += len(part)
        end = starts.get(offset)
        if end is not None and end > begin:
            groups.append((text[begin:end], count))
            begin, count = end, 0
    if count:
        groups.append((text[begin:] + rest.decode(errors="replace"), count))
    return groups


def pieces_strip(
    pieces: Sequence[bytes | str],
    *,
    lang: str = "en",
    dir: str = "ltr",
    unit: str = "tokens",
    alt: str = "",
    caption: str | None = None,
) -> Pieces:
    """Return a text as the pieces that a counter made of it: tinted and underlined in turn.

    Pieces that are only parts of a character stand together; the character is shown once, with their number.

    Args:
        pieces: from `BPE.pieces` (bytes) or `WordPieces.pieces` (text).
        lang: language of the text, a BCP 47 tag such as "hi".
        dir: direction of the text, "ltr" or "rtl".
        unit: what a piece is called, in the plural.
        alt: what one would see; by default the number of pieces and how many stand in groups.
        caption: at most 12 words; by default the number of pieces.

    Raises:
        InputError: no pieces, no such direction, or a long caption.

    >>> pieces_strip([b"2", b" +", b" ", b"2"])
    Pieces: A text in 4 tokens.
    """
    if not pieces:
        raise InputError("there is nothing to show: the list of pieces is empty")
    if dir not in ("ltr", "rtl"):
        raise InputError(f'dir must be "ltr" or "rtl", got {dir!r}')
    groups = piece_groups(pieces)
    shared = sum(count > 1 for _, count in groups)
    body = []
    for i, (text, count) in enumerate(groups):
        mark = ""
        if count > 1:
            words = f" {unit}" if shared <= FEW else f'<i class="visually-hidden"> {unit}</i>'
            mark = f'<sup lang="en" dir="ltr">{count}{words}</sup>'
        shown = _escape(text).replace("\n", "↵\n")
        odd = ' class="cl-odd"' if i % 2 else ""
        body.append(f"<span{odd}>{shown}{mark}</span>")
    number = f"{len(pieces):,} {unit if len(pieces) != 1 else unit.removesuffix('s')}"
    if not alt:
        alt = f"A text in {number}." + (
            f" {shared} group{'s' * (shared != 1)} of characters share{'s' * (shared == 1)} {unit}." if shared else ""
        )
    if caption is None:
        caption = f"{number}."
        if shared > FEW:
            caption += f" A small number: {unit} that share a group."
    if len(caption.split()) > CAPTION_WORDS:
        raise InputError(f"a caption has at most {CAPTION_WORDS} words, not {len(caption.split())}: {caption!r}")
    return Pieces("".join(body), " ".join(alt.split()), caption, lang, dir)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
