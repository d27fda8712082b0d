"""The replay server: a cassette in place of the API, for clients in any language.

An ASGI app on uvicorn. It accepts every form of base URL. Chunks are sent as recorded, one message each.
"""

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property
from typing import cast

import orjson

from ..errors import CassetteError
from ..matching.grades import Match
from ..replay.answer import MISS_STATUS, replayed_headers
from ..replay.pace import Pace, Pauses
from ..replay.player import Miss, Player
from ..routes.admission import Admission, is_local
from ..tape.bounds import MOST_IN_TOTAL
from ..tape.model import Headers, RoundTrip, chunk_sizes
from .asgi import App, Cut, Message, Receive, Send
from .failure_answer import UNANSWERED_STATUS, document, was_tried_again
from .joined_writes import JoinedWrites
from .local_pages import is_preflight, preflight_fields, readable
from .open_files import full_reported_once
from .tool_http import HttpTools
from .uvicorn_config import silent_config
from .visitors import guarded
from .websocket import Sockets

_TOO_LONG_STATUS = 413
_TOO_LONG: dict[str, object] = {
    "error": {
        "type": "turntape_request_too_long",
        "code": _TOO_LONG_STATUS,
        "message": f"the request has more than {MOST_IN_TOTAL:,} bytes, which the replay server does not take",
        "param": None,
    }
}


def app(player: Player, *, pace: str | float | Pace = "instant", tools: HttpTools | None = None) -> App:
    """An ASGI app that answers from `player`, and requests to recorded tool servers from `tools`."""
    return _ReplayApp(player, Pace.of(pace), tools)


class _ReplayApp:
    """An ASGI app; each call of it answers one request or holds one WebSocket session."""

    def __init__(self, player: Player, pace: Pace, tools: HttpTools | None) -> None:
        self._player, self._pace, self._tools = player, pace, tools
        self._unanswered: dict[tuple[str, str, bytes], RoundTrip] = {}
        """Recorded requests without an answer. An SDK that retries without being asked to gets the same error again."""
        self._running = 0
        """How many requests to the API are being received or answered."""
        player.senders.running = lambda: self._running - 1

    @cached_property
    def _sockets(self) -> Sockets:
        return Sockets(self._player, self._pace)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        query = cast(bytes, scope["query_string"]).decode()
        target = cast(bytes, scope.get("raw_path") or scope["path"].encode()).decode() + (f"?{query}" if query else "")
        headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"])
        if scope["type"] == "websocket":
            await self._sockets.talk(target, headers, scope, receive, send)
            return
        if is_preflight(scope["method"], headers):
            # A browser remembers the answer, so a recorded question may not be asked again.
            self._player.leave_out(trip for trip in self._player.cassette if trip.request.method == "OPTIONS")
            await send({"type": "http.response.start", "status": 204, "headers": preflight_fields(headers)})
            await send({"type": "http.response.body", "body": b""})
            return
        try:
            with self._counted():
                body = await _whole(receive)
        except _Gone:
            return
        if body is None:
            await _send_document(headers, send, _TOO_LONG_STATUS, _TOO_LONG, b"too long", ends=True)
            return
        if self._tools is not None and await self._tools.answer(scope, target, headers, body, receive, send):
            return
        with self._counted():
            await self._answer(scope, target, headers, body, receive, send)

    @contextmanager
    def _counted(self) -> Generator[None]:
        """Count a request as running."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    async def _answer(
        self, scope: Message, target: str, headers: Headers, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Answer a request to the API from the recording."""
        asked = (scope["method"], target, body)
        try:
            played = self._player.play(scope["method"], target, headers, body)
        except Miss as miss:
            if (trip := self._unanswered.get(asked)) is None:
                await _send_document(headers, send, MISS_STATUS, miss.document(MISS_STATUS), b"miss")
                return
            await _send_unanswered(headers, send, self._player, trip)
            return
        faulted = played.faulted
        if faulted is not None and played.trip.response is None:
            if faulted.fault.kind == "timeout":
                await _client_gone(receive)
            await _hang_up(send)
            return
        if played.trip.response is None:
            self._unanswered[asked] = played.trip
            await _send_unanswered(headers, send, self._player, played.trip)
            return
        if faulted is not None and faulted.delay:
            await asyncio.sleep(faulted.delay)
        await _send_recorded(scope, headers, send, played.trip, self._pace, _said(played.match))


class _Gone(Exception):
    """The client has gone before its request was whole."""


async def _whole(receive: Receive) -> bytes | None:
    """The body of a request; None when it is too long. Raises _Gone."""
    parts: list[bytes] = []
    size = 0
    while size <= MOST_IN_TOTAL:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _Gone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if not message.get("more_body"):
            return b"".join(parts)
    return None


_NAMED = 10
"""At most this many differences are in a header."""


