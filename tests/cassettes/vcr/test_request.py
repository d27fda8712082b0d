"""A request as the functions of a suite get and change it."""

from typing import Any

import pytest

from turntape.cassettes.tape import model
from turntape.cassettes.vcr.request import HeadersDict, Request


def test_header_fields_have_one_value_and_any_case() -> None:
    headers = HeadersDict((("Accept", "a"), ("X-One", "1"), ("accept", "b")))

    assert dict(headers) == {"Accept": "b", "X-One": "1"} and len(headers) == 2
    assert (headers["ACCEPT"], headers.get("none"), "x-one" in headers) == ("b", None, True)
    headers["X-ONE"], headers["new"], headers["bytes"] = ["2", "3"], 4, b"\xe9"
    del headers["accept"]
    headers["none"] = []
    assert headers.fields == (("X-One", "2"), ("new", "4"), ("bytes", "é"), ("none", ""))
    assert repr(headers) == "{'X-One': '2', 'new': '4', 'bytes': 'é', 'none': ''}"


@pytest.mark.parametrize(
    ("given", "kept"), [("é", "é".encode()), (b"x", b"x"), (None, None), (bytearray(b"y"), b"y"), (5, b"5")]
)
def test_a_body_is_bytes(given: Any, kept: bytes | None) -> None:
    assert Request("POST", "http://h/", given).body == kept


def test_the_parts_of_the_uri() -> None:
    one = Request("GET", "https://Host/p/q?b=2&a=1&b=1", None, {"A": "1"})

    assert (one.scheme, one.protocol, one.host, one.port, one.path) == ("https", "https", "host", 443, "/p/q")
    assert one.query == [("a", "1"), ("b", "1"), ("b", "2")] and one.url == one.uri
    assert one.parsed_uri.query == "b=2&a=1&b=1" and dict(one.headers) == {"A": "1"}
    assert repr(one) == "<Request (GET) https://Host/p/q?b=2&a=1&b=1>"
    one.uri = "http://h/"
    assert one.port == 80
    one.uri = "ws://h:9/"
    assert (one.port, one.scheme) == (9, "ws")


def test_what_is_stored_is_what_the_functions_left() -> None:
    before = model.Request("POST", "http://h/", (("A", "1"), ("a", "2")), b"x", "HTTP/2", complete=False)
    asked = Request.of(before)

    assert asked.as_recorded(before) == before  # with both fields of one name
    asked.method, asked.uri, asked.body, asked.headers = "PUT", "http://i/", None, [("B", "3")]
    stored = asked.as_recorded(before)
    assert (stored.method, stored.url, stored.body, stored.headers) == ("PUT", "http://i/", b"", (("B", "3"),))
    assert (stored.http_version, stored.complete) == ("HTTP/2", False)
    assert Request.of(model.Request("GET", "http://h/")).body is None
