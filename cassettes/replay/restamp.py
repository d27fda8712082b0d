"""Restamp: a changed request takes the place of the recorded one, and the recorded answer stays.

That is right where the model would have answered the same: another word in the prompt, another description of a tool, a
setting. Where the answer could not follow, the request is a miss that says why, and nothing is written.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import orjson

from ..errors import CassetteError
from ..faults.events import pieces_of
from ..matching.embedded_files import is_file, named_file
from ..matching.fingerprints import LISTED
from ..matching.grades import Matching
from ..matching.json_diff import Difference
from ..matching.json_texts import with_texts
from ..matching.multipart import parts
from ..matching.request_key import path_key, plain
from ..regex import regex
from ..tape.model import Request, Response, RoundTrip
from .difference_text import body_of, json_of, part_in_words
from .miss import Miss
from .player import Played, Player
from .tools.recording import message

_FORM = regex(
    r"^/(?:response_?format|text/format|n|(?:top_)?logprobs|tool_?choice|function_call|tool_?config(?!/tools/)|stop"
    r"|modalities|output_config|output_format|format|dimensions|output_dimension|encoding_format|embedding_types|size"
    r"|(?:generation_?config/)?(?:response_?(?:json_?)?schema|response_?mime_?type|candidate_?count"
    r"|output_?dimensionality))\b",
    re.IGNORECASE,
)
"""Settings that decide what form an answer has."""
_SAID = regex(r"(?<!/properties)/(?:description|title|strict)$")
"""Fields of a tool that leave its arguments as they are."""
_DEFINITIONS = ("tools", "functions")
_UPLOADED = regex(r"^/[^/]+/content$")
"""The content of a file in a form; that of a text file is compared as text."""
_TOOL = regex(
    r"^(/(?:toolConfig/tools|tools|functions)/\d+(?:/(?:functionDeclarations|function_declarations|tools)/\d+)?)(?:/|$)"
)


def restamping(matching: Matching | None) -> Matching:
    """How requests are matched: by turn, whatever else differs."""
    return replace(matching or Matching(), profile="ordered", rules={})


class Restamp:
    """The requests of this run that differ from the recorded ones, by place."""

    def __init__(self, matching: Matching) -> None:
        self.of_tools = matching
        """How similar a call to a tool server must be: as in a replay, since another call gets another answer."""
        self.changed: dict[int, Request] = {}
        self.written = 0
        """How many of them have taken the place of the recorded ones."""

    def take(self, player: Player, found: Played, asked: Request) -> None:
        """Note the request of an answer. Raises Miss when the answer could not follow."""
        if found.match.grade == "exact":
            return
        place = player.turns.index(found.match.turn)
        recorded = player.cassette[place]
        if why := refusal(found.match.differences, recorded):
            miss = Miss(asked.method, f"/{path_key(asked.url)}", recorded, list(found.match.differences), 0, 0)
            miss.turn, miss.likeness, miss.refused = found.match.turn, found.match.grade, why
            miss.args = (f"{found.match.turn} cannot keep its recorded answer: {why}; record again",)
            player.refuse(miss, place)
            raise miss
        body = plain(asked.body, asked.headers)
        if player.bindings:
            body = _as_recorded(player, body)
        self.changed[place] = replace(recorded.request, content=body)

    def requests(self, player: Player) -> dict[int, Request]:
        """The requests that take the place of recorded ones, by the number of the round trip. Raises CassetteError as
        `trips` does."""
        return {trip.index: trip.request for place, trip in enumerate(self.trips(player)) if place in self.changed}

    def trips(self, player: Player) -> Iterator[RoundTrip]:
        """The recording with the requests of this run. Raises CassetteError when it has a request in no common form."""
        for place, trip in enumerate(player.cassette):
            if trip.frames and place in self.changed:
                raise CassetteError(f"{player.turns[place]} is a WebSocket session, which restamp does not write")
            yield replace(trip, request=self.changed.get(place, trip.request))


def _as_recorded(player: Player, body: bytes) -> bytes:
    """A body with the recorded values in place of those that are new in this run."""
    try:
        return orjson.dumps(with_texts(orjson.loads(body), player.bindings.as_recorded))
    except orjson.JSONDecodeError:
        return body


def refusal(differences: tuple[Difference, ...], recorded: RoundTrip) -> str | None:
    """Why a recorded answer cannot be the answer to a request with these differences; None when it can."""
    if len(differences) >= LISTED:  # there may be more that nobody has looked at
        return "too much of the request has changed"
    if message(recorded.request.body).get("jsonrpc") is not None:
        return "it came from a tool server, which was asked something else"
    in_form = parts(recorded.request.body) is not None
    for one in differences:
        part = part_in_words(one, recorded)
        if part in ("the model", "path"):
            return "it is from another model"
        if part == "a tool result":
            return f"it was given to another tool result ({one.pointer})"
        if _files(one.recorded, one.pointer) != _files(one.given, one.pointer) or (
            in_form and _UPLOADED.search(one.pointer)
        ):
            return f"it was given to another file ({one.pointer})"
        if part == "the input" and one.kind != "changed":
            return f"it has a part for each item, and {one.pointer} is {'new' if one.kind == 'added' else 'gone'}"
        if form := next(filter(_FORM.match, _places(one)), None):
            return f"its form depends on {form}"
        if (name := _changed_tool(one, recorded)) and recorded.response is not None and _names(recorded.response, name):
            return f"it calls the tool {name}, whose definition has changed ({one.pointer})"
    return None


def _files(value: object, pointer: str) -> list[str]:
    """The files in a value, such as an image among the parts of a message, and those that it names, in their order."""
    texts = [(place, text) for place, text in _inner(value, pointer) if isinstance(text, str)]
    found = [text if is_file(text) else named_file(place, text) for place, text in texts]
    return [one for one in found if one is not None]


def _places(one: Difference) -> Iterator[str]:
    """The pointers of a difference: a new or removed object has all that is in it."""
    yield one.pointer
    for value in (one.recorded, one.given):
        yield from (pointer for pointer, _ in _inner(value, one.pointer))


def _inner(value: object, pointer: str) -> Iterator[tuple[str, object]]:
    """A value and all that is in it, each with its pointer."""
    yield pointer, value
    if isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield from _inner(item, f"{pointer}/{key}")
    elif isinstance(value, list):
        for place, item in enumerate(cast("list[object]", value)):
            yield from _inner(item, f"{pointer}/{place}")


def _changed_tool(one: Difference, recorded: RoundTrip) -> str | None:
    """The tool that is gone or takes other arguments; None for a new tool, or for what is said of it."""
    found = _TOOL.match(one.pointer)
    if found is None or _SAID.search(one.pointer) or (one.kind == "added" and found[0] == one.pointer):
        return None
    try:
        tool = _at(body_of(recorded.request.body), found[1])
    except (ValueError, LookupError, TypeError):
        return None
    fields = cast("dict[str, object]", tool) if isinstance(tool, dict) else {}
    for holder in (fields, *fields.values()):
        name = cast("dict[str, object]", holder).get("name") if isinstance(holder, dict) else None
        if isinstance(name, str):
            return name
    return None


def _names(answer: Response, name: str) -> bool:
    """True when an answer names a tool elsewhere than in the definitions, which some APIs repeat in each answer."""
    if f'"{name}"'.encode() not in answer.body:
        return False
    pieces = pieces_of(answer)
    documents = [json_of(piece.data) for piece in pieces] if pieces else [json_of(answer.body)]
    known = [document for document in documents if document is not None]
    return not known or any(_says(document, name) for document in known)


def _says(value: object, name: str) -> bool:
    """True when a JSON value has a text outside the definitions of tools."""
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return any(_says(item, name) for key, item in fields.items() if key not in _DEFINITIONS)
    if isinstance(value, list):
        return any(_says(item, name) for item in cast("list[object]", value))
    return value == name


def _at(value: object, pointer: str) -> object:
    for step in pointer.split("/")[1:]:
        inner = cast("dict[str, object] | list[object]", value)
        value = inner[int(step)] if isinstance(inner, list) else inner[step]
    return value
