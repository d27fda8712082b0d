"""Errors of a server behind the API that arrive as the text of an answer, as if the model had written them."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import as_object, as_text, is_object, parse_json
from ..rule import Note, rule
from ..rule_context import RuleContext

_LONGEST = 2000
"""Characters. An error is shorter."""
_FIELDS = frozenset(
    {
        *("code", "detail", "details", "error", "errors", "id", "message", "param", "path", "request_id", "requestId"),
        *("status", "statusCode", "status_code", "success", "timestamp", "type", "user_id"),
    }
)
"""The fields of errors; JSON with any other field is an answer."""
_STATUS = regex(
    r"\b(?P<status>[45]\d\d)\W{1,4}"
    r"(?P<reason>Too Many Requests|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Internal Server Error|"
    r"Unauthorized|Forbidden|Bad Request|Payment Required|Request Entity Too Large)",
    re.IGNORECASE,
)
"""A status with its reason."""
_REPORTED = regex(
    r"[`'\"“]\Z|\b(?:said|says|returned|returns|got|received|gave|means|meaning|saw|see|was|is|an?|the|your)\b", re.I
)
"""What is before a status of which somebody speaks."""
_FRONT = 60
"""Characters in which a status begins and ends, where a text is an error."""
_WORDS = 4
"""Words before it, as in `upstream error: HTTP 502 Bad Gateway`."""


_SAYS_ERROR = regex(
    r"\A\W*(?:(?:api|server|upstream|gateway|provider|internal|http|request|model|llm|llm api) )?"
    r"(?:error|exception|request failed|failure)\b[^:\n]{0,40}: *(?=\S)",
    re.IGNORECASE,
)
"""How a text begins that is an error as a whole."""
_OF_SERVERS = regex(
    r"\b(?:exceeded (?:your|the) .{0,40}(?:quota|limit)|quota (?:exceeded|exhausted)|rate limit(?:ed| exceeded| reached)"
    r"|too many requests|insufficient (?:balance|quota|credits?|funds)|out of credits?|credit balance|overloaded"
    r"|invalid (?:api|access) key|incorrect api key|unauthorized|upstream (?:timed? ?out|error|connect)|bad gateway"
    r"|service (?:is )?(?:temporarily )?unavailable|internal server error|no available (?:channel|provider|model)s?"
    r"|connection (?:refused|reset|timed out)|(?:read|request) timed out|model (?:is )?(?:overloaded|not available))\b",
    re.IGNORECASE,
)
"""What such an error is about, where a server made it and no model."""
_ERROR_LENGTH = 400
"""Characters. A longer text may be a report about an error."""


def _error_in(text: str) -> tuple[str, ...]:
    """The words by which a text is an error; none for any other text."""
    if len(text) <= _ERROR_LENGTH and _SAYS_ERROR.match(text) and (about := _OF_SERVERS.search(text)) is not None:
        return (about[0],)
    value = parse_json(text) if text.startswith("{") else None
    if is_object(value) and value.keys() <= _FIELDS:
        error = value.get("error")
        said = as_text(as_object(error).get("message")) or (as_text(error) if len(value) > 1 else None)
        return (said,) if said else ()
    found = _STATUS.search(text, 0, _FRONT)
    if found is None or len(text[: found.start()].split()) > _WORDS or _REPORTED.search(text[: found.start()]):
        return ()
    return found["status"], found["reason"]


@rule(
    "error-as-text",
    "api",
    "warning",
    "S",
    says="The text of the answer is an error of a server behind the API: a gateway passed it on as the model's words.",
    fix="Treat it as the error that it is and retry; report it to the provider of the gateway.",
    not_when=(
        "The request holds these words or the status: the model may speak of them",
        "The request asks for JSON",
    ),
)
def error_as_text(context: RuleContext) -> Iterator[Note]:
    text = context.emission.text.strip()
    if context.emission.emitted != "text" or len(text) > _LONGEST or context.request.output_format is not None:
        return
    words = _error_in(text)
    asked = _said(context).lower() if words else ""
    if not words or any(word.lower() in asked for word in words):
        return
    yield Note(f"the text of the answer is an error: {cut(text, 100)!r}", (f"{context.at} response",))


def _said(context: RuleContext) -> str:
    parts = [*context.request.system, *(part for message in context.request.messages for part in message.parts)]
    return "\n".join(part.result.text if part.result else part.text for part in parts)


RULES = (error_as_text,)
