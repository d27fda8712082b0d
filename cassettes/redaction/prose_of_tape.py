"""Removes the prose of a recording, round trip by round trip, and that of the requests that are compared with it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import cast
from urllib.parse import unquote_plus

import orjson

from ..errors import CassetteError
from ..framing.decoding import frame
from ..regex import regex
from ..tape.command_end import FIELD as COMMAND_ENDED
from ..tape.command_end import command_end_line, read_command_end
from ..tape.json_fields import Json
from ..tape.model import Headers, RoundTrip
from ..tape.reader import Cassette
from .prose import Prose, ProseStays, same_words, texts_in

PROSE = "prose"
"""The field of the header that says that the prose was replaced: by which version of the replacement."""
_VERSION = 1
_WORDS = regex(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}\s+[^\W\d_]{2,}")
_REASONS = frozenset(status.phrase for status in HTTPStatus)


def has_prose(header: Mapping[str, object]) -> bool:
    """False when the prose of a recording was removed."""
    return PROSE not in header


def prose_of(cassette: Cassette) -> Prose | None:
    """What removes the prose of a request as it was removed from a recording; None when it was not removed.

    Raises CassetteError when a newer turntape removed it in another way.
    """
    if has_prose(cassette.header):
        return None
    if cassette.header[PROSE] != _VERSION:
        raise CassetteError("a newer turntape removed the prose of the cassette; update turntape to replay it")
    known: set[str] = set()
    for trip in cassette:
        try:
            known.update(texts_in(trip.request.body, None))
            if trip.response is not None:
                body = trip.response.body
                known.update(texts_in(body, frame(_content_type(trip.response.headers), body)))
        except ProseStays:  # an answer that is not JSON: no client sends its text back
            continue
    return Prose(cassette.salt or "", known)


def without_prose(prose: Prose, body: bytes) -> bytes:
    """The body of a request without its prose; one that is not JSON as it is, since no recorded one is like it."""
    try:
        return prose.request(body)
    except ProseStays:
        return body


class ProseRemover:
    """Removes the prose of one recording. Raises CassetteError for what it cannot do, with the round trip's number."""

    def __init__(self, cassette: Cassette) -> None:
        if not cassette.salt:
            raise CassetteError("the cassette has no salt, so its prose cannot be removed; record it again")
        self._prose = Prose(cassette.salt)

    def other_line(self, line: bytes, number: int) -> bytes:
        """Nothing for a label: it is made again when the recording is read."""
        try:
            fields = orjson.loads(line)
        except orjson.JSONDecodeError:
            fields = None
        if isinstance(fields, dict) and "label" in fields:
            return b""
        if isinstance(fields, dict) and COMMAND_ENDED in fields:
            with suppress(ValueError):
                return command_end_line(read_command_end(cast(Json, fields)))
        raise CassetteError(
            f"the prose of line {number} cannot be removed: it is neither a round trip over HTTP nor a label"
        )

    def round_trip(self, trip: RoundTrip) -> RoundTrip:
        """The round trip without its prose."""
        try:
            return self._round_trip(trip)
        except ProseStays as exc:
            raise CassetteError(
                f"the prose of round trip {trip.index} cannot be removed: {exc}; `turntape report --redact-text` makes "
                "a page without prose"
            ) from exc

    def _round_trip(self, trip: RoundTrip) -> RoundTrip:
        if trip.frames or trip.tool_wire:
            raise ProseStays("it is a WebSocket session" if trip.frames else "it is an exchange with a tool server")
        request, response = trip.request, trip.response
        if b'"jsonrpc"' in request.body:
            raise ProseStays("it is an exchange with a tool server")
        if trip.extra:
            raise ProseStays("it has fields that are not of the round trip itself")
        if _WORDS.search(unquote_plus(request.url)):
            raise ProseStays("its URL has words")
        return replace(
            trip,
            failure=trip.failure and replace(trip.failure, message=self._prose.text(trip.failure.message)),
            faults=tuple(map(self._prose.text, trip.faults)),
            run=trip.run and self._words(trip.run),
            request=replace(
                request,
                headers=self._headers(request.headers),
                content=_checked(request.body, self._prose.request(request.body)),
            ),
            response=response
            and replace(
                response,
                reason=response.reason if response.reason in _REASONS else self._words(response.reason),
                headers=self._headers(response.headers),
                trailers=self._headers(response.trailers),
                content=_checked(response.body, self._prose.answer(response.body, _content_type(response.headers))),
            ),
        )

    def _headers(self, headers: Headers) -> Headers:
        return tuple((name, self._words(value)) for name, value in headers)

    def _words(self, value: str) -> str:
        """A value of one or two words as it is."""
        return self._prose.text(value) if _WORDS.search(unquote_plus(value)) else value


def _checked(old: bytes, new: bytes) -> bytes:
    left = same_words(old, new)
    if left is not None:
        raise ProseStays("three words in a row would stay")
    return new


def _content_type(headers: Headers) -> str:
    return next((value.partition(";")[0].strip() for name, value in headers if name.lower() == "content-type"), "")
