"""Cut the arguments of a call in the middle, for the fault `truncated_arguments`."""

from collections.abc import Iterable, Sequence
from typing import cast

from turntape.cassettes.apis.interface import Edited

from ...json_value import Object, as_object, objects_in


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


def last_call_shortened(choices: Iterable[tuple[int, Object, Object]]) -> Edited:
    """Cut the arguments of the last call in `tool_calls`, as Chat Completions and the APIs of its shape have them.

    `choices` are `(document's place, choice, its message or delta)`, in order.
    """
    parts: dict[object, list[tuple[int, Object, str]]] = {}
    for place, choice, said in choices:
        for number, call in enumerate(objects_in(said.get("tool_calls"))):
            function = as_object(call.get("function"))
            if isinstance(function.get("arguments"), str):
                key = (choice.get("index"), call.get("index", number))
                parts.setdefault(key, []).append((place, function, "arguments"))
    return shortened(list(parts.values())[-1] if parts else ())
