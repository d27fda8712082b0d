"""A round trip that is still running in this process: its pieces are kept as they pass, and it is written at its end.

An error in our code is logged and stored with the round trip; it never reaches the traffic.
"""

import logging
import threading
import time
from collections.abc import Callable

from ..routes.upstreams import by_host
from ..tape.bounds import MOST_OF_A_BODY, NOT_KEPT
from ..tape.content_encoding import Decoder, cut_within, decoded, decoder
from ..tape.model import Chunk, Failure, Headers, Request, Response, RoundTrip, Side
from ..tape.stream_end import ended

log = logging.getLogger(__name__)


def header_fields(headers: list[tuple[bytes, bytes]]) -> Headers:
    """Raw header fields as a round trip has them; bytes that are not UTF-8 become surrogates."""
    return tuple(
        (name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape")) for name, value in headers
    )


def field(headers: Headers, name: str) -> str | None:
    """The first value of a header field, or None."""
    return next((value for key, value in headers if key.lower() == name), None)


class PendingTrip:
    """One request that is running; `write` gets the round trip when it ends."""

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
        """The content-encoding that is undone for the record."""
        self._raw: list[tuple[bytes, int]] = []
        """The encoded pieces and when they came, kept until the answer has ended, in case they do not decode."""
        self._kept = 0
        self._faults: list[str] = []
        self._done = False

    def _now(self) -> int:
        return (time.monotonic_ns() - self._clock) // 1000

    def answered(self, status: int, reason: str, headers: Headers, http_version: str) -> None:
        """The head of the answer has arrived."""
        self._first_byte_at = self._now()
        encoding = (field(headers, "content-encoding") or "").strip().lower() or None
        self._decoder = decoder(encoding)
        self._encoding = encoding if self._decoder else None
        self._head = Response(status, reason, headers, http_version=http_version)

    def tee(self, piece: bytes) -> None:
        """Keep a piece of the answer as it passes."""
        if not piece:
            return
        at = self._now()
        if self._decoder is None:
            self._keep(piece, at)
            return
        self._raw.append((piece, at))
        try:
            decoded_piece = self._decoder.decode(piece)
        except Exception as exc:  # noqa: BLE001 - each library raises its own errors, and the traffic continues
            self._faults.append(f"the answer does not decode: {exc}; it is kept as it came")
            self._decoder = self._encoding = None
            self._pieces, self._times, self._kept = [], [], 0
            for one, then in self._raw:
                self._keep(one, then)
            self._raw = []
        else:
            self._keep(decoded_piece, at)

    def _keep(self, piece: bytes, at: int) -> None:
        """Keep a piece as the record has it, unless the answer is too long by then."""
        if not piece or self._kept > MOST_OF_A_BODY:
            return
        self._kept += len(piece)
        if self._kept > MOST_OF_A_BODY:
            self._faults.append(f"the answer is longer than {MOST_OF_A_BODY:,} bytes; what came after them {NOT_KEPT}")
            return
        self._pieces.append(piece)
        self._times.append(at)

    def plain(self, body: bytes) -> None:
        """Keep the whole answer, which is already decoded."""
        self._decoder = None
        self.tee(body)

    def ended(self) -> None:
        """Write the round trip: the answer is complete."""
        if self._decoder is not None and self._encoding is not None and not self._decoder.is_whole:
            self._faults.append(cut_within("the answer", self._encoding))
        self._finish(None, None)

    def failed(self, failure: Failure, closed_first: Side | None) -> None:
        """Write the round trip: no answer came, or only a part of it."""
        self._finish(failure, closed_first)

    def left(self) -> None:
        """Write the round trip: the client stopped reading, which is not a failure after the last event of a stream."""
        whole = self._head is not None and ended(self._pieces)
        failure = None if whole else Failure("client_gone", "the client closed before the answer was complete")
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


class PendingTrips:
    """The running round trips of one recording: `begin` each, and `abandon` those that still run at the end."""

    def __init__(self, write: Callable[[RoundTrip], object]) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._running: set[PendingTrip] = set()

    def begin(self, request: Request, host: str) -> PendingTrip:
        def hand_over(trip: RoundTrip) -> None:
            with self._lock:
                self._running.discard(exchange)
            self._write(trip)

        exchange = PendingTrip(hand_over, request, host)
        with self._lock:
            self._running.add(exchange)
        return exchange

    @property
    def count(self) -> int:
        """How many are running."""
        with self._lock:
            return len(self._running)

    def abandon(self) -> int:
        """Write what is still running as far as it has come, as left by the client. Returns how many there were."""
        with self._lock:
            running = list(self._running)
        for exchange in running:
            exchange.left()
        return len(running)
