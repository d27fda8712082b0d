"""mitmproxy's flows as round trips."""

import gzip
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from turntape.cassettes import Chunk
from turntape.cassettes.tape.model import Failure, Frame
from turntape.proxy.capture.flow_conversion import CONNECT_ERRORS, connect_failure, header_fields, round_trip
from turntape.proxy.capture.pending import PendingRoundTrip

URL = "https://api.openai.com/v1/chat/completions"


def pending(route: str = "base_url") -> PendingRoundTrip:
    one = PendingRoundTrip(URL, 1000.0, 0, "run", route, "openai")
    one.request_at, one.first_byte_at = 1, 2
    return one


def flow(body: bytes | None = b'{"a":1}', **headers: str) -> http.HTTPFlow:
    made = tflow.tflow(req=http.Request.make("POST", "http://elsewhere/", b"", {"X-A": "1"}))
    for name, value in headers.items():
        made.request.headers[name.replace("_", "-")] = value
    made.request.data.content = body
    made.request.data.http_version = b"HTTP/2.0"
    return made


def test_the_request_is_the_clients() -> None:
    trip = round_trip(flow(proxy_authorization="Basic c2VjcmV0"), pending(), None, None)

    request = trip.request
    assert (request.method, request.url, request.body, request.http_version) == ("POST", URL, b'{"a":1}', "HTTP/2.0")
    assert ("X-A", "1") in request.headers
    assert "proxy-authorization" not in {name.lower() for name, _ in request.headers}
    assert (request.encoding, request.complete) == (None, True)
    assert trip.response is None


def test_what_is_known_of_the_round_trip_is_in_it() -> None:
    one = pending()
    one.frames.append(Frame("client", 3, b"x", True))
    one.faults.append("ours")
    one.extra["guard"] = {}
    failure = Failure("cut", "why")

    trip = round_trip(flow(), one, "server", failure)

    assert (trip.run, trip.upstream, trip.started_at) == ("run", "openai", 1000.0)
    assert (trip.request_at, trip.first_byte_at) == (1, 2)
    assert trip.ended_at is not None and trip.ended_at > 2
    assert (trip.closed_first, trip.failure) == ("server", failure)
    assert (trip.frames, trip.faults, trip.extra) == ((Frame("client", 3, b"x", True),), ("ours",), {"guard": {}})
    assert trip.client == "127.0.0.1:22"


@pytest.mark.parametrize(("route", "expected"), [("base_url", "base_url"), ("forward", "forward")])
def test_the_route_is_one_of_two(route: str, expected: str) -> None:
    assert round_trip(flow(), pending(route), None, None).route == expected


def test_a_client_without_an_address_has_none() -> None:
    made: Any = flow()
    made.client_conn.peername = None

    assert round_trip(made, pending(), None, None).client is None


@pytest.mark.parametrize(("body", "request_at", "complete"), [(b"", 1, True), (b"x", None, False), (None, 1, False)])
def test_a_request_is_complete_when_its_end_was_seen_and_its_body_is_there(
    body: bytes | None, request_at: int | None, complete: bool
) -> None:
    one = pending()
    one.request_at = request_at

    trip = round_trip(flow(body), one, None, None)

    assert trip.request.complete is complete
    assert trip.request.body == (body or b"")


def test_an_encoded_request_is_stored_decoded() -> None:
    trip = round_trip(flow(gzip.compress(b"{}"), content_encoding="gzip"), pending(), None, None)

    assert (trip.request.body, trip.request.encoding, trip.faults) == (b"{}", "gzip", ())


def test_a_request_that_cannot_be_decoded_is_stored_encoded_with_a_fault() -> None:
    one = pending()
    one.faults.append("first")

    trip = round_trip(flow(b"no gzip", content_encoding="gzip"), one, None, None)

    assert (trip.request.body, trip.request.encoding) == (b"no gzip", None)
    assert trip.faults[0] == "first" and "gzip" in trip.faults[1]


