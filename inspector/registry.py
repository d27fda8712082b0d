"""The protocols, most specific first. Adding one is one file and one row here."""

from .exchange import Exchange
from .protocols import anthropic_messages, gemini_generate, openai_chat, openai_completions
from .protocols.protocol import Protocol
from .reading import Kind

PROTOCOLS: tuple[Protocol, ...] = (
    anthropic_messages.ANTHROPIC_MESSAGES,
    gemini_generate.GEMINI_GENERATE,
    openai_chat.OPENAI_CHAT,
    openai_completions.OPENAI_COMPLETIONS,
)


def detect(exchange: Exchange) -> tuple[Protocol, Kind] | None:
    """The first protocol of the table whose exchange this is, with what its endpoint is for."""
    for protocol in PROTOCOLS:
        kind = protocol.detect(exchange)
        if kind is not None:
            return protocol, kind
    return None


def by_name(name: str) -> Protocol | None:
    """The protocol of that name."""
    return next((protocol for protocol in PROTOCOLS if protocol.name == name), None)
