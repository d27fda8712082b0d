"""Ships the recordings of a folder as they are closed: `Watch(folders, to).step()` again and again.

The folder is its own spool: what could not be shipped is still there. With `delete`, a file is removed once its rows
are in the store, and the oldest files are removed when the folder grows above its limit.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.lock import being_written

from ..errors import StoreError
from .outcome import SETTLED, Shipped, ShippedFile, State
from .ship import ShipOptions, ship

SUFFIXES = (".cassette.jsonl", ".cassette.jsonl.zst")
SHORTEST_WAIT, LONGEST_WAIT = 5.0, 300.0
"""Seconds between two looks at the folder: after a success, and at most after failures."""
_IN_STORE: tuple[State, ...] = ("new", "grown", "unchanged", "older", "forgotten", "empty")


@frozen
class Step:
    """What one look at the folder led to."""

    shipped: Shipped = field(default_factory=Shipped)
    problem: str | None = None
    """Why nothing could be shipped, in one sentence."""
    deleted: int = 0
    dropped: int = 0
    """Files that were removed without being shipped, because the folder was above its limit."""
    wait: float = SHORTEST_WAIT
    """Seconds until the next look."""


class Watch:
    """Looks at folders and ships what was closed since. `jitter` spreads the attempts of many watchers."""

    def __init__(
        self,
        folders: Sequence[Path],
        to: str,
        options: ShipOptions,
        *,
        delete: bool = False,
        progress: Callable[[ShippedFile], object] = lambda file: None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._folders = folders
        self._to = to
        self._options = replace(options, spool=None)
        self._delete = delete
        self._progress = progress
        self._jitter = jitter
        self._settled: dict[Path, tuple[int, int]] = {}
        """Files that need nothing more, with the time and size that they had."""
        self._failures = 0

    def step(self) -> Step:
        """Ship the closed files that are new or have changed."""
        versions = {path: version for path in self._closed() if (version := _version(path)) is not None}
        changed = [path for path, version in versions.items() if self._settled.get(path) != version]
        shipped, problem = Shipped(), None
        try:
            shipped = ship(changed, self._to, self._options, progress=self._progress) if changed else shipped
        except StoreError as exc:
            problem = str(exc)
        done = [file for file in shipped.files if file.state in SETTLED]
        self._settled |= {file.path: versions[file.path] for file in done}
        self._settled = {path: version for path, version in self._settled.items() if path in versions}
        deleted = sum(self._remove(file, versions[file.path]) for file in done) if self._delete else 0
        dropped = self._keep_limit() if self._delete else 0
        failed = problem is not None or shipped.count("failed") > 0
        self._failures = self._failures + 1 if failed else 0
        return Step(shipped, problem, deleted, dropped, self._wait())

    def _wait(self) -> float:
        if not self._failures:
            return SHORTEST_WAIT
        longest = min(LONGEST_WAIT, SHORTEST_WAIT * 2**self._failures)
        return longest * (0.5 + self._jitter() / 2)

    def _closed(self) -> list[Path]:
        return [path for path in recordings_below(self._folders) if not being_written(path)]

    def _remove(self, file: ShippedFile, version: tuple[int, int]) -> bool:
        """Delete a file whose rows are in the store, unless it has changed meanwhile."""
        if file.state not in _IN_STORE or _version(file.path) != version or being_written(file.path):
            return False
        file.path.unlink(missing_ok=True)
        return True

    def _keep_limit(self) -> int:
        """Remove the oldest closed files above the limit; how many."""
        files = [(path, version) for path in self._closed() if (version := _version(path)) is not None]
        total, dropped = sum(size for _, (_, size) in files), 0
        for path, (_, size) in sorted(files, key=lambda one: one[1][0]):
            if total <= self._options.spool_bytes:
                break
            path.unlink(missing_ok=True)
            total, dropped = total - size, dropped + 1
        return dropped


def recordings_below(folders: Iterable[Path]) -> list[Path]:
    """The recordings in folders and in the folders within them, by name."""
    found = {path for folder in folders for suffix in SUFFIXES for path in folder.rglob(f"*{suffix}")}
    return sorted(path for path in found if path.is_file())


def _version(path: Path) -> tuple[int, int] | None:
    """When a file was changed, in nanoseconds, and its size; None when it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
