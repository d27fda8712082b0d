"""Layer 2: the API labels, cuts, filters, fails or counts wrongly."""

from dataclasses import replace
from typing import Any

from ..loop import Loop, Step
from ..pieces import Block, Call, Event, Failed, Json, Message, Text, Thinking, Tokens
from .edits import (
    LAST,
    PARALLEL,
    QUERIES,
    READS,
    TICKETS,
    answered,
    attempts,
    corrected,
    cut_call,
    cut_text,
    ends,
    everywhere,
    first_call,
    in_answer,
    put,
    say,
    spending,
    without_calls,
)  # fmt: skip
from .errors import INSIDE, LIMITED, NO_MODEL, OVERLOADED, TOO_LONG, UNAUTHORIZED
from .fault import ALL, ANTHROPIC, CHAT, RESPONSES, STREAMED, STRINGS, Table

API = Table()
ENDINGS = "client-treated-truncated-as-final client-stopped-silently client-no-retry-on-transient"

# Length


def capped(loop: Loop) -> None:
    loop.max_output = 200


def _continues(loop: Loop, text: str) -> None:
    loop.steps[LAST].says = "Please continue."
    loop.steps.append(Step(say(loop, "rest", text)))


@API("api-length-truncated", "api", variant="text", base=capped)
def length(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.7), finish="length", spent=spending(200))
    _continues(loop, "so some customers have paid for orders that were not placed. INC-2291 is open.")
    return LAST


@API("api-length-truncated", "api", ("deepseek-chat", "openai-responses", "gemini-generate", "anthropic-thinking"),
     "all spent on reasoning", base=capped, also="model-empty-response")  # fmt: skip
def length_in_reasoning(loop: Loop) -> int:
    final = loop.steps[LAST]
    loop.steps.append(replace(final, ask={"max_output": 4000}))
    thinking = tuple(b for b in final.blocks if isinstance(b, Thinking))
    put(final, passes=lambda _: thinking, finish="length", keeps=False,
        spent=lambda t: replace(t, output=200, reasoning=200))  # fmt: skip
    return LAST


def _cut_ticket(loop: Loop, finish: str | None) -> int:
    strings = loop.dialect.name in STRINGS or loop.streamed
    put(loop.steps[TICKETS], passes=cut_call(loop, unterminated=strings), finish=finish, cut_call=finish == "length",
        spent=spending(120))  # fmt: skip
    return TICKETS


def capped_low(loop: Loop) -> None:
    """A cap that only the ticket could reach."""
    loop.max_output = 170 if loop.dialect.thinks else 140


CUT_CALLS = (*STRINGS, *ANTHROPIC, "bedrock-converse")


def _at_cap(loop: Loop) -> None:
    loop.steps[TICKETS].spent = spending(loop.max_output or 0)


@API("api-length-truncated-tool-call", "api", CUT_CALLS, "ended", base=capped_low, also=ENDINGS)
def length_in_call(loop: Loop) -> int:
    _cut_ticket(loop, "length")
    _at_cap(loop)
    return ends(loop, TICKETS)


@API("api-length-truncated-tool-call", "api", CHAT, "answered with an error", base=capped_low)
def length_in_call_answered(loop: Loop) -> int:
    whole = loop.steps[TICKETS]
    loop.steps.insert(TICKETS, replace(whole, blocks=whole.blocks))
    _cut_ticket(loop, "length")
    _at_cap(loop)
    answered(loop.steps[TICKETS], "error: the call was cut off by the output limit and not run; send a shorter body",
             error=True)  # fmt: skip
    call = ("create_ticket", '{"title": "Checkout: charges time out", "body": "See 7c1f09e.", "severity": "sev1"}')
    loop.steps[TICKETS + 1].blocks = say(loop, "shorter", "The call was cut off; here is a shorter one.", call)
    answered(loop.steps[TICKETS + 1], "created INC-2291")
    return TICKETS


@API("api-truncated-call-mislabelled", "api", CUT_CALLS, "as tool calls", base=capped_low, also=ENDINGS,
     modes=STREAMED)  # fmt: skip
def cut_call_as_calls(loop: Loop) -> int:
    _cut_ticket(loop, "calls")
    _at_cap(loop)
    return ends(loop, TICKETS)


