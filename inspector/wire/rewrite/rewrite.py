"""`document(round_trip)` and `remade(round_trip, text)`, for every protocol that has the trait `rewrite`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import orjson

from turntape.cassettes.tape.model import Response, RoundTrip

from ..exchange import Exchange
from ..json_value import Object, is_array, is_json, is_object, parse_json
from ..protocols.protocol import Protocol
from ..protocols.traits import Rewrite
from ..protocols.unknown import UNKNOWN
from ..registry import detect


class NotEditable(ValueError):
    """The answer cannot be shown as a document, or the text is not a document. The message says which."""


def document(round_trip: RoundTrip) -> str:
    """The answer as indented JSON; calls' arguments as objects where they are JSON. Raises NotEditable."""
    return orjson.dumps(_opened(_whole(Exchange(round_trip))), option=orjson.OPT_INDENT_2).decode() + "\n"


def remade(round_trip: RoundTrip, text: str) -> tuple[bytes, ...]:
    """The body for `text`, in pieces: frames where the answer was streamed, else one body.

    Raises NotEditable when the text is not a JSON object, or when the frames cannot carry what it says.
    """
    exchange = Exchange(round_trip)
    before = _whole(exchange)
    if not is_object(edited := parse_json(text)):
        raise NotEditable(_fault(text))
    body = cast(Object, _closed(edited, before))
    found = _streamed(exchange)
    if found is None:
        return (orjson.dumps(body),)
    protocol, rewrite = found
    pieces = tuple(rewrite.frames(body, exchange))
    carried = _opened(rewrite.whole(Exchange(_with_answer(round_trip, b"".join(pieces)))))
    if lost := next(_differences(_opened(body), carried, ""), None):
        raise NotEditable(f"the frames of {protocol.name} cannot hold the value at {lost or '/'}")
    return pieces


def _fault(text: str) -> str:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        return f"this is not valid JSON (line {exc.lineno}, column {exc.colno}: {exc.msg})"
    return "this is JSON, but not an object"


def _streamed(exchange: Exchange) -> tuple[Protocol, Rewrite] | None:
    """How the answer is put together when it was streamed; None when it was one body. Raises NotEditable."""
    if exchange.framing is None:
        return None
    found = detect(exchange)
    protocol = found[0] if found else UNKNOWN
    if protocol.rewrite is None or exchange.framing not in protocol.rewrite.framings:
        raise NotEditable(f"a stream of {protocol.name} in {exchange.framing} cannot be rewritten")
    return protocol, protocol.rewrite


def _whole(exchange: Exchange) -> Object:
    found = _streamed(exchange)
    if found is not None:
        return found[1].whole(exchange)
    if not is_object(exchange.answer):
        raise NotEditable("the answer is not a JSON object")
    return exchange.answer


def _with_answer(round_trip: RoundTrip, content: bytes) -> RoundTrip:
    response = cast(Response, round_trip.response)
    return replace(round_trip, response=replace(response, content=content, chunks=()))


def _opened(value: object) -> object:
    """`value` with arguments that are JSON text as the JSON they are."""
    if is_object(value):
        return {key: _open(item) if key == "arguments" else _opened(item) for key, item in value.items()}
    if is_array(value):
        return [_opened(item) for item in value]
    return value


def _open(value: object) -> object:
    if isinstance(value, str) and is_json(value) and is_object(parsed := parse_json(value)):
        return parsed
    return _opened(value)


def _closed(value: object, before: object) -> object:
    """The inverse of `_opened`: arguments become text where `before` has text. Unchanged ones are kept verbatim."""
    texts: list[str] = []
    _collect(before, texts)
    as_text = bool(texts) or not _has_arguments(before)
    return _close(value, {orjson.dumps(parse_json(text)): text for text in texts if is_json(text)}, as_text)


def _has_arguments(value: object) -> bool:
    if is_object(value):
        return any(key == "arguments" or _has_arguments(item) for key, item in value.items())
    return is_array(value) and any(_has_arguments(item) for item in value)


def _collect(value: object, texts: list[str]) -> None:
    for key, item in value.items() if is_object(value) else enumerate(value) if is_array(value) else ():
        if key == "arguments" and isinstance(item, str):
            texts.append(item)
        else:
            _collect(item, texts)


def _close(value: object, verbatim: dict[bytes, str], as_text: bool) -> object:
    if is_array(value):
        return [_close(item, verbatim, as_text) for item in value]
    if not is_object(value):
        return value
    closed: Object = {}
    for key, item in value.items():
        if key == "arguments" and as_text and is_object(item):
            data = orjson.dumps(item)
            closed[key] = verbatim.get(data, data.decode())
        else:
            closed[key] = _close(item, verbatim, as_text)
    return closed


def _differences(wanted: object, carried: object, path: str) -> Iterator[str]:
    """JSON pointers at which a document and its frames differ. A null may be left out."""
    if is_object(wanted) and is_object(carried):
        for key in {**wanted, **carried}:
            yield from _differences(wanted.get(key), carried.get(key), f"{path}/{key}")
    elif is_array(wanted) and is_array(carried) and len(wanted) == len(carried):
        for i, (one, other) in enumerate(zip(wanted, carried, strict=True)):
            yield from _differences(one, other, f"{path}/{i}")
    elif wanted != carried and not (_nothing(wanted) and _nothing(carried)):
        yield path


def _nothing(value: object) -> bool:
    return value is None or value == "" or value == [] or value == {}
