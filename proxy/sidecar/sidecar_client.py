"""The proxy's side of the labeller process: starts it and passes its labels on to the file.

The process may die or hang: the recording is not affected, and what is missing is reported once, at the end.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from ..limits.limit_checker import LimitChecker
from ..limits.progress import PATIENCE, ProgressReport
from .orders import Order, written

STEP = 1.0
"""Seconds between two looks at a process that is to end."""
LABELLER = (sys.executable, "-P", "-m", "turntape.proxy.sidecar.labeller_process")


class SidecarClient:
    """The running labeller process of one cassette. `label` gets each label: round trip number, JSON object."""

    def __init__(
        self,
        path: Path,
        label: Callable[[int, bytes], object],
        *,
        console: bool,
        colour: bool,
        checker: LimitChecker | None = None,
        command: Sequence[str] = LABELLER,
        patience: float = PATIENCE,
        options: Sequence[str] = (),
    ) -> None:
        self.problem: str | None = None
        """Why labels are missing, in one sentence, or None."""
        self.counts: Mapping[str, object] = {}
        """The sums of the labels so far, as the process last sent them."""
        self.on_carry: Callable[[bytes | None], object] = lambda line: None
        """Called with each line that the next segment carries, then with None."""
        self.on_segment: Callable[[], object] = lambda: None
        """Called when a file is labelled: labels from now on are of the next segment."""
        self._label = label
        self._checker = checker
        self._patience = patience
        self._last: dict[bytes, dict[str, object]] = {}
        self._ended = threading.Event()
        self._words = 0
        self.labelled = 0
        """Round trips of the file up to the last one with a label."""
        arguments = [f"--parent={os.getpid()}", *(["--console"] if console else []), *(["--colour"] if colour else [])]
        arguments += [*(["--progress"] if checker else []), *options]
        # In its own session: Ctrl-C and Ctrl-Z in the terminal are for the command.
        self._process = subprocess.Popen(
            [*command, str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if console else subprocess.DEVNULL,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="turntape-labels", daemon=True)
        self._reader.start()

    @property
    def runs(self) -> bool:
        """True while the process runs and is read."""
        return not self._ended.is_set()

    def follow(self, label: Callable[[int, bytes], object]) -> None:
        """From now on, `label` gets the labels: those of the next segment."""
        self._label = label

    def order(self, order: Order) -> bool:
        """Send an order to the process; False when it is gone."""
        assert self._process.stdin
        try:
            self._process.stdin.write(written(order))
            self._process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream
        try:
            for line in stream:
                self._words += 1
                head, _, value = line.rstrip(b"\n").partition(b" ")
                del line  # a label may be as long as an answer, and the next line may come late
                self._take(head, value)
                del value
        finally:
            if self._checker:
                self._checker.labels_ended("the labeller process has ended")
            self._ended.set()

    def _take(self, head: bytes, value: bytes) -> None:
        import orjson

        if head.isdigit():
            self.labelled = max(self.labelled, int(head) + 1)
            self._label(int(head), value)
        elif head == b"progress" and self._checker:
            self._checker.report(cast(ProgressReport, orjson.loads(value)))
        elif head == b"alive" and self._checker:
            self._checker.on_news()
        elif head == b"counts":
            self.counts = cast(dict[str, object], orjson.loads(value))
        elif head in (b"carry", b"carried"):
            self.on_carry(value if head == b"carry" else None)
        elif head == b"segment":
            self.labelled = 0
            self.on_segment()
        elif head in (b"summary", b"error"):
            self._last[head] = cast(dict[str, object], orjson.loads(value))

    def kill(self) -> None:
        """End the process at once; `close` then reports that labels are missing."""
        self._process.kill()

    def close(
        self, count: int, waiting: Callable[[int, int], object] = lambda done, count: None
    ) -> dict[str, object] | None:
        """Let the process label up to `count` round trips, and end it.

        While that takes long, `waiting` is called every second with how many are labelled, and `count`. Returns the
        summary, or None when it failed; then `problem` says why.
        """
        assert self._process.stdin
        self.order(Order("end", count))  # when it has died, its exit code is reported below
        with suppress(OSError):
            self._process.stdin.close()
        words, silent, step = self._words, 0.0, min(STEP, self._patience)
        while not self._ended.wait(step):
            silent = silent + step if words == self._words else 0.0
            words = self._words
            if silent >= self._patience:
                self.problem = f"labels are missing: the labeller process was silent for {self._patience:.0f} s"
                self._process.kill()
                break
            waiting(min(self.labelled, count), count)
        self._reader.join(1)
        code = self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        summary, error = self._last.get(b"summary"), self._last.get(b"error")
        if summary is None and self.problem is None:
            reason = error["message"] if error else f"exit code {code}"
            self.problem = f"labels are missing: the labeller process failed ({reason})"
        return summary
