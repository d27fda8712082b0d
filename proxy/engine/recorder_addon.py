"""The recording addon: what passes is teed into a round trip and never altered.

Hooks turn the flow into our values and hand them over; a fault of ours is logged once, stored with the round
trip, and the traffic goes on. Every recorded answer is streamed through, so that nothing is held and a cut body
reaches the client as it was cut.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import functools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mitmproxy import http

from turntape.cassettes.tape.content_encoding import Decoder, decoded, decoder
from turntape.cassettes.tape.model import (
    Chunk,
    Failure,
    FailureKind,
    Frame,
    Headers,
    Request,
    Response,
    RoundTrip,
    Side,
)
from turntape.cassettes.tape.stream_end import ended

log = logging.getLogger(__name__)

TEE = "turntape-tee"
"""Under this name a flow's metadata hold what takes in the pieces of an answer that is held."""

_UNREACHED: tuple[tuple[str, FailureKind], ...] = (
    ("refused http connect", "refused"),
    ("name or service not known", "dns"),
    ("nodename nor servname", "dns"),
    ("name resolution", "dns"),
    ("no address associated", "dns"),
    ("getaddrinfo", "dns"),
    ("certificate", "tls"),
    ("tls", "tls"),
    ("ssl", "tls"),
    ("timed out", "timeout"),
    ("timeout", "timeout"),
    ("connect call failed", "refused"),
    ("connection refused", "refused"),
    ("unreachable", "refused"),
    ("no route to host", "refused"),
    ("multiple exceptions", "refused"),
)
"""Words in an error's text, and what it was; the first that stands in it counts."""

_CLIENT_LEFT = ("client disconnected", "by client", "client closed")


def unreached(message: str) -> FailureKind | None:
    """Why the upstream was not reached, by the error's text; None when the text says something else."""
    lowered = message.lower()
    return next((kind for word, kind in _UNREACHED if word in lowered), None)


def pairs(headers: http.Headers | None) -> Headers:
    """Header fields as they came."""
    if headers is None:
        return ()
    return tuple(
        (name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))
        for name, value in headers.fields
    )


@dataclass(slots=True)
class Take:
    """A round trip while it runs."""

    url: str
    started_at: float
    clock: int
    """`monotonic_ns` at the start."""
    run: str | None
    route: str
    upstream: str | None
    request_at: int | None = None
    first_byte_at: int | None = None
    pieces: list[bytes] = field(default_factory=list[bytes])
    times: list[int] = field(default_factory=list[int])
    frames: list[Frame] = field(default_factory=list[Frame])
    faults: list[str] = field(default_factory=list[str])
    decoder: Decoder | None = None
    encoding: str | None = None
    raw: list[bytes] | None = None
    """The encoded body, kept until it is known that it decodes."""
    extra: dict[str, object] = field(default_factory=dict[str, object])
    """What is to stand in the record beside what the wire said."""
    held: bool = False
    """True when a breakpoint may hold the answer back."""

    def now(self) -> int:
        return (time.monotonic_ns() - self.clock) // 1000

    def tee(self, data: bytes) -> bytes:
        """Keep a piece of the answer with its time; the piece itself goes on unchanged."""
        if data:
            at = self.now()
            if self.decoder is not None:
                self._decode(data, at)
            else:
                self.pieces.append(data)
                self.times.append(at)
        return data

    def _decode(self, data: bytes, at: int) -> None:
        assert self.decoder is not None and self.raw is not None
        self.raw.append(data)
        try:
            plain = self.decoder.decode(data)
        except Exception as exc:  # noqa: BLE001 - each library raises errors of its own, and the traffic goes on
            self.faults.append(f"the answer does not decode as {self.encoding}: {exc}; it is kept as it came")
            self.pieces, self.times = self.raw, [at] * len(self.raw)
            self.decoder = self.raw = self.encoding = None
            return
        if plain:
            self.pieces.append(plain)
            self.times.append(at)


type Hook = Callable[["Tap", http.HTTPFlow], None]


def guarded(hook: Hook) -> Hook:
    """A hook whose faults are ours alone."""

    @functools.wraps(hook)
    def guard(self: "Tap", flow: http.HTTPFlow) -> None:
        try:
            hook(self, flow)
        except Exception as exc:  # the traffic must go on
            log.exception("fault while recording in %s", hook.__name__)
            take = self.takes.get(flow.id)
            if take is not None:
                take.faults.append(f"{hook.__name__}: {exc!r}")

    return guard


