"""The processes that a benchmark compares: its own file in several roles, and stock mitmdump."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_PATIENCE = 30
"""Seconds until mitmdump must listen."""


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
        self.all.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self._environment))
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
