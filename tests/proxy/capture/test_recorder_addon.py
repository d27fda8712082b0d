"""The recorder addon keeps what passes, changes nothing, and says why an answer is not whole."""

import errno
import gc
import gzip
import time
import weakref
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from mitmproxy import flow as base
from mitmproxy import http
from mitmproxy.proxy import server_hooks
from mitmproxy.test import tflow
from waiting import eventually

from turntape.cassettes import Chunk, RoundTrip
from turntape.cassettes.apis.lookup import opening
from turntape.cassettes.recording.held_bytes import held_bytes
from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.model import Failure
from turntape.proxy.capture import recorder_addon as module
from turntape.proxy.capture.ending import ConnectError, Ending, note
from turntape.proxy.capture.pending import PendingRoundTrip
from turntape.proxy.capture.recorder_addon import TEE, RecorderAddon
from turntape.proxy.capture.spool import Spool

URL = "https://api.openai.com/v1/chat/completions"
END = b"data: [DONE]\n\n"


def begun(recorder: RecorderAddon, body: bytes = b'{"a":1}', encoding: str | None = None) -> http.HTTPFlow:
    """A flow whose request is in."""
    flow = tflow.tflow(req=http.Request.make("POST", URL, body, {"X-A": "1"}))
    if encoding:
        flow.request.headers["content-encoding"] = encoding
    recorder.begin(flow, PendingRoundTrip(URL, 1000.0, time.monotonic_ns(), "run", "base_url", "openai"))
    recorder.request(flow)
    return flow


def answering(recorder: RecorderAddon, flow: http.HTTPFlow, pieces: Sequence[bytes], **headers: str) -> list[bytes]:
    """The head of an answer and these pieces; what passed on to the client."""
    flow.response = http.Response.make(200, b"", {"content-type": "text/event-stream", **headers})
    recorder.responseheaders(flow)
    stream = flow.response.stream
    assert callable(stream)
    passed = [stream(piece) for piece in pieces]
    assert all(isinstance(piece, bytes) for piece in passed)
    return [piece for piece in passed if isinstance(piece, bytes)]


LEFT = Ending("client", "client_gone")
NOT_REACHED = Ending(None, None)


def failing(recorder: RecorderAddon, flow: http.HTTPFlow, message: str, ending: Ending | None = None) -> None:
    if ending is not None:
        note(flow, ending)
    flow.error = base.Error(message)
    recorder.error(flow)


def test_each_chunk_passes_as_it_came_and_is_kept_with_its_time() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    pieces = [b"data: 1\n\n", b"data: 2", b"\n\n", END]

    passed = answering(recorder, flow, [*pieces, b""])
    assert kept == []
    recorder.response(flow)

    assert passed == [*pieces, b""]
    (trip,) = kept
    assert trip.response is not None
    assert trip.response.body == b"".join(pieces)
    assert [chunk.size for chunk in trip.response.chunks] == [len(piece) for piece in pieces]
    times = [trip.request_at, trip.first_byte_at, *(c.at for c in trip.response.chunks), trip.ended_at]
    assert None not in times and times == sorted(t for t in times if t is not None)
    assert (trip.run, trip.route, trip.upstream, trip.started_at) == ("run", "base_url", "openai", 1000.0)
    assert (trip.failure, trip.closed_first, trip.faults) == (None, None, ())
    assert ("X-A", "1") in trip.request.headers and trip.request.complete


def test_a_flow_is_written_once() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    answering(recorder, flow, [END])

    recorder.response(flow)
    failing(recorder, flow, "connection closed")
    recorder.abandon()

    assert len(kept) == 1


def test_a_flow_that_is_not_recorded_passes_as_it_comes(caplog: pytest.LogCaptureFixture) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = tflow.tflow(resp=True)

    recorder.request(flow)
    recorder.responseheaders(flow)
    recorder.response(flow)
    failing(recorder, flow, "timed out")

    assert kept == [] and flow.response is not None and flow.response.stream is True
    unanswered, session = tflow.tflow(), tflow.twebsocketflow()
    recorder.websocket_message(session)
    failing(recorder, unanswered, "timed out")
    assert unanswered.killable
    assert caplog.records == []


