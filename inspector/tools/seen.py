"""What the model was shown of a result: the result as returned, compared with the next request.

Only facts are stated, by content: what was returned is there, whatever was put around it, or a part of it is there, or
it is not. The same holds for each kind of content.
"""

from collections.abc import Iterable, Iterator

from turntape.cassettes.frozen import copied_with, frozen

from ..analysis.conversation import without_space
from ..wire.json_value import as_array, as_object, as_text, compact, is_object, parse_json
from .arguments import meaning
from .returned import Block, Returned, error_message, returned_of
from .shown_text import ShownText
from .tool_run import Lost, SeenAs, ToolRun

_DATA = 100
"""So many characters of base64 are looked for, where there are so many."""
_LEAST = 24
"""So many characters of base64 are enough to recognise it."""
_MEDIA = ("image", "input_image", "image_url", "inlinedata", "inline_data", "audio", "input_audio", "file", "document")


@frozen(slots=False)
class Shown:
    """A result in a request, with the media near it."""

    index: int
    """The number of the round trip."""
    text: str
    is_error: bool
    raw: object = None
    """The JSON of the part that holds it."""
    near: tuple[object, ...] = ()
    """The JSON of the media in the other messages that this request added: some clients move them there."""
    marks_errors: bool = False
    """Whether the API has a mark for failed results."""
    pointer: str = ""
    """JSON pointer to the part that holds it; empty where the result is in a text."""

    @property
    def blank(self) -> bool:
        """Whether the model sees nothing in it."""
        return ShownText(self.text).blank


def seen(run: ToolRun, shown: Shown) -> ToolRun:
    """The run with what the request shows of it."""
    returned, text = returned_of(run.result, to_model=True), ShownText(shown.text, shown.raw)
    how: SeenAs = _seen_as(run, returned, text)
    lost = tuple(dict.fromkeys(_lost(returned, text, shown))) if run.result is not None else ()
    worded = "resource" in lost and not text.blank and any(block.text for block in returned.blocks)
    if how == "equal" and not returned.texts and returned.structured is None and lost:
        how = "changed" if worded else "dropped"
    if shown.marks_errors and run.is_error and not shown.is_error:
        lost = (*lost, "error_mark")
    kept = text.kept("\n".join(returned.texts)) if how in ("cut", "file") and returned.texts else None
    return copied_with(
        run,
        seen_by=shown.index,
        seen_text=shown.text,
        seen_bytes=len(shown.text.encode("utf-8", "replace")),
        seen_as=how,
        seen_error=shown.is_error,
        seen_kept=kept,
        seen_of=None,
        lost=lost,
    )


def _seen_as(run: ToolRun, returned: Returned, text: ShownText) -> SeenAs:
    if run.outcome == "failed":
        message = error_message(run.error) or ""
        return "equal" if text.holds(message) else "dropped" if text.blank else "replaced"
    if run.outcome != "answered":
        return "replaced"
    if returned.empty:
        return "empty"
    whole = all(text.holds(one) for one in returned.texts)
    if not returned.texts and text.names_file("") and any(b.text and not text.holds(b.text) for b in returned.blocks):
        return "file"
    structured = returned.structured is None or text.holds_value(returned.structured)
    if whole and (structured or (returned.texts and _says_all(returned))):
        return "equal"
    if whole and (returned.texts or any(block.text and text.holds(block.text) for block in returned.blocks)):
        return "text"
    if structured and returned.structured is not None:
        return "equal" if _says_all(returned) else "structured"
    return _part(returned, text)


def _part(returned: Returned, text: ShownText) -> SeenAs:
    """How a result is shown that is not there as a whole."""
    wanted = [*returned.texts, *([compact(returned.structured)] if returned.structured is not None else [])]
    everything = "\n".join(wanted)
    if text.names_file(everything):
        return "file"
    if any(text.is_part_of(one) for one in (*wanted, everything)):
        return "cut"
    if len(returned.texts) > 1 and any(text.holds(one) for one in returned.texts):
        return "cut"
    return "dropped" if text.blank else "changed"


