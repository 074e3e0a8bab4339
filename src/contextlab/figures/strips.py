"""The motif of the book: a conversation as a strip of blocks, each as long as its units, the window as a frame."""

from __future__ import annotations

from collections import namedtuple

from ..chat import INSTRUCTION_ROLES
from ..errors import InputError
from .svg import GROUND, INK, LETTER_INKS, NARROW, ROLE_COLOURS, ROLE_LETTERS, WIDE, Figure, figure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..replay import Trace

UNIT = "approximate units"
SMALL, NORMAL = 12, 13  # font sizes in pixels
QUIET = 0.72  # opacity of secondary text
LETTER_WIDTH = 12  # a block narrower than this, in pixels, carries no letter


class Block(namedtuple("Block", "role units state text", defaults=("kept", None))):
    """One block of a strip: role, units, ``state`` ("kept", "left" or "room"), text (None: the letter of the role)."""

    __slots__ = ()


def strip(
    blocks: Sequence[Block | tuple],
    alt: str,
    caption: str = "",
    *,
    frame: tuple[int, int] | None = None,
    frame_label: str = "",
    unit: str = UNIT,
) -> Figure:
    """Return one strip of blocks, oldest first; ``frame`` is the window over it, from and to in units.

    ``blocks``: `Block`s or ``(role, units)`` pairs. A block that left is faded and hatched.

    >>> strip([("user", 35, "left"), ("assistant", 49), ("user", 57)], "Three messages; the first has left.")
    Figure: Three messages; the first has left.
    """
    blocks = checked_blocks(blocks)
    units = sum(block.units for block in blocks)
    end = max(units, frame[1] if frame else 0)

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        scale = (width - 4) / end
        draw_blocks(ax, 2, 14, 34, scale, blocks, lettered(blocks, scale))
        if frame:
            draw_frame(ax, 2 + frame[0] * scale, 8, (frame[1] - frame[0]) * scale, 46)
            label = frame_label or f"{frame[1] - frame[0]:,} {unit}"
            span(ax, 2 + frame[0] * scale, 2 + frame[1] * scale, 71, label, width)
        draw_key(ax, top, entries, width)

    entries = key(blocks)
    top = 86 if frame else 60
    tall = [top + key_height(entries, width) for width in (WIDE, NARROW)]
    return figure(draw, alt, caption, height=tall[0], narrow_height=tall[1])


def two_strips(
    trace: Trace,
    turn: int,
    *,
    fact: str | None = None,
    mark: str = "name",
    reply_room: int = 0,
    window_name: str = "input budget",
    unit: str = UNIT,
    alt: str = "",
    caption: str | None = None,
) -> Figure:
    """Return the two strips of one request: the whole conversation on the screen, and what is sent.

    ``turn``: the request (1, 2, …). ``fact``: a text; the messages that hold it are marked with the word ``mark``.
    ``reply_room``: units of the window kept for the reply. ``window_name``: what the length of the frame is called.
    ``alt`` and ``caption`` have useful defaults.
    Raises `InputError` for a turn that the trace does not have.

    >>> from contextlab import KeepNewest, PlainRule, WordPieces
    >>> from contextlab.replay import replay
    >>> from contextlab.script import NAME, scripted_chat
    >>> trace = replay(scripted_chat(), KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()))
    >>> two_strips(trace, 19, fact=NAME)  # doctest: +ELLIPSIS
    Figure: Two strips at request 19. On your screen: 37 messages, 4,022 approximate units. In the request: ...
    """
    if not 1 <= turn <= len(trace):
        raise InputError(f"turn {turn} is not in the trace: it has requests 1 to {len(trace)}")
    chat, kept = trace.chat, trace.kept[turn - 1]
    history = chat.history.until(chat.requests[turn - 1] + 1)
    messages = [(history[i].role, history.units(i, i + 1)) for i in range(len(history))]
    marked = [] if fact is None else [i for i in range(len(history)) if fact in history[i].text]
    note_marked = fact is not None and any(fact in message.text for message in (*kept.header, *kept.footer))
    return strips(
        messages,
        kept.indices,
        window=trace.input_budget,
        instructions=sum(chat.fixed.values()),
        note=kept.header_units,
        reply_room=reply_room,
        window_name=window_name,
        marked=marked,
        note_marked=note_marked,
        mark=mark,
        request=turn,
        unit=unit,
        alt=alt,
        caption=caption,
    )


