"""Anthropic's managed agents as the tape sees them."""

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration
from turntape.cassettes.regex import regex

API = Api(
    path=regex(r"(?:.*/)?sessions(?:/[^/]+/events)?"),
    ignored=IgnoredFields(
        pointers=("/metadata",),
        ids=("/events/*/custom_tool_use_id", "/events/*/tool_use_id"),
    ),
    other_paths=("/sessions/*/events/stream",),
)

ANTHROPIC_AGENTS = Registration(
    f"{__package__}.session:ANTHROPIC_AGENTS", API, "anthropic-agents", paths=regex(r"/v1/sessions|/stream/*$")
)
