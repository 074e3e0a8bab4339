"""Chapter 02: what shares a window, the size of a reply, what is billed when a service keeps the thread."""

from __future__ import annotations

from contextlab.budget import WindowParts, reply_room
from contextlab.errors import BudgetError

from ..declare import ChooseTask, CodeTask, KeepTask, Line, NumberTask, Option, Predict, Step, Wrong
from ..rules import newest, oldest_first, skipping

HELP_DESK = {"window": 8192, "instructions": 350, "tools": 640, "new_message": 90, "reply": 1024, "margin": 200}


def room_of(window: int, **parts: int) -> int:
    return WindowParts(**parts).room(window)


def turns_that_fit(window: int, turn: int, passages: int, **parts: int) -> int:
    return WindowParts(**parts, retrieved=passages).room(window) // turn


def input_of(request: int, instructions: int, user: int, reply: int) -> int:
    """Return what the model reads in a request: instructions, all earlier turns, the new message."""
    return instructions + (request - 1) * (user + reply) + user


def shown(window: int, prompt: int, cap: int, asked: int, reasoning: int = 0) -> int:
    return reply_room(window, prompt, cap=cap, asked=asked, reasoning=reasoning)


def reply_or_nothing(window, prompt, cap, asked):
    try:
        return reply_room(window, prompt, cap=cap, asked=asked)
    except BudgetError:
        return 0


def without_prompt(window, prompt, cap, asked):
    return min(cap, asked, window)


def both_in_one(window, prompt, cap, asked):
    return max(min(cap, asked - prompt, window - prompt), 0)


def below_zero(window, prompt, cap, asked):
    return min(cap, asked, window - prompt)


def what_was_asked(window, prompt, cap, asked):
    return asked


def largest(window, prompt, cap, asked):
    return max(cap, asked, window - prompt)


CHAT = (("user", 310), ("assistant", 420), ("user", 60), ("assistant", 520), ("user", 110), ("assistant", 240))
LATER_CHAT = (("user", 290), ("assistant", 380), ("user", 130), ("assistant", 610), ("user", 70), ("assistant", 290))


def costs_of(messages) -> list[int]:
    return [units for _, units in messages]


