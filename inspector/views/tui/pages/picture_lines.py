"""Pictures as lines: two pixels in each cell, one above the other. Pillow, an optional part, decodes them."""

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from itertools import groupby

from ....analysis.pictures import Picture
from .blocks import Body, Spans

ROWS = 12
"""A picture has at most this many lines."""
COLUMNS = 72
"""And so many cells in a line."""
LARGEST = 8_000_000
"""Characters of base64: larger pictures are not drawn."""
MOST_PIXELS = 40_000_000
_KINDS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}


def is_drawn(picture: Picture) -> bool:
    """Whether it is a picture of a kind that can be drawn."""
    return picture.type in _KINDS


def with_pictures(pictures: Sequence[Picture], body: Body) -> Body:
    """The lines of pictures, and those of `body` behind them."""
    shown = [one for one in pictures if is_drawn(one)]

    def make(width: int) -> Sequence[Spans]:
        drawn = [line for one in shown for line in picture_lines(one, width)]
        return [*drawn, *body(width)] if drawn else body(width)

    return make


@lru_cache(8)
def picture_lines(picture: Picture, width: int) -> Sequence[Spans]:
    """A picture in at most `width` cells, or a line that says why it is not drawn."""
    pixels = (picture.width or 0) * (picture.height or 0)
    if len(picture.data) > LARGEST or pixels > MOST_PIXELS:
        return [[("too large to be drawn here; x i saves it", "dim")]]
    try:
        from PIL import Image
    except ModuleNotFoundError:
        return [[("pip install 'turntape[pictures]' draws it here; x i saves it", "dim")]]
    try:
        with Image.open(BytesIO(picture.decoded()), formats=(_KINDS[picture.type],)) as image:
            wide, high = image.size
            if not pixels and wide * high > MOST_PIXELS:
                return [[("too large to be drawn here; x i saves it", "dim")]]
            scale = min(min(width, COLUMNS) / wide, 2 * ROWS / high, 1.0)
            size = max(1, round(wide * scale)), max(1, round(high * scale))
            image.draft("RGB", size)
            small = image.convert("RGBA").resize(size)  # pyright: ignore[reportUnknownMemberType]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return [[("cannot be decoded; x i saves it", "warn")]]
    whole = Image.new("RGBA", size, "white")
    whole.alpha_composite(small)
    return _lines(whole.convert("RGB").tobytes(), *size)


def _lines(data: bytes, width: int, height: int) -> list[Spans]:
    """Lines of half blocks: the look of each has the colour of its upper and of its lower pixel."""
    colours = [f"#{data[at : at + 3].hex()}" for at in range(0, len(data), 3)]
    lines: list[Spans] = []
    for top in range(0, height, 2):
        upper = colours[top * width : (top + 1) * width]
        lower = colours[(top + 1) * width : (top + 2) * width] or upper
        looks = (f"{above} {below}" for above, below in zip(upper, lower, strict=True))
        lines.append([("▀" * len(list(same)), look) for look, same in groupby(looks)])
    return lines
