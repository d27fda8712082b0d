"""Layer 1: what the model emits is wrong."""

import json

from ..loop import Loop, Step
from ..pieces import Refusal, Result, Text, Thinking
from .edits import LAST, PARALLEL, QUERIES, READS, TICKETS, answered, corrected, ends, first_call, say, with_arguments
from .fault import ALL, ANTHROPIC, STRINGS, Table

MODEL = Table()


@MODEL("model-unknown-tool", "model", variant="plain", also="model-args-break-schema")
def unknown_tool(loop: Loop) -> int:
    seen = "there is no tool open_file; the tools are search_logs, read_file, run_query, create_ticket"
    arguments = first_call(loop.steps[READS]).arguments
    return corrected(loop, READS, "open_file", arguments, seen)


@MODEL("model-unknown-tool", "model", ("openai-chat", "openai-responses"), "wrapper", also="model-args-break-schema")
def wrapped_tools(loop: Loop) -> int:
    uses = [{"recipient_name": f"functions.{c.name}", "parameters": json.loads(c.arguments)}
            for c in loop.steps[READS].calls]  # fmt: skip
    seen = "there is no tool multi_tool_use.parallel; call the tools themselves"
    return corrected(loop, READS, "multi_tool_use.parallel", json.dumps({"tool_uses": uses}), seen)


@MODEL("model-unknown-tool", "model", ("gemini-generate", "openai-chat", "ollama-chat"), "prefix",
       also="model-args-break-schema")  # fmt: skip
def prefixed_tool(loop: Loop) -> int:
    arguments = first_call(loop.steps[READS]).arguments
    return corrected(loop, READS, "default_api:read_file", arguments, "there is no tool default_api:read_file")


@MODEL("call-args-not-json", "model", STRINGS)
def broken_json(loop: Loop) -> int:
    arguments = first_call(loop.steps[READS]).arguments.replace('"path": ', "path: ", 1)
    return corrected(loop, READS, "read_file", arguments, "the arguments are not valid JSON; send an object with path")


@MODEL("call-args-not-json", "model", STRINGS, "trailing comma")
def trailing_comma(loop: Loop) -> int:
    arguments = first_call(loop.steps[TICKETS]).arguments[:-1] + ",}"
    return corrected(loop, TICKETS, "create_ticket", arguments, "the arguments are not valid JSON; send one object")


@MODEL("model-args-break-schema", "model", variant="missing-required")
def missing_argument(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[TICKETS], severity=None)
    return corrected(loop, TICKETS, "create_ticket", arguments, "severity is required: one of sev1, sev2, sev3, sev4")


@MODEL("model-args-break-schema", "model", variant="wrong-type")
def wrong_type(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[TICKETS], labels={"team": "checkout"})
    return corrected(loop, TICKETS, "create_ticket", arguments, "labels must be a list of strings")


@MODEL("model-args-break-schema", "model", variant="bad-enum")
def bad_enum(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[TICKETS], severity="critical")
    return corrected(loop, TICKETS, "create_ticket", arguments, "severity must be one of sev1, sev2, sev3, sev4")


@MODEL("model-args-break-schema", "model", variant="extra-argument")
def extra_argument(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[READS], encoding="utf-8")
    return corrected(
        loop, READS, "read_file", arguments, "read_file takes path, first_line and last_line, not encoding"
    )


@MODEL("model-args-break-schema", "model", variant="pattern")
def bad_pattern(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[PARALLEL], since="yesterday evening")
    return corrected(loop, PARALLEL, "search_logs", arguments, "since must be a time like 2026-05-28T21:00:00Z")


@MODEL("model-args-break-schema", "model", variant="range")
def out_of_range(loop: Loop) -> int:
    arguments = with_arguments(loop.steps[PARALLEL], limit=5000)
    return corrected(loop, PARALLEL, "search_logs", arguments, "limit must be between 1 and 200")


PROSE = {
    "hermes": 'I will read it.\n<tool_call>\n{"name": "read_file", "arguments": %s}\n</tool_call>',
    "functions": "<function=read_file>\n<parameter=path>\nservices/checkout/config/production.yaml\n</parameter>\n"
    "</function>",
    "invoke": '<function_calls>\n<invoke name="read_file">\n<parameter name="path">services/checkout/config/'
    "production.yaml</parameter>\n</invoke>\n</function_calls>",
    "bare": '{"name": "read_file", "arguments": %s}',
    "fenced": 'Next step:\n\n```json\n{"name": "read_file", "arguments": %s}\n```',
}
"""How models write calls as prose."""


def _prose(kind: str, loop: Loop) -> int:
    call = first_call(loop.steps[READS])
    text = PROSE[kind].replace("%s", call.arguments)
    thinking = [b for b in loop.steps[READS].blocks if isinstance(b, Thinking)]
    loop.steps[READS].blocks = (*thinking, Text(text, loop.dialect.text_id(f"{loop.dialect.name}/prose")))
    return ends(loop, READS)


@MODEL("call-as-text", "model api", ("openai-chat", "deepseek-chat", "ollama-chat", "mistral-chat"), "hermes",
       tier="S")  # fmt: skip
def prose_hermes(loop: Loop) -> int:
    return _prose("hermes", loop)


