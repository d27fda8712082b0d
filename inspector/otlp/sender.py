"""Sends spans to a collector: OTLP over HTTP, Protocol Buffers, gzip, in batches, on a separate thread.

What is to be tried again by https://opentelemetry.io/docs/specs/otlp/#otlphttp-response (read 2026-11-22): 429, 502,
503, 504, and a connection that fails; after `Retry-After`, else after pauses that double. What waits is bounded by
number and by bytes. When there is no more room, the oldest spans are dropped and counted: nobody ever waits here.
"""

import gzip
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from turntape.cassettes.counted import several
from turntape.cassettes.frozen import mutable

from ..exporters.otel_span import resource_spans
from ..wire.json_value import Object
from ..wire.printable import safe
from .collector import Collector
from .protobuf import refused_in, resource_bytes, span_bytes

ROOM = 2048
"""Spans that may wait."""
ROOM_BYTES = 64 << 20
"""Their bytes; only spans with their content are large."""
BATCH = 512
BATCH_BYTES = 4 << 20
"""The most in one request."""
EVERY = 5.0
"""Seconds that a span may wait for others."""
TIMEOUT = 10.0
"""Seconds for one request."""
MOST_OF_AN_ANSWER = 1 << 16
"""Bytes of an answer that are read: an answer of the protocol has a number and a sentence."""
LONGEST_PAUSE = 30.0
"""Seconds between two tries, unless the collector asks for more."""
LONGEST_ASKED = 300.0
"""The most seconds of a `Retry-After` that are waited."""
AGAIN = frozenset({429, 502, 503, 504})

type _Waiting = tuple[str | None, bytes]
"""A run, and one of its spans."""


@mutable
class Counts:
    """What happened to the spans."""

    sent: int = 0
    """Accepted by the collector."""
    dropped: int = 0
    """The oldest ones, for which there was no room, and those that were left at the end."""
    refused: int = 0
    """Refused by the collector: not tried again."""
    waiting: int = 0
    retries: int = 0
    """Requests that were tried again."""
    problem: str | None = None
    """The last failure in one sentence; None after a success."""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


