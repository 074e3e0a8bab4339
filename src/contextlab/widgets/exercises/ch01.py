"""Chapter 01: tokens, counters, margins, cuts."""

from __future__ import annotations

from functools import cache

from contextlab.texts import article_1, samples
from contextlab.tokens import BPE, CharsPerToken

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong
from ..rules import newest, oldest_first

OLD, NEW, CHARS = BPE("cl100k_base"), BPE("o200k_base"), CharsPerToken()
SUM = "2 + 2 = 4"

# A chat of our own, oldest first: prose, numbers and data, so that the three ways of counting disagree.
PARTY = (
    "Hello!",
    "Hello, how can I help you?",
    "I plan the autumn party of the bakery and need a list of the guests who have said yes so far.",
    "Good. Send me the names and the telephone numbers, and I will write the list and a short invitation.",
    "Ada (202) 555-0143, Lin (202) 555-0177, Noor +49 30 23125-388, Sam +49 30 23125-014",
    'Done: [{"id":1,"guest":"Ada"},{"id":2,"guest":"Lin"},{"id":3,"guest":"Noor"},{"id":4,"guest":"Sam"}]',
    "Thank you! Now write the invitation. We begin at seven and there will be soup with fresh rye bread.",
)


@cache
def text_of(name: str) -> str:
    """Return a sample by its name, or Article 1 by its language."""
    own = {one.name: one.text for one in samples()}
    return own[name] if name in own else article_1(name).text


def errors(names: tuple[str, ...], counter=CHARS, against: BPE = OLD) -> list[float]:
    """Return the error of a counter for each text, as a share of the real count."""
    return [counter(text_of(name)) / against(text_of(name)) - 1 for name in names]


def count_words(text: str) -> int:
    return len(text.split())


def fit(counter, window: int) -> int:
    """Return how many of the newest messages of the party fit, counted so."""
    return len(newest([counter(text) for text in PARTY], window))


def counts_table() -> str:
    """Return words, characters and tokens of the messages of the party, one row each."""
    rows = {"words": count_words, "chars": len, "tokens": NEW}
    return "\n".join(f"{name:<6}" + "".join(f"{count(text):>4}" for text in PARTY) for name, count in rows.items())


def longest_beginning(text: str, limit: int, count) -> str:
    """Return the longest beginning that counts at most `limit`, found by trying all of them."""
    return text[: max(end for end in range(len(text) + 1) if count(text[:end]) <= limit)]


def token_list_cut(text, limit, count):
    return count.decode(count.encode(text)[:limit])


def words_cut(text, limit, count):
    return " ".join(text.split(" ")[:limit])


def characters_cut(text, limit, count):
    return text[:limit]


def exact_fit_refused(text, limit, count):
    end = len(text)
    while end and count(text[:end]) >= limit:
        end -= 1
    return text[:end]


def parts_added(text, limit, count):
    used, kept = 0, ""
    for character in text:
        used += count(character)
        if used > limit:
            break
        kept += character
    return kept


KINDS = {
    "a": "prose",
    "b": "Python code",
    "c": "JSON records",
    "d": "phone numbers",
    "e": "Hindi",
    "f": "Japanese",
}
SIX_LANGUAGES = {
    "a": "English",
    "b": "Spanish",
    "c": "Finnish",
    "d": "Russian",
    "e": "Arabic",
    "f": "Korean",
}
LABELS = {
    "prose": "English prose",
    "Python code": "Python code",
    "JSON records": "JSON records",
    "phone numbers": "Telephone numbers",
}


def order_of(names: dict[str, str]) -> dict:
    """Return the operands of an order exercise: the labels of the texts, their names, and the right order in words."""
    labels = {
        key: f"{LABELS.get(name, f'Article 1 in {name}')} ({len(text_of(name))} characters)"
        for key, name in names.items()
    }
    found = zip(errors(tuple(names.values())), labels.values(), strict=True)
    said = " ".join(f"{label.split(' (')[0]} {100 * error:+.0f} %." for error, label in sorted(found)).replace("-", "−")
    return {**labels, "names": tuple(names.values()), "order": said}


