"""The file that a session records, and how it becomes the cassette.

An interrupted recording is never mistaken for a complete one: the file has the name of an unfinished recording until
the run has ended. Two sessions that record the same cassette never mix: the second is refused.
"""

import errno
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ..errors import CassetteError, TurntapeError
from ..recording.recorder import Recorder
from ..redaction.redactor import Redactor
from ..redaction.scrub import rewrite
from ..tape.lock import being_written, hold
from ..tape.model import Request, RoundTrip
from ..tape.named_file import opened
from ..tape.reader import Cassette

type Labels = Callable[[Sequence[RoundTrip]], Iterable[tuple[int, dict[str, object]]]]
"""Reads round trips: `(number, label)` each, the contract of `show --json`."""

_SUFFIXES = (".cassette.jsonl.zst", ".cassette.jsonl", ".jsonl.zst", ".jsonl")

_OTHER = "{!r} is being recorded by another test or worker; give each test a separate cassette"


def unfinished(path: Path) -> Path:
    """The file of an unfinished recording of `path`: `a.unfinished.cassette.jsonl`."""
    suffix = next((suffix for suffix in _SUFFIXES if path.name.endswith(suffix)), "")
    return path.with_name(f"{path.name.removesuffix(suffix)}.unfinished{suffix}")


def is_unfinished(path: Path) -> bool:
    """True for the name of an unfinished recording."""
    return any(path.name.endswith(f".unfinished{suffix}") for suffix in _SUFFIXES)


class NewCassette:
    """What is recorded for the cassette `path`. Any thread may use it.

    - `append`: it begins with a copy of the cassette that exists.
    - `redactor`: makes what finds the secrets; it is called when the file is opened.
    - `labels`: reads what was recorded, so that a replay names turns as other views do.

    The file is opened when it is first needed. End it with `discard`, or with `close` and then `put_in_place`.
    """

    def __init__(self, path: Path, *, append: bool, redactor: Callable[[], Redactor], labels: Labels | None) -> None:
        self.path = path
        self.file = unfinished(path)
        """Where the recording is until it becomes the cassette."""
        self.problem: str | None = None
        """Why something could not be kept, in one sentence: the first reason."""
        self.holds_something = False
        """True when it got more than the request to open the file."""
        self._append, self._redactor, self._labels = append, redactor, labels
        self._recorder: Recorder | None = None
        self._written: os.stat_result | None = None
        """The file that was written, after `close`."""
        self._lock = threading.Lock()

    @property
    def is_left_over(self) -> bool:
        """True when an interrupted recording of this cassette exists that nobody writes."""
        return self.file.exists() and not being_written(self.file)

    def open(self) -> None:
        """Open the file if it is not open. An error is kept as `problem`."""
        self._use(lambda recorder: None)

    def give(self, use: Callable[[Recorder], object]) -> None:
        """Let `use` give something to the recorder. An error is kept as `problem`."""
        if self._use(use):
            self.holds_something = True

    def _use(self, use: Callable[[Recorder], object]) -> bool:
        with self._lock:
            try:
                if self._recorder is None:
                    self._recorder = self._opened()
                use(self._recorder)
            except TurntapeError as exc:
                self.problem = self.problem or str(exc)
            except OSError as exc:
                self.problem = self.problem or self._not_written(exc)
            else:
                return True
        return False

    def _opened(self) -> Recorder:
        if self.path.is_dir():
            raise CassetteError(
                f"the cassette {str(self.path)!r} is a folder; remove it or give the cassette another name"
            )
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(self.file.parent, os.W_OK):
            reason = errno.EROFS if _is_read_only(self.file.parent) else errno.EACCES
            raise OSError(reason, os.strerror(reason))
        if not _removed_leftover(self.file):
            raise CassetteError(_OTHER.format(str(self.path)))
        if self._append:
            shutil.copyfile(self.path, self.file)
            self.file.chmod(0o600)
        return Recorder(self.file, redactor=self._redactor(), append=self._append)

    def _not_written(self, exc: OSError) -> str:
        return f"cannot write the cassette {str(self.path)!r}: {exc.strerror or exc}; correct that and record again"

    def discard(self) -> None:
        """Keep nothing of this recording; a cassette that exists stays as it is."""
        if self._recorder is not None:
            self._recorder.close()
            self.file.unlink(missing_ok=True)

    def close(self) -> int:
        """Write what still waits; how many round trips were recorded. Raises CassetteError for what was lost."""
        if self._recorder is None:
            if self.problem:
                raise CassetteError(self.problem)
            return 0
        before = len(Cassette.load(self.path)) if self._append else 0
        self._written = self.file.stat() if self.file.exists() else None
        self._recorder.close()
        if problem := self.problem or self._recorder.problem:
            loss = self._recorder.loss
            raise CassetteError(f"{problem} ({loss})" if loss else problem)
        return self._recorder.count - before

    def rewrite(self, requests: Mapping[int, Request]) -> None:
        """Write the cassette that exists with other requests, in the place of a recording."""
        rewrite(self.path, self.file, requests)

    def put_in_place(self, more: Mapping[str, object]) -> None:
        """Add the labels, each with `more`, and let the file be the cassette from now on.

        Raises CassetteError when another one has put its file in this place, or the file cannot be renamed.
        """
        if self._written is not None:
            self._take_away(self._written)
        self._label(more)
        with suppress(FileNotFoundError):  # keep the permissions of the file
            self.file.chmod(self.path.stat().st_mode & 0o777)
        try:
            self.file.replace(self.path)
        except OSError as exc:
            raise CassetteError(f"{self._not_written(exc)}; what was recorded is in {str(self.file)!r}") from exc

    def _take_away(self, written: os.stat_result) -> None:
        """Give the file that was written a name of this process: labels take time, and somebody else who records the
        same cassette would take it for one that was left over. Windows renames no open file.
        """
        if os.name != "posix":
            return
        ours = unfinished(self.path.with_name(f"{os.getpid()}-{id(self)}-{self.path.name}"))
        try:
            with opened(self.file) as file:
                hold(file.fileno())
                if not os.path.samestat(os.fstat(file.fileno()), written):
                    raise FileExistsError
                self.file.rename(ours)
        except OSError as exc:
            raise CassetteError(_OTHER.format(str(self.path))) from exc
        self.file = ours

    def _label(self, more: Mapping[str, object]) -> None:
        if self._labels is None:
            return
        labels = list(self._labels(list(Cassette.load(self.file))))
        with Recorder(self.file, redactor=self._redactor(), append=True) as recorder:
            for index, label in labels:
                recorder.label(index, {**label, **more})


def _is_read_only(folder: Path) -> bool:
    """True for a folder of a file system that is mounted read-only: no permission would help."""
    if sys.platform == "win32":
        return False
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _removed_leftover(path: Path) -> bool:
    """Remove an unfinished recording that nobody writes; False when a recorder has it open right now."""
    try:
        with opened(path) as file:
            hold(file.fileno())
            # Only what is locked is removed: another one may have put its file in this place meanwhile.
            if os.name == "posix" and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                path.unlink()
        if os.name != "posix":  # Windows removes no open file
            path.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