def strips(
    messages: Sequence[tuple[str, int]],
    kept: Collection[int],
    *,
    window: int,
    instructions: int = 0,
    note: int = 0,
    reply_room: int = 0,
    window_name: str = "window",
    marked: Collection[int] = (),
    note_marked: bool = False,
    mark: str = "name",
    request: int | None = None,
    unit: str = "units",
    alt: str = "",
    caption: str | None = None,
) -> Figure:
    """Return the two strips for messages given as ``(role, units)`` pairs, oldest first.

    ``kept``: indices of the messages in the request. ``window``: units of the frame, which also holds
    ``instructions``, ``note`` and, at its end, ``reply_room`` units. ``marked``: indices of the messages that get a
    flag with the word ``mark``. What a policy skips between kept messages is hatched inside the frame. Raises
    `InputError` for units below 1, unknown roles, or indices outside the messages.

    >>> chat = [("user", 5), ("assistant", 8), ("user", 6), ("assistant", 9), ("user", 4)]
    >>> strips(chat, range(2, 5), window=20, marked=[0], request=3, unit="words")  # doctest: +ELLIPSIS
    Figure: Two strips at request 3. On your screen: 5 messages, 32 words. In the request: 3 messages, ...
    """
    kept, marked = set(kept), sorted(set(marked))
    if not all(0 <= i < len(messages) for i in (*kept, *marked)):
        raise InputError(f"kept and marked are indices of the {len(messages)} messages, from 0 to {len(messages) - 1}")
    screen = checked_blocks(messages)
    if window < 1 or min(instructions, note, reply_room) < 0:
        raise InputError(
            f"a window is at least 1 unit, its parts at least 0, not {window}, {instructions}, {note}, {reply_room}"
        )
    sent = [block._replace(state="kept" if i in kept else "left") for i, block in enumerate(screen)]
    first = min(kept, default=len(messages))  # what stands before it in the request is drawn inside the frame
    head = [Block("instructions", instructions)] * (instructions > 0) + [Block("note", note)] * (note > 0)
    used = instructions + note + sum(block.units for block in sent if block.state == "kept")
    total = sum(block.units for block in screen)
    skipped = sum(block.units for block in sent[first:] if block.state == "left")  # gaps, which the frame spans
    missing = [i for i in marked if i not in kept]
    absent = bool(marked) and len(missing) == len(marked) and not note_marked
    name = f"request {request}" if request is not None else "the request"
    title = f"In {name}"
    seen = f"{_messages(len(screen))}, {total:,} {unit}"
    inside = f"{_messages(len(kept))}, {used:,} of {window:,} {unit}"
    where = ""
    if marked:
        where = f" The message with the {mark} is on the screen and {'not ' if absent else ''}in {name}."
    at = f" at {name}" if request is not None else ""
    alt = alt or (
        f"Two strips{at}. On your screen: {seen}. In the request: {inside}. {_left(len(screen) - len(kept))}{where}"
    )
    if caption is None:
        caption = f"Each block is one message, as long as its {unit.split()[-1]}."

    def draw(fig, width, height):
        ax = canvas(fig, width, height)
        gap = 6  # pixels between what has left and the frame
        before = sum(block.units for block in screen[:first])
        # The kept messages stand under themselves: what is sent before them pushes the rest to the left.
        fixed = instructions + note
        scale = (width - 6 - gap) / (fixed + max(total, before - fixed + window + skipped))
        left = 3 + gap + fixed * scale
        step = 0 if width > NARROW else 16  # in a narrow figure the numbers of a heading have a line of their own
        top, bottom, tall = 52 + step, 150 + 2 * step, 34
        letters = lettered(screen, scale)
        heading(ax, "On your screen", seen, 16, width)
        draw_blocks(ax, left, top, tall, scale, screen, letters)
        heading(ax, title, inside, 114 + step, width)
        x_frame = left + (before - fixed) * scale
        draw_blocks(ax, x_frame - gap - before * scale, bottom, tall, scale, sent[:first], letters)
        draw_blocks(ax, x_frame, bottom, tall, scale, [*head, *sent[first:]], letters)
        end = x_frame + (window + skipped) * scale
        if reply_room:
            reply = [Block("reply", reply_room, "room")]
            draw_blocks(ax, end - reply_room * scale, bottom, tall, scale, reply)
        draw_frame(ax, x_frame, bottom - 5, end - x_frame, tall + 10)
        span(ax, x_frame, end, bottom + tall + 23, f"{window_name} {window:,} {unit}", width)
        for i in marked:
            middle = sum(block.units for block in screen[:i]) + screen[i].units / 2
            flag(ax, left + middle * scale, top, mark, width)
            if i in kept:
                flag(ax, left + middle * scale, bottom, mark, width)
            else:
                flag(ax, x_frame - gap - (before - middle) * scale, bottom, f"{mark}: not sent", width, missing=True)
        if note_marked:
            flag(ax, x_frame + (instructions + note / 2) * scale, bottom, f"{mark}: in the note", width)
        draw_key(ax, bottom + tall + 44, entries, width)

    entries = key([*head, *sent, *([Block("reply", 1)] if reply_room else [])])
    wide, narrow = (228 + key_height(entries, width) for width in (WIDE, NARROW))
    return figure(draw, alt, caption, height=wide, narrow_height=narrow + 32)


