"""Round trips that hold several turns: WebSocket sessions, and the event streams of agents that the API runs."""

from collections.abc import Sequence
from dataclasses import replace

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import Frame, RoundTrip

from . import agent_sessions, websocket
from .socket_turn import SessionEnd

_MICROSECOND = 0.000001


def turns_of(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each turn within this one; none when it is a single round trip.

    Each has the session's URL, a body that holds what was new, and its part of the answer as a stream. The last is
    cut when the session ended inside it.
    """
    return session_of(round_trip)[0]


def session_of(round_trip: RoundTrip) -> tuple[list[RoundTrip], SessionEnd | None]:
    """The turns as in `turns_of`, and how the client left the session, where that is known."""
    if round_trip.frames:
        turns, end = websocket.session_of(round_trip)
    else:
        turns, end = agent_sessions.agent_turns(round_trip), None
    for place in range(1, len(turns)):
        # Where no times were recorded, turns still begin one after the other, so that they can be distinguished.
        earliest = turns[place - 1].started_at + _MICROSECOND
        if turns[place].started_at < earliest:
            turns[place] = replace(turns[place], started_at=earliest)
    return turns, end


@frozen
class SessionPart:
    """The part of a WebSocket session that is one turn, as it was on the wire."""

    handshake: RoundTrip
    """The session's own request and answer, without its messages."""
    place: int
    """Which turn of the session, from 0."""
    turns: int
    begun: int
    """When the turn was asked, in microseconds since the session's start."""
    messages: tuple[Frame, ...]
    """From the end of the turn before to the end of this one; of the last turn, to the end of the session."""


def part_of(session: RoundTrip, turns: Sequence[RoundTrip], place: int) -> SessionPart | None:
    """What of the session's messages is the turn at `place` of its `turns`; None for a session without messages."""
    if not session.frames:
        return None
    begun = [round((turn.started_at - session.started_at) / _MICROSECOND) for turn in turns[: place + 1]]
    ends = [at + (turn.ended_at or 0) for at, turn in zip(begun, turns, strict=False)]
    before, end = max(ends[:-1], default=-1), ends[-1]
    is_last = place + 1 == len(turns)
    messages = tuple(frame for frame in session.frames if frame.at > before and (is_last or frame.at <= end))
    return SessionPart(replace(session, frames=()), place, len(turns), begun[-1], messages)
