"""Headers, bodies and dates in the forms of other tools, converted to what went over the wire."""

import json
import zlib
from email.utils import parsedate_to_datetime
from importlib import import_module
from typing import cast

from ..matching.request_key import header
from ..tape.compression import ZstdDecompressor, ZstdError
from ..tape.format import unstamp
from ..tape.model import Headers
from .documents import Fields

REWRITTEN = "bodies were stored as values: their content is kept, the formatting of their JSON is not"
UNDECODED = "a body is kept as it came, since its content-encoding {} cannot be undone here"


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


def undone(body: bytes, headers: Headers) -> tuple[bytes, str | None, tuple[str, ...]]:
    """A body without the content-encoding of its headers: `(body, encoding undone, notes)`.

    Many recorders store the plain body under the old header; it is recognised and taken as it is.
    """
    encoding = header(headers, "content-encoding").strip().lower()
    if not body or encoding in ("", "identity"):
        return body, None, ()
    for name in reversed([part.strip() for part in encoding.split(",")]):
        plain = _decoded(body, name)
        if plain is not None:
            body = plain
        elif not _is_text(body):
            return body, None, (UNDECODED.format(repr(name)),)
    return body, encoding, ()


def _is_text(body: bytes) -> bool:
    try:
        return "\0" not in body.decode()
    except UnicodeDecodeError:
        return False


def _decoded(body: bytes, encoding: str) -> bytes | None:
    """The decoded body; None when it is not encoded like this."""
    try:
        match encoding:
            case "gzip" | "x-gzip":
                return _inflated(body, zlib.MAX_WBITS | 16)
            case "deflate":
                plain = _inflated(body, zlib.MAX_WBITS)
                return _inflated(body, -zlib.MAX_WBITS) if plain is None else plain
            case "zstd":
                stream = ZstdDecompressor()
                plain = stream.decompress(body)
                return plain if stream.eof else None
            case "br":
                return cast(bytes, import_module("brotli").decompress(body))
            case _:
                return None
    except Exception as exc:
        # brotli is an optional dependency, so its error class cannot be imported here
        if isinstance(exc, ZstdError | EOFError | ImportError) or type(exc).__module__ in ("brotli", "_brotli"):
            return None
        raise


def _inflated(body: bytes, bits: int) -> bytes | None:
    out = bytearray()
    while body:
        stream = zlib.decompressobj(bits)
        try:
            out += stream.decompress(body)
        except zlib.error:
            return bytes(out) if out else None
        if not stream.eof:
            # Cut on the wire: what there is of it is what the client got.
            return bytes(out) or None
        body = stream.unused_data
    return bytes(out)


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
