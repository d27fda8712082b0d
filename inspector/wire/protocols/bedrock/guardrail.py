"""What a guardrail of Bedrock stopped: the prompt or the answer.

API_runtime_GuardrailTraceAssessment.html of the Bedrock API reference, read 2026-11-22.
"""

from ...json_value import Object, as_array, as_object, compact
from ...values import Usage

_ACTED = ('"action":"BLOCKED"', '"action":"ANONYMIZED"')


def stopped_prompt(trace: Object, usage: Usage | None) -> bool:
    """True when a guardrail intervened before the model ran.

    `trace` is the guardrail's part of the trace, empty when none was requested; then a model that wrote nothing counts.
    """
    outputs = [*as_array(trace.get("outputs")), as_object(trace.get("outputAssessments"))]
    if any(_acted(assessment) for assessment in outputs):
        return False
    if _acted(trace.get("inputAssessment")) or _acted(trace.get("input")):
        return True
    return usage is not None and usage.output == 0


def _acted(assessment: object) -> bool:
    text = compact(assessment).replace(" ", "") if assessment else ""
    return any(action in text for action in _ACTED)
