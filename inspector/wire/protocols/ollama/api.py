"""Ollama as the tape sees it."""

import re

from turntape.cassettes.apis.interface import Api

from ..shared.ignored import CHAT_IGNORED

STREAM_ENDS = (b'"done":true', b'"done": true')

CHAT_API = Api(path=re.compile(r"api/chat"), ignored=CHAT_IGNORED, stream_ends=STREAM_ENDS, turn_paths=("/api/chat",))
GENERATE_API = Api(
    path=re.compile(r"api/generate"), ignored=CHAT_IGNORED, stream_ends=STREAM_ENDS, turn_paths=("/api/generate",)
)
