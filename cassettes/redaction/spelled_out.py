"""Finds secrets that are written in pieces: over the events of a stream, or with escapes between their letters.

The pieces are put together as a reader would, the result is searched, and what is found is traced back to the bytes.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator

from ..regex import regex
from .body_search import Spans

type Segments = tuple[tuple[int, int], ...]
"""The places of one secret in a body, in order."""

type _Escape = tuple[int, int, int]
"""Where it begins and ends, and the letter that it means."""

_BACKSLASH = 0x5C
_ESCAPES = tuple(regex(start + rb"([2-6][0-9a-fA-F]|7[0-9a-eA-E])") for start in (rb"\\u00", rb"%"))
"""A letter or sign of a key, or of what is around it, as JSON and as a URL may write it."""
_FIELD = regex(rb'"(\w{1,40}+)" ?: ?"([^"\\]*+(?:\\.[^"\\]*+)*+)"')
_INDEX = regex(rb'[iI]ndex" ?: ?([0-9]{1,4})')
_FRAME = b":event-type"
"""In each frame of an AWS event stream."""
_ANY_INDEX, _LENGTH_OF_INDEX = b'ndex"', len(b'ndex" : 1234')
_EVENT = regex(rb"\n|:event-type")
_AROUND = 512
"""How far around an escape a secret with escapes may reach."""
_MOST_AT_ONCE, _AGAIN = 1 << 18, 1 << 16
"""How far escapes that are close together are put together at once, and how much of it again with what follows: a
secret of which each letter is an escape is shorter."""
_LEAST_EVENTS = 2
_BLOCK = 1 << 20
"""About how many bytes of a stream are taken apart at once."""
_LONGEST_PIECE = 4096
"""A longer piece of a stream is a whole document, in which a secret is whole."""


def escaped(body: bytes, search: Callable[[bytes], Spans]) -> Iterator[tuple[Segments, int]]:
    """Secrets with escapes in them, or around them, each with how many of its first bytes are kept."""
    for pattern in _ESCAPES:
        near: list[_Escape] = []
        for match in pattern.finditer(body):
            start, end = match.span()
            if body[start] == body[start - 1] == _BACKSLASH:
                start -= 1  # JSON within JSON
            if near and start - near[-1][1] > _AROUND:
                yield from _escaped_near(body, near, search)
                near.clear()
            elif near and start - near[0][0] > _MOST_AT_ONCE:
                again = [escape for escape in near if escape[0] > start - _AGAIN]
                whole = _escaped_near(body, near, search)
                yield from (found for found in whole if found[0][0][0] < again[0][0])
                near = again
            near.append((start, end, int(match[1], 16)))
        if near:
            yield from _escaped_near(body, near, search)


def _escaped_near(
    body: bytes, escapes: list[_Escape], search: Callable[[bytes], Spans]
) -> Iterator[tuple[Segments, int]]:
    """The secrets around escapes that are close together."""
    done = max(escapes[0][0] - _AROUND, 0)
    stop = min(escapes[-1][1] + _AROUND, len(body))
    pieces: list[bytes] = []
    starts, offsets = [0], [done]
    length = 0
    for start, end, letter in escapes:
        before = body[done:start]
        pieces += [before, bytes((letter,))]
        starts += [length + len(before), length + len(before) + 1]
        offsets += [start, end]
        length += len(before) + 1
        done = end
    text = b"".join([*pieces, body[done:stop]])

    def place(at: int) -> int:
        nearest = bisect_right(starts, at) - 1
        return offsets[nearest] + at - starts[nearest]

    for start, (end, keep) in search(text).items():
        first, last = place(start), place(end - 1) + 1
        if last - first != end - start:
            first, last, keep = place(start), place(end), 0
        yield ((first, last),), keep


def streamed(body: bytes, search: Callable[[bytes], Spans]) -> Iterator[tuple[Segments, int]]:
    """Secrets that are spread over several strings of one field, as the events of a stream give a text bit by bit.

    Where only the name of a secret is spread, its value is whole.
    """
    if not _is_suspect(body, search):
        return
    events = [match.start() for match in _EVENT.finditer(body)]
    for pieces in _fields(body, events).values():
        if len(pieces) < _LEAST_EVENTS:
            continue
        joined = b"".join(body[start:end] for start, end in pieces)
        starts: list[int] = []
        length = 0
        for start, end in pieces:
            starts.append(length)
            length += end - start
        for start, (end, keep) in search(joined).items():
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            yield (
                tuple(
                    (
                        pieces[place][0] + max(start - starts[place], 0),
                        min(pieces[place][1], pieces[place][0] + end - starts[place]),
                    )
                    for place in range(first, last + 1)
                ),
                keep,
            )


def _is_suspect(body: bytes, search: Callable[[bytes], Spans]) -> bool:
    """True when a field of the stream may hold a secret in pieces. Most streams end here, so no place is kept yet."""
    boundary = _FRAME if _FRAME in body else b"\n"
    if body.count(boundary) < _LEAST_EVENTS:
        return False
    found: defaultdict[tuple[bytes, ...], list[bytes]] = defaultdict(list)
    for block in _blocks(body, boundary):
        for indexes, events in _by_indexes(block, boundary):
            fields: defaultdict[bytes, list[bytes]] = defaultdict(list)
            for name, value in _FIELD.findall(events):
                fields[name].append(value)
            for name, values in fields.items():
                found[name, *indexes] += [value for value in values if value and len(value) <= _LONGEST_PIECE]
    return any(len(set(pieces)) > 1 and search(b"".join(pieces)) for pieces in found.values())


def _by_indexes(block: bytes, boundary: bytes) -> Iterator[tuple[tuple[bytes, ...], bytes]]:
    """The events that have the same indexes, joined: they add to the same texts."""
    if _ANY_INDEX not in block:
        yield (), block
        return
    groups: defaultdict[tuple[bytes, ...], list[bytes]] = defaultdict(list)
    known: dict[bytes, tuple[bytes, ...]] = {}
    for event in block.split(boundary):
        first = event.find(_ANY_INDEX)
        if first < 0:
            groups[()].append(event)
            continue
        all_of_them = event[first : event.rfind(_ANY_INDEX) + _LENGTH_OF_INDEX]
        indexes = known.get(all_of_them)
        if indexes is None:
            indexes = known[all_of_them] = tuple(_INDEX.findall(event))
        groups[indexes].append(event)
    for indexes, events in groups.items():
        yield indexes, boundary.join(events)


def _blocks(body: bytes, boundary: bytes) -> Iterator[bytes]:
    """A body in parts that end with an event."""
    at = 0
    while (end := body.find(boundary, at + _BLOCK)) >= 0:
        yield body[at:end]
        at = end
    yield body[at:]


def _fields(body: bytes, events: list[int]) -> dict[tuple[bytes, ...], list[tuple[int, int]]]:
    """The places of the values of each field, by its name and the indexes in its event, without constant fields."""
    found: dict[tuple[bytes, ...], list[tuple[int, int]]] = {}
    last: dict[tuple[bytes, ...], bytes] = {}
    constant: dict[tuple[bytes, ...], int] = {}
    indexes: tuple[bytes, ...] = ()
    bound = 0
    for match in _FIELD.finditer(body):
        start, end = match.span(2)
        if end == start or end - start > _LONGEST_PIECE:
            continue
        if match.start() >= bound:
            event = bisect_right(events, match.start())
            bound = events[event] if event < len(events) else len(body)
            indexes = tuple(_INDEX.findall(body, 0 if event == 0 else events[event - 1], bound))
        key = (match[1], *indexes)
        value = match[2]
        constant[key] = constant.get(key, 0) + (last.get(key) == value)
        last[key] = value
        found.setdefault(key, []).append((start, end))
    return {key: places for key, places in found.items() if constant[key] * 2 < len(places)}
