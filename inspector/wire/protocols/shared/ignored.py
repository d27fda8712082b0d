"""What differs between two runs of one agent, for APIs in the shape of chat completions."""

from turntape.cassettes.apis.interface import IgnoredFields, Spellings

CHAT_SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/messages/*/*": (None,),
        "/messages/*/content": ("", []),
        "/messages/*/tool_calls": ([],),
        "/messages/*/tool_calls/*/type": ("function",),
        "/messages/*/prefix": (False,),
        "/messages/*/annotations": ([],),
        "/messages/*/content/*/*": (None,),
        "/messages/*/content/*/image_url/detail": ("auto",),
        "/tools": ([],),
        "/tools/*/function/strict": (None, False),
        "/tools/*/function/description": (None, ""),
        "/tool_choice": ("auto",),
        "/stream": (False,),
        "/n": (1,),
        "/temperature": (1,),
        "/top_p": (1,),
        "/presence_penalty": (0,),
        "/frequency_penalty": (0,),
        "/parallel_tool_calls": (True,),
        "/logprobs": (False,),
        "/logit_bias": ({},),
        "/stop": ([],),
        "/modalities": (["text"],),
        "/response_format": ({"type": "text"},),
        "/service_tier": ("auto",),
        "/store": (False,),
        "/options": ({},),
        "/safe_prompt": (False,),
    },
    texts=("/messages/*/content",),
    json=("/messages/*/tool_calls/*/function/arguments",),
    described=("/tools", "/functions", "/response_format"),
)
"""OpenAI's reference of chat completions, read 2026-11: the defaults, and content as a string or as parts.
`prefix`, `safe_prompt` and arguments as an object are Mistral's (its Python client 2.9), at the same endpoint."""

CHAT_IGNORED = IgnoredFields(
    pointers=(
        "/user",
        "/metadata",
        "/session_id",
        "/trace",
        "/safety_identifier",
        "/prompt_cache_key",
        "/prompt_cache_retention",
        "/seed",
        "/random_seed",
        "/options/seed",
        "/tools/*/cache_control",
        "/messages/*/cache_control",
        "/messages/*/content/*/cache_control",
        "/messages/*/tool_calls/*/index",
    ),
    ids=("/messages/*/tool_calls/*/id", "/messages/*/tool_call_id"),
    spellings=CHAT_SPELLINGS,
)
