"""Recorded answers with other values in their strings: those that are new in each run, as they are in this run.

A streamed answer gives a text in pieces, so a value may be split over several events. The pieces of one text are
searched as one. An answer without such a value keeps its bytes.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

import orjson

from ..faults.events import pieces_of, with_pieces
from ..frozen import mutable
from ..tape.model import Chunk, Frame, Response, RoundTrip

type Changes = Callable[[str], list[tuple[int, int, str]]]
"""Where a text changes, in order: `(start, end, new)`."""
type Json = dict[str, object]

_PIECES = frozenset(
    (
        *("arguments", "content", "delta", "input", "partial_json", "reasoning", "reasoning_content", "refusal"),
        *("reasoningText", "text", "thinking", "thought"),
    )
)
"""The names that APIs give to a piece of a text in an event."""
_PLACES = (
    "index",
    "output_index",
    "content_index",
    "summary_index",
    "item_id",
    "contentBlockIndex",
    "type",
    "event_type",
)
"""The fields of an event, or of an item in it, that say which text a piece belongs to."""


@mutable
class _Leaf:
    """A string in a document, and where it is."""

    holder: dict[str, object] | list[object]
    key: str | int
    text: str
    slot: tuple[object, ...]
    """Equal for the pieces of one text."""
    document: int

    def put(self, text: str) -> None:
        self.holder[self.key] = text  # type: ignore[index]


def rewritten(trip: RoundTrip, changes: Changes) -> RoundTrip:
    """A round trip with these changes in the strings of its answer, or of its WebSocket messages."""
    response = trip.response
    if response is None:
        return trip
    if trip.frames:
        return _with_new_frames(trip, response, changes)
    return replace(trip, response=_answer(response, changes))


def _answer(response: Response, changes: Changes) -> Response:
    pieces = pieces_of(response)
    if not pieces:
        document = _parsed(response.body)
        if not _changed([document], changes):
            return response
        data = orjson.dumps(document)
        return replace(response, content=data, chunks=response.chunks and (Chunk(len(data), response.chunks[-1].at),))
    documents: list[object] = [piece.json for piece in pieces]
    changed = _changed(documents, changes)
    if not changed:
        return response
    return with_pieces(
        response,
        (
            piece.with_document(cast(Json, documents[place])) if place in changed else piece
            for place, piece in enumerate(pieces)
        ),
    )


def _with_new_frames(trip: RoundTrip, response: Response, changes: Changes) -> RoundTrip:
    documents = [_parsed(frame.data) if frame.sender == "server" else None for frame in trip.frames]
    changed = _changed(documents, changes)
    frames: tuple[Frame, ...] = tuple(
        replace(frame, data=orjson.dumps(documents[place])) if place in changed else frame
        for place, frame in enumerate(trip.frames)
    )
    return replace(trip, frames=frames) if changed else trip


def _parsed(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _changed(documents: Sequence[object], changes: Changes) -> set[int]:
    """Change the documents in place; which of them were changed."""
    texts: dict[tuple[object, ...], list[_Leaf]] = {}
    for place, document in enumerate(documents):
        for leaf in _leaves(document, (), place):
            texts.setdefault(leaf.slot, []).append(leaf)
    found: set[int] = set()
    for leaves in texts.values():
        said = changes("".join(leaf.text for leaf in leaves))
        if said:
            found |= _distribute(leaves, said)
    return found


def _distribute(leaves: list[_Leaf], changes: list[tuple[int, int, str]]) -> set[int]:
    """Write a changed text back into its pieces; a new value goes where the old one began."""
    found: set[int] = set()
    start = 0
    for leaf in leaves:
        end = start + len(leaf.text)
        text, at = "", start
        for low, high, new in changes:
            if high <= start or low >= end:
                continue
            text += leaf.text[max(at, start) - start : max(low, start) - start] + (new if low >= start else "")
            at = min(high, end)
        if at > start or text:
            text += leaf.text[at - start :]
            leaf.put(text)
            found.add(leaf.document)
        start = end
    return found


def _leaves(value: object, path: tuple[object, ...], document: int) -> Iterator[_Leaf]:
    if isinstance(value, dict):
        fields = cast(Json, value)
        here = (*path, *((name, fields[name]) for name in _PLACES if isinstance(fields.get(name), str | int)))
        items: Iterator[tuple[str | int, object]] = iter(list(fields.items()))
    elif isinstance(value, list):
        here = path
        items = iter(list(enumerate(cast(list[object], value))))
    else:
        return
    holder = cast("dict[str, object] | list[object]", value)
    for key, item in items:
        if isinstance(item, str):
            slot = (*here, key) if key in _PIECES else (*here, key, document)
            yield _Leaf(holder, key, item, slot, document)
        else:
            yield from _leaves(item, (*here, key), document)
