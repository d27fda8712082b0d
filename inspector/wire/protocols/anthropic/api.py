"""Anthropic Messages as the tape sees it: at its own host, on Vertex, and behind gateways."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration, Spellings
from turntape.cassettes.regex import regex

from .faults import FAULTS

BILLING_TEXT = regex(r"(?P<lead>^x-anthropic-billing-header:).*", re.DOTALL)
"""A system block in which Claude Code counts and signs its requests."""

SPELLINGS = Spellings(
    defaults={
        "/*": (None,),
        "/system": ("", []),
        "/tools": ([],),
        "/tools/*/type": ("custom",),
        "/tools/*/*": (None,),
        "/tool_choice": ({"type": "auto"},),
        "/tool_choice/disable_parallel_tool_use": (False, None),
        "/thinking": ({"type": "disabled"},),
        "/stop_sequences": ([],),
        "/stream": (False,),
        "/temperature": (1,),
        "/service_tier": ("auto",),
        "/mcp_servers": ([],),
        "/messages/*/content/*/is_error": (False,),
        "/messages/*/content/*/citations": ([],),
        "/messages/*/content/*/content": ("", []),
        "/messages/*/content/*/caller": ({"type": "direct"},),
        "/messages/*/content/*/*": (None,),
        "/messages/*/content/*/content/*/citations": (None, []),
        "/system/*/citations": (None, []),
    },
    texts=("/system", "/messages/*/content", "/messages/*/content/*/content"),
    described=("/tools", "/output_format", "/output_config/format"),
)
"""Anthropic's reference of Messages, read 2026-11: a string is short for one text block."""

IGNORED = IgnoredFields(
    pointers=(
        "/metadata",
        "/diagnostics",
        "/cache_control",
        "/system/*/cache_control",
        "/tools/*/cache_control",
        "/messages/*/content/*/cache_control",
        "/messages/*/content/*/content/*/cache_control",
    ),
    ids=(
        "/messages/*/content/*/id",
        "/messages/*/content/*/tool_use_id",
        "/messages/*/content/*/caller/tool_id",
    ),
    texts=(BILLING_TEXT,),
    spellings=SPELLINGS,
)

API = Api(
    path=regex(r"(?:.*/)?messages(?:/count_tokens)?|.*:(?:rawPredict|streamRawPredict)"),
    ignored=IGNORED,
    faults=FAULTS,
    stream_ends=(b"message_stop", b'"stop_reason":"'),
    turn_paths=("/messages", ":rawPredict", ":streamRawPredict"),
    idle_query=("beta",),  # the header `anthropic-beta` says it too, and anthropic 2 sends it alone
)

ANTHROPIC_MESSAGES = Registration(
    f"{__package__}.messages:ANTHROPIC_MESSAGES",
    API,
    "anthropic-messages",
    paths=regex(r"/messages|awPredict/*$"),
    answers=regex(rb'message_start|"type"\s*:\s*"message"'),
)
ANTHROPIC_COMPLETE = Registration(
    f"{__package__}.complete:ANTHROPIC_COMPLETE", Api(), "anthropic-complete", paths=regex(r"/complete/*$")
)
