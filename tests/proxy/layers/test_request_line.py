"""The first line of a request is read as it came, in each of its forms."""

# pyright: reportPrivateUsage=false

import pytest
from mitmproxy.net.http.http1 import read

from turntape.proxy.layers.request_line import read_request_line

THEIRS = read._read_request_line
"""mitmproxy's own function, which reads these in the same way."""


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1",
        b"OPTIONS * HTTP/1.1",
        b"GET //a;b?c=/d#e HTTP/1.0",
        b"GET /caf\xe9 HTTP/1.1",
        b"CONNECT api.openai.com:443 HTTP/1.1",
        b"CONNECT [::1]:443 HTTP/1.1",
        b"POST http://h/a?b=c HTTP/1.1",
        b"POST HTTPS://h.:8443//a/../b? HTTP/1.1",
        b"POST http://[::ffff:127.0.0.1]:80/a HTTP/1.1",
        b"GET http://h HTTP/1.1",
    ],
)
def test_what_mitmproxy_reads_is_read_in_the_same_way(line: bytes) -> None:
    assert read_request_line(line) == THEIRS(line)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("GET http://h/café?q=é HTTP/1.1".encode(), ("h", 80, "/café?q=é".encode())),
        (b"GET http://h/caf\xe9 HTTP/1.1", ("h", 80, b"/caf\xe9")),
        (b"GET http://h:81?q=1 HTTP/1.1", ("h", 81, b"/?q=1")),
    ],
)
def test_an_absolute_url_is_kept_byte_by_byte(line: bytes, parts: tuple[str, int, bytes]) -> None:
    found = read_request_line(line)

    assert (found[0], found[1], found[5]) == parts


@pytest.mark.parametrize(
    "line",
    [
        b"GET",
        b"GET /a b HTTP/1.1",
        b"GET / HTTP/11",
        b"GET / HTTP/0.9",
        b"GET / HTTP/2.0",
        b"PRI * HTTP/2.0",
        b"GET a HTTP/1.1",
        b"GET http:///a HTTP/1.1",
        b"GET http://h:99999/ HTTP/1.1",
        b"GET http://u:p@h/ HTTP/1.1",
        b"GET ftp://h/ HTTP/1.1",
        b"GET /a\0b HTTP/1.1",
        b"GET http://h/a\0 HTTP/1.1",
        b"CONNECT api.openai.com HTTP/1.1",
        b"CONNECT api.openai.com:0 HTTP/1.1",
        b"CONNECT api.openai.com:99999 HTTP/1.1",
        b"\xff\x00\r",
        b"GET /" + b"a" * 1000,
    ],
)
def test_a_line_that_cannot_be_read_is_named_in_a_sentence(line: bytes) -> None:
    with pytest.raises(ValueError, match="the first line of the request cannot be read: '") as raised:
        read_request_line(line)

    assert ("HOST:PORT" in str(raised.value)) is line.startswith(b"CONNECT")
    assert "b'" not in str(raised.value) and len(str(raised.value)) < 400