@MODEL("call-as-text", "model api", ("openai-chat", "ollama-chat", "cohere-v2", "bedrock-converse"), "functions",
       tier="S")  # fmt: skip
def prose_functions(loop: Loop) -> int:
    return _prose("functions", loop)


@MODEL("call-as-text", "model", (*ANTHROPIC, "bedrock-converse"), "invoke", tier="S")
def prose_invoke(loop: Loop) -> int:
    return _prose("invoke", loop)


@MODEL("call-as-text", "model", ("openai-chat", "openai-responses", "gemini-generate", "mistral-chat"), "fenced",
       tier="S")  # fmt: skip
def prose_fenced(loop: Loop) -> int:
    return _prose("fenced", loop)


@MODEL("call-as-text", "model api", tuple(name for name in ALL if name != "anthropic-thinking"), "bare", tier="S")
def prose_bare(loop: Loop) -> int:
    return _prose("bare", loop)


@MODEL("model-empty-response", "model api", variant="last", also="client-stopped-silently")
def empty_at_the_end(loop: Loop) -> int:
    loop.steps[LAST].blocks = ()
    return LAST


@MODEL("model-empty-response", "model api", tuple(name for name in ALL if name != "mistral-chat"), "asked again")
def empty_then_corrected(loop: Loop) -> int:
    # The client does not keep an empty turn; it asks again in other words.
    empty = Step((), keeps=False, says="Please go on.")
    loop.steps.insert(READS, empty)
    return READS


@MODEL("model-empty-response", "model api", ("deepseek-chat", "openai-responses", "anthropic-thinking"), "no text",
       also="client-stopped-silently")  # fmt: skip
def only_reasoning(loop: Loop) -> int:
    loop.steps[LAST].blocks = tuple(b for b in loop.steps[LAST].blocks if isinstance(b, Thinking))
    return LAST


def _repeats(loop: Loop, times: int) -> tuple[int, ...]:
    call = first_call(loop.steps[QUERIES])
    result = "0 rows"
    again = [answered(Step(say(loop, f"again{i}", "", (call.name, call.arguments))), result) for i in range(times)]
    loop.steps[QUERIES:QUERIES] = again
    loop.steps[QUERIES + times].blocks = say(
        loop, "other", "The table has no such row; I will ask for all of that evening.",
        (call.name, '{"sql": "SELECT service, revision, author, started_at, rolled_back FROM deployments '
                    "WHERE started_at > '2026-05-28'\"}"),
    )  # fmt: skip
    answered(loop.steps[QUERIES + times], "checkout | 7c1f09e | mlang | 2026-05-28T20:58:31Z | f\n(1 row)")
    return tuple(range(QUERIES, QUERIES + times + 1))


@MODEL("model-repeated-call", "model", variant="3 times", also="parallel-calls-one-by-one client-empty-tool-result")
def repeated_three_times(loop: Loop) -> tuple[int, ...]:
    return _repeats(loop, 3)


@MODEL("model-repeated-call", "model", variant="6 times", also="parallel-calls-one-by-one client-empty-tool-result")
def repeated_six_times(loop: Loop) -> tuple[int, ...]:
    return _repeats(loop, 6)


def _circle(loop: Loop, turns: int) -> tuple[int, ...]:
    pair = [("read_file", '{"path": "docs/a.md"}'), ("run_query", '{"sql": "SELECT 1"}')]
    loop.steps[QUERIES:QUERIES] = [
        answered(Step(say(loop, f"round{n}", "", pair[n % 2])), ("empty file", "(1 row)")[n % 2]) for n in range(turns)
    ]
    return tuple(range(QUERIES, QUERIES + turns))


@MODEL("model-ping-pong", "model", variant="two rounds", also="model-repeated-call")
def two_rounds(loop: Loop) -> tuple[int, ...]:
    return _circle(loop, 4)


@MODEL("model-ping-pong", "model", variant="four rounds", also="model-repeated-call")
def four_rounds(loop: Loop) -> tuple[int, ...]:
    return _circle(loop, 8)


def _refuses(loop: Loop) -> int:
    loop.steps[LAST].blocks = (Refusal("I can't help with that."),)
    return LAST


@MODEL("model-refusal", "model", ("openai-chat", "openai-responses", "openai-responses-held"))
def refusal(loop: Loop) -> int:
    return _refuses(loop)


@MODEL("model-refusal", "model", ANTHROPIC, "stop reason")
def refusal_stop(loop: Loop) -> int:
    step = loop.steps[LAST]
    step.blocks, step.finish = (), "refusal"
    step.detail = {
        "stop_details": {"type": "refusal", "category": "cyber", "explanation": "This request was declined."}
    }
    return LAST


@MODEL("model-duplicate-call-in-batch", "model")
def duplicate_in_batch(loop: Loop) -> int:
    call = first_call(loop.steps[READS])
    text = next(b.text for b in loop.steps[READS].blocks if isinstance(b, Text))
    twice = say(loop, "twice", text, (call.name, call.arguments), (call.name, call.arguments))
    seen = next(r.text for r in loop.steps[READS].results if isinstance(r, Result))
    loop.steps[READS].blocks = twice
    answered(loop.steps[READS], seen, seen)
    return READS
