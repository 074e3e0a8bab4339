"""Chapter 00: request, window, keep-newest, counted in words."""

from __future__ import annotations

from itertools import accumulate

from contextlab.keep import newest_run

from ..declare import ChooseTask, CodeTask, KeepTask, Line, NumberTask, Option, Predict, Step, Wrong
from ..rules import drop_turn_of, newest, oldest_first, skipping

CHAT = (
    ("user", "Hello! My name is Ada. I want to learn to bake bread."),
    ("assistant", "Good idea! Begin with flour, water, salt and a little yeast."),
    ("user", "How long must the dough rest?"),
    ("assistant", "One hour in a warm place, until it is twice as large."),
    ("user", "And how hot should the oven be?"),
    ("assistant", "Very hot: 230 degrees. Put a pot of water in it as well."),
    ("user", "Thank you! By the way, do you remember my name?"),
)
MORE = (
    ("user", "I am allergic to nuts."),
    ("assistant", "Thank you for telling me. I will keep that in mind."),
    ("user", "What can I put on a cake for four people?"),
    ("assistant", "Apples, pears or plums. Cut them into thin slices and lay them close together."),
    ("user", "And on top?"),
    ("assistant", "Sugar and a little cinnamon."),
    ("user", "Is there something with a bite that I could add?"),
)


def words(chat) -> list[int]:
    """Return the words of each message."""
    return [len(text.split()) for _, text in chat]


def sized(chat) -> tuple:
    """Return role, words and text of each message."""
    return tuple((role, len(text.split()), text) for role, text in chat)


def listed(sizes) -> str:
    return ", ".join(map(str, sizes))


def still_there(texts, window, word):
    """What the library says: is the word in a message that keep-newest sends?"""
    prefix = list(accumulate((len(text.split()) for text in texts), initial=0))
    return any(word in text for text in texts[newest_run(prefix, window) :])


def from_oldest(texts, window, word):
    used = 0
    for text in texts:
        used += len(text.split())
        if used > window:
            return False
        if word in text:
            return True
    return False


def exact_fit_refused(texts, window, word):
    return still_there(texts, window - 1, word)


def overflow_sent(texts, window, word):
    used = 0
    for text in reversed(texts):
        if word in text:
            return True
        used += len(text.split())
        if used > window:
            return False
    return False


SIZES = (
    {"sizes": (6, 7, 5, 8, 26, 12, 12), "window": 45},
    {"sizes": (7, 16, 25, 6, 15, 7, 10, 10), "window": 40},
    {"sizes": (5, 5, 4, 12, 24, 8, 14, 5), "window": 50},
)