EXERCISES = (
    Predict(
        "01-p",
        "2 + 2 = 4",
        "How many tokens of `cl100k_base` has the text `2 + 2 = 4`?",
        unit="tokens",
        operands={"text": SUM, "words": count_words(SUM), "length": len(SUM)},
        right=lambda text: OLD(text),
        wrong=(
            Wrong(
                "T1",
                lambda text: count_words(text),
                "{given} are the signs between the blanks. Blanks count as well: some belong to the sign after "
                "them, and two are tokens of their own.",
            ),
            Wrong(
                "T11",
                lambda text: len(text),
                "{given} are the characters. Two blanks share a token with the sign after them.",
            ),
            Wrong(
                "T2",
                lambda text: CHARS(text),
                "{given} is the number of characters divided by four. That rule was made for English words.",
            ),
        ),
        praise="the blanks before `+` and `=` belong to these signs, and the blanks before the digits stand alone.",
        sure_miss="You were sure, so look at the pieces below the question once more: `2`, ` +`, ` `, `2`, ` =`, ` `, "
        "`4`. Each of them is one entry of the vocabulary.",
        why="Why this number? One sentence. Nobody grades it.",
        points=(
            "A blank belongs to the sign after it, if the vocabulary has such a piece.",
            "For a digit it has none, so the blank before a digit is a token of its own.",
            "Neither words nor characters are the unit.",
        ),
        solution="The pieces are `2`, ` +`, ` `, `2`, ` =`, ` ` and `4`: {right} tokens.",
    ),
    NumberTask(
        "01-q1",
        "The factor for an error",
        "Your counter is {low} % too low for the texts that you send. By what factor do you have to multiply its "
        "counts? Give two decimals.",
        unit="",
        right=lambda low: round(100 / (100 - low), 2),
        wrong=(
            Wrong(
                "T3",
                lambda low: round(1 + low / 100, 2),
                "{given} adds {low} % of the *counted* number. {low} % of the *real* number is missing, and that is "
                "more.",
            ),
            Wrong(
                "T12",
                lambda low: round(1 - low / 100, 2),
                "{given} is the share that the counter sees. Multiplying by it makes the count smaller still. "
                "Divide by it.",
            ),
            Wrong(
                "T13",
                lambda low: round(100 / low, 2),
                "{given} divides by the share that is missing. Divide by the share that the counter sees.",
            ),
        ),
        praise="the counter sees {seen} % of the real number, and 1 / {share} = {right}.",
        solution="The counter sees {seen} % of the real number. To get from {seen} to 100, multiply by 100 / {seen} = "
        "{right}.",
        variants=tuple({"low": low, "seen": 100 - low, "share": f"0.{100 - low}"} for low in (34, 22, 45)),
        tolerance=0.006,
        quick=True,
    ),
    ChooseTask(
        "01-q2",
        "No mark, no harm?",
        "A program cuts the list of tokens of a long text after 500 tokens and decodes what is left. There is no `�` "
        "in the result. What do you know about it?",
        options=(
            Option(
                "No character was divided.",
                "the mark shows broken code points. A family can lose its children, and a letter its accent, with "
                "every code point whole.",
                "T6",
            ),
            Option(
                "Every code point is whole. A character of several code points may be divided.",
                "the mark appears when the bytes of a code point are incomplete, and at no other time.",
                right=True,
            ),
            Option(
                "It ends with a whole word.",
                "a token is a piece of text, and long words have several.",
                "T1",
            ),
            Option(
                "Counted again, it has exactly 500 tokens.",
                "the tokenizer starts anew with the shorter text and may join other pieces at its end.",
                "T5",
            ),
        ),
        solution="The decoder writes `�` for bytes that are no code point. It does not know which code points a reader "
        "sees as one character.",
        quick=True,
    ),
    NumberTask(
        "01-1",
        "How far may it count?",
        "A model has an input budget of {window} tokens. You count with a counter that is {low} % too low for your "
        "texts. Up to which number may this counter go?",
        unit="units",
        units=("tokens", "approximate units"),
        right=lambda window, low: window * (100 - low) // 100,
        wrong=(
            Wrong(
                "T3",
                lambda window, low: round(window / (1 + low / 100)),
                "{given} divides by {added}. The counter misses {low} % of the *real* number, so multiply the budget "
                "by the share that it sees.",
            ),
            Wrong(
                "T12",
                lambda window, low: window * low // 100,
                "{given} is {low} % of the budget: the share that the counter misses. Take the share that it sees.",
            ),
            Wrong(
                "T2",
                lambda window, low: window,
                "{given} is the budget in real tokens. When the counter shows {given}, the request is far larger.",
            ),
            Wrong(
                "T13",
                lambda window, low: round(window * 100 / (100 - low)),
                "{given} is more than the budget. The factor belongs to the counts; the limit is divided by it.",
            ),
        ),
        praise="at {right} counted units the request has about {window} tokens.",
        solution="The counter sees {seen} % of the tokens. For {window} tokens it shows {window} × {share} = {right}.",
        hints=(
            "Which share of the real number does the counter see?",
            "A request of exactly {window} tokens: what does the counter show for it?",
        ),
        variants=tuple(
            {"window": window, "low": low, "seen": 100 - low, "share": f"0.{100 - low}", "added": f"1.{low}"}
            for window, low in ((6000, 42), (8000, 35), (5000, 70))
        ),
        step=Step(
            "the counter shows 100 units for a text. How many tokens does the text have, rounded to a whole number?",
            lambda low: round(10000 / (100 - low)),
            "tokens",
            "The 100 units are {seen} % of the tokens.",
            "{step} tokens. Now the same for the limit, in the other direction.",
        ),
    ),
    NumberTask(
        "01-2",
        "Keep-newest, counted in tokens",
        "A chat has seven messages, the oldest first:\n\n```\n{table}\n```\n\nThe window holds {window} tokens. How "
        "many messages does keep-newest send?",
        unit="messages",
        right=lambda window: fit(NEW, window),
        wrong=(
            Wrong(
                "T1",
                lambda window: fit(count_words, window),
                "{given} messages fit when you add up their words. The window is measured in tokens.",
            ),
            Wrong(
                "T2",
                lambda window: fit(CHARS, window),
                "{given} messages fit when you divide the characters by four. With numbers and data in the chat that "
                "is far too low.",
            ),
            Wrong(
                "F13",
                lambda window: len(oldest_first([NEW(text) for text in PARTY], window)),
                "{given} messages fit when you begin at the oldest one. Keep-newest begins at the newest.",
            ),
        ),
        praise="the next older message would exceed {window} tokens.",
        solution="From the newest message back, in tokens: {walk}. The walk stops there; {right} messages are sent.",
        hints=(
            "Use the tokens only; begin at the end of their list.",
            "Add one message after the other. Stop before the sum is larger than {window}.",
        ),
        variants=tuple(
            {
                "window": window,
                "table": counts_table(),
                "walk": " + ".join(str(NEW(text)) for text in reversed(PARTY[-fit(NEW, window) - 1 :]))
                + f" is more than {window}",
            }
            for window in (110, 80)
        ),
        step=Step(
            "how many tokens do the two newest messages have together?",
            lambda: NEW(PARTY[-1]) + NEW(PARTY[-2]),
            "tokens",
            "They are the last two numbers of the list of tokens. Add them.",
            "{step} tokens. Now try the next older message.",
        ),
    ),
    OrderTask(
        "01-3",
        "Where is the rule of thumb most wrong?",
        "Characters ÷ 4 is compared with `cl100k_base`, the older vocabulary. Order the texts by the error. The tables "
        "of this chapter have the tokens.",
        items=tuple(f"{{{key}}}" for key in KINDS),
        value=lambda names: errors(names),
        wrong=(
            Wrong(
                "T4",
                lambda names: errors(names, against=NEW),
                "this is the order against `o200k_base`. The older vocabulary has few pieces for most scripts, so "
                "these texts have more tokens.",
            ),
            Wrong(
                "T1",
                lambda names: errors(names, count_words),
                "this is the order when words are counted. Here characters are counted and divided by four.",
            ),
            Wrong(
                "T14",
                lambda names: [-error for error in errors(names)],
                "this is the right order, turned round. Put the text that is most too low first.",
            ),
        ),
        praise="and against another vocabulary it would be another order.",
        solution="{order}",
        ends="Most too low comes first, most too high comes last.",
        tip="How many characters does a token hold in this text? The fewer, the lower the count.",
        hints=(
            "The error depends on how many characters a token holds: with four the rule is right.",
            "Divide the characters by the tokens. For texts in the letters A to Z both vocabularies are close.",
        ),
        variants=(order_of(KINDS), order_of(SIX_LANGUAGES)),
    ),
    CodeTask(
        "01-4",
        "Cut a text to a limit",
        'Write a function `beginning(text, limit, count)`. `count` is a counter such as `BPE("o200k_base")`. Return '
        "the longest beginning of the text that counts at most `limit`. It has to end between two code points, so "
        "there is no `�` in it. (A character of several code points may still be divided; `cut` above does not do "
        "that.)",
        name="beginning",
        lines=(
            "def beginning(text, limit, count):",
            Line(
                "    end = □",
                ("len(text)", "limit"),
                0,
                ("", "this begins at the character number `limit`. A token can hold several characters."),
                ("", "T11"),
            ),
            Line(
                "    while □ > limit:",
                ("len(text[:end])", "count(text[:end])"),
                1,
                ("this counts characters. The limit is in tokens.", ""),
                ("T11", ""),
            ),
            "        end -= 1",
            "    return text[:end]",
        ),
        reference=longest_beginning,
        cases=lambda: [
            (text, limit, count)
            for text in ("Our family 👨‍👩‍👧‍👦 says hello!", article_1("Korean").text[:14], "suncast notebook", "")
            for limit in range(14)
            for count in (OLD, NEW)
        ],
        wrong=(
            Wrong("T6", token_list_cut, "Your function cuts the list of tokens, and a code point is divided."),
            Wrong("T1", words_cut, "Your function counts words."),
            Wrong("T11", characters_cut, "Your function counts characters."),
            Wrong("S5", exact_fit_refused, "Your function refuses a beginning that fits exactly."),
            Wrong(
                "T5", parts_added, "Your function adds up the counts of single characters. Count the beginning itself."
            ),
        ),
        praise="it agrees with a search over all beginnings. `cut` of the library also keeps characters of several "
        "code points whole, and bisects, so that it is fast for long texts.",
        hints=(
            "A slice of a Python string never divides a code point.",
            "Begin with the whole text and take one character off while it counts too much.",
        ),
        tip="The whole text comes first. It gets shorter until it fits.",
    ),
)
