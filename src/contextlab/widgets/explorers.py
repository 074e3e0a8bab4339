"""The explorers: all values computed here, all reactions in the module."""

from __future__ import annotations

import random
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product

from contextlab.errors import InputError

from .base import Explorer
from .declare import walk as walk_steps
from .formula import text, tree
from .markup import grouped, html, paragraphs
from .rules import drop_turn_of


def strips(
    messages: Sequence[tuple[str, int]],
    requests: Sequence[tuple[int, int, int]],
    *,
    budget: int,
    unit: str,
    fact: int,
    fact_label: str = "the name",
    fixed: int = 0,
    lead: int = 0,
    start: int = 0,
    title: str = "What is on your screen, and what is sent",
    question: str = "Move the slider through the conversation. The frame is the context window.",
) -> Explorer:
    """Return two strips under one slider: the conversation on your screen, and the part of it in the request.

    Args:
        messages: role and units of each message of the conversation.
        requests: for each request, in order: index of the first message kept, number of messages on the
            screen, units sent. Messages from the first one kept to the last one on the screen are sent.
        budget: input budget, in units.
        unit: word for the units.
        fact: index of the message that holds the fact.
        fact_label: what the fact is called in the figure.
        fixed: units of the budget that no message uses, such as the reply start.
        lead: number of leading messages that are always sent.
        start: request shown first; 0 is the last one.

    Returns:
        An explorer; its trait `settings["request"]` is the request shown.
    """
    rows = []
    for number, (first, stop, units) in enumerate(requests, 1):
        kept = sum(1 for i in range(stop) if i >= first or i < lead)
        visible = "yes" if fact >= first or fact < lead else "no"
        rows.append([str(number), grouped(stop), grouped(kept), grouped(units), visible])
    label = fact_label[0].upper() + fact_label[1:]
    return Explorer(
        "strips",
        {
            "label": "Explore",
            "title": title,
            "question": paragraphs(question),
            "control": "Request",
            "step_name": "Request",
            "messages": [list(message) for message in messages],
            "requests": [{"start": a, "stop": b, "units": c, "lead": lead} for a, b, c in requests],
            "budget": budget,
            "fixed": fixed,
            "unit": unit,
            "fact": fact,
            "fact_label": fact_label,
            "fact_sentence": [html(f"{label} is in it."), html(f"{label} is not in it.")],
            "start": start or len(requests),
            "table_title": "All requests as a table",
            "table": {
                "head": [
                    "Request",
                    "Messages on the screen",
                    "Messages sent",
                    f"Units sent ({unit})",
                    f"{label} sent?",
                ],
                "rows": rows,
            },
            "height": 22,
        },
    )


SIX_TURNS = (
    ("instructions", 20),
    ("user", 300),
    ("assistant", 250),
    ("user", 180),
    ("assistant", 400),
    ("user", 120),
)
"""The history of the six-turn walk: role and tokens of each message."""


def chat_strips(requests: int = 30, budget: int = 4000) -> Explorer:
    """Return the two strips over the 200-turn chat, from its first request to number ``requests``.

    It stands some requests before the name leaves. Each request is what `contextlab.replay` makes of the chat under
    keep-newest with this input budget.

    Returns:
        An explorer; its trait `settings["request"]` is the request shown.
    """
    from contextlab.keep import KeepNewest
    from contextlab.render import PlainRule
    from contextlab.replay import CountedChat, replay
    from contextlab.script import NAME, scripted_chat
    from contextlab.tokens import WordPieces

    chat = CountedChat(scripted_chat(turns=requests), PlainRule(WordPieces()))
    trace = replay(chat, KeepNewest(), input_budget=budget, fact=NAME)
    history = chat.history
    stops = [index + 1 for index in chat.requests]
    return strips(
        [(message.role, history.units(i, i + 1)) for i, message in enumerate(history.messages[: stops[-1]])],
        [(row.messages_dropped, stop, row.input_units) for row, stop in zip(trace.rows, stops, strict=True)],
        budget=budget,
        unit="approximate units",
        fact=0,
        fixed=sum(chat.fixed.values()),
        start=max((trace.gone_at_turn or requests) - 7, 1),
        title="The same chat, request by request",
        question="Move the slider until the name leaves. The frame is the input budget.",
    )


