"""Headers, bodies and dates in the forms of other tools, converted to what went over the wire."""

import json
from email.utils import parsedate_to_datetime
from typing import cast

from ..matching.request_key import header
from ..tape.bounds import MOST_IN_TOTAL, MOST_OF_A_BODY
from ..tape.content_encoding import TooLong, decoder
from ..tape.format import unstamp
from ..tape.model import Headers
from .documents import Fields

REWRITTEN = "bodies were stored as values: their content is kept, the formatting of their JSON is not"
UNDECODED = "a body is kept as it came, since its content-encoding {} cannot be undone here"
TOO_LONG = "a body is kept as it came: without its content-encoding {}"
TOO_LONG_TOGETHER = (
    f"bodies are kept as they came: without their content-encodings the file is longer than {MOST_IN_TOTAL:,} bytes"
)


def header_fields(value: object) -> Headers:
    """Header fields from a mapping of names to a value or a list of values, or from pairs."""
    if isinstance(value, dict):
        pairs = list(cast(Fields, value).items())
    elif isinstance(value, list):
        held = cast(list[object], value)
        lists = [cast(list[object], pair) for pair in held if isinstance(pair, list | tuple)]
        pairs = [(pair[0], pair[1]) for pair in lists if len(pair) == 2]
    else:
        return ()
    return tuple(
        (_spelt(name), _spelt(one))
        for name, held in pairs
        for one in (cast(list[object], held) if isinstance(held, list) else [held])
        if one is not None
    )


def _spelt(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else str(value)


def utf8(text: str) -> bytes:
    """Text as it went over the wire; single surrogates, which some tools keep, are kept."""
    return text.encode("utf-8", "surrogatepass")


def json_bytes(value: object) -> bytes:
    """A JSON value as the common clients write it: no spaces, and no escapes that are not needed."""
    return utf8(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


class Encodings:
    """Undoes the content-encodings of the bodies of one file, which may grow to `MOST_IN_TOTAL` bytes together."""

    def __init__(self) -> None:
        self._left = MOST_IN_TOTAL

    def undone(self, body: bytes, headers: Headers) -> tuple[bytes, str | None, tuple[str, ...]]:
        """A body without the content-encoding of its headers: `(body, encoding undone, notes)`.

        Many recorders store the plain body under the old header; it is recognised and taken as it is.
        """
        encoding = header(headers, "content-encoding").strip().lower()
        if not body or encoding in ("", "identity"):
            return body, None, ()
        plain = body
        most = MOST_OF_A_BODY
        try:
            for name in reversed([part.strip() for part in encoding.split(",")]):
                if _is_text(plain):
                    continue
                most = min(MOST_OF_A_BODY, self._left)
                inner = _decoded(plain, name, most)
                if inner is None:
                    return plain, None, (UNDECODED.format(repr(name)),)
                self._left -= len(inner)
                plain = inner
        except TooLong as exc:
            self._left -= most  # it was decoded up to there, which took its time
            return body, None, (TOO_LONG.format(exc) if most == MOST_OF_A_BODY else TOO_LONG_TOGETHER,)
        return plain, encoding, ()


def _is_text(body: bytes) -> bool:
    try:
        return "\0" not in body.decode()
    except UnicodeDecodeError:
        return False


def _decoded(body: bytes, encoding: str, most: int) -> bytes | None:
    """The decoded body, as far as it goes: a body that was cut on the wire is what the client got.

    None when it is not encoded like this, or its library is not installed. Raises TooLong.
    """
    try:
        stream = decoder(encoding, most)
        return (stream.decode(body) or None) if stream else None
    except TooLong:
        raise
    except Exception:  # noqa: BLE001 - each library raises its own errors
        return None


def iso_date(value: object) -> float | None:
    """An ISO 8601 date (taken as UTC when it names no zone) as seconds since the epoch, or None."""
    if not isinstance(value, str):
        return None
    try:
        return unstamp(value.strip())
    except (ValueError, OverflowError):
        return None


def http_date(value: object) -> float | None:
    """A date as HTTP writes it as seconds since the epoch, or None."""
    try:
        return parsedate_to_datetime(value).timestamp() if isinstance(value, str) and value else None
    except (ValueError, OverflowError):
        return None


class Dates:
    """When each round trip of a file began: by its own time, else by that of its answer, else by the one before."""

    def __init__(self) -> None:
        self._last = 0.0

    def of(self, said: object, answer: Headers) -> float:
        given = (iso_date(said), http_date(said), http_date(header(answer, "date")))
        date = next((one for one in given if one is not None), None)
        if date is not None and date >= 0:
            self._last = date
        return self._last
