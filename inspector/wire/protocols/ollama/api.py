"""Ollama as the tape sees it."""

from dataclasses import replace

from turntape.cassettes.apis.interface import Api, Registration, Spellings
from turntape.cassettes.regex import regex

from ..shared.ignored import CHAT_IGNORED

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/stream": (True,),
        "/options": ({},),
        "/options/*": (None,),
        "/format": ("",),
        "/keep_alive": ("5m",),
        "/raw": (False,),
        "/logprobs": (False,),
        "/top_logprobs": (0,),
        "/tools": ([],),
        "/tools/*/type": ("function",),
        "/tools/*/function/description": (None, ""),
        "/messages/*/*": (None,),
        "/messages/*/content": ("",),
        "/messages/*/thinking": ("",),
        "/messages/*/images": ([],),
        "/messages/*/tool_calls": ([],),
        "/messages/*/tool_calls/*/type": ("function",),
        "/system": ("",),
        "/template": ("",),
        "/prompt": ("",),
        "/suffix": ("",),
        "/context": ([],),
        "/images": ([],),
    },
    described=("/tools", "/format"),
)
"""Ollama's reference of `/api/chat` and `/api/generate`, and the types of its Python client 0.6, read 2026-11.

Without `stream` the answer is a stream. A model file has its own values for `options` and for `think`, so none of them
is a default.
"""
IGNORED = replace(
    CHAT_IGNORED,
    pointers=(*CHAT_IGNORED.pointers, "/messages/*/tool_calls/*/function/index"),
    spellings=SPELLINGS,
)

STREAM_ENDS = (b'"done":true', b'"done": true')

CHAT_API = Api(path=regex(r"api/chat"), ignored=IGNORED, stream_ends=STREAM_ENDS, turn_paths=("/api/chat",))
GENERATE_API = Api(path=regex(r"api/generate"), ignored=IGNORED, stream_ends=STREAM_ENDS, turn_paths=("/api/generate",))

OLLAMA_CHAT = Registration(f"{__package__}.chat:OLLAMA_CHAT", CHAT_API, "ollama-chat", paths=regex(r"/api/chat/*$"))
OLLAMA_GENERATE = Registration(
    f"{__package__}.generate:OLLAMA_GENERATE", GENERATE_API, "ollama-generate", paths=regex(r"/api/generate/*$")
)
