"""A recorded answer with something in it changed: what would have made the run take another way.

What is changed is named by what it is (`text`, `tool.2`, `arguments`, `finish`), or by a JSON pointer into the answer.
A streamed answer is a list of events: a text that came in pieces is put into the event of its first piece and the
others are left empty, so that the frames stay those of the API. All bytes that are not addressed stay.
"""

import json
import re
import struct
from binascii import crc32
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import cast

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.model import Chunk, Response, RoundTrip

from .answer_places import AIMS, PLACES, Aim, Holds, Place
from .exchange import Exchange
from .framing import Event
from .json_value import as_object, is_array, is_json, is_object, parse_json
from .reader import read

_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")
_NAME = re.compile(r"(text|tool|arguments|finish)(?:\.([1-9][0-9]*))?", re.ASCII)
_FINAL = ("response.completed", "response.incomplete", "response.failed")
_INCOMPLETE = ("max_output_tokens", "content_filter")
"""Finish words of the Responses API that stand in `incomplete_details`."""


class EditError(TurntapeError):
    """An answer cannot be changed in this way."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change, as the command line has it: `arguments.2={"draft":3}`."""

    target: str
    """`text`, `tool`, `arguments`, `finish`, with the number of the text or call behind a dot, or a JSON pointer."""
    value: str


def parse_edit(text: str) -> Edit:
    """`WHAT=VALUE` as an edit. Raises EditError."""
    target, equals, value = text.partition("=")
    if not equals or not (target.startswith("/") or _NAME.fullmatch(target)):
        raise EditError(
            f"{text!r} is not WHAT=VALUE, such as text='another answer', arguments.2='{{\"id\": 3}}', tool=search, "
            "finish=length, or /choices/0/message/content=…"
        )
    return Edit(target, value)


def edited(trip: RoundTrip, edit: Edit) -> RoundTrip:
    """The round trip with its answer changed. Raises EditError when nothing can stand there."""
    answer = _Answer(trip)
    if edit.target.startswith("/"):
        answer.point(edit.target, parse_json(edit.value) if is_json(edit.value) else edit.value)
    else:
        name = _NAME.fullmatch(edit.target)
        assert name is not None
        answer.name(cast(Aim, name[1]), int(name[2] or 1), edit.value)
    return answer.respelt()


def with_answer(trip: RoundTrip, body: bytes) -> RoundTrip:
    """The round trip with another body of its answer. Raises EditError when it has no answer."""
    return replace(trip, response=_spliced(_response_of(trip), 0, None, body))


def _response_of(trip: RoundTrip) -> Response:
    if trip.response is None:
        raise EditError(f"round trip #{trip.index} has no answer to change")
    return trip.response


@dataclass(slots=True)
class _Document:
    """One JSON document of an answer: the body, or the data of an event."""

    value: object
    event: Event | None
    changed: bool = False


@dataclass(frozen=True, slots=True)
class _Found:
    """A place that is there, and how to put something into it."""

    document: _Document
    holds: Holds
    part: tuple[object, ...]
    """Which text or call it belongs to."""
    put: Callable[[object], None]


