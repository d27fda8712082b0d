"""The raw request and answer: first line, headers, and the beginning of the body."""

from collections.abc import Iterator

from turntape.cassettes.tape.model import Headers

from ...run.detail import Detail
from ..text.number_format import size
from .markup import Html, span, tag


def raw_bodies(detail: Detail, limit: int) -> Iterator[Html]:
    """Both bodies, of each at most `limit` characters."""
    trip = detail.round_trip
    request, response = trip.request, trip.response
    first = f"{request.method} {request.url} {request.http_version}"
    yield _wire("Raw request", first, request.headers, request.body, limit)
    if response is not None:
        first = f"{response.http_version} {response.status} {response.reason}"
        yield _wire("Raw answer", first, response.headers, response.body, limit)


def _wire(title: str, first: str, headers: Headers, body: bytes, limit: int) -> Html:
    lines = "\n".join([first, *(f"{name}: {value}" for name, value in headers)])
    text = body[: 4 * limit].decode("utf-8", "backslashreplace")[:limit]
    left = len(body) - len(text.encode("utf-8", "replace"))
    cut = tag("p", f"… {size(left)} more in the cassette", class_="dim") if left > 0 else Html("")
    head = [tag("h3", f"{title} "), span("dim", size(len(body)))]
    return tag("details", tag("summary", *head), tag("pre", lines, class_="dim"), tag("pre", text), cut, class_="raw")
