"""The processes that a benchmark compares: its own file in several roles, and stock mitmdump.

A benchmark may be stopped at any time, also by SIGKILL. What it has started with `started` ends with it.
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from turntape.proxy.exit_codes import SIGNALLED

_PATIENCE = 30
"""Seconds until mitmdump must listen."""


_PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def started(command: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """`subprocess.Popen` of a text process that is killed when this one ends, on Linux. For the main thread."""
    prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def bind() -> None:
        if prctl is not None:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    signal.signal(signal.SIGTERM, _end)
    return subprocess.Popen(command, text=True, preexec_fn=bind, **options)


def _end(number: int, _frame: object) -> None:
    """Leave as after an error, so that processes are ended and folders removed."""
    sys.exit(SIGNALLED + number)


class Processes:
    """Started one by one, all ended together. `file` is the benchmark; a role of it prints its port."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.all: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one in self.all:
            one.terminate()
            one.wait()
            if one.stdout is not None:
                one.stdout.close()

    def _start(self, command: list[str]) -> subprocess.Popen[str]:
        self.all.append(started(command, stdout=subprocess.PIPE, env=self._environment))
        return self.all[-1]

    def start(self, *arguments: str) -> int:
        """The benchmark's file with these arguments; the port that it prints."""
        output = self._start([sys.executable, self._file, *arguments]).stdout
        assert output is not None
        return int(output.readline())

    def mitmdump(self, *arguments: str) -> int:
        """The port of stock mitmdump, when it listens."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        self._start([str(Path(sys.executable).parent / "mitmdump"), "-q", "-p", str(port), *arguments])
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
            except OSError:
                time.sleep(0.1)
            else:
                return port
        raise SystemExit("mitmdump did not start")
