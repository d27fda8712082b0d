"""When a request is the recorded one: the matchers of vcrpy by name.

A matcher gets the request and the recorded one. It returns a bool, or nothing and raises AssertionError. An endpoint of
an API counts as equal whatever its base URL, and a body also in another spelling (`Equal`).
"""

import json
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from urllib.parse import parse_qs

from ..errors import TurntapeError
from ..frozen import frozen
from ..matching.request_key import path_key
from .request import Request

type Matcher = Callable[[Request, Request], object]


def _endpoint(request: Request) -> str:
    return path_key(request.uri)


def method(asked: Request, recorded: Request) -> bool:
    return asked.method == recorded.method


def scheme(asked: Request, recorded: Request) -> bool:
    return asked.scheme == recorded.scheme


def host(asked: Request, recorded: Request) -> bool:
    return asked.host == recorded.host


def port(asked: Request, recorded: Request) -> bool:
    return asked.port == recorded.port


def path(asked: Request, recorded: Request) -> bool:
    return asked.path == recorded.path


def query(asked: Request, recorded: Request) -> bool:
    return asked.query == recorded.query or _endpoint(asked) == _endpoint(recorded)


def uri(asked: Request, recorded: Request) -> bool:
    return asked.uri == recorded.uri or (
        (asked.scheme, asked.host, asked.port, asked.path)
        == (recorded.scheme, recorded.host, recorded.port, recorded.path)
        and query(asked, recorded)
    )


def headers(asked: Request, recorded: Request) -> bool:
    return {name.lower(): value for name, value in asked.headers.items()} == {
        name.lower(): value for name, value in recorded.headers.items()
    }


def raw_body(asked: Request, recorded: Request) -> bool:
    return (asked.body or b"") == (recorded.body or b"")


def body(asked: Request, recorded: Request) -> bool:
    return raw_body(asked, recorded) or _read(asked) == _read(recorded)


def _read(request: Request) -> object:
    """The body as what its content-type says; the bytes where it is not that."""
    kind, held = request.headers.get("content-type", "").lower(), request.body or b""
    try:
        if "json" in kind or held[:1] in (b"{", b"["):
            return json.loads(held)
        return parse_qs(held.decode()) if "x-www-form-urlencoded" in kind else held
    except ValueError:
        return held


MATCHERS: Mapping[str, Matcher] = MappingProxyType(
    {
        "method": method,
        "uri": uri,
        "url": uri,
        "scheme": scheme,
        "host": host,
        "port": port,
        "path": path,
        "query": query,
        "headers": headers,
        "raw_body": raw_body,
        "body": body,
    }
)
USUAL = ("method", "scheme", "host", "port", "path", "query")
"""What vcrpy compares by default."""
_WITH_BODY = (raw_body, body)
OF_ADDRESS = frozenset({uri, host, port})
"""The matchers that compare where a request goes."""


def chosen(names: Iterable[str], own: Mapping[str, Matcher]) -> tuple[Matcher, ...]:
    """The matchers with these names. Raises TurntapeError for a name that is not known."""
    known = {**MATCHERS, **own}
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in known:
            raise TurntapeError(f"the matcher {name!r} is not known; give it with register_matcher({name!r}, …)")
    return tuple(known[name] for name in names)


@frozen
class Equal:
    """Whether all matchers hold for a request and a recorded one."""

    matchers: tuple[Matcher, ...]
    same_body: Callable[[], bool]
    """Whether the two bodies are equal for the API, in whatever spelling."""

    def __call__(self, asked: Request, recorded: Request) -> bool:
        return all(self._holds(one, asked, recorded) for one in self.matchers)

    def _holds(self, matcher: Matcher, asked: Request, recorded: Request) -> bool:
        try:
            said = matcher(asked, recorded)
        except AssertionError:
            return False
        return said is None or bool(said) or (matcher in _WITH_BODY and self.same_body())
