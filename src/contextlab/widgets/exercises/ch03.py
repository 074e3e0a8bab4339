"""Chapter 03: what stands around the texts of a request, where it stands, and what tools cost."""

from __future__ import annotations

import json
from functools import cache

from contextlab.render import ChatML, OpenAIRecipe, SystemInLastUser, Template
from contextlab.texts import cookbook
from contextlab.tokens import BPE

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong

COUNT, OLD = BPE("o200k_base"), BPE("cl100k_base")
CHAT = (
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "My name is Ada."},
    {"role": "assistant", "content": "Nice to meet you, Ada."},
    {"role": "user", "content": "What is my name?"},
)
MARKERS = ("<|im_start|>", "<|im_end|>")


def texts() -> int:
    return sum(COUNT(message["content"]) for message in CHAT)


def roles() -> int:
    return sum(COUNT(message["role"]) for message in CHAT)


def named(text: int, name: int) -> int:
    """Return what the library counts for a user message of so many tokens with a name of so many."""
    rule = OpenAIRecipe(lambda words: len(words.split()))
    return rule.message({"role": "user", "content": "word " * text, "name": "word " * name})


@cache
def tool_sizes() -> tuple[int, int]:
    """Return the tokens of the cookbook's request with the weather tool, without it and with it."""
    messages, tools = cookbook("weather")
    rule = OpenAIRecipe(COUNT)
    return rule.request(messages), rule.request(messages, tools)


def real_request(counted: int, low: int, messages: int) -> int:
    """Return the tokens of a request whose texts were counted `low` percent too low."""
    return counted * 100 // (100 - low) + 4 * messages + 3


PLACES = ("CLOCK", "SYSTEM", "FIRST", "REPLY", "NEWEST")


@cache
def places() -> tuple[int, ...]:
    """Return where each part begins in the text that the second template makes."""
    chat = [
        {"role": "system", "content": "SYSTEM"},
        {"role": "user", "content": "FIRST"},
        {"role": "assistant", "content": "REPLY"},
        {"role": "user", "content": "NEWEST"},
    ]
    tool = {"type": "function", "function": {"name": "CLOCK"}}
    text = SystemInLastUser(COUNT).render(chat, [tool])
    return tuple(text.index(part) for part in PLACES)


def moved(part: str, place: float) -> list[float]:
    """Return the places with one part put elsewhere."""
    found = [float(at) for at in places()]
    found[PLACES.index(part)] = place
    return found


def request_text(text: str, markers, count) -> int:
    return Template("", count, markers=markers).count(text)


def as_text(text, markers, count):
    return count(text)


def without_markers(text, markers, count):
    for marker in markers:
        text = text.replace(marker, "")
    return count(text)


def pieces_alone(text, markers, count):
    return request_text(text, markers, count) - sum(text.count(marker) for marker in markers)


def one_too_many(text, markers, count):
    return request_text(text, markers, count) + 1


def one_each(text, markers, count):
    return pieces_alone(text, markers, count) + len(markers)