def test_encoded_chunks_pass_encoded_and_are_kept_decoded() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    body = gzip.compress(b"data: one\n\n" * 50, mtime=0)
    pieces = [body[:5], body[5:20], body[20:]]
    flow = begun(recorder, gzip.compress(b'{"a":1}', mtime=0), "gzip")

    passed = answering(recorder, flow, pieces, **{"content-encoding": "GZIP"})
    recorder.response(flow)

    assert passed == pieces
    (trip,) = kept
    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding) == (b"data: one\n\n" * 50, "gzip")
    assert sum(chunk.size for chunk in trip.response.chunks) == len(trip.response.body)
    assert (trip.request.body, trip.request.encoding) == (b'{"a":1}', "gzip")


@pytest.mark.parametrize("client_left", [False, True])
def test_an_answer_that_ends_before_its_encoding_is_noted_unless_the_client_left(client_left: bool) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)

    answering(recorder, flow, [gzip.compress(b"data: one\n\n" * 50)[:-9]], **{"content-encoding": "gzip"})
    if client_left:
        recorder.finish(flow, "client")
    else:
        recorder.response(flow)

    sentence = "the answer ends before its gzip encoding does; what can be decoded of it is kept"
    assert kept[0].faults == (() if client_left else (sentence,))


@pytest.mark.parametrize(
    ("message", "kind", "closed_first"),
    [
        ("[Errno -2] Name or service not known", "dns", None),
        ("connection timed out", "timeout", None),
        ("server closed connection", "cut", "server"),
    ],
)
def test_an_upstream_that_sent_nothing(message: str, kind: str, closed_first: str | None) -> None:
    """When it was reached and closed the connection, it has cut the answer."""
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)

    failing(recorder, flow, message, Ending("server", "cut") if closed_first else NOT_REACHED)

    (trip,) = kept
    assert trip.failure is not None and trip.response is None
    assert (trip.failure.kind, trip.failure.message, trip.closed_first) == (kind, message, closed_first)
    # Without a connection upstream, the client's one is closed, as without the proxy; else the layers do it.
    assert flow.killable == (closed_first == "server")


def test_the_words_of_an_error_do_not_decide_who_closed_first() -> None:
    """mitmproxy says "by client" of every reset over HTTP/2, also of the server's."""
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)

    failing(recorder, begun(recorder), "stream reset by client (CANCEL)", Ending("server", "cut", "the server did"))
    failing(recorder, begun(recorder), "peer closed connection", LEFT)
    failing(recorder, begun(recorder), "illegal chunk header", Ending("client", "protocol"))
    failing(recorder, begun(recorder), "[Errno 24] Too many open files", Ending(None, "internal"))

    assert [(trip.closed_first, trip.failure and trip.failure.kind) for trip in kept] == [
        ("server", "cut"),
        ("client", "client_gone"),
        ("client", "protocol"),
        (None, "internal"),
    ]
    assert kept[0].failure is not None and kept[0].failure.message == "the server did"


def test_a_connection_that_failed_keeps_the_kind_of_its_exception() -> None:
    data = server_hooks.ServerConnectionHookData(tflow.tserver_conn(), tflow.tclient_conn())
    data.server.error = "[Errno 24] Too many open files"
    try:
        raise OSError(errno.EMFILE, "Too many open files")
    except OSError:
        RecorderAddon(lambda trip: None).server_connect_error(data)

    assert data.server.error == "[Errno 24] Too many open files"
    assert isinstance(data.server.error, ConnectError) and data.server.error.kind == "internal"


def test_a_stream_that_the_server_cut_keeps_what_arrived() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    answering(recorder, flow, [b"data: 1\n\n", b"data: "])

    failing(recorder, flow, "peer closed connection without sending complete message body")

    (trip,) = kept
    assert trip.response is not None and trip.failure is not None
    assert (trip.response.body, trip.failure.kind, trip.closed_first) == (b"data: 1\n\ndata: ", "cut", "server")


