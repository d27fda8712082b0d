"""Our protocols, most specific first: adding one is one folder and one row here.

This table is what our entry point in the group `turntape.protocols` names. A row is light: the reading of a protocol
is imported when a round trip may be its own, not when something is replayed.
"""

import re

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


def _row(
    name: str,
    place: str,
    api: Api | None = None,
    *,
    paths: re.Pattern[str] | None = None,
    answers: re.Pattern[bytes] | None = None,
) -> Registration:
    return Registration(f"{__package__}.{place}", api or Api(), name, paths, answers)


BUILT_IN: tuple[Registration, ...] = (
    _row("mcp", "mcp.tool_wire:MCP", mcp.API),
    _row("otlp", "otlp:OTLP", paths=regex(r"/v1/traces$")),
    _row(
        "bedrock-converse",
        "bedrock.converse:BEDROCK_CONVERSE",
        bedrock.CONVERSE_API,
        paths=regex(r"/converse(?:-stream)?/*$"),
    ),
    _row(
        "bedrock-invoke",
        "bedrock.invoke:BEDROCK_INVOKE",
        bedrock.INVOKE_API,
        paths=regex(r"/invoke(?:-with-response-stream)?/*$"),
    ),
    _row("bedrock-agent", "bedrock.agent:BEDROCK_AGENT", paths=regex(r"/agentAliases/|/retrieveAndGenerate")),
    _row("openai-agents", "openai_agents.session:OPENAI_AGENTS", openai_agents.API, paths=regex(r"/agents/sessions")),
    _row(
        "anthropic-agents",
        "anthropic_agents.session:ANTHROPIC_AGENTS",
        anthropic_agents.API,
        paths=regex(r"/v1/sessions|/stream/*$"),
    ),
    _row(
        "anthropic-messages",
        "anthropic.messages:ANTHROPIC_MESSAGES",
        anthropic.API,
        paths=regex(r"/messages|awPredict/*$"),
        answers=regex(rb'message_start|"type"\s*:\s*"message"'),
    ),
    _row("anthropic-complete", "anthropic.complete:ANTHROPIC_COMPLETE", paths=regex(r"/complete/*$")),
    _row(
        "gemini-interactions",
        "gemini.interactions:GEMINI_INTERACTIONS",
        gemini.INTERACTIONS_API,
        paths=regex(r"/interactions"),
    ),
    _row(
        "gemini-generate",
        "gemini.generate:GEMINI_GENERATE",
        gemini.API,
        paths=regex(r"(?::|%3A)\w+$", re.IGNORECASE),
        answers=regex(rb'"candidates"'),
    ),
    _row("gemini-live", "gemini.live:GEMINI_LIVE", gemini.LIVE_API, paths=regex(r"BidiGenerateContent")),
    _row(
        "mistral-conversations",
        "mistral_conversations.conversations:MISTRAL_CONVERSATIONS",
        mistral_conversations.API,
        paths=regex(r"/conversations"),
    ),
    _row(
        "openai-responses",
        "openai_responses.responses:OPENAI_RESPONSES",
        openai_responses.API,
        paths=regex(r"/responses|/conversations"),
        answers=regex(rb'"response(?:\.compaction)?"'),
    ),
    _row(
        "openai-realtime", "openai_realtime.realtime:OPENAI_REALTIME", openai_realtime.API, paths=regex(r"/realtime/*$")
    ),
    _row(
        "openai-assistants",
        "openai_assistants.assistants:OPENAI_ASSISTANTS",
        openai_assistants.API,
        paths=regex(r"/threads|/assistants"),
    ),
    _row("ollama-chat", "ollama.chat:OLLAMA_CHAT", ollama.CHAT_API, paths=regex(r"/api/chat/*$")),
    _row("ollama-generate", "ollama.generate:OLLAMA_GENERATE", ollama.GENERATE_API, paths=regex(r"/api/generate/*$")),
    _row("cohere-v2", "cohere.v2:COHERE_V2", cohere.API, paths=regex(r"/v2/chat/*$")),
    _row("cohere-v1", "cohere.v1:COHERE_V1", cohere.API, paths=regex(r"/chat/*$|/v1/generate/*$")),
    _row("dashscope", "dashscope.generation:DASHSCOPE", dashscope.API, paths=regex(r"/services/aigc/")),
    _row("watsonx-text", "watsonx:WATSONX", paths=regex(r"/generation/text(?:_stream)?/*$")),
    _row("cloudflare-run", "cloudflare.run:CLOUDFLARE_RUN", cloudflare.API, paths=regex(r"/(?:ai/run|workers-ai)/")),
    _row("replicate-predictions", "replicate.predictions:REPLICATE", replicate.API, paths=regex(r"/predictions")),
    _row("alephalpha-complete", "alephalpha_complete:ALEPHALPHA_COMPLETE", paths=regex(r"/complete/*$")),
    _row("mistral-chat", "openai_chat.mistral:MISTRAL_CHAT", openai_chat.MISTRAL_API, paths=regex(r"/completions/*$")),
    _row(
        "openai-chat",
        "openai_chat.chat:OPENAI_CHAT",
        openai_chat.API,
        paths=regex(r"/chat/completions"),
        answers=regex(rb'chat\.completion|"choices"'),
    ),
    _row(
        "openai-completions",
        "openai_completions.completions:OPENAI_COMPLETIONS",
        openai_completions.API,
        paths=regex(r"/completions/*$"),
    ),
    _row("text-generation", "text_generation:TEXT_GENERATION", paths=regex(r"/models/|/invocations|/generate|^/*$")),
    _row("endpoint", "endpoints:ENDPOINT", Api(other_paths=("/embeddings",))),
)
