"""The body of an answer that is running: its pieces so far, with the time of each."""

from array import array
from collections.abc import Sequence
from io import BytesIO

from turntape.cassettes.tape.model import Chunk, Lazy

from .spool import STEP, Spool, SpooledBody


class KeptBody:
    """Pieces in the order in which they came. The first ones may be on the disk; `pieces` are those in memory."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.times: list[int] = []
        """When each piece arrived, those on the disk included."""
        self.size = 0
        """How many bytes the body has so far."""
        self.held = 0
        """How many of them are in memory."""
        self._sizes = array("Q")
        """The sizes of the pieces on the disk."""
        self._spooled: SpooledBody | None = None

    def add(self, piece: bytes, at: int) -> None:
        self.pieces.append(piece)
        self.times.append(at)
        self.size += len(piece)
        self.held += len(piece)

    @property
    def is_long(self) -> bool:
        """True when so much is in memory that it may go to the disk."""
        return self.held >= STEP

    def make_room(self, spool: Spool) -> int:
        """Give what is in memory to the disk; returns how many bytes that were."""
        self._spooled = self._spooled or SpooledBody(spool)
        self._sizes.extend(map(len, self.pieces))
        data = b"".join(self.pieces)
        self.pieces.clear()
        self.held = 0
        spool.add(self._spooled, data)
        return len(data)

    def clear(self) -> None:
        """Forget all of it."""
        self.__init__()

    @property
    def content(self) -> Lazy:
        """The body; a function that reads it when a part is on the disk."""
        rest = b"".join(self.pieces)
        return rest if self._spooled is None else StoredBody(self._spooled, rest)

    @property
    def so_far(self) -> Sequence[bytes]:
        """The body in pieces, read from the disk where it is there."""
        return self.pieces if self._spooled is None else [*self._spooled, *self.pieces]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        sizes = (*self._sizes, *map(len, self.pieces))
        return tuple(map(Chunk, sizes, self.times))


class StoredBody:
    """A body that is read when it is called."""

    def __init__(self, first: SpooledBody, rest: bytes) -> None:
        self._first, self._rest = first, rest

    def __len__(self) -> int:
        return self._first.size + len(self._rest)

    @property
    def held(self) -> int:
        """How many bytes of it are in memory."""
        return len(self._rest)

    def __call__(self) -> bytes:
        whole = BytesIO()  # the pieces are not in memory beside the whole, as they would be to be joined
        for piece in self._first:
            whole.write(piece)
        whole.write(self._rest)
        return whole.getvalue()