@API("api-truncated-call-mislabelled", "api", ("openai-chat", "mistral-chat", "deepseek-chat"), "as stop",
     base=capped_low, also=f"{ENDINGS} api-finish-label-disagrees")  # fmt: skip
def cut_call_as_stop(loop: Loop) -> int:
    _cut_ticket(loop, "stop")
    _at_cap(loop)
    return ends(loop, TICKETS)


# Context


@API("api-context-full", "api client", (*ANTHROPIC, "bedrock-converse", "mistral-chat"), "label", also=ENDINGS)
def window_full(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.5), finish="context_full")
    return LAST


def long_history(loop: Loop) -> None:
    """A conversation of many days, too long for a small window."""
    earlier: list[Message] = []
    for day in range(24):
        asked = "\n".join(f"{day:02}-{i:03} incident note: see the run book, nothing to do." for i in range(190))
        answer = "\n".join(f"{day:02}-{i:03} read; nothing in it needs an action today." for i in range(190))
        earlier.append(Message("user", (Text(asked),)))
        earlier.append(Message("assistant", (Text(answer, loop.dialect.text_id(f"{loop.dialect.name}/day{day}")),)))
    loop.opening = [*earlier, *loop.opening]


@API("api-context-full", "api client", tuple(TOO_LONG), "400", base=long_history, edits="api",
     also="api-invalid-request", modes=STREAMED)  # fmt: skip
def prompt_too_long(loop: Loop) -> int:
    put(loop.steps[QUERIES], failed=TOO_LONG[loop.dialect.name])
    return ends(loop, QUERIES)


# Filters, parsers, limits of the server


@API("api-content-filter", "api", ("openai-chat", "openai-responses", "gemini-generate", "bedrock-converse"), "answer",
     also=ENDINGS)  # fmt: skip
def filtered(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.4), finish="content_filter")
    return LAST


@API("api-content-filter", "api", ("gemini-generate",), "prompt", also=ENDINGS)
def filtered_prompt(loop: Loop) -> int:
    feedback: Json = {"blockReason": "PROHIBITED_CONTENT"}

    def whole(body: Json) -> None:
        del body["candidates"]
        body["usageMetadata"] = {"promptTokenCount": body["usageMetadata"]["promptTokenCount"],
                                 "totalTokenCount": body["usageMetadata"]["promptTokenCount"]}  # fmt: skip
        body["promptFeedback"] = feedback

    def stream(events: list[Event]) -> list[Event]:
        name, value = events[-1]
        whole(value)
        return [(name, value)]

    put(loop.steps[READS], passes=lambda _: (), edit_answer=(whole,), edit_events=(stream,))
    return ends(loop, READS)


def azure(loop: Loop) -> None:
    loop.base_url = "https://shop-eastus.openai.azure.com/openai/v1"
    loop.upstream = "azure"


@API("api-content-filter", "api", ("openai-chat",), "400 of Azure", base=azure, also="api-invalid-request")
def filtered_prompt_azure(loop: Loop) -> int:
    said = {"filtered": False, "severity": "safe"}
    result = {"hate": said, "jailbreak": {"filtered": True, "detected": True}, "self_harm": said, "sexual": said,
              "violence": said}  # fmt: skip
    message = (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please "
        "modify your prompt and retry. To learn more about our content filtering policies please read our "
        "documentation: https://go.microsoft.com/fwlink/?linkid=2198766"
    )
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": result}
    body = {"error": {"message": message, "type": None, "param": "prompt", "code": "content_filter", "status": 400,
                      "innererror": inner}}  # fmt: skip
    put(loop.steps[QUERIES], failed=Failed(400, message, body=body))
    return ends(loop, QUERIES)


@API("api-malformed-output", "api model", ("gemini-generate",), "malformed call", edits="api")
def malformed_call(loop: Loop) -> int:
    asked = first_call(loop.steps[READS])
    bad = Step(
        loop.steps[READS].blocks, keeps=False, finish="malformed", passes=lambda _: (),
        detail={"finishMessage": f"Malformed function call: print(default_api.{asked.name}(path='services/'"},
    )  # fmt: skip
    loop.steps.insert(READS, bad)
    return READS


