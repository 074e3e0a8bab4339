"""Chapter 04: keep-newest by hand, the fixed parts, an empty room."""

from __future__ import annotations

from itertools import accumulate

from contextlab.budget import room as room_after
from contextlab.keep import newest_run

from ..declare import ChooseTask, CodeTask, KeepTask, Line, NumberTask, Option, Predict, Step, Wrong
from ..rules import newest, oldest_first, skipping, total

SIX_TURNS = (20, 300, 250, 180, 400, 120)


def kept_units(sizes, room) -> int:
    return total(sizes, newest(sizes, room))


def history_units(sizes, system, window, reply) -> int:
    """What the library keeps of the history when instructions and reply are taken off."""
    return kept_units(sizes, room_after(window, {"reply reserve": reply, "instructions": system}))


def unused(sizes, window, parts) -> int:
    """What stays free in a window beside the fixed parts and the kept messages."""
    room = room_after(window, parts)
    return room - kept_units(sizes, room)


def listed(sizes) -> str:
    return ", ".join(map(str, sizes))


def from_oldest(costs, room):
    used = 0
    for i, cost in enumerate(costs):
        if used + cost > room:
            return i
        used += cost
    return len(costs)


def with_holes(costs, room):
    return min(skipping(costs, room), default=len(costs))


def exact_fit_refused(costs, room):
    return newest_run(list(accumulate(costs, initial=0)), room - 1)


def no_room_is_no_limit(costs, room):
    return newest_run(list(accumulate(costs, initial=0)), room) if room > 0 else 0


def overflow_kept(costs, room):
    return max(newest_run(list(accumulate(costs, initial=0)), room) - 1, 0)


PINNED = (
    {"system": 30, "sizes": (220, 110, 40, 100, 310, 80), "window": 600, "reply": 100},
    {"system": 50, "sizes": (150, 210, 40, 230, 180, 70), "window": 600, "reply": 100},
    {"system": 40, "sizes": (190, 340, 80, 170, 250, 170), "window": 800, "reply": 200},
)

