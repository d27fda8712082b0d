"""Whether the client sent back what it had sent and got: answers, reasoning, results, system prompt, tools."""

import re
from collections.abc import Iterator

from ..case import Case
from ..echo import Change, ChangeKind
from ..finding import Note, Severity, rule
from ..json_value import as_object, compact
from ..reading import Tool, Usage
from ..threads import Turn
from ..units import sorted_json
from .errors import REJECTED, error_status
from .pairing import confirmed

_OWN = frozenset(
    {"length", "context_full", "malformed", "content_filter", "refusal", "cut", "error", "cancelled", "pause"}
)
"""Answers that a client may rightly leave out or mend."""
_CHANGED_TEXT = ("text_changed", "text_dropped")


def _place(case: Case, change: Change) -> tuple[str, ...]:
    before = case.before.round_trip.index if case.before else case.index
    side = "response" if change.emitted else "request"
    first = f"#{before} {side} {change.before}" if change.before is not None else None
    second = f"{case.at} request {change.now}" if change.now is not None else f"{case.at} request"
    return (first, second) if first else (second,)


def _differs(change: Change) -> str:
    was, became = " ".join(change.was.split()), " ".join(change.became.split())
    start = next((i for i, (a, b) in enumerate(zip(was, became, strict=False)) if a != b), min(len(was), len(became)))
    cut = max(start - 12, 0)
    return f"{was[cut : start + 40]!r} became {became[cut : start + 40]!r}"


def _is_assistant(case: Case, change: Change) -> bool:
    """True for a change of something that the model had said in an earlier turn."""
    if change.emitted or change.kind not in ("args_changed", "args_respelled", "name_changed", "text_changed"):
        return change.emitted
    if change.kind != "text_changed":
        return True
    return change.now is not None and any(
        message.role == "assistant" and (change.now == message.pointer or change.now.startswith(message.pointer + "/"))
        for message in case.request.messages
    )


_WHAT: dict[ChangeKind, tuple[str, Severity]] = {
    "args_changed": ("the arguments of a call", "error"),
    "name_changed": ("the name of a call", "error"),
    "call_dropped": ("a call of the answer was left out of the history", "error"),
    "text_changed": ("the text of an answer", "warning"),
    "text_dropped": ("the text of the answer was left out of the history", "warning"),
    "args_respelled": ("the arguments of a call were written anew", "info"),
}


