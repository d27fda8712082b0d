"""A round trip as it went over the wire, without any meaning.

Rule 1: this package knows no protocol. A body is bytes; the inspector reads what they mean.
Rule 2: nothing here is ever guessed. `None` means that the wire did not say it.

Times are integers in microseconds since the round trip's `started_at`, so that they can be compared and
replayed; `started_at` is the one wall-clock time, in seconds since the epoch (UTC).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, urljoin, urlsplit

type Headers = tuple[tuple[str, str], ...]
"""Header fields as `(name, value)`, in the order and the spelling of the wire; names may repeat."""

type Lazy = bytes | Callable[[], bytes]
"""Bytes, or a function that loads them: a cassette makes a body only when it is used."""

type Side = Literal["client", "server"]

type FailureKind = Literal["refused", "dns", "tls", "timeout", "cut", "client_gone", "protocol", "internal"]
"""Why a round trip has no complete answer.

`refused`, `dns`, `tls`, `timeout`: the upstream was not reached. `cut`: the upstream closed before the end.
`client_gone`: the client closed first. `protocol`: one side broke HTTP. `internal`: an error of turntape.
"""


def split_url(url: str) -> SplitResult:
    """The parts of a recorded URL. One that breaks the rules of URLs is all path, without a host."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return SplitResult("", "", url, "", "")
    return parts


def joined_url(base: str, named: str) -> str:
    """The URL that is named relative to `base`. One that breaks the rules of URLs stays as it is."""
    try:
        return urljoin(base, named)
    except ValueError:
        return named


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
        """The body, with its content-encoding undone. Raises CassetteError when the file cannot give it."""
        return self.content if isinstance(self.content, bytes) else self.content()


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    """0 for the answer of a tool server over stdio or in process, where there is none."""
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
        """What arrived of the body, with its content-encoding undone. Raises CassetteError as `Request.body` does."""
        return self.content if isinstance(self.content, bytes) else self.content()

    @property
    def pieces(self) -> list[tuple[bytes, int]]:
        """The body as `(bytes, at)` for each recorded chunk; one piece at 0 when no times were recorded.

        Always the whole body, also when someone edited it: the rest after the last chunk is part of that chunk.
        """
        return list(self.each_piece())

    def each_piece(self) -> Iterator[tuple[bytes, int]]:
        """The `pieces`, one after the other."""
        body = self.body
        if not self.chunks:
            if body:
                yield body, 0
            return
        start = 0
        for size, chunk in zip(chunk_sizes(self.chunks, len(body)), self.chunks, strict=True):
            yield body[start : start + size], chunk.at
            start += size


def chunk_sizes(chunks: Sequence[Chunk], length: int) -> list[int]:
    """How many bytes each recorded chunk has of a body of `length` bytes: the last one has the rest."""
    sizes = [chunk.size for chunk in chunks]
    if sizes:
        sizes[-1] += max(length - sum(sizes), 0)
    return sizes


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureKind
    message: str


@dataclass(frozen=True, slots=True)
class ToolWire:
    """Which messages of which session an exchange with a tool server is, over stdio or in process."""

    session: str
    """The life of one server process or connection; unique in the file, as `ToolServer.session`."""
    server: str
    """The name that the client's configuration gives the server."""
    sender: Side
    """Who sent `RoundTrip.request`: servers ask too."""
    sequence: int
    """The place of the request among all messages of the session, from 0."""
    answered: int | None = None
    """The place of the answer; None when none came or none is due."""


@dataclass(frozen=True, slots=True)
class ToolServer:
    """One process of a tool server, or one connection in process. None and empty where nobody said it."""

    session: str
    server: str = ""
    transport: Literal["stdio", "process"] = "stdio"
    command: tuple[str, ...] = ()
    """The program and its arguments, secrets in them replaced."""
    cwd: str | None = None
    pid: int | None = None
    run: str | None = None
    started_at: float | None = None
    """Seconds since the epoch, as `ended_at`."""
    ended_at: float | None = None
    exit: int | None = None
    """The exit code of the process; None while it runs, and when a signal ended it."""
    signal: str | None = None
    """The signal that ended the process, such as `SIGKILL`."""
    closed_first: Side | None = None
    stderr: tuple[tuple[int, bytes], ...] = ()
    """What the server wrote to stderr: microseconds since `started_at`, and the bytes."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One HTTP request to an API and everything that came back for it, complete or cut.

    With `tool_wire`, it is one exchange with a tool server instead: a message of one side with its answer, or a
    message that needs none. Its method is `STDIO` or `PROCESS`, its URL names the server, and its answer has status 0.
    """

    request: Request
    response: Response | None
    """None when nothing came back."""
    started_at: float
    index: int = -1
    """The number of the round trip in its cassette, from 0, in the order in which they ended."""
    run: str | None = None
    """The run's name when the client gave one (by path or proxy user)."""
    request_at: int | None = None
    """When the last byte of the request had arrived."""
    first_byte_at: int | None = None
    """When the head of the response had arrived."""
    ended_at: int | None = None
    closed_first: Side | None = None
    """Who closed the connection before the message was complete; None when nobody did."""
    failure: Failure | None = None
    """None when the exchange ended as HTTP requires, whatever its status."""
    route: Literal["base_url", "forward", "import", "stdio", "process"] | None = None
    upstream: str | None = None
    """The name of the upstream in the route table (`openai`, `anthropic`, …), when it has one."""
    client: str | None = None
    """The client's socket, `host:port`."""
    frames: tuple[Frame, ...] = ()
    """The messages of a WebSocket session, when the exchange became one."""
    tool_wire: ToolWire | None = None
    """None for an HTTP round trip."""
    faults: tuple[str, ...] = ()
    """Errors of turntape itself while it recorded this round trip; the traffic was not affected."""
    extra: dict[str, object] = field(default_factory=dict[str, object])
    """Fields of a newer minor version of the format, kept unchanged."""