EXERCISES = (
    Predict(
        "02-p",
        "What is left for the history?",
        "The window of the help desk has {window} tokens. The table above names what is always in it. How many tokens "
        "are left for the history?",
        unit="tokens",
        measured="Computed",
        operands=HELP_DESK,
        right=lambda window, instructions, tools, new_message, reply, margin: room_of(
            window, instructions=instructions, tools=tools, new_message=new_message, reply=reply, margin=margin
        ),
        wrong=(
            Wrong(
                "R8",
                lambda window, instructions, tools, new_message, margin: room_of(
                    window, instructions=instructions, tools=tools, new_message=new_message, margin=margin
                ),
                "{given} leaves no room for the reply. It is written behind the request, into the same window.",
            ),
            Wrong(
                "S14",
                lambda window, instructions, tools, new_message, reply: room_of(
                    window, instructions=instructions, tools=tools, new_message=new_message, reply=reply
                ),
                "{given} leaves out the margin. It stays free, because a count can be too low.",
            ),
            Wrong(
                "S6",
                lambda window, tools, new_message, reply, margin: room_of(
                    window, tools=tools, new_message=new_message, reply=reply, margin=margin
                ),
                "{given} leaves out the instructions. They are sent with every request.",
            ),
            Wrong(
                "R12",
                lambda window, instructions, new_message, reply, margin: room_of(
                    window, instructions=instructions, new_message=new_message, reply=reply, margin=margin
                ),
                "{given} leaves out the tools. Their descriptions are sent even when no tool is called.",
            ),
            Wrong(
                "R5",
                lambda window, instructions, tools, reply, margin: room_of(
                    window, instructions=instructions, tools=tools, reply=reply, margin=margin
                ),
                "{given} leaves out the new message. It is not history yet, and it is sent.",
            ),
            Wrong(
                "A1",
                lambda window: window,
                "{given} is the whole window. Five parts stand in it before the history does.",
            ),
        ),
        praise="each of the five parts is taken off, the reply and the margin as well.",
        sure_miss="You were sure, so add up the column once more: 350 + 640 + 90 + 1,024 + 200 = 2,304. Everything in "
        "it needs a place in the window. The reply is not sent, and it needs its place all the same: the model writes "
        "it behind the request, into the same window.",
        points=(
            "Input and reply share one window, so the reply needs room before it exists.",
            "Tool descriptions are sent with every request.",
            "The history gets what the other parts leave.",
        ),
        solution="{window} − 350 − 640 − 90 − 1,024 − 200 = {right} tokens.",
    ),
    NumberTask(
        "02-q1",
        "A passage is looked up",
        "The room for the history was {room} tokens. Now a passage of {passages} tokens is looked up and sent with the "
        "question. A turn has {turn} tokens. How many whole turns of the history fit?",
        unit="turns",
        right=lambda room, passages, turn: (room - passages) // turn,
        wrong=(
            Wrong(
                "S14",
                lambda room, turn: room // turn,
                "{given} turns fit without the passage. It is sent as well, so take it off first.",
            ),
            Wrong(
                "S3",
                lambda room, passages, turn: (room - passages) // turn + 1,
                "{given} whole turns are more than the room. The last one does not fit.",
            ),
            Wrong(
                "S9",
                lambda room, passages: room - passages,
                "{given} is the room in tokens. How many turns of {turn} tokens is that?",
            ),
        ),
        praise="{room} − {passages} = {rest}, and that holds {right} turns of {turn}.",
        solution="{room} − {passages} = {rest} tokens. Divided by {turn}, rounded down: {right} turns.",
        variants=tuple(
            {"room": room, "passages": passages, "turn": turn, "rest": room - passages}
            for room, passages, turn in ((5888, 1200, 230), (3400, 900, 190), (7250, 2100, 310))
        ),
        quick=True,
    ),
    ChooseTask(
        "02-q2",
        "It forgets after a few pages",
        "A model is advertised with a window of 131,072 tokens. You run it on your own machine and set nothing. After "
        "a few pages of chat the beginning is forgotten. What do you look at first?",
        options=(
            Option(
                "The reply cap of the model.",
                "the cap limits one reply. It takes nothing away from what is read.",
                "R9",
            ),
            Option(
                "The window that the server gives the model.",
                "the server decides how many tokens it makes room for. The number on the model's page is the most.",
                right=True,
            ),
            Option(
                "Nothing. With 131,072 tokens the text must still be there, so the model does not use it.",
                "the advertised number says what the model can do. It does not say what this server sets aside.",
                "R16",
            ),
            Option(
                "Whether the model has stored the first messages.",
                "a model stores nothing between two requests. What is not sent again does not exist for it.",
                "R1",
            ),
        ),
        solution="Look at the window as served: the log of the server states it, or a setting such as `num_ctx`. A "
        "chat that is cut at 4,096 tokens loses its beginning after a few pages.",
        quick=True,
    ),
    NumberTask(
        "02-1",
        "How long can the reply be?",
        "The window has {window} tokens, the prompt {prompt}. The model's reply cap is {cap}. The request asks for at "
        "most {asked}. The model first writes {reasoning} tokens of reasoning that are not shown. How many "
        "tokens of the reply can be shown at most?",
        unit="tokens",
        right=shown,
        wrong=(
            Wrong(
                "R15",
                lambda window, prompt, cap, asked: shown(window, prompt, cap, asked),
                "{given} is the whole allowance. The reasoning of {reasoning} tokens comes out of it.",
            ),
            Wrong(
                "R8",
                lambda cap, asked, reasoning: min(cap, asked) - reasoning,
                "{given} is what was asked for, less the reasoning. The window ends earlier: look at what the prompt "
                "leaves of it.",
            ),
            Wrong(
                "R9",
                lambda cap, reasoning: cap - reasoning,
                "{given} takes the reply cap as a promise. It is a limit, and two others are lower here.",
            ),
            Wrong(
                "R8",
                lambda window, reasoning: window - reasoning,
                "{given} gives the whole window to the reply. The prompt is in it already.",
            ),
        ),
        praise="the window is the lowest of the three limits: it leaves {left}, and the reasoning takes {reasoning}.",
        solution="Three limits: the cap {cap}, the request {asked}, the window {window} − {prompt} = {left}. The "
        "lowest is {left}. Less {reasoning} for the reasoning: {right} tokens.",
        hints=(
            "There are three limits for a reply. Which is the lowest?",
            "The window leaves {left} tokens behind the prompt. The hidden reasoning is written there as well.",
        ),
        variants=tuple(
            {
                "window": window,
                "prompt": prompt,
                "cap": cap,
                "asked": asked,
                "reasoning": reasoning,
                "left": window - prompt,
            }
            for window, prompt, cap, asked, reasoning in (
                (8192, 6900, 4096, 2000, 500),
                (16384, 15000, 8192, 2048, 600),
                (32768, 31500, 4096, 1500, 700),
            )
        ),
        step=Step(
            "how many tokens does the window leave behind the prompt?",
            lambda window, prompt: window - prompt,
            "tokens",
            "Window less prompt.",
            "{step} tokens. Compare that with the two other limits, then take the reasoning off.",
        ),
    ),
    NumberTask(
        "02-2",
        "The service keeps the thread",
        "A service stores the conversation. For request {request} you send the new message and the number of the "
        "thread. The instructions have {instructions} tokens, every user message {user}, every reply {reply}. "
        "Everything so far fits the window. How many input tokens does the model read in request {request}?",
        unit="tokens",
        right=input_of,
        wrong=(
            Wrong(
                "R2",
                lambda instructions, user: instructions + user,
                "{given} is what a model without the earlier turns would read. The service puts the whole thread "
                "before the new message.",
            ),
            Wrong(
                "R1",
                lambda user: user,
                "{given} is what you send. The model keeps nothing of the thread, so the service sends it again.",
            ),
            Wrong(
                "F1",
                lambda request, instructions, user, reply: instructions + request * (user + reply),
                "{given} contains the reply to request {request}. It does not exist yet.",
            ),
            Wrong(
                "R13",
                lambda request, instructions, user: instructions + request * user,
                "{given} counts the messages of the user. The replies are part of the thread.",
            ),
            Wrong(
                "R5",
                lambda request, instructions, user, reply: instructions + (request - 1) * (user + reply),
                "{given} is the thread before the new message. The message of {user} tokens is read as well.",
            ),
            Wrong(
                "S6",
                lambda request, user, reply: input_of(request, 0, user, reply),
                "{given} leaves out the instructions. They belong to every request.",
            ),
        ),
        praise="it is the same as when you send everything yourself, and so is the bill for the input.",
        solution="Instructions, {before} earlier turns of {turn} tokens, and the new message: {instructions} + "
        "{before} × {turn} + {user} = {right} tokens.",
        hints=(
            "What does the model read when it has no memory of its own?",
            "Instructions, {before} whole turns, one new message.",
        ),
        variants=tuple(
            {
                "request": request,
                "instructions": instructions,
                "user": user,
                "reply": reply,
                "before": request - 1,
                "turn": user + reply,
            }
            for request, instructions, user, reply in ((10, 350, 60, 140), (12, 280, 45, 165), (8, 420, 75, 215))
        ),
        step=Step(
            "how many tokens do the {before} earlier turns have?",
            lambda request, user, reply: (request - 1) * (user + reply),
            "tokens",
            "A turn is a user message and its reply: {turn} tokens.",
            "{step} tokens. Add the instructions and the new message.",
        ),
    ),
    KeepTask(
        "02-3",
        "Keep-newest in what is left",
        "From chapter 00: the newest messages that fit are sent, without a gap. The window has {window} tokens. "
        "Instructions take {instructions} of them, tools {tools}, the new message {new_message}, the reply {reply} and "
        "the margin {margin}. Mark the messages of the history that are sent.",
        unit="tokens",
        room=lambda window, instructions, tools, new_message, reply, margin: room_of(
            window, instructions=instructions, tools=tools, new_message=new_message, reply=reply, margin=margin
        ),
        right=lambda messages, room: newest(costs_of(messages), room),
        wrong=(
            Wrong(
                "R8",
                lambda messages, room, reply, margin: newest(costs_of(messages), room + reply + margin),
                "with these messages the request fits, and no room is left for the reply.",
            ),
            Wrong(
                "F12",
                lambda messages, room: skipping(costs_of(messages), room),
                "the walk stops at the first message that does not fit. Nothing older is sent, even if it is small.",
            ),
            Wrong(
                "F13",
                lambda messages, room: oldest_first(costs_of(messages), room),
                "these are the oldest messages that fit. Keep-newest begins at the other end.",
            ),
            Wrong(
                "A1",
                lambda messages, window: newest(costs_of(messages), window),
                "these messages fit a window that holds nothing else. Take the five other parts off first.",
            ),
        ),
        praise="the room is {room} tokens, and these messages take {used} of it.",
        solution="The room is what the five parts leave: {room} tokens. From the newest message back, {kept} messages "
        "fit; they have {used} tokens.",
        hints=("Add the five parts, and take the sum off the window.", "The room is {room} tokens."),
        variants=(
            {
                "messages": CHAT,
                "window": 2048,
                "instructions": 200,
                "tools": 330,
                "new_message": 70,
                "reply": 700,
                "margin": 100,
            },
            {
                "messages": LATER_CHAT,
                "window": 2560,
                "instructions": 260,
                "tools": 480,
                "new_message": 60,
                "reply": 800,
                "margin": 100,
            },
        ),
    ),
    CodeTask(
        "02-4",
        "The size of the reply",
        "Write a function `reply_size(window, prompt, cap, asked)`. It returns the most tokens that the reply can "
        "have, and 0 when the prompt fills the window or exceeds it.",
        name="reply_size",
        lines=(
            "def reply_size(window, prompt, cap, asked):",
            Line(
                "    left = □",
                ("window", "window - prompt", "asked - prompt"),
                1,
                (
                    "this gives the whole window to the reply. The prompt is in it already.",
                    "",
                    "the number that is asked for limits the reply and nothing else.",
                ),
                ("R8", "", "R7"),
            ),
            Line(
                "    size = □(cap, asked, left)",
                ("max", "min"),
                1,
                ("every limit holds, so the lowest one decides.", ""),
                ("R9", ""),
            ),
            "    if size < 0:",
            Line(
                "        size = □",
                ("0", "asked"),
                0,
                ("", "the prompt exceeds the window. Nothing can be written."),
                ("", "F20"),
            ),
            "    return size",
        ),
        reference=reply_or_nothing,
        cases=lambda: [
            (128_000, 50_000, 4096, 8000),
            (128_000, 127_800, 4096, 8000),
            (256, 208, 4096, 400),
            (8192, 3000, 4096, 500),
            (8192, 8192, 4096, 500),
            (8192, 8300, 4096, 500),
            (8192, 300, 1000, 100_000),
            (4096, 62, 4096, 4096),
        ],
        wrong=(
            Wrong("R8", without_prompt, "Your function does not take the prompt off the window."),
            Wrong("R7", both_in_one, "Your function takes the prompt off what was asked for. That limits the reply."),
            Wrong("F20", below_zero, "Your function returns a negative number when the prompt exceeds the window."),
            Wrong("R9", what_was_asked, "Your function promises what was asked for. Two other limits hold as well."),
            Wrong("R9", largest, "Your function takes the highest limit. The lowest one decides."),
        ),
        praise="it agrees with `reply_room` of the library, which raises an error where yours returns 0.",
        hints=(
            "Three numbers limit a reply: the cap, what is asked for, and what the window has left.",
            "The lowest of them is the answer, unless it is negative.",
        ),
        tip="First what is left of the window, then the lowest of the three limits.",
    ),
)