def walk(
    messages: Sequence[tuple[str, int]] = SIX_TURNS,
    *,
    window: int = 700,
    reply: int = 120,
    summary: int = 60,
    unit: str = "tokens",
    title: str = "The walk from the newest message",
    question: str = "Choose a rule, then step. The frame is the window; what stays out is hatched.",
) -> Explorer:
    """Return the step-through of keep-newest over one history, under four rules.

    Args:
        messages: role and units of each message; the first is the instructions.
        window: context window, in units.
        reply: units kept for the reply in the second and third rule.
        summary: units of the summary in the fourth rule.
        unit: word for the units.

    Returns:
        An explorer; `settings["case"]` is the rule, `step` the step shown.
    """
    history = messages[1:]
    cases = (
        ("Nothing set aside", messages, (), ()),
        (f"{reply} for the reply", messages, (), (("reply", reply),)),
        (f"Instructions pinned, {reply} for the reply", messages, (0,), (("reply", reply),)),
        (f"A summary of {summary}, {reply} for the reply", messages, (), (("note", summary), ("reply", reply))),
    )
    return Explorer(
        "walk",
        {
            "label": "Step through",
            "title": title,
            "question": paragraphs(question),
            "messages": [list(message) for message in messages],
            "unit": unit,
            "cases": [_case(name, of, pinned, parts, window, unit) for name, of, pinned, parts in cases],
            "table": _case(*cases[0], window, unit)["table"],
            "sentence_start": f"All {len(history)} messages and the instructions add to "
            f"{grouped(sum(units for _, units in messages))} {unit}; the window holds {grouped(window)}.",
            "height": 34,
        },
    )


def _case(name: str, messages: Sequence, pinned: tuple, parts: tuple, window: int, unit: str) -> dict:
    room = window - sum(units for _, units in parts)
    steps = walk_steps(messages, room, unit, pinned)
    # A summary stands for everything that the walk leaves out, the instructions included.
    stop = next((at + 1 for at, step in enumerate(steps) if not step[1]), len(steps))
    steps = steps[:stop]
    kept = [step for step in steps if step[1]]
    aside = ", ".join(f"{grouped(units)} for the {_PART[role]}" for role, units in parts)
    before = f"The window holds {grouped(window)} {unit}" + (f"; {aside}." if aside else ".")
    before += f" The room is {grouped(room)}. Step to take the newest message." if parts else " Step to begin."
    last = steps[-1]
    count = f"{len(kept)} of {len(messages)} messages are sent, {grouped(last[2])} {unit}"
    left = room - last[2]
    end = f" {count}; " + (f"{grouped(left)} stay unused." if left else "the room is filled exactly.")
    rows = [
        [
            str(number),
            f"{messages[index][0]} {grouped(messages[index][1])}",
            grouped(used),
            "kept" if is_kept else "does not fit, stop",
        ]
        for number, (index, is_kept, used, _) in enumerate(steps, 1)
    ]
    said = [says[0].upper() + says[1:] for *_, says in steps]
    said[-1] += end
    return {
        "name": name,
        "window": window,
        "fixed": [{"role": role, "units": units} for role, units in parts],
        "before": html(before),
        "steps": [
            {"index": index, "kept": is_kept, "used": used, "says": html(text)}
            for (index, is_kept, used, _), text in zip(steps, said, strict=True)
        ],
        "table": {"head": ["Step", "Message", f"Used ({unit})", "Result"], "rows": rows},
    }


_PART = {"reply": "reply", "note": "summary"}

BUDGETS = (2000, 2500, 3000, 3500, 4000, 5000, 6000, 7000, 8000, 10000, 12000, 14000, 16000, 20000, 24000, 32000, 48000)
RESERVES = (0, 250, 500, 750, 1000, 1250, 1500)
STRETCHES = (50, 75, 100, 125, 150, 200, 250, 300)


