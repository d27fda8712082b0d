"""The error bodies of all APIs, as one table of shapes.

The shapes come from recorded traffic (2023 to 2026). A body of another shape is itself the message.
"""

from collections.abc import Callable

from ...exchange import Exchange, header
from ...json_value import Object, as_array, as_count, as_object, as_text, compact, is_array, is_object
from ...values import ApiError

type Shape = Callable[[Object], ApiError | None]

_MESSAGE_LIMIT = 4000


def _word(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    return str(value) if isinstance(value, str | int) and value != "" else None


def _status(*values: object) -> int | None:
    for value in values:
        number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 5 else as_count(value)
        if number is not None and 400 <= number <= 599:
            return number
    return None


def _message(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else compact(value)


def _nested(body: Object) -> ApiError | None:
    """`{"error": {...}}`: OpenAI, Azure, Anthropic, Google, llama.cpp, Groq, OpenRouter."""
    error = body.get("error")
    if not is_object(error):
        return None
    fields = as_object(error)
    inner = as_object(fields.get("error"))
    fields = {**inner, **fields} if inner else fields
    details = as_object(fields.get("details"))
    message = _message(fields.get("message") or fields.get("error") or fields.get("detail"))
    kind = _word(fields.get("type")) or _word(fields.get("status"))
    code = _word(fields.get("code")) or _word(details.get("error_code"))
    metadata = as_object(fields.get("metadata"))
    if raw := as_text(metadata.get("raw")):
        message = f"{message}: {raw}" if message else raw
    kind = kind or _word(metadata.get("error_type"))
    status = _status(fields.get("code"), fields.get("status_code"), fields.get("http_code"))
    return ApiError(message or compact(fields), kind, code, status)


def _text_beside(body: Object) -> ApiError | None:
    """`{"error": "text"}` with or without `code` beside it: Venice, Ollama, xAI."""
    error = body.get("error")
    if not isinstance(error, str) or not error:
        return None
    message = as_text(body.get("message"))
    code = body.get("code")
    text = f"{error}: {message}" if message and message != error else error
    return ApiError(text, _word(body.get("type") or body.get("error_type")), _word(code), _status(code))


def _details(body: Object) -> ApiError | None:
    """`{"detail": "text" | [...]}`: FastAPI servers, Codex, Mistral's validation."""
    detail = body.get("detail")
    if not detail:
        return None
    lines = [_message(as_object(item).get("msg") or item) for item in as_array(detail)]
    message = "; ".join(lines) if lines else _message(as_object(detail).get("message") or detail)
    return ApiError(message, _word(body.get("type")), _word(body.get("code")), _status(body.get("status")))


def _flat(body: Object) -> ApiError | None:
    """`{"message": ...}` alone or with type and code: Bedrock, Cohere, Mistral, Doubleword."""
    message = body.get("message", body.get("Message"))
    if not (isinstance(message, str) or is_object(message) or is_array(message)):
        return None
    kind = _word(body.get("error_type")) or _word(body.get("__type")) or _word(body.get("type"))
    status = _status(body.get("raw_status_code"), body.get("originalStatusCode"), body.get("code"))
    return ApiError(_message(message), kind, _word(body.get("code")), status)


def _list(body: Object) -> ApiError | None:
    """`{"errors": [...]}`: watsonx, Cloudflare."""
    first = next(iter(as_array(body.get("errors"))), None)
    if first is None:
        return None
    fields = as_object(first)
    message = _message(fields.get("message") or first)
    return ApiError(message, _word(fields.get("type")), _word(fields.get("code")))


_GOOD_CODES = frozenset({None, "0", "200", "ok", "OK", "Success", "success"})
_BAD_WORDS = frozenset({"error", "fail", "failed", "failure"})


def _coded(body: Object) -> ApiError | None:
    """A code that is not zero, with a text: `base_resp` (MiniMax), `error_code` (Baidu), `success: false`."""
    inner = as_object(body.get("base_resp")) or as_object(body.get("header")) or body
    code = next((inner[key] for key in ("status_code", "error_code", "errcode", "code", "ret") if key in inner), None)
    texts = (inner.get(key) for key in ("status_msg", "error_msg", "errmsg", "errorMessage", "msg", "message"))
    said = next((text for text in texts if isinstance(text, str) and text), None)
    refused = body.get("success") is False or body.get("ok") is False or body.get("status") in _BAD_WORDS
    failed = _word(code) not in _GOOD_CODES or refused or "errorMessage" in body
    if said is None or not failed:
        return None
    return ApiError(said, _word(body.get("errorType")), _word(code), _status(code))


SHAPES: tuple[Shape, ...] = (_nested, _text_beside, _list, _details, _flat, _coded)
"""Tried in this order."""

ERROR_STATUSES: dict[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
    "INVALID_ARGUMENT": 400,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
    "server_error": 500,
    "rate_limit_exceeded": 429,
    "internalServerException": 500,
    "modelStreamErrorException": 424,
    "validationException": 400,
    "throttlingException": 429,
    "serviceUnavailableException": 503,
}
"""The status that an error word means, for errors that come inside a stream."""


def error_in(value: object, *, in_stream: bool = False, kind: str | None = None) -> ApiError | None:
    """The error in a JSON value, by the first shape that fits; None when it has none.

    `kind` is a type from outside the value: an exception's name, an event's name.
    """
    if is_array(value):
        value = next((item for item in as_array(value) if is_object(item)), None)
    if isinstance(value, str) and value:
        return ApiError(value[:_MESSAGE_LIMIT], kind, in_stream=in_stream)
    body = as_object(value)
    for shape in SHAPES:
        if found := shape(body):
            word = found.type or kind
            named = found.status or _status(body.get("status"), body.get("status_code"))
            status = named or ERROR_STATUSES.get(word or "") or ERROR_STATUSES.get(found.code or "")
            return ApiError(found.message[:_MESSAGE_LIMIT], word, found.code, status, in_stream, named is not None)
    return None


def error_under_200(exchange: Exchange, holder: str) -> ApiError | None:
    """The error of one body with a good status that has nothing in the field which holds an answer."""
    response, body = exchange.response, exchange.answer_fields
    if response is None or not 200 <= response.status < 300 or exchange.framing is not None or not holder:
        return None
    if not body or body.get(holder):
        return None
    found = _coded(body)
    if found is None:
        return None
    return ApiError(found.message[:_MESSAGE_LIMIT], found.type, found.code, found.status, names_status=False)


def error_beside(exchange: Exchange) -> ApiError | None:
    """The error object in a body with a good status from which nothing else was read."""
    body = exchange.answer_fields if exchange.framing is None else as_object(None)
    fields = as_object(body.get("error"))
    return _nested({"error": fields}) if fields.get("message") else None


def read_error(exchange: Exchange) -> ApiError | None:
    """The error of an answer whose status is one; its text when the body has no known shape."""
    response = exchange.response
    if response is None or response.status < 300:
        return None
    if response.status < 400:
        place = header(response.headers, "location")
        said = f"the address redirects to {place}" if place else response.reason or f"HTTP {response.status}"
        return ApiError(said, None, None, response.status)
    kind = header(response.headers, "x-amzn-errortype")
    kind = kind.split(":")[0] if kind else None
    found = error_in(exchange.answer, kind=kind)
    if found is None and exchange.events:
        found = error_in_events(exchange)
    if found is None:
        text = response.body[:_MESSAGE_LIMIT].decode("utf-8", "replace").strip()
        found = ApiError(text or response.reason or f"HTTP {response.status}", kind)
    return ApiError(found.message, found.type, found.code, response.status)


def error_in_events(exchange: Exchange) -> ApiError | None:
    """The first error among the events of a stream, whatever its protocol."""

    for event in exchange.events:
        value = event.value
        if event.kind in ("exception", "field") or event.name == "error":
            if found := error_in(value, in_stream=True, kind=event.name or None):
                return found
        elif as_object(value).get("error") and (found := error_in(value, in_stream=True)):
            return found
    return None
