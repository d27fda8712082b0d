"""The raw request and answer: first line, headers and body. A body that resends an earlier one refers to it.

A packed body is `[text]`, or `[text, place, prefix, suffix]`: the first `prefix` and the last `suffix` bytes are those
of the request at `place`, and the text is between them.
"""

from turntape.cassettes.tape.delta import Window
from turntape.cassettes.tape.model import Headers

from ...run.detail import Detail
from ..text.number_format import size
from .markup import NOTHING, span, tag
from .packed import Node, Texts, node

WHOLE = 1_000_000
"""A body that adds more bytes than this is cut."""
SHOWN = 50_000
"""Bytes that are left of it."""

type Packed = list[int | str]


class RawBodies:
    """The raw bodies of a run, one round trip after the other."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._window = Window()

    def of(self, detail: Detail, place: int) -> list[dict[str, object]]:
        """Request and answer of the round trip at `place`: a head, the packed body, and the note of a cut one."""
        trip = detail.round_trip
        request, response = trip.request, trip.response
        first = f"{request.method} {request.url} {request.http_version}"
        found = [self._wire("Raw request", first, request.headers, request.body, place)]
        if response is not None:
            first = f"{response.http_version} {response.status} {response.reason}"
            found.append(self._wire("Raw answer", first, response.headers, response.body, None))
        return found

    def _wire(self, title: str, first: str, headers: Headers, body: bytes, place: int | None) -> dict[str, object]:
        lines = "\n".join([first, *(f"{name}: {value}" for name, value in headers)])
        stored, left = self._packed(body, place)
        head: list[Node] = [
            node(tag("summary", tag("h3", f"{title} "), span("dim", size(len(body)))), self._texts),
            node(tag("pre", lines, class_="dim"), self._texts),
        ]
        note = tag("p", f"… {size(left)} more in the cassette", class_="dim") if left else NOTHING
        return {"head": head, "body": stored, "note": node(note, self._texts) if note else ""}

    def _packed(self, body: bytes, place: int | None) -> tuple[Packed, int]:
        """The body as it is stored, and how many bytes of it are left out."""
        try:
            body.decode("utf-8")
        except UnicodeDecodeError:
            return [body[:SHOWN].decode("utf-8", "backslashreplace")], max(0, len(body) - SHOWN)
        delta = self._window.shorten(body) if place is not None else None
        if delta is None and len(body) > WHOLE or delta is not None and len(delta.middle) > WHOLE:
            return [body[:SHOWN].decode("utf-8", "ignore")], len(body) - SHOWN
        if place is not None:
            self._window.add(place, body)
        if delta is None:
            return [self._texts.number(body.decode())], 0
        return [self._texts.number(delta.middle.decode()), delta.base, delta.prefix, delta.suffix], 0
