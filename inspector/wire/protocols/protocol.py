"""What a protocol is: one constant of this type holds everything that is known about one API.

A protocol decides by path and body shape whether an exchange is its own (by host last, and only where two
protocols share a shape), reads the request, and reads the answer. It never raises: `problems` names what it cannot
read. The registry (`registry.py`) has them in order, most specific first.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from turntape.cassettes.apis.interface import Api
from turntape.cassettes.frozen import frozen

from ..exchange import Exchange
from ..values import Kind, RequestReading, ResponseReading
from .traits import AnswerRules, Caching, EditTargets, Pairing, Reasoning, RequestRules, Rewrite


@frozen
class Protocol:
    name: str
    """The name in `show --json`, labels and docs: `openai-chat`."""
    title: str
    """Its usual name: `OpenAI Chat Completions`."""
    spec: str
    """Where its shape is specified, and the day it was read."""
    detect: Callable[[Exchange], Kind | None]
    """The kind of the endpoint when this exchange is this protocol's, else None."""
    read_request: Callable[[Exchange], RequestReading]
    read_response: Callable[[Exchange, RequestReading], ResponseReading]
    finish: Mapping[str, str] = field(default_factory=dict[str, str])
    """The API's finish words and their labels, for docs/protocols.md."""
    not_read: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """What the API's SDKs know and this protocol does not read: by kind of member, each word and what happens to it."""
    streams: tuple[str, ...] = ()
    """The framings it streams in: `sse`, `ndjson`, `aws-event-stream`, `json-array`."""
    api: Api = Api()
    """What matching, faults and recording need: paths, ignored fields, errors, stream ends."""
    rewrite: Rewrite | None = None
    """How a stream is written again after an edit; None when that is not possible."""
    edit_targets: EditTargets | None = None
    """What can be edited by name; None when an answer is edited by JSON pointer only."""
    pairing: Pairing = Pairing()
    requests: RequestRules = RequestRules()
    answers: AnswerRules = AnswerRules()
    reasoning: Reasoning = Reasoning()
    caching: Caching = Caching()
    price_provider: str | None = None
    """The provider in genai-prices whose prices apply when the host is not known."""
    has_prices: bool = True
    """False when such a server usually runs on the user's machine, so that its models have no price."""
    operation: str = "chat"
    """The operation name of OpenTelemetry's GenAI conventions."""
