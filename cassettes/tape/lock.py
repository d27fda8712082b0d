"""The lock on a cassette: a recorder holds it for as long as it has the file open.

POSIX systems lock a whole file. Windows locks bytes, and a locked byte cannot be read. So the locked byte is far after
the end of any cassette. A platform that has neither has no lock: a second recorder on the same file is not noticed, and
no cassette counts as being written.
"""

import os
import sys

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 40
    """The place of the byte that is locked."""

    def hold(file: int, *, shared: bool = False, wait: bool = False) -> None:
        """Lock an open file until it is closed. Raises OSError when another one holds the lock, or still does
        after ten seconds with `wait`. `shared` locks do not exclude each other where the platform has them.
        """
        os.lseek(file, _FAR, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    try:
        import fcntl
    except ImportError:
        fcntl = None

    def hold(file: int, *, shared: bool = False, wait: bool = False) -> None:
        """Lock an open file until it is closed. Raises OSError when another one holds the lock, unless `wait` says
        to wait for it. `shared` locks do not exclude each other.
        """
        if fcntl is not None:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


def being_written(path: str | os.PathLike[str]) -> bool:
    """True while a recorder has the file open, and while it is missing or empty, since a recorder may be about to
    write it.

    An empty file is not locked to find out, so that a recorder that has just created it never finds it locked.
    """
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    try:
        if not os.fstat(file).st_size:
            return True
        hold(file, shared=True)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
