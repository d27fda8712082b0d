"""What a turn was read from. A turn that may wait for long puts it aside, and reads it again when it is used."""

from collections.abc import Callable
from dataclasses import replace

from turntape.cassettes.tape.model import Lazy, RoundTrip

from ..wire.parse import read
from ..wire.values import Reading
from .conversation import Conversation, conversation_of

type Again = Callable[[], RoundTrip]
"""Gives the same round trip again, from where it is recorded."""

_SHORT = 4096
"""Bytes. A shorter body stays in memory."""


class Seen:
    """A round trip, its reading, and the messages of its request as units."""

    __slots__ = ("_again", "_made", "round_trip")

    def __init__(self, round_trip: RoundTrip, reading: Reading, conversation: Conversation) -> None:
        self.round_trip = round_trip
        """Once it is put aside, its bodies are read when they are used."""
        self._made: tuple[Reading, Conversation] | None = (reading, conversation)
        self._again: Again | None = None

    @property
    def reading(self) -> Reading:
        made = self._made  # asked for hundreds of times a turn
        return made[0] if made is not None else self._both()[0]

    @property
    def conversation(self) -> Conversation:
        return self._both()[1]

    @property
    def is_aside(self) -> bool:
        """Whether it was put aside, and can be again."""
        return self._again is not None

    @property
    def in_memory(self) -> bool:
        """Whether using it reads nothing."""
        return self._made is not None

    def put_aside(self, again: Again) -> None:
        """Forget the bodies and what was read of them; `again` gives them back."""
        self._again, self._made = again, None
        self.round_trip = _without_bodies(self.round_trip, again)

    def _both(self) -> tuple[Reading, Conversation]:
        if self._made is None:
            assert self._again is not None
            reading = read(self._again())
            self._made = reading, conversation_of(reading.request.messages)
        return self._made


def _without_bodies(trip: RoundTrip, again: Again) -> RoundTrip:
    def answer() -> bytes:
        response = again().response
        return response.body if response is not None else b""

    if _is_long(trip.request.content):
        trip = replace(trip, request=replace(trip.request, content=lambda: again().request.body))
    if trip.response is not None and _is_long(trip.response.content):
        trip = replace(trip, response=replace(trip.response, content=answer))
    return trip


def _is_long(content: Lazy) -> bool:
    return isinstance(content, bytes) and len(content) > _SHORT
