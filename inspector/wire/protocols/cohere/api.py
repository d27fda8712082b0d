"""Cohere as the tape sees it; both versions have one path."""

import re

from turntape.cassettes.apis.interface import Api

from ..shared.ignored import CHAT_IGNORED

API = Api(
    path=re.compile(r"chat"), ignored=CHAT_IGNORED, stream_ends=(b"message-end",), turn_paths=("/v2/chat", "/v1/chat")
)
