"""Layer 3: how the client reacts to failures: retries too often, too early, without a chance, or not at all."""

from dataclasses import replace

from ..loop import Loop, Step
from ..pieces import Failed
from .edits import LAST, READS, attempts, ends, put
from .errors import LIMITED, NO_MODEL, OVERLOADED, UNAUTHORIZED
from .fault import ANTHROPIC, Table

RETRIES = Table()


def overloaded(loop: Loop) -> None:
    """Two retries, with growing waits, and then the client gives up."""
    attempts(loop, READS, OVERLOADED[loop.dialect.name], 2.0, 5.0)


def _again(loop: Loop, count: int, gap: float) -> tuple[int, ...]:
    last = loop.steps[-1]
    for _ in range(count):
        loop.steps.append(Step((), gap=gap, failed=last.failed, ask=dict(last.ask)))
    return tuple(range(len(loop.steps)))


@RETRIES("client-retry-storm", "client", tuple(OVERLOADED), "six", base=overloaded, given="api-overloaded")
def six_times(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 3, 0.2)


@RETRIES("client-retry-storm", "client", tuple(OVERLOADED), "twelve", base=overloaded, given="api-overloaded")
def twelve_times(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 9, 0.2)


REFUSED = "access-refused request-rejected client-unsupported-param"


@RETRIES("client-retried-permanent-error", "client", tuple(UNAUTHORIZED), "key", given=REFUSED,
         base=lambda loop: attempts(loop, 0, UNAUTHORIZED[loop.dialect.name]))  # fmt: skip
def key_again(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 2, 1.0)


@RETRIES("client-retried-permanent-error", "client", tuple(NO_MODEL), "model", given=REFUSED,
         base=lambda loop: attempts(loop, 0, NO_MODEL[loop.dialect.name]))  # fmt: skip
def model_again(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 2, 1.0)


def unsupported(loop: Loop) -> None:
    loop.parameters = {"max_tokens": 400}
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    attempts(loop, 0, Failed(400, message, "unsupported_parameter", "max_tokens"))


@RETRIES("client-retried-permanent-error", "client", ("openai-chat",), "parameter", given=REFUSED, base=unsupported,
         also="client-retry-storm")  # fmt: skip
def parameter_again(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 3, 1.0)


def limited(loop: Loop) -> None:
    attempts(loop, READS, LIMITED[loop.dialect.name], 21.0)


@RETRIES("client-ignored-retry-after", "client", tuple(LIMITED), "header", base=limited, given="api-rate-limited")
def too_early(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 1, 1.0)


def limited_once(loop: Loop) -> None:
    loop.steps.insert(READS, Step((), failed=LIMITED[loop.dialect.name]))
    loop.steps[READS + 1].gap = 21.0


@RETRIES("client-ignored-retry-after", "client", tuple(LIMITED), "and continues", base=limited_once,
         given="api-rate-limited")  # fmt: skip
def too_early_and_continues(loop: Loop) -> tuple[int, ...]:
    loop.steps[READS + 1].gap = 2.0
    return READS, READS + 1


def asked_not_to(loop: Loop) -> None:
    failed = OVERLOADED[loop.dialect.name]
    attempts(loop, READS, replace(failed, headers=(("x-should-retry", "false"),)))


@RETRIES("client-ignored-retry-after", "client", ("openai-chat", "openai-responses", *ANTHROPIC), "x-should-retry",
         base=asked_not_to, given="api-overloaded")  # fmt: skip
def again_all_the_same(loop: Loop) -> tuple[int, ...]:
    return _again(loop, 1, 8.0)


def overloaded_once(loop: Loop) -> None:
    loop.steps.insert(READS, Step((), failed=OVERLOADED[loop.dialect.name]))
    loop.steps[READS + 1].gap = 2.0


@RETRIES("client-no-retry-on-transient", "client", tuple(OVERLOADED), tier="S", base=overloaded_once,
         given="api-overloaded")  # fmt: skip
def gave_up(loop: Loop) -> int:
    return ends(loop, READS)


# Twice at once


def _twin(loop: Loop, begins: float) -> None:
    twin = loop.copy()
    twin.steps = [put(replace(twin.steps[0]), results=())]
    twin.name, twin.begins = "twin", begins
    loop.others.append(twin)


@RETRIES("client-duplicate-request", "client", variant="at once", also="client-tool-calls-not-dispatched")
def sent_twice(loop: Loop) -> int:
    _twin(loop, 0.014)
    return 0


@RETRIES("client-duplicate-request", "client", variant="one after the other", also="client-tool-calls-not-dispatched")
def sent_twice_in_a_row(loop: Loop) -> int:
    loop.steps.insert(0, put(replace(loop.steps[0]), results=(), keeps=False))
    loop.steps[1].gap = 0.3
    return 1


def refused(loop: Loop) -> None:
    finish = {"anthropic-messages": "refusal", "anthropic-thinking": "refusal"}.get(loop.dialect.name, "content_filter")
    put(loop.steps[LAST], blocks=(), finish=finish, keeps=False)


REFUSING = ("openai-chat", "openai-responses", "gemini-generate", "bedrock-converse", *ANTHROPIC)


@RETRIES("client-refusal-retried", "client", REFUSING, base=refused, given="model-refusal api-content-filter")
def asked_again(loop: Loop) -> int:
    loop.steps.append(put(replace(loop.steps[LAST]), gap=4.0))
    return LAST + 1
