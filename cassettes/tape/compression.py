"""Zstandard, from the standard library since Python 3.14 and from its backport before.

A recording is a series of blocks, at most one per line. It is read block by block, so that everything before a torn
or damaged place is kept, and a torn frame can be ended after its last whole block.
"""

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError
else:
    from backports.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdError

from .bounds import MOST_OF_A_BODY

__all__ = [
    "FRAME_END",
    "MAGIC",
    "CompressionParameter",
    "Decompression",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdError",
    "compressor",
]

MAGIC = b"\x28\xb5\x2f\xfd"
FRAME_END = b"\x01\x00\x00"
"""An empty last block: ends a frame that was left open. Our frames have no checksum to follow it."""
ALWAYS_READ = 32 << 20
"""A recording of so many bytes is read however small it is when it is compressed."""
MOST_TIMES = 1000
"""A larger one must not be so many times larger than the compressed file: a few kilobytes can hold terabytes."""
LONGEST_LINE = 13 * MOST_OF_A_BODY
"""No line is longer: two bodies, each byte as six of JSON, and a reserve for the rest of a round trip."""
MOST_OF_A_FRAME = 8 << 20
"""A recording begins a new frame after this many bytes of text, so that a line is read again without all before it. The
window of our compressor is not larger."""
_BETWEEN_STARTS = 1 << 20
"""The starts of frames that are closer together in the text are not all remembered."""
_SKIPPABLE = b"\x2a\x4d\x18"
_LARGEST_BLOCK = 1 << 17
_RAW, _RLE, _RESERVED = 0, 1, 3


def compressor() -> ZstdCompressor:
    """A compressor for one recording: a window of 8 MB, which plain `zstdcat` reads back."""
    return ZstdCompressor(options={CompressionParameter.compression_level: 3, CompressionParameter.window_log: 23})


class Decompression:
    """The plain bytes of a zstd file that may still be growing, or be torn or damaged, or hold several frames.

    RFC 8878 section 3.1.1 (read 2026-11-21) has the layout that is stepped through here. `bounded` is False for a part
    of a file that was read as a whole before.
    """

    def __init__(self, *, bounded: bool = True) -> None:
        self._bounded = bounded
        self._frame: ZstdDecompressor | None = None
        """None between frames."""
        self._damaged = False
        self.checksum = False
        """True when the frame ends in a checksum."""
        self._taken = self._given = 0
        """How many bytes were decompressed so far, and to how many."""
        self._line = 0
        """How many bytes of the last line were decompressed."""
        self._over = False
        """True when nothing more is decompressed."""
        self._read = self._made = 0
        """How many bytes `feed` has taken and given so far."""
        self.starts: list[tuple[int, int]] = []
        """Where frames begin: in the text, and in the file."""
        self.problems: list[str] = []

    @property
    def inside(self) -> bool:
        """True when a frame has begun and not ended."""
        return self._frame is not None

    def feed(self, data: bytes, final: bool = False, *, most: int | None = None) -> tuple[bytes, int]:
        """The text of the whole blocks at the start of `data`, and how many bytes of `data` they take.

        What cannot be decompressed is noted in `problems`, and reading continues on a new line with the next frame.
        `final` says that nothing follows `data`: a block that does not fit in is damaged or torn. With `most`, no
        block is taken after one with which the text has this many bytes; a block has 128 KB at most.
        """
        out = bytearray()
        at = self._stepped(data, out, final, most)
        self._read += at
        self._made += len(out)
        return bytes(out), at

    def _stepped(self, data: bytes, out: bytearray, final: bool, most: int | None) -> int:
        at = 0
        while at < len(data) and (most is None or len(out) < most):
            if self._over:
                return len(data)
            size = self._block(data, at, out) if self._frame else self._header(data, at, out)
            if size and at + size <= len(data):
                at += size
            elif final and data.find(MAGIC, at + 1) >= 0:
                at += self._resume(data, at, out, "a block is longer than what is left")
            else:
                break
        return at

    def _header(self, data: bytes, at: int, out: bytearray) -> int:
        if len(data) - at < 9 and (MAGIC.startswith(data[at : at + 4]) or data.startswith(MAGIC, at)):
            # Shorter than any header with a first block: more will come, or the file is torn.
            return 0
        if data[at + 1 : at + 4] == _SKIPPABLE and data[at] & 0xF0 == 0x50:
            return 8 + int.from_bytes(data[at + 4 : at + 8], "little") if len(data) - at >= 8 else 0
        if not data.startswith(MAGIC, at):
            return self._resume(data, at, out, "no frame begins there")
        flags = data[at + 4]
        single = flags >> 5 & 1
        size = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + (single, 2, 4, 8)[flags >> 6]
        if at + size > len(data):
            return 0
        self._frame, self._damaged, self.checksum = ZstdDecompressor(), False, bool(flags & 4)
        text = self._made + len(out)
        if not self.starts or text - self.starts[-1][0] >= _BETWEEN_STARTS:
            self.starts.append((text, self._read + at))
        return self._decompress(data, at, size, out)

    def _block(self, data: bytes, at: int, out: bytearray) -> int:
        if len(data) - at < 3:
            return 0
        header = int.from_bytes(data[at : at + 3], "little")
        last, kind, content = header & 1, header >> 1 & 3, header >> 3
        if data.startswith(MAGIC, at):
            # No block begins like this: a frame was left open, or its end is damaged, and another one begins here.
            self._frame = None
            out += b"\n"
            return self._header(data, at, out)
        if kind == _RESERVED or content > _LARGEST_BLOCK:
            return self._resume(data, at, out, "no block begins there")
        size = 3 + (1 if kind == _RLE else content) + (4 if last and self.checksum else 0)
        if at + size > len(data):
            return 0
        if kind == _RAW and data.find(MAGIC, at, at + size) >= 0:
            # Text has no such bytes: the length of the block is damaged and reaches over the next frame.
            return self._resume(data, at, out, "a block goes over the next frame")
        size = self._decompress(data, at, size, out)
        if last:
            self._frame = None
        return size

    def _decompress(self, data: bytes, at: int, size: int, out: bytearray) -> int:
        assert self._frame is not None
        try:
            plain = self._frame.decompress(data[at : at + size])
        except ZstdError as exc:
            return self._resume(data, at, out, str(exc))
        out += plain
        self._taken += size
        self._given += len(plain)
        end = plain.rfind(b"\n")
        self._line = len(plain) - end - 1 if end >= 0 else self._line + len(plain)
        if self._given > ALWAYS_READ and self._given > MOST_TIMES * self._taken:
            self._end(f"the compressed recording grows to more than {MOST_TIMES:,} times its size")
        elif self._line > LONGEST_LINE:
            self._end(f"the compressed recording has a line of more than {LONGEST_LINE >> 20:,} MB")
        return size

    def _end(self, why: str) -> None:
        if self._bounded:
            self._over = True
            after = f"what comes after its first {self._given:,} bytes is not read"
            self.problems.append(f"{why}, as no recording does; {after}")

    def _resume(self, data: bytes, at: int, out: bytearray, problem: str) -> int:
        """How far the next frame is from `at`. Blocks refer to earlier ones, so nothing before it can be read."""
        self._frame = None
        if not self._damaged:
            self.problems.append(f"the compressed recording is damaged: {problem}; what can be read around it is kept")
            out += b"\n"
        self._damaged = True
        following = data.find(MAGIC, at + 1)
        # The last bytes may be the beginning of a frame.
        return (following if following >= 0 else max(len(data) - len(MAGIC) + 1, at)) - at
