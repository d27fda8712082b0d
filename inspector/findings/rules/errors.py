"""Requests that the API refused, and who is to blame."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.turn import Turn
from ...wire.exchange import header
from ..causes import STORM
from ..explanations import may_explain
from ..finding import Layer
from ..model_words import asks_nothing
from ..own_block import own_block
from ..refusals import LIMITS, Refusal, lacks_setting, refusal
from ..rejections import unwrapped
from ..rule import Note, rule
from ..rule_context import RuleContext
from . import turntape_actions
from .results import new_results

OVERLOADED = frozenset({408, 424, 500, 502, 503, 504, 520, 522, 524, 529})
REJECTED = frozenset({400, 405, 409, 413, 415, 422})
_READ = 4_096
"""As many bytes of an answer are read for the details of a limit."""
_LIMITS: dict[Refusal, str] = {
    "rate": "too many requests",
    "too_large_for_rate": "the request alone is larger than the limit; waiting does not help",
    "period": "the limit of hours, days or a month is used up; a retry helps only after it is reset",
    "quota": "the quota or the spending limit is used up; waiting does not help",
    "connection": "the connection had been open for as long as the API allows; open a new one",
}
_ACCESS: dict[Refusal, str] = {
    "key": "the key",
    "account": "the account or its permissions",
    "credit": "the account, whose credit or quota is used up",
    "region": "the region that the request came from",
    "model": "the model",
    "address": "the address, which looks like a wrong base URL",
    "access": "the key, the account or the model",
    "firewall": "the client: a firewall or a check for people answered in its place",
}
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
    "client-id-missing",
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
    return status_of(context.turn)


def status_of(turn: Turn) -> int | None:
    """As `error_status`, of any turn; None also where nothing came back."""
    error, response = turn.reading.error, turn.round_trip.response
    if error is None:
        return None
    return error.status or (None if error.in_stream or response is None else response.status)


def wire_status(turn: Turn) -> int | None:
    """The status of a failure, if it is on the wire: an error in a stream may have none."""
    error = turn.reading.error
    return status_of(turn) if error is not None and error.names_status else None


def failure_name(turn: Turn) -> str:
    """A failure as a part of a sentence: its status, or its word where the API sent no status."""
    error, status = turn.reading.error, wire_status(turn)
    word = error and (error.type or error.code)
    return f"status {status}" if status else f"the error {word!r}" if word else "an error in the answer"


def failure_place(turn: Turn) -> str:
    """Where a failure is, as evidence."""
    status, at = wire_status(turn), f"#{turn.round_trip.index}"
    return f"{at} status {status}" if status else f"{at} response"


def _says(context: RuleContext) -> str:
    """The error in the API's own words, after its status or its type."""
    error, status = context.reading.error, wire_status(context.turn)
    if error is None:
        return ""
    head = str(status) if status else f"{error.type}:" if error.type else ""
    where = " (in the WebSocket handshake)" if context.failed_handshake else ""
    return f"{head} {error.message}".strip() + where


def why_refused(context: RuleContext) -> Refusal | None:
    """Why the API refused the request; None when it did not, or when the error has no status."""
    error, status = context.reading.error, error_status(context)
    if error is None or status is None or status < 300:
        return None
    if status < 400:
        return "address"
    if "failed to parse tool call arguments" in error.message.lower() and _sends_broken_call(context):
        return "request"
    if status >= 500 and _OF_PARSING.search(error.message) and _sends_wrong_shape(context):
        return "request"
    if status >= 500 and _NO_QUESTION.search(error.message) and asks_nothing(context.turn):
        return "request"
    response = context.turn.round_trip.response
    body = response.body if response is not None and not error.in_stream else b""
    codes = " ".join(filter(None, (error.type, error.code)))
    details = body[:_READ].decode(errors="replace") if status == 429 else ""
    return refusal(status, unwrapped(error.message), codes, page=body.lstrip()[:1] == b"<", details=details)


