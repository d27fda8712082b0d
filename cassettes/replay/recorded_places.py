"""Whether a cassette has recordings of a place: a host and a path.

A recording whose address was removed before it was imported (`**REDACTED**`) may be of any place. Requests to LLMs are
compared with it as with any other. Side traffic is not, since most of it is in no cassette; only where the recording is
of a file (a GET without a body), a host that serves files may be its place.
"""

from collections.abc import Iterable

from ..matching.request_key import is_without_address
from ..tape.model import RoundTrip, split_url
from .telemetry_hosts import is_file_host


class RecordedPlaces:
    """The places that these round trips are recordings of."""

    def __init__(self, trips: Iterable[RoundTrip]) -> None:
        self._places: set[tuple[str, str]] = set()
        self._has_files_of_any_host = False
        for trip in trips:
            request = trip.request
            parts = split_url(request.url)
            self._places.add((parts.hostname or "", parts.path))
            if is_without_address(request.url) and request.method.upper() == "GET" and not request.body:
                self._has_files_of_any_host = True

    def has(self, host: str, path: str) -> bool:
        """True when a recording is of this place, or may be."""
        return (host, path) in self._places or (self._has_files_of_any_host and is_file_host(host))
