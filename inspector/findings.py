"""Findings: what went wrong, the layer to blame, and the bytes that prove it.

Each rule is one function in a table. A rule says nothing without evidence; tier P is proven by the bytes, S a
strong inference.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .client_layer import Dispatch
from .reading import Reading
from .threads import Turn


@dataclass(frozen=True, slots=True)
class Finding:
    id: str
    layer: Literal["model", "api", "client"]
    severity: Literal["error", "warning", "info"]
    tier: Literal["P", "S", "H"]
    message: str
    evidence: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "layer": self.layer,
            "severity": self.severity,
            "tier": self.tier,
            "message": self.message,
            "evidence": list(self.evidence),
        }


@dataclass(frozen=True, slots=True)
class Case:
    """A turn, and what the client did with it."""

    turn: Turn
    dispatch: Dispatch
    following: Turn | None

    @property
    def reading(self) -> Reading:
        return self.turn.reading

    @property
    def at(self) -> str:
        return f"#{self.turn.round_trip.index}"


type Rule = Callable[[Case], Iterator[Finding]]

_ERRORS: tuple[tuple[frozenset[int], str, Literal["api", "client"], Literal["error", "warning"], str], ...] = (
    (frozenset({429}), "api-rate-limited", "api", "warning", "the API refused for the rate or the quota"),
    (
        frozenset({408, 500, 502, 503, 504, 520, 522, 524, 529}),
        "api-overloaded",
        "api",
        "error",
        "the API failed or was overloaded",
    ),
    (
        frozenset({401, 402, 403, 404}),
        "api-auth-or-permission",
        "client",
        "error",
        "the API did not accept the key, the account or the model",
    ),
    (
        frozenset({400, 405, 409, 413, 415, 422}),
        "api-invalid-request",
        "client",
        "error",
        "the API rejected the request",
    ),
)


def _refused(case: Case) -> Iterator[Finding]:
    error = case.reading.error
    if error is None or error.in_stream:
        return
    status = error.status or (case.turn.round_trip.response.status if case.turn.round_trip.response else None)
    for statuses, name, layer, severity, what in _ERRORS:
        if status in statuses:
            yield Finding(
                name, layer, severity, "P", f"{what}: {status} {error.message}"[:300], (f"{case.at} status {status}",)
            )
            return


def _unreached(case: Case) -> Iterator[Finding]:
    failure = case.turn.round_trip.failure
    if (
        failure is not None
        and case.turn.round_trip.response is None
        and failure.kind not in ("client_gone", "internal")
    ):
        message = f"the upstream was not reached ({failure.kind}): {failure.message}"
        yield Finding("api-unreachable", "api", "error", "P", message, (f"{case.at} failure {failure.kind}",))


def _in_stream(case: Case) -> Iterator[Finding]:
    error = case.reading.error
    if error is not None and error.in_stream:
        message = f"the API sent an error inside a stream that began as {_status(case)}: {error.message}"
        yield Finding("api-error-in-200-stream", "api", "error", "P", message, (f"{case.at} response",))


def _status(case: Case) -> str:
    response = case.turn.round_trip.response
    return str(response.status) if response else "nothing"


def _cut(case: Case) -> Iterator[Finding]:
    finish, trip = case.reading.finish, case.turn.round_trip
    if finish is None or finish.effective != "cut" or trip.response is None:
        return
    size = len(trip.response.body)
    if trip.closed_first == "client":
        message = f"the client closed the connection after {size} bytes, before the answer was whole"
        yield Finding("client-interrupted", "client", "info", "P", message, (f"{case.at} response",))
    else:
        message = f"the answer ends after {size} bytes without the API's closing word"
        yield Finding("api-stream-cut", "api", "error", "P", message, (f"{case.at} response",))


def _length(case: Case) -> Iterator[Finding]:
    finish, emission, usage = case.reading.finish, case.reading.emission, case.reading.usage
    if finish is None or emission is None or finish.label not in ("length", "context_full"):
        return
    spent = f" after {usage.output} output tokens" if usage and usage.output is not None else ""
    cap = f" (the request allowed {case.reading.request.max_output})" if case.reading.request.max_output else ""
    if emission.calls:
        name = emission.calls[-1].name
        message = f"the output cap was hit{spent}{cap} while the call of {name!r} was being written: do not run it"
        yield Finding(
            "api-length-truncated-tool-call", "api", "error", "P", message, (f"{case.at} finish {finish.raw}",)
        )
    else:
        message = f"the answer was cut by the output cap{spent}{cap}"
        yield Finding("api-length-truncated", "api", "warning", "P", message, (f"{case.at} finish {finish.raw}",))


def _filtered(case: Case) -> Iterator[Finding]:
    finish = case.reading.finish
    if finish is not None and finish.label == "content_filter":
        message = f"the API's filter stopped the answer ({finish.raw}{': ' + finish.detail if finish.detail else ''})"
        yield Finding("api-content-filter", "api", "error", "P", message, (f"{case.at} finish {finish.raw}",))


def _refusal(case: Case) -> Iterator[Finding]:
    finish, emission = case.reading.finish, case.reading.emission
    if finish is None or emission is None or (finish.label != "refusal" and emission.refusal is None):
        return
    said = emission.refusal or finish.detail or ""
    yield Finding("model-refusal", "model", "error", "P", f"the model refused: {said}"[:300], (f"{case.at} response",))


def _malformed(case: Case) -> Iterator[Finding]:
    finish = case.reading.finish
    if finish is not None and finish.label == "malformed":
        said = f"{finish.raw}: {finish.detail}" if finish.detail else finish.raw
        message = f"the API could not parse what the model emitted ({said})"
        yield Finding("api-malformed-output", "api", "error", "P", message, (f"{case.at} finish {finish.raw}",))


def _arguments(case: Case) -> Iterator[Finding]:
    finish, emission = case.reading.finish, case.reading.emission
    if finish is None or emission is None or finish.label in ("length", "context_full", "cut", "error"):
        return
    if finish.effective in ("cut", "error", "cancelled"):
        return
    for call in emission.calls:
        if call.arguments is None and call.arguments_raw.strip() and call.complete:
            message = f"the arguments of {call.name!r} are no JSON: {call.arguments_raw[:120]!r}"
            yield Finding(
                "model-args-not-json", "model", "error", "P", message, (f"{case.at} call {call.id or call.name}",)
            )


def _unknown_tool(case: Case) -> Iterator[Finding]:
    request, emission = case.reading.request, case.reading.emission
    if emission is None or not request.tools or request.previous_id is not None:
        return
    offered = {tool.name for tool in request.tools}
    for call in emission.calls:
        # A hosted tool may bring calls under names of its own.
        if call.name and call.name not in offered and not any(tool.server for tool in request.tools):
            names = ", ".join(sorted(offered)[:8])
            message = f"the model called {call.name!r}, which was not offered; offered were {names}"
            yield Finding(
                "model-unknown-tool", "model", "error", "P", message, (f"{case.at} call {call.id or call.name}",)
            )


def _label(case: Case) -> Iterator[Finding]:
    finish, emission, request = case.reading.finish, case.reading.emission, case.reading.request
    if finish is None or emission is None or finish.label != "tool_calls" or emission.calls or emission.server_calls:
        return
    if finish.effective in ("error", "cut") or not request.tools:
        return
    message = f"the API finished with {finish.raw!r} and sent no tool call"
    yield Finding("api-finish-label-disagrees", "api", "warning", "P", message, (f"{case.at} finish {finish.raw}",))


def _missing_result(case: Case) -> Iterator[Finding]:
    following = case.following
    if following is None or not case.dispatch.missing or following.reading.request.previous_id is not None:
        return
    finish = case.reading.finish
    if finish is None or finish.effective != "tool_calls":
        return
    ids = ", ".join(str(call.id or call.name) for call in case.dispatch.missing)
    at = f"#{following.round_trip.index} request"
    message = f"the next request goes on without a result for {ids}"
    yield Finding("client-missing-tool-result", "client", "error", "P", message, (f"{case.at} call {ids}", at))


def _orphans(case: Case) -> Iterator[Finding]:
    request = case.reading.request
    if request.previous_id is not None:
        return
    called = {part.call.id for m in request.messages for part in m.parts if part.call is not None}
    for message in request.messages:
        for part in message.parts:
            result = part.result
            if result is not None and result.call_id is not None and result.call_id not in called:
                text = f"a result is given for {result.call_id!r}, which nothing in the history called"
                where = f"{case.at} request {part.pointer}"
                yield Finding("client-orphan-tool-result", "client", "error", "P", text, (where,))


RULES: tuple[Rule, ...] = (
    _refused,
    _unreached,
    _in_stream,
    _cut,
    _length,
    _filtered,
    _refusal,
    _malformed,
    _arguments,
    _unknown_tool,
    _label,
    _missing_result,
    _orphans,
)


def findings(case: Case) -> list[Finding]:
    """What is wrong with a turn, by the table."""
    return [finding for rule in RULES for finding in rule(case)]
