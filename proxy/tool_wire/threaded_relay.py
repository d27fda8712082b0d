"""One server under the wrapper where pipes cannot be polled (Windows): a thread for each stream.

A piece is copied to the link before it is passed on, so that an answer cannot be recorded before its request; the copy
only goes into a queue. There is no way to tie the server's life to ours: it sees the end of its stdin.
"""

import os
import shutil
import subprocess
import threading
from time import monotonic, sleep, time

from ..exit_codes import NOT_EXECUTABLE, NOT_FOUND
from .frames import CLIENT, SERVER, STDERR
from .link import Link, to_stderr
from .wrapped import Wrapped, finish

PIECE = 1 << 16
LINGER = 1.0
"""Seconds for the streams of an ended server that some other process still holds."""
PATIENCE = 1.0
"""Seconds for what the recorder has not taken at the end."""


def run(wrapped: Wrapped) -> int:
    """The exit code of the server, which has ended."""
    words = wrapped.words
    command = [shutil.which(words[0]) or words[0], *words[1:]]
    try:
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as exc:
        code = NOT_FOUND if isinstance(exc, FileNotFoundError) else NOT_EXECUTABLE
        to_stderr(f"the server {words[0]!r} cannot be started: {exc.strerror or exc}")
        finish(wrapped.connect(None), code, None, "server")
        return code
    assert server.stdin and server.stdout and server.stderr
    pump = _Pump(wrapped.connect(server.pid))
    pump.start(CLIENT, 0, server.stdin.fileno())
    outputs = [pump.start(SERVER, server.stdout.fileno(), 1), pump.start(STDERR, server.stderr.fileno(), 2)]
    code = _wait(server)
    for one in outputs:
        one.join(LINGER)
    pump.finish(code)
    # The thread that reads stdin cannot be ended; leaving without it is what the end of a process does.
    os._exit(code & 0xFF if os.name == "posix" else code)


def _wait(server: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return server.wait()
        except KeyboardInterrupt:
            continue  # the console has sent Ctrl-C to the server as well; it decides


class _Pump:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._first_end: str | None = None

    def start(self, kind: int, source: int, target: int) -> threading.Thread:
        thread = threading.Thread(target=self._run, args=(kind, source, target), daemon=True)
        thread.start()
        return thread

    def _run(self, kind: int, source: int, target: int) -> None:
        try:
            while data := os.read(source, PIECE):
                with self._lock:
                    self._link.put(kind, time(), data)
                while data:
                    data = data[os.write(target, data) :]
        except OSError:
            pass  # one of the two ends is gone, which ends the stream
        if kind != STDERR:
            self._first_end = self._first_end or ("client" if kind == CLIENT else "server")
        if target > 2:
            os.close(target)

    def finish(self, code: int) -> None:
        """Send what is left to the recorder."""
        with self._lock:
            finish(self._link, code, None, self._first_end)
            until = monotonic() + PATIENCE
            while self._link.waiting and monotonic() < until:
                self._link.flush()
                sleep(0.01)
            self._link.half_close()
