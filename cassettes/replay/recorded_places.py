"""Whether a cassette has recordings of a place: a host and a path.

A recording whose address was removed before it was imported (`**REDACTED**`) may be of any place. Requests to LLMs are
compared with it as with any other. Side traffic is not, since most of it is in no cassette; only where the recording is
of a file (a GET without a body), a host that serves files may be its place.
"""

from collections.abc import Iterable

from ..matching.request_key import is_without_address, path_key
from ..routes.own_addresses import is_loopback
from ..tape.model import RoundTrip, split_url
from .telemetry_hosts import is_file_host

_USUAL_PORTS = {"http": 80, "https": 443}


class RecordedPlaces:
    """The places that these round trips are recordings of."""

    def __init__(self, trips: Iterable[RoundTrip]) -> None:
        self._places: set[tuple[str, str]] = set()
        self._has_files_of_any_host = False
        self._ports: set[int] = set()
        """The ports of this machine that were recorded."""
        self._endpoints: set[str] = set()
        self._has_any_address = False
        """True when a recording's address was removed."""
        for trip in trips:
            request = trip.request
            parts = split_url(request.url)
            self._places.add((parts.hostname or "", parts.path))
            self._endpoints.add(_endpoint(parts.path))
            self._has_any_address |= is_without_address(request.url)
            if is_loopback(parts.hostname or ""):
                self._ports.add(parts.port or _USUAL_PORTS.get(parts.scheme, 0))
            if is_without_address(request.url) and request.method.upper() == "GET" and not request.body:
                self._has_files_of_any_host = True

    def has(self, host: str, path: str) -> bool:
        """True when a recording is of this place, or may be."""
        return (host, path) in self._places or (self._has_files_of_any_host and is_file_host(host))

    def may_answer(self, port: int | None, path: str, *, of_any_host: bool) -> bool:
        """True when a recording is of this port of this machine; with `of_any_host`, also one of this endpoint at any
        address."""
        ports = {port} if port else set(_USUAL_PORTS.values())
        if self._has_any_address or not ports.isdisjoint(self._ports):
            return True
        return of_any_host and _endpoint(path) in self._endpoints


def _endpoint(path: str) -> str:
    return path_key(path).partition("?")[0]
