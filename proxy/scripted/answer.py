"""An answer before it is written in the format of an API, and helpers that all formats share."""

from collections.abc import Callable, Iterator, Mapping
from typing import cast

import orjson

from turntape.cassettes.frozen import frozen

from .faults import Fault
from .story import Step, call_id

type Json = dict[str, object]


@frozen
class Ask:
    """The fields of a request that the script needs."""

    path: str
    headers: Mapping[str, str]
    fields: Json
    model: str
    streamed: bool
    answers: int
    """The number of answers in the history."""
    size: int
    """The size of the request in bytes; its token count is derived from it."""


@frozen
class Answer:
    """The answer of the script to an `Ask`."""

    ask: Ask
    step: Step
    fault: Fault | None = None
    prefix: str = "call_"

    @property
    def text(self) -> str:
        return "" if self._is("empty") else self.step.text

    @property
    def calls(self) -> list[tuple[str, str, str]]:
        """`(id, name, arguments)` of each call. The arguments are JSON text, which a fault may have damaged."""
        if self._is("empty"):
            return []
        made = [
            (call_id(self.prefix, self.ask.answers, place), call.name, orjson.dumps(dict(call.arguments)).decode())
            for place, call in enumerate(self.step.calls)
        ]
        if made and (self._is("bad_arguments") or self._is("truncated_arguments")):
            identity, name, text = made[-1]
            made[-1] = (identity, name, text[:-1] + ",}" if self._is("bad_arguments") else text[: len(text) // 2])
        return made

    @property
    def finish(self) -> str:
        """`calls`, `stop` or `length`; each API has its own word for it."""
        if self._is("truncated_arguments"):
            return "length"
        return "calls" if self.calls and not self._is("wrong_finish") else "stop"

    def _is(self, kind: str) -> bool:
        return self.fault is not None and self.fault.kind == kind

    @property
    def tokens(self) -> tuple[int, int, int]:
        """Input tokens, those of them that were cached, and output tokens; a function of the conversation alone."""
        sent = self.ask.size // 4
        cached = sent // 2 // 64 * 64 if self.ask.answers else 0
        said = (len(self.text) + sum(len(arguments) + 24 for _, _, arguments in self.calls)) // 4 + 3
        return sent, cached, said

    @property
    def identity(self) -> str:
        """The id of the answer, without its prefix."""
        return f"{self.ask.answers + 1:04d}scripted{self.ask.size:08d}"


def words(text: str) -> Iterator[str]:
    """`text` in pieces, as a model streams it."""
    start = 0
    for place, character in enumerate(text):
        if character == " " and place > start:
            yield text[start:place]
            start = place
    if text:
        yield text[start:]


def pieces(text: str, size: int = 12) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


@frozen
class Shape:
    """How the scripted LLM speaks one API."""

    name: str
    matches: Callable[[str], bool]
    """Whether a path belongs to this API."""
    ask: Callable[[str, Mapping[str, str], bytes], Ask]
    whole: Callable[[Answer], object]
    """The answer as one JSON body."""
    stream: Callable[[Answer], list[bytes]]
    """The answer as the chunks of a stream."""
    content_type: str
    """The content type of the stream."""
    error: Callable[[int, str], object]
    """The error body for a status and a message."""
    error_event: bytes
    """The event that is sent when the API fails inside a stream."""
    prefix: str = "call_"
    """The first part of its call ids."""


def fields_of(body: bytes) -> Json:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return cast(Json, value) if isinstance(value, dict) else {}


def entries(value: object) -> list[Json]:
    """The objects in a JSON array."""
    return (
        [cast(Json, item) for item in cast(list[object], value) if isinstance(item, dict)]
        if isinstance(value, list)
        else []
    )


def by_role(messages: object, role: str = "assistant") -> int:
    """The number of messages of a role in a history."""
    return sum(message.get("role") == role for message in entries(messages))
