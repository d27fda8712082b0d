"""Anthropic Messages as the tape sees it: at its own host, on Vertex, and behind gateways."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields

from .faults import FAULTS

BILLING_TEXT = re.compile(r"(?P<lead>^x-anthropic-billing-header:).*", re.DOTALL)
"""A system block in which Claude Code counts and signs its requests."""

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
)

API = Api(
    path=re.compile(r"(?:.*/)?messages(?:/count_tokens)?|.*:(?:rawPredict|streamRawPredict)"),
    ignored=IGNORED,
    faults=FAULTS,
    stream_ends=(b"message_stop", b'"stop_reason":"'),
    turn_paths=("/messages", ":rawPredict", ":streamRawPredict"),
)
