"""How the calls and results of one request fit together, by what its protocol demands."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ...wire.per_message import PerMessage
from ...wire.protocols.traits import Pairing
from ...wire.values import Part, RequestReading
from .by_id import pair_anywhere, pair_continuation
from .in_place import pair_in_place
from .model import CallPart, Entry, ResultPart, ToolPairing
from .settled import Beginnings, is_whole, last_answer

_entries = PerMessage(Entry.of)
_beginnings = Beginnings()


_NOTHING: Mapping[str, tuple[str, str] | None] = MappingProxyType({})


def pair_tools(
    request: RequestReading,
    rules: Pairing,
    emitted: Sequence[str] | None = None,
    held: Mapping[str, tuple[str, str] | None] = _NOTHING,
) -> ToolPairing:
    """The pairing of a request's history, by the rules of its protocol.

    `emitted` are the ids of the calls in a conversation that the API holds; None when they are not known.
    `held` is what the API holds of its answers, by the ids under which a request may name it (`Entry.resolved`).
    """
    found = ToolPairing()
    if not rules.in_request and request.previous_id is None:
        return found
    entries = _entries.of(request.messages)
    if request.previous_id is not None:
        results = [result for entry in entries for result in entry.results]
        found.duplicate_results += _repeats(results, {})
        pair_continuation(entries, results, emitted, found)
        return found
    settled = _beginnings.of(entries, rules)
    new = [entry.resolved(held) for entry in entries[settled.count :]]
    results = [result for entry in new for result in entry.results]
    found.duplicate_calls += _repeats((call for entry in new for call in entry.calls), settled.calls)
    earlier = {one.id: settled.results[one.id].part for one in results if one.id and one.id in settled.results}
    found.duplicate_results += _repeats(results, earlier)
    if rules.anywhere:
        pair_anywhere(new, results, settled, found)
    else:
        pair_in_place(new, results, rules, settled, found)
    if found.is_clean and is_whole(done := new[: last_answer(new)], settled.listed):
        settled.take(done, entries)
    _beginnings.give_back(settled)
    return found


def _repeats(parts: Iterable[CallPart | ResultPart], earlier: Mapping[str, Part]) -> list[tuple[Part, Part]]:
    """The first part with an id, and each later one with the same id; `earlier` are parts that come before these."""
    seen: dict[str, Part] = {}
    found: list[tuple[Part, Part]] = []
    for one in parts:
        if one.id:
            first = earlier.get(one.id) or seen.setdefault(one.id, one.part)
            if first is not one.part:
                found.append((first, one.part))
    return found
