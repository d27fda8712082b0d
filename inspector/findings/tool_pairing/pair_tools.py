"""How the calls and results of one request fit together, by what its protocol demands."""

from collections.abc import Iterable, Sequence

from ...wire.protocols.traits import Pairing
from ...wire.values import Part, RequestReading
from .by_id import pair_anywhere, pair_continuation
from .in_place import pair_in_place
from .model import CallPart, Entry, ResultPart, ToolPairing


def pair_tools(request: RequestReading, rules: Pairing, emitted: Sequence[str] | None = None) -> ToolPairing:
    """The pairing of a request's history, by the rules of its protocol.

    `emitted` are the ids of the calls in a conversation that the API holds; None when they are not known.
    """
    found = ToolPairing()
    if not rules.in_request:
        return found
    entries = [Entry.of(message) for message in request.messages]
    results = [result for entry in entries for result in entry.results]
    if request.previous_id is None:
        found.duplicate_calls += _repeats(call for entry in entries for call in entry.calls)
    found.duplicate_results += _repeats(results)
    if request.previous_id is not None:
        pair_continuation(entries, results, emitted, found)
    elif rules.anywhere:
        pair_anywhere(entries, results, found)
    else:
        pair_in_place(entries, results, rules, found)
    return found


def _repeats(parts: Iterable[CallPart | ResultPart]) -> list[tuple[Part, Part]]:
    """The first part with an id, and each later one with the same id."""
    seen: dict[str, Part] = {}
    return [
        (first, one.part) for one in parts if one.id and (first := seen.setdefault(one.id, one.part)) is not one.part
    ]
