"""The pictures that a message holds, inline."""

from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.pictures import pixels, texts
from ..text.number_format import size
from .markup import Html, span, tag

LARGEST = 4_000_000
"""Characters of base64 that are shown at most."""
_BEGINS = {"iVBORw0KGgo": "png", "/9j/": "jpeg", "R0lGOD": "gif", "UklGR": "webp"}
"""How the base64 of each kind of picture begins."""
_BASE64 = regex(r"[A-Za-z0-9+/]{40,}={0,2}")
_DATA_URL = regex(r"data:image/[a-z]+;base64,")


def pictures(raw: object) -> Iterator[Html]:
    """All pictures in a JSON value, whatever field an API puts them into."""
    for data in texts(raw):
        data = _DATA_URL.sub("", data, count=1)
        kind = next((kind for begins, kind in _BEGINS.items() if data.startswith(begins)), None)
        if kind is None or len(data) > LARGEST or not _BASE64.fullmatch(data):
            continue
        wide, high = pixels(f"image/{kind}", data)
        words = f"{kind} picture, {f'{wide:,} × {high:,} pixels, ' if wide else ''}{size(len(data) * 3 // 4)}"
        image = tag("img", src=f"data:image/{kind};base64,{data}", alt=words)
        yield tag("figure", image, tag("figcaption", span("dim", words)))
