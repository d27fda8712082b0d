"""Chat Completions as the tape sees it, and Mistral's endpoints of the same shape."""

import re

from turntape.cassettes.apis.interface import Api

from ..shared.ignored import CHAT_IGNORED
from .faults import FAULTS

API = Api(
    path=re.compile(r"(?:.*/)?chat/completions|.*/invocations"),
    ignored=CHAT_IGNORED,
    faults=FAULTS,
    stream_ends=(b"data: [DONE]", b"data:[DONE]", b'"finish_reason":"', b'"finish_reason": "'),
    turn_paths=("/chat/completions",),
)
MISTRAL_API = Api(path=re.compile(r"(?:.*/)?(?:agents|fim)/completions"), ignored=CHAT_IGNORED, faults=FAULTS)
"""Mistral's chat endpoint has the path of OpenAI's, and its streams end as OpenAI's do."""
