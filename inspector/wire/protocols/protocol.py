"""What a protocol is: one file that ends in one constant of this type.

A protocol decides by path and body shape whether an exchange is its own (host last, and only where two
protocols share a shape), reads the request, and reads the answer. It never raises: what it cannot read it
says in `problems`. The registry (`registry.py`) is a literal table of these, most specific first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ..exchange import Exchange
from ..values import Kind, RequestReading, ResponseReading


@dataclass(frozen=True, slots=True)
class Protocol:
    name: str
    """The name in `show --json`, labels and docs: `openai-chat`."""
    title: str
    """What people call it: `OpenAI Chat Completions`."""
    spec: str
    """Where its shape is specified, and the day it was read."""
    detect: Callable[[Exchange], Kind | None]
    """The kind of the endpoint when this exchange is this protocol's, else None."""
    read_request: Callable[[Exchange], RequestReading]
    read_response: Callable[[Exchange, RequestReading], ResponseReading]
    price_flavor: str | None = None
    """The `api_flavor` of genai-prices for its usage, when it has one."""
    finish: dict[str, str] | None = None
    """The API's finish words and their labels, for docs/protocols.md."""
    streams: tuple[str, ...] = ()
    """The framings it streams in: `sse`, `ndjson`, `aws-event-stream`, `json-array`."""
