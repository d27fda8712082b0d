"""One transport that replays, records or both, according to the record mode of its session."""

import asyncio
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..recording.pending import PendingTrips
from ..replay.pace import Pace
from ..replay.player import Played
from ..replay.session import Session
from .base import AsyncTransport, SyncTransport
from .recording import AsyncSend, Send, header_fields, recorded, recorded_async
from .replay import Replay, library_of, wait_before

if TYPE_CHECKING:
    import httpx

LIVE = "turntape_live"
"""The request extension that marks a request for the live API."""

type SessionSource = "Session | str | os.PathLike[str]"


class _OfSession(Replay):
    def __init__(self, source: SessionSource, mode: str | None, pace: str | float | Pace, transport: Any) -> None:
        self.session = source if isinstance(source, Session) else Session(source, mode)
        self._owned = self.session is not source
        self._transport = transport
        super().__init__(self.session.player, pace)
        self.misses = self.session.misses

    @property
    def deck(self) -> Session:
        """The earlier name of `session`."""
        return self.session

    def _finish(self) -> None:
        if self._owned:
            self.session.finish()

    def _beside(self, found: Played) -> PendingTrips:
        """A recorder for a live call whose answer is only compared with `found`."""
        return PendingTrips(lambda live: self.session.compare(found.trip, live))


class CassetteTransport(_OfSession, SyncTransport):
    """`httpx.Client(transport=CassetteTransport("a.cassette.jsonl", mode="once"))`, and for httpx2 alike.

    `source` is a path, or a `Session` that several transports share; then the caller finishes the session. `mode` is
    `none` (the default, and in CI unless `TURNTAPE_MODE` says otherwise), `once`, `new`, `all` or `verify`. `pace` is
    the same as for `ReplayTransport`. `transport` makes the live calls. Closing the client ends the recording.
    """

    def __init__(
        self,
        source: SessionSource,
        mode: str | None = None,
        *,
        pace: str | float | Pace = "instant",
        transport: "httpx.BaseTransport | Any | None" = None,
    ) -> None:
        super().__init__(source, mode, pace, transport)

    def handle_request(self, request: "httpx.Request") -> "httpx.Response":
        return self.handle(request, self._live)

    def _live(self, request: Any) -> Any:
        if self._transport is None:
            self._transport = library_of(request).HTTPTransport()
        request.extensions = {**request.extensions, LIVE: True}
        return self._transport.handle_request(request)

    def handle(self, request: Any, send: Send) -> Any:
        """Answer `request` from the session, or from the live API through `send`."""
        found = self.session.ask(request.method, str(request.url), header_fields(request.headers.raw), request.read())
        if found is None:
            return recorded(request, send, self.session.exchanges)
        library = library_of(request)
        if self.session.plan.compares and isinstance(found, Played):
            # An exception of the call is kept in the exchange, and the comparison reports it.
            with suppress(library.TransportError):
                recorded(request, send, self._beside(found)).read()
        if wait := wait_before(library, request, found):
            time.sleep(wait)
        return self.respond(library, request, found, 0)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self._finish()


class AsyncCassetteTransport(_OfSession, AsyncTransport):
    """`CassetteTransport` for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    def __init__(
        self,
        source: SessionSource,
        mode: str | None = None,
        *,
        pace: str | float | Pace = "instant",
        transport: "httpx.AsyncBaseTransport | Any | None" = None,
    ) -> None:
        super().__init__(source, mode, pace, transport)

    async def handle_async_request(self, request: "httpx.Request") -> "httpx.Response":
        return await self.handle(request, self._live)

    async def _live(self, request: Any) -> Any:
        if self._transport is None:
            self._transport = library_of(request).AsyncHTTPTransport()
        request.extensions = {**request.extensions, LIVE: True}
        return await self._transport.handle_async_request(request)

    async def handle(self, request: Any, send: AsyncSend) -> Any:
        """As `CassetteTransport.handle`."""
        found = self.session.ask(
            request.method, str(request.url), header_fields(request.headers.raw), await request.aread()
        )
        if found is None:
            return await recorded_async(request, send, self.session.exchanges)
        library = library_of(request)
        if self.session.plan.compares and isinstance(found, Played):
            with suppress(library.TransportError):
                await (await recorded_async(request, send, self._beside(found))).aread()
        if wait := wait_before(library, request, found):
            await asyncio.sleep(wait)
        return self.respond(library, request, found, 1)

    async def aclose(self) -> None:
        if self._transport is not None:
            await self._transport.aclose()
        self._finish()
