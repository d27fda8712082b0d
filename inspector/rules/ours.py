"""What turntape itself did to a round trip, as the user had told it to: nobody's fault, and not to be taken for one."""

from collections.abc import Iterator

from ..case import Case
from ..finding import Note, rule
from ..json_value import as_object

_GUARD = "guard"
"""The mark of a request that turntape answered itself, at a limit that the user had set."""
_BREAKPOINT = "breakpoint"
"""The mark of an answer that was held, and of what a person did with it."""


@rule(
    "run-ended-by-limit",
    "client",
    "info",
    "P",
    says="turntape answered this request itself, at a limit that the user had set.",
    fix="Nothing, when the limit was meant; else raise --max-turns or --max-cost, or take --stop-on away.",
)
def ended_by_limit(case: Case) -> Iterator[Note]:
    guard = as_object(case.turn.round_trip.extra.get(_GUARD))
    if guard:
        yield Note(str(guard.get("message")), (f"{case.at} request",))


@rule(
    "answer-refused-by-hand",
    "client",
    "info",
    "P",
    says="A person answered with an error at a breakpoint, in place of the API.",
    fix="Nothing; the API's own answer stands under `breakpoint` in the round trip.",
)
def refused_by_hand(case: Case) -> Iterator[Note]:
    mark = as_object(case.turn.round_trip.extra.get(_BREAKPOINT))
    if mark.get("did") == "refused":
        what = f"a person refused the answer at the breakpoint {mark.get('on')}: {mark.get('message')}"
        yield Note(what, (f"{case.at} response",))


@rule(
    "answer-edited-by-hand",
    "client",
    "info",
    "P",
    says="A person changed the answer at a breakpoint before the client saw it.",
    fix="Nothing; the API's own answer stands under `breakpoint` in the round trip.",
)
def edited_by_hand(case: Case) -> Iterator[Note]:
    mark = as_object(case.turn.round_trip.extra.get(_BREAKPOINT))
    if mark.get("did") == "edited":
        yield Note(f"a person changed the answer at the breakpoint {mark.get('on')}", (f"{case.at} response",))


RULES = (ended_by_limit, refused_by_hand, edited_by_hand)
IDS = (ended_by_limit.id, refused_by_hand.id)
"""Findings that leave nothing to explain about the answer."""
