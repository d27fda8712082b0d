"""Chat Completions as the tape sees it, and Mistral's endpoints of the same shape."""

from dataclasses import replace

from turntape.cassettes.apis.interface import Api, Registration
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED, CHAT_SPELLINGS
from .faults import FAULTS

API = Api(
    path=regex(r"(?:.*/)?chat/completions|.*/invocations"),
    ignored=CHAT_IGNORED,
    faults=FAULTS,
    stream_ends=(b"data: [DONE]", b"data:[DONE]", b'"finish_reason":"', b'"finish_reason": "'),
    turn_paths=("/chat/completions",),
)
_DEFAULTS = {place: values for place, values in CHAT_SPELLINGS.defaults.items() if place != "/temperature"}
"""Mistral's models have different temperatures by default."""
MISTRAL_API = Api(
    path=regex(r"(?:.*/)?(?:agents|fim)/completions"),
    ignored=replace(CHAT_IGNORED, spellings=replace(CHAT_SPELLINGS, defaults=_DEFAULTS)),
    faults=FAULTS,
)
"""Mistral's chat endpoint has the path of OpenAI's, and its streams end as OpenAI's do."""

MISTRAL_CHAT = Registration(
    f"{__package__}.mistral:MISTRAL_CHAT", MISTRAL_API, "mistral-chat", paths=regex(r"/completions/*$")
)
OPENAI_CHAT = Registration(
    f"{__package__}.chat:OPENAI_CHAT",
    API,
    "openai-chat",
    paths=regex(r"/chat/completions"),
    answers=regex(rb'chat\.completion|"choices"'),
)
