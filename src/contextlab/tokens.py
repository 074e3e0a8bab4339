"""Counters of text, from a rule of thumb to the real vocabularies, and a cut that respects them."""

from __future__ import annotations

import re
from _thread import allocate_lock

from .errors import InputError, MissingDependency

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["BPE", "COUNTERS", "CharsPerToken", "TokenizerFile", "WordPieces", "cut", "get_counter"]

# White space is this list and nothing else, so that a counter in JavaScript (whose \s it is) agrees:
# tab, line feed, vertical tab, form feed, carriage return, space, and the Unicode spaces.
WHITE_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
WHITE_SPACE += "\u2028\u2029\u202f\u205f\u3000\ufeff"

# The white-space characters need no escape inside a character class: none of them is special there.
_PIECE = re.compile(f" ?[A-Za-z]+| ?[0-9]{{1,3}}| ?[^{WHITE_SPACE}A-Za-z0-9]+|[{WHITE_SPACE}]+")


class _PieceCosts(dict):
    """The units of the pieces seen so far; looking one up costs less than counting its letters."""

    def __missing__(self, piece: str) -> int:
        letters = len(piece.lstrip(" ")) if piece[-1].isascii() and piece[-1].isalpha() else 0
        units = 1 if letters <= 7 else -(-letters // 4)
        if len(piece) <= 32 and len(self) < 50_000:  # bounded: about 5 MB at most
            self[piece] = units
        return units


_units_of = _PieceCosts().__getitem__


def _check_text(text: object) -> None:
    if not isinstance(text, str):
        raise InputError(f"a counter takes a text, got {type(text).__name__}")


def _check_unicode(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"the text has half of a surrogate pair, U+{ord(text[error.start]):04X}, at position "
                f"{error.start}: it is no character; remove it or repair the file that it came from"
            ) from None


class CharsPerToken:
    """Count characters and divide: one unit for every `chars` characters, rounded up.

    Args:
        chars: code points a unit, at least 1.

    >>> CharsPerToken()("Hello, world")
    3
    """

    name = "chars"
    unit = "approximate units"
    __slots__ = ("chars",)

    def __init__(self, chars: int = 4) -> None:
        if isinstance(chars, bool) or not isinstance(chars, int) or chars < 1:
            raise InputError(f"chars must be a whole number of at least 1, got {chars!r}")
        self.chars = chars

    def __call__(self, text: str) -> int:
        """Return the approximate units of `text`."""
        _check_text(text)
        return -(-len(text) // self.chars)

    def __repr__(self) -> str:
        return f"CharsPerToken(chars={self.chars})"


class WordPieces:
    """Count pieces of words, numbers, signs and white space: the counter of the 200-turn lab.

    From left to right, the first rule that matches takes a piece: an optional space and a run of the letters
    A to Z and a to z; an optional space and one to three digits; an optional space and a run of anything that
    is neither white space, such a letter nor such a digit; a run of white space. A piece costs 1 unit when it has at
    most 7 letters, else a quarter of its letters, rounded up.

    >>> WordPieces().pieces("Remember 1,024 tokens.")
    ['Remember', ' 1', ',', '024', ' tokens', '.']
    >>> WordPieces()("Remember 1,024 tokens.")
    7
    """

    name = "pieces"
    unit = "approximate units"
    __slots__ = ()

    def __call__(self, text: str) -> int:
        """Return the approximate units of `text`."""
        _check_text(text)
        return sum(map(_units_of, _PIECE.findall(text)))

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of `text` in order; joined, they are the text."""
        _check_text(text)
        return _PIECE.findall(text)

    def __repr__(self) -> str:
        return "WordPieces()"


# The file that tiktoken looks for (the SHA-1 of the address it would load) and the SHA-256 it expects of it.
_VOCABULARIES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
_LONGEST_SPACE = 999_998  # characters; on a longer run within a line tiktoken's pattern runs out of stack

_encodings: dict = {}  # vocabulary name -> tiktoken's Encoding; one of each a process
_loading = allocate_lock()


def _load_encoding(name: str):
    """Load one of the vocabularies on board, with no network."""
    with _loading:
        if name in _encodings:
            return _encodings[name]
        import hashlib
        import os

        try:
            import tiktoken
            import tiktoken_ext.openai_public as openai_public
        except ImportError as error:
            raise MissingDependency(
                f"the counter {name} needs tiktoken: install it (pip install tiktoken), "
                "or count with the counter chars or pieces"
            ) from error
        key, sha256 = _VOCABULARIES[name]
        folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vocabularies")
        # tiktoken deletes a file that it does not expect, then goes to the network: check before it looks.
        if sha256 not in getattr(openai_public, name).__code__.co_consts:
            raise MissingDependency(
                f"this tiktoken ({tiktoken.__version__}) expects another {name} than the one on board: "
                "install tiktoken 0.14.0"
            )
        try:
            with open(os.path.join(folder, key), "rb") as file:
                found = hashlib.sha256(file.read()).hexdigest()
        except OSError as error:
            raise MissingDependency(f"the vocabulary {name} is not on board ({error}): reinstall contextlab") from error
        if found != sha256:
            raise MissingDependency(f"the vocabulary {name} on board is damaged: reinstall contextlab")
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            encoding = tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before
        _encodings[name] = encoding
        return encoding


class BPE:
    """Count the tokens of a real byte-pair vocabulary, with OpenAI's tiktoken.

    The vocabularies are on board: nothing is downloaded, ever. tiktoken and the vocabulary load at the first
    count, once a process. The marker of a special token, such as <|endoftext|>, is plain text here.

    Args:
        name: "o200k_base" or "cl100k_base".

    Raises:
        InputError: there is no such vocabulary. While counting: the text holds half of a surrogate pair, which
            is no character and has no bytes, or more than 999,998 white-space characters in a row within a line.
        MissingDependency: while counting: tiktoken is absent or expects another vocabulary.

    >>> bpe = BPE("o200k_base")
    >>> bpe("antidisestablishmentarianism")
    6
    >>> bpe.pieces("hello world")
    [b'hello', b' world']
    """

    unit = "tokens"
    __slots__ = ("name",)

    def __init__(self, name: str = "o200k_base") -> None:
        if name not in _VOCABULARIES:
            raise InputError(f"unknown vocabulary {name!r}: choose one of {', '.join(_VOCABULARIES)}")
        self.name = name

    def _encoding(self):
        return _encodings.get(self.name) or _load_encoding(self.name)

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of `text`."""
        _check_text(text)
        _check_unicode(text)
        if len(text) > _LONGEST_SPACE:
            for run in re.finditer(r"[^\S\r\n]+", text):
                if run.end() - run.start() > _LONGEST_SPACE:
                    raise InputError(
                        f"the text has {run.end() - run.start():,} white-space characters in a row, from position "
                        f"{run.start()}: tiktoken takes at most {_LONGEST_SPACE:,}; shorten the run"
                    )
        return self._encoding().encode_ordinary(text)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of a list of token ids; a broken character becomes U+FFFD.

        Raises:
            InputError: an id is not in the vocabulary.

        >>> BPE("cl100k_base").decode(BPE("cl100k_base").encode("\N{THUMBS UP SIGN}")[:2])
        '\ufffd'
        """
        return b"".join(map(self._bytes_of, ids)).decode("utf-8", errors="replace")

    def pieces(self, text: str) -> list[bytes]:
        """Return the tokens of `text` as bytes; a token may be a part of a character."""
        return list(map(self._bytes_of, self.encode(text)))

    def _bytes_of(self, token: int) -> bytes:
        try:
            return self._encoding().decode_single_token_bytes(token)
        except (KeyError, TypeError, OverflowError):
            raise InputError(f"no token of {self.name} has the id {token!r}") from None

    def __repr__(self) -> str:
        return f"BPE({self.name!r})"


class TokenizerFile:
    """Count the tokens of a model's own vocabulary, from its tokenizer.json, with the package tokenizers.

    The file loads at the first count. Special tokens are recognised in the text, and none is added to it: a rendered
    chat template already holds its start token.

    Args:
        path: the file.

    Raises:
        InputError: while counting: there is no such file, it is no tokenizer.json, or the text is no Unicode text.
        MissingDependency: while counting: the package tokenizers is not installed.
    """

    unit = "tokens"
    __slots__ = ("_tokenizer", "name", "path")

    def __init__(self, path: str) -> None:
        import os

        self.path = os.fspath(path)
        self.name = os.path.basename(os.path.dirname(os.path.abspath(self.path)))
        self._tokenizer = None

    def __reduce__(self):
        return TokenizerFile, (self.path,)

    def _load(self):
        import os

        if not os.path.isfile(self.path):
            raise InputError(
                f"there is no file {self.path}: the vocabulary of a model lies beside its tokenizer_config.json; "
                "without it, give a counter"
            )
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingDependency(
                f"reading {self.path} needs tokenizers: install it (pip install 'contextlab[renderers]'), "
                "or give a counter"
            ) from error
        try:
            tokenizer = Tokenizer.from_file(self.path)
        except Exception as error:  # the package raises plain Exception
            raise InputError(f"{self.path} is no tokenizer.json: {error}") from None
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        return tokenizer

    def __call__(self, text: str) -> int:
        """Return the number of tokens of `text`."""
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Return the ids of the tokens of `text`."""
        _check_text(text)
        _check_unicode(text)
        return (self._tokenizer or self._load()).encode(text, add_special_tokens=False).ids

    def __repr__(self) -> str:
        return f"TokenizerFile({self.path!r})"


COUNTERS = ("chars", "pieces", "cl100k_base", "o200k_base")


def get_counter(name: str) -> CharsPerToken | WordPieces | BPE:
    """Return the counter of that name, one of `COUNTERS`.

    Raises:
        InputError: there is no such counter; the message lists the known names.

    >>> get_counter("pieces")("What is my name?")
    5
    """
    if name == "chars":
        return CharsPerToken()
    if name == "pieces":
        return WordPieces()
    if name in COUNTERS:
        return BPE(name)
    raise InputError(f"unknown counter {name!r}: choose one of {', '.join(COUNTERS)}")


_LOOK_AHEAD = 32  # characters; longer than nearly every token


def cut(text: str, limit: int, counter: Callable[[str], int], side: str = "right", mark: str = "") -> str:
    """Return `text` with one end removed, so that it counts at most `limit`.

    What a reader takes for one character is never broken. A text that fits is returned unchanged. The limit
    holds for the returned text with its mark; when not even the mark fits, the result is empty.
    Counts of longer and longer beginnings need not rise in step (a whole word can cost less than most of
    it), so the result is as long as this: none that keeps 1 to 32 characters more would fit.

    Args:
        text: the text.
        limit: the most that the result may count, in the unit of the counter; 0 gives an empty text.
        counter: a callable that counts a text.
        side: the end that is removed, "right" or "left", as in Hugging Face's `truncation_side`.
        mark: a text to put where something was removed, such as " [cut]".

    Raises:
        InputError: the limit is no whole number or is negative, or there is no such side.

    >>> cut("My name is Ada and I live in Porto.", 5, WordPieces(), mark=" ...")
    'My name is Ada ...'
    >>> cut("My name is Ada and I live in Porto.", 4, WordPieces(), side="left")
    ' live in Porto.'
    """
    _check_text(text)
    _check_text(mark)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise InputError(f"limit must be a whole number of at least 0, got {limit!r}")
    if side not in ("left", "right"):
        raise InputError(f'side must be "left" or "right", got {side!r}')
    if limit == 0:
        return ""
    total = counter(text)
    if total <= limit:
        return text
    if counter(mark) > limit:
        return ""
    from ._characters import is_boundary

    size = len(text)
    right = side == "right"

    def kept(length: int) -> str:
        return text[:length] + mark if right else mark + text[size - length :]

    def step(length: int, by: int) -> int:
        """Move to the nearest length that breaks no character, `length` itself included."""
        while not is_boundary(text, length if right else size - length):
            length += by
        return length

    def fits(length: int) -> bool:
        return counter(kept(length)) <= limit

    low, high = 0, size  # lengths: `low` fits, `high` does not
    guess = size * limit // total
    probes = [guess - guess // 16 - 8, guess + guess // 16 + 8]  # most texts are even: bracket the proportional length
    while high - low > 1:
        length = probes.pop() if probes else (low + high) // 2
        length = step(min(max(length, low + 1), high - 1), -1)
        if length <= low:
            length = step(low + 1, 1)
        if length >= high:
            break
        if fits(length):
            low = length
        else:
            high = length
    ahead, tries = low, 0
    while tries < _LOOK_AHEAD and ahead < size:
        ahead, tries = step(ahead + 1, 1), tries + 1
        if ahead < size and fits(ahead):
            low, tries = ahead, 0
    return kept(low)
