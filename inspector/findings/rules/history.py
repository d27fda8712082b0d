"""Whether the client repeated the history unchanged: answers, reasoning and results, in their order."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from os.path import commonprefix

from turntape.cassettes.excerpts import around, cut
from turntape.cassettes.regex import regex

from ...analysis.conversation import Unit, call_meaning, joined, parted, sorted_json, text_meaning, without_space
from ...analysis.dispatch import retold_calls, taken_as_text
from ...analysis.history_diff import ChangeKind, HistoryChange, HistoryDiff, LostReasoning, lost_space
from ...analysis.turn import Turn
from ...wire.json_value import as_array, as_object, is_object, parse_json
from ...wire.printable import several
from ..finding import Severity, became
from ..model_words import belated, extra_text, is_extended, is_prose_step, is_user_text, plain, surely_continues
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..transformations import transformation
from .errors import REJECTED, error_status
from .exchanged import given_twice
from .pairing import confirmed

_OWN = frozenset({"length", "context_full", "malformed", "content_filter", "refusal", "pause"})
"""Finishes of answers that a client may drop or repair; after a failure, no history is compared."""


def place(context: RuleContext, change: HistoryChange) -> tuple[str, ...]:
    before = context.before.round_trip.index if context.before else context.index
    side = "response" if change.emitted else "request"
    first = f"#{before} {side} {change.before}" if change.before is not None else None
    second = f"{context.at} request {change.now}" if change.now is not None else f"{context.at} request"
    return (first, second) if first else (second,)


def differs(change: HistoryChange) -> str:
    was, now = " ".join(change.was.split()), " ".join(change.became.split())
    start = len(commonprefix((was, now)))
    how = transformation(change.was, change.became)
    before, after = (around(text, start - 12, start + 40) for text in (was, now))
    return became(before, after) + (f" ({how})" if how else "")


def _is_the_models(context: RuleContext, change: HistoryChange) -> bool:
    """True for a change of something that the model wrote, in this recording."""
    if change.emitted or _is_the_assistants(context, change):
        return True
    if change.kind == "text_changed":
        return text_meaning("assistant", change.was) in context.run.said
    return change.call_id is None or change.call_id in context.run.call_ids


def _is_the_assistants(context: RuleContext, change: HistoryChange) -> bool:
    """True for a text that an earlier request of the thread has sent as the model's own."""
    before = context.before
    units = parted(before.conversation.history, context.turn.conversation.history)[0] if before is not None else ()
    return any(unit.pointer == change.before and unit.role == "assistant" for unit in units)


_WHAT: dict[ChangeKind, tuple[str, Severity]] = {
    "args_changed": ("the arguments of a call", "error"),
    "name_changed": ("the name of a call", "error"),
    "call_dropped": ("a call of the answer is missing from the history", "error"),
    "text_changed": ("the text of an answer", "warning"),
    "text_dropped": ("the text of the answer is missing from the history", "warning"),
    "args_respelled": ("the arguments of a call are the same JSON in another spelling", "info"),
}


