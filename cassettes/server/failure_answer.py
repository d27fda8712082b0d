"""The answer of the replay server for a recording without an answer, because the upstream did not give one.

A client would treat a closed connection as a present network fault. So it gets an error that its SDK reads as the API's
own, with the recorded reason. The answer asks for a retry only when the recording contains such a retry.
"""

from ..replay.player import Player
from ..tape.model import RoundTrip

UNANSWERED_STATUS = 502


def document(trip: RoundTrip) -> dict[str, object]:
    """The error body: one shape for the SDKs of all APIs, like that of a miss (see `Miss.document`)."""
    reason = trip.failure.message if trip.failure else "the server closed without one"
    message = f"the recording of this request has no answer: {reason}"
    error = {
        "type": "turntape_no_answer",
        "code": UNANSWERED_STATUS,
        "status": "UNAVAILABLE",
        "message": message,
        "param": None,
    }
    return {"type": "error", "object": "error", "error": error, "message": message}


def was_tried_again(player: Player, trip: RoundTrip) -> bool:
    """True when the recording contains the same request again, not yet played."""
    request = trip.request
    return any(
        (other.method, other.url) == (request.method, request.url) and other.body == request.body
        for other in (player.cassette[place].request for place in player.unplayed)
    )