EXERCISES = (
    Predict(
        "03-p",
        "What does the recipe count?",
        "The four texts have {texts} tokens together. How many input tokens does OpenAI's published recipe count for "
        "this request? A guess is enough: think of what else the model has to be told.",
        unit="tokens",
        measured="Computed",
        operands={"texts": texts(), "messages": len(CHAT), "roles": roles()},
        right=lambda: OpenAIRecipe(COUNT).request(CHAT),
        wrong=(
            Wrong(
                "R10",
                lambda texts: texts,
                "{given} are the texts alone. The model must also learn where a message begins and who speaks.",
            ),
            Wrong(
                "R10",
                lambda texts, roles: texts + roles,
                "{given} are the texts and the four roles. The marks between the messages are tokens as well.",
            ),
            Wrong(
                "R10",
                lambda texts: texts + 3,
                "{given} is the texts and the beginning of the reply. Each message has marks of its own.",
            ),
            Wrong(
                "R10",
                lambda texts, messages: texts + 3 * messages,
                "{given} has three tokens for each message. The role is one more, and the reply needs a beginning.",
            ),
            Wrong(
                "R10",
                lambda texts, messages, roles: texts + 3 * messages + roles,
                "{given} is close: all four messages are right. Three tokens for the beginning of the reply are "
                "missing.",
            ),
            Wrong(
                "R18",
                lambda: COUNT(json.dumps(list(CHAT))),
                "{given} is what the JSON of this request has as a text. The service reads it; the model does not.",
            ),
        ),
        praise="three tokens and a role for each message, three for the beginning of the reply.",
        sure_miss="You were sure, so add it up. The texts have {texts} tokens. Each of the four messages is sent with "
        "its role, one token, and with three tokens that mark where it begins and ends: together 16. The model must "
        "also be told that the assistant speaks now: three more.",
        points=(
            "The roles are sent as text.",
            "Marks say where each message begins and ends.",
            "The beginning of the reply is part of the request.",
        ),
        solution="{texts} + 4 × (3 + 1) + 3 = {right} tokens, by the recipe that OpenAI has published.",
    ),
    NumberTask(
        "03-q1",
        "A message with a name",
        "A user message has a text of {text} tokens and is sent with a name of {name} tokens. Its role is one token. "
        "How many tokens does this message add to a request, by the recipe?",
        unit="tokens",
        right=named,
        wrong=(
            Wrong("R10", lambda text: text, "{given} is the text. Role, name and marks are counted as well."),
            Wrong(
                "R10",
                lambda text, name: named(text, name) - name - 1,
                "{given} leaves out the name. It costs its own tokens and one more.",
            ),
            Wrong(
                "R10",
                lambda text, name: named(text, name) - 1,
                "{given} is one too low. A role is one token, and a name costs one beside its own tokens.",
            ),
            Wrong(
                "R10",
                lambda text, name: named(text, name) - 3,
                "{given} leaves out the three tokens that stand around each message.",
            ),
            Wrong(
                "R19",
                lambda text, name: named(text, name) + 3,
                "{given} contains the beginning of the reply. A request has it once; it belongs to no message.",
            ),
        ),
        praise="3 around it, 1 for the role, {text} of text, {name} of the name and 1 because there is a name.",
        solution="3 + 1 + {text} + {name} + 1 = {right} tokens.",
        variants=tuple({"text": text, "name": name} for text, name in ((12, 3), (30, 4), (45, 5))),
        quick=True,
    ),
    ChooseTask(
        "03-q2",
        "Where does the model read it?",
        "A chat has ten questions and nine replies. You add “Answer in French.” to the system message, which is the "
        "first in your list. The service renders the list with the second template. Where does the model read the "
        "sentence?",
        options=(
            Option(
                "At the top, before the first question.",
                "that is its place in your list. This template puts it elsewhere.",
                "R20",
            ),
            Option("Before each of the ten questions.", "it stands in the text once.", "R20"),
            Option(
                "Directly before the tenth question.",
                "behind the nine turns, and one turn later with each request.",
                right=True,
            ),
            Option(
                "Nowhere: the model has known it since the first request.",
                "a model keeps nothing between two requests.",
                "R1",
            ),
        ),
        solution="The template collects the system texts and prints them inside the last user message. Render a "
        "request and look.",
        quick=True,
    ),
    NumberTask(
        "03-1",
        "Tools that are seldom called",
        "A request has {without} tokens without its tools and {total} with them. A chat has {requests} requests. A "
        "tool is called in {calls} of them. How many input tokens do the descriptions of the tools cost in the whole "
        "chat? Take all requests as equally long.",
        unit="tokens",
        right=lambda without, total, requests: (total - without) * requests,
        wrong=(
            Wrong(
                "R12",
                lambda without, total, calls: (total - without) * calls,
                "{given} counts the {calls} requests with a call. The descriptions are sent with all {requests}.",
            ),
            Wrong(
                "R2",
                lambda without, total: total - without,
                "{given} is the cost in one request. They are sent again with each of the {requests}.",
            ),
            Wrong(
                "R12",
                lambda without, total, requests, calls: (total - without) * (requests - calls),
                "{given} leaves out the requests with a call. The descriptions are in those as well.",
            ),
            Wrong(
                "R21",
                lambda total, requests: total * requests,
                "{given} is everything that was sent. The tools are the difference of the two counts.",
            ),
        ),
        praise="{total} − {without} = {cost} in each of the {requests} requests.",
        solution="The tools cost {total} − {without} = {cost} tokens a request. {requests} × {cost} = {right} tokens.",
        hints=(
            "The cost of the tools in one request is the difference of the two counts.",
            "In how many requests are the descriptions sent?",
        ),
        variants=tuple(
            {"without": without, "total": total, "requests": requests, "calls": calls, "cost": total - without}
            for (without, total), requests, calls in (
                (tool_sizes(), 12, 3),
                ((480, 1120), 40, 6),
                ((350, 1620), 25, 4),
            )
        ),
        step=Step(
            "how many tokens do the tools add to one request?",
            lambda without, total: total - without,
            "tokens",
            "With the tools less without them.",
            "{step} tokens, in every request.",
        ),
    ),
    NumberTask(
        "03-2",
        "A low counter, and the marks",
        "From chapter 01: your counter is {low} % too low for texts like yours. It says {counted} for the texts of "
        "{messages} messages together. Each message costs four tokens more than its text (marks and role), and the "
        "reply begins with three. How many tokens does the request have?",
        unit="tokens",
        right=real_request,
        wrong=(
            Wrong(
                "T3",
                lambda counted, low, messages: counted * (100 + low) // 100 + 4 * messages + 3,
                "{given} adds {low} % of the *counted* number. The counter sees {seen} % of the real one, so divide "
                "by {share}.",
            ),
            Wrong(
                "T2",
                lambda counted, messages: counted + 4 * messages + 3,
                "{given} takes the counter at its word. It is {low} % too low for these texts.",
            ),
            Wrong(
                "R10",
                lambda counted, low: counted * 100 // (100 - low),
                "{given} are the texts alone. Marks, roles and the beginning of the reply come on top.",
            ),
            Wrong(
                "R19",
                lambda counted, low, messages: real_request(counted, low, messages) - 3,
                "{given} leaves out the three tokens with which the reply begins.",
            ),
            Wrong(
                "R22",
                lambda counted, low, messages: round((counted + 4 * messages + 3) * 100 / (100 - low)),
                "{given} corrects the marks as well. They are not estimated: they are exactly four a message and "
                "three for the reply.",
            ),
        ),
        praise="the texts are {texts} tokens, the marks {marks}.",
        solution="Texts: {counted} / {share} = {texts}. Marks and roles: 4 × {messages} + 3 = {marks}. Together "
        "{right} tokens.",
        hints=(
            "First the real size of the texts: which share of it does the counter see?",
            "The texts have {texts} tokens. Then four for each message, and three.",
        ),
        variants=tuple(
            {
                "counted": counted,
                "low": low,
                "messages": messages,
                "seen": 100 - low,
                "share": f"0.{100 - low}",
                "texts": counted * 100 // (100 - low),
                "marks": 4 * messages + 3,
            }
            for counted, low, messages in ((600, 25, 10), (720, 40, 20), (910, 35, 12))
        ),
        step=Step(
            "how many tokens do the texts really have?",
            lambda counted, low: counted * 100 // (100 - low),
            "tokens",
            "The {counted} are {seen} % of them.",
            "{step} tokens. Now add the marks.",
        ),
    ),
    OrderTask(
        "03-3",
        "In the order of the model",
        "A request with tools is rendered by the second template of this chapter. Put its parts in the order in which "
        "the model reads them.",
        items=(
            "the tool descriptions",
            "the instructions (system message)",
            "the first question",
            "the reply to it",
            "the newest question",
        ),
        value=lambda: places(),
        wrong=(
            Wrong(
                "R20",
                lambda: [0, 1, 2, 3, 4],
                "this is the order of ChatML, and of the list that you send. The second template moves two parts.",
            ),
            Wrong(
                "R20",
                lambda: moved("CLOCK", -1),
                "the instructions are right. The tools stand beside them, near the newest question.",
            ),
            Wrong(
                "R20",
                lambda: moved("SYSTEM", -1),
                "the tools are right. The instructions do not stay on top: they are inside the last user message.",
            ),
            Wrong(
                "R20",
                lambda: moved("SYSTEM", 10_000),
                "the instructions are in the last user message, before the question that stands there.",
            ),
        ),
        praise="only the past is where the list has it. Tools and instructions follow the newest question around.",
        solution="First question, reply, tool descriptions, instructions, newest question. With each turn the tools "
        "and the instructions stand further down.",
        ends="What the model reads first comes first.",
        hints=(
            "Look at the rendered text: in which message does the system line stand?",
            "Two parts have moved. Both stand directly before the newest question.",
        ),
        tip="Which parts have stood there since the first turn?",
    ),
    CodeTask(
        "03-4",
        "Count a rendered request",
        "Write a function `rendered_tokens(text, markers, count)`. `text` is a rendered request, `markers` a list of "
        "special tokens such as `<|im_end|>`, and `count` counts plain text. Each marker is one token; what stands "
        "between markers is counted piece by piece.",
        name="rendered_tokens",
        lines=(
            "def rendered_tokens(text, markers, count):",
            "    pieces = [text]",
            "    for marker in markers:",
            "        pieces = [part for piece in pieces for part in piece.split(marker)]",
            Line(
                "    total = □",
                ("0", "len(pieces)", "len(pieces) - 1"),
                2,
                (
                    "this counts no marker. Each is one token.",
                    "two pieces have one marker between them, three have two.",
                    "",
                ),
                ("R10", "R19", ""),
            ),
            "    for piece in pieces:",
            Line(
                "        total += □",
                ("count(piece)", "count(text)"),
                0,
                ("", "this counts the whole text again for each piece, the markers as text."),
                ("", "T7"),
            ),
            "    return total",
        ),
        reference=request_text,
        cases=lambda: [
            (ChatML(COUNT).render(CHAT), MARKERS, COUNT),
            (ChatML(COUNT).render(CHAT[1:2]), MARKERS, OLD),
            (ChatML(COUNT).render(CHAT), ("<|im_end|>",), COUNT),
            ("Hello", MARKERS, COUNT),
            ("New York", ("New ",), COUNT),
            ("<|im_end|><|im_end|>", MARKERS, COUNT),
            ("", MARKERS, COUNT),
        ],
        wrong=(
            Wrong("T7", as_text, "Your function counts the markers as text."),
            Wrong("R10", pieces_alone, "Your function leaves the markers out of the count."),
            Wrong("T5", without_markers, "Your function joins the pieces. Nothing merges across a marker."),
            Wrong("R19", one_too_many, "Your function counts one marker more than there is."),
            Wrong("R19", one_each, "Your function counts each kind of marker once."),
        ),
        praise="it agrees with the library, which does the same for the markers of a template.",
        hints=(
            "Split the text at every marker.",
            "n pieces have n − 1 markers between them.",
        ),
        tip="First cut at every marker, then count.",
    ),
)