_NO_QUESTION = regex(r"no user query found", re.IGNORECASE)
"""How a chat template says that it found no text of the user."""
_OF_PARSING = regex(
    r"json\.exception|\bpars(?:e|ing)\b|unmarshal|deseriali[sz]|\bmust be (?:an? )?(?:string|object|array|list|number)"
    r"|cannot be null|is (?:null|undefined|None)\b|NoneType|\b(?:Key|Type|Attribute|Validation)Error\b|validation error",
    re.IGNORECASE,
)
"""How a server says that it failed while it read a request."""


def _sends_wrong_shape(context: RuleContext) -> bool:
    """True when a rule found something in the request that a server cannot read."""
    return any(found.id in _UNREADABLE and found.severity != "info" for found in context.found)


_UNREADABLE = frozenset(
    {"client-args-wrong-type", "client-call-id-rewritten", "client-empty-content", "client-id-missing"}
)


def _sends_broken_call(context: RuleContext) -> bool:
    """True when the history holds a call whose arguments are not valid JSON: then the error is about the client's echo."""
    calls = (part.call for message in context.request.messages for part in message.parts if part.call is not None)
    return any(call.arguments is None and call.arguments_raw.strip() for call in calls)


def _by_status(context: RuleContext) -> bool:
    return error_status(context) in REJECTED and why_refused(context) not in LIMITS


def _names_fault(context: RuleContext) -> bool:
    """True when the error names a fault of the request that another rule explains."""
    return context.rejection is not None and bool(context.rejection.ids)


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
    named = _names_fault(context) and own_block(context) is None
    if error is None or named or context.has(*turntape_actions.IDS):
        return
    text = f"{error.type} {error.code} {error.message}".lower()
    twin = error.in_stream and ("overload" in text or "throttl" in text or "unavailable" in text)
    if why_refused(context) == "overloaded" or twin:
        yield Note(
            f"the API failed or was overloaded: {_says(context)}",
            (failure_place(context.turn),),
            because_of=context.has("api-error-in-200-stream"),
        )


@rule(
    "api-rate-limited",
    "api",
    "warning",
    "P",
    says="The API refused the request because of a rate limit, a quota, a spending limit, or the age of the connection.",
    fix="Wait as long as the answer says. Make a request smaller that is larger than the limit. Only the account's owner "
    "can raise a quota or a spending limit.",
)
def rate_limited(context: RuleContext) -> Iterator[Note]:
    why = why_refused(context)
    response = context.turn.round_trip.response
    if why not in _LIMITS or response is None or context.has(*turntape_actions.IDS):
        return
    wait = header(response.headers, "retry-after")
    spent = next(
        (
            name
            for name, value in response.headers
            if name.lower().startswith(("x-ratelimit-remaining", "anthropic-ratelimit")) and value == "0"
        ),
        None,
    )
    more = (f"; retry after {wait} s" if wait else "") + (f"; {spent} is 0" if spent else "")
    yield Note(
        f"{_LIMITS[why]}{more}: {_says(context)}",
        (failure_place(context.turn),),
        severity=None if why == "rate" else "error",
        because_of=(STORM,) if why == "rate" and (context.has(STORM) or context.thread.storming) else (),
    )


ACCESS_REFUSED = "access-refused"


@rule(
    ACCESS_REFUSED,
    "client",
    "error",
    "P",
    says="The API did not accept the key, the account, the model, the region or the address.",
    fix="Check the key, the account's permissions, the model's name and the base URL.",
    aliases=("api-auth-or-permission",),
)
def no_access(context: RuleContext) -> Iterator[Note]:
    why = why_refused(context)
    if why not in _ACCESS or _names_fault(context) or context.has(*turntape_actions.IDS):
        return
    places: tuple[str, ...] = (failure_place(context.turn),)
    if why == "address":
        places += (f"{context.at} request {context.exchange.path}",)
    yield Note(f"the API did not accept {_ACCESS[why]}: {_says(context)}", places)


REQUEST_REJECTED = "request-rejected"
_NUMBER = regex(r"\d+")


def rejection_text(context: RuleContext) -> str:
    """The API's sentence about a rejection, without its numbers: a history that grows changes them."""
    said = context.rejection
    return _NUMBER.sub("0", said.text) if said is not None else ""


def _broken_by_client(context: RuleContext) -> str | None:
    """How the client broke HTTP with a request that got no answer."""
    trip = context.turn.round_trip
    if trip.response is None and trip.failure is not None and trip.closed_first == "client":
        return trip.failure.message if trip.failure.kind == "protocol" else None
    return None


