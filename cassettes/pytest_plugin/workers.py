"""What the processes of one session share: those of pytest-xdist through a folder."""

import hashlib
import json
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from ..tape.lock import hold

_SHARED = "turntape_shared"
"""The key under which the workers of pytest-xdist get the folder."""
_FOLDER: pytest.StashKey[str] = pytest.StashKey()


def share(node: Any) -> None:
    """Give a worker that is about to start the folder, which is removed when the session has ended."""
    config: pytest.Config = node.config
    if _FOLDER not in config.stash:
        folder = tempfile.TemporaryDirectory(prefix="turntape-", ignore_cleanup_errors=True)
        config.add_cleanup(folder.cleanup)
        config.stash[_FOLDER] = folder.name
    node.workerinput[_SHARED] = config.stash[_FOLDER]


def folder_of_workers(config: pytest.Config) -> Path | None:
    """The folder that this worker shares with the others; None in a session without workers."""
    given: dict[str, Any] = getattr(config, "workerinput", {})
    return Path(given[_SHARED]) if _SHARED in given else None


def leave_notice(config: pytest.Config, said: str, *, refused: bool) -> bool:
    """Leave what a worker has to say before its tests begin; False in a session without workers. What is `refused` ends
    the session."""
    folder = folder_of_workers(config)
    if folder is None:
        return False
    given: Mapping[str, Any] = getattr(config, "workerinput", {})
    _notice(folder, given).write_text(json.dumps([said, refused]), encoding="utf-8")
    return True


def notice_of(node: Any) -> tuple[str, bool] | None:
    """What a worker has left to say, and whether that ends the session."""
    folder: str | None = node.config.stash.get(_FOLDER, None)
    if folder is None:
        return None
    with suppress(FileNotFoundError):
        said, refused = json.loads(_notice(Path(folder), node.workerinput).read_text(encoding="utf-8"))
        return said, refused
    return None


def _notice(folder: Path, worker: Mapping[str, Any]) -> Path:
    return folder / f"notice-{worker['workerid']}"


class Recorded:
    """Which fixtures were recorded in this session. The workers of pytest-xdist share it through a folder."""

    def __init__(self, config: pytest.Config) -> None:
        self._folder = folder_of_workers(config)
        self._done: set[str] = set()

    def __contains__(self, path: Path) -> bool:
        return str(path) in self._done or (self._folder is not None and self._file(self._folder, path, "done").exists())

    def add(self, path: Path) -> None:
        self._done.add(str(path))
        if self._folder is not None:
            self._file(self._folder, path, "done").touch()

    @contextmanager
    def alone(self, path: Path) -> Generator[None]:
        """Wait until no other worker is about to record this."""
        if self._folder is None:
            yield
            return
        with self._file(self._folder, path, "lock").open("w") as file:
            while True:
                with suppress(OSError):  # where a lock is waited for only some seconds
                    hold(file.fileno(), wait=True)
                    break
            yield

    @staticmethod
    def _file(folder: Path, path: Path, kind: str) -> Path:
        return folder / f"{hashlib.sha256(str(path).encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.{kind}"
