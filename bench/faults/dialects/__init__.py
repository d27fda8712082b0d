"""Every API that the bench speaks, by name."""

from .anthropic_messages import ANTHROPIC
from .bedrock_converse import BEDROCK
from .cohere_v2 import CohereV2
from .deepseek_chat import DeepseekChat
from .dialect import Dialect
from .gemini_generate import GEMINI
from .mistral_chat import MistralChat
from .ollama_chat import OllamaChat
from .openai_chat import OpenaiChat
from .openai_responses import RESPONSES

CHATS = (OpenaiChat(), DeepseekChat(), MistralChat(), CohereV2(), OllamaChat())

DIALECTS: dict[str, Dialect] = {d.name: d for d in (*CHATS, *RESPONSES, *ANTHROPIC, *GEMINI, *BEDROCK)}

__all__ = ["DIALECTS", "Dialect"]
