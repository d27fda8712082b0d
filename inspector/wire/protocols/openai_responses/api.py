"""OpenAI Responses as the tape sees it, and the Codex backend, which speaks it."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, SessionTurns, Spellings
from turntape.cassettes.regex import regex

from ...json_value import as_object, parse_json
from .faults import FAULTS

WALL_TIME_TEXT = regex(r"(?P<lead>^Wall time: )[\d.]+(?= seconds$)", re.MULTILINE)
"""How long a tool took, which Codex writes before its output."""
CHUNK_ID_TEXT = regex(r"(?P<lead>^Chunk ID: )[0-9a-f]+$(?=\nWall time: )", re.MULTILINE)
"""The number that Codex gives to a piece of a command's output."""


def _asks(message: bytes) -> bool:
    """A `response.create`. With `generate: false`, as Codex sends first, it gets no answer."""
    found = as_object(parse_json(message)) if b"response.create" in message else {}
    return found.get("type") == "response.create" and bool(found.get("generate", True))


def _answers(message: bytes) -> bool:
    found = as_object(parse_json(message)) if b"response.created" in message else {}
    return found.get("type") == "response.created"


SESSION_TURNS = SessionTurns(_asks, _answers)
"""OpenAI Realtime has the same two messages."""

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/tools": ([],),
        "/tools/*/*": (None,),
        "/tool_choice": ("auto",),
        "/include": ([],),
        "/stream": (False,),
        "/store": (True,),
        "/background": (False,),
        "/parallel_tool_calls": (True,),
        "/temperature": (1,),
        "/top_p": (1,),
        "/top_logprobs": (0,),
        "/truncation": ("disabled",),
        "/service_tier": ("auto",),
        "/reasoning": ({},),
        "/reasoning/*": (None,),
        "/text": ({},),
        "/text/format": ({"type": "text"},),
        "/text/verbosity": ("medium", None),
        "/instructions": ("",),
        "/input/*/*": (None,),
        "/input/*/type": ("message",),
        "/input/*/status": ("completed",),
        "/input/*/summary": ([],),
        "/input/*/content": ([], ""),
        "/input/*/content/*/annotations": ([],),
        "/input/*/content/*/detail": ("auto",),
        "/input/*/content/*/logprobs": ([],),
        "/input/*/content/*/*": (None,),
    },
    texts=("/input/*/content", "/input/*/output"),
    messages=("/input",),
    json=("/input/*/arguments",),
    described=("/tools", "/text/format", "/input/*/tools"),
)
"""OpenAI's reference of Responses, read 2026-11: the defaults, `input` as a text or as items."""

API = Api(
    path=regex(r"(?:.*/)?responses(?:/compact|/input_tokens)?"),
    ignored=IgnoredFields(
        pointers=(
            "/user",
            "/metadata",
            "/safety_identifier",
            "/prompt_cache_key",
            "/prompt_cache_retention",
            "/client_metadata",
            "/input/*/create_time",
            "/input/*/internal_chat_message_metadata_passthrough",
            "/input/*/fingerprint",
        ),
        ids=("/input/*/id", "/input/*/call_id", "/input/*/caller/caller_id", "/input/*/approval_request_id"),
        texts=(CHUNK_ID_TEXT, WALL_TIME_TEXT),
        spellings=SPELLINGS,
    ),
    faults=FAULTS,
    stream_ends=(b"response.completed", b"response.incomplete", b"response.failed"),
    turn_paths=("/responses",),
    session_turns=SESSION_TURNS,
)

OPENAI_RESPONSES = Registration(
    f"{__package__}.responses:OPENAI_RESPONSES",
    API,
    "openai-responses",
    paths=regex(r"/responses|/conversations"),
    answers=regex(rb'"response(?:\.compaction)?"'),
)