GONE = Failure("client_gone", "the client closed before the answer was complete")


@pytest.mark.parametrize(
    ("pieces", "failure"),
    [([], GONE), ([b"data: 1\n\n"], GONE), ([b"data: 1\n\n", END], None)],
    ids=["nothing", "a part", "all"],
)
@pytest.mark.parametrize("message", ["Client disconnected.", "peer closed connection"])
def test_a_client_that_leaves_after_the_end_has_the_whole_answer(
    message: str, pieces: list[bytes], failure: Failure | None
) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    if pieces:
        answering(recorder, flow, pieces)

    failing(recorder, flow, message, LEFT)

    (trip,) = kept
    assert (trip.failure, trip.closed_first) == (failure, "client")


def test_what_still_runs_at_the_stop_is_kept_as_it_is() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    running, waiting = begun(recorder), begun(recorder)
    answering(recorder, running, [b"data: 1\n\n"])

    recorder.abandon()

    assert [(trip.response and trip.response.body, trip.failure and trip.failure.kind) for trip in kept] == [
        (b"data: 1\n\n", "internal"),
        (None, "internal"),
    ]
    assert recorder.pending == {} and waiting.id != running.id


@pytest.mark.parametrize("stopped", [True, False])
def test_a_client_gets_no_answer_of_ours_after_the_stop(stopped: bool) -> None:
    """What waits for a connection then fails, and its record says that there was no answer."""
    recorder = RecorderAddon([].append)
    flow = begun(recorder)
    if stopped:
        recorder.abandon()
    else:
        recorder.release(flow)
    flow.error = base.Error("turntape stops")

    recorder.error(flow)

    assert (flow.error.msg == base.Error.KILLED_MESSAGE) is stopped


def test_a_fault_in_turntape_is_stored_and_logged_and_the_hook_returns(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)

    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    with monkeypatch.context() as patch:
        patch.setattr(PendingRoundTrip, "decode_as", fail)
        flow.response = http.Response.make(200, b"", {"content-type": "application/json"})
        recorder.responseheaders(flow)
    recorder.response(flow)

    (trip,) = kept
    assert trip.faults == ("responseheaders: RuntimeError('ours')",)
    assert "fault while recording in responseheaders" in caplog.text


def test_a_writer_that_fails_never_reaches_the_traffic() -> None:
    def fail(_: RoundTrip) -> None:
        raise OSError("the disk is gone")

    recorder = RecorderAddon(fail)
    flow = begun(recorder)
    answering(recorder, flow, [END])

    recorder.response(flow)

    assert recorder.pending == {}


@pytest.mark.parametrize(("closed_by_client", "side"), [(True, "client"), (False, "server"), (None, None)])
def test_websocket_messages_are_kept_by_sender(closed_by_client: bool | None, side: str | None) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = tflow.twebsocketflow()
    flow.request.url = URL
    assert flow.websocket is not None and flow.response is not None
    recorder.begin(flow, PendingRoundTrip(URL, 0.0, time.monotonic_ns(), None, "forward", "openai"))
    messages = list(flow.websocket.messages)
    recorder.responseheaders(flow)
    assert flow.response.stream is False
    for number in range(1, len(messages) + 1):
        flow.websocket.messages = messages[:number]
        recorder.websocket_message(flow)
    recorder.response(flow)
    assert kept == []
    flow.websocket.closed_by_client = closed_by_client

    recorder.websocket_end(flow)

    (trip,) = kept
    assert [(f.sender, f.data, f.text) for f in trip.frames] == [
        ("client" if m.from_client else "server", m.content, m.is_text) for m in messages
    ]
    assert {f.sender for f in trip.frames} == {"client", "server"}
    assert trip.first_byte_at is not None and all(f.at >= trip.first_byte_at for f in trip.frames)
    assert (trip.closed_first, trip.failure) == (side, None)
    assert trip.response is not None and trip.response.chunks == tuple[Chunk]()


