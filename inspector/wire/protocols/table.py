"""Our protocols, most specific first: adding one is one folder and one row here.

This table is what our entry point in the group `turntape.protocols` names. A row is light: each package says in its
`api.py` by which paths and answers it is known, and its reading is imported when a round trip may be its own, not when
something is replayed. A protocol of one module has no such file, so its row says it.
"""

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

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

BUILT_IN: tuple[Registration, ...] = (
    mcp.MCP,
    Registration(f"{__package__}.otlp:OTLP", Api(), "otlp", paths=regex(r"/v1/traces$")),
    bedrock.BEDROCK_CONVERSE,
    bedrock.BEDROCK_INVOKE,
    bedrock.BEDROCK_AGENT,
    openai_agents.OPENAI_AGENTS,
    anthropic_agents.ANTHROPIC_AGENTS,
    anthropic.ANTHROPIC_MESSAGES,
    anthropic.ANTHROPIC_COMPLETE,
    gemini.GEMINI_INTERACTIONS_LIVE,
    gemini.GEMINI_INTERACTIONS,
    gemini.GEMINI_GENERATE,
    gemini.GEMINI_LIVE,
    mistral_conversations.MISTRAL_CONVERSATIONS,
    openai_responses.OPENAI_RESPONSES,
    openai_realtime.OPENAI_REALTIME,
    openai_assistants.OPENAI_ASSISTANTS,
    ollama.OLLAMA_CHAT,
    ollama.OLLAMA_GENERATE,
    cohere.COHERE_V2,
    cohere.COHERE_V1,
    dashscope.DASHSCOPE,
    Registration(
        f"{__package__}.watsonx:WATSONX", Api(), "watsonx-text", paths=regex(r"/generation/text(?:_stream)?/*$")
    ),
    cloudflare.CLOUDFLARE_RUN,
    replicate.REPLICATE,
    Registration(
        f"{__package__}.alephalpha_complete:ALEPHALPHA_COMPLETE",
        Api(),
        "alephalpha-complete",
        paths=regex(r"/complete/*$"),
    ),
    openai_chat.MISTRAL_CHAT,
    openai_chat.OPENAI_CHAT,
    openai_completions.OPENAI_COMPLETIONS,
    Registration(
        f"{__package__}.text_generation:TEXT_GENERATION",
        Api(),
        "text-generation",
        paths=regex(r"/models/|/invocations|/generate|^/*$"),
    ),
    Registration(f"{__package__}.endpoints:ENDPOINT", Api(other_paths=("/embeddings",)), "endpoint"),
)
