"""A shipped tape as a file: its rows name the object of the bytes, which is then fetched."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..libraries import pyarrow
from ..store.forgotten import is_forgotten
from ..store.names import ROWS, TABLE, Address, cassette_name, rows_name
from ..store.store import Store
from ..table.landing import compacted_from, compacted_rows, recording_in
from .local_copies import CONNECTIONS


def fetch(store: Store, address: Address, folder: Path) -> Path:
    """Write the tape at `address` into `folder`, readable for its owner only, and return its path.

    Raises StoreError where there is no such recording, or its bytes are gone.
    """
    content = address.cassette or _content_of(store, address.recording or "")
    found = store.get(cassette_name(content))
    if found is None:
        raise StoreError(
            f"the bytes of {str(address)!r} are not in the store: they have expired, or only rows were shipped; "
            "`turntape query` still answers from the rows"
        )
    path = folder / f"{(address.recording or content)[:12]}.cassette.jsonl.zst"
    path.touch(0o600)
    path.write_bytes(found.data)
    return path


def _content_of(store: Store, recording: str) -> str:
    """The hash of the recording's bytes, from its landing object, else from the compacted rows."""
    if is_forgotten(store, recording):
        raise StoreError(f"the recording {recording} was forgotten: its rows and its bytes were deleted")
    found = _in_landing(store, recording) or _in_table(store, recording)
    if found is None:
        raise StoreError(
            f"{store.address!r} has no recording {recording}; `turntape query dearest-runs --at {store.address}` "
            "shows addresses"
        )
    return found


def _in_landing(store: Store, recording: str) -> str | None:
    """Its day is not known, so all days are asked at once."""
    days = [name.removeprefix("day=") for name in store.folders(ROWS)]
    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="days") as pool:
        for found in pool.map(store.get, [rows_name(day, recording) for day in reversed(days)]):
            if found is not None:
                pool.shutdown(wait=False, cancel_futures=True)
                reader = pyarrow().BufferReader(found.data)
                return _first(pyarrow().parquet.read_table(reader, columns=["cassette"]))
    return None


def _in_table(store: Store, recording: str) -> str | None:
    """Landing objects expire first. The footers of the table say which day has the recording."""
    days = [name.removeprefix("day=") for name in store.folders(TABLE)]
    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="days") as pool:
        for day, made_from in zip(days, pool.map(partial(compacted_from, store), days), strict=True):
            names = [name for name in made_from or () if recording_in(name) == recording]
            if names:
                pool.shutdown(wait=False, cancel_futures=True)
                return _first(compacted_rows(store, day, names))
    return None


def _first(table: Any) -> str | None:
    return table.column("cassette")[0].as_py() if table is not None and table.num_rows else None
