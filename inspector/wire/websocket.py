"""OpenAI Responses over WebSocket, read into turns as if each response had been a round trip of its own.

One socket carries many responses, one after the other: the client sends `response.create`, the server answers
with the events it would have streamed. Realtime and Gemini Live sessions have no such turns; they stay whole.
"""

from dataclasses import dataclass, field, replace

from turntape.cassettes.tape.model import Chunk, Frame, Request, Response, RoundTrip

from .json_value import Object, as_object, as_text, compact, parse_json

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled", "error"})
_LIVE = frozenset({"setup", "clientContent", "realtimeInput", "client_content", "realtime_input", "toolResponse"})


@dataclass(slots=True)
class Turn:
    """What one `response.create` asked and what came back so far."""

    body: Object
    at: int
    events: list[tuple[Frame, Object]] = field(default_factory=list[tuple[Frame, Object]])
    ended: bool = False


def turns_of(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each response that the session asked for; none when it holds no such turns.

    Each has the session's URL, the body of its `response.create`, and its events as a stream; the last is cut
    when the session ended inside it.
    """
    return [_round_trip(round_trip, turn) for turn in _turns(round_trip.frames)]


def is_live(round_trip: RoundTrip) -> bool:
    """True for a session without turns of its own: OpenAI Realtime or Gemini Live."""
    return bool(round_trip.frames) and not _turns(round_trip.frames)


def _turns(frames: tuple[Frame, ...]) -> list[Turn]:
    turns: list[Turn] = []
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
                turns.append(Turn(body, frame.at))
            continue
        # Responses come one after the other, so an event belongs to the first that is open.
        while first_open < len(turns) and turns[first_open].ended:
            first_open += 1
        is_late = first_open == len(turns)
        if kind and turns and not (is_late and kind in _ENDS):
            turn = turns[min(first_open, len(turns) - 1)]
            turn.events.append((frame, message))
            turn.ended = turn.ended or kind in _ENDS
    return [] if live else turns


def _asked(message: Object) -> Object:
    """The body of a request: beside the type, or under `response`."""
    body = {key: value for key, value in message.items() if key not in ("type", "event_id", "response")}
    body = {**body, **as_object(message.get("response"))}
    return body if {"model", "input", "previous_response_id"} & set(body) else {}


def _round_trip(session: RoundTrip, turn: Turn) -> RoundTrip:
    pieces = [_event(message) for _, message in turn.events]
    chunks = tuple(
        Chunk(len(piece), max(0, frame.at - turn.at)) for piece, (frame, _) in zip(pieces, turn.events, strict=True)
    )
    body = {**turn.body, "stream": True}
    response = Response(200, headers=(("content-type", "text/event-stream"),), content=b"".join(pieces), chunks=chunks)
    return replace(
        session,
        request=replace(_post(session.request), content=compact(body).encode("utf-8", "surrogatepass")),
        response=response if turn.events else None,
        started_at=session.started_at + turn.at / 1_000_000,
        request_at=0,
        first_byte_at=chunks[0].at if chunks else None,
        ended_at=chunks[-1].at if chunks else None,
        closed_first=None if turn.ended else session.closed_first,
        failure=None if turn.ended else session.failure,
        frames=(),
    )


def _post(request: Request) -> Request:
    scheme, separator, rest = request.url.partition("://")
    http = {"ws": "http", "wss": "https"}.get(scheme, scheme)
    return replace(request, method="POST", url=f"{http}{separator}{rest}", encoding=None)


def _event(message: Object) -> bytes:
    name = as_text(message.get("type")) or "message"
    return f"event: {name}\ndata: {compact(message)}\n\n".encode("utf-8", "surrogatepass")
