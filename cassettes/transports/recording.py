"""Recording in process: copies what passes through a transport into round trips, without delay or change."""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..recording.pending import PendingTrip, PendingTrips, header_fields
from ..recording.recorder import Recorder
from ..tape.model import Failure, FailureKind, Request
from .base import AsyncTransport, SyncTransport
from .replay import library_of

if TYPE_CHECKING:
    import httpx

type Send = Callable[[Any], Any]
type AsyncSend = Callable[[Any], Awaitable[Any]]

_KINDS: tuple[tuple[str, FailureKind], ...] = (
    ("TimeoutException", "timeout"),
    ("ConnectError", "refused"),
    ("LocalProtocolError", "protocol"),
    ("UnsupportedProtocol", "protocol"),
    ("TransportError", "cut"),
)
"""The library's exceptions, the most specific first, and the failure that each means."""


def failure_of(library: Any, error: BaseException) -> Failure:
    """The failure that an exception of `library` means."""
    kinds: list[FailureKind] = [kind for name, kind in _KINDS if isinstance(error, getattr(library, name))]
    kind = kinds[0] if kinds else "internal"
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if kind == "refused":
        if any(isinstance(one, ssl.SSLError) for one in causes):
            kind = "tls"
        elif any(type(one).__name__ == "gaierror" for one in causes):
            kind = "dns"
    return Failure(kind, str(error) or type(error).__name__)


def _begin(exchanges: PendingTrips, request: Any, body: bytes) -> PendingTrip:
    taken = Request(request.method, str(request.url), header_fields(request.headers.raw), body)
    return exchanges.begin(taken, request.url.host)


def _failed(library: Any, exchange: PendingTrip, error: BaseException) -> None:
    """End an exchange with the exception that was raised in it; a BaseException means that the client left."""
    if isinstance(error, Exception):
        failure = failure_of(library, error)
        exchange.failed(failure, "server" if failure.kind == "cut" else None)
    else:
        exchange.left()


class _Tees:
    """The stream classes of one library that copy what is read. The library accepts only subclasses of its classes."""

    made: dict[str, tuple[Any, Any]] = {}

    @classmethod
    def of(cls, library: Any) -> tuple[Any, Any]:
        """`(sync, async)` stream classes for `library`."""
        made = cls.made.get(library.__name__)
        if made is None:

            class Sync(library.SyncByteStream):
                def __init__(self, stream: Any, exchange: PendingTrip) -> None:
                    self._parts = (stream, exchange)

                def __iter__(self) -> Iterator[bytes]:
                    stream, exchange = self._parts
                    try:
                        for piece in stream:
                            exchange.tee(piece)
                            yield piece
                    except BaseException as exc:
                        _failed(library, exchange, exc)
                        raise
                    exchange.ended()

                def close(self) -> None:
                    stream, exchange = self._parts
                    try:
                        stream.close()
                    finally:
                        exchange.left()

            class Async(library.AsyncByteStream):
                def __init__(self, stream: Any, exchange: PendingTrip) -> None:
                    self._parts = (stream, exchange)

                async def __aiter__(self) -> AsyncIterator[bytes]:
                    stream, exchange = self._parts
                    try:
                        async for piece in stream:
                            exchange.tee(piece)
                            yield piece
                    except BaseException as exc:
                        _failed(library, exchange, exc)
                        raise
                    exchange.ended()

                async def aclose(self) -> None:
                    stream, exchange = self._parts
                    try:
                        await stream.aclose()
                    finally:
                        exchange.left()

            made = cls.made[library.__name__] = (Sync, Async)
        return made


def _teed(library: Any, response: Any, exchange: PendingTrip, kind: int) -> Any:
    """`response`, whose body is kept while it is read."""
    version = response.extensions.get("http_version", b"HTTP/1.1").decode("latin-1")
    exchange.answered(response.status_code, response.reason_phrase, header_fields(response.headers.raw), version)
    try:
        # A transport that answers from memory gives a complete body, which is not streamed.
        exchange.plain(response.content)
    except library.ResponseNotRead:
        response.stream = _Tees.of(library)[kind](response.stream, exchange)
    else:
        exchange.ended()
    return response


def recorded(request: Any, send: Send, exchanges: PendingTrips) -> Any:
    """Send `request` with `send` and record the exchange. An exception of `send` is recorded and raised again."""
    library = library_of(request)
    exchange = _begin(exchanges, request, request.read())
    try:
        response = send(request)
    except BaseException as exc:
        _failed(library, exchange, exc)
        raise
    return _teed(library, response, exchange, 0)


async def recorded_async(request: Any, send: AsyncSend, exchanges: PendingTrips) -> Any:
    """`recorded` for an async transport. A cancelled request is recorded as closed by the client."""
    library = library_of(request)
    exchange = _begin(exchanges, request, await request.aread())
    try:
        response = await send(request)
    except BaseException as exc:
        _failed(library, exchange, exc)
        raise
    return _teed(library, response, exchange, 1)


class RecordingTransport(SyncTransport):
    """A transport that records what passes: `httpx.Client(transport=RecordingTransport(Recorder("a.cassette.jsonl")))`.

    `transport` sends the requests. The default is the `HTTPTransport` of the library (httpx or httpx2) of the first
    request. Streams are copied as they pass. Failed and cut exchanges are recorded too, and the exceptions of the
    transport are raised again. The recorder redacts secrets. The caller closes the recorder, after the client.
    """

    def __init__(self, recorder: Recorder, transport: "httpx.BaseTransport | Any | None" = None) -> None:
        self._exchanges = PendingTrips(recorder.write)
        self._transport: Any = transport

    def handle_request(self, request: "httpx.Request") -> "httpx.Response":
        if self._transport is None:
            self._transport = library_of(request).HTTPTransport()
        return recorded(request, self._transport.handle_request, self._exchanges)

    def close(self) -> None:
        """Close the wrapped transport. Exchanges that were not read to their end are recorded as they are."""
        if self._transport is not None:
            self._transport.close()
        self._exchanges.abandon()


class AsyncRecordingTransport(AsyncTransport):
    """`RecordingTransport` for `httpx.AsyncClient` and `httpx2.AsyncClient`."""

    def __init__(self, recorder: Recorder, transport: "httpx.AsyncBaseTransport | Any | None" = None) -> None:
        self._exchanges = PendingTrips(recorder.write)
        self._transport: Any = transport

    async def handle_async_request(self, request: "httpx.Request") -> "httpx.Response":
        if self._transport is None:
            self._transport = library_of(request).AsyncHTTPTransport()
        return await recorded_async(request, self._transport.handle_async_request, self._exchanges)

    async def aclose(self) -> None:
        """Like `RecordingTransport.close`."""
        if self._transport is not None:
            await self._transport.aclose()
        self._exchanges.abandon()
