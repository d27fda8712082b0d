"""Causes that no single rule knows: which findings are echoes of another one of their thread."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from turntape.cassettes.regex import regex

from ..wire.answer_format import FieldNames, last_name
from .finding import Finding, Layer
from .rule_context import RuleContext

CONTRADICTION = "api-stream-contradiction"
"""A stream that contradicts itself."""
STORM = "client-retry-storm"
"""The same failing request, sent too often."""
RATE_LIMITED = "api-rate-limited"


_ERRORS = frozenset({"client-tool-error-as-success", "tool-result-is-error"})
"""What a result shows that reads like an error."""

ECHOES: Mapping[str, frozenset[str]] = {
    "api-tool-call-index-collision": frozenset(
        {
            "client-assistant-mutated",
            "client-call-id-rewritten",
            "client-duplicated-call",
            "client-forged-answer",
            "client-id-missing",
            "client-missing-tool-result",
            "client-orphan-tool-result",
            "client-tool-calls-not-dispatched",
            "call-args-not-json",
            "model-args-break-schema",
            "client-tool-withdrawn",
            "model-unknown-tool",
        }
    ),
    "api-answer-replayed": frozenset({"model-repeated-call", "model-ping-pong", "api-duplicate-tool-call-id"}),
    "api-call-without-id": frozenset(
        {
            "client-call-id-rewritten",
            "client-duplicated-call",
            "client-id-missing",
            "client-missing-tool-result",
            "client-orphan-tool-result",
        }
    ),
    "api-answer-in-reasoning": frozenset({"api-reasoning-unwanted"}),
    "api-final-event-empty": frozenset({"client-assistant-mutated", "client-tool-calls-not-dispatched"}),
    "api-malformed-stream": frozenset(
        {
            "api-call-without-id",
            "api-model-substituted",
            "call-args-not-json",
            "client-assistant-mutated",
            "client-call-id-rewritten",
            "client-forged-answer",
            "client-id-missing",
            "client-missing-tool-result",
            "client-orphan-tool-result",
            "client-tool-calls-not-dispatched",
            "model-args-break-schema",
            "client-tool-withdrawn",
            "model-unknown-tool",
        }
    ),
    CONTRADICTION: frozenset(
        {
            "api-call-without-id",
            "api-truncated-call-mislabelled",
            "call-args-not-json",
            "client-assistant-mutated",
            "client-call-id-rewritten",
            "client-forged-answer",
            "client-id-missing",
            "client-duplicated-call",
            "client-missing-tool-result",
            "client-orphan-tool-result",
            "client-tool-calls-not-dispatched",
            "model-args-break-schema",
            "model-duplicate-call-in-batch",
            "model-empty-response",
            "client-tool-withdrawn",
            "model-unknown-tool",
        }
    ),
    "call-args-not-json": frozenset({"client-assistant-mutated"}),
    "client-command-failed": frozenset({"client-tool-calls-not-dispatched", "client-max-iterations"}),
    "client-continued-after-end": frozenset({"model-empty-response"}),
    "client-history-duplicated": frozenset(
        {"client-duplicated-call", "client-duplicate-tool-result", "client-role-order"}
    ),
    "api-arguments-wrong-type": frozenset(
        {"model-args-break-schema", "client-assistant-mutated", "client-tool-calls-not-dispatched", *_ERRORS}
    ),
    "api-replacement-characters": _ERRORS,
    "call-args-damaged": _ERRORS,
    "client-offers-unknown-tool": _ERRORS | {"model-repeated-call"},
    "call-args-not-taken": _ERRORS | {"model-repeated-call"},
    "model-repeats-itself": frozenset({"api-length-truncated", "api-length-truncated-tool-call"}),
    "model-acted-twice": frozenset({"model-repeated-call"}),
    "client-forced-tool-loop": frozenset({"model-repeated-call"}),
}
"""By cause: what follows from it in the same turn, and in the next request of the thread."""


OF_CALL: Mapping[str, frozenset[str]] = {"api-duplicate-tool-call-id": frozenset({"client-missing-tool-result"})}
"""By cause: what follows from it for the same call."""


def at(finding: Finding, context: RuleContext) -> Finding:
    """A finding with its cause, if another finding of this turn or of the one before it is the cause."""
    if finding.because_of:
        return finding
    causes = context.has_recently(*(cause for cause, echoes in ECHOES.items() if finding.id in echoes))
    return replace(finding, because_of=causes or _of_call(finding, context))


def _of_call(finding: Finding, context: RuleContext) -> tuple[str, ...]:
    """The causes of a finding that are about the call which it names first."""
    if not finding.evidence:
        return ()
    near = [one for one in (*context.found, *context.thread.recent) if finding.id in OF_CALL.get(one.id, ())]
    return tuple(dict.fromkeys(one.id for one in near if finding.evidence[:1] == one.evidence[:1]))


FORM_ECHOES: Mapping[str, tuple[str, ...]] = {
    "call-args-not-json": ("arguments", "texts"),
    "client-assistant-mutated": ("calls", "texts", "arguments"),
    "client-duplicated-call": ("calls", "ids"),
    "client-missing-tool-result": ("calls", "ids"),
    "model-args-break-schema": ("arguments",),
    "model-empty-response": ("texts",),
    "model-unknown-tool": ("calls",),
}
"""What follows from an answer that is not as the API says, and the sets of `FieldNames` from which it follows."""
FIELD_WRONG, OUT_OF_ORDER = "api-field-wrong", "api-stream-out-of-order"
RENAMED = "the stream does not stay the same"
"""How the message of `OUT_OF_ORDER` begins where the events are all there and only their id or model changes."""


def of_form(findings: Iterable[Finding], context: RuleContext) -> list[Finding]:
    """Findings as echoes of a field or an event of an answer that is not as the API says, where that explains them."""
    seen = [*context.found, *context.thread.recent]
    wrong = [one for one in seen if one.id in (FIELD_WRONG, OUT_OF_ORDER) and one.severity != "info"]
    if not wrong:
        return list(findings)
    own = context.spoken[1].format
    names = own.names if own is not None else FieldNames()
    return [_of_form(finding, wrong, names) for finding in findings]


def _of_form(finding: Finding, wrong: Iterable[Finding], names: FieldNames) -> Finding:
    kinds = FORM_ECHOES.get(finding.id)
    if kinds is None or finding.because_of:
        return finding
    fields = frozenset[str]().union(*(getattr(names, kind) for kind in kinds))
    found = [one.id for one in wrong if _explains(one, fields)]
    return replace(finding, because_of=tuple(dict.fromkeys(found)))


def _explains(one: Finding, fields: frozenset[str]) -> bool:
    """True for a wrong field of these, and for a wrong order; a stream whose model changes has all its events."""
    if one.id == OUT_OF_ORDER:
        return not one.message.startswith(RENAMED)
    return last_name(one.evidence[0].rpartition(" ")[2]) in fields


def of_weight(findings: Iterable[Finding], context: RuleContext) -> list[Finding]:
    """Findings without causes that are only an info and blame another layer: what is worth no warning takes no blame.

    An info of the same layer stays, since it says what broke (a cache, for example), and so does a cause that is not
    among the findings of this turn and the one before it.
    """
    layers: dict[str, set[Layer]] = {}
    heavy: set[str] = set()
    for one in (*context.found, *context.thread.recent):
        for name in one.names:
            if one.severity == "info":
                layers.setdefault(name, set()).add(one.layer)
            else:
                heavy.add(name)
    light = {name: blamed for name, blamed in layers.items() if name not in heavy}
    return [_of_weight(finding, light) for finding in findings]


def _of_weight(finding: Finding, light: Mapping[str, Collection[Layer]]) -> Finding:
    """`light`: the layers that are blamed by infos alone, by the name of the finding."""
    if finding.severity == "info" or not finding.because_of:
        return finding
    kept = tuple(cause for cause in finding.because_of if cause not in light or finding.layer in light[cause])
    return replace(finding, because_of=kept)


TOOL_ECHOES = frozenset(
    {
        "call-args-not-taken",
        "call-result-refused",
        "client-empty-tool-result",
        "client-missing-tool-result",
        "client-no-retry-on-transient",
        "client-offers-unknown-tool",
        "client-stopped-silently",
        "client-tool-calls-not-dispatched",
        "result-incomplete",
        "result-text-twice",
        *_ERRORS,
    }
)
"""What the requests show of calls whose run failed, or whose result the client changed."""
TOOL_CAUSES = (
    "tool-server-died",
    "tool-server-silent",
    "tool-server-error",
    "tool-reported-error",
    "tool-error-unmarked",
    "tool-invalid-result",
    "client-tool-not-on-server",
    "client-tool-misrouted",
    "client-tool-gave-up",
    "client-tool-error-mark-lost",
    "client-tool-never-executed",
    "client-tool-input-unanswered",
)


INVALID_RESULT = "tool-invalid-result"
OF_SHOWN = ("client-tool-error-invented", "client-tool-result-changed")
OF_CLIENT: Mapping[str, tuple[str, ...]] = {
    "call-args-not-taken": ("client-tool-definition-differs", "client-tool-arguments-changed", *OF_SHOWN),
    "call-result-refused": OF_SHOWN,
    "result-text-twice": ("client-tool-result-doubled", *OF_SHOWN),
    "result-incomplete": ("client-tool-result-as-file", "client-tool-result-cut", *OF_SHOWN),
    **dict.fromkeys(_ERRORS, OF_SHOWN),
}
"""What the requests show of calls with which the client did something wrong, and what the tools' wire shows of that."""
SHORTENED = frozenset({"client-tool-result-as-file", "client-tool-result-cut"})


