"""Opens the file of a recording, for one recorder alone."""

import os
import stat
from pathlib import Path

from ..errors import CassetteError
from ..tape.lock import hold

_RAW = getattr(os, "O_BINARY", 0)
"""Windows writes the bytes as they are."""


def open_exclusively(path: Path, append: bool) -> int:
    """The descriptor of the file at `path`, which is made unless `append` finds one. Raises CassetteError."""
    if append and path.exists() and stat.S_ISFIFO(path.stat().st_mode):
        raise CassetteError(f"{str(path)!r} is a pipe, to which nothing can be appended; name a file")
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _RAW | (0 if append else os.O_EXCL)
    try:
        file = os.open(path, flags, 0o600)
    except FileExistsError as exc:
        what = (
            "is a folder; name a file in it"
            if path.is_dir()
            else "exists already; choose another file or remove it first"
        )
        raise CassetteError(f"{str(path)!r} {what}") from exc
    except OSError as exc:
        raise CassetteError(
            f"cannot write the cassette {str(path)!r}: {exc.strerror}; choose another place with -o"
        ) from exc
    try:
        hold(file)
    except OSError as exc:
        os.close(file)
        raise CassetteError(f"{str(path)!r} is being written by another recorder; give each its own file") from exc
    return file
