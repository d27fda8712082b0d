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

PATIENCE = 20.0
"""Seconds without a word from the sidecar after which the end of a run no longer waits for it."""


class Companion:
    """The running sidecar of one cassette."""

    def __init__(self, path: Path, label: Callable[[int, bytes], object], *, console: bool, colour: bool) -> None:
        self.problem: str | None = None
        """Why labels are missing, one sentence, or None."""
        self._label = label
        self._summary: dict[str, object] | None = None
        self._ended = threading.Event()
        self._lines = 0
        arguments = [*(["--console"] if console else []), *(["--colour"] if colour else [])]
        # A session of its own: Ctrl-C and Ctrl-Z in the terminal are the command's, not the sidecar's.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.sidecar", str(path), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if console else subprocess.PIPE,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, name="turntape-labels", daemon=True)
        self._errors = b""
        self._reader.start()
        if self._process.stderr:
            self._drain = threading.Thread(target=self._read_errors, daemon=True)
            self._drain.start()

    def _read(self) -> None:
        stream = self._process.stdout
        assert stream
        try:
            for line in stream:
                self._lines += 1
                head, _, value = line.rstrip(b"\n").partition(b" ")
                if head == b"summary":
                    import orjson

                    self._summary = cast(dict[str, object], orjson.loads(value))
                elif head.isdigit():
                    self._label(int(head), value)
        finally:
            self._ended.set()

    def _read_errors(self) -> None:
        assert self._process.stderr
        for line in self._process.stderr:
            self._errors = (self._errors + line)[-4000:]

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
                self.problem = f"the process that labels said nothing for {PATIENCE:.0f} s"
                self._process.kill()
                break
            lines = self._lines
        self._reader.join(1)
        code = self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()
        if self._summary is None and self.problem is None:
            last = self._errors.decode(errors="replace").strip().rpartition("\n")[2]
            self.problem = f"the process that labels ended with {code}" + (f": {last}" if last else "")
        return self._summary
