"""What is left out of a request before it is compared and stored."""

from typing import Any

import pytest

from turntape.cassettes.vcr import filters
from turntape.cassettes.vcr.request import Request


def said(name: str, value: Any, request: Request) -> str:
    return f"{name}={value} of {request.method}"


NAMED: Any = ["a", ("b", "x"), ("c", None), ("d", said), "absent"]


def test_header_fields() -> None:
    request = Request("GET", "http://h/", None, [("A", "1"), ("B", "2"), ("C", "3"), ("D", "4"), ("E", "5")])

    assert filters.headers(NAMED)(request) is request

    assert dict(request.headers) == {"B": "x", "D": "d=4 of GET", "E": "5"}


def test_the_query() -> None:
    request = Request("GET", "http://h/p?a=1&b=2&c=3&d=4&e=&f=6#here", None)

    assert filters.query(NAMED)(request) is request

    assert request.uri == "http://h/p?b=x&d=d%3D4+of+GET&e=&f=6#here"


def test_a_query_without_these_names_stays_as_it_is_written() -> None:
    request = Request("GET", "http://h/p?f=%7E&e", None)

    filters.query(NAMED)(request)

    assert request.uri == "http://h/p?f=%7E&e"


JSON = [("content-type", "application/json")]


@pytest.mark.parametrize(
    ("method", "headers", "body", "expected"),
    [
        ("POST", JSON, b'{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}', b'{"b": "x", "d": "d=4 of POST", "e": 5}'),
        ("POST", JSON, b'{"e":  5}', b'{"e":  5}'),
        ("POST", JSON, b'{"a": 1', b'{"a": 1'),
        ("POST", JSON, b'["a"]', b'["a"]'),
        ("POST", [], b"a=1&b=2&c=3&d=4&e=", b"b=x&d=d%3D4+of+POST&e="),
        ("POST", [], b"e=%7E", b"e=%7E"),
        ("POST", [], None, None),
        ("PUT", JSON, b'{"a": 1}', b'{"a": 1}'),
    ],
)
def test_the_body_of_a_post(method: str, headers: Any, body: bytes | None, expected: bytes | None) -> None:
    request = Request(method, "http://h/", body, headers)

    assert filters.post_data(NAMED)(request) is request

    assert request.body == expected


def test_hosts() -> None:
    ignored = filters.ignored_hosts(["h", "i"])

    assert [ignored(Request("GET", f"http://{host}:1/", None)) is None for host in ("h", "i", "j")] == [
        True,
        True,
        False,
    ]


def test_the_functions_of_vcrpy_by_their_names() -> None:
    request = Request("POST", "http://h/p?a=1&b=2", '{"a": 1, "b": 2}', {"A": "1", "content-type": "application/json"})

    filters.remove_headers(request, ["a"])
    filters.replace_query_parameters(request, [("a", "x")])
    filters.remove_query_parameters(request, ["b"])
    filters.replace_post_data_parameters(request, [("a", "x")])
    filters.remove_post_data_parameters(request, ["b"])
    filters.replace_headers(request, [("content-type", "text/plain")])

    assert dict(request.headers) == {"content-type": "text/plain"}
    assert (request.uri, request.body) == ("http://h/p?a=x", b'{"a": "x"}')
    assert filters.decode_response(answer := {"body": {"string": b"x"}}) is answer
