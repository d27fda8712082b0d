"""Recordings that could not be shipped and wait for the next attempt, in a folder with a limit.

Each has its own copy of the file, and beside it a JSON document with the labels and options of that time. A file is
complete when it has its name, so a crash leaves nothing half in the spool. Above the limit the oldest are removed.
"""

import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from turntape.cassettes.frozen import frozen

from ...wire.json_value import as_object, parse_json

DEFAULT_BYTES = 1 << 30
_SIDE = ".ship.json"


@frozen
class Waiting:
    """A recording in the spool."""

    path: Path
    labels: Mapping[str, str]
    texts: bool
    rows_only: bool


class Spool:
    """`Spool(folder, limit)`: the folder is created with the first file, for its owner only."""

    def __init__(self, folder: Path, limit: int = DEFAULT_BYTES) -> None:
        self.folder = folder
        self._limit = limit

    def put(self, path: Path, to: str, labels: Mapping[str, str], *, texts: bool, rows_only: bool) -> int:
        """Keep a copy of `path` for the store `to`. Returns how many others were removed to keep the limit.

        Raises OSError when the disk refuses it.
        """
        data = path.read_bytes()
        folder = self._of(to)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = sha256(data).hexdigest()[:32] + "".join(path.suffixes[-3:])
        side = {"to": to, "labels": dict(labels), "texts": texts, "rows_only": rows_only}
        _write(folder / (name + _SIDE), json.dumps(side).encode())
        _write(folder / name, data)
        return self._keep_limit(folder / name)

    def waiting(self, to: str) -> list[Waiting]:
        """What waits for the store `to`, oldest first."""
        return [_read(path) for path in sorted(self._files(self._of(to)), key=_age)]

    def remove(self, waiting: Waiting) -> None:
        """Remove what was shipped."""
        waiting.path.unlink(missing_ok=True)
        Path(str(waiting.path) + _SIDE).unlink(missing_ok=True)

    def size(self) -> tuple[int, int]:
        """How many recordings wait for any store, and their bytes."""
        sizes = [path.stat().st_size for path in self._every()]
        return len(sizes), sum(sizes)

    def _keep_limit(self, newest: Path) -> int:
        files = sorted(self._every(), key=_age)
        total, dropped = sum(path.stat().st_size for path in files), 0
        for path in files:
            if total <= self._limit:
                break
            if path != newest:
                total -= path.stat().st_size
                self.remove(_read(path))
                dropped += 1
        return dropped

    def _of(self, to: str) -> Path:
        return self.folder / sha256(to.rstrip("/").encode()).hexdigest()[:16]

    def _every(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for folder in self.folder.iterdir() if folder.is_dir() for path in self._files(folder)]

    @staticmethod
    def _files(folder: Path) -> list[Path]:
        if not folder.is_dir():
            return []
        return [path for path in folder.iterdir() if not path.name.endswith((_SIDE, ".part"))]


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, path.name
    except FileNotFoundError:  # another shipper has just removed it
        return 0.0, path.name


def _write(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    shutil.move(part, path)


def _read(path: Path) -> Waiting:
    try:
        side = parse_json(Path(str(path) + _SIDE).read_bytes())
    except OSError:
        side = None
    fields = as_object(side)
    labels = {key: str(value) for key, value in as_object(fields.get("labels")).items()}
    return Waiting(path, labels, fields.get("texts") is True, fields.get("rows_only") is True)
