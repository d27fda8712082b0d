"""A round trip that runs in this process: what passed is written once, at its end, as it came."""

import gzip
import zlib
from typing import Any

import pytest

from turntape.cassettes.recording import pending
from turntape.cassettes.recording.pending import PendingTrip, PendingTrips, field, header_fields
from turntape.cassettes.tape.model import Chunk, Failure, Headers, Request, RoundTrip

ASK = Request("POST", "https://api.openai.com/v1/chat/completions", (("Content-Type", "application/json"),), b"{}")
PLAIN: Headers = (("content-type", "text/event-stream"),)
GZIPPED: Headers = (*PLAIN, ("Content-Encoding", " GZIP "))
WORDS = b"data: one\n\ndata: two\n\ndata: three\n\n"


class Clock:
    """A clock that each look moves on by a millisecond."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic_ns(self) -> int:
        self.looks += 1
        return 7_000_000_000 + self.looks * 1_000_000

    def time(self) -> float:
        return 1_700_000_000.5


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pending, "time", made)
    return made


def begun(headers: Headers = PLAIN, request: Request = ASK, **head: Any) -> tuple[PendingTrip, list[RoundTrip]]:
    """A round trip whose answer has begun, and what was written of it so far."""
    written: list[RoundTrip] = []
    trip = PendingTrip(written.append, request, "api.openai.com")
    trip.answered(head.get("status", 200), head.get("reason", "OK"), headers, "HTTP/1.1")
    return trip, written


def body_of(trip: RoundTrip) -> bytes:
    assert trip.response is not None
    return trip.response.body


def test_header_fields_are_text_and_bytes_that_are_not_utf8_are_not_lost() -> None:
    found = header_fields([(b"X-Name", "naïve".encode()), (b"x-other", b"\xff")])

    assert found[0] == ("X-Name", "naïve")
    assert found[1][1].encode("utf-8", "surrogateescape") == b"\xff"
    assert (field(found, "x-name"), field(found, "missing")) == ("naïve", None)
    assert field((("A", "1"), ("a", "2")), "a") == "1"


def test_pieces_and_their_times_are_kept_from_the_request_on() -> None:
    trip, written = begun(status=201, reason="Created")
    trip.tee(b"one")
    trip.tee(b"")
    trip.tee(b"two")
    assert not written
    trip.ended()

    (made,) = written
    answer = made.response
    assert answer is not None and made.request == ASK
    assert (answer.status, answer.reason, answer.headers, answer.http_version) == (201, "Created", PLAIN, "HTTP/1.1")
    assert (answer.content, answer.encoding) == (b"onetwo", None)
    assert (made.started_at, made.request_at, made.first_byte_at) == (1_700_000_000.5, 0, 1000)
    assert answer.chunks == (Chunk(3, 2000), Chunk(3, 3000)) and made.ended_at == 4000
    assert (made.failure, made.closed_first, made.faults, made.upstream) == (None, None, (), "openai")


def test_a_host_that_is_not_known_has_no_upstream() -> None:
    written: list[RoundTrip] = []
    PendingTrip(written.append, ASK, "llm.example").failed(Failure("refused", "no"), None)

    assert written[0].upstream is None and written[0].response is None


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_an_encoded_answer_is_decoded_piece_by_piece(size: int) -> None:
    trip, written = begun(GZIPPED)
    packed = gzip.compress(WORDS, mtime=0)
    for start in range(0, len(packed), size):
        trip.tee(packed[start : start + size])
    trip.ended()

    (made,) = written
    assert made.response is not None and made.faults == ()
    assert (made.response.content, made.response.encoding) == (WORDS, "gzip")
    assert sum(chunk.size for chunk in made.response.chunks) == len(WORDS)


def test_an_answer_that_ends_within_its_encoding_has_a_fault_and_one_that_was_left_there_has_none() -> None:
    torn = gzip.compress(WORDS, mtime=0)[:-4]
    cut, written = begun(GZIPPED)
    cut.tee(torn)
    cut.ended()
    assert body_of(written[0]) == WORDS and written[0].response and written[0].response.encoding == "gzip"
    assert [fault.partition(" ends ")[0] for fault in written[0].faults] == ["the answer"]

    left, written = begun(GZIPPED)
    left.tee(torn)
    left.left()
    assert body_of(written[0]) == WORDS and written[0].faults == ()


def test_an_answer_that_does_not_decode_is_kept_as_it_came_with_its_times() -> None:
    trip, written = begun(GZIPPED)
    packed = gzip.compress(WORDS, mtime=0)
    damaged = (packed[:14], b"\xff" * 30, packed[14:])
    for piece in damaged:
        trip.tee(piece)
    trip.ended()

    (made,) = written
    assert made.response is not None
    assert (made.response.content, made.response.encoding) == (b"".join(damaged), None)
    assert made.response.chunks == tuple(Chunk(len(one), 2000 + 1000 * n) for n, one in enumerate(damaged))
    (fault,) = made.faults
    assert fault.startswith("the answer does not decode: ") and fault.endswith("it is kept as it came")


@pytest.mark.parametrize("encoding", ["identity", "rot13", "gzip, rot13"])
def test_an_encoding_that_is_not_known_is_kept_as_it_came(encoding: str) -> None:
    trip, written = begun((("content-encoding", encoding),))
    trip.tee(b"text")
    trip.ended()

    assert body_of(written[0]) == b"text" and written[0].faults == ()
    assert written[0].response and written[0].response.encoding is None


def test_an_answer_that_is_already_decoded_is_not_decoded_again() -> None:
    trip, written = begun(GZIPPED)
    trip.plain(WORDS)
    trip.ended()

    assert (body_of(written[0]), written[0].faults) == (WORDS, ())


@pytest.mark.parametrize(("pieces", "kept"), [([8, 2], 10), ([10], 10), ([8, 3, 1], 8), ([11, 1], 0)])
def test_what_comes_after_the_bound_is_not_kept_and_that_is_said_once(
    pieces: list[int], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "MOST_OF_A_BODY", 10)
    trip, written = begun()
    for size in pieces:
        trip.tee(b"x" * size)
    trip.ended()

    assert body_of(written[0]) == b"x" * kept
    said = [] if sum(pieces) <= 10 else ["the answer is longer than 10 bytes; what came after them is not kept"]
    assert list(written[0].faults) == said


def test_an_encoded_answer_that_does_not_decode_keeps_the_bound_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MOST_OF_A_BODY", 40)
    trip, written = begun((("content-encoding", "deflate"),))
    head = zlib.compress(b"z" * 30, 0)[:-4]
    trip.tee(head)
    trip.tee(b"\xff" * 8)
    trip.tee(b"later")
    trip.ended()

    assert body_of(written[0]) == head, "the pieces behind it would be more than 40 bytes"
    assert [fault.partition(";")[0].partition(":")[0] for fault in written[0].faults] == [
        "the answer does not decode",
        "the answer is longer than 40 bytes",
    ]


@pytest.mark.parametrize(
    ("pieces", "is_whole"),
    [([b"data: {}\n\n", b"data: [DONE]\n\n"], True), ([b"data: {}\n\n"], False), ([], False)],
)
def test_a_client_that_leaves_after_the_last_event_did_not_abort(pieces: list[bytes], is_whole: bool) -> None:
    trip, written = begun()
    for piece in pieces:
        trip.tee(piece)
    trip.left()

    assert written[0].closed_first == "client"
    assert (written[0].failure is None) is is_whole
    if not is_whole:
        assert written[0].failure == Failure("client_gone", "the client closed before the answer was complete")


def test_a_client_that_leaves_before_the_answer_begins_did_abort() -> None:
    written: list[RoundTrip] = []
    PendingTrip(written.append, ASK, "api.openai.com").left()

    assert written[0].failure is not None and written[0].failure.kind == "client_gone"
    assert (written[0].response, written[0].first_byte_at) == (None, None)


def test_a_failure_is_written_with_what_has_come_and_only_the_first_end_counts() -> None:
    trip, written = begun()
    trip.tee(b"part")
    failure = Failure("cut", "reset")
    trip.failed(failure, "server")
    trip.ended()
    trip.left()

    (made,) = written
    assert (made.failure, made.closed_first, body_of(made)) == (failure, "server", b"part")


def test_the_request_is_decoded_and_one_that_does_not_decode_is_a_fault() -> None:
    packed = Request(
        "POST", ASK.url, (("Content-Encoding", "gzip"),), gzip.compress(b'{"a": 1}'), http_version="HTTP/2"
    )
    trip, written = begun(request=packed)
    trip.ended()
    assert (written[0].request.content, written[0].request.encoding) == (b'{"a": 1}', "gzip")
    assert written[0].request.http_version == "HTTP/2" and written[0].faults == ()

    trip, written = begun(GZIPPED, Request("POST", ASK.url, packed.headers, b"not gzip"))
    trip.tee(b"neither")
    trip.ended()
    assert (written[0].request.content, written[0].request.encoding) == (b"not gzip", None)
    assert [fault.partition(" does not decode")[0] for fault in written[0].faults] == ["the answer", "the body"]


def test_an_error_while_writing_is_logged_and_does_not_reach_the_traffic(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_trip: RoundTrip) -> None:
        raise ZeroDivisionError

    trip = PendingTrip(fail, ASK, "api.openai.com")
    trip.ended()
    trip.ended()

    assert [record.getMessage() for record in caplog.records] == [f"fault while recording {ASK.url}"]


def test_those_that_still_run_at_the_end_are_written_as_left_by_the_client() -> None:
    written: list[RoundTrip] = []
    running = PendingTrips(written.append)
    first, second, third = (running.begin(ASK, "api.openai.com") for _ in range(3))
    assert running.count == 3
    second.answered(200, "OK", PLAIN, "HTTP/1.1")
    second.ended()
    assert (running.count, len(written)) == (2, 1)

    assert running.abandon() == 2 and running.count == 0
    assert [trip.failure.kind if trip.failure else None for trip in written] == [None, "client_gone", "client_gone"]
    first.ended()
    third.ended()
    assert (len(written), running.abandon()) == (3, 0)