def canvas(fig, width: float, height: float):
    """Return axes without axes lines, measured in pixels from the top left corner."""
    ax = fig.add_axes([0, 0, 1, 1])
    ax.set_axis_off()
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    return ax


def write(ax, x, y, text, *, size=NORMAL, align="left", bold=False, quiet=False, colour=INK):
    """Write a text at pixels; ``y`` is its baseline."""
    weight = "bold" if bold else "normal"
    alpha = QUIET if quiet else None
    ax.text(x, y, text, size=size, ha=align, va="baseline", weight=weight, alpha=alpha, color=colour, clip_on=False)


def rule(ax, xs, ys, *, width=0.75, colour=INK, alpha=None, dashes=None, gid=None):
    """Draw a thin line through points in pixels."""
    line = ax.plot(xs, ys, color=colour, linewidth=width, alpha=alpha, clip_on=False, gid=gid)[0]
    if dashes:
        line.set_dashes(dashes)
    return line


def box(ax, x, y, width, height, *, colour, edge="none", line=0.0, alpha=None, dashes=None, gid=None):
    """Draw a rectangle in pixels."""
    from matplotlib.patches import Rectangle

    patch = Rectangle((x, y), width, height, facecolor=colour, edgecolor=edge, linewidth=line, alpha=alpha, gid=gid)
    if dashes:
        patch.set_linestyle((0, dashes))
    patch.set_clip_on(False)
    ax.add_patch(patch)


def lettered(blocks: Sequence[Block], scale: float) -> set[str]:
    """Return the roles whose blocks are, on average, wide enough for a letter; some without would look like gaps."""
    units: dict[str, list[int]] = {}
    for block in blocks:
        units.setdefault(block.role, []).append(block.units)
    return {role for role, all_units in units.items() if sum(all_units) / len(all_units) * scale >= LETTER_WIDTH * 1.25}


def draw_blocks(ax, x, y, height, scale, blocks: Sequence[Block], letters: Collection[str] | None = None) -> float:
    """Draw blocks from ``x`` on, each as long as its units times ``scale``; return where they end."""
    for block in blocks:
        width = block.units * scale
        colour = ROLE_COLOURS[block.role]
        line = min(1.0, width / 4)
        gid = f"cl-block role={block.role} units={block.units}" + f" state={block.state}" * (block.state != "kept")
        if block.state == "room":
            box(ax, x, y, width, height, colour="none", edge=colour, line=1.25, dashes=(3, 2), gid=gid)
        elif block.state == "left":
            box(ax, x, y, width, height, colour=colour, alpha=0.14, gid=gid)
            hatch(ax, x, y, width, height)
            box(ax, x, y, width, height, colour="none", edge=ROLE_COLOURS["dropped"], line=line * 0.75)
        else:
            box(ax, x, y, width, height, colour=colour, edge=GROUND, line=line, gid=gid)
        if width >= LETTER_WIDTH and (
            letters is None or block.role in letters or block.role not in ("user", "assistant")
        ):
            ink = LETTER_INKS[block.role] if block.state == "kept" else INK
            letter = ROLE_LETTERS.get(block.role, "") if block.text is None else block.text
            write(ax, x + width / 2, y + height / 2 + 4.5, letter, align="center", bold=True, colour=ink)
        x += width
    return x


