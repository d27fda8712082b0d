"""httprr: the recordings of Go's own tools and of Google's ADK for Go, as the messages of HTTP themselves.

Read of https://github.com/golang/oscar/blob/master/internal/httprr/rr.go (read 2026-11-30): a first line, and for each
round trip a line with the lengths of the request and of the answer, in bytes, and the two. The request names its whole
URL. Headers with keys were removed by the recorder.
"""

from collections.abc import Iterator
from pathlib import Path

from ..tape.model import Headers, Request, Response, RoundTrip
from .documents import number, status_code
from .format import Format, Origin, round_trip
from .messages import Dates, Encodings

NAME = "httprr"
_FIRST = b"httprr trace v1\n"


def sniff(data: bytes) -> bool:
    return data.startswith(_FIRST)


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The round trips of a file, in file order."""
    dates, encodings = Dates(), Encodings()
    at, place = len(_FIRST), 0
    while at < len(data):
        origin = Origin(NAME, path, f"round trip {place}")
        line, _, _ = data[at : at + 64].partition(b"\n")
        start = at + len(line) + 1
        sizes = [number(size, origin, "a length") for size in line.decode("ascii", "replace").split()]
        if len(sizes) != 2 or min(sizes) < 0 or start + sum(sizes) > len(data):
            raise origin.fault("its lengths are not those of the file", "record it again")
        middle, at = start + sizes[0], start + sum(sizes)
        yield _round_trip(data[start:middle], data[middle:at], origin, dates, encodings)
        place += 1


def _round_trip(asked: bytes, answered: bytes, origin: Origin, dates: Dates, encodings: Encodings) -> RoundTrip:
    method, url, version, headers, body = _message(asked, origin)
    http_version, code, reason, answer_headers, answer_body = _message(answered, origin)
    content, encoding, notes = encodings.undone(body, headers)
    answer, answer_encoding, more = encodings.undone(answer_body, answer_headers)
    request = Request(
        method=method.upper(), url=url, headers=headers, content=content, http_version=version, encoding=encoding
    )
    response = Response(
        status=status_code(code, origin),
        reason=reason,
        headers=answer_headers,
        content=answer,
        http_version=http_version,
        encoding=answer_encoding,
    )
    return round_trip(origin, request, response, dates.of(None, answer_headers), (*notes, *more))


def _message(message: bytes, origin: Origin) -> tuple[str, str, str, Headers, bytes]:
    """The three words of the first line, the headers and the body."""
    head, blank, body = message.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    words = [*first.split(" ", 2), ""]
    if not blank or len(words) < 3:
        raise origin.fault(f"{first[:60]!r} is not the first line of an HTTP message", "record it again")
    pairs = [line.partition(":") for line in lines]
    headers = tuple((name.strip(), value.strip()) for name, _, value in pairs if name.strip())
    return words[0], words[1], words[2], headers, body


HTTPRR = Format(NAME, "httprr", sniff, read)
