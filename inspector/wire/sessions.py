"""Round trips that hold several turns: WebSocket sessions, and the event streams of agents that the API runs."""

from dataclasses import replace

from turntape.cassettes.tape.model import RoundTrip

from . import agent_sessions, websocket

_MICROSECOND = 0.000001


def turns_of(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each turn within this one; none when it is a single round trip.

    Each has the session's URL, a body that holds what was new, and its part of the answer as a stream. The last is
    cut when the session ended inside it.
    """
    turns = websocket.turns_of(round_trip) if round_trip.frames else agent_sessions.agent_turns(round_trip)
    for place in range(1, len(turns)):
        # Where no times were recorded, turns still begin one after the other, so that they can be distinguished.
        earliest = turns[place - 1].started_at + _MICROSECOND
        if turns[place].started_at < earliest:
            turns[place] = replace(turns[place], started_at=earliest)
    return turns