@API("api-malformed-output", "api model", ("gemini-generate",), "unexpected call", edits="api", also=ENDINGS)
def unexpected_call(loop: Loop) -> int:
    put(loop.steps[READS], passes=lambda _: (), finish="=UNEXPECTED_TOOL_CALL",
        detail={"finishMessage": "Unexpected tool call: open_file"})  # fmt: skip
    return ends(loop, READS)


@API("api-malformed-output", "api model", ("bedrock-converse",), "malformed tool use", edits="api", also=ENDINGS)
def malformed_tool_use(loop: Loop) -> int:
    put(loop.steps[READS], passes=without_calls, finish="malformed")
    return ends(loop, READS)


@API("api-server-limit", "api", ("gemini-generate", "openai-responses"), also=ENDINGS)
def server_limit(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.3), finish="limit")
    return LAST


# Labels

LABELLED = ("openai-chat", "deepseek-chat", "mistral-chat", "cohere-v2", *ANTHROPIC, "bedrock-converse")


@API("api-finish-label-disagrees", "api", LABELLED, "calls under stop")
def calls_under_stop(loop: Loop) -> int:
    loop.steps[READS].finish = "stop"
    return READS


@API("api-finish-label-disagrees", "api", LABELLED, "calls under stop, not run",
     also="client-tool-calls-not-dispatched client-stopped-silently")  # fmt: skip
def calls_under_stop_lost(loop: Loop) -> int:
    loop.steps[READS].finish = "stop"
    return ends(loop, READS)


@API("api-finish-label-disagrees", "api", LABELLED, "no call under tool calls")
def no_call(loop: Loop) -> int:
    loop.steps[LAST].finish = "calls"
    return LAST


@API("api-finish-label-disagrees", "api", LABELLED, "nothing under tool calls", also=f"model-empty-response {ENDINGS}")
def nothing_under_calls(loop: Loop) -> int:
    put(loop.steps[READS], passes=lambda _: (), finish="calls")
    return ends(loop, READS)


@API("api-finish-label-disagrees", "api", ("openai-chat",), "calls under content filter", instead="api-content-filter",
     also=ENDINGS)  # fmt: skip
def calls_under_filter(loop: Loop) -> int:
    loop.steps[READS].finish = "content_filter"
    return ends(loop, READS)


# Errors

GAVE_UP = "client-no-retry-on-transient client-stopped-silently"


@API("api-overloaded", "api", tuple(OVERLOADED), also=GAVE_UP)
def overloaded(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, READS, OVERLOADED[loop.dialect.name], 2.0, 5.0)


@API("api-rate-limited", "api", tuple(LIMITED), "throttled", also=GAVE_UP)
def limited(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, READS, LIMITED[loop.dialect.name], 21.0, 25.0)


@API("api-rate-limited", "api", ("openai-chat", "openai-responses"), "quota", also=GAVE_UP)
def quota(loop: Loop) -> tuple[int, ...]:
    message = "You exceeded your current quota, please check your plan and billing details."
    return attempts(loop, READS, Failed(429, message, "insufficient_quota"))


@API("api-auth-or-permission", "client", tuple(UNAUTHORIZED), "key", edits="api")
def unauthorized(loop: Loop) -> tuple[int, ...]:
    return attempts(loop, 0, UNAUTHORIZED[loop.dialect.name])


@API("api-auth-or-permission", "client", tuple(NO_MODEL), "model")
def no_model(loop: Loop) -> tuple[int, ...]:
    loop.steps[0].ask["model"] = "gpt-4.1-turbo"
    return attempts(loop, 0, NO_MODEL[loop.dialect.name])


@API("api-error-in-200-stream", "api", tuple(INSIDE), "ended", modes=STREAMED, also=f"{ENDINGS} api-overloaded")
def error_inside(loop: Loop) -> int:
    loop.steps[LAST].failed_inside = INSIDE[loop.dialect.name]
    return LAST


@API("api-error-in-200-stream", "api", tuple(INSIDE), "tried again", modes=STREAMED, also="api-overloaded")
def error_inside_recovered(loop: Loop) -> int:
    loop.steps.insert(READS, replace(loop.steps[READS], failed_inside=INSIDE[loop.dialect.name], results=(), gap=0.9))
    loop.steps[READS + 1].gap = 2.0
    return READS


