"""How an exchange ended before it was complete, as the layers of the connection saw it.

The layers know which side closed or broke the protocol; the texts of errors do not. They leave an `Ending` in the
flow's metadata, and the recorder addon reads it there.
"""

import errno
import os
import re
import socket
from typing import Any, Self

from mitmproxy import http

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import FailureKind, Side

_KEY = "turntape-ending"
"""The key in a flow's metadata."""
_INTERIM = "turntape-interim"
_MOST_INTERIM = 100

_OURS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EADDRNOTAVAIL})
"""Errors of this process or this machine: no upstream has caused them."""
_KINDS: dict[int, FailureKind] = {
    **dict.fromkeys(_OURS, "internal"),
    errno.ECONNREFUSED: "refused",
    errno.ENETUNREACH: "refused",
    errno.EHOSTUNREACH: "refused",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNRESET: "refused",
}


_OPENSSL = re.compile(r"OpenSSL Error\(\[.*?'([^']+)'\)\]\)")
_TLS_WORDS = (
    ("cannot agree on a TLS version", "the server speaks no version of TLS from 1.2 on, and older ones are not safe"),
    ("The remote server does not speak TLS", "the server does not speak TLS"),
)
"""Words of mitmproxy's, and the sentence in place of theirs, which names options that turntape does not have."""


_WANTED = "certificate required"
"""What a server says that gets no certificate from its client (RFC 8446, 6.2; read 2026-12-01)."""


def with_remedy(alert: str) -> str:
    """An alert of TLS, with what to do where that is clear."""
    if _WANTED not in alert:
        return alert
    return f"{alert}; the server wants a client certificate: give one with --client-cert"


def plainly(text: str) -> str:
    """What mitmproxy says of a connection that was not made, without what only its own users can use."""
    if said := _OPENSSL.fullmatch(text):
        return f"the TLS handshake failed: {with_remedy(said[1])}"
    return next((plain for words, plain in _TLS_WORDS if words in text), text)


@frozen
class Ending:
    """Who ended an exchange, and how; `kind` is None when only the text of the error can say it."""

    side: Side | None
    """Who closed or broke the protocol; None when the upstream was not reached."""
    kind: FailureKind | None
    text: str | None = None
    """What happened, where mitmproxy's own words name the wrong side."""


class ConnectError(str):
    """The text of an error while connecting upstream, with its kind."""

    __slots__ = ("kind",)
    kind: FailureKind | None

    @classmethod
    def of(cls, text: str, error: BaseException | None) -> Self:
        made = cls(text)
        made.kind = kind_of(error)
        return made


def kind_of(error: BaseException | None) -> FailureKind | None:
    """The kind of failure that an exception of a connection attempt means; None when it does not say it."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if not isinstance(error, OSError):
        return None
    if error.errno in _KINDS:
        return _KINDS[error.errno]
    if _out_of_descriptors():
        return "internal"
    return "dns" if isinstance(error, socket.gaierror) else None


def _out_of_descriptors() -> bool:
    """True when this process cannot open a file: the resolver needs one, and its own error does not say so."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as exc:
        return exc.errno in _OURS
    return False


def note(flow: http.HTTPFlow, ending: Ending) -> None:
    """Keep how the exchange ended. The first call counts: what follows is a consequence of it."""
    flow.metadata.setdefault(_KEY, ending)


def noted(flow: http.HTTPFlow) -> Ending | None:
    """How the exchange ended; None when no layer saw it."""
    return flow.metadata.get(_KEY)


def note_interim(flow: http.HTTPFlow, status: int) -> None:
    """Keep the status of an answer before the answer, such as 103, if it is one of the first."""
    statuses: list[Any] = flow.metadata.setdefault(_INTERIM, [])
    if len(statuses) < _MOST_INTERIM:
        statuses.append(status)


def interim(flow: http.HTTPFlow) -> list[int]:
    """The statuses of the answers that came before the answer."""
    return flow.metadata.get(_INTERIM, [])
