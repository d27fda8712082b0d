"""What a dialect must say: how one API spells requests, answers, streams and errors."""

import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from ..identities import letters
from ..pieces import Answer, Ask, Event, Failed, Json, Tool


def compact(value: object) -> str:
    """JSON as HTTP clients write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parsed(arguments: str) -> Any:
    """Arguments as an object, for APIs that send them as one."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def sse(event: Event, ending: str = "\n") -> bytes:
    name, value = event
    head = f"event: {name}{ending}" if name else ""
    data = value if isinstance(value, str) else compact(value)
    return f"{head}data: {data}{ending}{ending}".encode()


class Dialect(ABC):
    """One API as one kind of client speaks it. Wire shapes only: what is said comes from the story."""

    name: ClassVar[str]
    protocol: ClassVar[str]
    upstream: ClassVar[str]
    model: ClassVar[str]
    served: ClassVar[str | None] = None
    """The model that the answer names; None where answers name none."""
    thinks: ClassVar[bool] = False
    """True when answers begin with reasoning that must come back."""
    caches: ClassVar[bool] = True
    stateful: ClassVar[bool] = False
    """True when the API holds the history and requests bring only what is new."""
    flags_errors: ClassVar[bool] = False
    """True when a result can say that it is an error."""
    parallel_switch: ClassVar[bool] = True
    call_prefix: ClassVar[str] = "call_"
    call_length: ClassVar[int] = 24
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    agent: ClassVar[str]
    FINISH: ClassVar[dict[str, str]]
    PARAMETERS: ClassVar[Json] = {}
    ERRORS: ClassVar[dict[int, str]] = {}
    """The API's word for each status."""

    # Ids

    def call_id(self, seed: str, name: str) -> str:
        return self.call_prefix + letters(seed, self.call_length)

    def item_id(self, seed: str) -> str:
        """The id of the item around a call, where the API has one."""
        return ""

    def text_id(self, seed: str) -> str:
        return ""

    def thinking_id(self, seed: str) -> str:
        return ""

    @abstractmethod
    def answer_id(self, seed: str) -> str: ...

    # Requests

    @abstractmethod
    def url(self, ask: Ask) -> str: ...

    @abstractmethod
    def body(self, ask: Ask) -> Json: ...

    def request_headers(self, ask: Ask) -> tuple[tuple[str, str], ...]:
        return ()

    def prompt(self, ask: Ask, body: Json) -> list[str]:
        """The prompt in the order in which the provider renders and caches it."""
        held = compact([body.get(name) for name in self.MESSAGES])
        return [compact([body.get(name) for name in self.STATIC]), held[:-2]]

    STATIC: ClassVar[tuple[str, ...]] = ("tools", "system")
    MESSAGES: ClassVar[tuple[str, ...]] = ("messages",)

    # Answers

    def word(self, answer: Answer) -> str:
        return answer.finish[1:] if answer.finish.startswith("=") else self.FINISH[answer.finish]

    @abstractmethod
    def whole(self, ask: Ask, answer: Answer) -> Json: ...

    @abstractmethod
    def events(self, ask: Ask, answer: Answer) -> list[Event]: ...

    def framed(self, event: Event, place: int = 0, last: bool = False) -> bytes:
        return sse(event)

    def keepalive(self) -> bytes:
        """What keeps a stream open without content."""
        return b": keepalive\n\n"

    def written(self, body: Json) -> bytes:
        return compact(body).encode()

    def answer_headers(self, seed: str) -> tuple[tuple[str, str], ...]:
        return ()

    @abstractmethod
    def failed(self, failed: Failed) -> Json: ...

    def error_event(self, failed: Failed) -> Event | bytes:
        """The same error inside a stream."""
        return ("", self.failed(failed))

    def kind(self, failed: Failed) -> str:
        return failed.code or self.ERRORS.get(failed.status, "server_error")


def function(tool: Tool) -> Json:
    """A tool as most APIs take it."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)},
    }
