"""Requests that the API refused, and who is to blame."""

import re
from collections.abc import Iterator

from ...wire.exchange import header
from ..finding import Layer
from ..own_block import own_block
from ..rejections import names_rate
from ..rule import Note, rule
from ..rule_context import RuleContext
from . import turntape_actions

OVERLOADED = frozenset({408, 424, 500, 502, 503, 504, 520, 522, 524, 529})
REJECTED = frozenset({400, 405, 409, 413, 415, 422})
_REFUSED_ACCESS = frozenset({401, 402, 403, 404, 498})
_QUOTA = ("insufficient_quota", "spend_limit", "billing", "credit balance", "ramp_limit", "exceeded your current quota")
SHAPE_IDS = (
    "client-missing-tool-result",
    "client-orphan-tool-result",
    "client-duplicate-tool-result",
    "client-duplicated-call",
    "client-results-not-adjacent",
    "client-reasoning-dropped",
    "client-reasoning-altered",
    "client-role-order",
    "client-empty-content",
    "client-tools-missing-for-history",
    "client-bad-tool-schema",
    "client-unsupported-param",
    "client-stale-server-state",
    "client-args-wrong-type",
    "client-media-unsupported",
    "client-tools-changed",
    "client-call-id-rewritten",
    "client-pause-not-resumed",
    "client-assistant-mutated",
    "client-stored-failed-turn",
    "client-history-truncated",
    "api-duplicate-tool-call-id",
    "api-context-full",
    "api-content-filter",
    "api-prompt-truncated-silently",
    "client-poisoned-history",
)
"""Findings that explain a rejection."""


def error_status(context: RuleContext) -> int | None:
    """The status of an error: the one that the error names, or else the status of the response."""
    error = context.reading.error
    if error is None:
        return None
    return error.status or (None if error.in_stream else context.status)


def _says(context: RuleContext) -> str:
    error = context.reading.error
    return f"{error_status(context) or ''} {error.message}".strip() if error else ""


_WRONG_KEY = re.compile(
    r"(?:incorrect|invalid) api[ _-]?key|api[ _-]?key (?:not|is not) valid|api_key_invalid", re.IGNORECASE
)
_WRONG_URL = re.compile(r"invalid url|no static resource|cannot (?:post|get) /", re.IGNORECASE)


def _wrong_key(context: RuleContext) -> bool:
    """True for a wrong key, which some APIs answer with 400."""
    error = context.reading.error
    text = f"{error.type} {error.code} {error.message}" if error else ""
    return error_status(context) in (400, 401, 403) and _WRONG_KEY.search(text) is not None


def _wrong_address(context: RuleContext) -> bool:
    """True for a 404 that no API of models wrote, or that names the address."""
    response = context.turn.round_trip.response
    page = response is not None and response.body.lstrip()[:1] == b"<"
    error = context.reading.error
    return error_status(context) == 404 and (page or (error is not None and bool(_WRONG_URL.search(error.message))))


def _is_limited(context: RuleContext) -> bool:
    """True when the API refused for a limit: by the status, or by naming a rate of tokens under another one."""
    status = error_status(context)
    return status == 429 or (status in (400, 413) and names_rate(context.reading))


def _says_when(context: RuleContext) -> bool:
    """True when the answer says how long to wait, or that the limit is one of a minute."""
    response = context.turn.round_trip.response
    body = response.body if response else b""
    return (b"retryDelay" in body or b"PerMinute" in body) and b"PerDay" not in body


@rule(
    "api-overloaded",
    "api",
    "error",
    "P",
    says="The API failed or was overloaded.",
    fix="Wait and send the same request again, a bounded number of times.",
    not_when=("The error text shows that the request was at fault",),
)
def overloaded(context: RuleContext) -> Iterator[Note]:
    error = context.reading.error
    if error is None or (context.rejection and context.rejection.ids) or context.has(*turntape_actions.IDS):
        return
    text = f"{error.type} {error.code} {error.message}".lower()
    twin = error.in_stream and ("overload" in text or "throttl" in text or "unavailable" in text)
    if error_status(context) in OVERLOADED or twin:
        yield Note(
            f"the API failed or was overloaded: {_says(context)}",
            (f"{context.at} status {error_status(context) or context.status}",),
            because_of=context.has("api-error-in-200-stream"),
        )


