"""Our protocols, most specific first: adding one is one folder and one row here.

This table is what our entry point in the group `turntape.protocols` names. A row is light: the reading of a protocol
is imported when something is read, not when something is replayed.
"""

from turntape.cassettes.apis.interface import Api, Registration

from .anthropic import api as anthropic
from .anthropic_agents import api as anthropic_agents
from .bedrock import api as bedrock
from .cloudflare import api as cloudflare
from .cohere import api as cohere
from .dashscope import api as dashscope
from .gemini import api as gemini
from .mcp import api as mcp
from .mistral_conversations import api as mistral_conversations
from .ollama import api as ollama
from .openai_agents import api as openai_agents
from .openai_assistants import api as openai_assistants
from .openai_chat import api as openai_chat
from .openai_completions import api as openai_completions
from .openai_realtime import api as openai_realtime
from .openai_responses import api as openai_responses
from .replicate import api as replicate


def _row(place: str, api: Api | None = None) -> Registration:
    return Registration(f"{__package__}.{place}", api or Api())


BUILT_IN: tuple[Registration, ...] = (
    _row("mcp.tool_wire:MCP", mcp.API),
    _row("otlp:OTLP"),
    _row("bedrock.converse:BEDROCK_CONVERSE", bedrock.CONVERSE_API),
    _row("bedrock.invoke:BEDROCK_INVOKE", bedrock.INVOKE_API),
    _row("bedrock.agent:BEDROCK_AGENT"),
    _row("openai_agents.session:OPENAI_AGENTS", openai_agents.API),
    _row("anthropic_agents.session:ANTHROPIC_AGENTS", anthropic_agents.API),
    _row("anthropic.messages:ANTHROPIC_MESSAGES", anthropic.API),
    _row("anthropic.complete:ANTHROPIC_COMPLETE"),
    _row("gemini.interactions:GEMINI_INTERACTIONS", gemini.INTERACTIONS_API),
    _row("gemini.generate:GEMINI_GENERATE", gemini.API),
    _row("gemini.live:GEMINI_LIVE", gemini.LIVE_API),
    _row("mistral_conversations.conversations:MISTRAL_CONVERSATIONS", mistral_conversations.API),
    _row("openai_responses.responses:OPENAI_RESPONSES", openai_responses.API),
    _row("openai_realtime.realtime:OPENAI_REALTIME", openai_realtime.API),
    _row("openai_assistants.assistants:OPENAI_ASSISTANTS", openai_assistants.API),
    _row("ollama.chat:OLLAMA_CHAT", ollama.CHAT_API),
    _row("ollama.generate:OLLAMA_GENERATE", ollama.GENERATE_API),
    _row("cohere.v2:COHERE_V2", cohere.API),
    _row("cohere.v1:COHERE_V1", cohere.API),
    _row("dashscope.generation:DASHSCOPE", dashscope.API),
    _row("watsonx:WATSONX"),
    _row("cloudflare.run:CLOUDFLARE_RUN", cloudflare.API),
    _row("replicate.predictions:REPLICATE", replicate.API),
    _row("alephalpha_complete:ALEPHALPHA_COMPLETE"),
    _row("openai_chat.mistral:MISTRAL_CHAT", openai_chat.MISTRAL_API),
    _row("openai_chat.chat:OPENAI_CHAT", openai_chat.API),
    _row("openai_completions.completions:OPENAI_COMPLETIONS", openai_completions.API),
    _row("text_generation:TEXT_GENERATION"),
    _row("endpoints:ENDPOINT", Api(other_paths=("/embeddings",))),
)