class _Answer:
    """An answer while it is changed."""

    def __init__(self, trip: RoundTrip) -> None:
        self._trip = trip
        self._response = _response_of(trip)
        self._exchange = Exchange(trip)
        self._framing = self._exchange.framing
        self._events = [event for event in self._exchange.events if event.kind == "data"]
        self._documents = (
            [_Document(self._exchange.answer, None)]
            if self._framing is None
            else [_Document(parse_json(event.data), event) for event in self._events]
        )

    def point(self, pointer: str, value: object) -> None:
        """Put `value` where a pointer leads."""
        trip, rest = self._trip, pointer
        if self._framing is None:
            document = self._documents[0]
            if document.value is None:
                raise EditError(f"the answer of round trip #{trip.index} is no JSON; change it whole with --edit-file")
        else:
            head, slash, tail = pointer[1:].partition("/")
            rest = slash + tail
            if not (head.isdecimal() and head.isascii() and int(head) < len(self._documents)):
                raise EditError(
                    f"{pointer!r} names no event of round trip #{trip.index}: a streamed answer is the list of its "
                    f"{len(self._documents)} events, so a pointer begins with /0 to /{len(self._documents) - 1}"
                )
            document = self._documents[int(head)]
            if document.value is None and rest:
                raise EditError(f"event {head} of round trip #{trip.index} is no JSON; replace it whole: /{head}=VALUE")
        document.value = _set(document.value, rest, value)
        document.changed = True

    def name(self, aim: Aim, number: int, value: str) -> None:
        """Put `value` where the answer holds its n-th text, tool name, arguments, or its finish word."""
        trip = self._trip
        protocol = read(trip).protocol
        places = PLACES.get(protocol)
        if places is None:
            raise EditError(
                f"answers of {protocol} (round trip #{trip.index}) are edited by JSON pointer, /POINTER=VALUE, "
                f"or whole with --edit-file; {', '.join(AIMS)} are known for {', '.join(PLACES)}"
            )
        if aim == "finish" and (finish := _FINISHES.get(protocol)) is not None:
            if not finish([document for document in self._documents if is_object(document.value)], value):
                raise EditError(self._nothing(aim, 1, 0))
            return
        found = [one for place in places if place.aim == aim for one in self._found(place)]
        found.sort(key=lambda one: one.document.event.start if one.document.event else 0)
        parts = list(dict.fromkeys(one.part for one in found))
        if aim == "finish" and parts:
            number, parts = 1, [()]
            found = [replace(one, part=()) for one in found]
        if not 1 <= number <= len(parts):
            raise EditError(self._nothing(aim, number, len(parts)))
        self._put([one for one in found if one.part == parts[number - 1]], aim, value)

    def _put(self, found: list[_Found], aim: Aim, value: str) -> None:
        first = True
        for one in found:
            put: object = value
            if one.holds == "object":
                put = parse_json(value)
                if not is_object(put):
                    raise EditError(f"{value!r} is no JSON object, and this API holds {aim} as one; give {{…}}")
            elif one.holds == "delta":
                put = value if first else ""
                first = False
            one.put(put)
            one.document.changed = True

    def _nothing(self, aim: Aim, number: int, there: int) -> str:
        what = {"text": "text", "tool": "tool call", "arguments": "tool call", "finish": "finish word"}[aim]
        count = f"{there} {what}{'s' * (there != 1)}" if there else f"no {what}"
        asked = aim if number == 1 else f"{aim}.{number}"
        more = f"give a number from 1 to {there}" if there else "edit something that is there, or use --edit-file"
        return f"{asked!r} is not in the answer of round trip #{self._trip.index}, which has {count}; {more}"

    def _found(self, place: Place) -> Iterator[_Found]:
        for number, document in enumerate(self._documents):
            for at, key, stars in _matches(document.value, _parts(place.pattern), ()):
                held = at[key] if is_object(at) else None
                if place.when is not None:
                    pointer, expected = place.when
                    if _get(document.value, pointer, stars) != expected:
                        continue
                if place.holds == "object":
                    if not is_object(held):
                        continue
                elif not isinstance(held, str) and not (held is None and place.aim == "text"):
                    continue
                yield _Found(document, place.holds, _part(place, document.value, number, stars), _putter(at, key))

    def respelt(self) -> RoundTrip:
        """The round trip with what was changed spelt anew."""
        response = self._response
        for document in reversed(self._documents):
            if not document.changed:
                continue
            spelt = _spelt(document.value)
            event = document.event
            if event is None:
                response = _spliced(response, 0, None, spelt)
            else:
                piece = response.body[event.start : event.end]
                respell = _RESPELL.get(self._framing or "", _in_place)
                response = _spliced(response, event.start, event.end, respell(piece, event, spelt))
        return replace(self._trip, response=response)


def _finish_response(documents: list[_Document], word: str) -> bool:
    """The Responses API says its finish in two fields and in the type of the last event."""
    status = "incomplete" if word in _INCOMPLETE else word
    if status not in ("completed", "incomplete", "failed"):
        raise EditError(f"{word!r} is no finish of this API; give completed, failed, {' or '.join(_INCOMPLETE)}")
    done = False
    for document in documents:
        value = as_object(document.value)
        final = value.get("type") in _FINAL
        answer = value.get("response") if final else value if value.get("object") == "response" else None
        if not is_object(answer):
            continue
        answer["status"] = status
        answer["incomplete_details"] = {"reason": word} if word in _INCOMPLETE else None
        if final:
            value["type"] = f"response.{status}"
        document.changed = done = True
    return done


_FINISHES: dict[str, Callable[[list[_Document], str], bool]] = {"openai-responses": _finish_response}
"""By protocol, where the finish is no single word; False when the answer has none."""


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


type _Match = tuple[object, str, tuple[int, ...]]


