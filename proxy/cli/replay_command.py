"""`turntape replay F …`: serve recorded round trips as the API."""

import argparse
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

from turntape.cassettes.errors import TurntapeError

from ..launch.child_process import unblock

PATIENCE_AT_END = 5.0
"""Seconds that a replay server may take to end."""
PATIENCE = 30.0
"""Seconds that a replay server may take to read its cassettes."""


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.matching.settings import matching_of
    from turntape.cassettes.server.folder_server import run_replay

    return run_replay(
        [Path(name) for name in options.file],
        options.host,
        options.port,
        options.pace,
        matching=matching_of(options.profile, dict(options.rule), options.ignore, options.ignore_text),
        faults=options.faults,
        quiet=options.quiet,
    )


def how_given(options: argparse.Namespace) -> list[str]:
    """What the command line says of how to replay, as arguments for `turntape replay`."""
    said: list[str] = []
    for name in ("pace", "profile", "faults"):
        if (value := getattr(options, name)) is not None:
            said.append(f"--{name}={value}")
    said += [f"--rule={name}={rule}" for name, rule in options.rule]
    said += [f"--ignore={pointer}" for pointer in options.ignore]
    said += [f"--ignore-text={pattern}" for pattern in options.ignore_text]
    return said


@contextmanager
def replay_server(files: Sequence[str], how: Sequence[str] = ()) -> Generator[str]:
    """A replay server in a process of its own; its base URL. What was not as recorded is said at the end, on stderr.

    Raises `TurntapeError` when it does not start.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.cli", "replay", "--quiet", *how, "--port", str(port), "--", *files],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=unblock,  # our signals are held back by now, and it is ended by one
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
            process.send_signal(signal.SIGINT)
            try:
                process.wait(PATIENCE_AT_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        errors.seek(0)
        sys.stderr.write(errors.read().decode(errors="replace"))


def _opened(process: subprocess.Popen[bytes], port: int) -> bool:
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.02)
    return False