def test_the_response_has_the_pieces_that_were_kept() -> None:
    made, one = flow(), pending()
    made.response = http.Response.make(201, b"not this", {"X-B": "2"})
    made.response.reason = "Made"
    made.response.data.http_version = b"HTTP/1.0"
    made.response.trailers = http.Headers(((b"x-sum", b"7"),))
    one.body.add(b"ab", 5)
    one.body.add(b"c", 6)
    one.encoding = "gzip"

    response = round_trip(made, one, None, None).response

    assert response is not None
    assert (response.status, response.reason, response.http_version) == (201, "Made", "HTTP/1.0")
    assert (response.body, response.chunks, response.encoding) == (b"abc", (Chunk(2, 5), Chunk(1, 6)), "gzip")
    assert ("X-B", "2") in response.headers and response.trailers == (("x-sum", "7"),)


def test_a_response_without_pieces_has_the_body_that_turntape_made() -> None:
    made = flow()
    made.response = http.Response.make(400, b"refused")

    response = round_trip(made, pending(), None, None).response

    assert response is not None
    assert (response.body, response.chunks, response.trailers) == (b"refused", (), ())


def test_a_streamed_response_of_http_2_without_a_body_is_empty() -> None:
    """HTTP/2 has no reason, and mitmproxy keeps no body of a response that it streams."""
    made = flow()
    made.response = http.Response.make(200)
    made.response.reason = ""
    made.response.data.content = None

    response = round_trip(made, pending(), None, None).response

    assert response is not None
    assert (response.reason, response.body, response.chunks) == ("", b"", ())


def test_header_bytes_that_are_not_utf_8_survive() -> None:
    [(name, value)] = header_fields(http.Headers(((b"X-\xff", b"\xfe"),)))

    assert (name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape")) == (b"X-\xff", b"\xfe")
    assert header_fields(None) == ()


MESSAGES = {
    "refused http connect": "Upstream proxy 127.0.0.1 refused HTTP CONNECT request: 502 Name or service not known",
    "name or service not known": "[Errno -2] Name or service not known",
    "nodename nor servname": "[Errno 8] nodename nor servname provided, or not known",
    "name resolution": "[Errno -3] Temporary failure in name resolution",
    "no address associated": "[Errno -5] No address associated with hostname",
    "getaddrinfo": "[Errno 11001] getaddrinfo failed",
    "certificate": "Certificate verify failed: self-signed",
    "tls": "The remote server does not speak TLS.",
    "ssl": "OpenSSL Error",
    "timed out": "connection timed out",
    "timeout": "Timeout",
    "connect call failed": "[Errno 111] Connect call failed ('127.0.0.1', 9)",
    "connection refused": "[Errno 61] Connection refused",
    "unreachable": "[Errno 101] Network is unreachable",
    "no route to host": "[Errno 113] No route to host",
    "multiple exceptions": "Multiple exceptions: [Errno 1] x, [Errno 2] y",
}


@pytest.mark.parametrize(("words", "kind"), CONNECT_ERRORS)
def test_the_text_of_an_error_says_why_the_upstream_was_not_reached(words: str, kind: str) -> None:
    assert connect_failure(MESSAGES[words]) == kind


EXPECTED = {
    "refused": {"refused http connect", "connect call failed", "connection refused", "unreachable"}
    | {"no route to host", "multiple exceptions"},
    "dns": {"name or service not known", "nodename nor servname", "name resolution", "no address associated"}
    | {"getaddrinfo"},
    "tls": {"certificate", "tls", "ssl"},
    "timeout": {"timed out", "timeout"},
}


def test_each_kind_of_failure_has_its_words() -> None:
    assert {kind: {words for words, found in CONNECT_ERRORS if found == kind} for kind in EXPECTED} == EXPECTED
    assert MESSAGES.keys() == {words for words, _ in CONNECT_ERRORS}


def test_an_upstream_that_closed_was_reached() -> None:
    assert connect_failure("server closed connection") is None
