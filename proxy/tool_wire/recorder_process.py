"""The recorder of one wrapper without a run: `python -m turntape.proxy.tool_wire.recorder_process [OUTPUT]`.

Its stdin is the link. It writes a cassette and ends when the link ends. What goes wrong goes back over the link, since
stderr belongs to the MCP server. OUTPUT is a cassette to write or to continue (it ends in `.jsonl` or `.jsonl.zst`), or
a folder for a new one, which is made when it is missing.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.redaction.redactor import Redactor

from ..capture.cassette_path import free_path
from .frames import SAY, encode
from .link_session import LinkSession

IGNORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
"""Signals that are for the server; this process ends with the link."""
_TRIES = 99
"""Files with a number that are tried while others are being written."""


def main(arguments: Sequence[str]) -> int:
    for name in IGNORED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    follow_all_levels()
    link = socket.socket(fileno=os.dup(0))
    said: set[str] = set()

    def say(sentence: str) -> None:
        if sentence not in said:
            said.add(sentence)
            try:
                link.sendall(encode(SAY, time.time(), sentence.encode()))
            except OSError:
                return  # the wrapper has ended; nobody is left to hear it

    try:
        recorder = opened(Path(arguments[0]) if arguments else Path())
    except (TurntapeError, OSError) as exc:
        say(f"{exc}; the tool calls of this server are not recorded")
        return 1
    recorder.on_problem(say)
    session = LinkSession(recorder, say)
    while data := _received(link):
        session.feed(data)
    session.close()
    recorder.close()
    for sentence in filter(None, (recorder.problem, recorder.loss)):
        say(sentence)
    return 0


def _received(link: socket.socket) -> bytes:
    try:
        return link.recv(1 << 18)
    except OSError:
        return b""


def opened(output: Path) -> Recorder:
    """The recorder for `output`. Raises TurntapeError or OSError when it cannot be written.

    A client may run several servers, or the same one twice, with one configuration: a file that is being written by
    another process gets a number.
    """
    redactor = Redactor.from_config()
    if output.is_dir() or not output.name.endswith((".jsonl", ".jsonl.zst")):
        output.mkdir(parents=True, exist_ok=True)
        return Recorder(free_path("mcp", output, time.time()), append=True, redactor=redactor)
    stem, dot, suffix = output.name.partition(".")
    for number in range(1, _TRIES + 1):
        path = output if number == 1 else output.with_name(f"{stem}-{number}{dot}{suffix}")
        try:
            return Recorder(path, append=True, redactor=redactor)
        except TurntapeError as exc:
            if "another recorder" not in str(exc) or number == _TRIES:
                raise
    raise AssertionError("unreachable")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
