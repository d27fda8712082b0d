"""HTTP/1 out of bytes, however they were cut."""

import pytest

from turntape.proxy.prove.messages import Message, requests, responses

POST = b"POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;e=1\r\nc\r\n0\r\nX-T: 1\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_requests_are_reported_apart_on_one_connection(size: int) -> None:
    data = POST + b"GET /y HTTP/1.1\r\nhost: a\r\n\r\n" + POST
    pieces = [data[i : i + size] for i in range(0, len(data), size)]

    one, two, three = requests(pieces)

    assert one == Message("POST /v1/x HTTP/1.1", (("Host", "a"), ("Content-Length", "3")), b"abc", (), (), 0)
    assert (two.method, two.target, two.body, three.body) == ("GET", "/y", b"", b"abc")
    assert two.at == len(POST) // size


def test_chunks_are_kept_as_they_were_cut() -> None:
    [answer] = responses([CHUNKED], ["POST"])

    assert (answer.status, answer.body, answer.chunks, answer.trailers) == (200, b"abc", (2, 1), (("X-T", "1"),))
    assert answer.whole


@pytest.mark.parametrize("cut", range(60, len(CHUNKED) - 1))
def test_an_answer_that_ends_early_is_not_whole(cut: int) -> None:
    [answer] = responses([CHUNKED[:cut]], ["POST"])

    assert not answer.whole
    assert b"abc".startswith(answer.body)


def test_answers_without_a_body_and_interim_ones_are_known() -> None:
    data = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    data += b"HTTP/1.1 200 OK\r\n\r\nto the end"

    none, head, last = responses([data], ["POST", "HEAD", "GET"])

    assert (none.status, head.body, last.body) == (204, b"", b"to the end")
