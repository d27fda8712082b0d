"""Calls that must not be run, because their answer was cut, refused, filtered or malformed; and were run."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.conversation import new_messages
from ...wire.per_message import ByKey
from ...wire.values import Message, Part, ToolResult
from ..rule import Note, rule
from ..rule_context import RuleContext, finish_at


@rule(
    "client-dispatched-partial-call",
    "client",
    "error",
    "P",
    says="A call from an answer that was cut was run as if it were whole.",
    fix="Never run a call of an answer that hit a cap or was cut; answer it with an error result.",
)
def dispatched_partial(context: RuleContext) -> Iterator[Note]:
    yield from _ran(context, ("length", "context_full", "cut", "partial"), "cut")


@rule(
    "client-executed-filtered-call",
    "client",
    "error",
    "P",
    says="A call from an answer that was refused, filtered or malformed was run.",
    fix="Do not run calls of an answer that was refused, filtered or malformed.",
)
def executed_filtered(context: RuleContext) -> Iterator[Note]:
    yield from _ran(context, ("refusal", "content_filter", "malformed"), "refused, filtered or malformed")


_WARNED = (
    "api-length-truncated-tool-call",
    "api-stream-cut",
    "api-error-in-200-stream",
    "api-content-filter",
    "malformed-output",
    "model-refusal",
)


def _ran(context: RuleContext, labels: tuple[str, ...], what: str) -> Iterator[Note]:
    """Calls of an answer with one of these finishes whose results look as if the calls had been run."""
    yield from _ran_by_id(context, labels, what)
    yield from _ran_without_ids(context, labels, what)


def _because(what: str, why: str) -> str:
    """Why a call must not be run, with the finish where that says more."""
    return what if why == what else f"{what} ({why})"


def _ran_by_id(context: RuleContext, labels: tuple[str, ...], what: str) -> Iterator[Note]:
    for part, result in _results_to_judge(context) if context.thread.unfit_calls else ():
        index, why = context.thread.unfit_calls.get(result.call_id or "", (0, ""))
        if result.call_id and why in labels and _reads_as_run(result):
            yield Note(
                f"the call {result.call_id} was run although its answer was {_because(what, why)}",
                (f"#{index} finish {why}", f"{context.at} request {part.pointer}"),
                key=result.call_id,
                because_of=context.has_recently(*_WARNED),
            )


def _results_to_judge(context: RuleContext) -> Iterator[tuple[Part, ToolResult]]:
    """The results that the last request did not have, and all those of calls that the last answer made unfit.

    The others were judged with an earlier request.
    """
    messages = context.request.conversation
    before, now = context.before, context.turn.conversation
    kept, first, behind = new_messages(before.conversation, now) if before is not None else (0, 0, 0)
    given = _results.of(context.request.messages)
    changed = sum(part.result is not None for message in messages[kept:first] for part in message.parts)
    fresh = sum(
        part.result is not None for message in messages[kept if changed else behind :] for part in message.parts
    )
    places = {*given.places(context.thread.unfit_lately), *range(len(given.row) - fresh, len(given.row))}
    for place in sorted(places):
        yield given.row[place][1]


def _results_of(message: Message) -> list[tuple[str | None, tuple[Part, ToolResult]]]:
    return [(part.result.call_id, (part, part.result)) for part in message.parts if part.result is not None]


_results = ByKey(_results_of)


def _ran_without_ids(context: RuleContext, labels: tuple[str, ...], what: str) -> Iterator[Note]:
    """Where results have no ids, the new results of a request answer the last turn."""
    before = context.previous
    if before is None or before.reading.emission is None or before.reading.finish is None:
        return
    emission, why = before.reading.emission, before.reading.finish.label
    if why not in labels:
        if emission.emitted != "partial_call" or "partial" not in labels:
            return
        why = "partial"
    names = {call.name for call in emission.calls}
    for result in context.request.results[len(before.reading.request.results) :]:
        # The answer may give its calls ids that results do not repeat (Ollama).
        if result.call_id is None and result.name in names and _reads_as_run(result):
            yield Note(
                f"the call of {result.name!r} was run although its answer was {_because(what, why)}",
                (finish_at(before), f"{context.at} request"),
                key=(context.index, "ran"),
                because_of=context.has_recently(*_WARNED),
            )


_ERROR_TEXT = regex(
    r"\W{0,4}(?:error|exception|traceback|failed|invalid|truncated|incomplete|cancel|interrupt|not (?:run|executed)|skipped|rejected)",
    re.IGNORECASE,
)


def _reads_as_run(result: ToolResult) -> bool:
    """True for a result that neither is marked as an error nor reads like one."""
    head = result.text[:300].lower()
    return not (result.is_error or _ERROR_TEXT.match(result.text) or "truncated" in head or "not executed" in head)