def test_a_request_that_did_not_end_is_not_complete() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = tflow.tflow(req=http.Request.make("POST", URL, b"half"))
    recorder.begin(flow, PendingRoundTrip(URL, 0.0, time.monotonic_ns(), None, "forward", "openai"))

    failing(recorder, flow, "Client disconnected.", LEFT)

    assert [trip.request.complete for trip in kept] == [False]


def test_a_response_that_a_breakpoint_may_hold_is_kept_but_not_streamed() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    recorder.pending[flow.id].held = True
    flow.response = http.Response.make(200, b"")

    recorder.responseheaders(flow)
    assert flow.response.stream is False
    flow.metadata[TEE](b"piece")
    recorder.response(flow)

    assert [trip.response and trip.response.body for trip in kept] == [b"piece"]


def test_a_flow_that_is_released_is_not_written() -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    pending = recorder.pending[flow.id]

    assert recorder.release(flow) is pending
    assert recorder.release(flow) is None
    recorder.response(flow)
    recorder.abandon()

    assert kept == [] and recorder.pending == {}


def test_hooks_without_their_part_of_the_flow_do_nothing() -> None:
    """mitmproxy calls `error` without an error, and others without a response, when a flow is killed."""
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    pending = recorder.pending[flow.id]

    recorder.responseheaders(flow)
    recorder.error(flow)
    recorder.websocket_message(flow)

    assert kept == [] and pending.faults == [] and pending.first_byte_at is None


def test_a_flow_that_has_ended_is_not_kept_in_memory() -> None:
    recorder = RecorderAddon(lambda trip: None)
    flow = begun(recorder)
    recorder.response(flow)
    gone = weakref.ref(flow)

    del flow
    gc.collect()

    assert gone() is None


CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
ENDPOINT = b"event: endpoint\r\ndata: /messages?id=1\r\n\r\n"