@rule(
    "client-assistant-mutated",
    "client",
    "warning",
    "P",
    says="The history does not hold what the model said.",
    fix="Append the object that the API returned, unchanged.",
    not_when="White space at the ends; another shape of the same content; answers that were cut, filtered or refused.",
)
def assistant_mutated(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-assistant-mutated", _mutated(case))


def _mutated(case: Case) -> Iterator[Note]:
    echo, before = case.echo, case.before
    if echo is None or before is None:
        return
    finish = before.reading.finish
    partial = finish is not None and finish.effective in _OWN
    for change in echo.changes:
        if change.kind not in _WHAT or not _is_assistant(case, change):
            continue
        if change.emitted and partial:
            continue
        what, severity = _WHAT[change.kind]
        if change.kind == "call_dropped" and _was_removed(case, change):
            continue
        if change.kind == "text_dropped" and not change.was.strip():
            continue
        said = f"{what} changed: {_differs(change)}" if change.kind.endswith("changed") else what
        if change.kind in ("call_dropped", "text_dropped"):
            said += f": {change.was[:60]!r}"
        yield Note(said, _place(case, change), severity=severity, key=(change.kind, change.before, case.index))


def _was_removed(case: Case, change: Change) -> bool:
    """True when the whole answer was cut off with the history around it."""
    echo = case.echo
    return echo is not None and any(other.kind == "removed" for other in echo.changes) and echo.state == "cut"


_DEMANDED = frozenset({"anthropic-messages", "gemini-generate"})
_CARRIES = frozenset({"openai-responses", "bedrock-converse", "gemini-interactions"})
_CHAT = frozenset({"openai-chat", "mistral-chat"})
_SIGNED_CALLS = frozenset({"gemini-generate"})
"""Protocols in which only the signatures of calls are demanded: summaries and signed texts may stay away."""
_THINKING = ("deepseek", "moonshot", "qwen", "kimi", "glm", "minimax")


def _wanted(case: Case) -> Severity | None:
    """How grave it is to leave reasoning out; None where the API has no use for it."""
    protocol = case.reading.protocol
    if protocol in _DEMANDED:
        return "error"
    if protocol in _CARRIES:
        return "warning"
    model = (case.request.model or "").lower()
    if protocol in _CHAT and any(name in model for name in _THINKING):
        return "warning"
    return "info"


@rule(
    "client-reasoning-dropped",
    "client",
    "warning",
    "P",
    says="Reasoning or a signature of a tool turn did not come back.",
    fix="Keep opaque fields verbatim: thinking blocks, thought signatures, encrypted reasoning items.",
    not_when="Turns without calls; older turns; APIs that have no use for it; another model on purpose.",
)
def reasoning_dropped(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-reasoning-dropped", _dropped(case))


def _dropped(case: Case) -> Iterator[Note]:
    echo, before = case.echo, case.before
    if echo is None or before is None or echo.state == "held":
        return
    emission = before.reading.emission
    lost = [one for one in echo.lost if one.kind == "dropped"]
    if not lost or emission is None or not emission.calls or case.request.model != before.reading.request.model:
        return
    if all(change.kind in ("call_dropped", "removed") for change in echo.changes) and echo.state == "cut":
        return
    if case.reading.protocol in _SIGNED_CALLS and not any(
        part.signature and part.call is not None and part.pointer in {one.before for one in lost}
        for part in emission.content
    ):
        return
    severity = _wanted(case)
    said = case.complaint
    named = said is not None and "client-reasoning-dropped" in said.ids
    if named or (severity == "warning" and error_status(case) in REJECTED):
        severity = "error"
    yield Note(
        f"{len(lost)} piece{'s' * (len(lost) > 1)} of reasoning of #{before.round_trip.index} did not come back",
        (*(f"#{before.round_trip.index} response {one.before}" for one in lost[:3]), f"{case.at} request"),
        severity=severity,
        key=(before.round_trip.index, "dropped"),
    )


@rule(
    "client-reasoning-altered",
    "client",
    "error",
    "P",
    says="A signed piece of reasoning came back different, or under another signature.",
    fix="Never edit, shorten or re-sign thinking; send the block as it came, in its place.",
)
def reasoning_altered(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-reasoning-altered", _altered(case))


def _altered(case: Case) -> Iterator[Note]:
    echo, before = case.echo, case.before
    if echo is None or before is None:
        return
    for one in echo.lost:
        if one.kind == "altered":
            yield Note(
                f"a signed piece of reasoning of #{before.round_trip.index} came back changed",
                (f"#{before.round_trip.index} response {one.before}", f"{case.at} request {one.now}"),
                key=(before.round_trip.index, one.before),
            )


def _removed(case: Case) -> list[Change]:
    """What is gone; but a result whose call still stands there is a missing result, and is said to be that."""
    gone = [change for change in case.echo.changes if change.kind == "removed"] if case.echo else []
    if not any(change.of == "result" for change in gone):
        return gone
    unanswered = {part.call.id for part in case.pairs.missing if part.call is not None}
    return [change for change in gone if change.of != "result" or change.call_id not in unanswered]


@rule(
    "client-history-truncated",
    "client",
    "info",
    "P",
    says="Messages that were sent before are missing from this request.",
    fix="Cut histories between turns, leave a summary, and keep calls with their results.",
)
def truncated(case: Case) -> Iterator[Note]:
    gone, before = _removed(case), case.before
    if not gone or before is None or case.echo is None:
        return
    summary = any(change.kind in ("inserted", "text_changed") for change in case.echo.changes)
    size = sum(len(change.was) for change in gone)
    yield Note(
        f"{len(gone)} piece{'s' * (len(gone) > 1)} of the history ({size:,} characters) are gone, "
        + ("and a summary may stand for them" if summary else "and nothing stands for them"),
        (*(f"#{before.round_trip.index} request {change.before}" for change in gone[:4]), f"{case.at} request"),
        severity="info" if summary else "warning",
        key=(case.index, "truncated"),
    )


@rule(
    "client-history-reordered",
    "client",
    "warning",
    "P",
    says="The history holds the same messages in another order.",
    fix="Append only; never sort or move what was sent.",
)
def history_reordered(case: Case) -> Iterator[Note]:
    moved = [change for change in case.echo.changes if change.kind == "moved"] if case.echo else []
    if moved:
        yield Note("a piece of the history stands in another place", _place(case, moved[0]), key=(case.index, "moved"))


@rule(
    "client-tool-result-rewritten",
    "client",
    "warning",
    "P",
    says="A result that was sent before says something else now.",
    fix="Shorten results before they are sent the first time; later changes break the cache.",
)
def result_rewritten(case: Case) -> Iterator[Note]:
    changes = [change for change in case.echo.changes if change.kind == "result_changed"] if case.echo else []
    for change in changes[:4]:
        shorter = len(change.was) - len(change.became)
        more = f", {shorter:,} characters shorter" if shorter > 0 else ""
        yield Note(
            f"the result of {change.call_id or 'a call'} was rewritten{more}: {_differs(change)}",
            _place(case, change),
            key=(change.call_id, case.index),
        )


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
    not_when="Another agent takes over (a handoff, a subagent); another attempt.",
)
def system_changed(case: Case) -> Iterator[Note]:
    before = case.previous
    if before is None or case.turn.edge.kind != "continuation":
        return
    if before.reading.request.instructions == case.request.instructions:
        return
    was, now = _system(before), _system(case.turn)
    if was.split() == now.split() or (not now and case.request.previous_id is None and not was):
        return
    if case.request.previous_id is not None and not now:
        return
    start = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    near = now[max(start - 20, 0) : start + 30]
    yield Note(
        f"the system prompt changes at character {start}{_looks_like(now[max(start - 10, 0) : start + 12])}: "
        f"{was[max(start - 20, 0) : start + 30]!r} became {near!r}",
        (f"#{before.round_trip.index} request system", f"{case.at} request system"),
        key=(case.index, "system"),
    )


@rule(
    "client-tools-changed",
    "client",
    "warning",
    "P",
    says="The tools are not those of the previous turn.",
    fix="Keep the list of tools and its order through a run; allow or forbid them by tool_choice.",
    not_when="Another agent takes over; another attempt.",
)
def tools_changed(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-tools-changed", _tools(case))


def _spelled(tools: tuple[Tool, ...]) -> str:
    """The schemas as sent: the order of keys counts, as it does for caches."""
    return compact([tool.schema for tool in tools])


def _definitions(turn: Turn) -> list[tuple[str, str, str]]:
    return [
        (tool.name, sorted_json([tool.description, tool.schema]), compact([tool.description, tool.schema]))
        for tool in turn.reading.request.tools
    ]


def _tools(case: Case) -> Iterator[Note]:
    before = case.previous
    if before is None or case.turn.edge.kind != "continuation":
        return
    then = before.reading.request.tools
    if then == case.request.tools and _spelled(then) == _spelled(case.request.tools):
        return
    was, now = _definitions(before), _definitions(case.turn)
    if was == now or (case.request.previous_id is not None and not now):
        return
    old, new = {name for name, _, _ in was}, {name for name, _, _ in now}
    called = {part.call.name for message in case.request.messages for part in message.parts if part.call is not None}
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
        (f"#{before.round_trip.index} request tools", f"{case.at} request tools"),
        severity=severity,
        key=(case.index, "tools"),
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
    not_when="Too little for any cache, or an API that reports none: then it is an info.",
)
def prefix_busted(case: Case) -> Iterator[Note]:
    before = case.previous
    if before is None or before.failed or case.echo is None or case.echo.state == "held":
        return
    if case.turn.edge.kind == "handoff" or case.request.model != before.reading.request.model:
        return
    then, now = before.reading.usage, case.reading.usage
    unasked = case.reading.protocol not in _ON_REQUEST
    known = then is not None and (then.cache_read or then.cache_write or (unasked and then.cache_read is not None))
    little = then is not None and then.input is not None and then.input < _CACHEABLE
    if little or not (case.thread.cached or known):
        yield from _departs(case)
        return
    read = then.cache_read if then is not None else None
    again = now.cache_read if now is not None else None
    if read and again is not None and again >= 0.9 * read and again >= 0.8 * _held(then):
        return
    roots = case.has(*_ROOTS)
    moved = [change for change in case.echo.changes if not change.emitted and change.kind != "args_respelled"]
    inserted = [change for change in moved if change.kind in ("inserted", "text_changed")]
    respelled = [change for change in case.echo.changes if change.kind == "args_respelled"]
    if not roots and not moved and not respelled:
        return
    last_only = not moved and not case.has("client-system-prompt-changed", "client-tools-changed")
    if last_only and not (respelled and read and again is not None):
        # The last answer stood in no cache yet.
        return
    first = (inserted or moved or respelled or [None])[0]
    where = _place(case, first) if first is not None else (f"{case.at} request",)
    diagnosis = _diagnosis(case)
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
        key=(case.index, "prefix"),
    )


def _departs(case: Case) -> Iterator[Note]:
    """The same where no cache is at stake: it costs nothing yet, and is told only where no other rule tells it."""
    before, echo = case.before, case.echo
    if before is None or echo is None or case.has(*_ROOTS):
        return
    asked = tuple(message.pointer for message in case.request.messages if message.role == "user")
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
            f"the request {what} what #{before.round_trip.index} had sent: {_differs(changed[0])}",
            _place(case, changed[0]),
            severity="info",
            key=(case.index, "prefix"),
        )


