"""How severe a finding is in view of what happened next. No other module changes a severity after a rule stated it.

A rule states how severe its fault is at worst. What came then may show that it was milder: the API answered the
request, the cache was read all the same, the tools ran, the next attempt succeeded. Nothing here makes a finding more
severe.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from turntape.cassettes.regex import regex

from ..analysis.turn import Turn
from . import causes, prompt_cache
from .finding import SEVERITIES, Finding, Severity
from .rejections import rejection
from .rule import Moment
from .rule_context import RuleContext
from .rules.errors import OVERLOADED, status_of
from .rules.loop import asks_for_rest
from .rules.results import reads_like_error

ANSWERED: Mapping[str, Severity] = {
    "client-args-wrong-type": "info",
    "client-assistant-mutated": "warning",
    "client-bad-tool-schema": "info",
    "client-duplicate-tool-result": "warning",
    "client-duplicated-call": "warning",
    "client-empty-content": "info",
    "client-ignored-retry-after": "info",
    "client-media-type-wrong": "info",
    "client-model-changed": "info",
    "client-orphan-tool-result": "warning",
    "client-reasoning-dropped": "info",
    "client-results-not-adjacent": "info",
    "client-results-reordered": "info",
    "client-retried-permanent-error": "info",
    "client-role-order": "info",
    "client-tools-missing-for-history": "info",
    "client-unsupported-param": "info",
}
"""How severe a fault of a request is at most when the API answered that request."""

OF_RETRIES = frozenset({"client-ignored-retry-after", "client-model-changed", "client-retried-permanent-error"})
"""Those of `ANSWERED` that are not about what the request holds."""

_UNREAD = (OVERLOADED - {424, 500}) | {429}
"""Statuses of failures that say nothing about the request: the API had not read it."""

CACHE_ONLY = frozenset({"client-system-prompt-changed", "client-tools-changed"})
"""Changes that can only cost the cache: an info, unless the counts show that it was lost."""

_OF_CONTENT = (ANSWERED.keys() - OF_RETRIES) | CACHE_ONLY
"""Faults of what a request holds, which an API notices when it reads the request."""

_RESULT = regex(r"\W*(?:tool[ _])?(?:observation|results?|output|response)\b", re.IGNORECASE)
"""How a client begins the text with which it answers a call that it read from a text."""

_ANSWER = regex(r"#(\d+) response")
"""The evidence for an answer, and its round trip."""

LASTING = frozenset({"client-retry-storm"})
"""What stays as severe as it is although a later attempt succeeded."""


def at(moment: Moment, finding: Finding, context: RuleContext) -> Finding:
    """A finding that a rule made at this moment, as severe as what is known by then."""
    sent = context.following if moment == "followed" else context.turn
    if sent is not None and sent.failed:
        return _of_failed(sent, finding)
    if sent is not None and _answered(sent):
        finding = _at_most(finding, ANSWERED.get(finding.id))
        if finding.id in CACHE_ONLY and not prompt_cache.lost(context):
            finding = _at_most(finding, "info")
        if context.broken is not None and moment != "closed" and _compares(finding, context):
            lacking = replace(_at_most(finding, "info"), tier="S" if finding.tier == "P" else finding.tier)
            finding = replace(lacking, message=f"{finding.message}; {context.broken}")
    return finding


def _of_failed(sent: Turn, finding: Finding) -> Finding:
    """A finding in view of a request that failed: a failure that is not about what it holds proves no fault of it.

    Nor does one that names another fault, or that comes when the API has begun to answer. A server may also break on
    what it was sent, so an unnamed failure of the server leaves a warning.
    """
    said = rejection(sent.reading)
    if finding.id not in _OF_CONTENT:
        return finding
    if said is not None and said.ids:
        is_named = not {finding.id, *finding.because_of}.isdisjoint(said.ids)
        return finding if is_named else _at_most(finding, ANSWERED.get(finding.id))
    status = status_of(sent)
    begun = sent.reading.emission is not None and bool(sent.reading.emission.content)
    if begun or sent.reading.error is None or sent.round_trip.response is None or status in _UNREAD:
        return _at_most(finding, ANSWERED.get(finding.id, "info"))
    return _at_most(finding, "warning") if status in OVERLOADED else finding


def _compares(finding: Finding, context: RuleContext) -> bool:
    """True for what two requests show of the client: of the same thread, and not two attempts at one turn."""
    others = any(re.match(rf"#(?!{context.index}\b)\d", place) for place in finding.evidence)
    return finding.layer == "client" and others and not context.is_attempt


def followed(finding: Finding, context: RuleContext) -> Finding:
    """An earlier finding of a turn, once the next turn of its thread shows what the client did."""
    row = FOLLOWED.get(finding.id)
    if row is None:
        return finding
    most, shown = row
    return _at_most(finding, most) if shown(finding, context) else finding


def _ran(_: Finding, context: RuleContext) -> bool:
    """True when the client ran all calls of an answer and no result is an error."""
    done = context.dispatch
    if done is None or not done.results or done.missing:
        return False
    return not any(one.is_error or reads_like_error(one.text) for one in done.results)


def _ran_by_id(finding: Finding, context: RuleContext) -> bool:
    """True when all calls ran, and the client gave each result an id."""
    return _ran(finding, context) and context.dispatch is not None and all(r.call_id for r in context.dispatch.results)


def _was_understood(finding: Finding, context: RuleContext) -> bool:
    """True when all calls of an answer can be parsed and ran, and the next request holds them as they were sent."""
    echo = context.next_echo
    whole = all(call.complete and call.arguments is not None for call in context.emission.calls)
    same = whole and echo is not None and not any(change.emitted for change in echo.changes)
    return same and _ran(finding, context)


def _was_continued(_: Finding, context: RuleContext) -> bool:
    """True when the client asked for the rest of a text that the cap cut."""
    return not context.emission.calls and asks_for_rest(context)


def _was_aside(finding: Finding, context: RuleContext) -> bool:
    """True when the next request has the answer that this one lacks, and not what this one asked: a question aside."""
    answer = _ANSWER.match(finding.evidence[0])
    if context.following is None or answer is None:
        return False
    asked, came = context.turn.conversation.meanings, context.following.conversation.meanings
    return asked[-1] not in came and any(context.run.said.get(meaning) == int(answer[1]) for meaning in came)


def _was_read(_: Finding, context: RuleContext) -> bool:
    """True when the client answered the text of a call with its result, as frameworks that read calls from texts do."""
    messages = context.following.reading.request.messages if context.following else ()
    last = next(reversed(messages), None)
    return last is not None and last.role == "user" and any(_RESULT.match(part.text) for part in last.parts)


FOLLOWED: Mapping[str, tuple[Severity, Callable[[Finding, RuleContext], bool]]] = {
    "api-answer-in-reasoning": ("info", _ran),
    "api-arguments-wrong-type": ("info", _ran),
    "api-call-without-id": ("info", _ran_by_id),
    "api-length-truncated": ("info", _was_continued),
    "api-replacement-characters": ("info", _ran),
    "api-tool-call-index-collision": ("info", _was_understood),
    "call-args-repeat-key": ("info", _ran),
    "call-as-text": ("info", _was_read),
    "client-assistant-mutated": ("info", _was_aside),
    "model-args-break-schema": ("warning", _ran),
    "model-unknown-tool": ("warning", _ran),
    causes.CONTRADICTION: ("info", _was_understood),
    causes.FIELD_WRONG: ("info", _was_understood),
}
"""How severe an earlier finding is at most when the next turn of its thread shows this of it."""


def recovered(finding: Finding) -> Finding:
    """A finding of a turn that failed, once its thread went on with an answer."""
    return finding if finding.id in LASTING else _at_most(finding, "info")


def _answered(turn: Turn) -> bool:
    return turn.reading.error is None and not turn.failed


def _at_most(finding: Finding, most: Severity | None) -> Finding:
    if most is None or SEVERITIES.index(finding.severity) <= SEVERITIES.index(most):
        return finding
    return replace(finding, severity=most)