def _matches(value: object, parts: list[str], stars: tuple[int, ...]) -> Iterator[_Match]:
    """`(object, key, places of the stars)` for all that a pattern names."""
    part, *rest = parts
    if part == "*":
        if is_array(value):
            for place, item in enumerate(value):
                yield from _matches(item, rest, (*stars, place))
    elif is_object(value) and part in value:
        if rest:
            yield from _matches(value[part], rest, stars)
        else:
            yield value, part, stars


def _get(value: object, pointer: str, stars: tuple[int, ...]) -> object:
    """What stands at a pattern whose stars are known; None when nothing does."""
    left = list(stars)
    for part in _parts(pointer):
        if part == "*":
            place = left.pop(0)
            value = value[place] if is_array(value) and place < len(value) else None
        else:
            value = value.get(part) if is_object(value) else None
    return value


def _part(place: Place, value: object, document: int, stars: tuple[int, ...]) -> tuple[object, ...]:
    if not place.parts:
        return stars
    said: list[object] = []
    for name in place.parts:
        if name == "document":
            said.append(document)
        elif name.startswith("*"):
            said.append(stars[int(name[1:]) - 1])
        else:
            found = _get(value, name, stars)
            said.append(found if isinstance(found, int) else stars[-1] if stars else 0)
    return tuple(said)


def _putter(at: object, key: str) -> Callable[[object], None]:
    def put(value: object) -> None:
        if is_object(at):
            at[key] = value

    return put


def _spelt(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _in_place(piece: bytes, event: Event, data: bytes) -> bytes:
    return piece.replace(event.data, data, 1)


def _sse(piece: bytes, event: Event, data: bytes) -> bytes:
    """The event with other data; its name follows the type that the data names."""
    document = parse_json(data)
    kind = document.get("type") if is_object(document) else None
    out: list[bytes] = []
    placed = False
    for line in cast(list[bytes], _LINES.findall(piece)):
        end = line[len(line.rstrip(b"\r\n")) :]
        if line.startswith(b"event") and isinstance(kind, str) and event.name in _FINAL:
            out.append(b"event: " + kind.encode() + end)
        elif not line.startswith(b"data"):
            out.append(line)
        elif not placed:
            out.append(b"data: " + data + end)
            placed = True
    return b"".join(out)


def _aws(piece: bytes, event: Event, data: bytes) -> bytes:
    """The frame with another payload, its lengths and checksums made anew."""
    headers = piece[12 : 12 + int.from_bytes(piece[4:8])]
    prelude = struct.pack(">II", 16 + len(headers) + len(data), len(headers))
    content = prelude + struct.pack(">I", crc32(prelude)) + headers + data
    return content + struct.pack(">I", crc32(content))


_RESPELL: dict[str, Callable[[bytes, Event, bytes], bytes]] = {"sse": _sse, "aws-event-stream": _aws}
"""By framing; the others hold the data as it is."""


def _spliced(response: Response, start: int, stop: int | None, piece: bytes) -> Response:
    """The answer with other bytes from `start` to `stop`; what came in which chunk stays, as far as it is there."""
    body = response.body
    stop = len(body) if stop is None else stop
    grown = len(piece) - (stop - start)

    def moved(place: int) -> int:
        if place >= stop:
            return place + grown
        return min(place, start + len(piece))

    chunks: list[Chunk] = []
    old = new = 0
    for chunk in response.chunks:
        old += chunk.size
        end = moved(old)
        if end > new:
            chunks.append(Chunk(end - new, chunk.at))
        new = max(new, end)
    return replace(response, content=body[:start] + piece + body[stop:], chunks=tuple(chunks))


def _set(document: object, pointer: str, value: object) -> object:
    """`document` with `value` at `pointer`; a last part that is not there yet is added."""
    if not pointer:
        return value
    parts = _parts(pointer)
    at = document
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        here = "/" + "/".join(parts[:depth]) if depth else "the top"
        if is_object(at):
            if last:
                at[part] = value
            elif part not in at:
                raise EditError(f"{pointer!r} leads nowhere: {here} has no {part!r} but {', '.join(at) or 'nothing'}")
            else:
                at = at[part]
        elif is_array(at):
            if last and part in ("-", str(len(at))):
                at.append(value)
            elif not (part.isdecimal() and part.isascii() and int(part) < len(at)):
                raise EditError(f"{pointer!r} leads nowhere: {here} is a list of {len(at)}, and {part!r} is not in it")
            elif last:
                at[int(part)] = value
            else:
                at = at[int(part)]
        else:
            raise EditError(f"{pointer!r} leads nowhere: {here} is neither an object nor a list")
    return document
