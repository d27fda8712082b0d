"""The folder that an agent may read: its cassettes, their rows, and addresses such as `run.cassette.jsonl#12`.

Names are relative to the folder. A name that leads out of it, also by a symbolic link, is refused. Nothing is written.
"""

import os
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from turntape.cassettes.errors import CassetteError, TurntapeError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.reader import Cassette
from turntape.cassettes.whole_number import whole_number
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run

SUFFIXES = (".cassette.jsonl", ".cassette.jsonl.zst")
MOST_BYTES = 24_000_000
"""Runs stay in memory, without their bodies, and are read for one answer, while their files are together this large."""
COMPRESSED = 10
"""A compressed file counts as so many times its size."""
MOST_FILES = 500
"""One answer is made from this many files at most."""


@frozen
class Address:
    """A round trip by its file and number; with `place`, one turn of a WebSocket session."""

    file: str
    index: int
    place: int | None = None

    def __str__(self) -> str:
        return f"{self.file}#{self.index}" + (f".{self.place}" if self.place is not None else "")

    @classmethod
    def parse(cls, text: str) -> "Address":
        """The address in `text`. Raises TurntapeError when it is none."""
        file, hash_sign, number = text.rpartition("#")
        index, dot, place = number.partition(".")
        which, within = whole_number(index), whole_number(place)
        if not hash_sign or not file or which is None or (dot and within is None):
            raise TurntapeError(f"{text!r} is not an address such as 'run.cassette.jsonl#12'; take one from list_turns")
        return cls(file, which, within)


class TapeFolder:
    """The cassettes below a folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Raises TurntapeError when `folder` is not a folder."""
        if not folder.is_dir():
            raise TurntapeError(f"{str(folder)!r} is not a folder; give the folder of the recordings")
        self.folder = folder.resolve()
        self._runs: OrderedDict[Path, tuple[os.stat_result, Run]] = OrderedDict()
        self._held = 0
        self._lock = RLock()

    def names(self) -> list[str]:
        """The cassettes at any depth, the one that was written last first. Folders that cannot be read are left out."""
        return [name for name, _ in self._listed()]

    def portion(self, skip: int) -> tuple[list[str], int]:
        """Those of `names` that are read for one answer, without the first `skip`; and how many names there are."""
        listed = self._listed()
        chosen: list[str] = []
        size = 0
        for name, one in listed[skip : skip + MOST_FILES]:
            size += one
            if chosen and size > MOST_BYTES:
                break
            chosen.append(name)
        return chosen, len(listed)

    def _listed(self) -> list[tuple[str, int]]:
        """The names of the cassettes, the newest first, and how large each is to read."""
        found: list[tuple[int, str, int]] = []
        for root, _, names in os.walk(self.folder):
            for name in names:
                path = Path(root) / name
                if name.endswith(SUFFIXES) and self._within(path):
                    status = path.stat()
                    found.append((-status.st_mtime_ns, path.relative_to(self.folder).as_posix(), _size(path, status)))
        return [(name, size) for _, name, size in sorted(found)]

    def path(self, name: str) -> Path:
        """The file of that name. Raises TurntapeError when it is outside of the folder or no cassette."""
        path = self.folder / name
        try:
            inside = path.name.endswith(SUFFIXES) and self._within(path)
        except (OSError, ValueError):
            inside = False
        if not inside:
            raise TurntapeError(f"{name!r} is not a cassette in this folder; list_runs names those that are")
        return path

    def _within(self, path: Path) -> bool:
        real = path.resolve()
        return real.is_relative_to(self.folder) and real.is_file()

    def cassette(self, name: str) -> Cassette:
        """The round trips of that cassette. Raises TurntapeError when there is no such cassette."""
        path = self.path(name)
        with _named(path, name):
            return Cassette.load(path)

    def run(self, name: str) -> Run:
        """The rows of that cassette, read again when the file has changed. Raises TurntapeError as `path` does."""
        path = self.path(name)
        with self._lock:
            status = path.stat()
            kept = self._runs.get(path)
            if kept is not None and (kept[0].st_mtime_ns, kept[0].st_size) == (status.st_mtime_ns, status.st_size):
                self._runs.move_to_end(path)
                return kept[1]
            if kept is not None:
                self._forget(path)
            with _named(path, name):
                run = Run.load(path)
            self._runs[path] = (status, run)
            self._held += _size(path, status)
            while self._held > MOST_BYTES and len(self._runs) > 1:
                self._forget(next(iter(self._runs)))
            return run

    def _forget(self, path: Path) -> None:
        status, _ = self._runs.pop(path)
        self._held -= _size(path, status)

    def find(self, text: str) -> tuple[Address, Run, int]:
        """What an address names: the run, and the place of its row. Raises TurntapeError when there is none."""
        address = Address.parse(text)
        run = self.run(address.file)
        for place, row in enumerate(run.rows.all):
            if row.index == address.index and (address.place is None or row.session == address.place):
                return address, run, place
        count = len(run.rows.all)
        held = f"it has #{run.rows.all[0].index} to #{run.rows.all[-1].index}" if count else "it has none"
        raise CassetteError(f"{address.file!r} has no round trip #{address.index}; {held}")


@contextmanager
def _named(path: Path, name: str) -> Generator[None]:
    """Name the file in a sentence about it as the agent does."""
    try:
        yield
    except CassetteError as exc:
        raise CassetteError(str(exc).replace(str(path), name)) from exc


def _size(path: Path, status: os.stat_result) -> int:
    return status.st_size * (COMPRESSED if path.suffix == ".zst" else 1)


def address_of(file: str, row: Row) -> str:
    """The address of a row."""
    return str(Address(file, row.index, row.session))
