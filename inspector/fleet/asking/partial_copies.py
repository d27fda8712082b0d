"""Compacted objects of a bucket as local files with the columns that questions need.

The file is as long as the object, and has its footer and the fetched columns in their places; the rest is a hole that
takes no room. DuckDB asks a data set for a scanner with the columns and the filter of the question: then the missing
columns of the files that the filter leaves are fetched.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

from turntape.cassettes.regex import regex

from ..errors import StoreError
from ..libraries import pyarrow
from ..store.store import Store, StoredObject
from .local_copies import CONNECTIONS, Progress, Replaced

WHOLE = 1 << 20
"""Objects of fewer bytes are fetched whole."""
_HOLE = 1 << 16
"""So many bytes between two columns are fetched with them, because another request takes longer."""
_WORD = regex(r"\w+")


class PartialCopy:
    """An object of which columns are fetched. Raises Replaced where it is not the listed one any more."""

    def __init__(self, store: Store, listed: StoredObject, path: Path, progress: Progress | None) -> None:
        self.path = path
        self._store, self._listed, self._progress = store, listed, progress
        self._there: set[str] = set()
        self._write_footer()
        self._places = _places(pyarrow().parquet.read_metadata(path))

    def missing(self, columns: Iterable[str]) -> list[tuple[int, int]]:
        """The places of those of these columns that were not fetched yet: begin and end, in bytes."""
        wanted = set(columns) - self._there
        return _joined(place for name in wanted for place in self._places.get(name, ()))

    def fetched(self, columns: Iterable[str]) -> None:
        """These columns are in the file."""
        self._there.update(columns)

    def fetch(self, start: int, end: int) -> None:
        """Fetch a part of the object into its place. May be called on several threads at once."""
        data = self._store.part(self._listed.name, start, end, self._listed.etag)
        if data is None or len(data) != end - start:
            raise Replaced(self._listed.name)
        with self.path.open("r+b") as file:
            file.seek(start)
            file.write(data)
        if self._progress is not None:
            self._progress(len(data))

    def _write_footer(self) -> None:
        size = self._listed.size
        self.path.touch(0o600)
        os.truncate(self.path, size)
        self.fetch(size - min(size, _HOLE), size)
        with self.path.open("rb") as file:
            file.seek(size - 8)
            length = int.from_bytes(file.read(4), "little") + 8
        if length > size:
            raise StoreError(f"{self._listed.name} in {self._store.address!r} is damaged; compact its day again")
        if length > _HOLE:
            self.fetch(size - length, size - _HOLE)


def _places(metadata: Any) -> dict[str, list[tuple[int, int]]]:
    """Where the bytes of each column are, for all row groups: begin and end."""
    found: dict[str, list[tuple[int, int]]] = {}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for number in range(row_group.num_columns):
            column = row_group.column(number)
            start = min(one for one in (column.dictionary_page_offset, column.data_page_offset) if one)
            name = column.path_in_schema.partition(".")[0]
            found.setdefault(name, []).append((start, start + column.total_compressed_size))
    return found


def _joined(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The places in order; those with little between them are one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start - found[-1][1] <= _HOLE:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def partial_dataset(
    fragments: list[Any], schema: Any, form: Any, local: Any, parts: Mapping[str, PartialCopy]
) -> tuple[Any, Callable[[], Exception | None]]:
    """A data set that fetches what a scan of it needs, and what says why the last scan could not fetch it.

    `parts` are the copies of those files that are not whole, by their paths.
    """
    found = _on_demand()(fragments, schema, form, local)
    found.parts, found.lock, found.problem = parts, Lock(), None
    return found, lambda: found.problem


@cache
def _on_demand() -> type[Any]:
    """The class of the data sets; pyarrow is imported late."""
    from pyarrow import dataset as untyped  # pyright: ignore[reportMissingTypeStubs]

    base = cast(Any, untyped).FileSystemDataset

    class OnDemand(base):
        def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
            mine = cast(Any, self)
            given = {} if filter is None else {"filter": filter}
            with mine.lock:
                mine.problem = None
                try:
                    _fetch(mine, columns, filter, mine.get_fragments(**given))
                except (Replaced, StoreError) as exc:
                    mine.problem = exc
                    raise
            return base.scanner(self, columns=columns, **given, **options)

    return OnDemand


def _fetch(dataset: Any, columns: Any, filter: Any, fragments: Iterable[Any]) -> None:
    """Fetch the columns that a scan reads: those of its answer and those of its filter."""
    names: list[str] = dataset.schema.names
    wanted = names if columns is None else [str(one).partition(".")[0] for one in columns]
    needed = {*wanted, *(set(_WORD.findall(str(filter))) & set(names))} if filter is not None else set(wanted)
    parts = cast(Mapping[str, PartialCopy], dataset.parts)
    some = [parts[one.path] for one in fragments if one.path in parts]
    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="columns") as pool:
        jobs = [pool.submit(one.fetch, *place) for one in some for place in one.missing(needed)]
        for job in jobs:
            job.result()
    for one in some:
        one.fetched(needed)
