"""What a TLS connection is sent in one event is encrypted together, in order, and comes out as it went in."""

# pyOpenSSL and mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false

import contextlib
from collections.abc import Callable
from typing import Any, cast

import pytest
from mitmproxy import certs
from mitmproxy.proxy.commands import SendData
from mitmproxy.test import tflow
from OpenSSL import SSL, crypto

from turntape.proxy.engine.joined_writes import JoinedWrites
from turntape.proxy.engine.late_encryption import EncryptedData, encrypted

RECORD = b"\x17\x03\x03"
"""How a record with data begins (RFC 8446, 5.1)."""


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> SSL.Context:
    store = certs.CertStore.from_store(tmp_path_factory.mktemp("authority"), "test", 2048)
    entry = store.get_cert("a.example", [])
    context = SSL.Context(SSL.TLS_METHOD)
    context.use_certificate(crypto.X509.from_cryptography(entry.cert.to_cryptography()))
    context.use_privatekey(crypto.PKey.from_cryptography_key(entry.privatekey))
    return context


type Pair = tuple[SSL.Connection, SSL.Connection]


def handshaken(context: SSL.Context) -> Pair:
    """Our side and the peer's, after their handshake."""
    ours, peer = SSL.Connection(context), SSL.Connection(SSL.Context(SSL.TLS_METHOD))
    ours.set_accept_state()
    peer.set_connect_state()
    for _ in range(4):
        for one, other in ((peer, ours), (ours, peer)):
            with contextlib.suppress(SSL.WantReadError):
                one.do_handshake()
            with contextlib.suppress(SSL.WantReadError):
                other.bio_write(one.bio_read(1 << 16))
    return ours, peer


@pytest.fixture
def pair(context: SSL.Context) -> Pair:
    return handshaken(context)


def read(peer: SSL.Connection, data: bytes) -> bytes:
    peer.bio_write(data)
    plain = bytearray()
    with contextlib.suppress(SSL.WantReadError):
        while True:
            plain += peer.recv(1 << 16)
    return bytes(plain)


class Writer:
    """A stream writer that keeps what is written."""

    def __init__(self) -> None:
        self.done: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def is_closing(self) -> bool:
        return False


def written(use: Callable[[JoinedWrites], object]) -> list[bytes]:
    writer = Writer()
    waiting: list[object] = []
    one = JoinedWrites(cast(Any, writer), tflow.tclient_conn(), waiting.append)
    use(one)
    assert waiting or writer.done, "nobody would flush it"
    one.flush()
    return writer.done


@pytest.mark.parametrize("size", [0, 1, 100, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 1 << 18, 3_000_000])
def test_all_of_it_comes_out(pair: Pair, size: int) -> None:
    ours, peer = pair
    plain = bytes(range(256)) * (size // 256) + b"x" * (size % 256)

    assert read(peer, encrypted(ours, plain)) == plain if plain else encrypted(ours, plain) == b""


def test_pieces_of_one_event_are_one_record(pair: Pair) -> None:
    ours, peer = pair

    [sent] = written(lambda one: [one.encrypt(ours, piece) for piece in (b"head", b"body", b"end")])

    assert sent.count(RECORD) == 1
    assert read(peer, sent) == b"headbodyend"


def test_what_openssl_sends_on_its_own_goes_out_in_the_order_of_encryption(
    pair: Pair,
) -> None:
    ours, peer = pair
    before = encrypted(ours, b"first")

    def use(one: JoinedWrites) -> None:
        one.encrypt(ours, b"last")
        one.write(before)

    assert read(peer, b"".join(written(use))) == b"firstlast"


def test_a_long_piece_is_not_copied_and_keeps_its_place(pair: Pair) -> None:
    ours, peer = pair
    plain = [b"a", b"b" * (1 << 17), b"c"]

    done = written(lambda one: [one.encrypt(ours, piece) for piece in plain])

    assert len(done) == 3
    assert read(peer, b"".join(done)) == b"".join(plain)


def test_two_connections_over_one_another_keep_their_order(context: SSL.Context) -> None:
    """What comes for another TLS connection is encrypted after all that came before it."""
    ours, peer = handshaken(context)
    inner, inner_peer = handshaken(context)

    def use(one: JoinedWrites) -> None:
        one.encrypt(ours, b"a")
        one.encrypt(inner, b"b")
        one.encrypt(ours, b"c")

    done = b"".join(written(use))

    parts = [RECORD + part for part in done.split(RECORD)[1:]]
    assert [read(peer, parts[0]), read(inner_peer, parts[1]), read(peer, parts[2])] == [b"a", b"b", b"c"]


def test_a_layer_below_gets_the_encrypted_bytes(pair: Pair) -> None:
    ours, peer = pair
    command: SendData = EncryptedData(tflow.tclient_conn(), ours, b"secret")

    data = command.data

    assert b"secret" not in data
    assert read(peer, data) == b"secret"
    assert command.data == b"", "it would be sent twice"


def test_a_connection_that_has_ended_sends_nothing(pair: Pair) -> None:
    ours, peer = pair
    peer.shutdown()
    ours.bio_write(peer.bio_read(1 << 16))
    with contextlib.suppress(SSL.ZeroReturnError):
        ours.recv(1)
    ours.shutdown()
    ours.bio_read(1 << 16)

    assert encrypted(ours, b"late") == b""
