"""An upstream whose TLS fails, in the handshake or after it: nobody waits, and the record says why, on both routes."""

import http.client
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from waiting import PATIENCE

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.tape.model import Failure
from turntape.proxy.engine.engine import Engine, running

sys.path.insert(0, str(Path(__file__).parents[2]))
from bench.soak.certificate import certificate, server_context

type Serve = Callable[[socket.socket], None]


def encrypted(change: Callable[[ssl.SSLContext], object], own: Path, over: threading.Event) -> Serve:
    """Serves TLS with a context that is changed first; the connection stays open after an error."""
    context = server_context(own)
    change(context)

    def serve(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False) as tls:
            with suppress(OSError):
                tls.do_handshake()
                tls.recv(1)
            over.wait(PATIENCE)

    return serve


def wants_a_certificate(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_REQUIRED
    context.minimum_version = ssl.TLSVersion.TLSv1_3


def is_old(context: ssl.SSLContext) -> None:
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1


def saying(data: bytes, over: threading.Event) -> Serve:
    def serve(connection: socket.socket) -> None:
        with connection:
            connection.recv(1)
            connection.sendall(data)
            over.wait(PATIENCE)

    return serve


@contextmanager
def upstream(serve: Serve, over: threading.Event) -> Generator[int]:
    """The port of a server; its connections are open until it is over."""
    listening = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
                threads[-1].start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    over.set()
    for one in (thread, *threads):
        one.join()


def ask(client: http.client.HTTPConnection, path: str) -> type[Exception] | None:
    try:
        client.request("POST", path, b'{"model":"m"}', {"content-type": "application/json"})
        client.getresponse().read()
    except (OSError, http.client.HTTPException) as exc:
        return type(exc)
    finally:
        client.close()
    return None


ALERT = b"\x15\x03\x01\x00\x02\x02\x70"
"""Fatal, unrecognized_name (RFC 8446, 6)."""


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize(
    ("kind", "failure", "closed_first"),
    [
        (
            "wants a certificate",
            Failure(
                "cut",
                "TLS ended with an error: tlsv13 alert certificate required; "
                "the server wants a client certificate: give one with --client-cert",
            ),
            "server",
        ),
        (
            "is old",
            Failure("tls", "the server speaks no version of TLS from 1.2 on, and older ones are not safe"),
            None,
        ),
        ("speaks http", Failure("tls", "the server does not speak TLS"), None),
        ("alert", Failure("tls", "the TLS handshake failed: tlsv1 unrecognized name"), None),
    ],
)
def test_an_error_of_tls_ends_the_exchange_and_is_named(
    kind: str, failure: Failure, closed_first: str | None, route: str, tape: Path, confdir: Path, tmp_path: Path
) -> None:
    own = certificate(tmp_path)
    over = threading.Event()
    serve = {
        "wants a certificate": encrypted(wants_a_certificate, own, over),
        "is old": encrypted(is_old, own, over),
        "speaks http": saying(b"HTTP/1.1 400 Bad Request\r\n\r\n", over),
        "alert": saying(ALERT, over),
    }[kind]
    with upstream(serve, over) as port, Recorder(tape) as recorder:
        place = {"*": f"https://localhost:{port}"}
        engine = Engine(recorder, upstreams=place, trusted_ca=own, confdir=confdir)
        with running(engine):
            if route == "base_url":
                plain = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=60)
                error = ask(plain, "/openai/v1/chat/completions")
            else:
                trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
                through = http.client.HTTPSConnection("127.0.0.1", engine.port, timeout=60, context=trust)
                through.set_tunnel("api.openai.com", 443)
                error = ask(through, "/v1/chat/completions")

    assert error is not None and error is not TimeoutError
    [trip] = Cassette.load(tape)
    assert (trip.failure, trip.closed_first, trip.response) == (failure, closed_first, None)
