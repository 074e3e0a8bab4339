"""What an image costs: a fixed price at low detail, tiles of 512 pixels at high detail."""

from __future__ import annotations

from ..errors import InputError

__all__ = ["ImageTiles", "image_size"]


def image_size(data: bytes) -> tuple[int, int]:
    """Return width and height in pixels of a PNG, GIF, JPEG or WebP file, read from its first bytes.

    Raises:
        InputError: the bytes are none of these, or end too early.

    >>> image_size(b"GIF89a" + bytes([44, 1, 200, 0]))
    (300, 200)
    """

    def little(start: int, size: int = 2) -> int:
        return int.from_bytes(data[start : start + size], "little")

    def big(start: int, size: int = 2) -> int:
        return int.from_bytes(data[start : start + size], "big")

    width = height = 0
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = big(16, 4), big(20, 4)
    elif data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        width, height = little(6), little(8)
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP" and len(data) >= 30:
        kind = data[12:16]
        if kind == b"VP8 ":
            width, height = little(26) & 0x3FFF, little(28) & 0x3FFF
        elif kind == b"VP8L":
            bits = little(21, 4)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        elif kind == b"VP8X":
            width, height = little(24, 3) + 1, little(27, 3) + 1
    elif data.startswith(b"\xff\xd8"):
        at = 2
        while at + 9 <= len(data) and data[at] == 0xFF:
            marker = data[at + 1]
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a frame header
                height, width = big(at + 5), big(at + 7)
                break
            # Fill bytes and markers without a length; else skip the segment.
            at += 1 if marker == 0xFF else 2 if marker == 0x01 or 0xD0 <= marker <= 0xD8 else 2 + big(at + 2)
    if not (width and height):
        raise InputError("the image is no PNG, GIF, JPEG or WebP file whose size could be read")
    return width, height


class ImageTiles:
    """Price images as OpenAI states for the gpt-4o family: a base, and at high detail a price for each tile.

    At low detail an image costs `base`. Else it is scaled down to fit into 2,048 by 2,048 pixels, then until its
    shortest side has at most 768, and each tile of 512 by 512 that covers it costs `tile`. An image is never scaled
    up. "auto", and no detail at all, count as high. Source: OpenAI, "Images and vision", calculating costs (read in
    November 2026 as quoted in the reference of camel-ai's token counters and on a64.in): 85 and 170 tokens for
    gpt-4o; 2833 and 5667 for gpt-4o-mini, confirmed by the counts of the API in openai-messages-token-helper.
    Later families have other rules.

    Args:
        base: tokens of an image at low detail.
        tile: tokens of a tile.
        unknown: tokens of an image whose size cannot be known, such as one behind an address; None is an error.
            The most that an image can cost is 8 tiles and the base: 1445 at the default prices.

    >>> images = ImageTiles()
    >>> images.tokens(1, 1), images.tokens(2048, 4096), images.tokens(4096, 8192, detail="low")
    (255, 1105, 85)
    """

    __slots__ = ("base", "tile", "unknown")

    def __init__(self, base: int = 85, tile: int = 170, unknown: int | None = None) -> None:
        self.base = base
        self.tile = tile
        self.unknown = unknown

    def tokens(self, width: float, height: float, detail: str = "high") -> int:
        """Return the tokens of an image of so many pixels.

        Raises:
            InputError: a side is no positive number, or there is no such detail.
        """
        if detail not in ("low", "high", "auto"):
            raise InputError(f'the detail of an image is "low", "high" or "auto", got {detail!r}')
        for side in (width, height):
            if isinstance(side, bool) or not isinstance(side, int) or side < 1:
                raise InputError(f"the sides of an image are whole numbers of pixels from 1, got {width!r}, {height!r}")
        if detail == "low":
            return self.base
        # In fractions of a pixel nothing is rounded until tiles are counted: num / den is the scale.
        num, den = 1, 1
        if max(width, height) > 2048:
            num, den = 2048, max(width, height)
        if min(width, height) * num > 768 * den:
            num, den = 768, min(width, height)
        across, down = (max(1, -(-side * num // (512 * den))) for side in (width, height))
        return self.base + self.tile * across * down

    def part(self, part: dict, where: str = "content part") -> int:
        """Return the tokens of a content part of the type image_url.

        The size is read from a data URL, or taken from the keys width and height of its image_url.

        Raises:
            InputError: the part is no image, or its size cannot be known and `unknown` is None.
        """
        image = part.get("image_url")
        image = {"url": image} if isinstance(image, str) else image
        if part.get("type") != "image_url" or not isinstance(image, dict):
            raise InputError(f"{where} is {part.get('type')!r}: only images of the type image_url have a price here")
        detail = image.get("detail") or "high"
        if detail == "low":
            return self.base
        if image.get("width") is not None and image.get("height") is not None:
            return self.tokens(image["width"], image["height"], detail)
        url = image.get("url")
        if isinstance(url, str) and url.startswith("data:"):
            return self.tokens(*image_size(_bytes_of(url, where)), detail)
        if self.unknown is None:
            raise InputError(
                f'{where} is an image of unknown size: give it the detail "low", or the keys width and height, '
                "or send it as a data URL, or give the rule a price for images of unknown size"
            )
        return self.unknown

    def __repr__(self) -> str:
        return f"ImageTiles(base={self.base}, tile={self.tile}, unknown={self.unknown})"


def _bytes_of(url: str, where: str) -> bytes:
    """Return the beginning of the bytes of a data URL: enough for its size."""
    import base64
    import binascii

    head, comma, text = url.partition(",")
    if not comma or not head.endswith(";base64"):
        raise InputError(f"{where} has a data URL that is not base64")
    text = text[: 4 * 65_536]  # 192 KiB; a JPEG with a longer preamble is an error, not a guess
    try:
        return base64.b64decode(text[: len(text) // 4 * 4], validate=True)
    except (binascii.Error, ValueError):
        raise InputError(f"{where} has a data URL that is not base64") from None
