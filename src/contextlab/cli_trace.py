"""The command `contextlab trace`: which conversations of a file, their traces, and the three forms of the answer."""

from __future__ import annotations

import os
import sys

from .assembler import TEMPLATES
from .errors import InputError
from .forgotten import WINDOWS, as_dict, look_back
from .page import html_page, redacted, redacted_trace, shown
from .replay import CountedChat
from .tokens import get_counter

LOCAL = "Everything stayed on this machine: the file was read here, and nothing was sent anywhere."
LARGE = 5_000_000  # bytes from which a progress bar is worth a line
CANDIDATES = 5  # conversations that an error names
MOST_ROWS = 8  # requests that the table shows for a window
BAR = 30  # signs


def add_options(parser):
    parser.add_argument("file", metavar="FILE", help="an export (a zip or JSON), messages in JSON, or a transcript")
    parser.add_argument(
        "--conversation",
        default="newest",
        metavar="WHICH",
        help="newest, all, list, a number from the list, an id, or words of the title (default: newest)",
    )
    parser.add_argument("--format", metavar="NAME", help="the format of the file, when its structure leaves it open")
    parser.add_argument(
        "--window",
        type=int,
        action="append",
        metavar="N",
        help=f"context window in tokens; repeat it for several (default: {', '.join(map(str, WINDOWS))})",
    )
    parser.add_argument("--reply-reserve", type=int, default=0, metavar="N", help="tokens kept free for the reply")
    parser.add_argument("--counter", default="o200k_base", metavar="NAME", help="as in count (default: o200k_base)")
    parser.add_argument(
        "--template", default="openai", metavar="NAME", help="openai, plain or chatml (default: openai)"
    )
    parser.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="TEXT",
        help="what to follow; repeat it for several (default: the first user message and what patterns find)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--html", metavar="FILE", help="write one page with the strips to step through")
    parser.add_argument("--redact", action="store_true", help="every word is blank, every size stays")


def run(options, print_json):
    """Run the command; ``print_json`` prints a value as JSON."""
    counter = get_counter(options.counter)
    if options.template not in TEMPLATES:
        raise InputError(f"unknown template {options.template!r}: choose openai, plain or chatml")
    from . import render

    rule = getattr(render, TEMPLATES[options.template])(counter)
    if not rule.additive:
        raise InputError(f"the counts of {options.template} do not add up message by message: choose openai or plain")
    reader = _Reader(options)
    if options.conversation == "list":
        _print_list(reader, options, print_json)
        return
    found, without_user = [], 0
    for number, conversation in reader.chosen():
        messages = reader.to_messages(conversation)
        if not any(message.role == "user" for message in messages):
            without_user += 1
            continue
        chat = CountedChat(messages, rule)
        trace = look_back(
            chat,
            windows=options.window or WINDOWS,
            reply_reserve=options.reply_reserve,
            facts=options.fact,
            title=conversation.title,
        )
        # The messages themselves are needed for a page only: all chats of a large file would fill the memory.
        found.append((number, conversation, trace, shown(trace, chat, options.redact) if options.html else None))
    if not found:
        raise InputError(f"{options.file}: no user message in what was chosen, so there is no request to trace")
    if options.html:
        write_whole(options.html, html_page([page for *_, page in found], options.redact))
        print(f"Written: {options.html} ({_plural(len(found), 'conversation')}). {LOCAL}")
        return
    if options.json:
        print_json(_as_json(reader, found, without_user, options.redact))
        return
    for number, conversation, trace, _ in found:
        _print_trace(number, conversation, redacted_trace(trace) if options.redact else trace, options)
    _print_report(reader, without_user)
    print(LOCAL)


class _Reader:
    """The conversations of the file, with their numbers, and a progress bar when it is large."""

    def __init__(self, options):
        from . import histories

        self.histories, self.options = histories, options
        self.bar = _Bar(options.file)
        self.report = None

    def read(self):
        """Yield number and conversation, in the order of the file."""
        reading = self.histories.read(self.options.file, format=self.options.format, progress=self.bar)
        try:
            yield from enumerate(reading, start=1)
        finally:
            self.bar.clear()
            self.report, self.format = reading.report, reading.format

    def chosen(self):
        which = self.options.conversation
        if which == "all":
            yield from self.read()
        elif which == "newest":
            best = None
            for number, conversation in self.read():
                if best is None or _age(conversation) >= _age(best[1]):
                    best = number, conversation
            if best:
                yield best
        else:
            yield self._named(which)

    def _named(self, which):
        matches, wanted = [], which.casefold()
        for number, conversation in self.read():
            if which in (str(number), conversation.id):
                matches = [(number, conversation)]
                break
            if wanted in conversation.title.casefold():
                matches.append((number, conversation))
        if not matches:
            raise InputError(f"no conversation {which!r} in {self.options.file}: --conversation list shows them")
        if len(matches) > 1:
            some = "; ".join(f"{number} {one.title}" for number, one in matches[:CANDIDATES])
            more = f"; and {len(matches) - CANDIDATES} more" if len(matches) > CANDIDATES else ""
            raise InputError(f"{which!r} stands in {len(matches)} titles: choose a number: {some}{more}")
        return matches[0]

    def to_messages(self, conversation):
        return self.histories.to_messages(conversation)


def _age(conversation):
    for moment in (conversation.updated, conversation.created):
        if moment is not None:
            return moment
    return float("-inf")