class Tap:
    """Records the flows that the router marked; `write` is given each round trip as it ends."""

    def __init__(self, write: Callable[[RoundTrip], object]) -> None:
        self._write = write
        self.takes: dict[str, Take] = {}
        """Round trips that are running, by flow id."""
        self._flows: dict[str, http.HTTPFlow] = {}

    def begin(self, flow: http.HTTPFlow, take: Take) -> None:
        """Start recording a flow; called by the router, which knows where it goes."""
        self.takes[flow.id] = take
        self._flows[flow.id] = flow

    def release(self, flow: http.HTTPFlow) -> Take | None:
        """Stop recording a flow that somebody else answers and writes down."""
        self._flows.pop(flow.id, None)
        return self.takes.pop(flow.id, None)

    @guarded
    def request(self, flow: http.HTTPFlow) -> None:
        take = self.takes.get(flow.id)
        if take is not None:
            take.request_at = take.now()

    @guarded
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        take = self.takes.get(flow.id)
        if take is None or flow.response is None:
            return
        take.first_byte_at = take.now()
        if flow.response.status_code == 101:
            return
        take.encoding = flow.response.headers.get("content-encoding", "").strip().lower() or None
        take.decoder = decoder(take.encoding)
        if take.decoder is None:
            take.encoding = None
        else:
            take.raw = []
        if take.held:
            flow.metadata[TEE] = take.tee
        else:
            flow.response.stream = take.tee

    @guarded
    def response(self, flow: http.HTTPFlow) -> None:
        if flow.websocket is None:
            self.finish(flow)

    @guarded
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        take = self.takes.get(flow.id)
        if take is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        take.frames.append(
            Frame("client" if message.from_client else "server", take.now(), message.content, message.is_text)
        )

    @guarded
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        take = self.takes.get(flow.id)
        closed = flow.websocket.closed_by_client if flow.websocket else None
        if take is not None:
            self.finish(flow, "client" if closed else "server" if closed is False else None)

    @guarded
    def error(self, flow: http.HTTPFlow) -> None:
        take = self.takes.get(flow.id)
        if take is None or flow.error is None:
            return
        message = flow.error.msg
        if any(word in message.lower() for word in _CLIENT_LEFT):
            whole = take.first_byte_at is not None and ended(take.pieces)
            failure = None if whole else Failure("client_gone", "the client closed before the answer was whole")
            self.finish(flow, "client", failure)
        elif flow.response is None:
            kind = unreached(message)
            self.finish(flow, None if kind else "server", Failure(kind or "cut", message))
            # The client is told what it would have been told: nothing, on a closed connection.
            flow.kill()
        else:
            self.finish(flow, "server", Failure("cut", message))

    def abandon(self) -> None:
        """Record what is still running as it stands; the proxy is being stopped."""
        for identity in list(self.takes):
            flow = self._flows[identity]
            self.finish(flow, None, Failure("internal", "turntape was stopped before the answer was whole"))

    def finish(self, flow: http.HTTPFlow, closed_first: Side | None = None, failure: Failure | None = None) -> None:
        """Hand over a flow that has ended, once."""
        take = self.takes.pop(flow.id, None)
        self._flows.pop(flow.id, None)
        if take is not None:
            self._write(round_trip(flow, take, closed_first, failure))


def round_trip(flow: http.HTTPFlow, take: Take, closed_first: Side | None, failure: Failure | None) -> RoundTrip:
    """The round trip of a flow that has ended."""
    request = flow.request
    raw = request.raw_content
    body, encoding, fault = decoded(raw or b"", request.headers.get("content-encoding"))
    faults = (*take.faults, fault) if fault else tuple(take.faults)
    peer = flow.client_conn.peername
    return RoundTrip(
        request=Request(
            method=request.method,
            url=take.url,
            # What only the proxy behind us is told is not the client's.
            headers=tuple(pair for pair in pairs(request.headers) if pair[0].lower() != "proxy-authorization"),
            content=body,
            http_version=request.http_version,
            encoding=encoding,
            complete=raw is not None and take.request_at is not None,
        ),
        response=_response(flow.response, take) if flow.response is not None else None,
        started_at=take.started_at,
        run=take.run,
        request_at=take.request_at,
        first_byte_at=take.first_byte_at,
        ended_at=take.now(),
        closed_first=closed_first,
        failure=failure,
        route="base_url" if take.route == "base_url" else "forward",
        upstream=take.upstream,
        client=f"{peer[0]}:{peer[1]}" if peer else None,
        frames=tuple(take.frames),
        faults=faults,
        extra=take.extra,
    )


def _response(response: http.Response, take: Take) -> Response:
    return Response(
        status=response.status_code,
        reason=response.reason or "",
        headers=pairs(response.headers),
        content=b"".join(take.pieces) or (response.raw_content or b""),
        chunks=tuple(Chunk(len(piece), at) for piece, at in zip(take.pieces, take.times, strict=True)),
        http_version=response.http_version,
        encoding=take.encoding,
        trailers=pairs(response.trailers),
    )
