"""Every API that the bench speaks, by name."""

from .anthropic_messages import ANTHROPIC
from .bedrock_converse import BEDROCK
from .dialect import Dialect
from .gemini_generate import GEMINI
from .openai_chat import CHATS
from .openai_responses import RESPONSES

DIALECTS: dict[str, Dialect] = {d.name: d for d in (*CHATS, *RESPONSES, *ANTHROPIC, *GEMINI, *BEDROCK)}

__all__ = ["DIALECTS", "Dialect"]
