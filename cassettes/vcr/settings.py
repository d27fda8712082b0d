"""The settings of one use of a cassette, as vcrpy names them."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..frozen import frozen
from ..tape.model import Response, RoundTrip
from .matchers import OF_ADDRESS, Matcher
from .request import Request

type Answer = dict[str, Any]
"""`status` with `code` and `message`, `headers` with lists of values, `body` with `string`."""


@frozen
class Settings:
    """What holds within one `use_cassette`. The functions are those of the suite, in the order in which they run."""

    matchers: tuple[Matcher, ...]
    on_request: tuple[Callable[[Request], Request | None], ...] = ()
    on_answer: tuple[Callable[[Answer], Answer | None], ...] = ()
    ignored_hosts: frozenset[str] = frozenset()
    repeats: bool = False

    @property
    def compares_address(self) -> bool:
        """True when a request to another address is another request."""
        return not OF_ADDRESS.isdisjoint(self.matchers)

    def request(self, request: Request) -> Request | None:
        """The request that is compared and stored; None for one that is neither answered nor recorded."""
        changed: Request | None = copy.deepcopy(request) if self.on_request else request
        for function in self.on_request:
            changed = function(changed) if changed is not None else None
        return changed

    def stored(self, trip: RoundTrip) -> RoundTrip | None:
        """The round trip that is stored in place of this one; None when the suite drops it."""
        asked = self.request(Request.of(trip.request))
        if asked is None:
            return None
        request = asked.as_recorded(trip.request) if self.on_request else trip.request
        response = trip.response
        if response is not None and self.on_answer:
            answer: Answer | None = answer_of(response)
            for function in self.on_answer:
                answer = function(answer) if answer is not None else None
            if answer is None:
                return None
            response = _changed(response, answer)
        if request is trip.request and response is trip.response:
            return trip
        return replace(trip, request=request, response=response)


def answer_of(response: Response | None) -> Answer:
    """A recorded answer with the names of vcrpy's."""
    if response is None:
        return {}
    headers: dict[str, list[str]] = {}
    for name, value in response.headers:
        headers.setdefault(name, []).append(value)
    status = {"code": response.status, "message": response.reason}
    return {"status": status, "headers": headers, "body": {"string": response.body}}


def _changed(response: Response, answer: Answer) -> Response:
    """The answer after the functions of the suite. A body that stays keeps the times of its pieces."""
    if answer == answer_of(response):
        return response
    status: dict[str, Any] = answer.get("status") or {}
    named: dict[str, Any] = answer.get("headers") or {}
    headers = tuple((name, str(one)) for name, value in named.items() for one in _several(value))
    held: dict[str, Any] = answer.get("body") or {}
    string: str | bytes = held.get("string") or b""
    body = string.encode() if isinstance(string, str) else bytes(string)
    chunks = response.chunks if body == response.body else ()
    code, reason = status.get("code", response.status), status.get("message") or ""
    return replace(response, status=code, reason=reason, headers=headers, content=body, chunks=chunks)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]
