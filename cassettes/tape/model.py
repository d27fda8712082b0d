"""What the tape holds: a round trip as it went over the wire, without meaning.

Rule 1: this package knows no protocol. A body is bytes; what they say is the inspector's to read.
Rule 2: nothing here is ever guessed. `None` is "the wire did not say".

Times are integers in microseconds since the round trip's `started_at`, so that they can be compared and
replayed; `started_at` is the one wall-clock time, in seconds since the epoch (UTC).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

type Headers = tuple[tuple[str, str], ...]
"""Header fields in wire order, names spelt as they came; a repeated name stands twice."""

type Lazy = bytes | Callable[[], bytes]
"""Bytes, or where to get them: a cassette resolves a body only when it is asked for."""

type Side = Literal["client", "server"]

type FailureKind = Literal["refused", "dns", "tls", "timeout", "cut", "client_gone", "protocol", "internal"]
"""Why a round trip has no whole answer.

`refused`, `dns`, `tls`, `timeout`: the upstream was not reached. `cut`: the upstream closed before the end.
`client_gone`: the client closed first. `protocol`: one side broke HTTP. `internal`: our own fault.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a body as it arrived: `size` bytes (after content-decoding) at `at` microseconds."""

    size: int
    at: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One WebSocket message."""

    sender: Side
    at: int
    data: bytes
    text: bool
    """True for a text message, False for a binary one."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: str
    """Where the request went upstream: absolute, with its query, secrets in it replaced."""
    headers: Headers = ()
    content: Lazy = b""
    http_version: str = "HTTP/1.1"
    encoding: str | None = None
    """The content-encoding that was undone for storage (`gzip`, `br`, `zstd`), or None."""
    complete: bool = True
    """False when the client went away before the end of the body."""

    @property
    def body(self) -> bytes:
        """The body, content-encoding undone. Raises `CassetteError` when the file no longer holds it."""
        return self.content if isinstance(self.content, bytes) else self.content()


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    reason: str = ""
    headers: Headers = ()
    content: Lazy = b""
    chunks: tuple[Chunk, ...] = ()
    """How the body arrived; sizes add up to `len(body)`. Empty when times were not recorded."""
    http_version: str = "HTTP/1.1"
    encoding: str | None = None
    trailers: Headers = ()

    @property
    def body(self) -> bytes:
        """What arrived of the body, content-encoding undone."""
        return self.content if isinstance(self.content, bytes) else self.content()

    @property
    def pieces(self) -> list[tuple[bytes, int]]:
        """The body as `(bytes, at)` per recorded chunk; one piece at 0 when no times were recorded.

        All of the body, also when someone changed it by hand: what the chunks leave over comes with the last.
        """
        body = self.body
        if not self.chunks:
            return [(body, 0)] if body else []
        pieces: list[tuple[bytes, int]] = []
        start = 0
        for chunk in self.chunks:
            pieces.append((body[start : start + chunk.size], chunk.at))
            start += chunk.size
        if start < len(body):
            pieces[-1] = (body[start - self.chunks[-1].size :], self.chunks[-1].at)
        return pieces


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One HTTP request to an API and all that came back for it, whole or cut."""

    request: Request
    response: Response | None
    """None when nothing came back."""
    started_at: float
    index: int = -1
    """The number of the round trip in its cassette, from 0, in the order in which they ended."""
    run: str | None = None
    """The run's name when the client gave one (by path or proxy user)."""
    request_at: int | None = None
    """When the request's last byte was in."""
    first_byte_at: int | None = None
    """When the response's head was in."""
    ended_at: int | None = None
    closed_first: Side | None = None
    """Who closed the connection before the message was whole; None when nobody did."""
    failure: Failure | None = None
    """None for an exchange that ended as HTTP says it should, whatever its status."""
    route: Literal["base_url", "forward", "import"] | None = None
    upstream: str | None = None
    """The name of the upstream in the route table (`openai`, `anthropic`, …), when it has one."""
    client: str | None = None
    """The client's socket, `host:port`."""
    frames: tuple[Frame, ...] = ()
    """The messages of a WebSocket session, when the exchange became one."""
    faults: tuple[str, ...] = ()
    """Faults of turntape itself while recording this round trip; the traffic went on."""
    extra: dict[str, object] = field(default_factory=dict[str, object])
    """Fields of a newer minor format version, kept as they are."""
