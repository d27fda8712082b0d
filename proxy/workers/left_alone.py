"""What a worker does when the process that writes the file was killed: it adds what is missing to the file itself."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from turntape.cassettes.counted import several
from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.tape.format import stamp
from turntape.cassettes.tape.lock import being_written
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Cassette

_PATIENCE = 60.0
"""Seconds to wait for the other workers, which add theirs."""
_AGAIN = 2.0
"""Seconds for which it is tried again although nobody else has the file."""
_LOOK = 0.05
_LAST = 1000
"""How many of the last round trips in the file are looked at for one that was written just before the end."""


def add_missing(path: Path, trips: Sequence[RoundTrip], redactor: Redactor) -> str:
    """Add these round trips, whose secrets are replaced, to the file. Returns what happened, in one sentence."""
    return f"the process that writes the recording has ended unexpectedly; {_done(path, trips, redactor)}"


def _done(path: Path, trips: Sequence[RoundTrip], redactor: Redactor) -> str:
    begun = busy_at = time.monotonic()
    while trips:
        try:
            return _added(path, trips, redactor)
        except (TurntapeError, OSError) as exc:
            now = time.monotonic()
            # Another worker may have ended between the failure and this look.
            busy_at = now if _is_busy(path) else busy_at
            if now - begun > _PATIENCE or now - busy_at > _AGAIN:
                return f"{several(len(trips), 'round trip')} lost: {exc}"
        time.sleep(_LOOK)
    return f"no round trip of this worker is missing from {str(path)!r}"


def _added(path: Path, trips: Sequence[RoundTrip], redactor: Redactor) -> str:
    with Recorder(path, append=True, redactor=redactor) as recorder:
        present = set(map(_identity, _last(path)))
        missing = [trip for trip in trips if _identity(trip) not in present]
        for trip in missing:
            recorder.write(trip, clean=True)
    if recorder.loss:
        return f"{recorder.loss}: {recorder.problem}"
    return f"a worker has added its last {several(len(missing), 'round trip')} to {str(path)!r}"


def _last(path: Path) -> Iterable[RoundTrip]:
    return Cassette.load(path)[-_LAST:]


def _identity(trip: RoundTrip) -> tuple[object, ...]:
    return stamp(trip.started_at), trip.ended_at, trip.client, trip.request.method, trip.request.url


def _is_busy(path: Path) -> bool:
    try:
        return path.stat().st_size > 0 and being_written(path)
    except OSError:
        return False
