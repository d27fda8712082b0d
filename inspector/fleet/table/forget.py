"""Deletes rows and bytes: single recordings (`forget`), and everything before a day (`expire`).

A tombstone is written first, so that no shipper brings anything back. The landing object goes last, because it names
the rest: a deletion that was interrupted is finished by the next one.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any

from turntape.cassettes.frozen import frozen

from ..shipping.footer import landed
from ..store.forgotten import Forgotten, forget_before, forget_recording
from ..store.names import CASSETTES, CONTENT, cassette_name, content_name, rows_name, table_name
from ..store.store import Store
from .compact import compact
from .landing import day_of_store, days_of, each_recording, recording_in

ORPHAN_DAYS = 7
"""Cassettes that no row names are deleted after this many days: a shipper that was stopped may still continue."""


@frozen
class Found:
    """A recording in a store."""

    recording: str
    day: str
    runs: tuple[str, ...]
    """The names of its runs."""
    contents: tuple[str, ...]
    """The cassettes that its rows name."""
    rows: int


@frozen
class Deleted:
    """What was deleted, or would be."""

    recordings: int
    objects: int
    days: tuple[str, ...] = ()


def find(store: Store, *, run: str | None = None, recording: str | None = None) -> list[Found]:
    """The recordings that hold a run of that name, or whose name begins with `recording`."""
    forgotten = Forgotten.read(store)
    found: list[Found] = []
    for name in days_of(store):
        day = day_of_store(store, name)
        for landing, table in each_recording(store, day, forgotten):
            one = _named(name, landing, table)
            if (run is None or run in one.runs) and (recording is None or one.recording.startswith(recording)):
                found.append(one)
    return found


def forget(store: Store, recordings: Iterable[Found], *, dry_run: bool = False) -> Deleted:
    """Delete recordings: their bytes, texts and rows, in the compacted table too. They cannot be shipped again."""
    objects, days, count = 0, set[str](), 0
    for one in recordings:
        rest, landing = _objects(store, one)
        if not dry_run:
            forget_recording(store, one.recording)
            store.delete(rest)
            store.delete([landing])
        objects, count = objects + len(rest) + 1, count + 1
        days.add(one.day)
    if not dry_run:
        compact(store, sorted(days))
    return Deleted(count, objects, tuple(sorted(days)))


def _objects(store: Store, one: Found) -> tuple[list[str], str]:
    """What belongs to a recording, and its landing object."""
    name = rows_name(one.day, one.recording)
    found = landed(store, name)
    contents = [*one.contents, *(found.footer.contents if found and found.footer else ())]
    return [*map(cassette_name, dict.fromkeys(contents)), content_name(one.day, one.recording)], name


def expire(store: Store, first_kept: date, *, dry_run: bool = False) -> Deleted:
    """Delete every recording that began before the day `first_kept` (UTC)."""
    days = [day for day in days_of(store) if day < first_kept.isoformat()]
    forgotten = Forgotten.read(store)
    if not dry_run:
        forget_before(store, first_kept)
    recordings = objects = 0
    for name in days:
        day = day_of_store(store, name)
        every = [_named(day.day, landing, table) for landing, table in each_recording(store, day, Forgotten())]
        pairs = [_objects(store, one) for one in every]
        rest = [name for some, _ in pairs for name in some]
        last = [name for _, name in pairs]
        rest += [one.name for one in store.listing(f"{CONTENT}/day={name}") if one.name not in set(rest)]
        if not dry_run:
            store.delete([*rest, table_name(name)])
            store.delete(last)
        recordings += sum(not forgotten.has(one.recording, one.day) for one in every)
        objects += len(rest) + len(last) + day.has_table
    return Deleted(recordings, objects, tuple(days))


def _named(day: str, landing: str, table: Any) -> Found:
    runs = tuple(text for text in table.column("run").unique().to_pylist() if text is not None)
    return Found(recording_in(landing), day, runs, tuple(table.column("cassette").unique().to_pylist()), len(table))


def sweep(store: Store, now: datetime, *, dry_run: bool = False) -> Deleted:
    """Delete cassettes older than a week that no row names: those of stopped shippers, and shorter versions."""
    old = now - timedelta(days=ORPHAN_DAYS)
    candidates = {one.name for one in store.listing(CASSETTES) if one.modified < old}
    if not candidates:
        return Deleted(0, 0)
    named = {cassette_name(content) for one in find(store) for content in one.contents}
    orphans = sorted(candidates - named)
    if not dry_run:
        store.delete(orphans)
    return Deleted(0, len(orphans))
