"""A complete round trip, and its neighbours in the thread."""

from collections.abc import Sequence
from functools import cached_property

from turntape.cassettes.framing import Event
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.conversation import conversation_of
from ..analysis.dispatch import results_of
from ..analysis.history_diff import HistoryDiff, diff_history
from ..analysis.seen import Seen
from ..analysis.turn import Edge, Turn
from ..wire.exchange import Exchange
from ..wire.sessions import SessionPart
from ..wire.values import Message, Reading, ToolResult
from .row import Row


@frozen(slots=False)
class Detail:
    """A complete round trip, read again from the file."""

    row: Row
    round_trip: RoundTrip
    exchange: Exchange
    reading: Reading
    previous: Reading | None = None
    """The previous turn of the thread; None when there is none."""
    following: Reading | None = None
    """The next turn of the thread."""
    part: SessionPart | None = None
    """For a turn of a WebSocket session, the messages that it was read from: `round_trip` is made of them."""

    @cached_property
    def sent(self) -> int:
        """How many messages at the front had been sent before."""
        messages = self.reading.request.messages
        if self.row.messages_before:
            return min(self.row.messages_before, len(messages))
        if self.previous is None:
            return 0
        return _same(self.previous.request.messages, messages)

    @property
    def history(self) -> Sequence[Message]:
        """The messages that were already sent before."""
        return self.reading.request.messages[: self.sent]

    @property
    def new(self) -> Sequence[Message]:
        """The messages of this request that the thread's previous request did not contain."""
        return self.reading.request.messages[self.sent :]

    @cached_property
    def call_names(self) -> dict[str | None, str]:
        """The tools' names by the ids of the calls: of the request's history, else of the answer before it.

        The history of a client that names the answer that it continues has only the results.
        """
        before = self.previous.emission.calls if self.previous and self.previous.emission else ()
        parts = (part for message in self.reading.request.messages for part in message.parts)
        return {call.id: call.name for call in (*before, *(part.call for part in parts if part.call))}

    @property
    def whole(self) -> bool:
        """Whether the whole answer had arrived, whoever closed the connection then."""
        finish = self.reading.finish
        if finish is None:
            return self.round_trip.failure is None and self.round_trip.response is not None
        return finish.effective not in ("cut", "cancelled", "error", "unknown")

    @property
    def events(self) -> list[Event]:
        """The events of a streamed answer with their times."""
        return self.exchange.events

    @cached_property
    def results(self) -> dict[int, ToolResult]:
        """The result of each of this turn's calls in the next request, by the call's place."""
        return results_of(self.reading, self.following) if self.following is not None else {}


def history_diff_with(detail: Detail, following: Reading, edge: Edge | None = None) -> HistoryDiff | None:
    """How the next request of the thread, with its edge, repeats a turn; None for a failed turn and for no turn."""
    row, trip = detail.row, detail.round_trip
    if row.thread is None or row.turn is None:
        return None
    first = conversation_of(detail.reading.request.messages)
    turns = [
        Turn(
            seen=Seen(trip, reading, conversation_of(reading.request.messages, [first])),
            thread=row.thread,
            number=row.turn + at,
            history="extended",
            edge=(edge if at else None) or Edge("continuation"),
        )
        for at, reading in enumerate((detail.reading, following))
    ]
    return None if turns[0].failed else diff_history(*turns)


def _same(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages at the front have the same meaning."""
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (a, b) in pairs if _meaning(a) != _meaning(b)), min(len(before), len(now)))


def _meaning(message: Message) -> list[int]:
    return conversation_of((message,)).meanings or [hash(message.role)]