class Sender:
    """`put` spans at any time; `close` sends what is left and stops."""

    def __init__(
        self,
        collector: Collector,
        *,
        room: int = ROOM,
        room_bytes: int = ROOM_BYTES,
        every: float = EVERY,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.counts = Counts()
        self._collector = collector
        self._room, self._room_bytes, self._every = room, room_bytes, every
        self._clock, self._jitter = clock, jitter
        self._queue: deque[_Waiting] = deque()
        self._bytes = 0
        self._flying = 0
        """Spans whose request runs."""
        self._lock = threading.Condition()
        """Guards the queue and its bytes, `_flying`, the counts, `_end`."""
        self._end: float | None = None
        """When the last try must be over; None before `close`."""
        headers = {"accept-encoding": "identity", **collector.headers}
        self._client = httpx.Client(transport=transport, headers=headers, timeout=TIMEOUT)
        self._thread = threading.Thread(target=self._run, name="turntape otlp", daemon=True)
        self._thread.start()

    def put(self, spans: Iterable[tuple[str | None, Object]]) -> None:
        """Queue spans, each with its run. Never waits for the collector."""
        encoded = [(run, span_bytes(span)) for run, span in spans]
        with self._lock:
            for one in encoded:
                self._queue.append(one)
                self._bytes += len(one[1])
            self._trim()
            self._lock.notify_all()

    def close(self, seconds: float) -> Counts:
        """Send what is left, within this many seconds; what is left then is dropped and counted."""
        with self._lock:
            self._end = self._clock() + seconds
            self._lock.notify_all()
        self._thread.join(seconds + 1)
        with self._lock:
            left = len(self._queue) + self._flying
            self.counts.dropped += left
            self._queue.clear()
            self._flying = 0
            self._note()
            if left and self.counts.problem is None:
                self.counts.problem = f"{self._collector.url} did not take them within {seconds:.0f} s"
        self._client.close()
        return self.counts

    def _note(self) -> None:
        self.counts.waiting = len(self._queue)

    def _trim(self) -> None:
        """Drop the oldest spans until the rest has room."""
        while len(self._queue) > self._room or self._bytes > self._room_bytes:
            self._bytes -= len(self._queue.popleft()[1])
            self.counts.dropped += 1
        self._note()

    def _run(self) -> None:
        failures = 0
        while batch := self._next():
            asked = self._send(batch)
            if asked is None:
                failures = 0
                continue
            failures += 1
            with self._lock:
                if not self._flying:
                    return  # `close` did not wait for it, and has counted it
                self._queue.extendleft(reversed(batch))
                self._bytes += sum(len(span) for _, span in batch)
                self._flying = 0
                self._trim()
                self.counts.retries += 1
                ending = self._end is not None
            pause = min(LONGEST_PAUSE, 2.0 ** (failures - 1)) * (0.5 + self._jitter() / 2)
            if not self._pause(max(pause, min(asked, LONGEST_ASKED))):
                return
            if not ending and self._end is not None:
                failures = 0  # the last tries follow each other faster

    def _next(self) -> list[_Waiting]:
        """The next batch, once it is full or has waited long enough; empty at the end."""
        with self._lock:
            while not self._queue and self._end is None:
                self._lock.wait()
            due = self._clock() + self._every
            while self._end is None and len(self._queue) < BATCH and (left := due - self._clock()) > 0:
                self._lock.wait(left)
            batch: list[_Waiting] = []
            size = 0
            while self._queue and len(batch) < BATCH and (not batch or size + len(self._queue[0][1]) <= BATCH_BYTES):
                batch.append(self._queue.popleft())
                size += len(batch[-1][1])
            self._bytes -= size
            self._flying = len(batch)
            return batch

    def _send(self, batch: list[_Waiting]) -> float | None:
        """Send a batch. None when that is settled, else the seconds that the collector asks to wait, or 0."""
        runs: dict[str | None, list[bytes]] = {}
        for run, span in batch:
            runs.setdefault(run, []).append(span)
        named = ((self._collector.named(resource_spans(run, [])), spans) for run, spans in runs.items())
        body = gzip.compress(b"".join(resource_bytes(resource, spans) for resource, spans in named), 6)
        headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
        try:
            answer, content = self._answer(body, headers)
        except Exception as exc:  # noqa: BLE001 - whatever fails on the way to the collector, it is tried again
            self._problem(f"{self._collector.url} cannot be reached: {str(exc) or type(exc).__name__}")
            return 0.0
        if answer.status_code in AGAIN:
            self._problem(f"{self._collector.url} answers {answer.status_code}")
            return _asked(answer.headers.get("retry-after"))
        if not answer.is_success:
            words = f"{self._collector.url} refuses them: {answer.status_code} {answer.reason_phrase}".rstrip()
            self._settle(0, len(batch), words)
            return None
        refused, why = refused_in(content) if _is_protobuf(answer) else (0, "")
        refused = min(max(refused, 0), len(batch))
        words = (
            f"{self._collector.url} refuses {several(refused, 'span')}: {why[:200]}".rstrip(": ") if refused else None
        )
        self._settle(len(batch) - refused, refused, words)
        return None

    def _answer(self, body: bytes, headers: dict[str, str]) -> tuple[httpx.Response, bytes]:
        """The answer and the beginning of its body, within the time of a request, however slowly it comes."""
        due = self._clock() + TIMEOUT
        content = b""
        timeout = max(0.1, self._time_left(due))
        with self._client.stream("POST", self._collector.url, content=body, headers=headers, timeout=timeout) as answer:
            packed = "content-encoding" in answer.headers  # though we asked for none: it may unpack to anything
            for piece in () if packed else answer.iter_bytes():
                content += piece
                if len(content) > MOST_OF_AN_ANSWER or self._time_left(due) <= 0:
                    break
        return answer, content[:MOST_OF_AN_ANSWER]

    def _time_left(self, due: float) -> float:
        return min(due, self._end if self._end is not None else due) - self._clock()

    def _problem(self, problem: str) -> None:
        with self._lock:
            self.counts.problem = safe(problem)

    def _settle(self, sent: int, refused: int, problem: str | None) -> None:
        """A batch is done; `close` has counted one that it did not wait for."""
        with self._lock:
            if self._flying:
                self.counts.sent += sent
                self.counts.refused += refused
                self._flying = 0
            self.counts.problem = None if problem is None else safe(problem)
            self._note()

    def _pause(self, seconds: float) -> bool:
        """Wait before the next try; less when the end is announced meanwhile. False when there is no time for one."""
        with self._lock:
            due, ending = self._clock() + seconds, self._end is not None
            while (left := due - self._clock()) > 0:
                if self._end is not None:
                    if not ending:
                        return True
                    if due >= self._end:
                        return False
                self._lock.wait(left)
            return True


def _is_protobuf(answer: httpx.Response) -> bool:
    return "json" not in answer.headers.get("content-type", "")


def _asked(after: str | None) -> float:
    """The seconds in `Retry-After`: a number, or a date; 0 when there are none."""
    if not after:
        return 0.0
    with suppress(ValueError):
        return max(0.0, float(after))
    try:
        moment = parsedate_to_datetime(after)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
