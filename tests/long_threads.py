"""One long thread in several APIs: each turn sends the whole history, makes a call and gets its result."""

from dataclasses import replace

from dialogues import APIS, Piece, asks, calls, gives

from turntape.cassettes.tape.model import RoundTrip

CUT = {
    "chat": (b'"finish_reason":"tool_calls"', b'"finish_reason":"length"'),
    "anthropic": (b'"stop_reason":"tool_use"', b'"stop_reason":"max_tokens"'),
    "responses": (b'"status":"completed"', b'"status":"incomplete"'),
    "gemini": (b'"finishReason":"STOP"', b'"finishReason":"MAX_TOKENS"'),
}
"""How each API writes the finish of a whole answer with a call, and of one that was cut."""
PACK = "Look up each of these words, one after the other, and say what each of them means. " * 200
"""Long, so that bodies are large enough to share what they parse."""


def _cut(api: str, trip: RoundTrip) -> RoundTrip:
    assert trip.response is not None
    whole, cut = CUT[api]
    body = trip.response.body.replace(b": ", b":").replace(whole, cut)
    return replace(trip, response=replace(trip.response, content=body, chunks=()))


def thread(api: str, turns: int, *, cut: int = 0, clock: bool = False) -> list[RoundTrip]:
    """The thread. Of `cut` answers one is cut; with a `clock` the first message of each request holds the time."""
    history: list[Piece] = [asks(PACK)]
    trips: list[RoundTrip] = []
    for number in range(turns):
        call = calls(f"word-{number}")
        first = asks(f"It is {number} minutes past nine. {PACK}") if clock else history[0]
        trip = APIS[api]([first, *history[1:]], call, number)
        trips.append(_cut(api, trip) if cut and number % cut == 1 else trip)
        history += [call, gives(f"what word {number} means, in a few words")]
    return [replace(trip, started_at=1_780_000_000.0 + trip.index) for trip in trips]
