"""Cohere as the tape sees it; both versions have one path."""

from dataclasses import replace

from turntape.cassettes.apis.interface import Api, Registration, Spellings
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/stream": (False,),
        "/temperature": (0.3,),
        "/p": (0.75,),
        "/k": (0,),
        "/frequency_penalty": (0,),
        "/presence_penalty": (0,),
        "/logprobs": (False,),
        "/priority": (0,),
        "/safety_mode": ("CONTEXTUAL",),
        "/strict_tools": (False,),
        "/tools": ([],),
        "/tools/*/function/description": (None, ""),
        "/documents": ([],),
        "/stop_sequences": ([],),
        "/response_format": ({"type": "text"},),
        "/citation_options": ({},),
        "/citation_options/mode": ("enabled", "ENABLED", None),
        "/messages/*/*": (None,),
        "/messages/*/content": ("", []),
        "/messages/*/content/*/*": (None,),
        "/messages/*/content/*/document/*": (None,),
        "/messages/*/tool_plan": ("",),
        "/messages/*/tool_calls": ([],),
        "/messages/*/citations": ([],),
        "/chat_history": ([],),
        "/chat_history/*/*": (None,),
        "/chat_history/*/tool_calls": ([],),
        "/connectors": ([],),
        "/search_queries_only": (False,),
        "/citation_quality": ("enabled",),
        "/raw_prompting": (False,),
        "/force_single_step": (False,),
        "/tool_results": ([],),
    },
    texts=("/messages/*/content",),
    json=("/messages/*/tool_calls/*/function/arguments",),
    described=("/tools", "/response_format"),
)
"""The types of Cohere's Python client 7.3 for `v2/chat` and `v1/chat`, read 2026-11: the defaults that they state, and
content as a string or as blocks. An empty `preamble` is none, which is not the default one."""

API = Api(
    path=regex(r"chat"),
    ignored=replace(CHAT_IGNORED, spellings=SPELLINGS),
    stream_ends=(b"message-end",),
    turn_paths=("/v2/chat", "/v1/chat"),
)

COHERE_V2 = Registration(f"{__package__}.v2:COHERE_V2", API, "cohere-v2", paths=regex(r"/v2/chat/*$"))
COHERE_V1 = Registration(f"{__package__}.v1:COHERE_V1", API, "cohere-v1", paths=regex(r"/chat/*$|/v1/generate/*$"))
