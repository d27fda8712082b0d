"""How the client reacts to failures: too many retries, retries too early, or retries that cannot succeed."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.turn import Turn
from ...wire.exchange import header
from ...wire.json_value import as_array, as_object, as_text, parse_json
from ...wire.printable import several
from ..causes import STORM
from ..memory import asked_key, request_key
from ..rejections import Rejection
from ..rule import Note, rule
from ..rule_context import RuleContext
from .errors import OVERLOADED, error_status, failure_name, failure_place, rejection_text

_PERMANENT = frozenset({400, 401, 403, 404, 405, 413, 422})
_DROPPED = frozenset({"cut", "timeout"})
"""Failures of a connection that may not happen again."""
_TOGETHER = 2.0
_SETTINGS = ("generationConfig", "inferenceConfig", "options")
"""The objects in which some APIs hold the sampling parameters."""


def _failed_before(context: RuleContext) -> Turn | None:
    """The previous attempt of this turn, which failed; None for a first attempt."""
    return context.before if context.is_attempt else None


def _status(turn: Turn) -> int | None:
    error, response = turn.reading.error, turn.round_trip.response
    return (error.status if error else None) or (response.status if response else None)


def _ended(turn: Turn) -> float:
    return turn.round_trip.started_at + (turn.round_trip.ended_at or turn.round_trip.first_byte_at or 0) / 1e6


@rule(
    STORM,
    "client",
    "warning",
    "P",
    says="The same failing request is sent again and again.",
    fix="Limit the retries in every layer: the retries of SDK and framework multiply.",
    not_when=("The client waited as long as the API asked",),
)
def retry_storm(context: RuleContext) -> Iterator[Note]:
    before = _failed_before(context)
    if before is None or request_key(context.turn) != request_key(before):
        return
    attempts = len(context.thread.failures) + 1
    wait = retry_after(before)
    if attempts not in (4, 10) or (wait is not None and _gap(context, before) >= 0.9 * wait):
        return
    headers = context.turn.round_trip.request.headers
    count = header(headers, "x-stainless-retry-count")
    layers = f" (the SDK counts this one as retry {count})" if count else ""
    yield Note(
        f"the same failing request was sent {attempts} times{layers}; the last attempt before this one failed with "
        f"{failure_name(before)}",
        tuple(f"#{index} status" for index in (*context.thread.failures[-5:], context.index)),
        severity="error" if attempts >= 10 else "warning",
        key=attempts,
    )


@rule(
    "client-retried-permanent-error",
    "client",
    "warning",
    "P",
    says="A request that can never succeed was sent again unchanged.",
    fix="Retry only 408, 409, 429 and 5xx.",
)
def retried_permanent(context: RuleContext) -> Iterator[Note]:
    before = _failed_before(context)
    if before is None or request_key(context.turn) != request_key(before) or _status(before) not in _PERMANENT:
        return
    yield Note(
        f"the request was sent again unchanged after {failure_name(before)}",
        (failure_place(before), f"{context.at} request"),
        key=before.body,
    )


def retry_after(turn: Turn) -> float | None:
    """How many seconds the API asked to wait, or None."""
    response = turn.round_trip.response
    if response is None:
        return None
    milliseconds = header(response.headers, "retry-after-ms")
    seconds = header(response.headers, "retry-after")
    try:
        if milliseconds:
            return float(milliseconds) / 1000
        if seconds:
            return float(seconds)
    except ValueError:
        return None
    body = parse_json(response.body)
    error = as_object(as_object(as_array(body)[0] if as_array(body) else body).get("error"))
    for detail in as_array(error.get("details")):
        delay = as_text(as_object(detail).get("retryDelay"))
        if delay and delay.endswith("s"):
            try:
                return float(delay[:-1])
            except ValueError:
                return None
    return None


def _gap(context: RuleContext, before: Turn) -> float:
    """The seconds between the end of the attempt before and this one."""
    return context.turn.round_trip.started_at - _ended(before)


@rule(
    "client-ignored-retry-after",
    "client",
    "warning",
    "P",
    says="The client retried earlier than the API asked, or although the API said not to retry.",
    fix="Wait as long as `retry-after` says; stop at `x-should-retry: false`.",
    not_when=("The client waited at least nine tenths of the time",),
)
def ignored_retry_after(context: RuleContext) -> Iterator[Note]:
    before = _failed_before(context)
    if before is None:
        return
    wait, response = retry_after(before), before.round_trip.response
    gap = _gap(context, before)
    if (
        response is not None
        and header(response.headers, "x-should-retry") == "false"
        and request_key(context.turn) == request_key(before)
    ):
        yield Note(
            "the request was sent again although the API said not to retry",
            (f"#{before.round_trip.index} response header x-should-retry false", f"{context.at} request"),
        )
    elif wait is not None and gap < 0.9 * wait and wait - gap > 0.05:
        yield Note(
            f"the client retried after {gap:.1f} s; the API asked it to wait {wait:g} s",
            (f"#{before.round_trip.index} response header retry-after {wait:g}", f"{context.at} request"),
            because_of=(),
        )


@rule(
    "client-no-retry-on-transient",
    "client",
    "info",
    "S",
    when="closed",
    says="A temporary failure ended the thread, without a retry.",
    fix="Retry 429, 5xx and dropped connections a few times, with growing waits.",
    not_when=("The same was asked again in another thread of the run, such as of another API",),
)
def no_retry(context: RuleContext) -> Iterator[Note]:
    if context.turn.attempt > 1 or context.has("api-context-full"):
        return
    if context.failed_handshake and context.later:
        return  # the run went on over HTTP, or over another session
    if context.run.asked.get(asked_key(context.turn), 0) > context.index:
        return
    status = error_status(context)
    if status == 429 or status in OVERLOADED:
        yield Note(f"the client did not retry after {failure_name(context.turn)}", (failure_place(context.turn),))
    elif _was_dropped(context):
        failure = context.turn.round_trip.failure
        kind = failure.kind if failure is not None else "cut"
        what = "the API did not answer in time" if kind == "timeout" else "the connection was dropped"
        yield Note(f"the client did not retry after {what}", (f"{context.at} {kind}",))


def _was_dropped(context: RuleContext) -> bool:
    """True when the connection ended before the answer was complete, and the client had not closed it."""
    trip = context.turn.round_trip
    if trip.closed_first == "client":
        return False
    if trip.response is None:
        return trip.failure is not None and trip.failure.kind in _DROPPED
    closed = trip.failure is not None or trip.closed_first == "server"
    return context.finish.effective == "cut" and closed


@rule(
    "client-duplicate-request",
    "client",
    "warning",
    "P",
    says="One request was sent twice at the same time, and both were answered and billed.",
    fix="Find the two places that send it, and share the answer.",
    not_when=(
        "Several answers are sampled",
        "It opens a conversation and is answered in words: drafts or an evaluation may be wanted, so it is an info",
        "A retry after a failure",
        "The other request goes to another address",
        "The answer and the time are the same as well, so the recording may hold it twice: then it is an info",
    ),
)
def duplicate_request(context: RuleContext) -> Iterator[Note]:
    earlier = context.sent_before
    if earlier is None or not earlier.billed or not context.succeeded or context.is_attempt:
        return
    if earlier.effective not in ("complete", "tool_calls", "stop_sequence"):
        return
    started = context.turn.round_trip.started_at
    if started > earlier.ended + _TOGETHER:
        return
    settings = (as_object(context.parameter(name)) for name in _SETTINGS)
    temperature = next((fields["temperature"] for fields in settings if "temperature" in fields), None)
    temperature = context.parameter("temperature") if temperature is None else temperature
    sampled = isinstance(temperature, int | float) and temperature > 0
    if sampled or earlier.count > 3:
        return
    if header(context.turn.round_trip.request.headers, "x-stainless-retry-count") not in (None, "0"):
        return
    opens = all(message.role != "assistant" for message in context.request.messages)
    # One answer, begun at one time: the recording has one round trip twice.
    twice = started == earlier.started and context.reading.response_id in context.run.answers
    yield Note(
        f"the request is the same as in #{earlier.index}, byte for byte, and both were answered"
        + ("; the recording may hold it twice: the answer and the time are the same too" if twice else ""),
        (f"#{earlier.index} request", f"{context.at} request"),
        severity="info" if twice or (opens and not context.emission.calls) else None,
        key=earlier.index,
    )


@rule(
    "client-retry-lost-results",
    "client",
    "warning",
    "P",
    says="After a failure, the client sent an earlier request again, without the calls and results that came since: the model "
    "will repeat the calls.",
    fix="Send the request again that failed; keep the history outside what is retried.",
    not_when=("The API refused the request for its content", "Another request was answered in between"),
)
def retry_lost_results(context: RuleContext) -> Iterator[Note]:
    failed, earlier = context.run.overloaded, context.sent_before
    if failed is None or earlier is None:
        return
    index, prefixes, last_result = failed
    mine = context.turn.conversation.prefixes
    sent = len(mine) - 1
    if sent < len(prefixes) - 1 and last_result >= sent and mine[-1] == prefixes[sent]:
        yield Note(
            f"after the failure of #{index}, the client sent the request of #{earlier.index} again: "
            f"{several(len(prefixes) - 1 - sent, 'piece')} of #{index} are missing, results among them",
            (f"#{earlier.index} request", f"#{index} request", f"{context.at} request"),
        )


@rule(
    "client-refusal-retried",
    "client",
    "warning",
    "P",
    says="A request that was refused or filtered was sent again unchanged.",
    fix="Change the request or the model, or ask the user.",
)
def refusal_retried(context: RuleContext) -> Iterator[Note]:
    earlier = context.sent_before
    if earlier is not None and earlier.effective in ("refusal", "content_filter"):
        yield Note(
            f"the request that was refused in #{earlier.index} was sent again unchanged",
            (f"#{earlier.index} finish {earlier.effective}", f"{context.at} request"),
            key=earlier.index,
        )


_OF_HISTORY = regex(r"\b(?:image|picture|document|file|media|audio|pdf|messages?\W|content\W|input\W)", re.IGNORECASE)
_CHANGING = regex(r"\d+|'[^']*'|\"[^\"]*\"")


def fault_of(said: Rejection) -> str | None:
    """What a rejection is about: the class that it names, or its text where it speaks of a piece of the history."""
    if said.ids:
        return said.ids[0]
    of_history = said.pointer is not None or _OF_HISTORY.search(said.text) is not None
    return _CHANGING.sub("", said.text)[:200] if of_history and said.text else None


@rule(
    "client-poisoned-history",
    "client",
    "error",
    "P",
    says="The API rejects every request because of the same piece of its history: retries cannot succeed.",
    fix="Remove or fix the piece that the evidence names, then continue.",
)
def poisoned(context: RuleContext) -> Iterator[Note]:
    said, last = context.rejection, context.thread.rejected
    if said is None or last is None or context.before is None:
        return
    name, place, first, count = last.rule_id, last.pointer, last.first_index, last.count
    if name != fault_of(said) or name.startswith("api-context") or context.turn.body == context.before.body:
        return
    if place is not None and said.pointer is not None and place != said.pointer:
        return
    where = f" at {said.pointer}" if said.pointer else ""
    known = context.thread.explained
    yield Note(
        f"{count + 1} requests were rejected because of the same fault{where}, first #{first}: retries cannot succeed",
        (f"#{first} status", f"{context.at} request {said.pointer or ''}".strip()),
        because_of=known.because_of if known and known.text == rejection_text(context) else said.ids[:1],
        key=(name, place),
    )


RULES = (
    retry_storm,
    retried_permanent,
    ignored_retry_after,
    duplicate_request,
    retry_lost_results,
    refusal_retried,
    poisoned,
)
CLOSED = (no_retry,)
