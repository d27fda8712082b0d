"""What the replay server says for a recording that has no answer: the upstream was not reached, or hung up at once.

A client would take a closed connection for a fault of the network here and now; so it gets an error that its SDK
reads as the API's own, with the recorded reason. It is asked to retry only when the recording has such a retry.
"""

from ..replay.player import Player
from ..tape.model import RoundTrip

UNANSWERED_STATUS = 502


def document(trip: RoundTrip) -> dict[str, object]:
    """The error body: one shape for the SDKs of all APIs, as that of a miss (see `Miss.document`)."""
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
    """True when the recording holds the same request once more, which was not played yet."""
    request = trip.request
    return any(
        (other.method, other.url) == (request.method, request.url) and other.body == request.body
        for other in (player.cassette[place].request for place in player.unplayed)
    )
