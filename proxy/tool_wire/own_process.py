"""A process that a wrapper starts and that outlives it."""

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
