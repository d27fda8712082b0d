"""What turntape itself did to a round trip, as the user had told it to: nobody's fault, and not to be taken for one."""

from collections.abc import Iterator

from ..case import Case
from ..finding import Note, rule
from ..json_value import as_object

_GUARD = "guard"
"""The mark of a request that turntape answered itself, at a limit that the user had set."""


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


RULES = (ended_by_limit,)
IDS = tuple(rule.id for rule in RULES)
"""Findings that leave nothing to explain about the answer."""