@API("api-error-in-200-stream", "api", RESPONSES, "response.failed", modes=STREAMED, also=f"{ENDINGS} api-overloaded")
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


# Streams


@API("api-stream-cut", "api", ALL, "in the text", modes=STREAMED, also=ENDINGS)
def cut_in_text(loop: Loop) -> int:
    loop.steps[LAST].cut = 0.6
    return LAST


@API("api-stream-cut", "api", ALL, "in a call, tried again", modes=STREAMED)
def cut_in_call(loop: Loop) -> int:
    loop.steps.insert(TICKETS, replace(loop.steps[TICKETS], cut=0.75, results=()))
    loop.steps[TICKETS + 1].gap = 1.5
    return TICKETS


STALLING = tuple(name for name in ALL if name not in ("gemini-generate", "bedrock-converse"))


@API("api-stream-stalled", "api", STALLING, "75 s with keepalives", modes=STREAMED)
def stalled(loop: Loop) -> int:
    loop.steps[LAST].stall = (0.6, 75.0, 4)
    return LAST


@API("api-stream-stalled", "api", ALL, "320 s", modes=STREAMED)
def stalled_long(loop: Loop) -> int:
    loop.steps[LAST].stall = (0.6, 320.0, 0)
    return LAST


@API("api-malformed-stream", "api", ("openai-chat", "anthropic-messages"), "no JSON", modes=STREAMED)
def not_json(loop: Loop) -> int:
    def broken(pieces: list[bytes]) -> list[bytes]:
        return [*pieces[:3], b"data: {'choices': [\n\n", *pieces[3:]]

    loop.steps[READS].edit_pieces = (broken,)
    return READS


@API("api-malformed-stream", "api", ("openai-chat",), "empty finish words", modes=STREAMED)
def empty_words(loop: Loop) -> int:
    def blank(events: list[Event]) -> list[Event]:
        for _, value in events[:-2]:
            for choice in value["choices"] if isinstance(value, dict) else ():
                choice["finish_reason"] = choice["finish_reason"] or ""
        return events

    loop.steps[READS].edit_events = (blank,)
    return READS


@API("api-malformed-stream", "api", ("openai-chat", "deepseek-chat", "mistral-chat"), "done twice", modes=STREAMED)
def done_twice(loop: Loop) -> int:
    loop.steps[READS].edit_pieces = (lambda pieces: [*pieces, pieces[-1]],)
    return READS


@API("api-malformed-stream", "api", ("openai-chat", "anthropic-messages", "openai-responses"), "content type",
     modes=STREAMED)  # fmt: skip
def content_type(loop: Loop) -> int:
    loop.steps[READS].edit_headers = (("content-type", "application/json"),)
    return READS


@API("api-malformed-stream", "api", ANTHROPIC, "a delta before its block", modes=STREAMED)
def out_of_order(loop: Loop) -> int:
    def swap(events: list[Event]) -> list[Event]:
        start = max(i for i, (name, _) in enumerate(events) if name == "content_block_start")
        return [*events[:start], events[start + 1], events[start], *events[start + 2 :]]

    loop.steps[READS].edit_events = (swap,)
    return READS


@API("api-malformed-stream", "api", ("openai-chat", "openai-responses"), "broken UTF-8", modes=STREAMED)
def broken_utf8(loop: Loop) -> int:
    def broken(pieces: list[bytes]) -> list[bytes]:
        return [piece.replace("\ufffd".encode(), b"\xc3") for piece in pieces]

    loop.steps[1].edit_pieces = (broken,)
    text = next(b for b in loop.steps[1].blocks if isinstance(b, Text))
    kept = replace(text, text=text.text.replace(" need", " n\ufffded", 1))
    loop.steps[1].passes = lambda blocks: tuple(kept if b is text else b for b in blocks)
    return 1


# Calls


def _collide(events: list[Event]) -> list[Event]:
    for _, value in events:
        if isinstance(value, dict):
            everywhere(value["choices"], "tool_calls", lambda calls: [{**call, "index": 0} for call in calls])
    return events


@API(
    "api-tool-call-index-collision", "api", ("openai-chat", "deepseek-chat"), "one index for two calls", modes=STREAMED
)
def one_index(loop: Loop) -> int:
    loop.steps[PARALLEL].edit_events = (_collide,)
    return PARALLEL


