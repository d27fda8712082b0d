"""Closed files on their way to a store, one process at a time; what fails waits in the spool and is tried again."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import orjson

from turntape.cassettes.frozen import frozen

from ..sidecar.run_totals import as_list, as_mapping, as_number

PROCESS = (sys.executable, "-P", "-m", "turntape.proxy.gateway.ship_process")
AGAIN = 60.0
"""Seconds until the spool is tried again after a failure; twice as long each time, up to `LONGEST`."""
LONGEST = 900.0


@frozen
class ShipTo:
    """Where closed files are shipped."""

    address: str
    spool: Path | None = None
    """Where files wait that could not be shipped."""
    labels: tuple[str, ...] = ()
    """`NAME=VALUE` of the user."""
    content: bool = False
    rows_only: bool = False
    remove: bool = False
    """True to remove a file that the store or the spool has."""

    def arguments(self, files: Sequence[Path]) -> list[str]:
        """The arguments of the process."""
        flags = {"--content": self.content, "--rows-only": self.rows_only, "--remove": self.remove}
        return [
            f"--to={self.address}",
            *([f"--spool={self.spool}"] if self.spool else []),
            *(f"--label={label}" for label in self.labels),
            *(flag for flag, on in flags.items() if on),
            "--",
            *map(str, files),
        ]


@dataclass(slots=True)
class ShipCounts:
    """What happened to the files so far."""

    shipped: int = 0
    failed: int = 0
    """Attempts that failed; the file is tried again."""
    dropped: int = 0
    """Files that the spool had no room for."""
    waiting: int = 0
    """In the spool now, for this store."""
    files: int = 0
    """In the spool now, for all stores."""
    bytes: int = 0
    since: float | None = None
    """When the oldest file began to wait, by the clock of the shipper."""
    problem: str | None = None
    """Why the last attempt failed, in one sentence; None after a success."""
    left: list[str] = field(default_factory=list[str])
    """Files that neither the store nor the spool has."""


class Shipper:
    """`submit` closed files; `close` waits for the last attempt."""

    def __init__(
        self,
        to: ShipTo,
        *,
        command: Sequence[str] = PROCESS,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], object] = lambda sentence: None,
    ) -> None:
        self.counts = ShipCounts()
        self._to = to
        self._command = command
        self._clock = clock
        self._say = say
        self._files: list[Path] = []
        self._lock = threading.Condition()
        """Guards the files, `_closing` and the process."""
        self._closing = False
        self._process: subprocess.Popen[bytes] | None = None
        self._retry: float | None = None
        self._pause = AGAIN
        self._thread = threading.Thread(target=self._run, name="turntape shipper", daemon=True)
        self._thread.start()

    def submit(self, *files: Path) -> None:
        """Ship files that are complete."""
        with self._lock:
            self._files += files
            self._lock.notify_all()

    def metrics(self) -> dict[str, int]:
        """The numbers for the metrics."""
        counts = self.counts
        age = 0 if counts.since is None else int(self._clock() - counts.since)
        return {
            "shipped": counts.shipped,
            "failed": counts.failed,
            "dropped": counts.dropped,
            "files": counts.files,
            "bytes": counts.bytes,
            "age": age,
        }

    def close(self, seconds: float) -> ShipCounts:
        """Wait for what was submitted, at most so long; files that are left stay where they are."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self.hurry()
            self._thread.join(5)
            self.counts.problem = self.counts.problem or f"it took longer than {seconds:.0f} s"
        self.counts.left = sorted({*self.counts.left, *map(str, self._files)})
        return self.counts

    def hurry(self) -> None:
        """End the running attempt. Any thread may call this."""
        process = self._process
        if process is not None:
            with suppress(OSError):
                process.kill()

    def _run(self) -> None:
        while True:
            with self._lock:
                while not (self._files or self._closing or self._is_due()):
                    self._lock.wait(None if self._retry is None else max(0.0, self._retry - self._clock()))
                if self._closing and not self._files:
                    return
                files, self._files = self._files, []
            self._attempt(files)

    def _is_due(self) -> bool:
        return self._retry is not None and self._clock() >= self._retry

    def _attempt(self, files: list[Path]) -> None:
        # In its own session: the terminal's signals are for the command.
        with subprocess.Popen(
            [*self._command, *self._to.arguments(files)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as self._process:
            out, err = self._process.communicate()
        code, self._process = self._process.returncode, None
        try:
            done = as_mapping(cast(object, orjson.loads(out)))
        except orjson.JSONDecodeError:
            last = err.decode("utf-8", "replace").strip().rpartition("\n")[2][:300]
            reason = last or f"exit code {code}"
            done = {"failed": len(files), "unsettled": list(map(str, files)), "problem": f"shipping failed: {reason}"}
        self._note(done)

    def _note(self, done: object) -> None:
        counts, result = self.counts, as_mapping(done)
        counts.shipped += as_number(result.get("shipped"))
        counts.failed += as_number(result.get("failed"))
        counts.dropped += as_number(result.get("dropped"))
        counts.waiting = as_number(result.get("waiting"))
        counts.files, counts.bytes = as_number(result.get("files")), as_number(result.get("bytes"))
        counts.left = sorted({*counts.left, *map(str, as_list(result.get("unsettled")))})
        counts.since = (counts.since if counts.since is not None else self._clock()) if counts.waiting else None
        problem = result.get("problem")
        counts.problem = str(problem) if problem is not None else None
        if counts.problem:
            self._say(f"nothing was shipped: {counts.problem}" if not result.get("shipped") else counts.problem)
        waits = counts.waiting > 0
        self._pause = min(LONGEST, self._pause * 2) if waits and self._retry is not None else AGAIN
        self._retry = self._clock() + self._pause if waits else None
