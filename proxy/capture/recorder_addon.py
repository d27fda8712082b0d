"""The addon that records: it copies what passes into round trips and never changes it.

A fault in turntape is logged once and stored with the round trip, and the traffic continues. Every recorded response
is streamed to the client, so that nothing is held back and a cut body reaches the client cut.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
import logging
import sys
from collections.abc import Callable
from typing import Literal

from mitmproxy import http
from mitmproxy.connection import Client
from mitmproxy.proxy import server_hooks

from turntape.cassettes.apis.lookup import is_endless, is_recorded_shape, opening
from turntape.cassettes.framing.sse import SseDecoder
from turntape.cassettes.recording.running_session import LineSink, RunningSession
from turntape.cassettes.tape.bounds import Memory
from turntape.cassettes.tape.content_encoding import decoded
from turntape.cassettes.tape.model import Failure, Frame, Headers, RoundTrip, Side
from turntape.cassettes.tape.running_session import FIELD as RUNNING
from turntape.cassettes.tape.stream_end import ended

from .ending import ConnectError, Ending, interim, noted, plainly
from .flow_conversion import connect_failure, header_fields, round_trip
from .pending import HOLD, NEEDS_WHOLE, ROOM, PendingRoundTrip
from .pieces import note_inflated
from .spool import Spool

log = logging.getLogger(__name__)

TEE = "turntape-tee"
"""The key in a flow's metadata of the function that keeps the pieces of a held response."""

_ABNORMAL = 1006
"""The close code of a session that ended without a close frame (RFC 6455, 7.4.1)."""
_AS_IT_COMES = True
"""How an answer is passed on that is not recorded. Otherwise mitmproxy holds it to its end, however long it is."""

type Hook = Callable[["RecorderAddon", http.HTTPFlow], None]


def harmless(hook: Hook) -> Hook:
    """A hook whose faults do not reach the traffic: they are logged and stored with the round trip."""

    @functools.wraps(hook)
    def caught(self: "RecorderAddon", flow: http.HTTPFlow) -> None:
        try:
            hook(self, flow)
        except Exception as exc:  # the traffic must continue
            log.exception("fault while recording in %s", hook.__name__)
            pending = self.pending.get(flow.id)
            if pending is not None:
                pending.faults.append(f"{hook.__name__}: {exc!r}")

    return caught


