"""The landing objects of a day, and what its compacted object was made from."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import Any

from turntape.cassettes.frozen import frozen

from ...wire.json_value import as_object
from ..errors import StoreError
from ..libraries import pyarrow
from ..rows.arrow import footer_size, metadata_in, rows_in
from ..store.forgotten import Forgotten
from ..store.names import ROWS, TABLE, day_and_stem, is_day, table_name
from ..store.store import Content, Store

MADE_FROM = "landing"
"""The key in the footer of a compacted object: a JSON object with the names and ETags of its landing objects."""
AT_ONCE = 16
"""Objects that are read at the same time."""


@frozen
class Day:
    """A day of a store at one moment."""

    day: str
    landing: dict[str, str]
    """Name of each landing object → its ETag."""
    compacted: dict[str, str] = field(default_factory=dict[str, str])
    """What the compacted object was made from, in the same form; empty without one."""
    has_table: bool = False

    @property
    def newer(self) -> list[str]:
        """Landing objects that the compacted one does not hold in this version."""
        return sorted(name for name, etag in self.landing.items() if self.compacted.get(name) != etag)

    def kept(self, forgotten: Forgotten) -> list[str]:
        """What only the compacted object still holds: landing objects that a rule of the bucket has removed."""
        gone = (name for name in self.compacted if name not in self.landing)
        return sorted(name for name in gone if not forgotten.has(recording_in(name), self.day))

    def is_current(self, forgotten: Forgotten) -> bool:
        """True when the compacted object holds what it should, and nothing else."""
        lost = any(forgotten.has(recording_in(name), self.day) for name in self.compacted)
        return not self.newer and not lost and self.has_table == bool(self.landing or self.compacted)


def recording_in(name: str) -> str:
    """The recording of a landing object."""
    found = day_and_stem(name)
    return found[1] if found else ""


def days_of(store: Store) -> list[str]:
    """All days with landing or compacted objects, oldest first."""
    folders = {*store.folders(ROWS), *store.folders(TABLE)}
    return sorted(day for name in folders if name.startswith("day=") and is_day(day := name.removeprefix("day=")))


def day_of_store(store: Store, day: str) -> Day:
    """What a store has of a day."""
    landing = {one.name: one.etag or "" for one in store.listing(f"{ROWS}/day={day}") if day_and_stem(one.name)}
    made_from = compacted_from(store, day)
    return Day(day, landing) if made_from is None else Day(day, landing, made_from, has_table=True)


def compacted_from(store: Store, day: str) -> dict[str, str] | None:
    """The landing objects that the compacted object of a day was made from: name → ETag. None without such an object.

    Only its footer is read. Empty for one whose footer is damaged.
    """
    name = table_name(day)
    end = store.tail(name)
    if end is not None and (size := footer_size(end.data)) > len(end.data):
        end = store.tail(name, min(size, end.size))  # a footer with many names
    if end is None:
        return None
    try:
        made_from = as_object(json.loads(metadata_in(end.data).get(MADE_FROM, "{}")))
    except (ValueError, OSError):
        return {}
    return {key: str(etag) for key, etag in made_from.items()}


def read_landing(store: Store, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The rows of landing objects as Arrow tables, in the order of the names; those that are gone are left out."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for start in range(0, len(names), 4 * AT_ONCE):
            some = names[start : start + 4 * AT_ONCE]
            for name, content in zip(some, pool.map(store.get, some), strict=True):
                if content is not None:
                    yield name, _rows(store, name, content)


def _rows(store: Store, name: str, content: Content) -> Any:
    try:
        return rows_in(content.data)
    except (ValueError, OSError) as exc:  # pyarrow's own errors are of these kinds
        problem = f"{name} in {store.address!r} is damaged; delete it and ship its recording again"
        raise StoreError(problem) from exc


def compacted_rows(store: Store, day: str, names: Sequence[str]) -> Any:
    """The rows in the compacted object of a day that came from these landing objects, sorted by recording."""
    pa = pyarrow()
    content = store.get(table_name(day)) if names else None
    if content is None:
        return None
    table = rows_in(content.data)
    wanted = pa.array([recording_in(name) for name in names])
    return table.filter(pa.compute.is_in(table.column("recording"), value_set=wanted))


def each_recording(store: Store, day: Day, forgotten: Forgotten) -> Iterator[tuple[str, Any]]:
    """The rows of each recording of a day, once, in the order of their names: `(landing object, Arrow table)`."""
    pa = pyarrow()
    kept = day.kept(forgotten)
    old = compacted_rows(store, day.day, kept)
    wanted = sorted(name for name in day.landing if not forgotten.has(recording_in(name), day.day))
    fresh = read_landing(store, wanted)
    of_old = iter(kept if old is not None else ())
    next_old = next(of_old, None)
    for name, table in fresh:
        while next_old is not None and next_old < name:
            yield next_old, _of(pa, old, next_old)
            next_old = next(of_old, None)
        yield name, table
    while next_old is not None:
        yield next_old, _of(pa, old, next_old)
        next_old = next(of_old, None)


def _of(pa: Any, table: Any, name: str) -> Any:
    return table.filter(pa.compute.equal(table.column("recording"), recording_in(name)))
