"""The tokens of a picture by the rules that providers publish.

Sources, read 2026-11-22: Anthropic, platform.claude.com/docs/en/build-with-claude/vision; OpenAI,
developers.openai.com/api/docs/guides/images-vision (tiles, patches and their factors by model); Google,
ai.google.dev/gemini-api/docs/tokens and /media-resolution. The patch rules agree with the measured tokens of pictures
from 256 x 256 to 1920 x 1080 in the data set JOHNISKING/image-token-cost. Above that they are near.
"""

import re
from collections.abc import Callable
from math import ceil, sqrt

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

type Rule = Callable[[int, int, str | None], int]
"""Tokens by width, height and the detail that the client asked for."""


@frozen
class Patches:
    """A token, or `factor` tokens, for each square of `side` pixels, in a picture that is made small enough."""

    side: int
    most: int
    """Patches of the largest picture."""
    longest: int | None = None
    """Pixels of its longer side."""
    factor: float = 1.0

    def __call__(self, width: int, height: int, detail: str | None) -> int:
        if self.longest is not None and max(width, height) > self.longest:
            scale = self.longest / max(width, height)
            width, height = max(1, round(width * scale)), max(1, round(height * scale))
        across, down = ceil(width / self.side), ceil(height / self.side)
        if across * down > self.most:
            scale = sqrt(self.most * self.side * self.side / (width * height))
            across = max(1, int(width * scale / self.side))
            down = max(1, min(round(height * scale / self.side), self.most // across))
        return ceil(across * down * self.factor)


@frozen
class Tiles:
    """`base` tokens, and some for each tile of 512 pixels after the picture is fitted into 2,048 and 768 pixels."""

    base: int
    tile: int

    def __call__(self, width: int, height: int, detail: str | None) -> int:
        if detail == "low":
            return self.base
        scale = min(1.0, 2048 / max(width, height))
        scale = min(scale, 768 / min(width, height))
        tiles = ceil(round(width * scale) / 512) * ceil(round(height * scale) / 512)
        return self.base + self.tile * tiles


def _area(width: int, height: int, detail: str | None) -> int:
    """Claude before the patches: a token for 750 pixels."""
    scale = min(1.0, 1568 / max(width, height))
    return min(1600, ceil(width * scale * height * scale / 750))


def _gemini_tiles(width: int, height: int, detail: str | None) -> int:
    """258 for a small picture, or for each tile. The side of a tile is two thirds of the shorter side, up to 768."""
    if max(width, height) <= 384:
        return 258
    side = min(768, max(256, int(min(width, height) / 1.5)))
    return 258 * ceil(width / side) * ceil(height / side)


def _gemini(width: int, height: int, detail: str | None) -> int:
    return {"low": 280, "medium": 560}.get(detail or "", 1120)


_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (regex(pattern), rule)
    for pattern, rule in (
        (r"claude-(3|2|instant)", _area),
        (r"opus-(4-[78]|5)|sonnet-5|haiku-5|fable|mythos", Patches(28, 4784, 2576)),
        (r"claude", Patches(28, 1568, 1568)),
        (r"gpt-4-1-mini", Patches(32, 1536, factor=1.62)),
        (r"gpt-4-1-nano", Patches(32, 1536, factor=2.46)),
        (r"o4-mini", Patches(32, 1536, factor=1.72)),
        (r"gpt-5-mini", Patches(32, 1536, factor=1.62)),
        (r"gpt-5-nano", Patches(32, 1536, factor=2.46)),
        (r"gpt-(5-[4-9]|[6-9])", Patches(32, 2500, factor=1.2)),
        (r"gpt-4o-mini", Tiles(2833, 5667)),
        (r"gpt-(4o|4-1|4-5|4-turbo)|chatgpt-4o", Tiles(85, 170)),
        (r"gemini-(1|2)", _gemini_tiles),
        (r"gemini", _gemini),
    )
)
"""The first pattern that is found in a model's name counts; names are in lower case, with `-` for dots."""


def picture_tokens(model: str, width: int, height: int, detail: str | None = None) -> int | None:
    """The tokens of a picture of this size in pixels; None for a model without a published rule."""
    name = model.lower().replace(".", "-")
    rule = next((rule for pattern, rule in _RULES if pattern.search(name)), None)
    return rule(width, height, detail) if rule is not None and width > 0 and height > 0 else None
