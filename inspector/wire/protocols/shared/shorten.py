"""Cut the arguments of a call in the middle, for the fault `truncated_arguments`."""

from collections.abc import Sequence
from typing import cast

from turntape.cassettes.apis.interface import Edited

from ...json_value import Object


def half(text: str) -> str:
    """The first half of a text."""
    return text[: len(text) // 2]


def without_last(fields: Object) -> Object:
    """An object without its last field."""
    return dict(list(fields.items())[:-1])


def shortened(spread: Sequence[tuple[int, Object, str]]) -> Edited:
    """Cut in its middle, in place, a text that is spread over documents: `(document's place, object, key)` in order."""
    texts = [cast(str, fields[key]) for _, fields, key in spread]
    left = sum(map(len, texts)) // 2
    changed: set[int] = set()
    for (place, fields, key), text in zip(spread, texts, strict=True):
        kept = text[:left]
        left -= len(kept)
        if kept != text:
            fields[key] = kept
            changed.add(place)
    return changed, set()