def stretched(costs: Sequence[int], percent: int) -> list[int]:
    """Return the costs of a chat, user and reply in turn, with every reply at `percent` of its length."""
    return [cost * percent // 100 if i % 2 else cost for i, cost in enumerate(costs)]


def drop_explorer(
    *,
    title: str = "When does each message leave?",
    question: str = "Move a slider. The band shows, for each request, the messages that it holds.",
) -> Explorer:
    """Return the drop-turn explorer over the 200-turn chat: budget, reply reserve, length of the replies.

    Returns:
        An explorer; its trait `settings` holds `budget`, `reserve`, `stretch` (percent) and `request`.
    """
    from contextlab.render import PlainRule
    from contextlab.replay import CountedChat
    from contextlab.script import scripted_chat
    from contextlab.tokens import WordPieces

    chat = CountedChat(scripted_chat(), PlainRule(WordPieces()))
    prefix = chat.history.prefix
    costs = [after - before for before, after in pairwise(prefix)]
    fixed = sum(chat.fixed.values())

    draw = random.Random(5)
    picked = [(4000, 0, 100, 0), (8000, 0, 100, 0), (32000, 0, 100, 0), (4000, 1000, 100, 0)]
    picked += [
        (draw.choice(BUDGETS), draw.choice(RESERVES), draw.choice(STRETCHES), draw.choice((0, 0, 1, 2, 7, 40)))
        for _ in range(28)
    ]
    checks = [
        [budget, reserve, percent, i, drop_turn_of(stretched(costs, percent), budget - fixed - reserve, i)]
        for budget, reserve, percent, i in picked
    ]
    rows = [
        [grouped(budget), grouped(reserve), f"{percent} %", grouped(gone) if gone else "never"]
        for budget, reserve, percent in (
            (4000, 0, 100),
            (4000, 1000, 100),
            (4000, 0, 50),
            (4000, 0, 150),
            (8000, 0, 100),
            (8000, 1000, 100),
            (16000, 0, 100),
            (32000, 0, 100),
            (48000, 0, 100),
        )
        for gone in [drop_turn_of(stretched(costs, percent), budget - fixed - reserve, 0)]
    ]
    return Explorer(
        "drop",
        {
            "label": "Explore",
            "title": title,
            "question": paragraphs(question),
            "costs": costs,
            "fixed": fixed,
            "unit": "approximate units",
            "budgets": list(BUDGETS),
            "reserves": list(RESERVES),
            "stretches": list(STRETCHES),
            "start": [4000, 0, 100],
            "fact_label": "the name",
            "fact_sentence": "The name is missing for the first time from",
            "checks": checks,
            "table": {
                "head": ["Input budget", "Reply reserve", "Length of replies", "Name missing from"],
                "rows": rows,
            },
            "height": 36,
        },
    )


Control = namedtuple("Control", "name label min max step unit start values labels", defaults=(0, 0, 1, "", *[None] * 3))
Control.__doc__ = (
    """A slider: name of its value, label, least, greatest, step, unit, start; or `values` (with `labels`)."""
)


def explorer(
    *,
    title: str,
    question: str,
    controls: Sequence[Control],
    sentences: Sequence[str | tuple[str, str]],
    formulas: Mapping[str, str] | None = None,
    oracle: Callable[..., Mapping[str, object]] | None = None,
    table_of: tuple[Sequence[str], Sequence[str], Callable[..., Sequence[object]]] | None = None,
    draw: dict | None = None,
    table: dict | None = None,
    digits: Mapping[str, int] | None = None,
    kind: str = "explorer",
    label: str = "Explore",
) -> Explorer:
    """Return an explorer: sliders, a formula or a table made here, a drawing, a sentence that reads the result.

    Args:
        title: title of the widget.
        question: what to do.
        controls: the sliders.
        sentences: the sentence under the drawing; `{name}` stands for a value. A pair (condition, sentence)
            is used when the condition holds; the first that fits is shown, so the last one has no condition.
        formulas: name → expression over the controls and earlier formulas (see `formula.tree`).
        oracle: function of the controls that returns the values of some formulas from the library; 24 of its
            values travel with the widget, and the tests compare them with the module's.
        table_of: in place of formulas: names of controls, names of results, function of those controls that
            returns the results; called once for each combination.
        draw: drawing, `{"type": "parts" | "bars" | "curve", …}`.
        table: table of chosen settings, `{"head": […], "rows": [[…]]}`.
        digits: name → decimals shown (2 by default).

    Raises:
        InputError: when formulas have no oracle, or a table has more than 4,000 combinations.
    """
    if formulas and oracle is None:
        raise InputError("an explorer with formulas needs an oracle: a function that computes the same values")
    data: dict = {
        "label": label,
        "title": title,
        "question": paragraphs(question),
        "controls": [_control(control) for control in controls],
        "sentences": [
            [tree(one[0]), html(one[1])] if isinstance(one, tuple) else [None, html(one)] for one in sentences
        ],
        "formulas": [[name, tree(expression)] for name, expression in (formulas or {}).items()],
        "height": 5 + 3 * len(controls) + (14 if draw else 0),
    }
    if oracle:
        data["checks"] = _checks(controls, oracle)
    if table_of:
        by, names, function = table_of
        choices = [_values(next(one for one in controls if one.name == name)) for name in by]
        combinations = list(product(*choices))
        if len(combinations) > 4000:
            raise InputError(f"a table of {len(combinations)} combinations is too large: use larger steps or a formula")
        data["table_of"] = {
            "by": list(by),
            "names": list(names),
            "rows": {"|".join(map(text, one)): [text(value) for value in function(*one)] for one in combinations},
        }
    for name, value in (("draw", draw), ("table", table), ("digits", dict(digits or {}))):
        if value:
            data[name] = value
    return Explorer(kind, data)


def _values(control: Control) -> list:
    if control.values:
        return list(control.values)
    return list(range(control.min, control.max + 1, control.step))


def _control(control: Control) -> dict:
    values = _values(control)
    start = control.start if control.start is not None else values[0]
    if start not in values:
        raise InputError(f"slider {control.name}: its start {start} is not one of its values")
    data = {"name": control.name, "label": control.label, "start": text(start), "unit": control.unit}
    if control.values:
        data["values"] = [text(value) for value in values]
    else:
        data |= {"min": control.min, "max": control.max, "step": control.step}
    if control.labels:
        data["labels"] = list(control.labels)
    return data


def _checks(controls: Sequence[Control], oracle: Callable[..., Mapping[str, object]]) -> list:
    draw = random.Random(24)
    checks = []
    for at in range(24):
        chosen = {one.name: (_values(one)[0] if at == 0 else draw.choice(_values(one))) for one in controls}
        values = {name: text(value) for name, value in oracle(**chosen).items()}
        checks.append([{name: text(value) for name, value in chosen.items()}, values])
    return checks


PARTS = (
    ("instructions", "Instructions", "instructions", "S", 2000, 50, 350),
    ("tools", "Tool descriptions", "tool", "T", 4000, 10, 640),
    ("notes", "Pinned notes or summary", "note", "N", 1500, 50, 0),
    ("message", "New message", "user", "U", 2000, 10, 90),
    ("reply", "Room for the reply", "reply", "R", 4096, 32, 1024),
    ("margin", "Margin", "instructions", "M", 1000, 50, 200),
)


def window_bar(
    *,
    windows: Sequence[int] = (4096, 8192, 16384, 32768),
    unit: str = "tokens",
    title: str = "What the window has to hold",
    question: str = "Move a slider. What is left is the room for the history.",
) -> Explorer:
    """Return the window bar: the parts of one request in the frame of the window, and the room that is left.

    Returns:
        An explorer; `settings` holds the value of each part.
    """
    from contextlab.budget import room
    from contextlab.errors import BudgetError

    def oracle(window: int, **parts: int) -> dict:
        try:
            return {"room": room(window, parts), "over": 0}
        except BudgetError:
            return {"room": 0, "over": sum(parts.values()) - window}

    controls = [Control("window", "Context window", 0, 0, 1, "", windows[1], windows)]
    controls += [Control(name, label, 0, most, step, "", start) for name, label, _, _, most, step, start in PARTS]
    fixed = " + ".join(name for name, *_ in PARTS)
    draw = {
        "type": "parts",
        "total": "window",
        "label": "The window",
        "unit": unit,
        "parts": [
            {"name": name, "role": role, "letter": letter, "label": label.lower()}
            for name, label, role, letter, *_ in PARTS
        ]
        + [{"name": "room", "role": "user", "free": True, "letter": "H", "label": "room for the history"}],
    }
    return explorer(
        kind="window",
        title=title,
        question=question,
        controls=controls,
        formulas={"fixed": fixed, "room": "max(window - fixed, 0)", "over": "max(fixed - window, 0)"},
        oracle=oracle,
        sentences=[
            (
                "over > 0",
                f"These parts need {{fixed}} {unit}, {{over}} more than the window. It is an error, not a cut.",
            ),
            ("room == 0", "These parts fill the window: no room is left, so nothing can be sent."),
            f"{{window}} − {{fixed}} leaves {{room}} {unit} for the history.",
        ],
        draw=draw,
        table={
            "head": ["Part", f"Size ({unit})"],
            "rows": [["Context window", grouped(windows[1])]]
            + [[label, grouped(start)] for _, label, _, _, _, _, start in PARTS]
            + [["Room for the history", grouped(windows[1] - sum(part[-1] for part in PARTS))]],
        },
    )