class RecorderAddon:
    """Records the flows that the router passes to `begin`. `write` gets each round trip when it ends.

    `lines` takes what is written of a WebSocket session while it runs. `on_count` is called when a round trip has begun
    or ended. What runs shares `memory`; beyond what is good for it, answers go to `spool`, if there is one.
    `needs_whole`: another addon decides about a request when it is whole, so nothing of it is passed on before.
    """

    def __init__(
        self,
        write: Callable[[RoundTrip], object],
        lines: LineSink | None = None,
        on_count: Callable[[], object] = lambda: None,
        memory: Memory | None = None,
        spool: Spool | None = None,
        *,
        needs_whole: bool = False,
    ) -> None:
        self._needs_whole = needs_whole
        self._write = write
        self._on_count = on_count
        self._lines = lines
        self.pending: dict[str, PendingRoundTrip] = {}
        """Round trips that are running, by flow id."""
        self._flows: dict[str, http.HTTPFlow] = {}
        self._memory = memory or Memory()
        self._spool = spool
        self._has_stopped = False

    def begin(self, flow: http.HTTPFlow, pending: PendingRoundTrip) -> None:
        """Start recording a flow."""
        pending.memory, pending.spool = self._memory, self._spool
        self.pending[flow.id] = pending
        self._flows[flow.id] = flow
        flow.metadata[ROOM], flow.metadata[HOLD] = pending.has_room, pending.hold
        if self._needs_whole:
            flow.metadata[NEEDS_WHOLE] = True
        self._on_count()

    def release(self, flow: http.HTTPFlow) -> PendingRoundTrip | None:
        """Stop recording a flow: another addon answers it and writes its round trip."""
        self._flows.pop(flow.id, None)
        pending = self.pending.pop(flow.id, None)
        if pending is not None:
            flow.metadata.pop(ROOM, None)
            flow.metadata.pop(HOLD, None)
            self._memory.free(pending.taken)
            pending.taken = 0
            self._on_count()
        return pending

    @harmless
    def request(self, flow: http.HTTPFlow) -> None:
        pending = self.pending.get(flow.id)
        if pending is None:
            return
        pending.request_at = pending.now()
        if pending.doubt is not None and flow.request.method != "GET":
            if is_recorded_shape(*asked(flow)):
                pending.doubt = None
            else:
                self.dismiss(flow)

    @harmless
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        pending = self.pending.get(flow.id)
        if flow.response is None:
            return
        if pending is None:
            flow.response.stream = _AS_IT_COMES
            return
        pending.first_byte_at = pending.now()
        if flow.response.status_code == 101:
            return
        streams = flow.response.headers.get("content-type", "").startswith("text/event-stream")
        if pending.doubt is not None and not streams:
            self.dismiss(flow)
            flow.response.stream = _AS_IT_COMES
            return
        if streams:
            pending.stream = True
            pending.endless = is_endless(*asked(flow))
        pending.decode_as(flow.response.headers.get("content-encoding", ""))
        pending.inflated = functools.partial(note_inflated, flow.server_conn)
        if pending.held:
            flow.metadata[TEE] = pending.tee
        elif streams and pending.opened is not None:
            flow.response.stream = _Beginning(self, flow, pending)
        else:
            flow.response.stream = pending.tee

    @harmless
    def response(self, flow: http.HTTPFlow) -> None:
        if flow.websocket is None:
            self.finish(flow)

    @harmless
    def websocket_start(self, flow: http.HTTPFlow) -> None:
        pending = self.pending.get(flow.id)
        if pending is not None and self._lines is not None and pending.doubt is None:
            pending.session = RunningSession(self._lines, round_trip(flow, pending, None, None))

    @harmless
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        pending = self.pending.get(flow.id)
        if pending is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        sender: Side = "client" if message.from_client else "server"
        frame = Frame(sender, pending.now(), message.content, message.is_text)
        if pending.add_frame(frame) and pending.session is not None:
            pending.session.add(frame)

    @harmless
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        kept, pending = flow.websocket, self.pending.get(flow.id)
        if kept is None or pending is None:
            return
        sides: dict[bool | None, Side] = {True: "client", False: "server"}
        side = sides.get(kept.closed_by_client)
        if kept.close_code is not None:
            pending.extra["closed"] = {"from": side, "code": kept.close_code, "reason": kept.close_reason or ""}
        aborted = side == "server" and kept.close_code == _ABNORMAL
        failure = Failure("cut", "the server ended the session without a close frame") if aborted else None
        ending = noted(flow)
        if ending is not None and ending.kind == "protocol":
            failure = Failure("protocol", ending.text or "a message of the session is not as WebSocket requires")
        self.finish(flow, side, failure)

    @harmless
    def error(self, flow: http.HTTPFlow) -> None:
        pending = self.pending.get(flow.id)
        if pending is None and self._has_stopped and flow.killable:
            flow.kill()  # it is recorded without an answer, so its client gets none
        if pending is None or flow.error is None:
            return
        if pending.doubt is not None:
            self.dismiss(flow)
            return
        ending = noted(flow) or Ending("server", None)
        message = ending.text or flow.error.msg
        if ending.side == "client":
            self.finish(flow, "client", _client_failure(pending, ending, message))
        elif ending.side == "server":
            self.finish(flow, "server", Failure(ending.kind or "cut", message))
        else:
            kind = ending.kind or connect_failure(message) or "cut"
            self.finish(flow, None, Failure(kind, plainly(message)))
            # Without the proxy the client would see a connection closed without an answer. So it does here.
            flow.kill()

    def server_connect_error(self, data: server_hooks.ServerConnectionHookData) -> None:
        """Keep with a connection why it failed. mitmproxy calls this while it handles the exception."""
        if data.server.error and not isinstance(data.server.error, ConnectError):
            data.server.error = ConnectError.of(data.server.error, sys.exception())

    def abandon(self) -> None:
        """Record what is still running as it is now; the proxy is being stopped."""
        self._has_stopped = True
        for name in list(self.pending):
            session = self._flows[name].websocket
            if session is not None and session.close_code is not None:  # one side has ended it
                self.websocket_end(self._flows[name])
                continue
            failure = Failure("internal", "turntape was stopped before the answer was complete")
            self.finish(self._flows[name], None, None if self.pending[name].endless else failure)

    def end_for(self, client: Client, fault: Exception) -> None:
        """Record what is still running on a client's connection, which a fault of ours has ended."""
        for flow in list(self._flows.values()):
            if flow.client_conn is client:
                self.finish(flow, None, Failure("internal", f"a fault in turntape ended the connection: {fault!r}"))

    def finish(self, flow: http.HTTPFlow, closed_first: Side | None = None, failure: Failure | None = None) -> None:
        """Write the round trip of a flow that has ended. Only the first call for a flow has an effect."""
        if (running := self.pending.get(flow.id)) is not None:
            running.settle()
            if failure is None and closed_first is None:
                running.end_encoding()
        pending = self.release(flow)
        if pending is None:
            return
        if pending.doubt is not None:
            pending.doubt()
        else:
            if statuses := interim(flow):
                pending.extra["interim"] = statuses
            if pending.session is not None:
                pending.session.end()
                pending.extra[RUNNING] = pending.session.name
            trip = round_trip(flow, pending, closed_first, failure)
            pending.body.clear()  # the flow holds it as long as its connection is open
            self._write(trip)

    def dismiss(self, flow: http.HTTPFlow) -> None:
        """Forget a flow whose shape has shown that it is not recorded."""
        pending = self.release(flow)
        if pending is not None and pending.doubt is not None:
            pending.doubt()


