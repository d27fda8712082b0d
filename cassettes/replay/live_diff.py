"""How the shape of a live answer differs from the recorded one: the status, the kinds of events, and the JSON types.

The words of the model are never compared, only whether the API still answers in the recorded shape.
"""

from collections.abc import Iterator
from typing import cast

import orjson

from ..frozen import frozen
from ..matching.request_key import header
from ..tape.model import Response, RoundTrip

type Shape = dict[str, frozenset[str]]
"""JSON pointer, with `*` for any index of an array → the JSON types found there."""


@frozen
class LiveDifference:
    """A recorded round trip that the live API now answers in another shape."""

    index: int
    """The number of the recorded round trip."""
    method: str
    url: str
    changes: tuple[str, ...]
    """What differs, one clause each."""

    def __str__(self) -> str:
        return f"#{self.index} {self.method} {self.url}: {'; '.join(self.changes)}"


def live_difference(recorded: RoundTrip, live: RoundTrip) -> LiveDifference | None:
    """What differs between a recording and the live answer to the same request; None when nothing does."""
    changes = tuple(_changes(recorded, live))
    return LiveDifference(recorded.index, recorded.request.method, recorded.request.url, changes) if changes else None


def _changes(recorded: RoundTrip, live: RoundTrip) -> Iterator[str]:
    old, new = recorded.response, live.response
    if old is None or new is None:
        if old is not None or new is not None:
            missing = live if new is None else recorded
            why = missing.failure.message if missing.failure else "nothing came back"
            yield f"{'the API did not answer' if new is None else 'the API answered; no answer was recorded'}: {why}"
        return
    if old.status != new.status:
        yield f"the status was {old.status} and is {new.status}"
        return
    if live.failure is not None and recorded.failure is None:
        yield f"the answer is incomplete: {live.failure.message}"
    was, now = events(old), events(new)
    for kind in sorted(was.keys() - now.keys()):
        yield f"{kind} is missing"
    for kind in sorted(now.keys() - was.keys()):
        yield f"{kind} is new"
    for kind in sorted(was.keys() & now.keys()):
        yield from _changed_types(kind, was[kind], now[kind])


def _changed_types(kind: str, was: Shape, now: Shape) -> Iterator[str]:
    for pointer in sorted(was.keys() | now.keys()):
        place = f"{pointer or 'the value'} of {kind}"
        old, new = was.get(pointer), now.get(pointer)
        # If a value is missing or new, so is everything in it; only the value itself is reported.
        if old is None or new is None:
            parent = pointer.rpartition("/")[0]
            if not pointer or (parent in was) == (parent in now):
                yield f"{place} is {'new' if old is None else 'missing'}"
        elif not old & new and "null" not in old | new:
            yield f"{place} was {'/'.join(sorted(old))} and is {'/'.join(sorted(new))}"


def events(response: Response) -> dict[str, Shape]:
    """The kinds of events in an answer and the shape of each; an answer that is not a stream is one `answer`."""
    kind = header(response.headers, "content-type").lower()
    found: dict[str, Shape] = {}
    for name, value in _values(kind, response.body):
        _widen(found.setdefault(name, {}), shape(value))
    return found


def _values(kind: str, body: bytes) -> Iterator[tuple[str, object]]:
    if "event-stream" in kind and "vnd.amazon" not in kind:
        name = ""
        # A blank line ends an event; CR, LF and CRLF all end a line.
        for line in body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
            word, _, rest = line.partition(b":")
            rest = rest.removeprefix(b" ")
            if not line:
                name = ""
            elif word == b"event":
                name = rest.decode("utf-8", "replace")
            elif word == b"data":
                value = _parsed(rest)
                yield f"event {name or _named(value)}", value
    elif "ndjson" in kind or "jsonl" in kind:
        for line in body.splitlines():
            value = _parsed(line)
            yield f"line {_named(value)}", value
    else:
        yield "answer", _parsed(body)


def _named(value: object) -> str:
    """The name of an event: its `type` or `object`; the text of an event that is not JSON."""
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        return str(fields.get("type") or fields.get("object") or "data")
    return value[:40] if isinstance(value, str) else "data"


def _parsed(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return data.decode("utf-8", "replace")


_TYPES: tuple[tuple[type, str], ...] = ((bool, "boolean"), (int, "number"), (float, "number"), (str, "text"))


def shape(value: object) -> Shape:
    """The types in a JSON value by pointer. All items of an array share one pointer."""
    found: Shape = {}
    _walk(value, "", found)
    return found


def _walk(value: object, pointer: str, found: Shape) -> None:
    if isinstance(value, dict):
        _widen(found, {pointer: frozenset(("object",))})
        for key, item in cast(dict[str, object], value).items():
            _walk(item, f"{pointer}/{key}", found)
    elif isinstance(value, list):
        _widen(found, {pointer: frozenset(("array",))})
        for item in cast(list[object], value):
            _walk(item, f"{pointer}/*", found)
    else:
        name = next((name for kind, name in _TYPES if isinstance(value, kind)), "null")
        _widen(found, {pointer: frozenset((name,))})


def _widen(found: Shape, more: Shape) -> None:
    for pointer, types in more.items():
        found[pointer] = found.get(pointer, frozenset()) | types