EXERCISES = (
    Predict(
        "00-p",
        "In which request is the name missing?",
        "The window holds 40 words. The application keeps the newest messages that fit, and leaves out everything "
        "older. In which request is your name missing for the first time?",
        unit="request",
        measured="Computed",
        units=("number", "no", "nr"),
        operands={"sizes": tuple(words(CHAT)), "window": 40},
        right=lambda sizes, window: drop_turn_of([*sizes, 0], window, 0),
        wrong=(
            Wrong(
                "F1",
                lambda sizes, window: drop_turn_of([*sizes, 0], window, 0, reply_counted=True),
                "request {given} holds three messages: 12 + 11 + 6 = 29 words. The reply to it is not in it yet. "
                "It enters with the next request.",
            ),
            Wrong(
                "S4",
                lambda sizes, window: (len(sizes) + 1) // 2,
                "request {given} is the one in which you ask. The name left one request earlier, when nobody asked "
                "for it.",
            ),
            Wrong(
                "F4",
                lambda sizes, window: 2 * drop_turn_of([*sizes, 0], window, 0) - 1,
                "{given} is the number of the message at which it happens. Each request adds two messages, so this "
                "is a request with a smaller number.",
            ),
        ),
        praise="request {right} would need 12 + 11 + 6 + 12 + 7 = 48 words, and 40 fit.",
        sure_miss="You were sure, so look at the sum once more. A request holds the earlier messages *and their "
        "replies*, and the new message at the end. Request 1 has 1 message, request 2 has 3, request 3 has 5. Add "
        "up the words of these messages: 12, then 29, then 48. The first sum above 40 is the answer.",
        why="Why in this request? One sentence. Nobody grades it.",
        points=(
            "Request 3 would have to hold five messages: three of yours and two replies.",
            "Together they have 48 words, more than the 40 of the window.",
            "The message with the name is the oldest, so it is the one that stays out.",
        ),
        solution="Request 1 has 12 words, request 2 has 29, request 3 would have 48. The window holds 40, so request "
        "{right} is the first without the oldest message, the one with the name.",
    ),
    ChooseTask(
        "00-q1",
        "Where is the message?",
        "Request 3 was sent without your first message. Where is that message now?",
        options=(
            Option("It is deleted.", "nothing was deleted. Your screen still shows it.", "F15"),
            Option(
                "In the model, which read it in requests 1 and 2.",
                "the model keeps nothing between two requests. What is not sent again, it does not know.",
                "R1",
            ),
            Option(
                "In the conversation that the application stores, and not in request 3.",
                "the stored conversation is complete. The request is a part of it.",
                right=True,
            ),
            Option(
                "In request 3, but the model does not look at it.",
                "count the words of request 3 again. There was no room for this message.",
                "S3",
            ),
        ),
        solution="The application stores the whole conversation and shows it on the screen. It sends a part of it.",
        quick=True,
    ),
    NumberTask(
        "00-q2",
        "Messages in a request",
        "A conversation has reached request {turn}, and nothing has been left out so far. How many messages does "
        "request {turn} hold?",
        unit="messages",
        right=lambda turn: 2 * turn - 1,
        wrong=(
            Wrong(
                "F7",
                lambda turn: 2 * turn,
                "{given} would be two messages for every turn. The reply to the last message does not exist yet.",
            ),
            Wrong("F8", lambda turn: turn, "{given} counts only your messages. The replies are sent again as well."),
            Wrong(
                "R5",
                lambda turn: 2 * (turn - 1),
                "{given} are the messages before this turn. The new message is sent with them.",
            ),
        ),
        praise="{turn} messages of yours, and the replies to all but the last: {right}.",
        solution="Before request {turn} there are 2 × ({turn} − 1) messages. With the new one that makes {right}.",
        variants=({"turn": 7}, {"turn": 12}, {"turn": 30}),
        quick=True,
    ),
    NumberTask(
        "00-1",
        "Walk back from the newest message",
        "A conversation has these messages, with their words, the oldest first: {list}. The window holds {window} "
        "words. How many messages does keep-newest send?",
        unit="messages",
        right=lambda sizes, window: len(newest(sizes, window)),
        wrong=(
            Wrong(
                "F12",
                lambda sizes, window: len(skipping(sizes, window)),
                "to get {given} you skipped the message that did not fit and went on to older ones. The walk stops "
                "at it.",
            ),
            Wrong(
                "F13",
                lambda sizes, window: len(oldest_first(sizes, window)),
                "{given} messages fit when you begin at the oldest one. Begin at the newest, at the end of the list.",
            ),
            Wrong(
                "S3",
                lambda sizes, window: len(newest(sizes, window)) + 1,
                "with {given} messages the sum is larger than {window}. The message at which that happens is not sent.",
            ),
        ),
        praise="the next one would make the sum larger than {window} words.",
        solution="From the end of the list: {walk}. The walk stops there, and {right} messages are sent.",
        hints=(
            "Begin at the end of the list, with the newest message.",
            "Add one message after the other. Stop before the sum is larger than {window}.",
        ),
        variants=tuple(
            {
                **one,
                "list": listed(one["sizes"]),
                "walk": " + ".join(map(str, reversed(one["sizes"][-len(newest(one["sizes"], one["window"])) - 1 :])))
                + f" is more than {one['window']}",
            }
            for one in SIZES
        ),
        step=Step(
            "how many words do the two newest messages have together?",
            lambda sizes: sum(sizes[-2:]),
            "words",
            "The two newest messages are the last two of the list. Add their words.",
            "{step} words. Now try the next older message.",
        ),
    ),
    NumberTask(
        "00-2",
        "The first request without it",
        "In another chat the messages have, from the first on: {list} words; yours and the replies take turns. The "
        "window holds {window} words. In which request is the first message missing for the first time?",
        unit="request",
        units=("number", "no", "nr"),
        right=lambda sizes, window: drop_turn_of(sizes, window, 0),
        wrong=(
            Wrong(
                "F1",
                lambda sizes, window: drop_turn_of(sizes, window, 0, reply_counted=True),
                "request {given} still holds it. Either you counted the reply to this request, which does not exist "
                "yet, or you gave the last request with the message. The first one without it comes after that.",
            ),
            Wrong(
                "R13",
                lambda sizes, window: drop_turn_of(sizes, window, 0, users_only=True),
                "{given} comes out when only your own messages are counted. The replies are sent again as well.",
            ),
            Wrong(
                "F4",
                lambda sizes, window: 2 * drop_turn_of(sizes, window, 0) - 1,
                "{given} is the number of messages at that point. The question asks for the number of the request.",
            ),
        ),
        praise="the messages up to that request have more than {window} words for the first time.",
        solution="Add up the words of the messages in each request: {sums}. The first sum above {window} belongs to "
        "request {right}.",
        hints=(
            "Request 1 holds one message, request 2 holds three, request 3 holds five.",
            "Add up the words of all messages in each request. Look for the first sum above {window}.",
        ),
        variants=tuple(
            {
                "sizes": sizes,
                "window": window,
                "list": listed(sizes),
                "sums": listed(list(accumulate(sizes))[::2]),
            }
            for sizes, window in (
                ((9, 14, 6, 12, 8, 15, 7, 13, 20, 9, 24, 10), 60),
                ((4, 10, 9, 12, 9, 12, 6, 19, 4, 11, 7, 17, 10, 12, 8, 8, 10, 8, 9, 12), 75),
                ((7, 10, 9, 16, 6, 11, 5, 14, 18, 12, 22, 8, 9, 10), 55),
            )
        ),
        step=Step(
            "how many words does request 3 hold, when nothing has been left out?",
            lambda sizes: sum(sizes[:5]),
            "words",
            "Request 3 holds the first five messages of the list. Add their words.",
            "{step} words. Go on with request 4, which holds seven messages.",
        ),
    ),
    KeepTask(
        "00-3",
        "What is sent?",
        "{intro} The window holds {window} words. Mark the messages that keep-newest sends.",
        unit="words",
        room=lambda window: window,
        right=lambda messages, room: newest([one[1] for one in messages], room),
        wrong=(
            Wrong(
                "F12",
                lambda messages, room: skipping([one[1] for one in messages], room),
                "you left out the message that does not fit and took an older one behind it. The conversation "
                "would have a hole. The walk stops at the first message that does not fit.",
            ),
            Wrong(
                "F13",
                lambda messages, room: oldest_first([one[1] for one in messages], room),
                "you began at the oldest message. Then the question at the end is not sent, and the model does not "
                "know what to answer.",
            ),
        ),
        praise="{kept} messages, {used} words, {left} left over. Read them as the model does, from the first one.",
        solution="From the newest message back: take each one while the sum stays within {room} words. Stop at the "
        "first that does not fit.",
        hints=("Begin at the last message of the list.", "After each message, look at what is left."),
        variants=(
            {
                "messages": sized(MORE),
                "window": 37,
                "intro": "Here is a chat about a cake, at the moment of its last question.",
            },
            {
                "messages": sized(CHAT),
                "window": 41,
                "intro": "Here is the chat about bread again, with a window that is one word larger.",
            },
        ),
    ),
    CodeTask(
        "00-4",
        "Notice the loss in time",
        "Write a function `still_there(texts, window, word)`. `texts` are the messages, the newest last. The answer "
        "is `True` when `word` stands in a message that keep-newest sends, and `False` when it does not.",
        name="still_there",
        lines=(
            "def still_there(texts, window, word):",
            "    used = 0",
            Line(
                "    for text in □:",
                ("texts", "reversed(texts)"),
                1,
                ("this begins at the oldest message. Keep-newest begins at the newest one.", ""),
                ("F13", ""),
            ),
            "        used += len(text.split())",
            Line(
                "        if used □ window:",
                (">=", ">"),
                1,
                ("this refuses a message that fits exactly. A window of 40 words holds 40 words.", ""),
                ("S5", ""),
            ),
            "            return False",
            "        if word in text:",
            "            return True",
            "    return False",
        ),
        reference=still_there,
        cases=lambda: (
            [
                ([text for _, text in CHAT[:count]], window, "Ada")
                for count in (1, 3, 5, 7)
                for window in (12, 29, 40, 48)
            ]
            + [(["nuts nuts", "a b c", "d"], 4, "nuts"), ([], 10, "Ada"), (["a b", "b", "c d"], 4, "a")]
        ),
        wrong=(
            Wrong("F13", from_oldest, "Your function begins at the oldest message."),
            Wrong("S5", exact_fit_refused, "Your function refuses a message that fits exactly."),
            Wrong("S3", overflow_sent, "Your function looks into a message before it knows that it fits."),
        ),
        praise="it agrees with the library on all cases. An application that calls it before each request can warn.",
        hints=(
            "Walk as keep-newest does: from the newest message, adding up words.",
            "Look for the word only in a message that fits. So the test of the window comes first.",
        ),
        tip="A message has to fit before its text counts.",
    ),
)
