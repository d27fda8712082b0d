"""OpenAI's Agents API as the tape sees it."""

from turntape.cassettes.apis.interface import Api, IgnoredFields
from turntape.cassettes.regex import regex

API = Api(
    path=regex(r"(?:.*/)?agents/sessions(?:/[^/]+/events)?"),
    ignored=IgnoredFields(
        pointers=("/metadata",),
        ids=("/events/*/call_id", "/events/*/turn_id", "/events/*/request_id"),
    ),
    other_paths=("/agents/sessions", "/agents/sessions/*/events"),
)
