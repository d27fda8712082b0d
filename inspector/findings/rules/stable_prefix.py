"""Changes of the system prompt, the tools, the parameters or the model during a run, and their cost in cache misses."""

import re
from collections.abc import Iterator, Sequence

from turntape.cassettes.excerpts import around
from turntape.cassettes.regex import regex

from ...analysis.conversation import sorted_json
from ...analysis.history_diff import HistoryChange, HistoryDiff
from ...analysis.tool_changes import tool_change, tools_sentence
from ...analysis.turn import Turn
from ...wire.exchange import Exchange
from ...wire.json_value import compact
from ...wire.per_message import PerMessage
from ...wire.protocols.shared.cache_marks import cache_diagnosis
from ...wire.values import Tool
from .. import prompt_cache
from ..finding import Severity, became
from ..rule import Note, rule
from ..rule_context import RuleContext
from .history import differs, is_cleared, place
from .pairing import confirmed

_VOLATILE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a date or a clock",
        regex(
            r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|20\d\d|January|February|March|April|May |June|July|August|September|October|November|December"
        ),
    ),
    ("an id", regex(r"[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16,}")),
    ("a path", regex(r"(/[\w.-]+){2,}")),
    ("a number", regex(r"\d")),
)


def _looks_like(text: str) -> str:
    return next((f", which looks like {what}" for what, pattern in _VOLATILE if pattern.search(text)), "")


def _system(turn: Turn) -> str:
    texts = (part.text for part in turn.reading.request.instructions)
    return "\n".join(text for text in texts if not text.startswith("x-anthropic-billing-header"))


