"""Causes that no single rule knows: which findings are echoes of another one of their thread."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .finding import Finding
from .rule_context import RuleContext

CONTRADICTION = "api-stream-contradiction"
"""A stream that contradicts itself."""
STORM = "client-retry-storm"
"""The same failing request, sent too often."""
RATE_LIMITED = "api-rate-limited"


ECHOES: Mapping[str, frozenset[str]] = {
    "api-tool-call-index-collision": frozenset(
        {
            "client-assistant-mutated",
            "client-call-id-rewritten",
            "client-duplicated-call",
            "client-missing-tool-result",
            "client-orphan-tool-result",
            "client-tool-calls-not-dispatched",
            "call-args-not-json",
            "model-args-break-schema",
            "model-unknown-tool",
        }
    ),
    "api-answer-replayed": frozenset({"model-repeated-call", "model-ping-pong", "api-duplicate-tool-call-id"}),
    "api-call-without-id": frozenset(
        {
            "client-call-id-rewritten",
            "client-duplicated-call",
            "client-missing-tool-result",
            "client-orphan-tool-result",
        }
    ),
    "api-final-event-empty": frozenset({"client-assistant-mutated", "client-tool-calls-not-dispatched"}),
    "api-malformed-stream": frozenset(
        {
            "api-call-without-id",
            "api-model-substituted",
            "call-args-not-json",
            "client-missing-tool-result",
            "client-tool-calls-not-dispatched",
            "model-args-break-schema",
            "model-unknown-tool",
        }
    ),
    CONTRADICTION: frozenset(
        {
            "api-truncated-call-mislabelled",
            "call-args-not-json",
            "client-assistant-mutated",
            "client-duplicated-call",
            "client-missing-tool-result",
            "client-orphan-tool-result",
            "client-tool-calls-not-dispatched",
            "model-args-break-schema",
            "model-duplicate-call-in-batch",
            "model-empty-response",
            "model-unknown-tool",
        }
    ),
    "call-args-not-json": frozenset({"client-assistant-mutated"}),
    "client-continued-after-end": frozenset({"model-empty-response"}),
    "client-history-duplicated": frozenset(
        {"client-duplicated-call", "client-duplicate-tool-result", "client-role-order"}
    ),
    "api-arguments-wrong-type": frozenset({"client-tool-calls-not-dispatched", "client-tool-error-as-success"}),
    "api-replacement-characters": frozenset({"client-tool-error-as-success"}),
    "call-args-damaged": frozenset({"client-tool-error-as-success"}),
    "client-offers-unknown-tool": frozenset({"client-tool-error-as-success", "model-repeated-call"}),
    "call-args-not-taken": frozenset({"client-tool-error-as-success", "model-repeated-call"}),
    "model-acted-twice": frozenset({"model-repeated-call"}),
    "client-forced-tool-loop": frozenset({"model-repeated-call"}),
}
"""By cause: what follows from it in the same turn, and in the next request of the thread."""


def at(finding: Finding, context: RuleContext) -> Finding:
    """A finding with its cause, if another finding of this turn or of the one before it is the cause."""
    if finding.because_of:
        return finding
    causes = (cause for cause, echoes in ECHOES.items() if finding.id in echoes)
    return replace(finding, because_of=context.has_recently(*causes))


_NAMES = frozenset({"function", "functionCall", "name", "tool_calls", "toolUse"})
_TEXTS = frozenset({"candidates", "choices", "content", "delta", "message", "output", "parts", "role", "text"})
_IDS = frozenset({"call_id", "id", "index", "tool_call_id", "toolUseId"})
FORM_ECHOES: Mapping[str, frozenset[str]] = {
    "client-assistant-mutated": _NAMES | _TEXTS | {"args", "arguments", "input"},
    "client-missing-tool-result": _NAMES | _IDS,
    "model-empty-response": _TEXTS,
    "model-unknown-tool": _NAMES,
}
"""What follows from an answer that is not as the API says, and the fields from which it follows."""
FIELD_WRONG, OUT_OF_ORDER = "api-field-wrong", "api-stream-out-of-order"


def of_form(findings: Iterable[Finding], context: RuleContext) -> list[Finding]:
    """Findings as echoes of a field or an event of an answer that is not as the API says, where that explains them."""
    seen = [*context.found, *context.thread.recent]
    wrong = [one for one in seen if one.id in (FIELD_WRONG, OUT_OF_ORDER) and one.severity != "info"]
    return [_of_form(finding, wrong) for finding in findings]


def _of_form(finding: Finding, wrong: Iterable[Finding]) -> Finding:
    fields = FORM_ECHOES.get(finding.id)
    if fields is None or finding.because_of:
        return finding
    found = [one.id for one in wrong if one.id == OUT_OF_ORDER or _field(one.evidence[0]) in fields]
    return replace(finding, because_of=tuple(dict.fromkeys(found)))


def _field(evidence: str) -> str:
    """The last name of a place such as `#1 response choices[0].message.content`."""
    return evidence.rpartition(" ")[2].rpartition(".")[2].partition("[")[0]


TOOL_ECHOES = frozenset(
    {
        "client-empty-tool-result",
        "client-missing-tool-result",
        "client-no-retry-on-transient",
        "client-stopped-silently",
        "client-tool-calls-not-dispatched",
        "client-tool-error-as-success",
    }
)
"""What the requests show of calls whose run failed."""
TOOL_CAUSES = (
    "tool-server-died",
    "tool-server-silent",
    "tool-server-error",
    "tool-reported-error",
    "client-tool-gave-up",
    "client-tool-error-mark-lost",
    "client-tool-never-executed",
    "client-tool-input-unanswered",
)


SHORTENED = frozenset({"client-tool-result-as-file", "client-tool-result-cut"})


def of_tool(finding: Finding, about_tools: Iterable[str]) -> Finding:
    """A finding of a request as an echo of what the tools' own wire shows, if that explains it."""
    if finding.id not in TOOL_ECHOES or finding.because_of:
        return finding
    known = set(about_tools)
    if finding.id == "client-tool-error-as-success" and known & SHORTENED:
        # The tool had not failed: these are the client's words about a result that is too large.
        return replace(finding, severity="info", because_of=tuple(sorted(known & SHORTENED)))
    return replace(finding, because_of=tuple(cause for cause in TOOL_CAUSES if cause in known))


def of_storm(finding: Finding) -> Finding:
    """A finding of an attempt that turned out to be part of a storm: the storm is the cause of its rate limits.

    A quota that is used up (an error) has another cause.
    """
    if finding.id != RATE_LIMITED or finding.severity == "error" or finding.because_of:
        return finding
    return replace(finding, because_of=(STORM,))