def _client_failure(pending: PendingRoundTrip, ending: Ending, message: str) -> Failure | None:
    if ending.kind == "protocol":
        return Failure("protocol", message)
    if pending.endless or ended(pending.body.so_far):
        return None
    return Failure("client_gone", ending.text or "the client closed before the answer was complete")


def asked(flow: http.HTTPFlow) -> tuple[str, Headers, bytes]:
    """The request, as far as the shape of an API shows in it."""
    body, _, _ = decoded(flow.request.raw_content or b"", flow.request.headers.get("content-encoding"))
    return flow.request.method, header_fields(flow.request.headers), body


class _Beginning:
    """Passes a stream on while it is kept, and looks for the URL that its first event may name.

    A stream in doubt is kept only when it names one.
    """

    def __init__(self, recorder: RecorderAddon, flow: http.HTTPFlow, pending: PendingRoundTrip) -> None:
        self._recorder = recorder
        self._flow = flow
        self._pending = pending
        self._state: Literal["beginning", "kept", "dismissed"] = "beginning"
        self._events = SseDecoder()
        self._taken = 0
        """How many pieces of the answer were read for events."""
        self._next_look = 1
        """How long the beginning must be until it is looked at without an event: each time twice as long."""

    def __call__(self, data: bytes) -> bytes:
        if self._state != "dismissed":
            self._pending.tee(data)
        if self._state == "beginning" and data:
            try:
                if self._is_news():
                    self._look()
            except Exception as exc:  # the traffic must continue
                log.exception("fault while looking at the beginning of a stream")
                self._pending.faults.append(f"the beginning of a stream: {exc!r}")
                self._state = "kept"
        return data

    def _is_news(self) -> bool:
        """True when an event has come, or much more than at the last look: each look reads all from the beginning."""
        body = self._pending.body
        new, self._taken = b"".join(body.pieces[self._taken :]), len(body.pieces)
        is_event = any(event.kind == "data" for event in self._events.feed(new))
        if not is_event and body.size < self._next_look:
            return False
        self._next_look = 2 * body.size
        return True

    def _look(self) -> None:
        pending = self._pending
        named = opening(b"".join(pending.body.so_far))
        if named is None:
            return
        self._state = "kept"
        if named:
            pending.doubt, pending.endless = None, True
            if pending.opened is not None:
                pending.opened(named)
        elif pending.doubt is not None:
            self._state = "dismissed"
            self._recorder.dismiss(self._flow)
            pending.body.clear()
