"""What the parts of a message cost that are no plain text: images, refusals, audio, files."""

from __future__ import annotations

from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MOST_OF_AN_IMAGE", "PartPrices"]

MOST_OF_AN_IMAGE = 1445  # tokens: 8 tiles of 170 and a base of 85


class PartPrices:
    """Price content parts: a refusal as text, an image by tiles, everything else only when a price is given.

    An image whose size cannot be known is charged the most that one can cost. No part is charged as the text of its
    base64 letters, and none is free.

    Args:
        counter: counts the text of a refusal.
        images: a rule for images, such as `contextlab.render.ImageTiles`; None is the one for the gpt-4o family.
        prices: type of a content part -> its tokens, or a function of the part; it goes before the other rules.

    >>> from contextlab.tokens import CharsPerToken
    >>> prices = PartPrices(CharsPerToken(), prices={"input_audio": 200})
    >>> prices.part({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})
    1445
    >>> prices.part({"type": "file", "file": {"file_id": "f1"}}, "content part 2")
    Traceback (most recent call last):
    ...
    contextlab.errors.InputError: content part 2 is 'file', which has no price: give it one in part_prices
    """

    def __init__(self, counter: Callable[[str], int], images=None, prices: dict | None = None):
        self.counter = counter
        self.images = images
        self.prices = prices or {}

    def part(self, part: dict, where: str = "content part") -> int:
        """Return the tokens of a content part; raises `InputError` when it has no price."""
        kind = part.get("type")
        if isinstance(kind, str) and kind in self.prices:
            price = self.prices[kind]
            return price(part) if callable(price) else price
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            return self.counter(part["refusal"])
        if kind == "image_url":
            return self._image(part, where)
        raise InputError(f"{where} is {kind!r}, which has no price: give it one in part_prices")

    def _image(self, part, where):
        if self.images is not None:
            return self.images.part(part, where)
        from .render import ImageTiles

        try:
            return ImageTiles().part(part, where)
        except InputError:
            return MOST_OF_AN_IMAGE


def as_parts(message):
    """Return a message whose refusal and audio, keys of their own in OpenAI's dicts, stand among the content parts.

    >>> as_parts({"role": "assistant", "content": None, "refusal": "I cannot."})["content"]
    [{'type': 'refusal', 'refusal': 'I cannot.'}]
    """
    if not isinstance(message, dict) or not (message.get("refusal") or message.get("audio")):
        return message
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    if message.get("refusal"):
        parts.append({"type": "refusal", "refusal": message["refusal"]})
    if message.get("audio"):
        parts.append({"type": "audio", "audio": message["audio"]})
    return {**message, "content": parts}
