"""A round trip as protocols see it: parsed once, lazily, and only as far as somebody asks.

The bytes are the record; everything here is a view. A body that cannot be parsed is `None` here and stays
whole in the round trip.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from urllib.parse import parse_qsl

from turntape.cassettes.framing import Event, decode, frame
from turntape.cassettes.tape.model import Headers, RoundTrip, split_url

from .json_value import as_object, first_document, is_object, parse_json
from .request_bodies import read_body


def header(headers: Headers, name: str) -> str | None:
    """The first value of a header, by name in any case, or None."""
    lowered = name.lower()
    return next((value for key, value in headers if key.lower() == lowered), None)


class EventObjects:
    """Names and bodies of events, as often as somebody goes over them. They are in no list: a stream may be long."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[tuple[str, dict[str, object]]]:
        return self._of(self._events)

    def __reversed__(self) -> Iterator[tuple[str, dict[str, object]]]:
        return self._of(reversed(self._events))

    @staticmethod
    def _of(events: Iterable[Event]) -> Iterator[tuple[str, dict[str, object]]]:
        for event in events:
            if event.kind != "comment" and is_object(value := event.value):
                yield (event.name if event.kind != "exception" else f"!{event.name}"), value


class Bodies:
    """The values of an answer's events, or its one body, as often as somebody goes over them."""

    def __init__(self, exchange: "Exchange") -> None:
        self._exchange = exchange

    def __iter__(self) -> Iterator[object]:
        if self._exchange.framing is None:
            yield self._exchange.answer_fields
        else:
            yield from (event.value for event in self._exchange.events)


class Exchange:
    """`Exchange(round_trip)`: what detection and the protocol readers are given."""

    def __init__(self, round_trip: RoundTrip) -> None:
        self.round_trip = round_trip
        self.request = round_trip.request
        self.response = round_trip.response
        self.method = round_trip.request.method.upper()
        url = split_url(round_trip.request.url)
        self.host = (url.hostname or "").lower()
        self.path = url.path
        self._query = url.query
        self._scheme = url.scheme

    @cached_property
    def failed_handshake(self) -> bool:
        """True when the client asked for a WebSocket and got none: the API refused, or nothing came back."""
        trip = self.round_trip
        asked = self._scheme in ("ws", "wss") or (header(self.request.headers, "upgrade") or "").lower() == "websocket"
        if not asked or self.method != "GET" or trip.frames:
            return False
        return self.response is None or self.response.status >= 400

    @cached_property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self._query, keep_blank_values=True))

    @cached_property
    def body(self) -> object:
        """The request body as JSON, or None. It must not be changed: other requests share its values."""
        return read_body(self.request.body)

    @cached_property
    def fields(self) -> dict[str, object]:
        """The request body when it is a JSON object, else an empty dict."""
        return as_object(self.body)

    @cached_property
    def status(self) -> int | None:
        return self.response.status if self.response else None

    @cached_property
    def content_type(self) -> str:
        """The media type of the answer, lower case, without parameters; empty when there is none."""
        value = header(self.response.headers, "content-type") if self.response else None
        return (value or "").split(";")[0].strip().lower()

    @cached_property
    def framing(self) -> str | None:
        """How the answer is framed: `sse`, `ndjson`, `aws-event-stream`, `json-array`, or None when it is one body.

        By what the bytes are, the content type being only a hint: real servers mislabel both ways.
        """
        return frame(self.content_type, self.response.body) if self.response else None

    @cached_property
    def events(self) -> list[Event]:
        """The events of a streamed answer with their byte spans and arrival times; empty when it is one body."""
        if self.response is None or self.framing is None:
            return []
        return decode(self.framing, self.response.each_piece())

    @property
    def event_objects(self) -> "EventObjects":
        """The names and bodies of the events that have an object; an exception's name begins with `!`."""
        return EventObjects(self.events)

    @property
    def bodies(self) -> "Bodies":
        """The value of the answer: of each event, or of the one body as an object."""
        return Bodies(self)

    @cached_property
    def answer(self) -> object:
        """The response body as JSON, or None. If more follows it in the body, see `after_answer`."""
        if self.response is None:
            return None
        value = parse_json(self.response.body)
        return self._first[0] if value is None and self._first is not None else value

    @cached_property
    def after_answer(self) -> bytes:
        """What follows the JSON object with which the body begins; empty for a body that is one document."""
        if self.response is None or self.framing not in (None, "ndjson") or parse_json(self.response.body) is not None:
            return b""
        return self._first[1] if self._first is not None else b""

    @cached_property
    def _first(self) -> tuple[object, bytes] | None:
        """The first document of a body that is not a single one, and the rest."""
        return first_document(self.response.body) if self.response is not None else None

    @cached_property
    def answer_fields(self) -> dict[str, object]:
        return as_object(self.answer)