def _says_all(returned: Returned) -> bool:
    """Whether the text and the structured content say the same: servers send both for older clients."""
    value = returned.structured
    if value is None:
        return False
    whole = "\n".join(returned.texts)
    fields = as_object(value)
    inner = next(iter(fields.values())) if len(fields) == 1 else value
    for one in (value, inner):
        if isinstance(one, str) and one.strip() == whole.strip():
            return True
        if not isinstance(one, str) and whole.strip() in (compact(one), str(one)):
            return True
        parsed = parse_json(whole)
        if parsed is not None and meaning(parsed) == meaning(one):
            return True
        # A list may come as one text block for each of its items.
        items = as_array(one)
        if items and len(items) == len(returned.texts):
            pairs = zip(items, returned.texts, strict=True)
            if all(meaning(item) == meaning(parse_json(text)) or item == text for item, text in pairs):
                return True
    return False


def _lost(returned: Returned, text: ShownText, shown: Shown) -> Iterator[Lost]:
    same = _says_all(returned)
    texts_held = all(text.holds(one) for one in returned.texts)
    value_held = returned.structured is None or text.holds_value(returned.structured)
    if returned.texts and not texts_held and not (same and value_held):
        yield "text"
    if not value_held and not (same and texts_held):
        yield "structured"
    for block in returned.blocks:
        if not block.empty and not _shows(block, text, shown, "\n".join(returned.texts)):
            yield _KIND[block.kind]


_KIND: dict[str, Lost] = {"image": "image", "audio": "audio", "resource": "resource", "link": "link"}


def _shows(block: Block, text: ShownText, shown: Shown, others: str) -> bool:
    """Whether a block is shown: its data, its text or its address; a file in its place; or media made of it."""
    if block.text:
        if text.holds(block.text) or text.names_file(others) or text.is_part_of(block.text):
            return True
        return bool(block.data) and any(block.data[:_DATA] in one for one in (*text.texts, *map(compact, _all(shown))))
    if block.uri and text.holds(block.uri):
        return True
    if block.data:
        start = block.data[:_DATA]
        if writes_data(block, shown.text):
            return False
        if any(start in one for one in text.texts) or any(start in compact(raw) for raw in _all(shown)):
            return True
        if block.kind != "audio" and any(_is_media(item) for raw in _all(shown) for item in _items(raw)):
            return True  # clients make images smaller, or store them somewhere
        return text.names_file(others)
    return False


def writes_data(block: Block, text: str) -> bool:
    """Whether the base64 of an image is in a text: the model reads letters, and sees no image."""
    return block.kind == "image" and len(block.data) >= _LEAST and block.data[:_DATA] in text


def is_passed_on(run: ToolRun, shown: Shown) -> bool:
    """Whether a request has a result as the tool returned it: its texts, and its media under the same type."""
    returned, raw = returned_of(run.result), compact(shown.raw)
    if run.seen_as not in ("equal", "text", "structured") or run.lost:
        return False
    media = [block for block in returned.blocks if block.data]
    if any(len(block.data) >= _LEAST and block.data[:_DATA] in shown.text for block in media):
        return False  # as letters, in a text
    return all(block.data[:_DATA] in raw and block.mime.rpartition("/")[2] in raw for block in media)


def is_alone(run: ToolRun, shown: Shown) -> bool:
    """Whether a request shows the text of a result and nothing around it but a JSON object with that text alone."""
    said = without_space(run.returned_text or "")
    value: object = parse_json(shown.text) if shown.text.lstrip()[:1] == "{" else None
    while is_object(value) and len(value) == 1:
        (value,) = value.values()
    return said == without_space(shown.text) or (isinstance(value, str) and said == without_space(value))


def _all(shown: Shown) -> Iterable[object]:
    return (shown.raw, *shown.near)


def _items(raw: object) -> Iterator[object]:
    """A JSON value, and what its `content`, `output` or `parts` hold."""
    yield raw
    fields = as_object(raw)
    for key in ("content", "output", "parts"):
        yield from as_array(fields.get(key))
    for inner in fields.values():
        for key in ("content", "output", "parts"):
            yield from as_array(as_object(inner).get(key))


def _is_media(item: object) -> bool:
    fields = as_object(item)
    kind = (as_text(fields.get("type")) or "").lower()
    return kind in _MEDIA or any(key.lower() in _MEDIA for key in fields if key not in ("file",))


def texts_shown(shown: Shown) -> Iterator[str]:
    """What the request may show as a whole result: the text, the texts in its JSON, what follows the client's words."""
    text = ShownText(shown.text)
    yield shown.text.strip()
    yield shown.text.partition("<system-reminder>")[0].strip()
    yield from (leaf.strip() for leaf in text.leaves[:50])
    head, mark, rest = shown.text.partition(":\n")
    if mark and "\n" not in head.strip() or rest:
        yield rest.strip()
