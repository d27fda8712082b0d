"""Layer 2: finish labels that disagree with the answer, and errors."""

from dataclasses import replace

from ..loop import Loop
from ..pieces import Event, Failed, Json
from .edits import LAST, READS, attempts, ends, put
from .errors import INSIDE, LIMITED, NO_MODEL, OVERLOADED, UNAUTHORIZED
from .fault import ANTHROPIC, ENDINGS, RESPONSES, STREAMED, Table

LABELS = Table()

# Labels

LABELLED = ("openai-chat", "deepseek-chat", "mistral-chat", "cohere-v2", *ANTHROPIC, "bedrock-converse")


@LABELS("api-finish-label-disagrees", "api", LABELLED, "calls under stop")
def calls_under_stop(loop: Loop) -> int:
    loop.steps[READS].finish = "stop"
    return READS


@LABELS(
    "api-finish-label-disagrees",
    "api",
    LABELLED,
    "calls under stop, not run",
    also="client-tool-calls-not-dispatched client-stopped-silently",
)
def calls_under_stop_lost(loop: Loop) -> int:
    loop.steps[READS].finish = "stop"
    return ends(loop, READS)


@LABELS("api-finish-label-disagrees", "api", LABELLED, "no call under tool calls")
def no_call(loop: Loop) -> int:
    loop.steps[LAST].finish = "calls"
    return LAST


@LABELS(
    "api-finish-label-disagrees", "api", LABELLED, "nothing under tool calls", also=f"model-empty-response {ENDINGS}"
)
def nothing_under_calls(loop: Loop) -> int:
    put(loop.steps[READS], passes=lambda _: (), finish="calls")
    return ends(loop, READS)


@LABELS(
    "api-finish-label-disagrees",
    "api",
    ("openai-chat",),
    "calls under content filter",
    instead="api-content-filter",
    also=ENDINGS,
)
def calls_under_filter(loop: Loop) -> int:
    loop.steps[READS].finish = "content_filter"
    return ends(loop, READS)


# Errors

GAVE_UP = "client-no-retry-on-transient client-stopped-silently"


@LABELS("api-overloaded", "api", tuple(OVERLOADED), also=GAVE_UP)
def overloaded(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, READS, OVERLOADED[loop.dialect.name], 2.0, 5.0)


@LABELS("api-rate-limited", "api", tuple(LIMITED), "throttled", also=GAVE_UP)
def limited(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, READS, LIMITED[loop.dialect.name], 21.0, 25.0)


@LABELS("api-rate-limited", "api", ("openai-chat", "openai-responses"), "quota", also=GAVE_UP)
def quota(loop: Loop) -> tuple[int, ...]:
    message = "You exceeded your current quota, please check your plan and billing details."
    return attempts(loop, READS, Failed(429, message, "insufficient_quota"))


@LABELS("access-refused", "client", tuple(UNAUTHORIZED), "key", edits="api")
def unauthorized(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, 0, UNAUTHORIZED[loop.dialect.name])


@LABELS("access-refused", "client", tuple(NO_MODEL), "model")
def no_model(loop: Loop) -> tuple[int, ...]:
    loop.steps[0].ask["model"] = "gpt-4.1-turbo"
    return attempts(loop, 0, NO_MODEL[loop.dialect.name])


@LABELS("api-error-in-200-stream", "api", tuple(INSIDE), "ended", modes=STREAMED, also=f"{ENDINGS} api-overloaded")
def error_inside(loop: Loop) -> int:
    loop.steps[LAST].failed_inside = INSIDE[loop.dialect.name]
    return LAST


@LABELS("api-error-in-200-stream", "api", tuple(INSIDE), "tried again", modes=STREAMED, also="api-overloaded")
def error_inside_recovered(loop: Loop) -> int:
    loop.steps.insert(READS, replace(loop.steps[READS], failed_inside=INSIDE[loop.dialect.name], results=(), gap=0.9))
    loop.steps[READS + 1].gap = 2.0
    return READS


@LABELS(
    "api-error-in-200-stream", "api", RESPONSES, "response.failed", modes=STREAMED, also=f"{ENDINGS} api-overloaded"
)
def response_failed(loop: Loop) -> int:
    def fail(events: list[Event]) -> list[Event]:
        kept = events[: len(events) // 2]
        response: Json = {**events[-1][1]["response"], "status": "failed", "output": [], "usage": None,
                          "error": {"code": "server_error", "message": "The model failed to answer."}}  # fmt: skip
        last = {"type": "response.failed", "sequence_number": len(kept), "response": response}
        return [*kept, ("response.failed", last)]

    loop.steps[LAST].edit_events = (fail,)
    loop.steps[LAST].keeps = False
    return LAST