def _said(match: Match) -> bytes:
    """The `x-turntape` header: how the answer was found."""
    places = ", ".join(difference.pointer for difference in match.differences[:_NAMED])
    parts = [match.grade, str(match.turn), *([f"differs at {places}"] if places else [])]
    text = "; ".join(parts + ([f"fault {match.fault}"] if match.fault else []))
    return text.encode("ascii", "replace").replace(b"\r", b" ").replace(b"\n", b" ")


async def _client_gone(receive: Receive) -> None:
    """Wait until the client gives up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _hang_up(send: Send) -> None:
    """Close the connection without an answer, for which ASGI has no message."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is not None:
        transport.abort()
        return
    await send({"type": "http.response.start", "status": 502, "headers": [(b"content-length", b"1")]})
    raise Cut("the connection is refused")


async def _send_unanswered(asked: Headers, send: Send, player: Player, trip: RoundTrip) -> None:
    again = was_tried_again(player, trip)
    await _send_document(asked, send, UNANSWERED_STATUS, document(trip), b"no answer", again)


async def _send_document(
    asked: Headers,
    send: Send,
    status: int,
    document: dict[str, object],
    said: bytes,
    again: bool = False,
    *,
    ends: bool = False,
) -> None:
    """`ends`: the connection is closed afterwards."""
    headers = [
        (b"content-type", b"application/json"),
        (b"x-should-retry", b"true" if again else b"false"),
        (b"x-turntape", said),
        *([(b"connection", b"close")] if ends else []),
    ]
    body = orjson.dumps(document)
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": readable(asked, headers)})
    await send({"type": "http.response.body", "body": body})


async def _send_recorded(scope: Message, asked: Headers, send: Send, trip: RoundTrip, pace: Pace, said: bytes) -> None:
    response = trip.response
    assert response is not None
    headers = [(k.encode("latin-1", "replace"), v.encode("latin-1", "replace")) for k, v in replayed_headers(response)]
    headers = readable(asked, [*headers, (b"x-turntape", said)])
    cut = trip.failure is not None and trip.failure.kind != "client_gone"
    if len(response.chunks) <= 1 and not cut:
        body = response.body
        await send(
            {
                "type": "http.response.start",
                "status": response.status,
                "headers": [*headers, (b"content-length", str(len(body)).encode())],
            }
        )
        await send({"type": "http.response.body", "body": body})
        return
    start: Message = {"type": "http.response.start", "status": response.status, "headers": headers}
    is_at_once = pace.factor is None and scope["method"] != "HEAD"
    joined = JoinedWrites.of(send) if is_at_once else None
    try:
        await send(start)
        if joined is not None and joined.takes_chunks:
            body = response.body
            await joined.chunks(body, chunk_sizes(response.chunks, len(body)) or [len(body)])
        else:
            await _send_pieces(send, response.pieces, pace.pauses())
        if cut:
            raise Cut(trip.failure.message if trip.failure else "")
        await send({"type": "http.response.body", "body": b""})
    finally:
        if joined is not None:
            joined.end()


async def _send_pieces(send: Send, pieces: list[tuple[bytes, int]], pauses: Pauses) -> None:
    for piece, at in pieces:
        if wait := pauses.before(at):
            await asyncio.sleep(wait)
        await send({"type": "http.response.body", "body": piece, "more_body": True})


def _nothing(number: int, frame: object) -> None:
    """A signal that was already handled."""


@contextmanager
def _signals_once() -> Generator[None]:
    """uvicorn stops at a signal and then raises it again, which would end us before the report is printed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def serve(
    source: "Player | App",
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    pace: str | float | Pace = "instant",
    ready: Callable[[int], None] | None = None,
    admission: Admission | None = None,
) -> None:
    """Serve a player, or another app, until SIGINT or SIGTERM; `ready` is called with the port.

    `admission` says who may come in. Raises CassetteError when the port is not available, and for a host beyond
    loopback without a token.
    """
    admission = admission or Admission(apis=True)
    if admission.token is None and not is_local(host):
        raise CassetteError(
            f"{host} can be reached from other machines, so the port needs a token: pass admission=Admission(token)"
        )
    try:
        import uvicorn

        from .bounded_requests import BoundedRequests
    except ImportError as exc:
        raise CassetteError("the replay server needs uvicorn; install it with: pip install 'turntape[proxy]'") from exc
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The socket names TCP explicitly; otherwise asyncio keeps Nagle's algorithm, and each answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        raise CassetteError(f"cannot listen on {host}:{port}: {exc.strerror}; choose another --port") from exc
    # From here on requests wait in the backlog, so no client that knows the port is refused.
    listener.listen(2048)
    served = guarded(app(source, pace=pace) if isinstance(source, Player) else source, admission)
    config = silent_config(served, http=BoundedRequests)
    if ready is not None:
        ready(listener.getsockname()[1])
    with _signals_once(), full_reported_once():
        uvicorn.Server(config).run(sockets=[listener])
