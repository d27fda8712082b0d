"""Anthropic's managed agents as the tape sees them."""

import re

from turntape.cassettes.apis.interface import Api, IgnoredFields

API = Api(
    path=re.compile(r"(?:.*/)?sessions(?:/[^/]+/events)?"),
    ignored=IgnoredFields(
        pointers=("/metadata",),
        ids=("/events/*/custom_tool_use_id", "/events/*/tool_use_id"),
    ),
    other_paths=("/sessions/*/events/stream",),
)
