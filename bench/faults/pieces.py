"""A conversation before it takes the shape of an API: blocks, messages, tools, requests and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

type Json = dict[str, Any]
type Event = tuple[str, Any]
"""One event of a stream: its name (empty where the API has none) and its JSON value, or text that is none."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str
    signature: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str
    """JSON text, as the model wrote it."""
    signature: str | None = None
    """Where the API signs calls."""
    item: str = ""
    """The id of the item that holds the call, where that is another one."""


@dataclass(frozen=True, slots=True)
class Refusal:
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    call_id: str
    name: str
    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """A block in the API's own words."""

    value: Any


type Block = Text | Thinking | Call | Refusal | Result | Raw


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    """`user`, `assistant` or `results`."""
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(slots=True)
class Ask:
    """What a client sends."""

    model: str
    system: str
    tools: tuple[Tool, ...]
    messages: list[Message]
    streamed: bool
    parameters: Json = field(default_factory=dict[str, Any])
    """Fields of the API's own, put into the body as they are."""
    max_output: int | None = None
    tool_choice: str | None = None
    """`required`, `none`, or the name of a tool."""
    parallel: bool | None = None
    previous: str | None = None
    """The answer that the API holds and this request continues."""
    held: int = 0
    """How many messages the API holds with it."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input (all of it), of it read from the cache and written to it; output, of it spent on reasoning."""

    input: int
    cached: int
    written: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back, before it takes a shape."""

    id: str
    model: str
    blocks: tuple[Block, ...]
    finish: str
    """A word of the dialect's table, or `=WORD` for the API's own."""
    tokens: Tokens | None
    detail: Json = field(default_factory=dict[str, Any])
    """What comes with the finish word."""
    cut_call: bool = False
    """True when the last call was still being written."""

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks if isinstance(block, Text))

    @property
    def thinking(self) -> Thinking | None:
        return next((block for block in self.blocks if isinstance(block, Thinking)), None)

    @property
    def calls(self) -> list[Call]:
        return [block for block in self.blocks if isinstance(block, Call)]

    @property
    def refusal(self) -> str | None:
        return next((block.text for block in self.blocks if isinstance(block, Refusal)), None)


@dataclass(frozen=True, slots=True)
class Failed:
    """An answer that is an error."""

    status: int
    message: str
    code: str | None = None
    """The API's code, kind or status word; None for the usual one of this status."""
    param: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: Json | None = None
    """The whole body, where it is not the usual shape."""


def words(text: str) -> list[str]:
    """`text` in the pieces in which a model would stream it."""
    pieces: list[str] = []
    start = 0
    for place, character in enumerate(text):
        if character == " " and place > start:
            pieces.append(text[start:place])
            start = place
    return [*pieces, text[start:]] if text else []


def shreds(text: str, size: int = 14) -> list[str]:
    """Arguments in the pieces in which they are streamed."""
    return [text[start : start + size] for start in range(0, len(text), size)]
