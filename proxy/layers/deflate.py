"""Compression of WebSocket messages, with any window that a server may choose (RFC 7692, read 2026-11-30).

wsproto raises an exception for a window of 256 bytes and for a size that it cannot read. Here such messages are read,
and sent on without compression, which is always allowed (RFC 7692, 6).

It also forgets, at a ping between the frames of a compressed message, that the message is compressed, and sends what is
in a frame no earlier than the end of its message. Here a message may have other frames in it, and each frame has what
came in it.
"""

import zlib
from typing import override

from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol, Opcode, RsvBits
from wsproto.utilities import split_comma_header

_LEAST, _MOST = 9, 15
"""The windows, as powers of two, that zlib can use to compress."""


class Deflate(PerMessageDeflate):
    """One side of a session that has agreed on compression. `agreed`: the extension with its parameters."""

    def __init__(self, agreed: str) -> None:
        super().__init__()
        self._sends_plain: set[str] = set()
        """The sides whose window we cannot use to compress."""
        self.finalize(agreed)

    @override
    def finalize(self, offer: str) -> None:
        flags: list[str] = []
        for part in offer.split(";"):
            name, _, value = (piece.strip().lower() for piece in part.partition("="))
            side, _, what = name.partition("_")
            if what != "max_window_bits":
                flags.append(name)
            elif value.strip('"') in map(str, range(_LEAST, _MOST + 1)):
                flags.append(f"{name}={value.strip('"')}")
            else:
                self._sends_plain.add(side)
        super().finalize(";".join(flags))

    @override
    def frame_outbound(
        self, proto: FrameDecoder | FrameProtocol, opcode: Opcode, rsv: RsvBits, data: bytes, fin: bool
    ) -> tuple[RsvBits, bytes]:
        if ("client" if proto.client else "server") in self._sends_plain:
            return rsv, data
        rsv, data = super().frame_outbound(proto, opcode, rsv, data, fin)
        if not fin and self._compressor is not None:
            data += self._compressor.flush(zlib.Z_SYNC_FLUSH)
        return rsv, data

    @override
    def frame_inbound_header(
        self, proto: FrameDecoder | FrameProtocol, opcode: Opcode, rsv: RsvBits, payload_length: int
    ) -> CloseReason | RsvBits:
        is_compressed = self._inbound_compressed
        answer = super().frame_inbound_header(proto, opcode, rsv, payload_length)
        if opcode.iscontrol():
            self._inbound_compressed = is_compressed
        return answer

    @override
    def frame_inbound_complete(self, proto: FrameDecoder | FrameProtocol, fin: bool) -> bytes | CloseReason | None:
        return super().frame_inbound_complete(proto, fin) if self._inbound_is_compressible else None


def agreed_on(header: str) -> list[str]:
    """The compressions, with their parameters, that a `Sec-WebSocket-Extensions` header names."""
    named = split_comma_header(header.encode("ascii", "replace"))
    return [one for one in named if one.partition(";")[0].strip().lower() == Deflate.name]
