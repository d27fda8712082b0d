"""Encrypts what one event sends to a TLS peer in one go: a record for each piece costs more than all the bytes.

mitmproxy encrypts each piece when it is sent. The head, the body and the end of a message over HTTP/2 are three calls
of OpenSSL then, and six reads of its buffer.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import contextlib
import logging
from collections.abc import Generator

from mitmproxy.connection import Connection, ConnectionState
from mitmproxy.proxy.commands import ConnectionCommand, Log, SendData
from mitmproxy.proxy.events import ConnectionClosed, DataReceived
from mitmproxy.proxy.layer import CommandGenerator
from mitmproxy.proxy.layers.tls import TLSLayer
from OpenSSL import SSL

from ..capture.ending import with_remedy
from ..layers.resets import note_reset

_RECORD = 1 << 14
_OVERHEAD = 256
"""More bytes than TLS adds to a record of `_RECORD` bytes (RFC 8446, 5.2)."""


class EncryptedData(SendData):
    """Data for a TLS peer. It is encrypted when somebody needs the bytes, and then sent in the order of encryption."""

    def __init__(self, connection: Connection, tls: SSL.Connection, plain: bytes) -> None:
        ConnectionCommand.__init__(self, connection)
        self.tls = tls
        self.plain = plain

    @property
    def data(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The bytes for the layer or the connection below. Only the first call gives them."""
        plain, self.plain = self.plain, b""
        return encrypted(self.tls, plain)


def encrypted(tls: SSL.Connection, plain: bytes) -> bytes:
    """What has to be sent for `plain`; nothing for a connection that has ended."""
    with contextlib.suppress(SSL.Error):
        tls.sendall(plain)
    return b"".join(_waiting(tls, len(plain) + (len(plain) // _RECORD + 1) * _OVERHEAD))


def _waiting(tls: SSL.Connection, size: int) -> Generator[bytes]:
    """What OpenSSL wants to send, read with `size` bytes at once; a buffer that is not filled is the last."""
    while True:
        try:
            data = tls.bio_read(size)
        except SSL.WantReadError:
            return
        yield data
        if len(data) < size:
            return


def reason(error: SSL.Error) -> str:
    """The last reason that OpenSSL gives, such as `tlsv13 alert certificate required`."""
    given = error.args[0] if error.args else None
    return str(given[-1][-1]) if isinstance(given, list) and given else str(error) or type(error).__name__


def install() -> None:
    """Encrypt late, in all of this process. A second call has no effect."""
    TLSLayer.send_data = _send_data
    TLSLayer.receive_data = _receive_data


def _receive_data(self: TLSLayer, data: bytes) -> CommandGenerator[None]:
    """As mitmproxy's method, 12.2.3, with one copy of the bytes less. An error of TLS ends the connection."""
    if data:
        self.tls.bio_write(data)
    pieces: list[bytes] = []
    is_over = False
    while True:
        try:
            pieces.append(self.tls.recv(_RECORD))
        except SSL.WantReadError:
            break
        except SSL.ZeroReturnError:
            is_over = True
            break
        except SSL.Error as exc:
            # Such as an alert after the handshake: a server that wants a certificate of TLS 1.3 clients sends one.
            # mitmproxy continues, and everybody waits.
            yield Log(f"TLS Error: {exc}", logging.WARNING)
            note_reset(self.conn, f"TLS ended with an error: {with_remedy(reason(exc))}")
            is_over = True
            break
    yield from self.tls_interact()
    if pieces:
        yield from self.event_to_child(DataReceived(self.conn, pieces[0] if len(pieces) == 1 else b"".join(pieces)))
    if is_over:
        self.conn.state &= ~ConnectionState.CAN_READ
        yield from self.event_to_child(ConnectionClosed(self.conn))


def _send_data(self: TLSLayer, data: bytes) -> CommandGenerator[None]:
    yield EncryptedData(self.conn, self.tls, data)
