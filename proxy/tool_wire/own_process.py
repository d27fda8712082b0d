"""A process that a wrapper starts and that outlives it, and who the client is for whom it stays."""

import os
import sys
from collections.abc import Iterable, Sequence

type FileAction = tuple[int, *tuple[int | str, ...]]


def start_own_process(module: str, arguments: Iterable[str], files: Sequence[FileAction]) -> None:
    """Run a module of turntape in its own session, with no signal blocked. Raises OSError.

    A client that ends the wrapper's process group does not end it. `files` are the file actions of `os.posix_spawn`.
    """
    command = [sys.executable, "-P", "-m", module, *arguments]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=files, setsid=True, setsigmask=())
    except NotImplementedError:  # what Python raises where the C library has no such flag
        os.posix_spawn(command[0], command, os.environ, file_actions=files, setsigmask=())


def start_of(process: int) -> str:
    """When a process was started, so that a later one with its number is another.

    Empty for one that has ended, also while nobody has asked for its exit code, and where that is not known.
    """
    try:
        with open(f"/proc/{process}/stat") as file:  # noqa: PTH123 - pathlib is slow
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
