"""Whether the places that the citations of an answer name are in its text."""

from collections.abc import Iterator

from .json_value import Object, as_array, as_count, as_object, is_array, is_object

_TEXTS = ("text", "content")
_DEEPEST = 8


def beyond_text(body: object) -> Iterator[str]:
    """One sentence for each citation of a whole answer that is of a place behind the end of its text.

    APIs count characters, UTF-16 units or bytes. The most of them counts here.
    """
    for holder in _holders(body, 0):
        text = next((value for key in _TEXTS if isinstance(value := holder.get(key), str)), None)
        if text is None:
            continue
        longest = max(len(text.encode("utf-8", "replace")), len(text.encode("utf-16-le", "replace")) // 2)
        for annotation in map(as_object, as_array(holder.get("annotations"))):
            place = as_object(annotation.get(str(annotation.get("type")))) or annotation
            start, end = as_count(place.get("start_index")), as_count(place.get("end_index"))
            if start is not None and end is not None and (start > longest or end > longest):
                yield f"a citation is of the characters {start} to {end} of a text of {len(text):,} characters"


def _holders(value: object, depth: int) -> Iterator[Object]:
    if depth > _DEEPEST:
        return
    if is_object(value):
        if is_array(value.get("annotations")):
            yield value
        for inner in value.values():
            yield from _holders(inner, depth + 1)
    elif is_array(value):
        for inner in value:
            yield from _holders(inner, depth + 1)
