"""What of a recording is not in its file: how many round trips, and why."""

import errno
import logging
import os
import stat
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

log = logging.getLogger(__name__)

_MOST_SAID = 5
"""How many different problems are said when they happen; the first one is also said at the end."""


_ROOM = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "raise the limit on the size of files (`ulimit -f`)",
}
"""What to do when the disk refuses a line."""


def refused(path: Path, error: OSError) -> str:
    """The disk refuses a line, and what to do."""
    wanted = _ROOM.get(error.errno or 0, "check the disk")
    return f"cannot write to {str(path)!r}: {error.strerror}; what was recorded so far is kept, {wanted}"


def _log(sentence: str) -> None:
    log.error("turntape: %s", sentence)


class Loss:
    """Counts what is lost, and says each problem when it happens."""

    def __init__(self, path: Path) -> None:
        self.handed_in = 0
        """How many round trips there are to write."""
        self.problem: str | None = None
        """The first problem, in one sentence; None while there is none."""
        self.elsewhere = False
        """True when the file is no longer at its path: nothing of the recording is there."""
        self.say: Callable[[str], object] = _log
        """Called with each problem when it happens, by any thread."""
        self._path = path
        self._said: set[str] = set()
        self._ended = 0
        """How often it was said that the recording continues."""
        self._count = 0

    def complain(self, sentence: str) -> None:
        """Say a problem at once, and note it: whoever sees it in `problem` finds it said."""
        if sentence not in self._said and len(self._said) < _MOST_SAID:
            self._said.add(sentence)
            self._report(sentence)
        self.problem = self.problem or sentence

    def ended(self) -> None:
        """Say that the file takes round trips again. The next problem is said again."""
        if self._ended == _MOST_SAID:
            return
        self._ended += 1
        self._said.clear()
        missing = f"; {self._lost_of_all()} not in it" if self.count else ""
        self._report(f"the recording continues in {str(self._path)!r}{missing}")

    def _report(self, sentence: str) -> None:
        try:
            self.say(sentence)
        except Exception:  # the rest must be recorded
            log.exception("fault while a problem was reported")

    def add(self, count: int) -> None:
        """So many more round trips are lost."""
        self._count += count

    @property
    def count(self) -> int:
        """How many round trips are not in the file."""
        return self.handed_in if self.elsewhere else self._count

    @property
    def sentence(self) -> str | None:
        """How many round trips are not in the file; None when all are."""
        if not self.count:
            return None
        if self.handed_in == 1:
            return f"the only round trip is not in {str(self._path)!r}"
        return f"{self._lost_of_all()} not in {str(self._path)!r}"

    def _lost_of_all(self) -> str:
        return f"{self.count:,} of {self.handed_in:,} round trips {'is' if self.count == 1 else 'are'}"


class WrittenFile:
    """A file that is being written, and what other programs have done to it meanwhile."""

    def __init__(self, path: Path, number: int) -> None:
        self._place = path.absolute()
        """The path of the file, whatever the working folder becomes."""
        self._path = path
        self._number = number
        self._ends, self._numbers = array("Q"), array("Q")
        """Where the round trips end in the file, and their numbers."""
        self._not_counted = 0
        """How many of them, the first ones, are counted in an earlier file."""
        self._plain = stat.S_ISREG(os.fstat(number).st_mode)

    def holds(self, number: int, end: int, *, counts: bool = True) -> None:
        """A round trip was written and ends at `end`. Those that do not count come first."""
        self._ends.append(end)
        self._numbers.append(number)
        self._not_counted += not counts

    @property
    def following(self) -> int:
        """The number after the last round trip that was written; 0 when there is none."""
        return self._numbers[-1] + 1 if self._numbers else 0

    @property
    def own(self) -> int:
        """How many round trips in the file count."""
        return len(self._ends) - self._not_counted

    def size_if_cut(self, end: int) -> int | None:
        """The size of the file when it is shorter than `end`, where it should end; None when it is not."""
        size = os.fstat(self._number).st_size
        return size if self._plain and size < end else None

    def cut_at(self, size: int) -> int:
        """Forget the round trips beyond `size`; returns how many of them count."""
        lost = 0
        while self._ends and self._ends[-1] > size:
            self._ends.pop()
            self._numbers.pop()
            lost += len(self._ends) >= self._not_counted
        self._not_counted = min(self._not_counted, len(self._ends))
        return lost

    def problem_of_place(self) -> str | None:
        """A sentence when the file is no longer at its path; None while it is."""
        held = os.fstat(self._number)
        with suppress(OSError):
            if os.path.samestat(held, self._place.stat()):
                return None
        if held.st_nlink == 0 or not self._plain:
            return (
                f"{str(self._path)!r} was removed or replaced while it was being written; what was recorded is lost, "
                "and so is what follows in this file"
            )
        return f"{str(self._path)!r} was renamed while it was being written; the recording is in {self._now()}"

    @property
    def is_removed(self) -> bool:
        """True when no path leads to the file any more."""
        return os.fstat(self._number).st_nlink == 0

    def _now(self) -> str:
        """The new name of the file, where the system can say it."""
        with suppress(OSError):
            return repr(os.readlink(f"/proc/self/fd/{self._number}"))  # noqa: PTH115 - the name, not the file
        return "the renamed file"
