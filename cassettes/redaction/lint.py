"""Finds what still looks like a secret in a recorded file, by the rules of the redactor."""

from collections.abc import Iterator

from ..tape.model import Headers
from ..tape.reader import Cassette
from .redactor import Redactor


def secrets_in(cassette: Cassette, redactor: Redactor | None = None) -> list[str]:
    """The places of secrets, one clause each (`#3 request header x-key`), never the secret itself.

    Without a redactor the default rules apply.
    """
    return list(_found(cassette, redactor or Redactor()))


def _found(cassette: Cassette, redactor: Redactor) -> Iterator[str]:
    for place, trip in enumerate(cassette):
        request, response = trip.request, trip.response
        if "REDACTED" not in request.url and redactor.url(request.url) != request.url:
            yield f"#{place} request URL"
        for name in _headers(request.headers, redactor, response=False):
            yield f"#{place} request header {name}"
        if _has_secret(request.body, redactor):
            yield f"#{place} request body"
        if response is None:
            continue
        for name in _headers(response.headers, redactor, response=True):
            yield f"#{place} response header {name}"
        if _has_secret(response.body, redactor):
            yield f"#{place} response body"


def _has_secret(body: bytes, redactor: Redactor) -> bool:
    # A masked key may still match a rule. Masked again, only its fingerprint changes.
    return redactor.normalise(redactor.body(body)) != redactor.normalise(body)


def _headers(headers: Headers, redactor: Redactor, *, response: bool) -> Iterator[str]:
    for name, value in headers:
        if "REDACTED" not in value and value and redactor.headers(((name, value),), response) != ((name, value),):
            yield name
