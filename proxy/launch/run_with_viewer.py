"""A command whose run is shown while it runs: the viewer uses the terminal, and the output is stored in a file.

The viewer is a separate process that follows the cassette. When the user quits it, the output of the command is
printed, with everything that is still to come.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from .child_process import Child, spawn

POLL = 0.1
"""Seconds between two reads of the output of a running command."""


class Viewing:
    """`with Viewing(path) as viewing`: spawn the command with `viewing.output`, then `look`, then `pour`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = tempfile.NamedTemporaryFile(prefix="turntape-output-", suffix=".log")  # noqa: SIM115

    @property
    def output(self) -> int:
        """The file for the output of the command."""
        return self._file.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def viewer(self, child: Child, environ: Mapping[str, str]) -> Child:
        """Open the viewer in the terminal. Raises `SpawnError`."""
        command = [sys.executable, "-P", "-m", "turntape.proxy.cli", "view", str(self._path), "--follow"]
        return spawn([*command, "--while", str(child.pid), "--command-output", self._file.name], environ)

    def pour(self, child: Child) -> None:
        """Copy the output of the command to our stdout until the command has ended."""
        sys.stdout.flush()
        out = sys.stdout.buffer
        with Path(self._file.name).open("rb") as written:
            while True:
                over = child.ended
                shutil.copyfileobj(written, out)
                out.flush()
                if over:
                    return
                time.sleep(POLL)
