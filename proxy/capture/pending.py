"""A round trip that is still running: what was seen of it so far."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from turntape.cassettes.tape.content_encoding import Decoder, decoder
from turntape.cassettes.tape.model import Frame


@dataclass(slots=True)
class PendingRoundTrip:
    """Times are microseconds since the start of the round trip."""

    url: str
    """Where the client wanted to send the request."""
    started_at: float
    """Seconds since the epoch."""
    started_ns: int
    """The same moment by `time.monotonic_ns`."""
    run: str | None
    route: str
    """`base_url` or `forward`."""
    upstream: str | None
    """The name of the upstream, or None when it has none."""
    request_at: int | None = None
    """When the request was complete; None while it is not."""
    first_byte_at: int | None = None
    """When the head of the response arrived."""
    pieces: list[bytes] = field(default_factory=list[bytes])
    """The body of the response so far, decoded."""
    times: list[int] = field(default_factory=list[int])
    """When each of the pieces arrived."""
    frames: list[Frame] = field(default_factory=list[Frame])
    """Messages of a WebSocket session."""
    faults: list[str] = field(default_factory=list[str])
    """What turntape itself failed to do; stored with the round trip."""
    encoding: str | None = None
    """The content encoding that `pieces` were decoded from."""
    extra: dict[str, object] = field(default_factory=dict[str, object])
    """Fields to store with the round trip, such as the mark of a limit."""
    held: bool = False
    """True when a breakpoint may hold the response back."""
    doubt: Callable[[], object] | None = None
    """Set while only the shape of the exchange can decide whether it is recorded; called when it is not."""
    opened: Callable[[str], object] | None = None
    """Called with the URL that the stream of the answer names for the client's messages, when it names one."""
    endless: bool = False
    """True for a stream that only the client ends."""
    most: int | None = None
    """How many bytes of the answer are kept; None for all of them."""
    _kept: int = 0
    """How many bytes of the answer are kept."""
    _decoder: Decoder | None = None
    _encoded: list[bytes] | None = None
    """The pieces as they arrived, kept until it is known that they decode."""

    def now(self) -> int:
        return (time.monotonic_ns() - self.started_ns) // 1000

    def decode_as(self, content_encoding: str) -> None:
        """The response has this `Content-Encoding`. An unknown one is kept as it arrives."""
        name = content_encoding.strip().lower() or None
        self._decoder = decoder(name)
        if self._decoder is not None:
            self.encoding, self._encoded = name, []

    def tee(self, data: bytes) -> bytes:
        """Keep a piece of the response with its time. Returns the piece unchanged, for the client."""
        if data:
            at = self.now()
            if self._decoder is not None:
                self._decode(self._decoder, data, at)
            else:
                self._keep(data, at)
        return data

    def _keep(self, plain: bytes, at: int) -> None:
        self._kept += len(plain)
        if self.most is None or self._kept <= self.most:
            self.pieces.append(plain)
            self.times.append(at)
            return
        fault = f"the answer is longer than {self.most} bytes; what came after them is not kept"
        if fault not in self.faults:
            self.faults.append(fault)

    def _decode(self, decoding: Decoder, data: bytes, at: int) -> None:
        assert self._encoded is not None
        if self.most is None or self._kept <= self.most:
            self._encoded.append(data)
        try:
            plain = decoding.decode(data)
        except Exception as exc:  # noqa: BLE001 - each library has its own errors, and the traffic must continue
            self.faults.append(f"the answer cannot be decoded as {self.encoding}: {exc}; it is stored encoded")
            self.replace(self._encoded, at)
            return
        if plain:
            self._keep(plain, at)

    def replace(self, pieces: Sequence[bytes], at: int | None = None) -> None:
        """Store these pieces as the body, without decoding, as of one moment (now, when none is given)."""
        moment = self.now() if at is None else at
        self.pieces, self.times = list(pieces), [moment] * len(pieces)
        self.encoding = self._decoder = self._encoded = None
