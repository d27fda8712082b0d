"""The proxy's end of the sidecar: starts it, and hands its label lines on to the file.

It may die or hang; the recording does not notice, and what is missing (labels, totals) is said once.
"""

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from ..limits.limits import Guard

PATIENCE = 20.0
"""Seconds without a word from the sidecar after which the end of a run no longer waits for it."""


class Companion:
    """The running sidecar of one cassette."""

    def __init__(
        self,
        path: Path,
        label: Callable[[int, bytes], object],
        *,
        console: bool,
        colour: bool,
        guard: Guard | None = None,
    ) -> None:
        self.problem: str | None = None
        """Why labels are missing, one sentence, or None."""
        self._label = label
        self._guard = guard
        self._last: dict[bytes, dict[str, object]] = {}
        self._ended = threading.Event()
        self._lines = 0
        arguments = [*(["--console"] if console else []), *(["--colour"] if colour else [])]
        arguments += ["--progress"] if guard else []
        # A session of its own: Ctrl-C and Ctrl-Z in the terminal are the command's, not the sidecar's.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.sidecar.labeller_process", str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if console else subprocess.DEVNULL,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="turntape-labels", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        import orjson

        stream = self._process.stdout
        assert stream
        try:
            for line in stream:
                self._lines += 1
                head, _, value = line.rstrip(b"\n").partition(b" ")
                if head.isdigit():
                    self._label(int(head), value)
                elif head == b"progress" and self._guard:
                    self._guard.report(orjson.loads(value))
                elif head in (b"summary", b"error"):
                    self._last[head] = cast(dict[str, object], orjson.loads(value))
        finally:
            if self._guard:
                self._guard.lost()
            self._ended.set()

    def kill(self) -> None:
        """End it at once; `close` then says that labels are missing."""
        self._process.kill()

    def close(self, count: int) -> dict[str, object] | None:
        """Let it read on until `count` round trips; its summary, or None with `problem` set."""
        assert self._process.stdin
        with suppress(BrokenPipeError):  # it has died; its exit code says more below
            self._process.stdin.write(b"%d\n" % count)
            self._process.stdin.close()
        lines = -1
        while not self._ended.wait(PATIENCE):
            if lines == self._lines:
                self.problem = (
                    f"labels are missing, since the process that makes them said nothing for {PATIENCE:.0f} s"
                )
                self._process.kill()
                break
            lines = self._lines
        self._reader.join(1)
        code = self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
        summary, error = self._last.get(b"summary"), self._last.get(b"error")
        if summary is None and self.problem is None:
            reason = error["message"] if error else f"exit code {code}"
            self.problem = f"labels are missing, since the process that makes them failed: {reason}"
        return summary
