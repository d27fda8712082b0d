"""A replay server in its own process, for `turntape run --replay`: the API, and the recorded tool servers."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.routes.admission import PREFIX, new_token

from ..exit_codes import FINDINGS

END_TIMEOUT = 5.0
"""Seconds that a replay server may take to end."""
START_TIMEOUT = 30.0
"""Seconds that a replay server may take to read its cassettes."""


@dataclass(slots=True)
class ReplayServer:
    """Where a replay server is, and after its end what it found."""

    url: str
    """The base URL of the API."""
    tools: str
    """The socket of the recorded tool servers."""
    missed: bool = False
    """True when a request or a call had no recorded answer."""


@contextmanager
def replay_server(files: Sequence[str], arguments: Sequence[str] = ()) -> Generator[ReplayServer]:
    """The server, while it runs. `arguments` are further options of `turntape replay`.

    At the end it writes to stderr what differed from the recording. Raises `TurntapeError` when it does not start.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with TemporaryFile() as errors, TemporaryDirectory(prefix="turntape-") as folder:
        tools = str(Path(folder) / "tools")
        # The clients of the run keep the Host of their API, which is good with the token alone.
        token, token_file = new_token(), Path(folder) / "token"
        token_file.touch(0o600)
        token_file.write_text(token)
        options = [
            "--token-file",
            str(token_file),
            "--quiet",
            "--misses-at-end",
            "--tool-link",
            tools,
            "--parent",
            str(os.getpid()),
            *arguments,
            "--port",
            str(port),
            "--",
        ]
        command = [sys.executable, "-P", "-m", "turntape.proxy.cli", "replay", *options]
        process = subprocess.Popen(
            [*command, *files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,  # Ctrl-C is for the command, which may still need an answer
        )
        try:
            if not _opened(process, port):
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
                reason = last.removeprefix("turntape: ") or "it did not open its port"
                raise TurntapeError(f"the replay server did not start: {reason}")
            server = ReplayServer(f"http://127.0.0.1:{port}{PREFIX}{token}", tools)
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        errors.seek(0)
        sys.stderr.write(errors.read().decode(errors="replace"))
        server.missed = process.returncode == FINDINGS


def _opened(process: subprocess.Popen[bytes], port: int) -> bool:
    until = time.monotonic() + START_TIMEOUT
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False