EXERCISES = (
    Predict(
        "04-p",
        "What does the request hold?",
        "The window has 700 tokens. The newest messages that fit are sent, and nothing is set aside. How many "
        "tokens do "
        "the messages in the request have together?",
        unit="tokens",
        operands={"sizes": SIX_TURNS, "window": 700},
        right=lambda sizes, window: kept_units(sizes, window),
        wrong=(
            Wrong(
                "F13",
                lambda sizes, window: total(sizes, oldest_first(sizes, window)),
                "{given} are the oldest messages that fit: 20 + 300 + 250. The walk begins at the newest "
                "message, because "
                "the question has to be in the request.",
            ),
            Wrong(
                "S5",
                lambda sizes, window: kept_units(sizes, window - 1),
                "{given} is what fits below 700. The next message has 180 and makes 700 exactly, and that fits.",
            ),
            Wrong(
                "S3",
                lambda sizes, window: total(sizes, range(newest(sizes, window)[0] - 1, len(sizes))),
                "{given} is more than the window. You counted the message at which the walk has to stop.",
            ),
            Wrong(
                "F9",
                lambda sizes: sum(sizes),
                "{given} are all six messages. The window holds 700.",
            ),
            Wrong(
                "A1",
                lambda sizes, window: sizes[0] + kept_units(sizes[1:], window - sizes[0]),
                "{given} contains the system message. Nothing was set aside for it here: the walk reaches only the "
                "newest messages. A place of its own comes later in this chapter.",
            ),
        ),
        praise="120, then 520, then 700. The next message would make 950.",
        sure_miss="You were sure, so walk once more, with a pencil. Begin with the last message: 120. The one "
        "before it "
        "has 400: together 520. The one before that has 180: together 700, the whole window. The next has 250 and "
        "does not fit, so the walk stops. The system message has only 20, but it stands before the point where "
        "the walk "
        "stopped.",
        points=(
            "The walk begins at the newest message and adds 120, 400 and 180.",
            "700 of 700 fits: the limit itself is allowed.",
            "The walk stops at the message of 250. It does not go on to smaller, older ones.",
        ),
        solution="120 + 400 + 180 = {right} tokens, three of the six messages. The next older message has 250 "
        "and would "
        "make 950.",
    ),
    NumberTask(
        "04-q1",
        "The last four",
        "An application sends the last {n} messages of this chat, whatever their size: {list} tokens, the "
        "oldest first. "
        "How many tokens does it send?",
        unit="tokens",
        right=lambda sizes, n: sum(sizes[-n:]),
        wrong=(
            Wrong("F11", lambda sizes, n: sum(sizes[:n]), "{given} are the first {n}. The last {n} stand at the end."),
            Wrong(
                "F9",
                lambda sizes, window: kept_units(sizes, window),
                "{given} is what fits a window of {window}. This rule does not know of a window.",
            ),
            Wrong(
                "F8",
                lambda sizes, n: sum(sizes[-2 * n :]),
                "{given} are {double} messages. Here each entry of the list is one message.",
            ),
        ),
        praise="the sum of the last {n}. In a window of {window} tokens that is too much, and nobody was told.",
        solution="Add the last {n} sizes: {right} tokens. A rule that counts messages does not bound tokens.",
        variants=(
            {
                "sizes": (40, 90, 310, 60, 520, 210, 80),
                "n": 3,
                "window": 600,
                "double": 6,
                "list": listed((40, 90, 310, 60, 520, 210, 80)),
            },
            {"sizes": SIX_TURNS, "n": 4, "window": 700, "double": 8, "list": listed(SIX_TURNS)},
        ),
        quick=True,
    ),
    ChooseTask(
        "04-q2",
        "What does the model notice?",
        "Keep-newest has left out the first two messages of a chat. What does the model see in their place?",
        options=(
            Option("A mark that says how many messages are missing.", "no mark is sent, unless you write one.", "F17"),
            Option("An empty message.", "nothing stands there, not even an empty message.", "F17"),
            Option(
                "Nothing. For the model the chat begins later.",
                "so it has no reason to ask. On the screen the chat looks complete.",
                right=True,
            ),
            Option(
                "A short version of them that it made itself.",
                "a model makes no summary between two requests. The application would have to.",
                "R1",
            ),
        ),
        solution="The request begins with the third message. It carries no sign of the others.",
        quick=True,
    ),
    NumberTask(
        "04-1",
        "Fixed parts first",
        "The instructions have {system} tokens and are always sent. Then the messages: {list} tokens, the oldest "
        "first. The window has {window} tokens, {reply} of them for the reply. How many tokens do the messages have "
        "that keep-newest sends, without the instructions?",
        unit="tokens",
        right=history_units,
        wrong=(
            Wrong(
                "F2",
                lambda sizes, system, window: kept_units(sizes, window - system),
                "{given} leaves no room for the reply of {reply} tokens, which is written into the same window.",
            ),
            Wrong(
                "S6",
                lambda sizes, window, reply: kept_units(sizes, window - reply),
                "{given} fits only when the instructions are not sent. Take their {system} tokens off first.",
            ),
            Wrong(
                "F12",
                lambda sizes, system, window, reply: total(sizes, skipping(sizes, window - reply - system)),
                "to get {given} you skipped a message that did not fit and took a smaller one behind it. The walk "
                "stops at the first that does not fit.",
            ),
            Wrong(
                "F13",
                lambda sizes, system, window, reply: total(sizes, oldest_first(sizes, window - reply - system)),
                "{given} are the oldest messages that fit. Begin at the end of the list.",
            ),
            Wrong(
                "S8",
                lambda sizes, system, window, reply: history_units(sizes, system, window, reply) + system,
                "{given} contains the instructions. The question asks for the messages without them.",
            ),
        ),
        praise="the room is {window} − {reply} − {system}, and the next message does not fit into what is left of it.",
        solution="The room is {window} − {reply} − {system} = {room} tokens. From the newest: {walk}. So {right} "
        "tokens are sent beside the instructions.",
        hints=(
            "First the room: what is left of the window when instructions and reply are taken off?",
            "The room is {room} tokens. Walk from the end of the list.",
            "Stop at the first message that does not fit, even if an older one would.",
        ),
        variants=tuple(
            {
                **one,
                "list": listed(one["sizes"]),
                "room": (room := one["window"] - one["reply"] - one["system"]),
                "walk": " + ".join(map(str, reversed(one["sizes"][newest(one["sizes"], room)[0] :])))
                + f" fits, {one['sizes'][newest(one['sizes'], room)[0] - 1]} more does not",
            }
            for one in PINNED
        ),
        step=Step(
            "how large is the room for the messages?",
            lambda system, window, reply: room_after(window, {"reply reserve": reply, "instructions": system}),
            "tokens",
            "Window less reply less instructions.",
            "the room is {step} tokens. Now walk back from the newest message.",
        ),
    ),
    NumberTask(
        "04-2",
        "The instructions stay on top",
        "A chat of six messages: instructions of {system} tokens, then {list} tokens, the oldest first. The window has "
        "{window} tokens, {reply} of them for the reply. A summary of {summary} tokens is sent, and *the "
        "instructions are sent as well*. How many tokens of the window stay unused, beside the {reply} for the "
        "reply?",
        unit="tokens",
        right=lambda sizes, window, reply, system, summary: unused(
            sizes, window, {"reply": reply, "instructions": system, "summary": summary}
        ),
        wrong=(
            Wrong(
                "S6",
                lambda sizes, window, reply, summary: unused(sizes, window, {"reply": reply, "summary": summary}),
                "{given} is the answer when the instructions are part of the summary. Here they have a place of "
                "their own.",
            ),
            Wrong(
                "S7",
                lambda sizes, window, reply, system: unused(sizes, window, {"reply": reply, "instructions": system}),
                "{given} forgets the summary of {summary} tokens.",
            ),
            Wrong(
                "F2",
                lambda sizes, window, system, summary: unused(
                    sizes, window, {"instructions": system, "summary": summary}
                ),
                "{given} forgets the {reply} tokens for the reply.",
            ),
            Wrong(
                "F12",
                lambda sizes, window, reply, system, summary: (
                    (room := window - reply - system - summary) - total(sizes, skipping(sizes, room))
                ),
                "to get {given} you took an older message behind the one that does not fit. The walk stops at it.",
            ),
            Wrong(
                "S9",
                lambda window, reply, system, summary: window - reply - system - summary,
                "{given} is the whole room for the messages. The newest one still goes into it.",
            ),
        ),
        praise="the room is {room}; after the newest message of {last} the next older one of {next} does not fit.",
        solution="The room is {window} − {reply} − {system} − {summary} = {room} tokens. The newest message takes "
        "{last}. The next older one has {next} and does not fit, so the walk stops: {room} − {last} = {right} tokens "
        "stay unused. {system} tokens on top have cost a message of {next}.",
        hints=(
            "Take four things off the window: reply, instructions, summary, and then the messages that fit.",
            "The room for the messages is {room} tokens. Does the second newest message still fit?",
        ),
        variants=tuple(
            {
                "sizes": sizes,
                "system": system,
                "window": window,
                "reply": reply,
                "summary": summary,
                "list": listed(sizes),
                "room": window - reply - system - summary,
                "last": sizes[-1],
                "next": sizes[-2],
            }
            for system, sizes, window, reply, summary in (
                (20, (300, 250, 180, 400, 120), 700, 120, 60),
                (30, (260, 310, 190, 510, 150), 900, 160, 80),
            )
        ),
        step=Step(
            "how large is the room for the messages?",
            lambda window, reply, system, summary: window - reply - system - summary,
            "tokens",
            "Take reply, instructions and summary off the window.",
            "the room is {step} tokens. Now take the newest message, then look at the next older one.",
        ),
    ),
    KeepTask(
        "04-3",
        "Keep or drop",
        "The instructions are pinned: they are always sent. The window has {window} tokens, {reply} of them are kept "
        "for the reply. Mark everything that is sent.",
        unit="tokens",
        room=lambda window, reply: window - reply,
        pinned=(0,),
        right=lambda messages, room: [
            0,
            *(i + 1 for i in newest([units for _, units in messages[1:]], room - messages[0][1])),
        ],
        wrong=(
            Wrong(
                "F2",
                lambda messages, window: [
                    0,
                    *(i + 1 for i in newest([units for _, units in messages[1:]], window - messages[0][1])),
                ],
                "with these messages the window is too full: nothing is left for the reply.",
            ),
            Wrong(
                "F12",
                lambda messages, room: [
                    0,
                    *(i + 1 for i in skipping([units for _, units in messages[1:]], room - messages[0][1])),
                ],
                "you skipped the message that does not fit and went on. The walk stops at it, so that the request "
                "has no hole.",
            ),
            Wrong(
                "F13",
                lambda messages, room: [
                    0,
                    *(i + 1 for i in oldest_first([units for _, units in messages[1:]], room - messages[0][1])),
                ],
                "you began at the oldest message. The question at the end has to be in the request.",
            ),
            Wrong(
                "S6",
                lambda messages, room: newest([units for _, units in messages], room),
                "the messages are those of the walk, but the instructions are missing. They are always sent.",
            ),
        ),
        praise="{used} of {room} tokens; {left} stay unused, because the next older message does not fit into them.",
        solution="The instructions take a part of the {room} tokens. Then walk from the newest message, and "
        "stop at the "
        "first that does not fit into what is left.",
        hints=(
            "The instructions are in the sum too.",
            "Walk from the last message upwards. Look at what is left after each one.",
        ),
        variants=(
            {
                "messages": (
                    ("instructions", 30),
                    ("user", 210),
                    ("assistant", 90),
                    ("user", 340),
                    ("assistant", 60),
                    ("user", 150),
                    ("assistant", 120),
                    ("user", 40),
                ),
                "window": 780,
                "reply": 140,
            },
            {
                "messages": (
                    ("instructions", 50),
                    ("user", 120),
                    ("assistant", 280),
                    ("user", 60),
                    ("assistant", 420),
                    ("user", 90),
                    ("assistant", 200),
                    ("user", 70),
                ),
                "window": 960,
                "reply": 200,
            },
        ),
    ),
    CodeTask(
        "04-4",
        "Write keep-newest",
        "Write a function `newest(costs, room)`. `costs` are the tokens of the messages, the newest last. The answer "
        "is the index of the first message that is sent. When no message fits, it is `len(costs)`.",
        name="newest",
        lines=(
            "def newest(costs, room):",
            "    start, used = len(costs), 0",
            Line(
                "    for i in □:",
                ("range(len(costs))", "reversed(range(len(costs)))"),
                1,
                ("this begins at the oldest message.", ""),
                ("F13", ""),
            ),
            Line(
                "        if used + costs[i] □ room:",
                (">=", ">"),
                1,
                ("this refuses a message that fits exactly.", ""),
                ("S5", ""),
            ),
            Line(
                "            □",
                ("continue", "break"),
                1,
                ("this skips the message and goes on to older ones: the request gets a hole.", ""),
                ("F12", ""),
            ),
            "        start, used = i, used + costs[i]",
            "    return start",
        ),
        reference=lambda costs, room: newest_run(list(accumulate(costs, initial=0)), room),
        cases=lambda: [
            (list(SIX_TURNS), 700),
            (list(SIX_TURNS), 699),
            (list(SIX_TURNS), 580),
            (list(SIX_TURNS), 1270),
            (list(SIX_TURNS), 119),
            (list(SIX_TURNS), 0),
            (list(SIX_TURNS), -30),
            ([30, 500, 20, 10], 60),
            ([5], 5),
            ([], 10),
        ],
        wrong=(
            Wrong("F13", from_oldest, "Your function walks from the oldest message."),
            Wrong("F12", with_holes, "Your function skips what does not fit and goes on to older messages."),
            Wrong("S5", exact_fit_refused, "Your function refuses what fits exactly."),
            Wrong("F20", no_room_is_no_limit, "With no room your function sends everything."),
            Wrong("S3", overflow_kept, "Your function sends the message at which the sum is too large."),
        ),
        praise="it agrees with the library on all cases, with a room of 0 and below 0 as well.",
        hints=(
            "Walk over the indices from the last one to 0.",
            "Leave the loop at the first message that does not fit.",
        ),
        tip="The test comes before the message is added.",
    ),
)
