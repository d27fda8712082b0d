"""The zstd frames of a compressed recording that is being written, of which the disk may refuse a block."""

from ..tape.compression import FRAME_END, MOST_OF_A_FRAME, compressor


class Frames:
    """After each `block` comes `written`, or `refused` when the file does not have it."""

    def __init__(self) -> None:
        self._compressor = compressor()
        self._text = 0
        """How many bytes of text the file has of the compressor's frame; 0 before its beginning."""
        self._with_block = 0
        """The same when the file has the last block."""
        self._owes_end = False
        """True when a frame must be ended before the next one begins, since the disk refused a block of it."""

    def block(self, text: bytes) -> bytes:
        """This text, with the end of a frame before it that is owed; a frame that is long enough ends."""
        size = self._text + len(text)
        ends = size >= MOST_OF_A_FRAME
        how = self._compressor.FLUSH_FRAME if ends else self._compressor.FLUSH_BLOCK
        self._with_block = 0 if ends else size
        return (FRAME_END if self._owes_end else b"") + self._compressor.compress(text) + self._compressor.flush(how)

    def written(self) -> None:
        """The file has the last block."""
        self._text, self._owes_end = self._with_block, False

    def refused(self) -> None:
        """The file does not have it: from now on the compressor would refer to it, so a new frame is begun."""
        self._owes_end = self._owes_end or self._text > 0
        self._compressor, self._text = compressor(), 0

    def end(self) -> bytes:
        """What ends the last frame."""
        if self._owes_end:
            return FRAME_END
        return self._compressor.flush(self._compressor.FLUSH_FRAME) if self._text else b""
