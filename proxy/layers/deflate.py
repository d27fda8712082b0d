"""Compression of WebSocket messages, with any window that a server may choose (RFC 7692, read 2026-11-30).

wsproto raises an exception for a window of 256 bytes and for a size that it cannot read. Here such messages are read,
and sent on without compression, which is always allowed (RFC 7692, 6).
"""

from typing import override

from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import FrameDecoder, FrameProtocol, Opcode, RsvBits
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
        return super().frame_outbound(proto, opcode, rsv, data, fin)


def agreed_on(header: str) -> list[str]:
    """The compressions, with their parameters, that a `Sec-WebSocket-Extensions` header names."""
    named = split_comma_header(header.encode("ascii", "replace"))
    return [one for one in named if one.partition(";")[0].strip().lower() == Deflate.name]
