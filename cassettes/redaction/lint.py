"""What in a recorded file still looks like a secret: the redactor's own rules, asked of what is on the disk."""

from collections.abc import Iterator

from ..tape.model import Headers
from ..tape.reader import Cassette
from .redactor import Redactor


def secrets_in(cassette: Cassette, redactor: Redactor | None = None) -> list[str]:
    """Where a secret stands, one clause each and never the secret itself."""
    redactor = redactor or Redactor(salt=cassette.salt)
    return list(_found(cassette, redactor))


def _found(cassette: Cassette, redactor: Redactor) -> Iterator[str]:
    for place, trip in enumerate(cassette):
        request, response = trip.request, trip.response
        if "REDACTED" not in request.url and redactor.url(request.url) != request.url:
            yield f"#{place} request URL"
        for name in _headers(request.headers, redactor, response=False):
            yield f"#{place} request header {name}"
        if _holds(request.body, redactor):
            yield f"#{place} request body"
        if response is None:
            continue
        for name in _headers(response.headers, redactor, response=True):
            yield f"#{place} response header {name}"
        if _holds(response.body, redactor):
            yield f"#{place} response body"


def _holds(body: bytes, redactor: Redactor) -> bool:
    # What is masked already may look like a key to a rule; masked again it stays the same but for its fingerprint.
    return redactor.normalise(redactor.body(body)) != redactor.normalise(body)


def _headers(headers: Headers, redactor: Redactor, *, response: bool) -> Iterator[str]:
    for name, value in headers:
        if "REDACTED" not in value and value and redactor.headers(((name, value),), response) != ((name, value),):
            yield name
