"""Sessions over WebSocket, read into turns as if each response had been a separate round trip.

OpenAI Responses: the client sends `response.create`, the server answers with the events it would have streamed.
OpenAI Realtime: see `realtime_session.py`. Gemini Live: see `live_session.py`.
Gemini Interactions: see `interactions_session.py`.
"""

from turntape.cassettes.tape.model import Frame, RoundTrip

from .interactions_session import interaction_turns
from .json_value import Object, as_count, as_object, as_text, parse_json
from .live_session import live_turns
from .realtime_session import realtime_turns
from .socket_turn import SessionEnd, SessionNote, SocketTurn, failed_close, round_trip_of

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"})
_LIVE = frozenset({"setup", "clientContent", "realtimeInput", "client_content", "realtime_input", "toolResponse"})


def turns_of(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each response that the session requested; none when it holds no such turns.

    Each has the session's URL, the body of its `response.create`, and its events as a stream; the last is cut
    when the session ended inside it.
    """
    return session_of(round_trip)[0]


def session_of(round_trip: RoundTrip) -> tuple[list[RoundTrip], SessionEnd | None]:
    """The turns of a session as in `turns_of`, and how it ended; None where nothing is known of that."""
    frames = round_trip.frames
    left: dict[str, int] = {}
    notes: tuple[SessionNote, ...] = ()
    close = failed_close(round_trip)
    turns = _turns(frames)
    if not turns:
        turns, left, notes = realtime_turns(frames)
    turns = (
        turns
        or live_turns(frames, f"session #{round_trip.index}", failed=close is not None)
        or interaction_turns(frames)
    )
    if close is not None and turns and not turns[-1].events:
        # Nothing else answers the last request: what the close frame says is the answer.
        turns[-1].events.append(close.as_error())
        turns[-1].ended = True
    end = SessionEnd(None, notes=notes) if notes else None
    if round_trip.closed_first == "client" and round_trip.ended_at is not None:
        begun = round_trip.started_at
        results = {call_id: begun + at / 1e6 for call_id, at in left.items()}
        end = SessionEnd(begun + round_trip.ended_at / 1e6, results, notes)
    return [round_trip_of(round_trip, turn) for turn in turns], end


def is_live(round_trip: RoundTrip) -> bool:
    """True for a session that holds no turns, or that is not read into turns."""
    return bool(round_trip.frames) and not turns_of(round_trip)


def _turns(frames: tuple[Frame, ...]) -> list[SocketTurn]:
    turns: list[SocketTurn] = []
    first_open = 0
    live = False
    for frame in frames:
        message = as_object(parse_json(frame.data))
        kind = as_text(message.get("type")) or ""
        live = live or kind.startswith(("session.", "input_audio_buffer.", "conversation.item"))
        live = live or not _LIVE.isdisjoint(message)
        if frame.sender == "client":
            # Realtime's own `response.create` has no model and no input.
            if kind == "response.create" and not live and (body := _asked(message)):
                turns.append(SocketTurn(body, frame.at))
            continue
        # Responses come one after the other, so an event belongs to the first that is open.
        while first_open < len(turns) and turns[first_open].ended:
            first_open += 1
        is_late = first_open == len(turns)
        if kind and turns and not (is_late and kind in _ENDS):
            refused = _refused(message, turns[first_open:])
            turn = refused or turns[min(first_open, len(turns) - 1)]
            turn.events.append((frame, message))
            turn.ended = turn.ended or kind in _ENDS
    return [] if live else turns


def _refused(message: Object, waiting: list[SocketTurn]) -> SocketTurn | None:
    """The newest request, when this error refuses it because another response is being given."""
    if message.get("type") != "error" or len(waiting) < 2 or not waiting[0].events or waiting[-1].events:
        return None
    return waiting[-1] if as_count(message.get("status")) == 400 else None


def _asked(message: Object) -> Object:
    """The body of a request: beside the type, or under `response`."""
    body = {key: value for key, value in message.items() if key not in ("type", "event_id", "response")}
    body = {**body, **as_object(message.get("response"))}
    return body if {"model", "input", "previous_response_id"} & set(body) else {}
