"""Texts to count: samples of our own, and Article 1 of the Universal Declaration of Human Rights."""

from __future__ import annotations

from collections import namedtuple

from ._data import read_table, row_named

__all__ = ["Text", "article_1", "cookbook", "samples"]


class Text(namedtuple("Text", "name lang dir text")):
    """A text with its name, its language (a BCP 47 tag) and its direction, "ltr" or "rtl"."""

    __slots__ = ()


def samples() -> list[Text]:
    """Return one text of our own of each kind that a chat carries: prose, a chat message, code, data, numbers, emoji.

    >>> [sample.name for sample in samples()]
    ['prose', 'chat message', 'Python code', 'JSON records', 'phone numbers', 'emoji message']
    """
    return [_text(row) for row in read_table("sample_texts")]


def article_1(name: str | None = None) -> Text | list[Text]:
    """Return Article 1 of the Declaration in thirteen languages, or in the one of that English name.

    Raises:
        InputError: the article is not on board in this language; the message suggests one.

    Source: the translations collected by the Office of the United Nations High Commissioner for Human Rights,
    https://www.ohchr.org/en/human-rights/universal-declaration; `data/udhr_article_1.json` says more.

    >>> article_1("Hindi").lang, len(article_1())
    ('hi', 13)
    """
    rows = read_table("udhr_article_1")
    if name is None:
        return [_text(row) for row in rows]
    by_name = [{**row, "name": row["name"].lower(), "title": row["name"]} for row in rows]
    return _text(row_named(by_name, name, "Article 1 in"))


def cookbook(name: str) -> tuple[list[dict], list[dict]]:
    """Return messages and tools of an example of the OpenAI Cookbook: "names" (no tools) or "weather" (one tool).

    Raises:
        InputError: there is no example of that name.

    Source: OpenAI Cookbook, "How to count tokens with tiktoken"; the service's own counts stand there.

    >>> messages, tools = cookbook("weather")
    >>> len(messages), tools[0]["function"]["name"]
    (2, 'get_current_weather')
    """
    row = row_named(read_table("cookbook"), name, "example of the cookbook")
    return row["messages"], row.get("tools", [])


def _text(row: dict) -> Text:
    return Text(row.get("title", row["name"]), row["lang"], row["dir"], row["text"])
