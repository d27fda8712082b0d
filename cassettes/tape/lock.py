"""Whether a cassette is being written: a recorder holds a lock on its file for as long as it has it open."""

import fcntl
import os
from pathlib import Path


def being_written(path: str | os.PathLike[str]) -> bool:
    """True while a recorder has the file open, and while there is no file or nothing in it: one may be about to begin.

    An empty file is not probed, so that a recorder that has just created it never finds it locked.
    """
    path = Path(path)
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return not path.exists()
    try:
        if not os.fstat(file).st_size:
            return True
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