class _Bar:
    """A progress bar on standard error: only on a terminal, only for a large file."""

    def __init__(self, file):
        try:
            large = os.path.getsize(file) >= LARGE
        except OSError:
            large = False
        self.on = large and sys.stderr is not None and sys.stderr.isatty()
        self.drawn = -1

    def __call__(self, done, total):
        if not self.on or total <= 0:
            return
        part = min(int(BAR * done / total), BAR)
        if part != self.drawn:
            self.drawn = part
            sys.stderr.write(f"\rreading [{'#' * part}{'.' * (BAR - part)}] {100 * done // total:3d} %")
            sys.stderr.flush()

    def clear(self):
        if self.drawn >= 0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self.drawn = -1


def _print_list(reader, options, print_json):
    rows = []
    for number, one in reader.read():
        title = redacted(one.title) if options.redact else one.title
        rows.append((number, _day(one), one.turns, title))
    if options.json:
        names = ("number", "updated", "turns", "title")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    print_table(("number", "day", "turns", "title"), rows, words=(1, 3))
    _print_report(reader, 0)


def _day(conversation):
    moment = _age(conversation)
    if moment == float("-inf"):
        return ""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(moment, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return ""


def _as_json(reader, found, without_user, redact):
    conversations = []
    for number, conversation, trace, _ in found:
        about = {"number": number, "id": conversation.id, "source": conversation.source, "format": conversation.format}
        if redact:
            trace, about = redacted_trace(trace), {"number": number, "format": conversation.format}
        conversations.append({**about, **as_dict(trace)})
    result = {"conversations": conversations, "without_user": without_user, "local": LOCAL}
    if not redact:  # the report names files and titles
        result["report"] = reader.report.as_dict()
    return result


def _print_trace(number, conversation, trace, options):
    unit = trace.unit
    print(f"{number}  {trace.title or 'without a title'}")
    size = f"{_plural(trace.messages, 'message')} in {_plural(trace.turns, 'turn')}, {trace.units:,} {unit}"
    print(f"{size} ({trace.counter}, {options.template}); {trace.fixed_units:,} more in every request")
    print(f"Format: {conversation.format}")
    for window in trace.windows:
        reserve = f", {window.reply_reserve:,} of it for the reply" if window.reply_reserve else ""
        print(f"\nWindow {window.window:,}{reserve}: {window.sent_units:,} {unit} sent, {window.resent_units:,} again")
        rows = []
        for fact in window.facts:
            gone = "never" if fact.drop_turn is None else f"{fact.drop_turn:,}"
            rows.append(
                (
                    _short(f"{fact.key}: {fact.text}" if fact.key else fact.text, 44),
                    "not said" if fact.said_turn is None else f"{fact.said_turn:,}",
                    "" if fact.said_turn is None else gone,
                    _few(fact.back_turns),
                    _few(fact.said_again_turns),
                    f"{fact.pin_units:,}",
                )
            )
        print_table(("what was said", "in turn", "gone at", "back at", "said again", "pin"), rows, words=(0,))
        steps = _steps(window)
        if steps:
            print_table(
                ("request", f"input {unit}", "messages sent", "left out", "from turn"),
                [(f"{r.turn:,}", *_cells(r)) for r in steps],
            )
        if window.instead:
            rows = [
                (way.name, *((_short(way.why, 60), "", "", "") if way.why else map(_signed, way[1:3] + way[4:6])))
                for way in window.instead
            ]
            print_table(("in its place", "sent", "saved", "read", "written"), rows, words=(0,))
    print("\nAssumed:")
    for assumption in trace.assumptions:
        print(f"- {assumption}")
    print()


def _cells(request):
    if not request.fits:
        return "does not fit", "0", f"{request.messages_dropped:,}", ""
    kept = f"{request.messages_kept:,}", f"{request.messages_dropped:,}", f"{request.oldest_turn_kept:,}"
    return (f"{request.input_units:,}", *kept)


def _steps(window):
    """Return the requests to show: where a fact leaves or comes back, and the last one; the whole is in the JSON."""
    turns = {turn for fact in window.facts for turn in (fact.drop_turn, *fact.back_turns) if turn is not None}
    turns = sorted(turns)[: MOST_ROWS - 1]
    last = window.requests[-1].turn
    return [window.requests[turn - 1] for turn in [*turns, *([last] if last not in turns else [])]]


def _few(turns):
    return ", ".join(f"{turn:,}" for turn in turns[:4]) + (" …" if len(turns) > 4 else "")


def _plural(count, word):
    return f"{count:,} {word}{'s' * (count != 1)}"


def _signed(value):
    return f"{value:,}".replace("-", "−")


def _short(text, most):
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _print_report(reader, without_user):
    for line in reader.report.lines():
        # Warnings and skipped places may hold words of the file.
        if not reader.options.redact or line.startswith(("objects:", "messages:")):
            print(line)
    if without_user:
        print(f"{without_user:,} of the chosen conversations have no user message and were not traced")


def print_table(head, rows, words=()):
    """Print a table; the columns with these numbers hold words and stand at the left."""
    table = [head, *[tuple(map(str, row)) for row in rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    print()
    for row in table:
        cells = [
            cell.ljust(width) if i in words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  " + "  ".join(cells).rstrip())


def write_whole(file, text):
    """Write a text to a file, whole or not at all: first under a name beside it, which then takes its place."""
    if os.path.exists(file) and not os.path.isfile(file):
        raise InputError(f"cannot write {file}: it is no file")
    file = os.path.realpath(file)
    folder, name = os.path.split(file)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.part")
    try:
        with open(beside, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        os.replace(beside, file)
    except OSError as error:
        if os.path.exists(beside):
            os.unlink(beside)
        raise InputError(f"cannot write {file}: {error.strerror or error}") from None
