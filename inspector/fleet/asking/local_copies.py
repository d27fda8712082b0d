"""The objects with rows as local files that stay as they are while a question is answered.

pyarrow reads them without Python: a file system in Python would be called by threads of pyarrow, which deadlock with a
reader that is given up, as a `limit` does. Objects of a bucket are fetched whole. A request answers with one version,
so no file mixes two. Files of a folder get a second name, which keeps their version when they are replaced.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from turntape.cassettes.frozen import frozen

from ..store.place import is_remote
from ..store.store import Store, StoredObject

CONNECTIONS = 32
"""Objects that are fetched at the same time."""

type Progress = Callable[[int], object]
"""Called with the bytes that were fetched since the last call."""


class Replaced(Exception):
    """An object was replaced or deleted after it was listed."""


@frozen
class Copy:
    name: str
    """The name of the object."""
    path: Path


def fetch(
    store: Store,
    objects: Iterable[StoredObject],
    folder: Path,
    *,
    newest: bool = False,
    progress: Progress | None = None,
) -> list[Copy]:
    """The objects as files in `folder`, in their order.

    Raises Replaced for one that is gone or is another version than the listed one; with `newest`, the version that is
    there now is as good. Raises StoreError.
    """
    listed = list(objects)
    copies: list[Copy] = []
    take = _fetched if is_remote(store.address) else _linked
    with ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="fetch") as pool:
        try:
            for one, copy in zip(listed, pool.map(partial(take, store, folder, newest), listed), strict=True):
                copies.append(copy)
                if progress is not None:
                    progress(one.size)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return copies


def local_path(folder: Path, one: StoredObject) -> Path:
    """Where the copy of an object is."""
    return folder / one.name.replace("/", "-")


def _fetched(store: Store, folder: Path, newest: bool, one: StoredObject) -> Copy:
    found = store.get(one.name)
    if found is None or (not newest and found.etag != one.etag):
        raise Replaced(one.name)
    path = local_path(folder, one)
    path.write_bytes(found.data)
    return Copy(one.name, path)


def _linked(store: Store, folder: Path, newest: bool, one: StoredObject) -> Copy:
    source = Path(store.address.removeprefix("file://")) / one.name
    path = local_path(folder, one)
    try:
        try:
            os.link(source, path)
        except FileNotFoundError:
            raise
        except OSError:  # another disk, or a file system without links
            shutil.copyfile(source, path)
        is_listed = newest or _version(store, one.name) == one.etag
    except FileNotFoundError as exc:
        raise Replaced(one.name) from exc
    if not is_listed:
        raise Replaced(one.name)
    return Copy(one.name, path)


def _version(store: Store, name: str) -> str | None:
    """The ETag of a file that is there now; it does not go back to an earlier one."""
    found = store.tail(name, 1)
    return None if found is None else found.etag