@rule(
    "client-assistant-mutated",
    "client",
    "warning",
    "P",
    says="The history does not contain what the model said.",
    fix="Append the object that the API returned, unchanged.",
    not_when=(
        "White space at the ends of a text",
        "Another shape of the same content",
        "The answer was cut, filtered or refused",
        "A stop string of the request was put behind the answer again",
        "The same turn is requested again",
        "The answer came back whole, with more text: then `client-forged-answer` says so",
        "Only quotation marks, dashes, marks of sources or thoughts in tags differ: then it is an info",
        "The history describes the call and its result in words: then it is an info",
        "The arguments of the call are a text of the history, as of a tool that only takes output: then it is an info",
        "Only the words beside calls were left out: then it is an info",
        "The client gives a call of an unknown tool the name of an offered one: then it is an info",
        "The client of an agent without tools writes its observations into the answer: then it is an info",
        "The API takes calls and results in any order: then calls of one answer may be apart",
        "The calls of one answer came back as several answers: then it is an info",
        "The client added defaults of the tool's definition to the arguments: then it is an info",
        "The client left out arguments that are null and not required by the tool's definition: then it is an info",
        "The answer has the arguments as a JSON text in a JSON text, and the client read it: then it is an info",
        "The next request has the answer, and not what this one asked aside, as with `/compact`: then it is an info",
    ),
)
def assistant_mutated(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-assistant-mutated", _mutated(context))


def _mutated(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None or _is_asked_again(echo) or not surely_continues(context, echo):
        return
    lost: list[HistoryChange] = []
    for change in echo.changes:
        if not _is_fault(context, before, change):
            continue
        what, severity = _WHAT[change.kind]
        if _is_usual(before, change) or _is_retold(context, before, change) or _is_completed(context, change):
            severity = "info"
        if change.kind == "call_dropped" and severity != "info":
            lost.append(change)
            continue
        said = f"{what} changed: {differs(change)}" if change.kind.endswith("changed") else what
        if change.kind in ("call_dropped", "text_dropped"):
            said += f": {cut(change.was, 60)!r}"
        key = change.kind if severity == "info" else None
        yield Note(said, place(context, change), severity=severity, key=key)
    if lost:
        yield _lost_calls(context, lost)
    yield from _given_away(context, echo, before)
    yield from _taken_apart(context, before)
    yield from _glued(context, before)


def _given_away(context: RuleContext, echo: HistoryDiff, before: Turn) -> Iterator[Note]:
    """Texts that were the assistant's and are now the user's, or instructions."""
    come = {without_space(unit.text): unit for unit in (*echo.inserted, *echo.new) if unit.role in ("user", "system")}
    for unit in echo.removed if come else ():
        twin = come.get(without_space(unit.text)) if unit.role == "assistant" and unit.kind == "text" else None
        if twin is not None:
            yield Note(
                f"the text of an answer is now a message of the {twin.role}: {cut(unit.text.strip(), 60)!r}",
                (f"#{before.round_trip.index} request {unit.pointer}", f"{context.at} request {twin.pointer}"),
            )


def _taken_apart(context: RuleContext, before: Turn) -> Iterator[Note]:
    """The calls of one answer, sent back as several answers that each have one of them."""
    emission = before.reading.emission
    if emission is None or len(emission.calls) < 2 or context.protocol.pairing.anywhere:
        return
    units = unshared(context, before)
    emitted = {call_meaning(call) for call in emission.calls}
    places = [place for place, unit in enumerate(units) if unit.kind == "call" and unit.meaning in emitted]
    if len(places) != len(emission.calls):
        return
    between = [one for one, two in pairwise(places) if any(unit.kind == "result" for unit in units[one:two])]
    if between:
        yield Note(
            f"the {len(places)} calls of one answer are in the history as {len(between) + 1} answers, with results between them",
            (
                f"#{before.round_trip.index} response",
                *(f"{context.at} request {units[at].pointer}" for at in places[:3]),
            ),
            severity="info",
        )


def unshared(context: RuleContext, before: Turn) -> Sequence[Unit]:
    """The history without the pieces at its front that the request before has too."""
    return parted(before.conversation.history, context.turn.conversation.history)[1]


def _glued(context: RuleContext, before: Turn) -> Iterator[Note]:
    """The text of the answer without its spaces, which a comparison of the words alone does not see."""
    for change in context.echo.changes if context.echo else ():
        if change.kind == "spaces_lost" and change.of == "assistant":
            yield Note(f"the text of an earlier answer {glued(change)}", place(context, change))
    emission = before.reading.emission
    if emission is None or not emission.text.strip():
        return
    meaning = text_meaning("assistant", emission.text)
    for unit in joined(parted(before.conversation.history, context.turn.conversation.history)[1]):
        if unit.meaning == meaning and (what := lost_space(emission.text, unit.text)) is not None:
            yield Note(
                f"the text of an answer lost its {what}: {became(emission.text[:40], unit.text[:40])}",
                (f"#{before.round_trip.index} response", f"{context.at} request {unit.pointer}"),
            )


def glued(change: HistoryChange) -> str:
    """What a text lost that has the same letters, as the end of a sentence."""
    return f"lost its {lost_space(change.was, change.became)}: {became(change.was[:40], change.became[:40])}"


def _is_fault(context: RuleContext, before: Turn, change: HistoryChange) -> bool:
    """True for a change of what the model wrote that the client may not make."""
    if change.kind not in _WHAT or not _is_the_models(context, change) or is_extended(context, change):
        return False
    if belated(context, change) is not None:
        return False
    if change.emitted and change.kind == "text_changed" and extra_text(change) in _stops(before):
        return False
    finish = before.reading.finish
    return not (change.emitted and finish is not None and finish.effective in _OWN)


def _stops(before: Turn) -> frozenset[str]:
    """The stop strings of a request; a client may put the one that ended the answer behind it again."""
    return frozenset(" ".join(stop.split()) for stop in before.reading.request.stop if stop.strip())


def _lost_calls(context: RuleContext, lost: list[HistoryChange]) -> Note:
    what, severity = _WHAT["call_dropped"]
    if len(lost) > 1:
        what = f"{len(lost)} calls of the answer are missing from the history, the first"
    answer, request = place(context, lost[0])
    more = [place(context, change)[0] for change in lost[1:3]]
    return Note(f"{what}: {cut(lost[0].was, 60)!r}", (answer, *more, request), severity=severity)


def _is_asked_again(echo: HistoryDiff) -> bool:
    """True for a request that ends where the previous one ended: it requests the same answer again."""
    return bool(echo.changes) and not echo.new and all(c.kind in ("text_dropped", "call_dropped") for c in echo.changes)


def _is_usual(before: Turn, change: HistoryChange) -> bool:
    """True for what many clients do on purpose: leave the words beside calls out, keep the notes of a prose agent."""
    emission = before.reading.emission
    if change.kind == "text_dropped":
        return emission is not None and bool(emission.calls)
    if change.kind == "text_changed" and plain(change.was) == plain(change.became):
        return True
    if change.kind == "name_changed":
        offered = {tool.name for tool in before.reading.request.tools}
        return change.was not in offered and change.became in offered
    return is_prose_step(before, change)


def _is_completed(context: RuleContext, change: HistoryChange) -> bool:
    """True for arguments with nothing new but defaults that the tool's definition states, as Claude Code sends them,
    and nothing missing but what was null, as serializers leave it out.

    Arguments that the answer has as a JSON text in a JSON text may come back as the object that they mean.
    """
    history = context.turn.conversation.history if change.kind == "args_changed" else ()
    part = next((unit.part for unit in reversed(history) if unit.pointer == change.now), None)
    tool = context.tools.get(part.call.name) if part is not None and part.call is not None else None
    if change.kind != "args_changed" or tool is None:
        return False
    was, now = (parse_json(text) for text in (change.was, change.became))
    if isinstance(was, str) and sorted_json(parse_json(was)) == sorted_json(now):
        return True
    if not is_object(was) or not is_object(now):
        return False
    schema = as_object(tool.schema)
    needed = as_array(schema.get("required"))
    was = {name: value for name, value in was.items() if value is not None or name in now or name in needed}
    properties = as_object(schema.get("properties"))
    defaults = {name: value["default"] for name in properties if "default" in (value := as_object(properties[name]))}
    return sorted_json(defaults | now) == sorted_json(defaults | was)


def _is_retold(context: RuleContext, before: Turn, change: HistoryChange) -> bool:
    """True for a call that the history contains as words: with its result, as some agents (smolagents) write all calls,
    or as the text that the client took for the answer."""
    emission = before.reading.emission
    if emission is None:
        return False
    retold = [emission.calls[at] for at in retold_calls(emission.calls, context.request.messages)]
    if change.kind == "call_dropped":
        retold += taken_as_text(emission.calls, context.request.messages)
    return any(call.id == change.call_id for call in retold)


_THINKING = ("deepseek", "moonshot", "qwen", "kimi", "glm", "minimax")


def _severity_of_loss(context: RuleContext) -> Severity:
    """How severe it is to leave reasoning out of a request to this API."""
    match context.protocol.reasoning.returned:
        case "required":
            return "error"
        case "expected":
            return "warning"
        case "by_model":
            model = (context.request.model or "").lower()
            return "warning" if any(name in model for name in _THINKING) else "info"
        case _:
            return "info"


@rule(
    "client-reasoning-dropped",
    "client",
    "warning",
    "P",
    says="Reasoning or a signature of a tool turn did not come back, or in other words.",
    fix="Keep opaque fields verbatim: thinking blocks, thought signatures, encrypted reasoning items.",
    not_when=(
        "The turn made no calls",
        "Reasoning of older turns",
        "The API answered the request: then it is an info",
        "The API does not need it: then it is an info",
        "The API rejected the request for another fault, which it names: then it is an info",
        "The client asks for another model",
    ),
)
def reasoning_dropped(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-reasoning-dropped", _dropped(context))


def _dropped(context: RuleContext) -> Iterator[Note]:
    before, lost = context.before, _lost_reasoning(context)
    if before is None or not lost:
        return
    severity = _severity_of_loss(context)
    said = context.rejection
    named = said is not None and "client-reasoning-dropped" in said.ids
    if named or (severity == "warning" and error_status(context) in REJECTED):
        severity = "error"
    how = "came back in other words" if any(one.now for one in lost) else "did not come back"
    yield Note(
        f"{several(len(lost), 'piece')} of reasoning of #{before.round_trip.index} {how}",
        (*(f"#{before.round_trip.index} response {one.before}" for one in lost[:3]), f"{context.at} request"),
        severity=severity,
    )


def _lost_reasoning(context: RuleContext) -> list[LostReasoning]:
    """The reasoning of the last turn that is missing from this request."""
    echo, before = context.echo, context.before
    if echo is None or before is None or echo.state == "held":
        return []
    emission = before.reading.emission
    if emission is None or not emission.calls or context.request.model != before.reading.request.model:
        return []
    if sum(change.kind == "call_dropped" for change in echo.changes) == len(emission.calls):
        return []  # The whole answer is gone, and another rule reports that.
    lost = [one for one in echo.lost if one.kind == "dropped"]
    if context.protocol.reasoning.only_with_calls:
        called = {part.pointer for part in emission.content if part.call is not None}
        return lost if any(one.before in called for one in lost) else []
    return lost


@rule(
    "client-reasoning-altered",
    "client",
    "error",
    "P",
    says="A signed piece of reasoning came back different, or under another signature.",
    fix="Never edit, shorten or re-sign thinking; send the block as it came, in its place.",
)
def reasoning_altered(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-reasoning-altered", _altered(context))


def _altered(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None:
        return
    for one in echo.lost:
        if one.kind == "altered":
            yield Note(
                f"a signed piece of reasoning of #{before.round_trip.index} came back changed",
                (f"#{before.round_trip.index} response {one.before}", f"{context.at} request {one.now}"),
            )


def _removed(context: RuleContext) -> list[HistoryChange]:
    """The removed pieces, except results whose call is still there: those are reported as missing results."""
    gone = [change for change in context.echo.changes if change.kind == "removed"] if context.echo else []
    if not any(change.of == "result" for change in gone):
        return gone
    unanswered = {part.call.id for part in context.pairing.missing if part.call is not None}
    return [change for change in gone if change.of != "result" or change.call_id not in unanswered]


@rule(
    "client-history-truncated",
    "client",
    "info",
    "P",
    says="Messages that were sent before are missing from this request.",
    fix="Cut histories only between turns, leave a summary, and keep calls together with their results.",
    not_when=(
        "Only a short answer links the two requests",
        "Only the user's messages are missing, and a new one of the user comes at the end: then it is an info",
        "Whole exchanges are missing at the beginning, as with a sliding window: then it is an info",
        "Only notes of the client are missing, such as a reminder in tags: then it is an info",
    ),
)
def truncated(context: RuleContext) -> Iterator[Note]:
    gone, before, echo = _removed(context), context.before, context.echo
    if not gone or before is None or echo is None or not surely_continues(context, echo):
        return
    summary = any(change.kind in ("inserted", "text_changed") for change in echo.changes)
    asks_again = all(is_user_text(unit) for unit in echo.removed) and any(is_user_text(unit) for unit in echo.new)
    if context.has("client-user-text-lost", "client-user-text-changed") and all(
        is_user_text(unit) for unit in echo.removed
    ):
        return
    size = sum(len(change.was) for change in gone)
    window = _is_window(before, context.turn, echo)
    notes = all(_NOTE.fullmatch(change.was.strip()) for change in gone)
    instead = (
        "as with a sliding window"
        if window
        else "which the client had added for one request"
        if notes
        else "possibly replaced by a summary"
        if summary
        else "and the user says something new"
        if asks_again
        else "without a replacement"
    )
    yield Note(
        f"{several(len(gone), 'piece')} of the history ({several(size, 'character')}) "
        f"{'is' if len(gone) == 1 else 'are'} missing, {instead}",
        (*(f"#{before.round_trip.index} request {change.before}" for change in gone[:4]), f"{context.at} request"),
        severity="info" if window or notes or summary or asks_again else "warning",
    )


_NOTE = regex(r"<(?P<tag>[\w-]+)[^>]*>.*</(?P=tag)>", re.DOTALL)
"""A text that is one block in tags, as clients add reminders, memories and the state of an editor."""


def _is_window(before: Turn, now: Turn, echo: HistoryDiff) -> bool:
    """True when only the oldest exchanges are missing: the request begins with a later message of the user."""
    old, new = ([unit for unit in turn.conversation.history if unit.role != "system"] for turn in (before, now))
    count = len(echo.removed)
    if not new or not is_user_text(new[0]) or not is_user_text(old[0]) or count >= len(old):
        return False
    oldest = [unit.meaning for unit in old[:count]] == [unit.meaning for unit in echo.removed]
    return oldest and old[count].meaning == new[0].meaning


@rule(
    "client-tool-result-rewritten",
    "client",
    "warning",
    "P",
    says="A result that was sent before has changed, or two requests give one call two results.",
    fix="Shorten results before they are sent the first time; later changes break the cache.",
    not_when=(
        "A short marker replaces an old result, or what was cut out of it, to save space: then it is an info",
        "Another request gave the call another result, and had its answer before: then it is an info",
        "That request gave several calls the same text, as a forked worker gets it for calls that run elsewhere",
    ),
)
def result_rewritten(context: RuleContext) -> Iterator[Note]:
    changes = [change for change in context.echo.changes if change.kind == "result_changed"] if context.echo else []
    for change in changes[:4]:
        shorter = len(change.was) - len(change.became)
        more = f", {several(shorter, 'character')} shorter" if shorter > 0 else ""
        yield Note(
            f"the result of {change.call_id or 'a call'} was rewritten{more}: {differs(change)}",
            place(context, change),
            severity="info" if is_cleared(change) else None,
        )
    for change in context.echo.changes if context.echo else ():
        what = _of_result(change)
        if what is not None:
            yield Note(f"the result of {change.call_id or 'a call'} {what}", place(context, change))
    yield from given_twice(context)


def _of_result(change: HistoryChange) -> str | None:
    """What changed of a result whose words are the same, as the end of a sentence."""
    if change.kind == "result_moved":
        return f"is now under the call {change.became}"
    if change.kind == "mark_changed":
        return "is now marked as an error" if change.became else "is no longer marked as an error"
    return glued(change) if change.kind == "spaces_lost" and change.of == "tool" else None


_MARKER = regex(
    r"\b(cleared|removed|omitted|elided|truncated|pruned|compacted|hidden|redacted|trimmed|masked|evicted|placeholder|"
    r"no longer (shown|available))\b",
    re.I,
)
_LONGEST_MARKER = 200
"""Characters. What is longer than this is a result or a summary."""
_SHORT_MARKER = 60
"""Characters. A marker of this length says only that something is gone, however short the result was."""


def is_cleared(change: HistoryChange) -> bool:
    """True for a result that clients shorten to make room in the context window: a short marker says so.

    It is in the place of the whole result, or of what was cut out of it.
    """
    was, now = change.was.strip(), change.became.strip()
    if change.kind != "result_changed" or not _MARKER.search(now):
        return False
    front = len(commonprefix((was, now)))
    note = now[front : len(now) - len(commonprefix((was[front:][::-1], now[front:][::-1])))]
    if len(note) < len(now):
        return len(note) <= _SHORT_MARKER and _MARKER.search(note) is not None
    return len(now) <= min(_LONGEST_MARKER, max(_SHORT_MARKER, len(was) // 2))


RULES = (truncated, result_rewritten, assistant_mutated, reasoning_dropped, reasoning_altered)
