"""Pairing by id alone, for APIs that find a result wherever it is, and for those that hold the conversation."""

from collections import ChainMap
from collections.abc import Mapping, Sequence

from .model import Entry, ResultPart, ToolPairing, known_ids
from .settled import Settled


def pair_continuation(
    entries: Sequence[Entry], results: list[ResultPart], emitted: Sequence[str] | None, found: ToolPairing
) -> None:
    """A request that brings only what is new: its results answer calls of answers that the API holds."""
    if emitted is None:
        return
    listed = known_ids(entries)
    asked = [result for result in results if result.id and result.id not in listed]
    found.orphans += [result.part for result in asked if result.id not in emitted]
    _check_order(asked, {call_id: place for place, call_id in enumerate(emitted)}, found)


def pair_anywhere(entries: Sequence[Entry], results: list[ResultPart], settled: Settled, found: ToolPairing) -> None:
    """Adds to `found` what does not fit in the entries after the settled ones."""
    calls = {call.id: call.part for entry in entries for call in entry.calls if call.id}
    answered = {result.id for result in results}
    found.missing += [
        part for call_id, part in calls.items() if call_id not in answered and call_id not in settled.results
    ]
    new = {call_id: len(settled.places) + place for place, call_id in enumerate(calls)}
    places = ChainMap(settled.places, new)
    for row in _rows(entries):
        _check_order(row, places, found)
    if settled.refers or any(entry.is_open for entry in entries):
        return  # The calls may be among the parts of answers that are only named.
    listed = known_ids(entries)
    found.orphans += [
        result.part for result in results if result.id and result.id not in listed and result.id not in settled.listed
    ]


def _rows(entries: Sequence[Entry]) -> list[list[ResultPart]]:
    """The results that come in a row, with nothing between them."""
    rows: list[list[ResultPart]] = [[]]
    for entry in entries:
        if entry.results:
            rows[-1] += entry.results
        elif rows[-1]:
            rows.append([])
    return rows


def _check_order(results: list[ResultPart], places: Mapping[str, int], found: ToolPairing) -> None:
    order = [places[result.id] for result in results if result.id is not None and result.id in places]
    if order != sorted(order):
        found.reordered.append(tuple(result.part for result in results))
