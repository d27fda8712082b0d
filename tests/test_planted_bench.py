"""The bench of secrets sees a secret that is left, whatever it is written as; `make secrets` tries all of them."""

import base64
import gzip
import io
import random
import socket
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed


from bench.planted.__main__ import Progress, parts, table
from bench.planted.kinds import KINDS, Kind
from bench.planted.places import PLACES, damaged, events, percent, pieces, unicode_escapes
from bench.planted.traffic import ROUTES, Planted, upstream
from bench.planted.written import readings
from turntape.cassettes import Redactor

VALUE = "sk-ant-api03-abcDEF123456ghiJKL789012"


def test_there_are_65_kinds_and_37_places() -> None:
    assert (len({kind.name for kind in KINDS}), len(PLACES)) == (65, 37)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_is_masked_where_it_is_said(kind: Kind) -> None:
    value = kind.value(random.Random(kind.name))

    clean = Redactor().body(f"it is {kind.said(value)} .".encode())

    assert not [part for part in parts(kind.name, value) if part in clean]


@pytest.mark.parametrize(
    "written",
    [
        VALUE.encode(),
        unicode_escapes(VALUE).encode(),
        percent(VALUE).encode(),
        VALUE.encode("utf-16"),
        base64.b64encode(b"x" * 12 + VALUE.encode()),
        gzip.compress(VALUE.encode(), mtime=0),
        gzip.compress(gzip.compress(VALUE.encode(), mtime=0), mtime=0),
        damaged(VALUE.encode()),
        events(*({"content": piece} for piece in pieces(VALUE))),
    ],
    ids=("plain", "escapes", "percent", "UTF-16", "base64", "gzip", "gzip twice", "damaged gzip", "events"),
)
def test_a_secret_is_seen_however_it_is_written(written: bytes) -> None:
    assert any(VALUE.encode() in reading for reading in readings(written))


def test_the_table_names_the_kinds_that_are_left() -> None:
    place = next(iter(PLACES))

    line = table({Planted(KINDS[0].name, place, ROUTES[0], "x"): {"a file"}})[0]

    assert "64 of 65" in line and "65 of 65" in line and line.endswith(f"left: {KINDS[0].name}")


@pytest.mark.parametrize(
    "sent",
    [b"", b"POST / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\ncontent-length: 9\r\nx-scripted-fault: 1\r\n\r\n{}"],
    ids=("nothing", "part of a head", "part of a body"),
)
def test_a_client_that_leaves_within_its_request_does_not_stop_the_server(sent: bytes) -> None:
    with upstream({"1": b"HTTP/1.1 200 OK\r\n\r\n"}) as port:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as leaves:
            leaves.sendall(sent)
            leaves.shutdown(socket.SHUT_WR)
            assert leaves.recv(100) == b""
        with socket.create_connection(("127.0.0.1", port), timeout=30) as stays:
            stays.sendall(b"POST / HTTP/1.1\r\ncontent-length: 2\r\nx-scripted-fault: 1\r\n\r\n{}")
            assert stays.recv(100).startswith(b"HTTP/1.1 200")


def test_how_far_a_run_is_is_said_where_there_is_no_terminal() -> None:
    lines = io.StringIO()
    say = Progress(lines)

    say("1 of 2 sent")
    say.end()

    assert lines.getvalue() == "1 of 2 sent\n"
