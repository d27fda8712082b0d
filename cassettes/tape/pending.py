"""A round trip while it runs in this process: pieces are kept as they pass, and it is handed over once, at its end.

A fault of ours is logged and stored with the round trip; it never reaches the traffic.
"""

import logging
import threading
import time
from collections.abc import Callable

from ..routes.upstreams import by_host
from .content_encoding import Decoder, decoded, decoder
from .model import Chunk, Failure, Headers, Request, Response, RoundTrip, Side
from .stream_end import ended

log = logging.getLogger(__name__)


def spelt(headers: list[tuple[bytes, bytes]]) -> Headers:
    """Raw header fields as the tape has them."""
    return tuple(
        (name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")) for name, value in headers
    )


def field(headers: Headers, name: str) -> str | None:
    """The first value of a header field, or None."""
    return next((value for key, value in headers if key.lower() == name), None)


class Exchange:
    """One request under way; `write` is given the round trip when it ends."""

    def __init__(self, write: Callable[[RoundTrip], object], request: Request, host: str) -> None:
        self.request = request
        self._write = write
        self._upstream = by_host(host)
        self._started_at = time.time()
        self._clock = time.monotonic_ns()
        self._request_at = 0
        self._head: Response | None = None
        self._first_byte_at: int | None = None
        self._pieces: list[bytes] = []
        self._times: list[int] = []
        self._decoder: Decoder | None = None
        self._encoding: str | None = None
        """The content-encoding that is being undone."""
        self._raw: list[bytes] = []
        """The encoded pieces, kept until it is known that they decode."""
        self._faults: list[str] = []
        self._done = False

    def _now(self) -> int:
        return (time.monotonic_ns() - self._clock) // 1000

    def answered(self, status: int, reason: str, headers: Headers, http_version: str) -> None:
        """The head of the answer is in."""
        self._first_byte_at = self._now()
        encoding = (field(headers, "content-encoding") or "").strip().lower() or None
        try:
            self._decoder = decoder(encoding)
        except ImportError as exc:
            self._faults.append(f"the answer is encoded as {encoding}: {exc}; it is kept as it came")
        self._encoding = encoding if self._decoder else None
        self._head = Response(status, reason, headers, http_version=http_version)

    def tee(self, piece: bytes) -> None:
        """Keep a piece of the answer as it passes."""
        if not piece:
            return
        at = self._now()
        if self._decoder is not None:
            self._raw.append(piece)
            try:
                piece = self._decoder.decode(piece)
            except Exception as exc:  # noqa: BLE001 - each library raises errors of its own, and the traffic goes on
                self._faults.append(f"the answer does not decode: {exc}; it is kept as it came")
                self._pieces, self._times = self._raw, [at] * len(self._raw)
                self._decoder = self._encoding = None
                return
        if piece:
            self._pieces.append(piece)
            self._times.append(at)

    def plain(self, body: bytes) -> None:
        """The whole answer, content-encoding undone already."""
        self._decoder = None
        self.tee(body)

    def ended(self) -> None:
        """The answer is whole."""
        self._finish(None, None)

    def failed(self, failure: Failure, closed_first: Side | None) -> None:
        """No answer, or not all of it."""
        self._finish(failure, closed_first)

    def left(self) -> None:
        """The client reads no further. Right after the last event of a stream that is no failure."""
        whole = self._head is not None and ended(self._pieces)
        failure = None if whole else Failure("client_gone", "the client closed before the answer was whole")
        self._finish(failure, "client")

    def _finish(self, failure: Failure | None, closed_first: Side | None) -> None:
        if self._done:
            return
        self._done = True
        try:
            self._write(self._round_trip(failure, closed_first))
        except Exception:  # the traffic must go on
            log.exception("fault while recording %s", self.request.url)

    def _round_trip(self, failure: Failure | None, closed_first: Side | None) -> RoundTrip:
        request, head = self.request, self._head
        body, encoding, fault = decoded(request.body, field(request.headers, "content-encoding"))
        return RoundTrip(
            request=Request(
                request.method, request.url, request.headers, body, http_version=request.http_version, encoding=encoding
            ),
            response=head
            and Response(
                head.status,
                head.reason,
                head.headers,
                b"".join(self._pieces),
                tuple(Chunk(len(piece), at) for piece, at in zip(self._pieces, self._times, strict=True)),
                http_version=head.http_version,
                encoding=self._encoding,
            ),
            started_at=self._started_at,
            request_at=self._request_at,
            first_byte_at=self._first_byte_at,
            ended_at=self._now(),
            closed_first=closed_first,
            failure=failure,
            upstream=self._upstream.name if self._upstream else None,
            faults=(*self._faults, fault) if fault else tuple(self._faults),
        )


class Exchanges:
    """The exchanges of one recording: `begin` them, and `abandon` what is still running at the end."""

    def __init__(self, write: Callable[[RoundTrip], object]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._running: set[Exchange] = set()

    def begin(self, request: Request, host: str) -> Exchange:
        def hand_over(trip: RoundTrip) -> None:
            with self._lock:
                self._running.discard(exchange)
            self._write(trip)

        exchange = Exchange(hand_over, request, host)
        with self._lock:
            self._running.add(exchange)
        return exchange

    def abandon(self) -> int:
        """Record what is still running as it stands, the client having left it; how many there were."""
        with self._lock:
            running = list(self._running)
        for exchange in running:
            exchange.left()
        return len(running)
