"""Whether a turn was refused, so that it costs nothing. One rule for the ledger and for all views."""

from turntape.cassettes.tape.model import RoundTrip

from ..wire.values import Reading


def is_refused(*, status: int | None, finish: str | None, emitted: str | None, counted: int | None) -> bool:
    """Whether the API failed before anything was counted or answered. `counted`: the input tokens, if they are known.

    An answer that was begun and cut may cost something: its price is unknown.
    """
    failed = status is None or status >= 400 or finish == "error"
    return failed and emitted in (None, "none") and counted is None


def was_refused(trip: RoundTrip, reading: Reading) -> bool:
    """`is_refused` for a turn as it was read."""
    return is_refused(
        status=(trip.response.status or None) if trip.response else None,
        finish=reading.finish.effective if reading.finish else None,
        emitted=reading.emission.emitted if reading.emission else None,
        counted=reading.usage.input if reading.usage else None,
    )
