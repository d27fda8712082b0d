"""What a client should leave as it stands through a run: system prompt, tools, parameters, model; and what the cache
makes of it when it does not."""

import re
from collections.abc import Iterator

from ...analysis.threads import Turn
from ...analysis.units import sorted_json
from ...wire.json_value import as_object, compact
from ...wire.values import Tool, Usage
from ..finding import Severity
from ..rule import Note, rule
from ..rule_context import RuleContext
from .history import differs, place
from .pairing import confirmed

_VOLATILE: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a date or a clock",
        re.compile(
            r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|20\d\d|January|February|March|April|May |June|July|August|September|October|November|December"
        ),
    ),
    ("an id", re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}|[0-9a-f]{16,}")),
    ("a path", re.compile(r"(/[\w.-]+){2,}")),
    ("a number", re.compile(r"\d")),
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
    says="The system prompt is not that of the previous turn.",
    fix="Put what changes (dates, ids, listings) at the end of the history, not into the system prompt.",
    not_when=(
        "Another agent takes over",
        "The client retries the turn",
    ),
)
def system_changed(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind != "continuation":
        return
    if before.reading.request.instructions == context.request.instructions:
        return
    was, now = _system(before), _system(context.turn)
    if was.split() == now.split() or (not now and context.request.previous_id is None and not was):
        return
    if context.request.previous_id is not None and not now:
        return
    start = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    near = now[max(start - 20, 0) : start + 30]
    yield Note(
        f"the system prompt changes at character {start}{_looks_like(now[max(start - 10, 0) : start + 12])}: "
        f"{was[max(start - 20, 0) : start + 30]!r} became {near!r}",
        (f"#{before.round_trip.index} request system", f"{context.at} request system"),
        key=(context.index, "system"),
    )


@rule(
    "client-tools-changed",
    "client",
    "warning",
    "P",
    says="The tools are not those of the previous turn.",
    fix="Keep the list of tools and its order through a run; allow or forbid them by tool_choice.",
    not_when=(
        "Another agent takes over",
        "The client retries the turn",
    ),
)
def tools_changed(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-tools-changed", _tools(context))


def _spelled(tools: tuple[Tool, ...]) -> str:
    """The schemas as sent: the order of keys counts, as it does for caches."""
    return compact([tool.schema for tool in tools])


def _definitions(turn: Turn) -> list[tuple[str, str, str]]:
    return [
        (tool.name, sorted_json([tool.description, tool.schema]), compact([tool.description, tool.schema]))
        for tool in turn.reading.request.tools
    ]


def _tools(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind != "continuation":
        return
    then = before.reading.request.tools
    if then == context.request.tools and _spelled(then) == _spelled(context.request.tools):
        return
    was, now = _definitions(before), _definitions(context.turn)
    if was == now or (context.request.previous_id is not None and not now):
        return
    old, new = {name for name, _, _ in was}, {name for name, _, _ in now}
    called = {part.call.name for message in context.request.messages for part in message.parts if part.call is not None}
    severity: Severity | None = None
    if old - new:
        orphaned = sorted((old - new) & called)
        what = f"{', '.join(sorted(old - new)[:5])} went away"
        if orphaned:
            what += f", although the history calls {orphaned[0]!r}"
            severity = "error" if new else None
    elif new - old:
        what = f"{', '.join(sorted(new - old)[:5])} came in"
    elif sorted(was) != sorted(now):
        changed = [a[0] for a in now if a[1] not in {b[1] for b in was if b[0] == a[0]}]
        what = f"the definition of {', '.join(changed[:3])} changed" if changed else "only the order of keys changed"
    else:
        what = "only their order changed"
    yield Note(
        f"the tools changed: {what}",
        (f"#{before.round_trip.index} request tools", f"{context.at} request tools"),
        severity=severity,
        key=(context.index, "tools"),
    )


_ROOTS = (
    "client-system-prompt-changed",
    "client-tools-changed",
    "client-history-truncated",
    "client-history-reordered",
    "client-tool-result-rewritten",
    "client-assistant-mutated",
)
_ON_REQUEST = frozenset({"anthropic-messages", "bedrock-converse", "bedrock-invoke"})
"""Protocols whose APIs cache only what the request marks."""
_CACHEABLE = 1024
"""Tokens below which no API caches."""


@rule(
    "client-cache-prefix-busted",
    "client",
    "warning",
    "P",
    says="The request departs from the last one inside the part that could have been read from the cache.",
    fix="Append only: keep tools, system prompt and sent messages byte for byte.",
    not_when=(
        "The input is too short for any cache: then it is an info",
        "The API reports no cache: then it is an info",
    ),
)
def prefix_busted(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or before.failed or context.echo is None or context.echo.state == "held":
        return
    if context.turn.edge.kind == "handoff" or context.request.model != before.reading.request.model:
        return
    then, now = before.reading.usage, context.reading.usage
    unasked = context.reading.protocol not in _ON_REQUEST
    known = then is not None and (then.cache_read or then.cache_write or (unasked and then.cache_read is not None))
    little = then is not None and then.input is not None and then.input < _CACHEABLE
    if little or not (context.thread.cached or known):
        yield from _departs(context)
        return
    read = then.cache_read if then is not None else None
    again = now.cache_read if now is not None else None
    if read and again is not None and again >= 0.9 * read and again >= 0.8 * _held(then):
        return
    roots = context.has(*_ROOTS)
    moved = [change for change in context.echo.changes if not change.emitted and change.kind != "args_respelled"]
    inserted = [change for change in moved if change.kind in ("inserted", "text_changed")]
    respelled = [change for change in context.echo.changes if change.kind == "args_respelled"]
    if not roots and not moved and not respelled:
        return
    last_only = not moved and not context.has("client-system-prompt-changed", "client-tools-changed")
    if last_only and not (respelled and read and again is not None):
        # The last answer stood in no cache yet.
        return
    first = (inserted or moved or respelled or [None])[0]
    where = place(context, first) if first is not None else (f"{context.at} request",)
    diagnosis = _diagnosis(context)
    cost = (
        f"; {now.input - (now.cache_read or 0):,} input tokens were not read from the cache"
        if now and now.input is not None
        else ""
    )
    yield Note(
        f"the request departs from #{before.round_trip.index} inside its cached prefix{cost}"
        + (f"; the API says {diagnosis}" if diagnosis else ""),
        where,
        because_of=roots,
        key=(context.index, "prefix"),
    )


def _departs(context: RuleContext) -> Iterator[Note]:
    """The same where no cache is at stake: it costs nothing yet, and is told only where no other rule tells it."""
    before, echo = context.before, context.echo
    if before is None or echo is None or context.has(*_ROOTS):
        return
    asked = tuple(message.pointer for message in context.request.messages if message.role == "user")
    changed = [
        change
        for change in echo.changes
        if not change.emitted
        and change.kind in ("inserted", "text_changed")
        and change.became.strip()
        and any(change.now == at or (change.now or "").startswith(f"{at}/") for at in asked)
    ]
    if changed:
        what = "puts something into" if changed[0].kind == "inserted" else "changes"
        yield Note(
            f"the request {what} what #{before.round_trip.index} had sent: {differs(changed[0])}",
            place(context, changed[0]),
            severity="info",
            key=(context.index, "prefix"),
        )


def _held(usage: Usage | None) -> int:
    """How many tokens the cache should hold after a turn: what was written, or all where writing is not counted."""
    if usage is None:
        return 0
    return (usage.input or 0) if usage.cache_write is None else (usage.cache_read or 0) + usage.cache_write


def _diagnosis(context: RuleContext) -> str | None:
    fields = context.exchange.answer_fields
    for name in ("diagnostics", "prompt_cache_diagnostics"):
        holder = as_object(fields.get(name))
        reason = as_object(holder.get("cache_miss_reason")) or as_object(holder.get("cache_miss"))
        if said := reason.get("type") or reason.get("reason"):
            return str(said)
    return None


@rule(
    "client-no-cache-control",
    "client",
    "info",
    "S",
    says="The run grows and is never cached although the API caches on request.",
    fix="Mark the end of the stable prefix with `cache_control` (Anthropic) or a `cachePoint` (Bedrock).",
    protocols=("anthropic-messages", "bedrock-converse"),
)
def no_cache_control(context: RuleContext) -> Iterator[Note]:
    usage = context.reading.usage
    if context.thread.cached or context.thread.turns != 3 or usage is None or (usage.input or 0) < 2 * _CACHEABLE:
        return
    text = context.turn.round_trip.request.body
    if b"cache_control" in text or b"cachePoint" in text:
        return
    yield Note(
        f"{context.thread.turns} growing requests, {usage.input:,} input tokens in the last, and none is cached",
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
    "frequency_penalty",
    "presence_penalty",
)


@rule(
    "client-sampling-params-changed",
    "client",
    "info",
    "P",
    says="Parameters of sampling differ from the previous turn's.",
    fix="Keep them through a run: caches and behaviour depend on them.",
    not_when=("Only `tool_choice` changed",),
)
def sampling_changed(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    if before is None or context.turn.edge.kind == "handoff":
        return
    was, now = before.reading.request, context.request
    changed = [name for name in _SAMPLING if was.parameters.get(name) != now.parameters.get(name)]
    if was.max_output != now.max_output:
        changed.append("the output cap")
    if was.parallel_tool_calls != now.parallel_tool_calls:
        changed.append("parallel calls")
    if changed:
        yield Note(
            f"changed since #{before.round_trip.index}: {', '.join(changed)}",
            (
                f"#{before.round_trip.index} request",
                *(f"{context.at} request /{n}" for n in changed[:3] if " " not in n),
            ),
            key=(context.index, "sampling"),
        )


@rule(
    "client-model-changed",
    "client",
    "info",
    "P",
    says="The client asks for another model within one thread.",
    fix="Expect cache misses, and reasoning that the new model does not take.",
)
def model_changed(context: RuleContext) -> Iterator[Note]:
    before = context.before
    if before is None or before.reading.request.model == context.request.model or not context.request.model:
        return
    emission = before.reading.emission
    amid = emission is not None and bool(emission.calls) and context.echo is not None
    yield Note(
        f"{context.request.model!r} is asked for; #{before.round_trip.index} asked for {before.reading.request.model!r}",
        (f"#{before.round_trip.index} request model", f"{context.at} request model"),
        severity="warning" if amid else None,
        key=(context.index, "model"),
    )


RULES = (system_changed, tools_changed, prefix_busted, no_cache_control, sampling_changed, model_changed)
