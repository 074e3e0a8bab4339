"""The work of `contextlab trace` on a long chat, beside counting its texts once: what nobody can save."""

from __future__ import annotations

import io
import json

from assembling import COUNTER, chat_of

from contextlab import histories
from contextlab.forgotten import WINDOWS, look_back
from contextlab.render import OpenAIRecipe
from contextlab.replay import CountedChat


def traced_or_counted(turns: int):
    """Return two functions: read an export, count it and trace it in the default windows; encode its texts once."""
    chat = chat_of(turns)
    data = json.dumps({"messages": chat}).encode()
    texts = [message["content"] for message in chat]
    encode = COUNTER._encoding().encode_ordinary

    def traced():
        conversation, _ = histories.newest(io.BytesIO(data))
        counted = CountedChat(histories.to_messages(conversation), OpenAIRecipe(COUNTER))
        return look_back(counted, windows=WINDOWS)

    return traced, lambda: sum(len(encode(text)) for text in texts)