def of_tool(finding: Finding, about_tools: Iterable[str]) -> Finding:
    """A finding of a request as an echo of what the tools' own wire shows, if that explains it."""
    known = set(about_tools)
    if finding.id == "request-rejected" and INVALID_RESULT in known and _MEDIA.search(finding.message):
        return replace(finding, layer="tool", message=f"{finding.message}; the tool's server had sent a wrong block")
    if finding.id not in TOOL_ECHOES or finding.because_of:
        return finding
    if finding.id in _ERRORS and known & SHORTENED:
        # The tool had not failed: these are the client's words about a result that is too large.
        return replace(finding, severity="info", because_of=tuple(sorted(known & SHORTENED)))
    causes = (*OF_CLIENT.get(finding.id, ()), *TOOL_CAUSES)
    return replace(finding, because_of=tuple(cause for cause in causes if cause in known))


DEFINITION_REJECTED = "tool-definition-rejected"
RESULT_UNREADABLE = "tool-result-unreadable"
TOOL_BREAKS_PROTOCOL = "tool-protocol-broken"
OF_ORIGIN = {
    "client-bad-tool-schema": DEFINITION_REJECTED,
    "client-media-as-text": RESULT_UNREADABLE,
    "client-media-damaged": RESULT_UNREADABLE,
    "client-media-type-wrong": RESULT_UNREADABLE,
    "client-media-unsupported": RESULT_UNREADABLE,
    "client-result-damaged": RESULT_UNREADABLE,
    "client-unserialized-result": RESULT_UNREADABLE,
    "result-text-twice": RESULT_UNREADABLE,
    "client-results-exchanged": TOOL_BREAKS_PROTOCOL,
}
"""Faults of a part of a request, and whose they are when a tool server sent that part as it is."""


