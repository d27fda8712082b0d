"""Finds what still looks like a secret in a recorded file, by the rules of the redactor.

Every part of a round trip is searched that `Redactor.round_trip` cleans.
"""

from collections.abc import Iterator
from typing import cast

from ..tape.model import Headers, Response, RoundTrip
from ..tape.reader import Cassette
from .redactor import Redactor


def secrets_in(cassette: Cassette, redactor: Redactor | None = None) -> list[str]:
    """The places of secrets, one clause each (`#3 request header x-key`), never the secret itself.

    Without a redactor the default rules apply.
    """
    rules = redactor or Redactor()
    return [f"#{number} {place}" for number, trip in enumerate(cassette) for place in _places(trip, rules)]


def _places(trip: RoundTrip, redactor: Redactor) -> Iterator[str]:
    request = trip.request
    if redactor.url(request.url) != request.url:
        yield "request URL"
    for name in _headers(request.headers, redactor, response=False):
        yield f"request header {name}"
    if _has_secret(request.body, redactor):
        yield "request body"
    if trip.response is not None:
        yield from _in_answer(trip.response, redactor)
    for number, (frame, clean) in enumerate(zip(trip.frames, redactor.frames(trip.frames), strict=True)):
        if _differ(frame.data, clean.data, redactor):
            yield f"WebSocket message {number}"
    if trip.failure is not None and _in_value(trip.failure.message, redactor):
        yield "failure message"
    for number, fault in enumerate(trip.faults):
        if _in_value(fault, redactor):
            yield f"fault {number}"
    for name, value in trip.extra.items():
        if _in_value(value, redactor):
            yield f"field {name}"


def _in_answer(response: Response, redactor: Redactor) -> Iterator[str]:
    if _in_value(response.reason, redactor):
        yield "response reason"
    for name in _headers(response.headers, redactor, response=True):
        yield f"response header {name}"
    if _differ(response.body, redactor.answer(response.body, response.headers), redactor):
        yield "response body"
    for name in _headers(response.trailers, redactor, response=True):
        yield f"response trailer {name}"


def _in_value(value: object, redactor: Redactor) -> bool:
    """True when a text, or a text within a list or an object, has a secret."""
    if isinstance(value, str):
        return _has_secret(value.encode("utf-8", "surrogateescape"), redactor)
    if isinstance(value, dict):
        return any(_in_value(item, redactor) for item in cast(dict[str, object], value).values())
    return isinstance(value, list | tuple) and any(_in_value(item, redactor) for item in cast(list[object], value))


def _has_secret(body: bytes, redactor: Redactor) -> bool:
    return _differ(body, redactor.body(body), redactor)


def _differ(body: bytes, clean: bytes, redactor: Redactor) -> bool:
    # In a recording of an earlier version a mark may still match a rule. Replaced again, only its fingerprint changes.
    return clean != body and redactor.normalise(clean) != redactor.normalise(body)


def _headers(headers: Headers, redactor: Redactor, *, response: bool) -> Iterator[str]:
    for name, value in headers:
        if "REDACTED" not in value and value and redactor.headers(((name, value),), response) != ((name, value),):
            yield name
