"""What turntape itself did to a round trip, as the user requested. These findings blame no layer."""

from collections.abc import Iterator

from ...wire.json_value import as_object
from ..rule import Note, rule
from ..rule_context import RuleContext

_GUARD = "guard"
"""The mark of a request that turntape answered itself, because of a limit that the user had set."""
_BREAKPOINT = "breakpoint"
"""The mark of an answer that was held: the breakpoint, and what a person did."""


@rule(
    "run-ended-by-limit",
    "client",
    "info",
    "P",
    says="turntape answered this request itself, because of a limit that the user had set.",
    fix="Nothing, if the limit is intended; otherwise raise --max-turns or --max-cost, or remove --stop-on.",
)
def ended_by_limit(context: RuleContext) -> Iterator[Note]:
    guard = as_object(context.turn.round_trip.extra.get(_GUARD))
    error = context.reading.error
    ours = error is not None and (error.type or "").startswith("turntape_")
    if guard and (ours or not context.over_socket):
        yield Note(str(guard.get("message")), (f"{context.at} request",))


@rule(
    "answer-refused-by-hand",
    "client",
    "info",
    "P",
    says="A person answered with an error at a breakpoint, in place of the API.",
    fix="Nothing; the API's own answer is under `breakpoint` in the round trip.",
)
def refused_by_hand(context: RuleContext) -> Iterator[Note]:
    mark = as_object(context.turn.round_trip.extra.get(_BREAKPOINT))
    if mark.get("did") == "refused":
        what = f"a person refused the answer at the breakpoint {mark.get('on')}: {mark.get('message')}"
        yield Note(what, (f"{context.at} response",))


@rule(
    "answer-edited-by-hand",
    "client",
    "info",
    "P",
    says="A person changed the answer at a breakpoint before the client saw it.",
    fix="Nothing; the API's own answer is under `breakpoint` in the round trip.",
)
def edited_by_hand(context: RuleContext) -> Iterator[Note]:
    mark = as_object(context.turn.round_trip.extra.get(_BREAKPOINT))
    if mark.get("did") == "edited":
        yield Note(f"a person changed the answer at the breakpoint {mark.get('on')}", (f"{context.at} response",))


def _answered_as(context: RuleContext, *types: str) -> bool:
    """True when turntape itself answered, with an error."""
    return context.reading.error is not None and context.reading.error.type in types


@rule(
    "replay-missed",
    "client",
    "error",
    "P",
    says="During a replay, the agent sent a request that was not recorded.",
    fix="Read how it differs from the nearest recorded request; fix the agent, or record again if the change is intended.",
)
def replay_missed(context: RuleContext) -> Iterator[Note]:
    if _answered_as(context, "turntape_replay_miss", "turntape_no_cassette") and context.reading.error is not None:
        yield Note(context.reading.error.message, (f"{context.at} request",))


@rule(
    "replay-without-answer",
    "api",
    "info",
    "P",
    says="The request was recorded without an answer: the upstream was not reached, or closed the connection.",
    fix="Nothing, if the test is about this failure; otherwise record again.",
)
def replay_without_answer(context: RuleContext) -> Iterator[Note]:
    if _answered_as(context, "turntape_no_answer") and context.reading.error is not None:
        yield Note(context.reading.error.message, (f"{context.at} response",))


@rule(
    "request-led-back",
    "client",
    "error",
    "P",
    says="The host of the request leads back to turntape itself, so the request was not sent on.",
    fix="Use 127.0.0.1 as the base URL, or the address of the API.",
)
def request_led_back(context: RuleContext) -> Iterator[Note]:
    if _answered_as(context, "turntape_loop") and context.reading.error is not None:
        yield Note(context.reading.error.message, (f"{context.at} request",))


RULES = (ended_by_limit, refused_by_hand, edited_by_hand, replay_missed, replay_without_answer, request_led_back)
IDS = (ended_by_limit.id, refused_by_hand.id, replay_missed.id, replay_without_answer.id, request_led_back.id)
"""Findings that fully explain the answer."""
