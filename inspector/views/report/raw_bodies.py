"""The raw request and answer: first line, headers and body. A body that resends an earlier one refers to it.

A packed body is `[text]`, or `[text, place, prefix, suffix]`: the first `prefix` and the last `suffix` bytes are those
of the request at `place`, and the text is between them.
"""

from turntape.cassettes.tape.delta import Window
from turntape.cassettes.tape.model import Headers, Request, Response

from ...run.detail import Detail
from ...wire.sessions import SessionPart
from ..text.number_format import several, size
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
        """Request and answer of the round trip at `place`: a head, the packed body, and the note of a cut one.

        Of a turn in a WebSocket session, the handshake and the messages.
        """
        if detail.part is not None:
            return self._session(detail.part)
        trip = detail.round_trip
        request, response = trip.request, trip.response
        found = [self._wire("Raw request", _asked(request), request.headers, request.body, place)]
        if response is not None:
            found.append(self._wire("Raw answer", _answered(response), response.headers, response.body, None))
        return found

    def _session(self, part: SessionPart) -> list[dict[str, object]]:
        request, response = part.handshake.request, part.handshake.response
        answered = _with_headers(_answered(response), response.headers) if response is not None else "no answer"
        sent = [b"%10.6f s  %s  %s" % (one.at / 1e6, one.sender.encode(), one.data) for one in part.messages]
        words = f"{several(len(sent), 'message')} of a WebSocket session, seconds since its start"
        return [
            self._wire("Raw handshake", _asked(request), request.headers, answered.encode(), None),
            self._wire("Raw messages", words, (), b"\n".join(sent), None),
        ]

    def _wire(self, title: str, first: str, headers: Headers, body: bytes, place: int | None) -> dict[str, object]:
        lines = _with_headers(first, headers)
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


def _asked(request: Request) -> str:
    return f"{request.method} {request.url} {request.http_version}"


def _answered(response: Response) -> str:
    return f"{response.http_version} {response.status} {response.reason}"


def _with_headers(first: str, headers: Headers) -> str:
    return "\n".join([first, *(f"{name}: {value}" for name, value in headers)])
