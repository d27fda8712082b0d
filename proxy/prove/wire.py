"""The record of a witness: the pieces of each connection in both directions, in order of time."""

import itertools
from dataclasses import dataclass, field

from turntape.cassettes.frozen import frozen

from .messages import Message, requests, responses


@dataclass(slots=True)
class Wire:
    """One connection that a witness passed on."""

    place: str
    """Where it led: `host:port` of the API, or empty for the proxy."""
    up: list[bytes] = field(default_factory=list[bytes])
    up_order: list[int] = field(default_factory=list[int])
    down: list[bytes] = field(default_factory=list[bytes])


@frozen
class Exchange:
    """A request and what came back on the same connection."""

    request: Message
    response: Message | None
    order: int
    place: str


class Wires:
    """All connections of one witness."""

    def __init__(self, clock: "itertools.count[int]") -> None:
        self.all: list[Wire] = []
        self._clock = clock

    def open(self, place: str = "") -> Wire:
        wire = Wire(place)
        self.all.append(wire)
        return wire

    def up(self, wire: Wire, data: bytes) -> None:
        wire.up.append(data)
        wire.up_order.append(next(self._clock))

    def exchanges(self) -> list[Exchange]:
        """Every exchange, in the order of the requests."""
        found: list[Exchange] = []
        for wire in self.all:
            asked = requests(wire.up)
            answers = responses(wire.down, [request.method for request in asked])
            for i, request in enumerate(asked):
                answer = answers[i] if i < len(answers) else None
                found.append(Exchange(request, answer, wire.up_order[request.at], wire.place))
        return sorted(found, key=lambda exchange: exchange.order)