class Doubted:
    """A flow whose shape decides whether it is recorded."""

    def __init__(self, method: str = "POST", body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.kept: list[RoundTrip] = []
        self.dismissed = 0
        self.named: list[str] = []
        self.recorder = RecorderAddon(self.kept.append)
        self.flow = tflow.tflow(req=http.Request.make(method, "http://127.0.0.1:9/x", body))
        for name, value in (headers or {}).items():
            self.flow.request.headers[name] = value
        self.pending = PendingRoundTrip("http://127.0.0.1:9/x", 1000.0, time.monotonic_ns(), None, "forward", None)
        self.pending.doubt = self._dismiss
        self.pending.opened = self.named.append
        self.recorder.begin(self.flow, self.pending)
        self.recorder.request(self.flow)

    def _dismiss(self) -> None:
        self.dismissed += 1

    @property
    def running(self) -> bool:
        return self.flow.id in self.recorder.pending

    def answered(self, *pieces: bytes, **headers: str) -> list[bytes]:
        """The answer as it comes; what passes on to the client."""
        return answering(self.recorder, self.flow, pieces, **headers)


@pytest.mark.parametrize("filler", [b":", b":\n", b"id:1\n", b"a\r", b"\n"])
def test_a_beginning_in_tiny_pieces_is_read_a_few_times_and_its_event_at_once(
    filler: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(module, "opening", lambda data: looks.append(len(data)) or opening(data))
    one = Doubted("GET", headers={"accept": "text/event-stream"})
    stream = filler * 2000 + b"\n" + ENDPOINT[:-1]
    sent = [stream[at : at + 1] for at in range(len(stream))]
    one.answered(*sent)
    before = list(one.named)
    assert one.flow.response is not None and callable(one.flow.response.stream)
    one.flow.response.stream(b"\n")

    assert (before, one.named) == ([], ["/messages?id=1"])
    assert len(looks) < 20


@pytest.mark.parametrize("encoding", [None, "gzip"])
def test_a_request_in_doubt_is_kept_when_its_body_is_mcp(encoding: str | None) -> None:
    body = gzip.compress(CALL, mtime=0) if encoding else CALL
    one = Doubted(body=body, headers={"content-encoding": encoding} if encoding else {})

    assert one.running and one.pending.doubt is None
    assert one.answered(b"data: {}\n\n") == [b"data: {}\n\n"]
    one.recorder.response(one.flow)

    assert [trip.request.body for trip in one.kept] == [CALL] and one.dismissed == 0


@pytest.mark.parametrize("body", [b"", b"{}", b'{"jsonrpc":"2.0","id":1,"method":"eth_call"}'])
def test_a_request_in_doubt_is_forgotten_when_its_body_is_not(body: bytes) -> None:
    one = Doubted(body=body)

    assert not one.running and one.dismissed == 1
    one.flow.response = http.Response.make(200, b"")
    one.recorder.responseheaders(one.flow)
    one.recorder.response(one.flow)
    assert one.flow.response.stream is True and one.kept == []


def test_a_stream_in_doubt_is_kept_from_its_beginning_when_it_names_a_url() -> None:
    one = Doubted("GET")
    pieces = [ENDPOINT[:9], ENDPOINT[9:], b"data: {}\n\n"]

    assert one.answered(*pieces, b"") == [*pieces, b""]
    failing(one.recorder, one.flow, "client disconnected", LEFT)

    assert one.named == ["/messages?id=1"] and one.dismissed == 0
    (trip,) = one.kept
    assert trip.response is not None and trip.response.body == b"".join(pieces)
    assert (trip.failure, trip.closed_first) == (None, "client")


def test_a_stream_in_doubt_passes_and_is_forgotten_when_it_names_none() -> None:
    one = Doubted("GET")
    pieces = [b"data: 1", b"\n\n", b"data: 2\n\n"]

    assert one.answered(*pieces) == pieces
    assert not one.running and one.dismissed == 1 and one.pending.body.pieces == []
    one.recorder.response(one.flow)
    assert one.kept == [] and one.named == []


def test_an_answer_in_doubt_that_is_not_a_stream_passes_as_it_comes() -> None:
    one = Doubted("GET")
    one.flow.response = http.Response.make(200, b"<html>", {"content-type": "text/html"})
    one.recorder.responseheaders(one.flow)

    assert one.flow.response.stream is True and not one.running and one.dismissed == 1


@pytest.mark.parametrize("end", ["response", "error", "abandon"])
def test_a_stream_that_ends_in_doubt_is_not_recorded(end: str) -> None:
    one = Doubted("GET")
    one.answered(b"event: end")
    if end == "error":
        failing(one.recorder, one.flow, "connection closed")
        assert one.flow.killable
    elif end == "response":
        one.recorder.response(one.flow)
    else:
        one.recorder.abandon()

    assert one.kept == [] and one.dismissed == 1 and not one.running


def test_a_fault_while_looking_at_a_stream_stays_with_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(beginning: bytes) -> str:
        raise RuntimeError("oops")

    monkeypatch.setattr("turntape.proxy.capture.recorder_addon.opening", broken)
    one = Doubted("GET")
    one.pending.doubt = None

    assert one.answered(b"a", b"b") == [b"a", b"b"]
    one.recorder.response(one.flow)
    assert one.kept[0].faults == ("the beginning of a stream: RuntimeError('oops')",)


def test_a_stream_that_only_the_client_ends_has_not_failed_when_it_does_or_when_we_stop() -> None:
    def streaming(**headers: str) -> tuple[RecorderAddon, http.HTTPFlow, list[RoundTrip]]:
        kept: list[RoundTrip] = []
        recorder = RecorderAddon(kept.append)
        flow = tflow.tflow(req=http.Request.make("GET", "http://127.0.0.1:9/mcp", b"", {**headers}))
        recorder.begin(flow, PendingRoundTrip(URL, 1000.0, time.monotonic_ns(), None, "base_url", "files"))
        recorder.request(flow)
        answering(recorder, flow, [b": hello\n\n"])
        return recorder, flow, kept

    recorder, flow, kept = streaming(**{"Mcp-Session-Id": "1"})
    failing(recorder, flow, "client disconnected", LEFT)
    stopped, _, also_kept = streaming(**{"Mcp-Session-Id": "1"})
    stopped.abandon()
    other, flow, failed = streaming()
    failing(other, flow, "client disconnected", LEFT)

    assert [trip.failure for trip in (*kept, *also_kept)] == [None, None]
    assert kept[0].closed_first == "client"
    assert failed[0].failure is not None and failed[0].failure.kind == "client_gone"


@pytest.mark.parametrize("kind", ["text/event-stream; charset=utf-8", "application/json"])
def test_of_an_answer_so_much_is_kept(kind: str) -> None:
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    recorder.pending[flow.id].most = 10
    assert answering(recorder, flow, [b"x" * 10, b"y" * 10], **{"content-type": kind}) == [b"x" * 10, b"y" * 10]
    recorder.response(flow)

    assert kept[0].response is not None and len(kept[0].response.body) == 10
    assert kept[0].faults == ("the answer is longer than 10 bytes; what came after the first 10 is not kept",)


@pytest.mark.parametrize(("kind", "stored"), [("text/event-stream", b"x" * 10), ("application/json", None)])
def test_a_stream_that_decodes_to_too_much_is_cut_and_another_body_is_stored_as_received(
    kind: str, stored: bytes | None
) -> None:
    stream = zlib.compressobj(wbits=31)
    sent = [stream.compress(piece) + stream.flush(zlib.Z_SYNC_FLUSH) for piece in (b"x" * 10, bytes(2 << 20))]
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    recorder.pending[flow.id].most = 1 << 20
    headers = {"content-type": kind, "content-encoding": "gzip"}
    assert answering(recorder, flow, sent, **headers) == sent
    recorder.response(flow)

    assert kept[0].response is not None
    assert kept[0].response.body == (stored or b"".join(sent))
    assert kept[0].response.encoding == ("gzip" if stored else None)


def test_the_memory_of_an_answer_is_free_when_it_has_ended() -> None:
    """Or a long recording would keep nothing any more."""
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    recorder._memory.most = 1000
    for _ in range(5):
        flow = begun(recorder)
        answering(recorder, flow, [b"x" * 700], **{"content-type": "application/json"})
        recorder.response(flow)

    assert [trip.faults for trip in kept] == [()] * 5
    assert recorder._memory.taken == 0


def test_of_a_request_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.proxy.capture.flow_conversion.MOST_OF_A_BODY", 10)
    kept: list[RoundTrip] = []
    recorder = RecorderAddon(kept.append)
    flow = begun(recorder)
    flow.request.content = b"z" * 12
    answering(recorder, flow, [b"x"], **{"content-type": "application/json"})
    recorder.response(flow)

    assert kept[0].request.body == b"z" * 10
    assert kept[0].faults == ("the request is longer than 10 bytes; what came after them is not kept",)


def test_an_answer_that_has_ended_is_not_held_by_its_connection_nor_in_memory_while_it_waits(tmp_path: Path) -> None:
    """A flow lives as long as its connection. What is short of memory at the end of an answer goes to the disk."""
    memory, waits, kept = Memory(), [0], list[RoundTrip]()
    recorder = RecorderAddon(kept.append, memory=memory, spool=Spool(tmp_path, memory, lambda: waits[0]))
    flow = begun(recorder)
    answering(recorder, flow, [b"x" * 100_000] * 10)
    pending = recorder.pending[flow.id]
    waits[0] = 1 << 30

    recorder.response(flow)

    assert pending.body.size == 0
    [trip] = kept
    assert trip.response is not None and held_bytes(trip) < 10_000
    assert trip.response.body == b"x" * 1_000_000
    eventually(lambda: memory.taken == 0)


def test_the_part_of_a_spooled_answer_that_is_in_memory_counts(tmp_path: Path) -> None:
    memory, waits, kept = Memory(), [1 << 30], list[RoundTrip]()
    recorder = RecorderAddon(kept.append, memory=memory, spool=Spool(tmp_path, memory, lambda: waits[0]))
    flow = begun(recorder)
    answering(recorder, flow, [b"x" * 300_000, b"y" * 200_000])

    recorder.response(flow)

    assert 200_000 < held_bytes(kept[0]) < 210_000
