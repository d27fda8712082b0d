"""Mistral's conversations as the tape sees them."""

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, Spellings
from turntape.cassettes.regex import regex

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/stream": (False,),
        "/store": (True,),
        "/handoff_execution": ("server",),
        "/tools": ([],),
        "/tools/*/function/description": (None, ""),
        "/tools/*/function/strict": (None, False),
        "/guardrails": ([],),
        "/tool_confirmations": ([],),
        "/completion_args": ({},),
        "/completion_args/*": (None,),
        "/completion_args/tool_choice": ("auto",),
        "/completion_args/response_format": ({"type": "text"},),
        "/inputs/*/*": (None,),
        "/inputs/*/object": ("entry",),
        "/inputs/*/prefix": (False,),
        "/inputs/*/content/*/*": (None,),
        "/inputs/*/type": ("message.input",),
    },
    texts=("/inputs/*/content",),
    messages=("/inputs",),
    json=("/inputs/*/arguments",),
    described=("/tools", "/completion_args/response_format"),
)
"""The types of Mistral's Python client 2.9, read 2026-11."""

API = Api(
    path=regex(r"(?:.*/)?conversations(?:/[^/]+(?:/restart)?)?"),
    ignored=IgnoredFields(
        pointers=("/metadata", "/inputs/*/created_at", "/inputs/*/completed_at", "/completion_args/random_seed"),
        ids=("/inputs/*/id", "/inputs/*/tool_call_id", "/tool_confirmations/*/tool_call_id"),
        spellings=SPELLINGS,
    ),
    stream_ends=(b"conversation.response.done", b"conversation.response.error"),
    turn_paths=("/conversations", "/conversations/*", "/conversations/*/restart"),
)

MISTRAL_CONVERSATIONS = Registration(
    f"{__package__}.conversations:MISTRAL_CONVERSATIONS", API, "mistral-conversations", paths=regex(r"/conversations")
)