@rule(
    "client-system-prompt-changed",
    "client",
    "warning",
    "P",
    says="The system prompt differs from the previous turn's.",
    fix="Put what changes (dates, ids, listings) at the end of the history, not into the system prompt.",
    not_when=(
        "Another agent continues the conversation",
        "The client retries the turn",
        "The cache was not lost: then it is an info",
    ),
)
def system_changed(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind != "continuation":
        return
    if before.reading.request.instructions == context.request.instructions:
        return
    was, now = _system(before), _system(context.turn)
    if was.split() == now.split() or (context.request.previous_id is not None and not now):
        return
    start = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    before_it, near = (around(text, start - 20, start + 30) for text in (was, now))
    yield Note(
        f"the system prompt changes at character {start}{_looks_like(now[max(start - 10, 0) : start + 16])}: "
        f"{became(before_it, near)}",
        (f"#{before.round_trip.index} request system", f"{context.at} request system"),
    )


@rule(
    "client-tools-changed",
    "client",
    "warning",
    "P",
    says="The tools differ from the previous turn's.",
    fix="Keep the list of tools and its order during a run; use tool_choice to allow or forbid them.",
    not_when=(
        "Another agent continues the conversation",
        "The client retries the turn",
        "The cache was not lost: then it is an info",
        "A tool with `defer_loading` came in or went away",
    ),
)
def tools_changed(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-tools-changed", _tools(context))


def _in_prompt(turn: Turn) -> list[Tool]:
    """The tools whose definitions are in the prompt. A deferred one comes into the history when it is looked for."""
    return [tool for tool in turn.reading.request.tools if not tool.deferred]


def _definition(tool: Tool) -> tuple[str, str, str]:
    """Name, meaning and spelling: the order of keys counts, as it does for caches."""
    return tool.name, sorted_json([tool.description, tool.schema]), compact(tool.schema)


_definitions = PerMessage(_definition)


def _tools(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind != "continuation":
        return
    was, now = _definitions.of(_in_prompt(before)), _definitions.of(_in_prompt(context.turn))
    taken_back = context.over_socket and "tools" in context.fields  # a session has its tools until they are replaced
    if was == now or (context.request.previous_id is not None and not now and not taken_back):
        return
    what, severity = _tool_change(context, was, now)
    yield Note(
        tools_sentence(what),
        (f"#{before.round_trip.index} request tools", f"{context.at} request tools"),
        severity=severity,
    )


def _tool_change(
    context: RuleContext, was: Sequence[tuple[str, str, str]], now: Sequence[tuple[str, str, str]]
) -> tuple[str, Severity | None]:
    """What changed between two lists of `_definition`, and a severity if it is not the rule's own."""
    what = tool_change([one[:2] for one in was], [one[:2] for one in now])
    if what is None:
        return "only the order of keys changed", None
    names = {name for name, _, _ in now}
    removed = {name for name, _, _ in was} - names
    called = {part.call.name for message in context.request.messages for part in message.parts if part.call}
    orphaned = sorted(removed & called)
    if not orphaned:
        return what, None
    return f"{what}, although the history calls {orphaned[0]!r}", "error" if names else None


_ROOTS = (
    "client-system-prompt-changed",
    "client-tools-changed",
    "client-forged-answer",
    "client-foreign-history",
    "client-history-duplicated",
    "client-user-text-changed",
    "client-user-text-lost",
    "client-history-truncated",
    "client-history-reordered",
    "client-tool-result-rewritten",
    "client-assistant-mutated",
)


@rule(
    "client-cache-prefix-busted",
    "client",
    "warning",
    "P",
    says="The request differs from the last one inside the part that could have been read from the cache.",
    fix="Only append: keep tools, system prompt and earlier messages unchanged, byte for byte.",
    not_when=(
        "The input is too short for any cache: then it is an info",
        "The API reports no cache: then it is an info",
        "Only the last answer came back in another spelling: it was in no cache yet",
        "The cache was read as far as it was written",
        "The client cleared old results, and the counts show no cache that was lost: then it is an info",
    ),
)
def prefix_busted(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or before.failed or context.echo is None or context.echo.state == "held":
        return
    if context.turn.edge.kind == "handoff" or context.request.model != before.reading.request.model:
        return
    if not prompt_cache.at_stake(context):
        yield from _changed_without_cache(context, before, context.echo)
        return
    if prompt_cache.still_read(before.reading.usage, context.reading.usage):
        return
    departures = _departures(context)
    if departures is None:
        return
    usage = context.reading.usage
    diagnosis = context.reading.cache_diagnosis or cache_diagnosis(context.exchange.answer_fields)
    unread = usage.input - (usage.cache_read or 0) if usage is not None and usage.input is not None else None
    yield Note(
        f"the request differs from #{before.round_trip.index} within its cached prefix"
        + (f"; {unread:,} input tokens were not read from the cache" if unread is not None else "")
        + (f"; the API says {diagnosis}" if diagnosis else ""),
        place(context, departures[0]) if departures else (f"{context.at} request",),
        severity=None if prompt_cache.shown(context) or not _only_cleared(context, departures) else "info",
        because_of=context.has(*_ROOTS),
    )


def _only_cleared(context: RuleContext, departures: list[HistoryChange]) -> bool:
    """True when the messages differ only in old results that the client cleared."""
    prompt = context.has("client-system-prompt-changed", "client-tools-changed")
    return bool(departures) and not prompt and all(is_cleared(change) for change in departures)


def _departures(context: RuleContext) -> list[HistoryChange] | None:
    """Where the request differs from what was cached, the most likely cause first; None if it does not differ.

    The last answer was not in the cache yet, so its changes are ignored. An empty list means that the difference is
    outside the messages, and another rule found it.
    """
    changes = [change for change in context.echo.changes if not change.emitted] if context.echo else []
    if not changes and not context.has("client-system-prompt-changed", "client-tools-changed"):
        return None
    inserted = [change for change in changes if change.kind in ("inserted", "text_changed")]
    return inserted or changes


def _changed_without_cache(context: RuleContext, before: Turn, echo: HistoryDiff) -> Iterator[Note]:
    """The same change where no cache is lost: it costs nothing yet, so it is reported only if no other rule does."""
    if context.has(*_ROOTS):
        return
    likely = [
        change
        for change in echo.changes
        if not change.emitted and change.kind in ("inserted", "text_changed") and change.became.strip()
    ]
    asked = tuple(message.pointer for message in context.fresh if message.role == "user") if likely else ()
    changed = [
        change for change in likely if any(change.now == at or (change.now or "").startswith(f"{at}/") for at in asked)
    ]
    if changed:
        what = "adds something to" if changed[0].kind == "inserted" else "changes"
        yield Note(
            f"the request {what} the messages of #{before.round_trip.index}: {differs(changed[0])}",
            place(context, changed[0]),
            severity="info",
        )


@rule(
    "client-no-cache-control",
    "client",
    "info",
    "S",
    says="The requests grow and are never cached, although the API caches on request.",
    fix="Mark the end of the stable prefix with `cache_control` (Anthropic) or a `cachePoint` (Bedrock).",
    trait=lambda protocol: protocol.caching.has_marks,
)
def no_cache_control(context: RuleContext) -> Iterator[Note]:
    usage = context.reading.usage
    if (
        context.thread.cached
        or context.thread.turns != 3
        or usage is None
        or (usage.input or 0) < 2 * prompt_cache.CACHEABLE
    ):
        return
    yield Note(
        f"{context.thread.turns} growing requests, the last with {usage.input:,} input tokens, and none is cached",
        (f"{context.at} request", f"{context.at} usage cache_read 0"),
        key="cache",
    )


_SAMPLING = (
    "temperature",
    "top_p",
    "top_k",
    "reasoning",
    "reasoning_effort",
    "verbosity",
    "text",
    "response_format",
    "seed",
    "service_tier",
    "thinking",
    "generationConfig",
    "inferenceConfig",
    "options",
    "format",
    "output_config",
    "output_format",
    "outputConfig",
    "frequency_penalty",
    "presence_penalty",
)


@rule(
    "client-sampling-params-changed",
    "client",
    "info",
    "P",
    says="Sampling parameters differ from the previous turn's.",
    fix="Keep them during a run: caches and behaviour depend on them.",
    not_when=("Only `tool_choice` changed",),
)
def sampling_changed(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind == "handoff":
        return
    was, now = before.reading.request, context.request
    values: dict[str, tuple[object, object]] = {
        name: (was.parameters.get(name), now.parameters.get(name)) for name in _SAMPLING
    }
    values["the output cap"] = was.max_output, now.max_output
    values["parallel calls"] = was.parallel_tool_calls, now.parallel_tool_calls
    kept = now.previous_id is not None and context.protocol.requests.keeps_tools
    changed = {name: (old, new) for name, (old, new) in values.items() if old != new and not (kept and new is None)}
    if changed:
        said = (f"{name} ({_value(old)}, now {_value(new)})" for name, (old, new) in changed.items())
        yield Note(
            f"changed since #{before.round_trip.index}: {', '.join(said)}",
            (
                f"#{before.round_trip.index} request",
                *(f"{context.at} request /{n}" for n in list(changed)[:3] if " " not in n),
            ),
        )


def _value(value: object) -> str:
    """A parameter's value for a sentence."""
    return "not set" if value is None else compact(value)[:60]


@rule(
    "client-model-changed",
    "client",
    "info",
    "P",
    says="The client changes the model within one thread.",
    fix="Expect cache misses, and reasoning that the new model does not accept.",
)
def model_changed(context: RuleContext) -> Iterator[Note]:
    before = context.before
    if before is None or before.reading.request.model == context.request.model or not context.request.model:
        return
    if Exchange(before.round_trip).failed_handshake:
        return  # a handshake has no request
    emission = before.reading.emission
    amid = emission is not None and bool(emission.calls) and context.echo is not None
    earlier = repr(before.reading.request.model) if before.reading.request.model else "no model"
    yield Note(
        f"the request names the model {context.request.model!r}; #{before.round_trip.index} named {earlier}",
        (f"#{before.round_trip.index} request model", f"{context.at} request model"),
        severity="warning" if amid else None,
    )


RULES = (system_changed, tools_changed, prefix_busted, no_cache_control, sampling_changed, model_changed)
