"""`turntape replay F …`: serve recorded round trips as the API."""

import argparse
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from turntape.cassettes.errors import TurntapeError

PATIENCE = 30.0
"""Seconds that a replay server may take to read its cassettes."""


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.serving import run_replay

    return run_replay(
        [Path(name) for name in options.file],
        options.host,
        options.port,
        options.pace,
        profile=options.profile,
        faults=options.faults,
    )


@contextmanager
def replay_server(files: Sequence[str]) -> Generator[str]:
    """A replay server in a process of its own; its base URL. Raises `TurntapeError` when it does not start."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.cli", "replay", *files, "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # Ctrl-C is the command's, which may still want an answer
        )
        try:
            if not _opened(process, port):
                errors.seek(0)
                said = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                reason = said.removeprefix("turntape: ") or "it did not open its port"
                raise TurntapeError(f"the replay server did not start: {reason}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def _opened(process: subprocess.Popen[bytes], port: int) -> bool:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False
