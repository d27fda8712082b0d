"""The text of a compressed recording, a part at a time: the whole of it may take many times the memory of the file."""

from bisect import bisect_right
from typing import BinaryIO

from ..frozen import frozen
from .compression import MOST_OF_A_FRAME, Decompression

STEP = 1 << 20
"""About how many bytes are decompressed at a time."""
FARTHEST = 4 * MOST_OF_A_FRAME
"""A part that begins later in its frame is not read again, since all before it would be decompressed each time."""
MOST_KEPT = 2 * MOST_OF_A_FRAME
"""The text of the last frame is kept up to this length: the next part is most likely in it too."""


@frozen
class Spot:
    """Where a part of the text begins: `ahead` bytes of text after a frame that begins at `frame` in the file."""

    frame: int
    ahead: int


def spot_of(stream: Decompression, at: int) -> Spot | None:
    """Where the text of `stream` has its byte `at`; None when no frame begins shortly before it."""
    place = bisect_right(stream.starts, at, key=lambda start: start[0]) - 1
    if place < 0:
        return None
    text, frame = stream.starts[place]
    return Spot(frame, at - text) if at - text <= FARTHEST else None


class OpenLine:
    """Divides text into lines; a line may come in many pieces, which are joined once."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def __bool__(self) -> bool:
        """True when the last line has not ended."""
        return bool(self._pieces)

    def lines(self, text: bytes) -> list[bytes]:
        """The lines that end in `text`, without their line breaks."""
        *whole, rest = text.split(b"\n")
        if whole and self._pieces:
            whole[0] = b"".join((*self._pieces, whole[0]))
            self._pieces.clear()
        if rest:
            self._pieces.append(rest)
        return whole

    def take(self) -> bytes:
        """What there is of the last line."""
        rest = b"".join(self._pieces)
        self._pieces.clear()
        return rest


class PackedLines:
    """The lines of a compressed file that does not grow. What is damaged is noted in `problems`."""

    def __init__(self, file: BinaryIO, problems: list[str]) -> None:
        self._file, self._problems = file, problems
        self._stream = Decompression()
        self._data = b""
        self._open = OpenLine()
        self._lines: list[bytes] = []
        """Those that are decompressed, the next one last."""
        self._next = 0
        """Where the next line begins in the text."""
        self._ended = False

    def readline(self) -> bytes:
        """The next line; without a line break when the text ends in it, and empty after that."""
        while not self._lines and not self._ended:
            self._more()
        line = self._lines.pop() + b"\n" if self._lines else self._open.take()
        self._next += len(line)
        return line

    @property
    def spot(self) -> Spot | None:
        """Where the next line begins."""
        return spot_of(self._stream, self._next)

    def _more(self) -> None:
        needed, is_end = STEP, False
        while True:
            if len(self._data) < needed:
                block = self._file.read(needed)
                self._data += block
                is_end = not block
            text, taken = self._stream.feed(self._data, final=is_end, most=STEP)
            if text or taken or is_end:
                break
            needed = 2 * max(needed, len(self._data))
        self._problems += self._stream.problems
        self._stream.problems.clear()
        self._data = self._data[taken:]
        self._lines = self._open.lines(text)[::-1]
        if not text and not taken:
            self._ended = True
            if self._data and not self._problems:
                self._problems.append("the compressed recording ends in the middle of a block; it was cut there")


class PackedText:
    """Gives parts of the text of a compressed file again."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frame = -1
        self._kept = b""
        """The beginning of the text from the frame that was read last."""

    def part(self, at: Spot, size: int) -> bytes:
        """So many bytes of the text; fewer when the file has become shorter. Raises OSError."""
        end = at.ahead + size
        if at.frame == self._frame and end <= len(self._kept):
            return self._kept[at.ahead : end]
        keeps = end <= MOST_KEPT
        text = self._read(at.frame, 0 if keeps else at.ahead, MOST_KEPT if keeps else end)
        if not keeps:
            return text
        self._frame, self._kept = at.frame, text
        return text[at.ahead : end]

    def _read(self, frame: int, start: int, stop: int) -> bytes:
        """The text from a frame on, between two places in it."""
        stream, data, done = Decompression(bounded=False), b"", 0
        pieces: list[bytes] = []
        self._file.seek(frame)
        while done < stop:
            block = self._file.read(STEP)
            data += block
            text, taken = stream.feed(data, final=not block, most=STEP)
            data = data[taken:]
            if not text and not taken and not block:
                break
            piece = text[max(start - done, 0) : stop - done]
            if piece:
                pieces.append(piece)
            done += len(text)
        return b"".join(pieces)
