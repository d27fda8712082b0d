"""The shape of each API of the corpus."""

from .blocks import Anthropic, Converse, InvokeAnthropic, InvokeNova
from .chat import Chat, Cohere, Mistral, Ollama
from .gemini import Gemini
from .responses import Interactions, Responses
from .shape import Call, Place, Result, Said, Shape, Tool, Value

_CHAT, _RESPONSES, _GEMINI, _CONVERSE = Chat(), Responses(), Gemini(), Converse()
_BY_API: dict[str, Shape] = {
    "anthropic-messages": Anthropic(),
    "bedrock-converse": _CONVERSE,
    "bedrock-converse-stream": _CONVERSE,
    "chatgpt-codex-responses": _RESPONSES,
    "cohere-v2": Cohere(),
    "gemini-generate": _GEMINI,
    "gemini-interactions": Interactions(),
    "gemini-stream": _GEMINI,
    "groq": _CHAT,
    "mistral": Mistral(),
    "ollama-chat": Ollama(),
    "openrouter": _CHAT,
    "vertex-generate": _GEMINI,
    "vertex-stream": _GEMINI,
}
_INVOKE = {"toolConfig": InvokeNova(), "anthropic_version": InvokeAnthropic()}


def shape_of(api: str, body: dict[str, object]) -> Shape | None:
    """The shape of an API of the corpus; None for one that has no tools."""
    if api in _BY_API:
        return _BY_API[api]
    if api in ("bedrock-invoke", "bedrock-invoke-stream"):
        return next((shape for field, shape in _INVOKE.items() if field in body), None)
    if api.endswith("-responses"):
        return _RESPONSES
    return _CHAT if api.endswith("-chat") else None


__all__ = ["Call", "Place", "Result", "Said", "Shape", "Tool", "Value", "shape_of"]
