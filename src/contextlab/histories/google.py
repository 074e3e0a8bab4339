"""Gemini in a Takeout archive: activities, newest first, each a prompt and its answer in HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from .draft import Draft, Skip, as_dict, as_list, as_text

__all__ = ["read_activity"]

PROMPTED = ("Prompted ", "Asked ", "Said ")
OTHER = ("Used ", "Created ", "Gave feedback", "Viewed ", "Selected ", "Started ")
_CHAT = re.compile(r"/app/([0-9a-f]+)")
_BLOCKS = frozenset("p div br li ul ol pre h1 h2 h3 h4 h5 h6 tr table blockquote hr".split())


class _Plain(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.pieces = []

    def handle_starttag(self, tag, attrs):
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag):
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data):
        self.pieces.append(data)


def plain(html: str) -> str:
    """Return the text of a piece of HTML, blocks on lines of their own.

    >>> plain("<p>A <b>bowline</b>.</p><p>over &amp; under</p>")
    'A bowline.\\nover & under'
    """
    parser = _Plain()
    parser.feed(html)
    parser.close()
    return re.sub(r"\s*\n\s*", "\n", "".join(parser.pieces)).strip()


def read_activity(element, draft: Draft) -> None:
    """Read the activities of one chat, oldest first: each is a prompt, and an answer if the file has one."""
    rows = element if isinstance(element, list) else [element]
    if not rows:
        raise Skip("empty", "no activity in it")
    first = as_dict(rows[0])
    if len(rows) > 1 and chat_of(first) is None:
        draft.warn("guessed: activities that stand close in time are taken as one chat")
    draft.about(id=chat_of(first), created=first.get("time"), updated=as_dict(rows[-1]).get("time"))
    for index, one in enumerate(rows):
        one = as_dict(one)
        title, time = as_text(one.get("title")), one.get("time")
        answers = [as_text(as_dict(item).get("html")) for item in as_list(one.get("safeHtmlItem"))]
        if not is_prompt(one):
            raise Skip("not_chats", f"an activity that is no prompt: {title[:40]}")
        # The verb is translated; only the English ones are known, a prompt in another language keeps it.
        prompt = next((title[len(verb) :] for verb in PROMPTED if title.startswith(verb)), title)
        draft.add("user", prompt, time=time, source=f"[{index}].title")
        if any(answers):
            draft.clean("html", sum(map(bool, answers)))
            text = "\n\n".join(plain(one) for one in answers if one)
            draft.add("assistant", text, time=time, source=f"[{index}].safeHtmlItem")


def is_prompt(element) -> bool:
    """Return whether an activity is a prompt: it has an answer, or no title of another activity."""
    element = as_dict(element)
    answers = [as_text(as_dict(item).get("html")) for item in as_list(element.get("safeHtmlItem"))]
    return any(answers) or not as_text(element.get("title")).startswith(OTHER)


def chat_of(element) -> str | None:
    """Return the id of the chat that an activity names in a link, or None."""
    for one in as_list(as_dict(element).get("details")):
        found = _CHAT.search(as_text(as_dict(one).get("url")))
        if found:
            return found[1]
    return None