def hatch(ax, x, y, width, height, step: float = 4.5) -> None:
    """Hatch a rectangle with lines that go on from one rectangle to the next."""
    xs, ys = [], []
    k = -(-(x + y) // step)
    while k * step < x + width + y + height:
        total = k * step  # the line on which x + y is constant
        start, end = max(x, total - y - height), min(x + width, total - y)
        if start < end:
            xs += [start, end, None]
            ys += [total - start, total - end, None]
        k += 1
    if xs:
        nan = float("nan")
        rule(
            ax,
            [nan if v is None else v for v in xs],
            [nan if v is None else v for v in ys],
            colour=ROLE_COLOURS["dropped"],
        )


def draw_frame(ax, x, y, width, height) -> None:
    """Draw the window: a frame over the strip."""
    box(ax, x, y, width, height, colour="none", edge=INK, line=1.75, gid="cl-frame kind=window")


def span(ax, x1, x2, y, label, width) -> None:
    """Draw a dimension line with its label below the middle, inside a figure of ``width`` pixels."""
    rule(ax, [x1, x2], [y - 8, y - 8], alpha=QUIET)
    for x in (x1, x2):
        rule(ax, [x, x], [y - 12, y - 4], alpha=QUIET)
    half = text_width(label, SMALL) / 2
    middle = min(max((x1 + x2) / 2, half + 3), width - half - 3)
    write(ax, middle, y + 8, label, size=SMALL, align="center", quiet=True)


def flag(ax, x, y, text, width, missing=False) -> None:
    """Mark a block from above: a pin that stands on it, and a text; the pin of what is missing is hollow."""
    rule(ax, [x, x], [y - 15, y + 4], width=1.25, dashes=(2, 1.5) if missing else None)
    ax.plot([x], [y - 18], "o", markersize=6, color=INK, markerfacecolor="none" if missing else INK, clip_on=False)
    right = x > width * 0.7
    write(ax, x + (-8 if right else 8), y - 13.5, text, size=SMALL, align="right" if right else "left", bold=True)


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is, in pixels; page fonts differ, so this is on the safe side."""
    return 0.55 * size * len(text)


def heading(ax, title, note, y, width) -> None:
    """Write the heading of a strip with its numbers: at the right, or below it in a narrow figure."""
    write(ax, 3, y, title, bold=True)
    if width > NARROW:
        write(ax, width - 3, y, note, size=SMALL, align="right", quiet=True)
    else:
        write(ax, 3, y + 16, note, size=SMALL, quiet=True)


def key(blocks: Sequence[Block]) -> list[tuple[str, str]]:
    """Return the entries of a key for these blocks, role and label, in the order of the palette."""
    present = {block.role for block in blocks}
    entries = [(role, "reply room" if role == "reply" else role) for role in ROLE_COLOURS if role in present]
    return entries + [("dropped", "not sent")] * any(block.state == "left" for block in blocks)


def key_height(entries: Sequence[tuple[str, str]], width: float) -> int:
    """Return the pixels that a key takes in a figure of this width."""
    return 18 * len(_key_lines(entries, width))


def draw_key(ax, y, entries: Sequence[tuple[str, str]], width: float) -> None:
    """Write what the colours mean, from ``y`` down: a small block with its letter, then the label."""
    for i, line in enumerate(_key_lines(entries, width)):
        _key_line(ax, 3, y + 13 + 18 * i, line)


def _key_lines(entries, width) -> list[list[tuple[str, str]]]:
    lines, x = [[]], 0.0
    for entry in entries:
        if lines[-1] and x + _key_width(entry) > width + 6:
            lines.append([])
            x = 0
        lines[-1].append(entry)
        x += _key_width(entry)
    return lines


def _key_width(entry) -> float:
    return 17 + text_width(entry[1], SMALL) + 10


def _key_line(ax, x, y, entries) -> None:
    for role, label in entries:
        colour, size = ROLE_COLOURS[role], 13
        if role == "dropped":
            hatch(ax, x, y - 11, size, size)
            box(ax, x, y - 11, size, size, colour="none", edge=colour, line=0.75)
        elif role == "reply":
            box(ax, x, y - 11, size, size, colour="none", edge=colour, line=1.25, dashes=(3, 2))
        else:
            box(ax, x, y - 11, size, size, colour=colour)
        ink = INK if role == "reply" else LETTER_INKS.get(role, INK)
        if role in ROLE_LETTERS:
            write(ax, x + size / 2, y - 0.8, ROLE_LETTERS[role], size=10, align="center", bold=True, colour=ink)
        write(ax, x + 17, y, label, size=SMALL, quiet=True)
        x += _key_width((role, label))


def checked_blocks(blocks: Sequence[Block | tuple]) -> list[Block]:
    checked = [block if isinstance(block, Block) else Block(*block) for block in blocks]
    if not checked:
        raise InputError("a strip needs at least one block")
    # A system or developer message is drawn as what it is: instructions.
    checked = [block._replace(role="instructions") if block.role in INSTRUCTION_ROLES else block for block in checked]
    for i, block in enumerate(checked):
        if block.role not in ROLE_COLOURS:
            raise InputError(f"block {i}: unknown role {block.role!r}; known are {', '.join(ROLE_COLOURS)}")
        if not block.units > 0:
            raise InputError(f"block {i}: a block is at least 1 unit long, not {block.units}")
    return checked


def _messages(n: int) -> str:
    return f"{n:,} message" + "s" * (n != 1)


def _left(n: int) -> str:
    if n == 0:
        return "None has left."
    return f"{_messages(n)} {'has' if n == 1 else 'have'} left, hatched outside the frame."
