"""The kind of a failed connection, from its exception."""

import errno
import socket

import pytest
from mitmproxy.test import tflow

from turntape.cassettes.tape.model import FailureKind
from turntape.proxy.capture.ending import ConnectError, Ending, interim, kind_of, note, note_interim, noted, plainly


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EMFILE, "x"), "internal"),
        (OSError(errno.ENFILE, "x"), "internal"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "internal"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "refused"),
        (OSError(errno.EHOSTUNREACH, "x"), "refused"),
        (TimeoutError(), "timeout"),
        (OSError(errno.ETIMEDOUT, "x"), "timeout"),
        (socket.gaierror(socket.EAI_NONAME, "x"), "dns"),
        (OSError("Multiple exceptions: ..."), None),
        (ValueError("x"), None),
        (None, None),
    ],
)
def test_an_exception_says_the_kind(error: BaseException | None, kind: FailureKind | None) -> None:
    assert kind_of(error) == kind
    assert ConnectError.of("text", error).kind == kind


def test_the_resolver_without_descriptors_is_our_own_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(path: str, flags: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("turntape.proxy.capture.ending.os.open", none)

    assert kind_of(socket.gaierror(socket.EAI_AGAIN, "x")) == "internal"
    assert kind_of(OSError(errno.EBUSY, "x")) == "internal"
    assert kind_of(ConnectionRefusedError(errno.ECONNREFUSED, "x")) == "refused"


def test_the_first_ending_counts() -> None:
    flow = tflow.tflow()
    assert noted(flow) is None

    note(flow, Ending("client", "client_gone"))
    note(flow, Ending("server", "cut"))

    assert noted(flow) == Ending("client", "client_gone")


def test_of_interim_answers_without_end_the_first_are_kept() -> None:
    flow = tflow.tflow()
    for number in range(300):
        note_interim(flow, 100 + number % 4)

    assert interim(flow) == [100, 101, 102, 103] * 25


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("OpenSSL Error([('SSL routines', '', 'tlsv1 alert internal error')])",
         "the TLS handshake failed: tlsv1 alert internal error"),
        ("The remote server does not speak TLS.", "the server does not speak TLS"),
        ("Certificate verify failed: certificate has expired", "Certificate verify failed: certificate has expired"),
        ("connection closed", "connection closed"),
    ],
)  # fmt: skip
def test_what_only_users_of_mitmproxy_can_use_is_not_said(text: str, said: str) -> None:
    assert plainly(text) == said
