"""Whether bytes are JSON, and what they say.

`orjson` refuses NaN, lone surrogates and bytes that are not UTF-8, which APIs send; then the standard library reads
them.
"""

import json

import orjson


def parse_json(data: bytes | str) -> object:
    """The JSON value of `data`, or None when it is not JSON (JSON `null` is None too)."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        text = data if isinstance(data, str) else data.decode("utf-8", "replace")
        return json.loads(text, parse_int=_integer)
    except (ValueError, RecursionError):
        return None


def _integer(digits: str) -> int | float:
    """A JSON integer; as a float when it does not fit in 64 bits, as `orjson` reads it."""
    return int(digits) if abs(number := float(digits)) < 2**63 else number


def is_json(data: bytes | str) -> bool:
    """True when `data` is one JSON text, as the standard library reads it."""
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            json.loads(data)
        except (ValueError, RecursionError):
            return False
    return True


def first_document(data: bytes) -> tuple[object, bytes] | None:
    """The JSON object or array that `data` begins with, and the bytes after it without white space.

    None when it does not begin with a whole one.
    """
    text = data.decode("utf-8", "surrogateescape")
    begin = len(text) - len(text.lstrip())
    if text[begin : begin + 1] not in ("{", "["):
        return None
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except (ValueError, RecursionError):
        return None
    return value, text[end:].strip().encode("utf-8", "surrogateescape")


_DECODER = json.JSONDecoder(parse_int=_integer)
