"""The explorers: all values computed here, all reactions in the module."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Explorer
from .markup import grouped, html, paragraphs


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
