"""The replay transports. They convert a request for the player, and a recording into a response of the library."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

import orjson

from ..faults.fault import Faults
from ..matching.grades import Matching
from ..replay.answer import MISS_STATUS, replayed_headers
from ..replay.pace import Pace, Pauses
from ..replay.player import Miss, Played, Player
from ..tape.model import Failure, FailureKind, RoundTrip
from ..tape.reader import Cassette
from .base import AsyncTransport, SyncTransport

if TYPE_CHECKING:
    import httpx

type Source = "Player | Cassette | str | os.PathLike[str] | Iterable[RoundTrip]"

_RAISED: dict[FailureKind, str] = {
    "refused": "ConnectError",
    "dns": "ConnectError",
    "tls": "ConnectError",
    "timeout": "ConnectTimeout",
    "cut": "RemoteProtocolError",
    "protocol": "RemoteProtocolError",
    "internal": "ReadError",
}
"""The library's exception for a recorded failure; none for `client_gone`, because that client had what it needed."""


def player_of(source: Source, matching: Matching | None = None, faults: Faults | None = None) -> Player:
    """A player of `source`. A Player has its own `matching` and `faults`: giving them as well is a ValueError."""
    if not isinstance(source, Player):
        return Player(source, matching=matching, faults=faults)
    if matching is not None or faults is not None:
        raise ValueError("a Player has its own matching and faults; give them to Player(…) instead")
    return source


def library_of(request: object) -> Any:
    """The library of the request: `httpx` or `httpx2`."""
    return sys.modules[type(request).__module__.partition(".")[0]]


class _Streams:
    """The stream classes of one library. The library accepts only subclasses of its classes."""

    made: dict[str, tuple[Any, Any]] = {}

    @classmethod
    def of(cls, library: Any) -> tuple[Any, Any]:
        """`(sync, async)` stream classes for `library`."""
        made = cls.made.get(library.__name__)
        if made is None:

            class Sync(library.SyncByteStream):
                def __init__(self, trip: RoundTrip, request: object, pauses: Pauses) -> None:
                    self._parts = (trip, request, pauses)

                def __iter__(self) -> Iterator[bytes]:
                    trip, request, pauses = self._parts
                    assert trip.response is not None
                    for piece, at in trip.response.pieces:
                        if wait := pauses.before(at):
                            time.sleep(wait)
                        yield piece
                    _end(library, trip.failure, request)

            class Async(library.AsyncByteStream):
                def __init__(self, trip: RoundTrip, request: object, pauses: Pauses) -> None:
                    self._parts = (trip, request, pauses)

                async def __aiter__(self) -> AsyncIterator[bytes]:
                    trip, request, pauses = self._parts
                    assert trip.response is not None
                    for piece, at in trip.response.pieces:
                        if wait := pauses.before(at):
                            await asyncio.sleep(wait)
                        yield piece
                    _end(library, trip.failure, request)

            made = cls.made[library.__name__] = (Sync, Async)
        return made


def _end(library: Any, failure: Failure | None, request: object) -> None:
    name = _RAISED.get(failure.kind) if failure else None
    if name is not None and failure is not None:
        raise getattr(library, name)(f"{failure.message} (as recorded)", request=request)


def _miss(library: Any, miss: Miss, request: object) -> Any:
    return library.Response(
        MISS_STATUS,
        headers={"content-type": "application/json", "x-should-retry": "false", "x-turntape": "miss"},
        content=orjson.dumps(miss.document(MISS_STATUS)),
        request=request,
    )


class Replay:
    """What the sync and the async transport have in common."""

    def __init__(
        self, source: Source, pace: str | float | Pace, matching: Matching | None = None, faults: Faults | None = None
    ) -> None:
        self.player = player_of(source, matching, faults)
        self.misses: list[Miss] = []
        """The requests that were not recorded, in order."""
        self._pace = Pace.of(pace)

    def _answer(self, request: Any, body: bytes) -> Played | Miss:
        try:
            return self.player.play(request.method, str(request.url), tuple(request.headers.multi_items()), body)
        except Miss as miss:
            self.misses.append(miss)
            return miss

    def respond(self, library: Any, request: Any, found: Played | Miss, stream: int) -> Any:
        if isinstance(found, Miss):
            return _miss(library, found, request)
        trip = found.trip
        response = trip.response
        if response is None:
            if found.faulted is not None and found.faulted.fault.kind == "timeout":
                raise library.ReadTimeout(trip.failure.message if trip.failure else "", request=request)
            _end(library, trip.failure or Failure("cut", "the server closed without an answer"), request)
            raise library.ReadError("no answer was recorded", request=request)
        headers = replayed_headers(response)
        extensions = {"turntape": found.match}
        if trip.failure is None and (not response.chunks or (len(response.chunks) == 1 and self._pace.factor is None)):
            # For an answer in one piece, `content` gives the same stream, without a class of ours.
            return library.Response(
                response.status, headers=headers, content=response.body, request=request, extensions=extensions
            )
        pieces = _Streams.of(library)[stream](trip, request, self._pace.pauses())
        return library.Response(response.status, headers=headers, stream=pieces, request=request, extensions=extensions)


def wait_before(library: Any, request: Any, found: Played | Miss) -> float:
    """Seconds until the first byte. Raises the library's ReadTimeout at once if the client's timeout is shorter."""
    if isinstance(found, Miss) or found.faulted is None or not (delay := found.faulted.delay):
        return 0.0
    times = cast(dict[str, float | None], request.extensions.get("timeout") or {})
    patience = times.get("read")
    if patience is not None and delay > patience:
        raise library.ReadTimeout(f"the first byte is {delay:g} s late: a fault was injected", request=request)
    return delay


class ReplayTransport(Replay, SyncTransport):
    """A transport that answers from a cassette: `httpx.Client(transport=ReplayTransport("run.cassette.jsonl"))`.

    `source` is a path, a `Cassette`, a `Player`, or round trips. `pace` is `instant`, `recorded`, a number (how many
    times faster), or has a longest wait in seconds: `max=0.5`, `10,max=0.5`. `matching` says what may differ, `faults`
    what goes wrong (values, or a TOML file). A request that was not recorded gets a 400 that says what differs, and
    is kept in `misses`; recorded failures are raised as the library's own exceptions. How an answer was found is the
    response's extension `turntape`, a `Match`; `player.report()` says what came of the whole.
    """

    def __init__(
        self,
        source: Source,
        *,
        pace: str | float | Pace = "instant",
        matching: Matching | None = None,
        faults: Faults | None = None,
    ) -> None:
        super().__init__(source, pace, matching, faults)

    def handle_request(self, request: "httpx.Request") -> "httpx.Response":
        library, found = library_of(request), self._answer(request, request.read())
        if wait := wait_before(library, request, found):
            time.sleep(wait)
        return self.respond(library, request, found, 0)


class AsyncReplayTransport(Replay, AsyncTransport):
    """`ReplayTransport` for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    def __init__(
        self,
        source: Source,
        *,
        pace: str | float | Pace = "instant",
        matching: Matching | None = None,
        faults: Faults | None = None,
    ) -> None:
        super().__init__(source, pace, matching, faults)

    async def handle_async_request(self, request: "httpx.Request") -> "httpx.Response":
        library, found = library_of(request), self._answer(request, await request.aread())
        if wait := wait_before(library, request, found):
            await asyncio.sleep(wait)
        return self.respond(library, request, found, 1)
