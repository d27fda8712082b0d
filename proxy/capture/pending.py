"""A round trip that is still running: what was seen of it so far."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from turntape.cassettes.recording.running_session import RunningSession
from turntape.cassettes.tape.bounds import MOST_OF_A_BODY, NOT_KEPT, PER_PIECE, Memory
from turntape.cassettes.tape.content_encoding import SLICE, Decoder, TooLong, check_growth, cut_within, decoder
from turntape.cassettes.tape.model import Frame

from .kept_body import KeptBody
from .spool import Spool

type HasRoom = Callable[[int, int], bool]
"""Whether so many more bytes of a request may be held, after those that are held already, whose number comes second."""
BEGINNING = "turntape-beginning"
"""The key in a flow's metadata of the beginning of a request that is not held, or of all that is kept so far."""

ROOM = "turntape-room"
"""The key in a flow's metadata of the function that decides this."""

HOLD = "turntape-hold"
"""The key in a flow's metadata of the function that says whether so many more bytes of an open message may be held.
A negative number gives back what was held."""

NEEDS_WHOLE = "turntape-needs-whole"
"""The key in a flow's metadata that is true for a request that is not passed on before it is whole."""


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
    body: KeptBody = field(default_factory=KeptBody)
    """The body of the response so far, decoded."""
    frames: list[Frame] = field(default_factory=list[Frame])
    """Messages of a WebSocket session."""
    session: RunningSession | None = None
    """The WebSocket session on the tape, while it runs."""
    faults: list[str] = field(default_factory=list[str])
    """What turntape itself failed to do; stored with the round trip."""
    encoding: str | None = None
    """The content encoding that `body` was decoded from."""
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
    inflated: Callable[[int], object] = lambda size: None
    """Called with the number of bytes that a piece of the answer has decoded to."""
    stream: bool = False
    """True for an event stream: its decoded beginning is kept when it is too long, and not what was received."""
    most: int = MOST_OF_A_BODY
    """How many bytes of the answer are kept."""
    memory: Memory = field(default_factory=Memory)
    """Shared with the other round trips that are running."""
    spool: Spool | None = None
    """Where the body goes when the memory is scarce; None when it stays there."""
    taken: int = 0
    """How much of the memory this one takes."""
    _held: int = 0
    """How many bytes of the messages of a WebSocket session are kept."""
    _full: bool = False
    """True when the rest of the answer is not kept."""
    _decoder: Decoder | None = None
    _encoded: KeptBody | None = None
    """The body as it arrived, kept until it is known that it decodes."""

    def now(self) -> int:
        return (time.monotonic_ns() - self.started_ns) // 1000

    def decode_as(self, content_encoding: str) -> None:
        """The response has this `Content-Encoding`. An unknown one is kept as it arrives."""
        name = content_encoding.strip().lower() or None
        self._decoder = decoder(name, self.most)
        if self._decoder is not None:
            self.encoding, self._encoded = name, KeptBody()

    def tee(self, data: bytes) -> bytes:
        """Keep a piece of the response with its time. Returns the piece unchanged, for the client."""
        if data and not self._full:
            at = self.now()
            if self._decoder is not None:
                self._decode(self._decoder, data, at)
            else:
                self._keep(data, at)
        return data

    def _keep(self, plain: bytes, at: int) -> None:
        if self.body.size + len(plain) > self.most:
            self._end_here(f"the answer is longer than {self.most:,} bytes")
        elif self._takes(plain):
            self.body.add(plain, at)
            self._make_room(self.body)

    def _make_room(self, body: KeptBody) -> None:
        if body.is_long and self.spool is not None and self.spool.is_due:
            self.taken -= body.make_room(self.spool)

    def settle(self) -> None:
        """No more of the body comes: what is in memory of it goes to the disk too when memory is scarce."""
        self._make_room(self.body)

    def end_encoding(self) -> None:
        """The answer is complete: note it when its encoding is not."""
        if self._decoder is not None and self.encoding is not None and not self._full and not self._decoder.is_whole:
            self.faults.append(cut_within("the answer", self.encoding))

    def has_room(self, more: int, so_far: int) -> bool:
        """Whether the request may be held; if not, its beginning is kept, and the rest is passed on as it comes."""
        if so_far + more > MOST_OF_A_BODY:
            reason = f"the request is longer than {MOST_OF_A_BODY:,} bytes"
        elif self.memory.take(more):
            self.taken += more
            return True
        else:
            reason = self._memory_is_full
        self.faults.append(f"{reason}; of the request, what came after the first {so_far:,} {NOT_KEPT}")
        return False

    def hold(self, more: int) -> bool:
        """Whether so many more bytes of an open WebSocket message may be held; if not, none after it are kept."""
        if more > 0 and not self.memory.take(more):
            self._no_more_frames(self._memory_is_full)
            return False
        if more < 0:
            self.memory.free(-more)
        self.taken += more
        return True

    @property
    def _memory_is_full(self) -> str:
        return f"the bodies that are running take more than {self.memory.most:,} bytes together"

    def add_frame(self, frame: Frame) -> bool:
        """Keep a message of a WebSocket session; False when there is no room, for this one and all after it."""
        size = len(frame.data) + PER_PIECE
        if self._full:
            return False
        if self._held + size > MOST_OF_A_BODY:
            reason = f"the messages of the session take more than {MOST_OF_A_BODY:,} bytes"
        elif self.memory.take(size):
            self.taken += size
            self._held += size
            self.frames.append(frame)
            return True
        else:
            reason = self._memory_is_full
        self._no_more_frames(reason)
        return False

    def _no_more_frames(self, reason: str) -> None:
        if not self._full:
            self.faults.append(f"{reason}; what came after the first {len(self.frames):,} messages {NOT_KEPT}")
        self._full = True

    def _takes(self, piece: bytes) -> bool:
        """True when there is memory for one more piece."""
        size = len(piece) + PER_PIECE
        if not self.memory.take(size):
            self._end_here(self._memory_is_full)
            return False
        self.taken += size
        return True

    def _end_here(self, reason: str) -> None:
        """What comes now is not kept, and nothing after it, so that the record has no gap."""
        self.faults.append(f"{reason}; what came after the first {self.body.size:,} {NOT_KEPT}")
        self._full = True
        self._encoded = None

    def _decode(self, decoding: Decoder, data: bytes, at: int) -> None:
        assert self._encoded is not None
        if not self._takes(data):
            return
        self._encoded.add(data, at)
        self._make_room(self._encoded)
        try:
            plain = b"".join(self._inflate(decoding, data))
        except TooLong as exc:
            if self.stream:
                self._end_here(f"the answer cannot be decoded: {exc}")
            else:
                self._store_encoded(f"the answer is not decoded as {self.encoding}: {exc}; it is stored as received")
        except Exception as exc:  # noqa: BLE001 - each library has its own errors, and the traffic must continue
            self._store_encoded(f"the answer cannot be decoded as {self.encoding}: {exc}; it is stored encoded")
        else:
            self.inflated(len(plain))
            if plain:
                self._keep(plain, at)

    def _inflate(self, decoding: Decoder, data: bytes) -> Iterator[bytes]:
        """A piece of the answer, decoded bit by bit. Raises TooLong when far more comes out than an API sends."""
        assert self._encoded is not None
        size = self.body.size
        for at in range(0, len(data), SLICE):
            plain = decoding.decode(data[at : at + SLICE])
            size += len(plain)
            if not self.stream:
                check_growth(size, self._encoded.size)
            yield plain

    def _store_encoded(self, fault: str) -> None:
        """Store what was received so far, and what follows, without decoding."""
        assert self._encoded is not None
        self.faults.append(fault)
        plain = self.body.held + PER_PIECE * len(self.body.pieces)
        self.memory.free(plain)
        self.taken -= plain
        self.body = self._encoded
        self.encoding = self._decoder = self._encoded = None

    def replace(self, pieces: Sequence[bytes]) -> None:
        """Store these pieces as the body, without decoding, as of now."""
        moment, self.body = self.now(), KeptBody()
        for piece in pieces:
            self.body.add(piece, moment)
        self.encoding = self._decoder = self._encoded = None
