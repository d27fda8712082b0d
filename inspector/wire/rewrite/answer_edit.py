"""Edits a recorded answer, to see which other way the run would have taken.

The place of an edit is a name (`text`, `tool.2`, `arguments`, `finish`) or a JSON pointer into the answer
as the API gives it unstreamed. A streamed answer is joined into that, and written again in frames of its protocol.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from turntape.cassettes.counted import several
from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Chunk, Response, RoundTrip
from turntape.cassettes.whole_number import whole_number

from ..json_value import Object, is_array, is_json, is_object, parse_json
from ..parse import read
from ..protocols.traits import TARGETS, EditTargets, Target
from ..registry import protocols, traits_of
from . import NotEditable, document, remade

_NAME = regex(r"(text|tool|arguments|finish)(?:\.([1-9][0-9]*))?", re.ASCII)
_COUNTED: dict[Target, str] = {"text": "text", "tool": "tool call", "arguments": "tool call", "finish": "finish word"}


class EditError(TurntapeError):
    """An answer cannot be changed in this way."""


@frozen
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
    """The round trip with its answer changed. Raises EditError when the answer has no such place."""
    answer = _document(trip)
    if edit.target.startswith("/"):
        answer = _set(answer, edit.target, parse_json(edit.value) if is_json(edit.value) else edit.value)
    else:
        name = _NAME.fullmatch(edit.target)
        assert name is not None
        _name(trip, answer, cast(Target, name[1]), int(name[2] or 1), edit.value)
    return _remade(trip, json.dumps(answer, ensure_ascii=False))


def with_answer(trip: RoundTrip, body: bytes) -> RoundTrip:
    """The round trip with another answer: a JSON document as `edited` sees it, or else the bytes as they are.

    Raises EditError when it has no answer, or when the frames of a stream cannot say what the document says.
    """
    response = _response_of(trip)
    if is_object(parse_json(body)):
        return _remade(trip, body.decode("utf-8", "surrogateescape"))
    return replace(trip, response=_with_pieces(response, (body,)))


def _response_of(trip: RoundTrip) -> Response:
    if trip.response is None:
        raise EditError(f"round trip #{trip.index} has no answer to change")
    return trip.response


def _document(trip: RoundTrip) -> object:
    _response_of(trip)
    try:
        return parse_json(document(trip))
    except NotEditable as exc:
        raise EditError(f"round trip #{trip.index}: {exc}; put another answer in its place with --edit-file") from exc


def _remade(trip: RoundTrip, text: str) -> RoundTrip:
    try:
        pieces = remade(trip, text)
    except NotEditable as exc:
        raise EditError(f"the answer of round trip #{trip.index} cannot be rewritten: {exc}") from exc
    return replace(trip, response=_with_pieces(_response_of(trip), pieces))


def _with_pieces(response: Response, pieces: tuple[bytes, ...]) -> Response:
    """The answer in new pieces, which arrive at the times of the recorded ones."""
    times = [chunk.at for chunk in response.chunks] or [0]
    chunks = tuple(Chunk(len(piece), times[min(at, len(times) - 1)]) for at, piece in enumerate(pieces) if piece)
    return replace(response, content=b"".join(pieces), chunks=chunks)


def _name(trip: RoundTrip, answer: object, target: Target, number: int, value: str) -> None:
    """Put `value` into the answer's n-th text, tool name or arguments, or into its finish word."""
    targets = _targets(trip)
    if target == "finish" and targets.finish_fields:
        if value not in targets.finish_fields:
            raise EditError(f"{value!r} is not a finish of this API; give {', '.join(targets.finish_fields)}")
        for pointer, content in targets.finish_fields[value].items():
            _set(answer, pointer, content)
        return
    matches = _matches(answer, _parts(targets.pointer(target)))
    found = [put for put, beside in matches if not beside.get(targets.not_text)]
    if target == "finish":
        for put in found:
            put(value)
    if not 1 <= number <= len(found):
        there, what = len(found), _COUNTED[target]
        count = several(there, what) if there else f"no {what}"
        more = f"give a number from 1 to {there}" if there else "edit something that is there, or use --edit-file"
        asked = target if number == 1 else f"{target}.{number}"
        raise EditError(f"{asked!r} is not in the answer of round trip #{trip.index}, which has {count}; {more}")
    found[number - 1](_arguments(value, is_text=targets.arguments_as_text) if target == "arguments" else value)


def _targets(trip: RoundTrip) -> EditTargets:
    protocol = traits_of(read(trip).protocol)
    if protocol.edit_targets is None:
        names = [one.name for one in protocols() if one.edit_targets is not None]
        raise EditError(
            f"answers of {protocol.name} (round trip #{trip.index}) are edited by JSON pointer, /POINTER=VALUE, "
            f"or whole with --edit-file; {', '.join(TARGETS)} are known for {', '.join(names)}"
        )
    return protocol.edit_targets


def _arguments(value: str, *, is_text: bool) -> object:
    parsed = parse_json(value)
    if is_object(parsed):
        return parsed
    if is_text:
        return value
    raise EditError(f"{value!r} is not a JSON object, and this API holds arguments as one; give {{…}}")


def _parts(pointer: str) -> list[str]:
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _matches(value: object, parts: list[str]) -> Iterator[tuple[Callable[[object], None], Object]]:
    """For each place that a pattern names: a function that sets it, and the object that holds it."""
    part, *rest = parts
    if part == "*":
        for item in value if is_array(value) else ():
            yield from _matches(item, rest)
    elif is_object(value) and part in value:
        if rest:
            yield from _matches(value[part], rest)
        else:
            yield lambda new: value.__setitem__(part, new), value


def _set(document: object, pointer: str, value: object) -> object:
    """`document` with `value` at `pointer`; a last part that is not there yet is added."""
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
            elif (place := whole_number(part)) is None or place >= len(at):
                raise EditError(f"{pointer!r} leads nowhere: {here} is a list of {len(at)}, and {part!r} is not in it")
            elif last:
                at[place] = value
            else:
                at = at[place]
        else:
            raise EditError(f"{pointer!r} leads nowhere: {here} is neither an object nor a list")
    return document