def _without_index(call: Json) -> Json:
    return {name: value for name, value in call.items() if name != "index"}


@API("api-tool-call-index-collision", "api", ("openai-chat", "deepseek-chat"), "no index", modes=STREAMED)
def no_index(loop: Loop) -> int:
    def drop(events: list[Event]) -> list[Event]:
        for _, value in events:
            if isinstance(value, dict):
                everywhere(value["choices"], "tool_calls", lambda calls: [_without_index(call) for call in calls])
        return events

    loop.steps[PARALLEL].edit_events = (drop,)
    return PARALLEL


@API(
    "api-tool-call-index-collision", "api", (*CHAT, "openai-responses"), "joined arguments", also="model-args-not-json"
)
def joined_arguments(loop: Loop) -> int:
    calm = loop.steps[PARALLEL]
    joined = "".join(call.arguments for call in calm.calls)

    def join(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        first = next(b for b in blocks if isinstance(b, Call))
        return tuple(replace(b, arguments=joined) if b is first else b for b in blocks
                     if b is first or not isinstance(b, Call))  # fmt: skip

    bad = replace(calm, passes=join)
    loop.steps.insert(PARALLEL, answered(bad, "the arguments are not valid JSON", error=True))
    calm.blocks = say(loop, "again", "I will make the two calls again.", *((c.name, c.arguments) for c in calm.calls))
    answered(calm, *(r.text for r in calm.results))  # type: ignore[union-attr]
    return PARALLEL


IDENTIFIED = (*CHAT, *RESPONSES, *ANTHROPIC, "bedrock-converse")


@API("api-duplicate-tool-call-id", "api", IDENTIFIED, "in one answer")
def same_id_twice(loop: Loop) -> int:
    step = loop.steps[PARALLEL]
    texts = [r.text for r in step.results]  # type: ignore[union-attr]

    def same(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        identity = next(b for b in blocks if isinstance(b, Call)).id
        return tuple(replace(b, id=identity) if isinstance(b, Call) else b for b in blocks)

    step.passes = same
    answered(step, *texts)
    return PARALLEL


@API("api-duplicate-tool-call-id", "api", IDENTIFIED, "of an earlier call")
def id_of_an_earlier_call(loop: Loop) -> int:
    step, earlier = loop.steps[QUERIES], first_call(loop.steps[READS]).id
    texts = [r.text for r in step.results]  # type: ignore[union-attr]
    step.passes = lambda blocks: tuple(replace(b, id=earlier) if isinstance(b, Call) else b for b in blocks)
    answered(step, *texts)
    return QUERIES


# Counts and models

EVERYWHERE = tuple(range(6))


@API("api-usage-missing", "api")
def no_usage(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.spent = lambda _: None
    return EVERYWHERE


@API("api-usage-missing", "client", ("openai-chat",), "not asked for", modes=STREAMED)
def usage_not_asked_for(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.edit_request = (lambda body: body.pop("stream_options", None),)
        step.spent = lambda _: None
    return EVERYWHERE


INCLUSIVE = ("openai-chat", "deepseek-chat", *RESPONSES, "gemini-generate")


@API("api-usage-inconsistent", "api", INCLUSIVE, "more cached than sent")
def more_cached_than_sent(loop: Loop) -> int:
    loop.steps[READS].spent = lambda t: replace(t, input=3, cached=1765)
    return READS


@API("api-usage-inconsistent", "api", variant="all zero")
def all_zero(loop: Loop) -> int:
    loop.steps[LAST].spent = lambda _: Tokens(0, 0, 0, 0, 0)
    return LAST


TOTALS = {"total_tokens": 1000, "totalTokenCount": 1000, "totalTokens": 1000}


@API("api-usage-inconsistent", "api", ("openai-chat", "deepseek-chat", "mistral-chat", *RESPONSES, "gemini-generate"),
     "total is not the sum")  # fmt: skip
def wrong_total(loop: Loop) -> int:
    def add(value: Json) -> None:
        for key, more in TOTALS.items():
            everywhere(value, key, lambda total, more=more: total + more)

    put(loop.steps[READS], **in_answer(add))
    return READS


OTHER_MODELS = {
    "openai-chat": "gpt-4o-mini-2024-07-18",
    "openai-responses": "gpt-4o-mini-2024-07-18",
    "openai-responses-held": "gpt-4o-mini-2024-07-18",
    "anthropic-messages": "claude-haiku-4-5-20251001",
    "anthropic-thinking": "claude-haiku-4-5-20251001",
    "gemini-generate": "gemini-2.5-flash",
    "mistral-chat": "mistral-small-2506",
    "ollama-chat": "llama3.2:1b",
}


@API("api-model-substituted", "api", tuple(OTHER_MODELS), "from the beginning")
def other_model(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.served = OTHER_MODELS[loop.dialect.name]
    return EVERYWHERE


@API("api-model-substituted", "api", tuple(OTHER_MODELS), "in the middle")
def other_model_later(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps[QUERIES:]:
        step.served = OTHER_MODELS[loop.dialect.name]
    return EVERYWHERE[QUERIES:]


def _served_tier(tier: str) -> dict[str, Any]:
    def edit(value: Json) -> None:
        everywhere(value, "service_tier", lambda _: tier)

    return in_answer(edit)


def priority(loop: Loop) -> None:
    loop.parameters = {"service_tier": "priority"}
    for step in loop.steps:
        put(step, **_served_tier("priority"))


@API("api-service-tier-changed", "api", ("openai-chat", "openai-responses"), base=priority)
def other_tier(loop: Loop) -> int:
    put(loop.steps[READS], **_served_tier("default"))
    return READS


CACHING = ("openai-chat", "deepseek-chat", "cohere-v2", *RESPONSES, *ANTHROPIC, "bedrock-converse")


@API("api-cache-drop", "api", CACHING)
def cache_drop(loop: Loop) -> int:
    marked = loop.dialect.flags_errors
    loop.steps[TICKETS].spent = lambda t: replace(t, cached=0, written=t.input - 5 if marked else 0)
    return TICKETS


def _long_task(loop: Loop) -> None:
    lines = "\n".join(f"2026-05-28T21:{i // 60:02}:{i % 60:02}Z checkout ERROR charge timed out order={88000 + i}"
                      for i in range(900))  # fmt: skip
    task = loop.opening[0].blocks[0]
    assert isinstance(task, Text)
    loop.opening = [Message("user", (Text(f"{task.text}\nWhat we have so far:\n{lines}"),))]


def no_window_named(loop: Loop) -> None:
    """The server's own window, which the client does not set."""
    _long_task(loop)
    loop.parameters = {"options": {}}


@API("api-prompt-truncated-silently", "api client", ("ollama-chat",), "to the window", tier="S", base=no_window_named)
def truncated_to_window(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.spent = lambda t: replace(t, input=4096)
    return EVERYWHERE


@API(
    "api-prompt-truncated-silently", "api client", ("ollama-chat",), "to half of the window", tier="S", base=_long_task
)
def truncated_to_half(loop: Loop) -> tuple[int, ...]:
    loop.parameters = {"options": {"num_ctx": 4096}}
    for step in loop.steps:
        step.spent = lambda t: replace(t, input=2050)
    return EVERYWHERE


def truncation_allowed(loop: Loop) -> None:
    loop.parameters = {"truncation": "auto"}
    _long_task(loop)


@API("api-prompt-truncated-silently", "api client", RESPONSES, "by truncation auto", tier="S", base=truncation_allowed,
     also="api-cache-drop")  # fmt: skip
def truncated_by_server(loop: Loop) -> int:
    loop.steps[TICKETS].spent = lambda t: replace(t, input=2200, cached=1600)
    return TICKETS


@API("api-reasoning-dropped-by-server", "api client", ("anthropic-thinking",))
def thinking_dropped(loop: Loop) -> int:
    entry = {"type": "thinking_dropped", "path": "messages.3.content.0", "reason": "prefix_binding_mismatch"}
    loop.steps[QUERIES].detail = {"input_transformations": [entry]}
    return QUERIES


@API("api-reasoning-dropped-by-server", "api client", ("openai-responses",), "removed")
def reasoning_removed(loop: Loop) -> int:
    thinking = next(b for b in loop.steps[READS].blocks if isinstance(b, Thinking))
    entry = {"id": thinking.id, "action": "removed", "reason": "model_mismatch", "type": "reasoning"}
    loop.steps[QUERIES].detail = {"input_transformations": [entry]}
    return QUERIES


FABRICATED = f"api-usage-inconsistent {ENDINGS}"


@API("api-fabricated-finish", "api", ("openai-chat", "deepseek-chat", *ANTHROPIC, "bedrock-converse"), "in a word",
     tier="S", modes=STREAMED, also=FABRICATED)  # fmt: skip
def fabricated_in_text(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.55), finish="stop", spent=lambda _: Tokens(0, 0, 0, 0, 0))
    return LAST


@API("api-fabricated-finish", "api", ("openai-chat", "deepseek-chat", *ANTHROPIC), "in a call", tier="S",
     modes=STREAMED, also=f"{FABRICATED} api-finish-label-disagrees",
     instead="api-truncated-call-mislabelled")  # fmt: skip
def fabricated_in_call(loop: Loop) -> int:
    put(loop.steps[TICKETS], passes=cut_call(loop, unterminated=True), finish="stop",
        spent=lambda _: Tokens(0, 0, 0, 0, 0))  # fmt: skip
    return ends(loop, TICKETS)


@API("api-fabricated-finish", "api", RESPONSES, "an empty output", tier="S", modes=STREAMED,
     also=f"model-empty-response api-malformed-stream {ENDINGS}")  # fmt: skip
def fabricated_output(loop: Loop) -> int:
    def empty(events: list[Event]) -> list[Event]:
        last = events[-1][1]
        last["response"] = {**last["response"], "output": []}
        last["response"]["usage"] = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0,
                                     "input_tokens_details": {"cached_tokens": 0},
                                     "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
        return [*events[: len(events) // 2], events[-1]]

    put(loop.steps[LAST], edit_events=(empty,), keeps=False)
    return LAST


# What the request asked the server to enforce

CHOOSING = ("openai-chat", "mistral-chat", "cohere-v2", *RESPONSES, "anthropic-messages", "gemini-generate",
            "bedrock-converse")  # fmt: skip


def must_call(loop: Loop) -> None:
    loop.steps[0].ask["tool_choice"] = "required"


@API("model-tool-choice-violated", "api model", CHOOSING, "required", base=must_call, edits="model")
def required_and_none_came(loop: Loop) -> int:
    talk = Step(say(loop, "talk", "Which of the services should I look at first?"), says="Checkout, then payments.",
                ask={"tool_choice": "required"})  # fmt: skip
    loop.steps.insert(0, talk)
    return 0


def must_plan(loop: Loop) -> None:
    plan = Step(say(loop, "plan", "First the logs of checkout and payments, then the settings."), says="Good. Do that.",
                ask={"tool_choice": "none"})  # fmt: skip
    loop.steps.insert(0, plan)


@API("model-tool-choice-violated", "api model", tuple(n for n in CHOOSING if n != "bedrock-converse"), "none",
     base=must_plan, edits="model")  # fmt: skip
def none_and_one_came(loop: Loop) -> int:
    call = ("search_logs", '{"service": "gateway", "query": "502", "since": "2026-05-28T20:50:00Z"}')
    loop.steps[0].blocks = say(loop, "eager", "I will look at the gateway first.", call)
    loop.steps[0].says = None
    answered(loop.steps[0], "0 lines match")
    return 0


def must_read(loop: Loop) -> None:
    loop.steps[READS].ask["tool_choice"] = "read_file"


@API("model-tool-choice-violated", "api model", tuple(n for n in CHOOSING if n not in ("mistral-chat", "cohere-v2")),
     "named", base=must_read, edits="model")  # fmt: skip
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


@API("model-parallel-when-forbidden", "api model", ("openai-chat", *RESPONSES, *ANTHROPIC, "mistral-chat"),
     base=one_at_a_time, edits="model")  # fmt: skip
def two_at_a_time(loop: Loop) -> int:
    texts = [r.text for step in loop.steps[:2] for r in step.results]  # type: ignore[union-attr]
    calls = [(c.name, c.arguments) for step in loop.steps[:2] for c in step.calls]
    del loop.steps[1]
    loop.steps[0].blocks = say(loop, "both", "Both logs at once.", *calls)
    answered(loop.steps[0], *texts)
    return 0