@rule(
    "api-rate-limited",
    "api",
    "warning",
    "P",
    says="The API refused the request because of a rate limit, a quota or a spending limit.",
    fix="Wait as long as the answer says; only the account's owner can raise a quota or a spending limit.",
)
def rate_limited(context: RuleContext) -> Iterator[Note]:
    if not _is_limited(context) or context.turn.round_trip.response is None:
        return
    headers = context.turn.round_trip.response.headers
    error = context.reading.error
    text = f"{error.type} {error.code} {error.message}".lower() if error else ""
    wait = header(headers, "retry-after")
    spent = next(
        (n for n, v in headers if n.lower().startswith(("x-ratelimit-remaining", "anthropic-ratelimit")) and v == "0"),
        None,
    )
    quota = any(word in text for word in _QUOTA) and not _says_when(context)
    what = "the quota or the spending limit is used up; waiting does not help" if quota else "too many requests"
    more = (f"; retry after {wait} s" if wait else "") + (f"; {spent} is 0" if spent else "")
    yield Note(
        f"{what}{more}: {_says(context)}",
        (f"{context.at} status {error_status(context)}",),
        severity="error" if quota else None,
    )


@rule(
    "access-refused",
    "client",
    "error",
    "P",
    says="The API did not accept the key, the account, the model or the address.",
    fix="Check the key, the account's permissions, the model's name and the base URL.",
    aliases=("api-auth-or-permission",),
)
def no_access(context: RuleContext) -> Iterator[Note]:
    if context.has(*turntape_actions.IDS):
        return
    if _wrong_key(context):
        yield Note(f"the API did not accept the key: {_says(context)}", (f"{context.at} status {context.status}",))
    elif error_status(context) in _REFUSED_ACCESS and not (context.rejection and context.rejection.ids):
        what, places = "the key, the account or the model", (f"{context.at} status {context.status}",)
        if _wrong_address(context):
            what = "the address, which looks like a wrong base URL"
            places += (f"{context.at} request {context.exchange.path}",)
        yield Note(f"the API did not accept {what}: {_says(context)}", places)


@rule(
    "request-rejected",
    "client",
    "error",
    "P",
    says="The API rejected the request. It blames the layer of its cause, and the API where the API itself returned the "
    "rejected block.",
    fix="Read the finding that it names as its cause. If there is none, the API's error says what it did not accept.",
    aliases=("api-invalid-request",),
)
def invalid_request(context: RuleContext) -> Iterator[Note]:
    if error_status(context) not in REJECTED or context.has(*turntape_actions.IDS):
        return
    if _wrong_key(context) or _is_limited(context):
        return
    named = context.rejection.ids if context.rejection else ()
    severe = {f.id for f in (*context.found, *context.thread.recent) if f.severity != "info" or f.id in named}
    roots = tuple(name for name in context.has_recently(*SHAPE_IDS) if name in severe)
    layer: Layer | None = next((f.layer for f in (*context.found, *context.thread.recent) if f.id in roots), None)
    own = None if roots else own_block(context)
    places = (f"{context.at} status {context.status}",)
    if own is not None:
        pointer, returned = own
        places += (f"{context.at} request {pointer}", f"#{returned} response")
    yield Note(
        f"the API rejected the request: {_says(context)}"
        + (f"; the API itself returned the rejected block in #{own[1]}" if own else ""),
        places,
        because_of=roots,
        layer="api" if own else layer,
    )


@rule(
    "api-unreachable",
    "api",
    "error",
    "P",
    says="Nothing came back: refused, no such host, no TLS, or no answer in time.",
    fix="Check the address, the network and the certificates; `turntape doctor` shows which.",
)
def unreachable(context: RuleContext) -> Iterator[Note]:
    failure = context.turn.round_trip.failure
    if context.turn.round_trip.response is None and failure is not None and failure.kind != "client_gone":
        yield Note(f"the API could not be reached: {failure.message}", (f"{context.at} {failure.kind}",))


RULES = (overloaded, rate_limited, no_access, unreachable)
LAST = (invalid_request,)
"""Run after the rules that explain a rejection."""
