"""What the wrapper starts in place of a server that is played: it connects its streams to the player's socket.

`python -I -S player_pipe.py SOCKET NAME`. It runs alone, so that it starts fast: it imports nothing of turntape. What
comes from the socket are frames (`cassettes/server/tool_link.py`). It ends as the recorded server did.
"""

import json
import os
import select
import signal
import socket
import sys

PIECE = 1 << 18
HEAD = 5
"""Bytes before the data of a frame."""


def main(path: str, name: str) -> int:
    """Pass on everything until one side ends; the recorded exit code, or 1 when the player cannot be reached."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(path)
    except OSError as exc:
        sys.stderr.write(f"turntape: the player of recorded tool servers at {path} cannot be reached: {exc}\n")
        return 1
    link.sendall(json.dumps({"server": name, "cwd": os.getcwd()}).encode() + b"\n")  # noqa: PTH109 - pathlib is slow
    sources = [0, link.fileno()]
    frames = Frames()
    while True:
        for ready in select.select(sources, [], [])[0]:
            data = os.read(0, PIECE) if ready == 0 else _received(link)
            if ready == 0 and data:
                _send(link, data)
            elif ready == 0:
                # Answers that are on their way still arrive: the player ends its side after them.
                sources.remove(0)
                _shut(link)
            elif data:
                frames.feed(data)
            else:
                return _ended(frames.end)


class Frames:
    """What the player sends; `feed` writes it to stdout and stderr as it comes."""

    def __init__(self) -> None:
        self.end = b""
        """How the recorded server ended, as JSON."""
        self._head = b""
        self._left = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        while data:
            if not self._left:
                missing = HEAD - len(self._head)
                self._head, data = self._head + data[:missing], data[missing:]
                if len(self._head) == HEAD:
                    self._left = int.from_bytes(self._head[1:], "big")
                continue
            part, data = data[: self._left], data[self._left :]
            self._left -= len(part)
            kind = self._head[:1]
            if kind == b"x":
                self.end += part
            else:
                _write(2 if kind == b"e" else 1, part)
            if not self._left:
                self._head = b""


def _ended(how: bytes) -> int:
    """End as the recorded server did: by a signal here and now, or with the exit code that is returned."""
    end: dict[str, object] = json.loads(how) if how else {}
    name, code = end.get("signal"), end.get("exit")
    if isinstance(name, str) and name in signal.Signals.__members__:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = signal.Signals[name]
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return code if isinstance(code, int) else 0


def _send(link: socket.socket, data: bytes) -> None:
    try:
        link.sendall(data)
    except ConnectionError:
        return  # the recorded server ended here; how it did is still to be read


def _shut(link: socket.socket) -> None:
    try:
        link.shutdown(socket.SHUT_WR)
    except OSError:
        return  # as above


def _received(link: socket.socket) -> bytes:
    try:
        return link.recv(PIECE)
    except OSError:
        return b""


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