@rule(
    REQUEST_REJECTED,
    "client",
    "error",
    "P",
    says="The API rejected the request, or it was not sent on, since it breaks HTTP. It blames the layer of its cause, and the "
    "API where the API itself returned the rejected block, or where the server was started without a setting that the request "
    "needs.",
    fix="Read the finding that it names as its cause. If there is none, the API's error says what it did not accept.",
    aliases=("api-invalid-request",),
)
def invalid_request(context: RuleContext) -> Iterator[Note]:
    if (broken := _broken_by_client(context)) is not None:
        yield Note(f"the request breaks HTTP, so it was not sent on: {broken}", (f"{context.at} protocol",))
        return
    why = why_refused(context)
    if context.has(*turntape_actions.IDS) or not (
        why == "request" or (_names_fault(context) and (_by_status(context) or own_block(context) is not None))
    ):
        return
    said = context.rejection
    named = said.ids if said is not None else ()
    near = [one for one in (*context.found, *context.thread.recent) if one.severity != "info" or one.id in named]
    meant = {one.id for one in near if said is None or may_explain(one, said, context.fields)}
    roots = tuple(name for name in context.has_recently(*SHAPE_IDS, *named) if name in meant)
    # What the API names is the cause before what else may be.
    roots = tuple(name for name in roots if name in named) or roots
    layer: Layer | None = next((f.layer for f in near if f.id in roots), None)
    own = None if roots else own_block(context)
    known = context.thread.explained
    if not roots and own is None and known is not None and known.text == rejection_text(context):
        roots, layer = known.because_of, known.layer
    places = (failure_place(context.turn),)
    if _NOT_TEXT.search(rejection_text(context)) and (half := _half_pair(context)) is not None:
        places += (f"{context.at} request {half}",)
    if not roots and own is None and (tool := _named_tool(context)) is not None:
        places += (f"{context.at} request {tool}",)
    if own is not None:
        pointer, returned = own
        places += (f"{context.at} request {pointer}", f"#{returned} response")
    unset = not roots and own is None and said is not None and lacks_setting(said.text)
    yield Note(
        ("the server lacks a setting that the request needs: " if unset else "the API rejected the request: ")
        + _says(context)
        + (f"; the API itself returned the rejected block in #{own[1]}" if own else ""),
        places,
        because_of=roots,
        layer="api" if own or unset else layer,
    )


def _named_tool(context: RuleContext) -> str | None:
    """The pointer to the definition that the rejection names: it may be the tool server's own."""
    said = context.rejection
    if said is None or "client-bad-tool-schema" not in said.ids:
        return None
    return next((tool.pointer for tool in context.request.tools if tool.name in said.named), None)


_NOT_TEXT = regex(r"surrogate|not valid (?:json|utf)|invalid (?:json|utf|unicode|character)", re.IGNORECASE)
"""How APIs refuse a body that holds half of a surrogate pair."""
_HALVES = regex(r"[\ud800-\udfff]")


def _half_pair(context: RuleContext) -> str | None:
    """The pointer to the first new result that holds half of a surrogate pair, which no UTF-8 has."""
    found = (part.pointer for part, result in new_results(context) if _HALVES.search(result.text))
    return next(found, None)


@rule(
    "api-unreachable",
    "api",
    "error",
    "P",
    says="Nothing came back: refused, no such host, no TLS, no answer in time, or a connection that was dropped.",
    fix="Check the address, the network and the certificates; `turntape doctor` shows which.",
)
def unreachable(context: RuleContext) -> Iterator[Note]:
    failure = context.turn.round_trip.failure
    if _broken_by_client(context) is not None:
        return
    if context.turn.round_trip.response is None and failure is not None and failure.kind != "client_gone":
        what = "the connection ended without an answer" if failure.kind == "cut" else "the API could not be reached"
        yield Note(f"{what}: {failure.message}", (f"{context.at} {failure.kind}",))


RULES = (overloaded, rate_limited, no_access, unreachable)
LAST = (invalid_request,)
"""Run after the rules that explain a rejection."""
