"""The explorer of chapter 03: what a request counts beside its texts."""

from __future__ import annotations

from .base import Explorer
from .explorers import Control, explorer
from .markup import grouped


def request_explorer(
    *,
    title: str = "What stands around the texts",
    question: str = "Move a slider. The tools are copies of the weather tool of this chapter.",
) -> Explorer:
    """Return the explorer of a request: texts, the recipe, and ChatML, with and without tools, in o200k_base.

    Returns:
        An explorer; `settings` holds `messages`, `size` (tokens of text in each) and `tools`.
    """
    from contextlab.render import ChatML, OpenAIRecipe
    from contextlab.texts import cookbook
    from contextlab.tokens import BPE

    count = BPE("o200k_base")
    rules = {"recipe": OpenAIRecipe(count), "chatml": ChatML(count)}
    (tool,) = cookbook("weather")[1]

    def oracle(messages: int, size: int, tools: int) -> dict:
        chat = [{"role": ("user", "assistant")[i % 2], "content": " a" * size} for i in range(messages)]
        values = {"texts": sum(count(message["content"]) for message in chat)}
        for name, rule in rules.items():
            values[name] = rule.request(chat)
            values[f"{name}_tools"] = rule.request(chat, [tool] * tools) - values[name]
        return values

    formulas = {"texts": "messages * size"}
    for name, rule in rules.items():
        around = rule.message({"role": "user", "content": " a"}) - 1
        first, second = rule.tools_cost([tool]), rule.tools_cost([tool, tool])
        formulas[name] = f"messages * (size + {around}) + {rule.reply_start}"
        formulas[f"{name}_tools"] = f"{second - first} * tools + {2 * first - second} if tools > 0 else 0"
    formulas |= {
        "all": "recipe + recipe_tools",
        "chatml_all": "chatml + chatml_tools",
        "beside": "all - texts",
        "share": "beside * 100 / all",
    }
    rows = []
    for messages, size, tools in ((4, 6, 0), (4, 6, 1), (20, 40, 0), (20, 40, 3), (20, 40, 20), (100, 10, 0)):
        values = oracle(messages, size, tools)
        whole = [values[name] + values[f"{name}_tools"] for name in rules]
        rows.append([*map(grouped, (messages, size, tools, values["texts"], *whole))])
    return explorer(
        title=title,
        question=question,
        controls=[
            Control("messages", "Messages", 2, 100, 1, "", 20),
            Control("size", "Text of a message", 5, 200, 5, "tokens", 40),
            Control("tools", "Tools", 0, 30, 1, "", 3),
        ],
        formulas=formulas,
        oracle=oracle,
        digits={"share": 0},
        sentences=[
            (
                "tools == 0",
                "{messages} messages have {texts} tokens of text, and the request has {all} by the recipe. {share} % "
                "of it are roles and marks.",
            ),
            "{messages} messages have {texts} tokens of text, and the request has {all} by the recipe. {share} % of "
            "it are roles, marks and tools. The tools alone take {recipe_tools}.",
        ],
        draw={
            "type": "bars",
            "unit": "tokens",
            "bars": [
                {"name": "texts", "label": "Texts alone", "role": "user", "digits": 0},
                {"name": "recipe", "label": "Messages, by the recipe", "role": "user", "digits": 0},
                {"name": "all", "label": "With tools, by the recipe", "role": "tool", "digits": 0},
                {"name": "chatml_all", "label": "With tools, in our ChatML", "role": "tool", "digits": 0},
            ],
        },
        table={
            "head": ["Messages", "Text of each", "Tools", "Texts", "Recipe", "ChatML"],
            "rows": rows,
        },
    )