PASSED_ON = frozenset({"request-rejected"})
"""Faults of the same kind whose name blames no layer: only their layer becomes the tool's."""
MARKED_SO = frozenset({"client-tool-error-as-success"})
"""Faults of a mark that the client took from the tool: they are infos, and the tool's own is found at the tool."""
_MEDIA = regex(r"\bimage|\bmedia\b|base64|\baudio\b|\bfile\b", re.IGNORECASE)


INHERITABLE = frozenset(OF_ORIGIN) | PASSED_ON | MARKED_SO


WORD_FOR_WORD = frozenset({"client-unserialized-result", "result-text-twice"})
"""Faults that may lie in what is around a value: they are the tool's only where the client put nothing around it."""


def inherited(finding: Finding, sent: Mapping[str, bool]) -> bool:
    """True for a fault of parts that a tool server sent so.

    `sent`: the JSON pointers of the parts that it sent, and whether nothing is around what it sent.
    """
    if finding.id not in INHERITABLE:
        return False
    places = [one.rpartition(" ")[2] for one in finding.evidence if " request /" in one]
    own = [one for one, alone in sent.items() if alone or finding.id not in WORD_FOR_WORD]
    # The name of a tool is the server's only where the list of tools is.
    places = ["/tools" if _NAME_OF_TOOL.search(at) else at for at in places]
    return bool(places) and all(any(at == one or at.startswith(f"{one}/") for one in own) for at in places)


_NAME_OF_TOOL = regex(r"^/(?:tools|toolConfig/tools)/(?:(?!properties/).)*/name$")


def of_origin(finding: Finding, sent: Mapping[str, bool]) -> Finding:
    """An inherited fault as the tool's, or as an echo of what is found at the tool."""
    if finding.because_of or not inherited(finding, sent):
        return finding
    if finding.id in PASSED_ON:
        return replace(finding, layer="tool", message=f"{finding.message}; the tool's server sent it so")
    if finding.id in MARKED_SO:
        return replace(finding, severity="info")
    return replace(finding, because_of=(OF_ORIGIN[finding.id],))


def of_storm(finding: Finding) -> Finding:
    """A finding of an attempt that turned out to be part of a storm: the storm is the cause of its rate limits.

    A quota that is used up (an error) has another cause.
    """
    if finding.id != RATE_LIMITED or finding.severity == "error" or finding.because_of:
        return finding
    return replace(finding, because_of=(STORM,))
