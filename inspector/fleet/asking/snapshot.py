"""What there is to read in a store at one moment, so that every round trip is counted once.

A compacted object says in its footer which landing objects it was made from. A landing object that it does not name,
or names in another version, is read itself, and the compacted rows of that recording do not count. Rows of forgotten
recordings do not count either. Landing objects that have expired leave only their compacted rows.
"""

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from pathlib import Path

from turntape.cassettes.frozen import frozen

from ..libraries import pyarrow
from ..store.forgotten import Forgotten
from ..store.names import ROWS, TABLE, day_and_stem
from ..store.place import is_remote
from ..store.store import Store, StoredObject
from .local_copies import CONNECTIONS, Copy, Progress, fetch, local_path
from .partial_copies import WHOLE, PartialCopy

MADE_FROM = b"landing"
"""The key in the footer of a compacted object: a JSON object with the names and ETags of its landing objects."""


@frozen
class Snapshot:
    """Files with rows."""

    compacted: tuple[Copy, ...]
    parts: Mapping[str, PartialCopy]
    """Those of the compacted ones that do not have all columns yet, by path."""
    landing: tuple[Copy, ...]
    """Those that no compacted object holds in this version."""
    superseded: frozenset[str]
    """Recordings whose compacted rows do not count: `landing` has them, or they were forgotten."""

    @property
    def empty(self) -> bool:
        return not self.compacted and not self.landing


def snapshot(store: Store, folder: Path, since: date | None = None, progress: Progress | None = None) -> Snapshot:
    """What to read, of recordings that began on the day `since` (UTC) or later, as files in `folder`.

    Landing objects are listed before compacted ones: one that is compacted in between is then found there. The newest
    version of a landing object is as good as the listed one, because it holds its recording whole. Raises Replaced
    when another object is not the listed one any more, and StoreError.
    """
    landing = _listed(store, ROWS, since)
    compacted = _listed(store, TABLE, since)
    forgotten = Forgotten.read(store)
    landing = [one for one in landing if not forgotten.has(_stem(one.name), day_of_object(one.name))]
    compacted = [one for one in compacted if not forgotten.has("", day_of_object(one.name))]
    large = [one for one in compacted if is_remote(store.address) and one.size >= WHOLE]
    parts = _partial(store, large, folder, progress)
    tables = fetch(store, [one for one in compacted if one not in large], folder, progress=progress)
    tables = sorted([*tables, *(Copy(one.name, parts[one.name].path) for one in large)], key=lambda copy: copy.name)
    held = _held(tables, {day_of_object(one.name) for one in landing})
    newer = [one for one in landing if held.get(one.name) != (one.etag or "")]
    return Snapshot(
        tuple(tables),
        {str(one.path): one for one in parts.values()},
        tuple(fetch(store, newer, folder, newest=True, progress=progress)),
        frozenset(_stem(one.name) for one in newer) | forgotten.recordings,
    )


def _partial(
    store: Store, objects: Iterable[StoredObject], folder: Path, progress: Progress | None
) -> dict[str, PartialCopy]:
    """The objects, of which only the footers are fetched now, by name."""

    def begun(one: StoredObject) -> tuple[str, PartialCopy]:
        return one.name, PartialCopy(store, one, local_path(folder, one), progress)

    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="footers") as pool:
        return dict(pool.map(begun, objects))


def _listed(store: Store, prefix: str, since: date | None) -> list[StoredObject]:
    """The objects with rows below a prefix, in the order of their names."""
    prefixes = [prefix]
    if since is not None:
        days = (name.removeprefix("day=") for name in store.folders(prefix))
        prefixes = [f"{prefix}/day={day}" for day in days if day >= since.isoformat()]
    found = [one for each in prefixes for one in store.listing(each) if day_and_stem(one.name)]
    return sorted(found, key=lambda one: one.name)


def _held(tables: Iterable[Copy], days: set[str]) -> dict[str, str]:
    """The landing objects that the tables of these days were made from: name and ETag. A damaged table holds none."""
    held: dict[str, str] = {}
    for one in tables:
        if day_of_object(one.name) in days:
            with suppress(pyarrow().ArrowInvalid):
                footer: dict[bytes, bytes] | None = pyarrow().parquet.read_metadata(one.path).metadata
                held |= json.loads((footer or {}).get(MADE_FROM, b"{}"))
    return held


def day_of_object(name: str) -> str:
    """The day of an object with rows."""
    found = day_and_stem(name)
    return found[0] if found else ""


def _stem(name: str) -> str:
    """The recording, or the shard, of an object with rows."""
    found = day_and_stem(name)
    return found[1] if found else ""
