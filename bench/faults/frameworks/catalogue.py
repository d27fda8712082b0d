"""The frameworks and what the scripted server does to them."""

from dataclasses import dataclass

from tests.clients.catalogue import CLIENTS, Client, Variant
from turntape.proxy.scripted.faults import Fault
from turntape.proxy.scripted.story import WRONG_CALLS, Story


@dataclass(frozen=True, slots=True)
class Framework:
    client: Client
    variant: Variant

    @property
    def name(self) -> str:
        return f"{self.client.name} {self.variant.words}"


USED = {
    "ai": "responses streamed",
    "autogen-agentchat": "chat streamed",
    "crewai": "anthropic",
    "google-adk": "generate streamed",
    "haystack-ai": "chat",
    "langgraph": "chat",
    "llama-index": "chat streamed",
    "openai-agents": "responses",
    "pydantic-ai": "anthropic streamed",
    "semantic-kernel": "chat streamed",
    "smolagents": "chat",
    "strands-agents": "bedrock streamed",
}
"""One way to use each framework, so that the protocols and both modes are there."""
FRAMEWORKS = tuple(
    Framework(client, next(v for v in client.variants if v.words == USED[client.name]))
    for client in CLIENTS
    if client.name in USED
)


@dataclass(frozen=True, slots=True)
class Served:
    """What the server does wrong, and how turntape should see it."""

    name: str
    layers: tuple[str, ...]
    finds: frozenset[str]
    fault: Fault | None = None
    turn: int = 2
    """The answer that is wrong, from 1; every attempt at it is."""
    story: Story | None = None
    """Another story, for what the model does wrong."""
    streamed: bool | None = None
    """True or False where only that mode has this fault."""
    protocols: frozenset[str] = frozenset()
    """The protocols that have this fault; empty for all."""

    def fits(self, framework: Framework) -> bool:
        variant = framework.variant
        mode = self.streamed is None or self.streamed == variant.streamed
        fitting = self.story is None or framework.client.name != "smolagents"
        return mode and fitting and (not self.protocols or variant.protocol in self.protocols)


def _row(name: str, layers: str, finds: str, fault: Fault | None = None, *, turn: int = 2, story: Story | None = None,
         streamed: bool | None = None, protocols: str = "") -> Served:  # fmt: skip
    return Served(name, tuple(layers.split()), frozenset(finds.split()), fault, turn, story, streamed,
                  frozenset(protocols.split()))  # fmt: skip


LABELLED = "openai-chat anthropic-messages bedrock-converse"
SERVED: tuple[Served, ...] = (
    _row("an unknown tool", "model", "model-unknown-tool", story=WRONG_CALLS),
    _row("arguments are broken JSON", "model", "call-args-not-json", Fault("bad_arguments"),
         protocols="openai-chat openai-responses"),
    _row("an empty last answer", "model api", "model-empty-response", Fault("empty"), turn=4),
    _row("a call cut off at the output cap", "api", "api-length-truncated-tool-call", Fault("truncated_arguments")),
    _row("calls under the word for a complete answer", "api", "api-finish-label-disagrees", Fault("wrong_finish"),
         protocols=LABELLED),
    _row("status 500", "api", "api-overloaded", Fault("status", 500)),
    _row("status 429", "api", "api-rate-limited", Fault("status", 429)),
    _row("status 401", "client", "access-refused", Fault("status", 401), turn=1),
    _row("a stream that ends early", "api", "api-stream-cut", Fault("cut", 2), turn=1, streamed=True),
    _row("an error inside a stream", "api", "api-error-in-200-stream", Fault("error_event", 2), streamed=True),
    _row("a body that is not JSON", "api", "api-malformed-stream api-stream-cut", Fault("invalid_json"),
         streamed=False),
    _row("a closed connection", "api", "api-unreachable api-stream-cut", Fault("reset")),
)  # fmt: skip
