"""Where the parts of a message of HTTP/1 end, also of odd ones that clients read."""

from typing import Any

import h11
import pytest
from h11._readers import ChunkedReader
from h11._receivebuffer import ReceiveBuffer
from mitmproxy import http
from mitmproxy.proxy.layers.http._events import RequestHeaders
from mitmproxy.test.tutils import treq, tresp

from turntape.proxy.layers.framing import TrailerReader, body_size, has_chunks, is_chunked, odd_value, with_an_end


def answer(status: int = 200, **fields: str) -> http.Response:
    headers = http.Headers([(name.replace("_", "-").encode(), value.encode()) for name, value in fields.items()])
    return tresp(status_code=status, headers=headers)


@pytest.mark.parametrize("value", [b"a\r\n b", b"a\nb", b"a\rb", b"a\0b"])
def test_a_value_that_some_servers_split_is_named(value: bytes) -> None:
    request = treq(headers=http.Headers([(b"fine", b"1"), (b"x-odd\xff", value)]))

    said = odd_value(request)
    assert said is not None and said.startswith(r"the field 'x-odd\\xff' has a line break, a CR or a NUL in its value")


def test_values_of_one_line_are_fine() -> None:
    assert odd_value(treq(headers=http.Headers([(b"a", b"b\tc"), (b"d", b"\xff"), (b"e", b"")]))) is None


@pytest.mark.parametrize(
    ("coding", "chunked"),
    [
        ("chunked", True), ("gzip, Chunked", True), ("chunked;q=1", True), ("gzip , chunked ;a", True), ("", False),
        ("chunked, gzip", False), ("identity", False), ("xchunked", False),
    ],
)  # fmt: skip
def test_a_body_is_in_chunks_where_the_last_coding_says_so(coding: str, chunked: bool) -> None:
    one = answer(transfer_encoding=coding)

    assert (is_chunked(one), has_chunks(one)) == (chunked, chunked)
    for status in (204, 304):
        assert not has_chunks(answer(status, transfer_encoding=coding))
    assert has_chunks(answer(205, transfer_encoding=coding)) is chunked


@pytest.mark.parametrize(
    ("fields", "size"),
    [
        ({"content_length": "12"}, 12),
        ({"content_length": "12, 12"}, 12),
        ({"content_length": "012,12 , 0012"}, 12),
        ({"content_length": "0"}, 0),
        ({"transfer_encoding": "chunked"}, None),
        ({"transfer_encoding": "odd, chunked;a=1"}, None),
        ({"transfer_encoding": "odd"}, -1),
        ({"content_length": ""}, -1),
        ({}, -1),
    ],
)
def test_the_size_of_a_body_is_what_clients_read(fields: dict[str, Any], size: int | None) -> None:
    assert body_size(treq(), answer(**fields)) == size


@pytest.mark.parametrize("length", ["12, 13", "1x", "-1", "12,", "٣"])
def test_a_length_that_has_no_one_meaning_is_an_error(length: str) -> None:
    with pytest.raises(ValueError):
        body_size(treq(), answer(content_length=length))


def read(data: bytes) -> tuple[bytes, TrailerReader, object]:
    """The body of chunks, its reader, and what comes at its end."""
    reader, buffer, body = TrailerReader(ChunkedReader()), ReceiveBuffer(), b""
    buffer += data
    while isinstance(event := reader(buffer), h11.Data):
        body += bytes(event.data)
    return body, reader, event


def test_trailers_are_kept_apart_and_taken_once() -> None:
    body, reader, end = read(b"3\r\nabc\r\n002\r\nde\r\n0\r\nX-Sum: 7\r\nother: a\r\n\r\n")

    assert body == b"abcde" and isinstance(end, h11.EndOfMessage) and not list(end.headers)
    assert reader.take() == [(b"X-Sum", b"7"), (b"other", b"a")]
    assert reader.take() == []


def test_a_body_without_trailers_has_none_and_one_that_is_cut_is_an_error() -> None:
    body, reader, end = read(b"3\r\nabc\r\n0\r\n\r\n")
    assert (body, reader.take()) == (b"abc", []) and isinstance(end, h11.EndOfMessage)

    body, reader, end = read(b"3\r\nab")
    assert (body, end) == (b"ab", None)
    with pytest.raises(h11.RemoteProtocolError):
        reader.read_eof()


def test_the_size_of_a_chunk_may_begin_with_many_zeros() -> None:
    assert read(b"0" * 30 + b"3\r\nabc\r\n0\r\n\r\n")[0] == b"abc"


@pytest.mark.parametrize(
    ("content", "trailers", "field"),
    [
        (b"abc", None, ("content-length", "3")),
        (b"", None, ("content-length", "0")),
        (None, None, ("transfer-encoding", "chunked")),
        (b"abc", http.Headers([(b"x", b"1")]), ("transfer-encoding", "chunked")),
    ],
)
def test_a_request_of_http2_gets_an_end_for_a_server_of_http1(
    content: bytes | None, trailers: http.Headers | None, field: tuple[str, str]
) -> None:
    request = treq(http_version=b"HTTP/2.0", headers=http.Headers(), content=content, trailers=trailers)
    found = with_an_end(RequestHeaders(3, request, end_stream=False))

    assert list(found.request.headers.items()) == [field] and not list(request.headers.items())
    assert (found.stream_id, found.end_stream) == (3, False)


def test_a_request_that_has_an_end_stays_as_it_is() -> None:
    for version, headers in ((b"HTTP/1.1", http.Headers()), (b"HTTP/2.0", http.Headers([(b"content-length", b"3")]))):
        event = RequestHeaders(1, treq(http_version=version, headers=headers, content=b"abc"), end_stream=True)
        assert with_an_end(event) is event
