"""What the API refused, and whom that blames."""

from collections.abc import Iterator

from ...wire.exchange import header
from ..finding import Layer, Note, rule
from ..rule_context import Case
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


def error_status(case: Case) -> int | None:
    """The status of an error: the one it names, else the response's."""
    error = case.reading.error
    if error is None:
        return None
    return error.status or (None if error.in_stream else case.status)


def _says(case: Case) -> str:
    error = case.reading.error
    return f"{error_status(case) or ''} {error.message}".strip() if error else ""


@rule(
    "api-overloaded",
    "api",
    "error",
    "P",
    says="The API failed or was overloaded.",
    fix="Wait and send the same request again, a bounded number of times.",
    not_when="The text shows that the request was at fault.",
)
def overloaded(case: Case) -> Iterator[Note]:
    error = case.reading.error
    if error is None or (case.complaint and case.complaint.ids) or case.has(*turntape_actions.IDS):
        return
    told = f"{error.type} {error.code} {error.message}".lower()
    twin = error.in_stream and ("overload" in told or "throttl" in told or "unavailable" in told)
    if error_status(case) in OVERLOADED or twin:
        yield Note(
            f"the API failed or was overloaded: {_says(case)}",
            (f"{case.at} status {error_status(case) or case.status}",),
            because_of=case.has("api-error-in-200-stream"),
        )


@rule(
    "api-rate-limited",
    "api",
    "warning",
    "P",
    says="The API refused for the rate, the quota or the spending limit.",
    fix="Wait as long as the answer says; a quota or spending limit needs the account's owner.",
)
def rate_limited(case: Case) -> Iterator[Note]:
    if error_status(case) != 429 or case.turn.round_trip.response is None:
        return
    headers = case.turn.round_trip.response.headers
    error = case.reading.error
    told = f"{error.type} {error.code} {error.message}".lower() if error else ""
    wait = header(headers, "retry-after")
    spent = next(
        (n for n, v in headers if n.lower().startswith(("x-ratelimit-remaining", "anthropic-ratelimit")) and v == "0"),
        None,
    )
    quota = any(word in told for word in _QUOTA)
    what = "the quota or a spending limit is used up: waiting does not help" if quota else "too many requests"
    more = (f"; retry after {wait} s" if wait else "") + (f"; {spent} is 0" if spent else "")
    yield Note(f"{what}{more}: {_says(case)}", (f"{case.at} status 429",), severity="error" if quota else None)


@rule(
    "api-auth-or-permission",
    "client",
    "error",
    "P",
    says="The API did not accept the key, the account or the model.",
    fix="Check the key, the account's permissions and the model's name.",
)
def no_access(case: Case) -> Iterator[Note]:
    if case.has(*turntape_actions.IDS):
        return
    if error_status(case) in _REFUSED_ACCESS and not (case.complaint and case.complaint.ids):
        yield Note(
            f"the API did not accept the key, the account or the model: {_says(case)}",
            (f"{case.at} status {case.status}",),
        )


@rule(
    "api-invalid-request",
    "client",
    "error",
    "P",
    says="The API rejected the request.",
    fix="Read the finding that it points to; without one, the API's own sentence says what it did not accept.",
)
def invalid_request(case: Case) -> Iterator[Note]:
    if error_status(case) not in REJECTED or case.has(*turntape_actions.IDS):
        return
    named = case.complaint.ids if case.complaint else ()
    grave = {f.id for f in (*case.found, *case.thread.recent) if f.severity != "info" or f.id in named}
    roots = tuple(name for name in case.has(*SHAPE_IDS) if name in grave)
    layer: Layer | None = next((f.layer for f in (*case.found, *case.thread.recent) if f.id in roots), None)
    yield Note(
        f"the API rejected the request: {_says(case)}",
        (f"{case.at} status {case.status}",),
        because_of=roots,
        layer=layer,
    )


@rule(
    "api-unreachable",
    "api",
    "error",
    "P",
    says="Nothing came back: refused, no such host, no TLS, or no answer in time.",
    fix="Check the address, the network and the certificates; `turntape doctor` tells which.",
)
def unreachable(case: Case) -> Iterator[Note]:
    failure = case.turn.round_trip.failure
    if case.turn.round_trip.response is None and failure is not None and failure.kind != "client_gone":
        yield Note(f"the API could not be reached: {failure.message}", (f"{case.at} {failure.kind}",))


RULES = (overloaded, rate_limited, no_access, unreachable)
LAST = (invalid_request,)
"""Asked after the rules that explain a rejection."""
