"""Strips compared: the walk of keep-newest, the step at which messages leave, and what several policies keep."""

from __future__ import annotations

from itertools import accumulate

from ..errors import InputError
from .strips import (
    SMALL,
    UNIT,
    Block,
    canvas,
    checked_blocks,
    draw_blocks,
    draw_frame,
    draw_key,
    heading,
    key,
    key_height,
    rule,
    span,
    text_width,
    write,
)
from .svg import INK, LETTER_INKS, NARROW, ROLE_LETTERS, WIDE, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ..replay import Trace


def walk_figure(
    messages: Sequence[tuple[str, int]],
    window: int,
    *,
    unit: str = UNIT,
    alt: str = "",
    caption: str = "Newest first: each message is added until one does not fit.",
) -> Figure:
    """Return the walk of keep-newest over ``(role, units)`` pairs: one bar a step, against the window.

    Raises `InputError` for units below 1, unknown roles, or a window below 1.

    >>> walk_figure([("user", 300), ("assistant", 250), ("user", 180), ("assistant", 400), ("user", 120)], 700)
    Figure: Window 700. Step 1: 120. Step 2: 120 + 400 = 520. Step 3: 520 + 180 = 700. Step 4: 700 + 250 = 950: stop.
    """
    if window < 1:
        raise InputError(f"a window is at least 1 unit, not {window}")
    blocks = checked_blocks(messages)
    newest_first = [block.units for block in reversed(blocks)]
    sums = list(accumulate(newest_first))
    kept = sum(total <= window for total in sums)
    steps = min(kept + 1, len(blocks))
    texts = []
    for i in range(steps):
        text = f"{sums[i]:,}" if i == 0 else f"{sums[i - 1]:,} + {newest_first[i]:,} = {sums[i]:,}"
        texts.append(text + ": stop" * (i >= kept))
    alt = alt or f"Window {window:,}. " + " ".join(f"Step {i}: {text}." for i, text in enumerate(texts, 1))
    shown = [block._replace(state="left" if i < len(blocks) - kept else "kept") for i, block in enumerate(blocks)]

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        column = 0 if narrow else 168
        pitch, tall, top = (50, 22, 66) if narrow else (36, 22, 56)
        right = width - 6
        longest = max(sums[-1], window)
        scale = (right - column - 6) / longest
        edge = right - window * scale
        write(ax, 3, 16 if narrow else top - 24, "The whole conversation", bold=True)
        labelled = [block._replace(text=_block_text(block, scale)) for block in shown]
        draw_blocks(ax, right - sums[-1] * scale, top - 40, tall + 6, scale, labelled)
        draw_frame(ax, edge, top - 45, window * scale, tall + 16)
        y = top + 34
        rule(ax, [edge, edge], [top - 5, y + pitch * (steps - 1) + tall + 8], width=1.25, dashes=(4, 3))
        for i, text in enumerate(texts):
            row = y + i * pitch
            write(ax, 3, row - 6 if narrow else row + 16, f"{i + 1}", bold=True)
            write(ax, 18, row - 6 if narrow else row + 16, text)
            draw_blocks(ax, right - sums[i] * scale, row, tall, scale, labelled[len(blocks) - i - 1 :])
        span(ax, edge, right, y + pitch * steps + 6, f"window {window:,} {unit}", width)
        draw_key(ax, y + pitch * steps + 26, entries, width)

    entries = key(shown)
    wide, narrow = 116 + 36 * steps + key_height(entries, WIDE), 126 + 50 * steps + key_height(entries, NARROW)
    return figure(draw, alt, caption, height=wide, narrow_height=narrow)


def _block_text(block: Block, scale: float) -> str:
    """Return the letter and the units of a block, or the units alone, or nothing: what its width allows."""
    number = f"{block.units:,}"
    for text in (f"{ROLE_LETTERS.get(block.role, '')} {number}".strip(), number):
        if text_width(text, SMALL) + 4 < block.units * scale:
            return text
    return ""


