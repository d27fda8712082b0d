"""Cassettes to ship, and what a store holds of them."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from conversations import loop

from turntape.cassettes import Recorder
from turntape.inspector.fleet.store.store import Store, open_store

LOOP = len(loop())
"""The round trips of one tape."""


def tape(path: Path, name: str = "run", trips: int = LOOP, *, append: bool = False) -> Path:
    """A recording of a small tool loop, or of the first `trips` round trips of it; with `append`, of the rest."""
    from dataclasses import replace

    path.parent.mkdir(parents=True, exist_ok=True)
    given = loop()[trips:] if append else loop()[:trips]
    with Recorder(path, append=append, durable=False) as recorder:
        for trip in given:
            recorder.write(replace(trip, run=name))
    return path


def rows(to: str, prefix: str = "rows/v1") -> list[dict[str, Any]]:
    """All rows below a prefix of a store, in order."""
    store = open_store(to)
    found: list[dict[str, Any]] = []
    for one in store.listing(prefix):
        content = store.get(one.name)
        assert content is not None
        found += pq.read_table(_file(content.data)).to_pylist()
    return sorted(found, key=lambda row: (row["recording"], row["n"], row["part"]))


def _file(data: bytes) -> Any:
    import pyarrow as pa

    return pa.BufferReader(data)


def names(to: str, prefix: str) -> list[str]:
    """The names of the objects below a prefix."""
    store: Store = open_store(to)
    return sorted(one.name for one in store.listing(prefix))