def _held(usage: Usage | None) -> int:
    """How many tokens the cache should hold after a turn: what was written, or all where writing is not counted."""
    if usage is None:
        return 0
    return (usage.input or 0) if usage.cache_write is None else (usage.cache_read or 0) + usage.cache_write


def _diagnosis(case: Case) -> str | None:
    fields = case.exchange.answer_fields
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
def no_cache_control(case: Case) -> Iterator[Note]:
    usage = case.reading.usage
    if case.thread.cached or case.thread.turns != 3 or usage is None or (usage.input or 0) < 2 * _CACHEABLE:
        return
    text = case.turn.round_trip.request.body
    if b"cache_control" in text or b"cachePoint" in text:
        return
    yield Note(
        f"{case.thread.turns} growing requests, {usage.input:,} input tokens in the last, and none is cached",
        (f"{case.at} request", f"{case.at} usage cache_read 0"),
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
    not_when="Only tool_choice changed, as after a forced first step.",
)
def sampling_changed(case: Case) -> Iterator[Note]:
    before = case.previous
    if before is None or case.turn.edge.kind == "handoff":
        return
    was, now = before.reading.request, case.request
    changed = [name for name in _SAMPLING if was.parameters.get(name) != now.parameters.get(name)]
    if was.max_output != now.max_output:
        changed.append("the output cap")
    if was.parallel_tool_calls != now.parallel_tool_calls:
        changed.append("parallel calls")
    if changed:
        yield Note(
            f"changed since #{before.round_trip.index}: {', '.join(changed)}",
            (f"#{before.round_trip.index} request", *(f"{case.at} request /{n}" for n in changed[:3] if " " not in n)),
            key=(case.index, "sampling"),
        )


@rule(
    "client-model-changed",
    "client",
    "info",
    "P",
    says="The client asks for another model within one thread.",
    fix="Expect cache misses, and reasoning that the new model does not take.",
)
def model_changed(case: Case) -> Iterator[Note]:
    before = case.before
    if before is None or before.reading.request.model == case.request.model or not case.request.model:
        return
    emission = before.reading.emission
    amid = emission is not None and bool(emission.calls) and case.echo is not None
    yield Note(
        f"{case.request.model!r} is asked for; #{before.round_trip.index} asked for {before.reading.request.model!r}",
        (f"#{before.round_trip.index} request model", f"{case.at} request model"),
        severity="warning" if amid else None,
        key=(case.index, "model"),
    )


RULES = (
    truncated,
    history_reordered,
    result_rewritten,
    assistant_mutated,
    reasoning_dropped,
    reasoning_altered,
    system_changed,
    tools_changed,
    prefix_busted,
    no_cache_control,
    sampling_changed,
    model_changed,
)
