"""Mistral's conversations as the tape sees them."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields

API = Api(
    path=re.compile(r"(?:.*/)?conversations(?:/[^/]+(?:/restart)?)?"),
    ignored=IgnoredFields(
        pointers=("/metadata", "/inputs/*/created_at", "/inputs/*/completed_at", "/completion_args/random_seed"),
        ids=("/inputs/*/id", "/inputs/*/tool_call_id", "/tool_confirmations/*/tool_call_id"),
    ),
    stream_ends=(b"conversation.response.done", b"conversation.response.error"),
    turn_paths=("/conversations", "/conversations/*", "/conversations/*/restart"),
)
