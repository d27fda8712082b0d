"""What the wrapper starts in place of a server that is played: it connects stdin and stdout to the player's socket.

`python -I -S player_pipe.py SOCKET NAME`. It runs alone, so that it starts fast: it imports nothing of turntape.
"""

import json
import os
import select
import socket
import sys

PIECE = 1 << 18


def main(path: str, name: str) -> int:
    """Pass on everything until one side ends; 1 when the player cannot be reached."""
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(path)
    except OSError as exc:
        sys.stderr.write(f"turntape: the player of recorded tool servers at {path} cannot be reached: {exc}\n")
        return 1
    link.sendall(json.dumps({"server": name, "cwd": os.getcwd()}).encode() + b"\n")  # noqa: PTH109 - pathlib is slow
    sources = [0, link.fileno()]
    while True:
        for ready in select.select(sources, [], [])[0]:
            data = os.read(0, PIECE) if ready == 0 else _received(link)
            if ready == 0 and data:
                link.sendall(data)
            elif ready == 0:
                # Answers that are on their way still arrive: the player ends its side after them.
                sources.remove(0)
                link.shutdown(socket.SHUT_WR)
            elif data:
                _write(data)
            else:
                return 0


def _received(link: socket.socket) -> bytes:
    try:
        return link.recv(PIECE)
    except OSError:
        return b""


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
