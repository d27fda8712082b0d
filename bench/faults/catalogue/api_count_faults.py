"""Layer 2: wrong counts of tokens, other models, and prompts that the server cut."""

from dataclasses import replace
from typing import Any

from ..loop import Loop
from ..pieces import Event, Json, Message, Text, Thinking, Tokens
from .edits import LAST, QUERIES, READS, TICKETS, cut_call, cut_text, ends, everywhere, in_answer, put
from .fault import ANTHROPIC, ENDINGS, RESPONSES, STREAMED, Table

COUNTS = Table()


EVERYWHERE = tuple(range(6))


@COUNTS("usage-missing", "api")
def no_usage(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.spent = lambda _: None
    return EVERYWHERE


@COUNTS("usage-missing", "client", ("openai-chat",), "not asked for", modes=STREAMED)
def usage_not_asked_for(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.edit_request = (lambda body: body.pop("stream_options", None),)
        step.spent = lambda _: None
    return EVERYWHERE


INCLUSIVE = ("openai-chat", "deepseek-chat", *RESPONSES, "gemini-generate")


@COUNTS("api-usage-inconsistent", "api", INCLUSIVE, "more cached than sent")
def more_cached_than_sent(loop: Loop) -> int:
    loop.steps[READS].spent = lambda t: replace(t, input=3, cached=1765)
    return READS


@COUNTS("api-usage-inconsistent", "api", variant="all zero")
def all_zero(loop: Loop) -> int:
    loop.steps[LAST].spent = lambda _: Tokens(0, 0, 0, 0, 0)
    return LAST


TOTALS = {"total_tokens": 1000, "totalTokenCount": 1000, "totalTokens": 1000}


@COUNTS(
    "api-usage-inconsistent",
    "api",
    ("openai-chat", "deepseek-chat", "mistral-chat", *RESPONSES, "gemini-generate"),
    "total is not the sum",
)
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


@COUNTS("api-model-substituted", "api", tuple(OTHER_MODELS), "from the beginning")
def other_model(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.served = OTHER_MODELS[loop.dialect.name]
    return EVERYWHERE


@COUNTS("api-model-substituted", "api", tuple(OTHER_MODELS), "in the middle")
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


@COUNTS("api-service-tier-changed", "api", ("openai-chat", "openai-responses"), base=priority)
def other_tier(loop: Loop) -> int:
    put(loop.steps[READS], **_served_tier("default"))
    return READS


CACHING = ("openai-chat", "deepseek-chat", "cohere-v2", *RESPONSES, *ANTHROPIC, "bedrock-converse")


@COUNTS("api-cache-drop", "api", CACHING)
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


@COUNTS(
    "api-prompt-truncated-silently", "api client", ("ollama-chat",), "to the window", tier="S", base=no_window_named
)
def truncated_to_window(loop: Loop) -> tuple[int, ...]:
    for step in loop.steps:
        step.spent = lambda t: replace(t, input=4096)
    return EVERYWHERE


@COUNTS(
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


@COUNTS(
    "api-prompt-truncated-silently",
    "api client",
    RESPONSES,
    "by truncation auto",
    tier="S",
    base=truncation_allowed,
    also="api-cache-drop",
)
def truncated_by_server(loop: Loop) -> int:
    loop.steps[TICKETS].spent = lambda t: replace(t, input=2200, cached=1600)
    return TICKETS


@COUNTS("reasoning-removed", "api client", ("anthropic-thinking",))
def thinking_dropped(loop: Loop) -> int:
    entry = {"type": "thinking_dropped", "path": "messages.3.content.0", "reason": "prefix_binding_mismatch"}
    loop.steps[QUERIES].detail = {"input_transformations": [entry]}
    return QUERIES


@COUNTS("reasoning-removed", "api client", ("openai-responses",), "removed")
def reasoning_removed(loop: Loop) -> int:
    thinking = next(b for b in loop.steps[READS].blocks if isinstance(b, Thinking))
    entry = {"id": thinking.id, "action": "removed", "reason": "model_mismatch", "type": "reasoning"}
    loop.steps[QUERIES].detail = {"input_transformations": [entry]}
    return QUERIES


FABRICATED = f"api-usage-inconsistent {ENDINGS}"


@COUNTS(
    "api-fabricated-finish",
    "api",
    ("openai-chat", "deepseek-chat", *ANTHROPIC, "bedrock-converse"),
    "in a word",
    tier="S",
    modes=STREAMED,
    also=FABRICATED,
)
def fabricated_in_text(loop: Loop) -> int:
    put(loop.steps[LAST], passes=cut_text(0.55), finish="stop", spent=lambda _: Tokens(0, 0, 0, 0, 0))
    return LAST


@COUNTS(
    "api-fabricated-finish",
    "api",
    ("openai-chat", "deepseek-chat", *ANTHROPIC),
    "in a call",
    tier="S",
    modes=STREAMED,
    also=f"{FABRICATED} api-finish-label-disagrees",
    instead="api-truncated-call-mislabelled",
)
def fabricated_in_call(loop: Loop) -> int:
    put(loop.steps[TICKETS], passes=cut_call(loop, unterminated=True), finish="stop",
        spent=lambda _: Tokens(0, 0, 0, 0, 0))  # fmt: skip
    return ends(loop, TICKETS)


@COUNTS(
    "api-fabricated-finish",
    "api",
    RESPONSES,
    "an empty output",
    tier="S",
    modes=STREAMED,
    also=f"model-empty-response api-malformed-stream {ENDINGS}",
)
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
