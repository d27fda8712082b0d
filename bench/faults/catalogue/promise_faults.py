"""Layer 2: what the request required and the server did not enforce."""

from ..loop import Loop, Step
from .edits import READS, answered, corrected, say
from .fault import ANTHROPIC, RESPONSES, Table

PROMISES = Table()


CHOOSING = ("openai-chat", "mistral-chat", "cohere-v2", *RESPONSES, "anthropic-messages", "gemini-generate",
            "bedrock-converse")  # fmt: skip


def must_call(loop: Loop) -> None:
    loop.steps[0].ask["tool_choice"] = "required"


@PROMISES("tool-choice-violated", "api model", CHOOSING, "required", base=must_call, edits="model")
def required_and_none_came(loop: Loop) -> int:
    talk = Step(say(loop, "talk", "Which of the services should I look at first?"), says="Checkout, then payments.",
                ask={"tool_choice": "required"})  # fmt: skip
    loop.steps.insert(0, talk)
    return 0


def must_plan(loop: Loop) -> None:
    plan = Step(say(loop, "plan", "First the logs of checkout and payments, then the settings."), says="Good. Do that.",
                ask={"tool_choice": "none"})  # fmt: skip
    loop.steps.insert(0, plan)


@PROMISES(
    "tool-choice-violated",
    "api model",
    tuple(n for n in CHOOSING if n != "bedrock-converse"),
    "none",
    base=must_plan,
    edits="model",
)
def none_and_one_came(loop: Loop) -> int:
    call = ("search_logs", '{"service": "gateway", "query": "502", "since": "2026-05-28T20:50:00Z"}')
    loop.steps[0].blocks = say(loop, "eager", "I will look at the gateway first.", call)
    loop.steps[0].says = None
    answered(loop.steps[0], "0 lines match")
    return 0


def must_read(loop: Loop) -> None:
    loop.steps[READS].ask["tool_choice"] = "read_file"


@PROMISES(
    "tool-choice-violated",
    "api model",
    tuple(n for n in CHOOSING if n not in ("mistral-chat", "cohere-v2")),
    "named",
    base=must_read,
    edits="model",
)
def named_and_another_came(loop: Loop) -> int:
    call = '{"service": "checkout", "query": "charge_timeout", "since": "2026-05-28T20:50:00Z"}'
    corrected(loop, READS, "search_logs", call, "1 line matches: charge_timeout=1500 (services/checkout)")
    answered(loop.steps[READS], "1 line matches: charge_timeout=1500")
    loop.steps[READS].ask["tool_choice"] = "read_file"
    return READS


def one_at_a_time(loop: Loop) -> None:
    loop.parallel = False
    both = loop.steps[0]
    texts = [r.text for r in both.results]  # type: ignore[union-attr]
    calls = [(c.name, c.arguments) for c in both.calls]
    loop.steps[0:1] = [
        answered(Step(say(loop, f"one{i}", "One log after the other.", call)), text)
        for i, (call, text) in enumerate(zip(calls, texts, strict=True))
    ]


@PROMISES(
    "parallel-calls-when-forbidden",
    "api model",
    ("openai-chat", *RESPONSES, *ANTHROPIC, "mistral-chat"),
    base=one_at_a_time,
    edits="model",
)
def two_at_a_time(loop: Loop) -> int:
    texts = [r.text for step in loop.steps[:2] for r in step.results]  # type: ignore[union-attr]
    calls = [(c.name, c.arguments) for step in loop.steps[:2] for c in step.calls]
    del loop.steps[1]
    loop.steps[0].blocks = say(loop, "both", "Both logs at once.", *calls)
    answered(loop.steps[0], *texts)
    return 0
