"""The collector stalls, refuses, asks to wait or is not there: spans are kept while there is room, and counted."""

import gzip
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from turntape.inspector.otlp import sender
from turntape.inspector.otlp.collector import Collector, collector_at
from turntape.inspector.otlp.sender import Counts, Sender

WHERE = collector_at("http://collector.example:4318", {"OTEL_EXPORTER_OTLP_HEADERS": "x-key=k"})

type Answer = Callable[[], httpx.Response]


def span(number: int, size: int = 0) -> dict[str, Any]:
    return {
        "traceId": "0a" * 16,
        "spanId": f"{number:016x}",
        "name": f"span {number}" + "x" * size,
        "kind": 3,
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "attributes": [],
    }


class Backend:
    """A collector that gives these answers in turn, and then takes everything."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.taken: list[str] = []
        self.services: list[str] = []
        self.settled = threading.Event()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.answers:
            return self.answers.pop(0)()
        message = ExportTraceServiceRequest()
        message.ParseFromString(gzip.decompress(request.content))
        for resource in message.resource_spans:
            self.services.append(resource.resource.attributes[0].value.string_value)
            self.taken += [one.name for scope in resource.scope_spans for one in scope.spans]
        self.settled.set()
        return httpx.Response(200)

    def sender(self, **options: Any) -> Sender:
        options = {"every": 0.0, "jitter": lambda: 0.0, **options}
        return Sender(WHERE, transport=httpx.MockTransport(self), **options)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Records the pauses before another try, and skips them."""
    pauses: list[float] = []

    def pause(self: Sender, seconds: float) -> bool:
        pauses.append(seconds)
        return True

    monkeypatch.setattr(Sender, "_pause", pause)
    return pauses


def status(code: int, **headers: str) -> Answer:
    return lambda: httpx.Response(code, headers={name.replace("_", "-"): value for name, value in headers.items()})


def gone() -> httpx.Response:
    raise httpx.ConnectError("connection refused")


def test_spans_leave_as_gzipped_protobuf_with_the_headers_of_the_environment() -> None:
    backend = Backend()
    sending = backend.sender()

    sending.put([("nightly", span(1)), (None, span(2)), ("nightly", span(3))])
    counts = sending.close(5)

    request = backend.requests[0]
    assert (request.method, str(request.url)) == ("POST", "http://collector.example:4318/v1/traces")
    assert request.headers["content-type"] == "application/x-protobuf"
    assert (request.headers["content-encoding"], request.headers["x-key"]) == ("gzip", "k")
    assert sorted(backend.taken) == ["span 1", "span 2", "span 3"]
    assert set(backend.services) == {"nightly", "agent"}
    assert counts == Counts(sent=3)


@pytest.mark.parametrize("answer", [status(429), status(502), status(503), status(504), gone])
def test_what_may_be_tried_again_is_tried_until_it_is_taken(answer: Answer) -> None:
    backend = Backend(answer, answer, answer)
    sending = backend.sender()

    sending.put([(None, span(1)), (None, span(2))])
    assert backend.settled.wait(20)
    counts = sending.close(5)

    assert backend.taken == ["span 1", "span 2"]
    assert (counts.sent, counts.dropped, counts.retries, counts.problem) == (2, 0, 3, None)


def test_pauses_double_and_the_collector_may_ask_for_more(no_pauses: list[float]) -> None:
    asked = status(429, retry_after="40"), status(503, retry_after="Thu, 01 Jan 1970 00:00:00 GMT")
    backend = Backend(
        gone, gone, gone, *asked, *[gone] * 4, status(503, retry_after="9999"), status(503, retry_after="?")
    )
    sending = backend.sender()

    sending.put([(None, span(1))])
    assert backend.settled.wait(20)
    sending.close(5)

    # The jitter is at its least: half of each pause.
    assert no_pauses == [0.5, 1, 2, 40, 8, 15, 15, 15, 15, 300, 15]


@pytest.mark.parametrize("code", [400, 401, 404, 413, 500])
def test_what_the_collector_refuses_is_counted_and_not_tried_again(code: int) -> None:
    backend = Backend(status(code))
    sending = backend.sender()

    sending.put([(None, span(1))])
    counts = sending.close(5)

    assert (counts.sent, counts.refused, counts.waiting, len(backend.requests)) == (0, 1, 0, 1)
    assert counts.problem and counts.problem.startswith(f"{WHERE.url} refuses them: {code}")


def test_spans_that_are_rejected_one_by_one_are_counted() -> None:
    part = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="span too old")
    )
    backend = Backend(lambda: httpx.Response(200, content=part.SerializeToString()))
    sending = backend.sender()

    sending.put([(None, span(1)), (None, span(2))])
    counts = sending.close(5)

    assert (counts.sent, counts.refused) == (1, 1)
    assert counts.problem == f"{WHERE.url} refuses 1 span: span too old"


