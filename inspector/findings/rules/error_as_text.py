"""Errors of a server behind the API that arrive as the text of an answer, as if the model had written them."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...wire.json_value import as_object, as_text, is_object, parse_json
from ..rule import Note, rule
from ..rule_context import RuleContext

_LONGEST = 2000
"""Characters. An error is shorter."""
_FIELDS = frozenset(
    {
        "code",
        "detail",
        "details",
        "error",
        "errors",
        "id",
        "message",
        "param",
        "path",
        "request_id",
        "requestId",
        "status",
    }
    | {"statusCode", "status_code", "success", "timestamp", "type", "user_id"}
)
"""The fields of errors; JSON with any other field is an answer."""
_STATUS = regex(
    r"\A\W*(?:[a-z]+[ _]?){0,4}\W*(?:error|exception|status|code|http)?\W*(?P<status>4\d\d|5\d\d)\W{1,4}"
    r"(?P<reason>Too Many Requests|Bad Gateway|Service (?:Temporarily )?Unavailable|Gateway Time-?out|Internal Server Error|"
    r"Unauthorized|Forbidden|Bad Request|Payment Required|Request Entity Too Large)",
    re.IGNORECASE,
)
"""A status with its reason, at the beginning of a text."""


def _error_in(text: str) -> str | None:
    """The words by which a text is an error; None for any other text."""
    value = parse_json(text) if text.startswith("{") else None
    if is_object(value) and value.keys() <= _FIELDS:
        error = value.get("error")
        said = as_text(as_object(error).get("message")) or (as_text(error) if len(value) > 1 else None)
        return said or None
    found = _STATUS.match(text)
    return found["reason"] if found else None


@rule(
    "error-as-text",
    "api",
    "warning",
    "S",
    says="The text of the answer is an error of a server behind the API: a gateway passed it on as the model's words.",
    fix="Treat it as the error that it is and retry; report it to the provider of the gateway.",
    not_when=("The request holds these words: the model repeats an error of a tool", "The request asks for JSON"),
)
def error_as_text(context: RuleContext) -> Iterator[Note]:
    text = context.emission.text.strip()
    if context.emission.emitted != "text" or len(text) > _LONGEST or context.request.output_format is not None:
        return
    words = _error_in(text)
    if words is None or words.lower() in _said(context).lower():
        return
    yield Note(f"the text of the answer is an error: {text[:100]!r}", (f"{context.at} response",))


def _said(context: RuleContext) -> str:
    parts = [*context.request.system, *(part for message in context.request.messages for part in message.parts)]
    return "\n".join(part.result.text if part.result else part.text for part in parts)


RULES = (error_as_text,)
