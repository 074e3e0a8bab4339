"""The directive `cover`: the picture of the landing page, drawn from the 200-turn chat when the site is built."""

from __future__ import annotations

from docutils import nodes
from docutils.parsers.rst import Directive

from contextlab.figures import two_strips
from contextlab.keep import KeepNewest
from contextlab.render import PlainRule
from contextlab.replay import replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import WordPieces

BUDGET = 4000


class Cover(Directive):
    """Two strips at the first request without the name."""

    def run(self):
        trace = replay(scripted_chat(), KeepNewest(), input_budget=BUDGET, rule=PlainRule(WordPieces()), fact=NAME)
        figure = two_strips(
            trace, trace.gone_at_turn, fact=NAME, caption="Each block is a message, as long as its units."
        )
        return [nodes.raw("", figure._repr_html_(), format="html")]


def setup(app):
    app.add_directive("cover", Cover)
    return {"parallel_read_safe": True}
