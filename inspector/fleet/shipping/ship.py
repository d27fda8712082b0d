"""Ships recordings: their bytes and their rows, once each. See `ship`."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from threading import Event

from turntape.cassettes.frozen import frozen
from turntape.cassettes.redaction.redactor import Redactor

from ..errors import NotAStore, StoreError
from ..libraries import pyarrow
from ..rows.ci_labels import ci_labels
from ..rows.keyed_hash import KeyedHash
from ..store.forgotten import Forgotten
from ..store.hash_key import hash_key
from ..store.place import is_remote
from ..store.store import open_store, open_to_look
from .outcome import SETTLED, Shipped, ShippedFile
from .ship_one import Target, ship_one
from .spool import DEFAULT_BYTES, Spool, Waiting

_AT_ONCE = 8
"""Files that wait for a bucket at the same time; a folder is written one file after the other."""
_GIVE_UP = 3
"""When this many files in a row got no answer, the rest is not tried."""


@frozen
class ShipOptions:
    """How to ship."""

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the user; they replace those of the CI's environment."""
    content: bool = False
    """Also write texts, arguments and results, apart from the rows."""
    rows_only: bool = False
    """Leave the bytes at home."""
    dry_run: bool = False
    """Only say what would be done. Nothing is written."""
    spool: Path | None = None
    """Where files wait that could not be shipped; None to keep nothing."""
    spool_bytes: int = DEFAULT_BYTES
    """The size of the spool; the oldest files are removed above it."""


def default_spool() -> Path:
    """The spool in `TURNTAPE_HOME`, or in `~/.turntape`."""
    return Path(os.environ.get("TURNTAPE_HOME") or Path.home() / ".turntape") / "spool"


def ship(
    paths: Sequence[Path],
    to: str,
    options: ShipOptions | None = None,
    *,
    labels_of: Mapping[Path, Mapping[str, str]] | None = None,
    progress: Callable[[ShippedFile], object] = lambda file: None,
) -> Shipped:
    """Ship closed recordings to a store, those that wait in the spool first.

    A problem with one file is in its `state` and `problem`. Raises StoreError when the store cannot be used at all
    (wrong credentials, no such bucket, no network); the files are in the spool then. Raises NotAStore for an address
    that is none, NotInstalled without `turntape[fleet]`. `labels_of` adds labels of single files. `progress` is called
    after each file, in this thread.
    """
    pyarrow()
    return _Call(paths, to, options or ShipOptions(), labels_of or {}, progress).run()


class _Call:
    """One call of `ship`."""

    def __init__(
        self,
        paths: Sequence[Path],
        to: str,
        options: ShipOptions,
        labels_of: Mapping[Path, Mapping[str, str]],
        progress: Callable[[ShippedFile], object],
    ) -> None:
        self._paths = list(dict.fromkeys(paths))
        self._to = to
        self._options = options
        self._progress = progress
        common = {**ci_labels(), **options.labels}
        self._labels = {path: {**common, **labels_of.get(path, {})} for path in self._paths}
        self._spool = Spool(options.spool, options.spool_bytes) if options.spool else None
        self._gone = Event()
        """Set when the store gives no answer any more."""
        self._unanswered = 0

    def run(self) -> Shipped:
        done: dict[Path, ShippedFile] = {}
        try:
            target = self._target()
            waiting = self._spool.waiting(self._to) if self._spool and not self._options.dry_run else []
            old = self._ship_waiting(waiting, target)
            for file in self._each([(path, self._labels[path], target) for path in self._paths]):
                done[file.path] = file
                self._progress(file)
        except NotAStore:
            raise  # nothing can ever go there
        except StoreError as exc:
            left = [path for path in self._paths if path not in done or done[path].state == "failed"]
            kept, exc.dropped = self._keep(iter(left))
            exc.not_kept = len(left) - kept
            raise
        failed = [path for path in self._paths if done[path].state == "failed"]
        spooled, dropped = self._keep(iter(failed))
        return Shipped(tuple(done[path] for path in self._paths), tuple(old), spooled, dropped)

    def _target(self) -> Target:
        options = self._options
        store = open_store(self._to, create=True) if not options.dry_run else open_to_look(self._to)
        forgotten = Forgotten.read(store)
        key = bytes(32) if options.dry_run else hash_key(store)
        return Target(
            store=store,
            hashes=KeyedHash(key),
            redactor=Redactor.from_config(),
            forgotten=forgotten,
            texts=options.content,
            rows_only=options.rows_only,
            dry_run=options.dry_run,
        )

    def _ship_waiting(self, waiting: Sequence[Waiting], target: Target) -> list[ShippedFile]:
        by_path = {one.path: one for one in waiting}
        work = [(one.path, one.labels, replace(target, texts=one.texts, rows_only=one.rows_only)) for one in waiting]
        files: list[ShippedFile] = []
        for file in self._each(work):
            files.append(file)
            if file.state in SETTLED and self._spool:
                self._spool.remove(by_path[file.path])
        return files

    def _each(self, work: Sequence[tuple[Path, Mapping[str, str], Target]]) -> Iterator[ShippedFile]:
        """What happened to each file, as it happens."""
        if not work:
            return
        with ThreadPoolExecutor(_AT_ONCE if is_remote(self._to) else 1) as pool:
            futures = [pool.submit(self._one, *one) for one in work]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                _cancel(futures)

    def _one(self, path: Path, labels: Mapping[str, str], target: Target) -> ShippedFile:
        if self._gone.is_set():
            return ShippedFile(path, "failed", problem=f"{self._to!r} gives no answer any more; try again later")
        file = ship_one(path, labels, target)
        self._unanswered = self._unanswered + 1 if file.state == "failed" else 0
        if self._unanswered >= _GIVE_UP:
            self._gone.set()
        return file

    def _keep(self, paths: Iterator[Path]) -> tuple[int, int]:
        """Put files into the spool that are not in it; how many, and how many others it lost."""
        kept = dropped = 0
        if self._spool is None or self._options.dry_run:
            return 0, 0
        for path in paths:
            with suppress(OSError):  # a file that is gone, or a full disk: the file itself is where it was
                options, labels = self._options, self._labels[path]
                dropped += self._spool.put(path, self._to, labels, texts=options.content, rows_only=options.rows_only)
                kept += 1
        return kept, dropped


def _cancel(futures: Sequence[Future[ShippedFile]]) -> None:
    for future in futures:
        future.cancel()
