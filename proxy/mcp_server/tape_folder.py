"""The folder that an agent may read: its cassettes, their rows, and addresses such as `run.cassette.jsonl#12`.

Names are relative to the folder. A name that leads out of it, also by a symbolic link, is refused. Nothing is written.
"""

import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from turntape.cassettes.errors import CassetteError, TurntapeError
from turntape.cassettes.tape.reader import Cassette
from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run

SUFFIXES = (".cassette.jsonl", ".cassette.jsonl.zst")
KEPT = 4
"""How many runs stay in memory, without their bodies."""


@dataclass(frozen=True, slots=True)
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
        if not hash_sign or not file or not _digits(index) or (dot and not _digits(place)):
            raise TurntapeError(f"{text!r} is not an address such as 'run.cassette.jsonl#12'; take one from list_turns")
        return cls(file, int(index), int(place) if dot else None)


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


class TapeFolder:
    """The cassettes below a folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        """Raises TurntapeError when `folder` is not a folder."""
        if not folder.is_dir():
            raise TurntapeError(f"{str(folder)!r} is not a folder; give the folder of the recordings")
        self.folder = folder.resolve()
        self._runs: OrderedDict[Path, tuple[tuple[int, int], Run]] = OrderedDict()
        self._lock = RLock()

    def names(self) -> list[str]:
        """The cassettes at any depth, the one that was written last first. Folders that cannot be read are left out."""
        found: list[tuple[int, str]] = []
        for root, _, names in os.walk(self.folder):
            for name in names:
                path = Path(root) / name
                if name.endswith(SUFFIXES) and self._within(path):
                    found.append((-path.stat().st_mtime_ns, path.relative_to(self.folder).as_posix()))
        return [name for _, name in sorted(found)]

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
        return Cassette.load(self.path(name))

    def run(self, name: str) -> Run:
        """The rows of that cassette, read again when the file has changed. Raises TurntapeError as `path` does."""
        path = self.path(name)
        with self._lock:
            status = path.stat()
            state = (status.st_mtime_ns, status.st_size)
            kept = self._runs.get(path)
            if kept is not None and kept[0] == state:
                self._runs.move_to_end(path)
                return kept[1]
            run = Run.load(path)
            self._runs[path] = (state, run)
            self._runs.move_to_end(path)
            while len(self._runs) > KEPT:
                self._runs.popitem(last=False)
            return run

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


def address_of(file: str, row: Row) -> str:
    """The address of a row."""
    return str(Address(file, row.index, row.session))