def step_figure(trace: Trace, turn: int, *, unit: str = UNIT, alt: str = "", caption: str | None = None) -> Figure:
    """Return the oldest end of the conversation at the requests ``turn`` − 1, ``turn`` and ``turn`` + 1.

    The edge of the room falls inside a message: that message leaves whole. Raises `InputError` for a turn without
    a request before or after it, and for a policy that sends a header or leaves gaps.
    """
    if not 2 <= turn < len(trace):
        raise InputError(f"turn {turn} needs a request before and after it: choose from 2 to {len(trace) - 1}")
    chat = trace.chat
    history = chat.history
    room = trace.input_budget - sum(chat.fixed.values())
    requests = []
    for t in (turn - 1, turn, turn + 1):
        indices = trace.kept_indices(t)
        if not isinstance(indices, range) or trace.rows[t - 1].header_units:
            raise InputError("step_figure draws keep-newest: one run of messages and no note or summary")
        requests.append((t, history.prefix[chat.requests[t - 1] + 1] - room, indices.start))
    edges = [edge for _, edge, _ in requests]
    low, high = min(0, *edges) - 12, history.prefix[requests[-1][2] + 1] + 40
    shown = next(i for i, total in enumerate(history.prefix) if total >= high or i == len(history))
    texts = [
        f"{-edge:,} {unit} free" if edge <= 0 else f"{edge:,} {unit} over: {start} messages have left"
        for _, edge, start in requests
    ]
    alt = alt or "The oldest messages at three requests. " + " ".join(
        f"Request {t}: {text}." for (t, _, _), text in zip(requests, texts, strict=True)
    )
    leave = requests[1][2] - requests[0][2]
    caption = f"A message leaves whole: request {turn} loses {leave}." if caption is None else caption

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        narrow = width <= NARROW
        scale = (width - 6) / (high - low)
        zero = 3 - low * scale
        tall, pitch = 28, 96 if narrow else 80
        for k, ((t, edge, start), text) in enumerate(zip(requests, texts, strict=True)):
            y = 42 + (16 if narrow else 0) + k * pitch
            write(ax, 3, y - (36 if narrow else 18), f"Request {t}", bold=True)
            write(ax, *((3, y - 19) if narrow else (88, y - 18)), text, size=SMALL, quiet=True)
            if k == 0:
                label = "to the newest message →"
                write(ax, width - 3, y - (36 if narrow else 18), label, size=SMALL, align="right", quiet=True)
            x = zero
            for i in range(shown):
                units = history.units(i, i + 1)
                block = Block(history[i].role, units, "left" if i < start else "kept")
                if i == shown - 1:  # cut off at the right end of the figure
                    draw_blocks(ax, x, y, tall, scale, [block._replace(units=high - history.prefix[i], text="")])
                    break
                draw_blocks(ax, x, y, tall, scale, [block._replace(text="")])
                text = _block_text(block, scale)
                # A number stands in the larger part of a block through which the edge goes.
                ends = [x, x + units * scale]
                cut = zero + edge * scale
                if ends[0] < cut < ends[1]:
                    ends = [cut, ends[1]] if ends[1] - cut > cut - ends[0] else [ends[0], cut]
                ink = LETTER_INKS[block.role] if i >= start else INK
                if text and text_width(text, SMALL) < ends[1] - ends[0]:
                    write(ax, sum(ends) / 2, y + tall / 2 + 4.5, text, align="center", bold=True, colour=ink)
                x += units * scale
            cut = zero + edge * scale
            rule(ax, [width, cut, cut, width], [y - 6, y - 6, y + tall + 6, y + tall + 6], width=1.75)
        draw_key(ax, 58 + 96 * 2 + 48 if narrow else 42 + 80 * 2 + 48, entries, width)

    entries = key([Block(history[i].role, 1, "left" if i < requests[-1][2] else "kept") for i in range(shown)])
    wide, narrow = 250 + key_height(entries, WIDE), 298 + key_height(entries, NARROW)
    return figure(draw, alt, caption, height=wide, narrow_height=narrow)


def kept_figure(
    traces: Mapping[str, Trace], turn: int, *, unit: str = UNIT, alt: str = "", caption: str | None = None
) -> Figure:
    """Return the conversation at one request once for each policy, with the messages that it leaves out hatched.

    ``traces``: policy -> its trace of the chat, which is the same for all. ``turn``: the request (1, 2, …). Raises
    `InputError` without a trace, for a turn that a trace does not have, and for traces of different chats.

    >>> from contextlab import KeepNewest, PlainRule, WordPieces
    >>> from contextlab.replay import replay
    >>> from contextlab.script import scripted_chat
    >>> trace = replay(scripted_chat(), KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()))
    >>> kept_figure({"keep-newest": trace}, 19)
    Figure: All 37 messages at request 19, oldest first, once for each policy. keep-newest sends messages 3 to 37.
    """
    if not traces:
        raise InputError("there is no trace to draw: give at least one policy with its trace")
    rows = []
    for name, trace in traces.items():
        if not 1 <= turn <= len(trace):
            raise InputError(f"turn {turn} is not in the trace of {name!r}: it has requests 1 to {len(trace)}")
        history, kept = trace.chat.history, trace.kept_indices(turn)
        blocks = [
            Block(history[i].role, history.units(i, i + 1), "kept" if i in kept else "left")
            for i in range(trace.chat.requests[turn - 1] + 1)
        ]
        rows.append((name, checked_blocks(blocks), kept))
    sizes = [[block[:2] for block in blocks] for _, blocks, _ in rows]
    if any(one != sizes[0] for one in sizes):
        raise InputError("kept_figure compares policies on one chat: the traces have different messages")
    number = len(sizes[0])
    said = " ".join(f"{name} sends {_runs(kept)}." for name, _, kept in rows)
    alt = alt or f"All {number} messages at request {turn}, oldest first, once for each policy. {said}"
    if caption is None:
        caption = f"Request {turn}: each block is a message, as long as its {unit.split()[-1]}."

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        scale = (width - 6) / sum(units for _, units in sizes[0])
        tall, step = 28, 16 if width <= NARROW else 0
        y = 16
        for name, blocks, kept in rows:
            heading(ax, name, f"{len(kept)} of {number} messages sent", y, width)
            draw_blocks(ax, 3, y + 10 + step, tall, scale, [block._replace(text="") for block in blocks])
            y += 66 + step
        write(ax, 3, y - 11, "← oldest", size=SMALL, quiet=True)
        write(ax, width - 3, y - 11, "newest →", size=SMALL, align="right", quiet=True)
        draw_key(ax, y, entries, width)

    entries = key([block for _, blocks, _ in rows for block in blocks])
    wide, narrow = (16 + pitch * len(rows) + key_height(entries, w) + 6 for pitch, w in ((66, WIDE), (82, NARROW)))
    return figure(draw, alt, caption, height=wide, narrow_height=narrow)


def _runs(indices: Collection[int]) -> str:
    """Return indices as messages counted from 1, with neighbours as a run: “messages 1, 17, 33 to 40”."""
    runs: list[list[int]] = []
    for i in indices:
        if runs and i == runs[-1][1]:
            runs[-1][1] = i + 1
        else:
            runs.append([i + 1, i + 1])
    text = ", ".join(f"{first}" if first == last else f"{first} to {last}" for first, last in runs)
    return f"message{'s' * (len(indices) != 1)} {text}"
