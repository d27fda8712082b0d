"""Round trips that hold several turns: WebSocket sessions, and the event streams of agents that the API runs."""

from turntape.cassettes.tape.model import RoundTrip

from . import agent_sessions, websocket


def turns_of(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each turn within this one; none when it is a single round trip.

    Each has the session's URL, a body that holds what was new, and its part of the answer as a stream. The last is
    cut when the session ended inside it.
    """
    return websocket.turns_of(round_trip) if round_trip.frames else agent_sessions.agent_turns(round_trip)
