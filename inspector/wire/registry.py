"""The protocols, most specific first. Adding one is one file and one row here."""

from .exchange import Exchange
from .protocols import (
    alephalpha_complete,
    endpoints,
    openai_assistants,
    openai_completions,
    replicate,
    text_generation,
    watsonx,
)
from .protocols.anthropic import complete as anthropic_complete
from .protocols.anthropic import messages as anthropic_messages
from .protocols.bedrock import agent as bedrock_agent
from .protocols.bedrock import converse as bedrock_converse
from .protocols.bedrock import invoke as bedrock_invoke
from .protocols.cohere import v1 as cohere_v1
from .protocols.cohere import v2 as cohere_v2
from .protocols.gemini import generate as gemini_generate
from .protocols.gemini import interactions as gemini_interactions
from .protocols.ollama import chat as ollama_chat
from .protocols.ollama import generate as ollama_generate
from .protocols.openai_chat import chat as openai_chat
from .protocols.openai_chat import mistral as mistral_chat
from .protocols.openai_responses import responses as openai_responses
from .protocols.protocol import Protocol
from .protocols.unknown import UNKNOWN
from .values import Kind

PROTOCOLS: tuple[Protocol, ...] = (
    bedrock_converse.BEDROCK_CONVERSE,
    bedrock_invoke.BEDROCK_INVOKE,
    bedrock_agent.BEDROCK_AGENT,
    anthropic_messages.ANTHROPIC_MESSAGES,
    anthropic_complete.ANTHROPIC_COMPLETE,
    gemini_interactions.GEMINI_INTERACTIONS,
    gemini_generate.GEMINI_GENERATE,
    openai_responses.OPENAI_RESPONSES,
    openai_assistants.OPENAI_ASSISTANTS,
    ollama_chat.OLLAMA_CHAT,
    ollama_generate.OLLAMA_GENERATE,
    cohere_v2.COHERE_V2,
    cohere_v1.COHERE_V1,
    watsonx.WATSONX,
    replicate.REPLICATE,
    alephalpha_complete.ALEPHALPHA_COMPLETE,
    mistral_chat.MISTRAL_CHAT,
    openai_chat.OPENAI_CHAT,
    openai_completions.OPENAI_COMPLETIONS,
    text_generation.TEXT_GENERATION,
    endpoints.ENDPOINT,
)

_BY_NAME: dict[str, Protocol] = {protocol.name: protocol for protocol in PROTOCOLS}


def detect(exchange: Exchange) -> tuple[Protocol, Kind] | None:
    """The first protocol of the table whose exchange this is, with what its endpoint is for."""
    for protocol in PROTOCOLS:
        kind = protocol.detect(exchange)
        if kind is not None:
            return protocol, kind
    return None


def by_name(name: str) -> Protocol | None:
    """The protocol of that name."""
    return _BY_NAME.get(name)


def traits_of(name: str) -> Protocol:
    """The protocol of that name with its traits; `UNKNOWN`, of which nothing is known, for any other name."""
    return by_name(name) or UNKNOWN