class Stalled(Backend):
    """A collector that does not answer before `go` is set."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__(*answers)
        self.asked = threading.Event()
        self.go = threading.Event()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.set()
        assert self.go.wait(20)
        return super().__call__(request)


def test_a_full_queue_loses_the_oldest_and_the_caller_never_waits() -> None:
    backend = Stalled()
    sending = backend.sender(room=4)
    sending.put([(None, span(0))])
    assert backend.asked.wait(20)

    sending.put((None, span(number)) for number in range(1, 11))
    dropped = sending.counts.dropped
    backend.go.set()
    counts = sending.close(20)

    assert dropped == 6
    assert backend.taken == ["span 0", "span 7", "span 8", "span 9", "span 10"]
    assert (counts.sent, counts.dropped) == (5, 6)


def test_what_comes_back_for_another_try_is_the_oldest() -> None:
    backend = Stalled(status(503))
    sending = backend.sender(room=2)
    sending.put([(None, span(0)), (None, span(1))])
    assert backend.asked.wait(20)
    sending.put([(None, span(2))])
    backend.go.set()

    counts = sending.close(20)

    assert backend.taken == ["span 1", "span 2"]
    assert (counts.sent, counts.dropped, counts.retries) == (2, 1, 1)


def test_the_queue_is_bounded_in_bytes_too() -> None:
    backend = Stalled()
    sending = backend.sender(room_bytes=5000)
    sending.put([(None, span(0))])
    assert backend.asked.wait(20)

    sending.put((None, span(number, 1500)) for number in range(1, 9))
    backend.go.set()
    counts = sending.close(20)

    assert (counts.sent, counts.dropped) == (4, 5)


def test_a_batch_is_limited_in_number_and_in_bytes() -> None:
    backend = Backend()
    sending = backend.sender(every=60)

    sending.put((None, span(number)) for number in range(sender.BATCH + 1))
    sending.put((None, span(number, sender.BATCH_BYTES // 2)) for number in range(3))
    counts = sending.close(20)

    assert counts.sent == sender.BATCH + 4
    assert len(backend.requests) >= 4


def test_what_is_left_at_the_end_is_dropped_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    backend = Backend(*[gone] * 50)
    sending = backend.sender()

    sending.put([(None, span(1)), (None, span(2))])
    counts = sending.close(0.05)

    assert (counts.sent, counts.dropped) == (0, 2)
    assert counts.problem == f"{WHERE.url} cannot be reached: connection refused"


def test_nothing_to_send_asks_nobody() -> None:
    backend = Backend()

    assert backend.sender().close(1) == Counts()
    assert not backend.requests


def test_the_password_of_an_address_is_in_no_problem() -> None:
    where: Collector = collector_at("http://me:secret@collector.example", {})
    sending = Sender(where, every=0.0, transport=httpx.MockTransport(Backend(status(401))))

    sending.put([(None, span(1))])
    counts = sending.close(5)

    assert counts.problem and "secret" not in counts.problem


class Endless(httpx.SyncByteStream):
    """A body that does not end."""

    def __init__(self, piece: bytes, between: Callable[[], object] = lambda: None) -> None:
        self.pieces, self._piece, self._between = 0, piece, between

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._between()
            self.pieces += 1
            yield self._piece


def test_only_the_beginning_of_an_endless_answer_is_read() -> None:
    body = Endless(b"\0" * 10_000)
    backend = Backend(lambda: httpx.Response(200, stream=body))
    sending = backend.sender()

    sending.put([(None, span(1))])
    counts = sending.close(5)

    assert body.pieces < 10
    assert counts == Counts(sent=1)


def test_an_answer_that_comes_too_slowly_is_not_read_to_its_end() -> None:
    now = [0.0]

    def second() -> None:
        now[0] += 1.0

    body = Endless(b"\0", second)
    sending = Backend(lambda: httpx.Response(200, stream=body)).sender(clock=lambda: now[0])

    sending.put([(None, span(1))])
    counts = sending.close(5)

    assert body.pieces <= sender.TIMEOUT
    assert counts.sent == 1


def test_spans_whose_request_still_runs_at_the_end_are_counted_as_dropped() -> None:
    asked, release = threading.Event(), threading.Event()

    def stall() -> httpx.Response:
        asked.set()
        release.wait(20)
        return httpx.Response(200)

    sending = Backend(stall).sender()
    sending.put([(None, span(1)), (None, span(2))])
    assert asked.wait(20)

    counts = sending.close(-1)
    assert (counts.sent, counts.dropped) == (0, 2)

    release.set()
    sending._thread.join(20)
    assert (counts.sent, counts.dropped) == (0, 2), "counted once"


def test_words_of_a_collector_do_not_control_the_terminal() -> None:
    backend = Backend(lambda: httpx.Response(400, extensions={"reason_phrase": b"\x1b[31mred"}))
    sending = backend.sender()

    sending.put([(None, span(1))])
    counts = sending.close(5)

    assert counts.refused == 1
    assert counts.problem is not None and counts.problem.endswith(r"400 \x1b[31mred")
