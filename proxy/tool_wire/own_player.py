"""The player of a wrapper that belongs to no run: one process for all servers that a client plays from one recording.

Some clients start a server again for each call, so what was played must be known to all of its processes. They share a
process by the recording and by the client that started them. It ends after the client.
"""

import os
import socket
import tempfile

from .own_process import start_of, start_own_process

_ANSWER_BYTES = 1 << 12
_LONGEST = 60
"""Characters of a temporary folder that leave room for the name of a socket."""


def player_of(recording: str) -> str:
    """The socket of the player, which is started if there is none. Raises OSError with a sentence."""
    if os.name != "posix":
        raise OSError(
            "`turntape mcp --replay` needs Linux or macOS; on this system start `turntape replay` for servers over HTTP"
        )
    import fcntl

    client = os.getppid()
    path = _socket_path(recording, client)
    with open(f"{path}.lock", "w") as lock:  # noqa: PTH123 - pathlib is slow
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _listens(path):
            _start(recording, path, client)
    return path


def private_folder(temporary: str) -> str:
    """A folder that only we can open, with room for the name of a socket. Raises OSError when others can open it."""
    folder = f"{temporary if len(temporary) < _LONGEST else '/tmp'}/turntape-{os.getuid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is slow
    found = os.stat(folder)  # noqa: PTH116
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} can be opened by others; remove it")
    return folder


def _socket_path(recording: str, client: int) -> str:
    import hashlib

    folder = private_folder(tempfile.gettempdir())
    try:
        changed = os.stat(recording).st_mtime_ns  # noqa: PTH116
    except OSError as exc:
        raise OSError(f"no recording at {recording}: {exc.strerror}") from exc
    key = f"{os.path.realpath(recording)} {changed} {client} {start_of(client)}"
    return f"{folder}/{hashlib.blake2b(key.encode(), digest_size=8).hexdigest()}"


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def _start(recording: str, path: str, client: int) -> None:
    """Start the process and wait until it listens. Raises OSError when it cannot."""
    reading, writing = os.pipe()
    files = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    )
    start_own_process(
        "turntape.proxy.tool_wire.player_process", (os.path.realpath(recording), path, str(client)), files
    )
    os.close(writing)
    said = b""
    while piece := os.read(reading, _ANSWER_BYTES):
        said += piece
    os.close(reading)
    if said:
        raise OSError(said.decode(errors="replace").strip())
