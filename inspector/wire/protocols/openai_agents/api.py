"""OpenAI's Agents API as the tape sees it."""

from turntape.cassettes.apis.interface import Api, IgnoredFields, Registration
from turntape.cassettes.regex import regex

API = Api(
    path=regex(r"(?:.*/)?agents/sessions(?:/[^/]+/events)?"),
    ignored=IgnoredFields(
        pointers=("/metadata",),
        ids=("/events/*/call_id", "/events/*/turn_id", "/events/*/request_id"),
    ),
    other_paths=("/agents/sessions", "/agents/sessions/*/events"),
)

OPENAI_AGENTS = Registration(
    f"{__package__}.session:OPENAI_AGENTS", API, "openai-agents", paths=regex(r"/agents/sessions")
)
