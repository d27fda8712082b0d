"""When two requests are equal, by the matchers of vcrpy."""

from typing import Any

import pytest

from turntape.cassettes import TurntapeError
from turntape.cassettes.vcr.matchers import MATCHERS, USUAL, Equal, chosen
from turntape.cassettes.vcr.request import Request

BASE = "https://h:444/v1/p?b=2&a=1"
JSON, FORM = [("Content-Type", "application/json")], [("content-type", "application/x-www-form-urlencoded")]
CHAT = "https://api.openai.com/v1/chat/completions"


def request(uri: str = BASE, method: str = "POST", body: Any = b'{"a": 1, "b": 2}', headers: Any = JSON) -> Request:
    return Request(method, uri, body, headers)


DIFFERENT = {
    "method": [request(method="PUT")],
    "uri": [
        request("https://h:444/v1/p?b=2&a=2"),
        request("https://h:444/v1/q?b=2&a=1"),
        request("https://h:444/v1/p"),
    ],
    "url": [request("http://h:444/v1/p?b=2&a=1"), request("https://i:444/v1/p?b=2&a=1")],
    "scheme": [request("http://h:444/v1/p?b=2&a=1")],
    "host": [request("https://i:444/v1/p?b=2&a=1")],
    "port": [request("https://h/v1/p?b=2&a=1")],
    "path": [request("https://h:444/v1/q?b=2&a=1")],
    "query": [request("https://h:444/v1/p?b=2&a=2"), request("https://h:444/v1/p")],
    "headers": [
        request(headers=[]),
        request(headers=[("content-type", "text/plain")]),
        request(headers=[*JSON, ("x", "y")]),
    ],
    "raw_body": [request(body=b'{"b": 2, "a": 1}'), request(body=None)],
    "body": [request(body=b'{"a": 1, "b": 3}'), request(body=None), request(body=b"{")],
}
EQUAL = {
    "method": request("http://x/"),
    "uri": request("https://h:444/v1/p?a=1&b=2"),
    "url": request("https://h:444/v1/p?a=1&b=2", "GET"),
    "scheme": request("https://x/"),
    "host": request("http://h/"),
    "port": request("http://x:444/"),
    "path": request("http://x/v1/p"),
    "query": request("http://x/?a=1&b=2"),
    "headers": request(headers=[("content-TYPE", "application/json")]),
    "raw_body": request("http://x/", headers=[]),
    "body": request(body=b'{"b":2,"a":1}', headers=[]),
}


@pytest.mark.parametrize("name", MATCHERS)
def test_a_matcher_compares_one_thing(name: str) -> None:
    matcher = MATCHERS[name]

    assert matcher(request(), EQUAL[name])
    assert [bool(matcher(request(), other)) for other in DIFFERENT[name]] == [False] * len(DIFFERENT[name])


def test_the_usual_port_is_a_port() -> None:
    assert MATCHERS["port"](request("https://h/"), request("https://h:443/"))
    assert MATCHERS["port"](request("http://h:80/"), request("http://h/"))


def test_a_form_is_equal_in_another_order() -> None:
    body = MATCHERS["body"]

    assert body(request(body=b"a=1&b=2", headers=FORM), request(body=b"b=2&a=1", headers=FORM))
    assert not body(request(body=b"a=1&b=2", headers=FORM), request(body=b"b=2&a=3", headers=FORM))
    assert not body(request(body=b"a=1&b=2", headers=[]), request(body=b"b=2&a=1", headers=[]))
    assert body(request(body=None), request(body=b""))


def refuses(asked: Request, recorded: Request) -> None:
    assert asked.body == recorded.body


def test_names_and_own_matchers() -> None:
    assert chosen("path", {}) == (MATCHERS["path"],)
    assert chosen(USUAL, {}) == tuple(MATCHERS[name] for name in ("method", "scheme", "host", "port", "path", "query"))
    assert chosen(["mine", "method"], {"mine": refuses, "method": refuses}) == (refuses, refuses)
    with pytest.raises(TurntapeError, match="the matcher 'mine' is not known"):
        chosen(["path", "mine"], {})


@pytest.mark.parametrize(
    ("matchers", "same_body", "equal"),
    [
        ((), False, True),
        ((refuses,), True, False),  # an assertion that fails
        ((MATCHERS["path"],), False, True),
        ((MATCHERS["body"],), False, False),
        ((MATCHERS["body"],), True, True),  # in another spelling
        ((MATCHERS["raw_body"],), True, True),
        ((MATCHERS["headers"],), True, False),
        ((MATCHERS["path"], MATCHERS["headers"]), True, False),
        ((lambda *_: None,), False, True),
        ((lambda *_: 0,), False, False),
    ],
)
def test_all_matchers_must_hold(matchers: Any, same_body: bool, equal: bool) -> None:
    assert Equal(matchers, lambda: same_body)(request(), request(body=b"{}", headers=[])) is equal
