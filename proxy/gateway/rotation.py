"""When a recording continues in a new file, and how.

The next file must begin with the last round trip of each open thread. Only the labeller process knows the threads, and
it may be behind. So it is asked first; what ends meanwhile is carried too, and no traffic waits for any of this.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.recording_id import recording_id

from ..sidecar.orders import Order
from ..sidecar.sidecar_client import SidecarClient
from .segments import Segments, next_path

log = logging.getLogger(__name__)

LOOK = 0.2
"""Seconds between two looks at the file."""
PATIENCE = 60.0
"""Seconds that the labeller process may need to say what is carried."""
STEP = 1.0
"""Seconds between two words on how far a rotation is that must end."""
AGAIN = 30.0
"""Seconds until a rotation that failed is tried again."""


@frozen
class RotateAt:
    """A file is closed when it has this size, or this age, whichever is first."""

    size: int | None = None
    """Bytes on the disk."""
    seconds: float | None = None


class Rotation:
    """A thread that looks at the current file until `stop`. `closed` gets the path of each file that is complete."""

    def __init__(
        self,
        at: RotateAt,
        segments: Segments,
        sidecar: SidecarClient,
        make: Callable[[Path], Recorder],
        revive: Callable[[Recorder], SidecarClient],
        closed: Callable[[Path], object],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.problem: str | None = None
        """Why the last rotation failed, in one sentence; None after a success."""
        self._at = at
        self._segments = segments
        self._sidecar: SidecarClient = sidecar
        self._make = make
        self._revive = revive
        self._closed = closed
        self._clock = clock
        self._first = segments.current.path
        self._recording: str | None = None
        self._begun = clock()
        self._begun_size = 0
        self._of = 0
        """How many round trips the file has that is being labelled to its end."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="turntape rotation", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self, waiting: Callable[[int, int], object] = lambda done, count: None) -> None:
        """Finish a rotation that has a new file, and begin no other.

        While that takes long, `waiting` is called every second with how many round trips of the old file are labelled,
        and how many there are.
        """
        self._stop.set()
        while self._thread.is_alive():
            self._thread.join(STEP)
            if self._thread.is_alive():
                waiting(self._sidecar.labelled, self._of)

    def _run(self) -> None:
        while not self._stop.wait(LOOK):
            if not self.due:
                continue
            try:
                self.rotate()
            except Exception as exc:  # the recording continues in the file that it has
                if not isinstance(exc, CassetteError):
                    log.exception("fault while a file was rotated")
                problem = f"the recording stays in {str(self._segments.current.path)!r}: {exc}"
                if problem != self.problem:
                    self._segments.say(problem)
                self.problem = problem
                self._segments.stay()
                self._stop.wait(AGAIN)

    @property
    def due(self) -> bool:
        """True when the file is full or old, and has something of its time in it, or when only another one helps."""
        current = self._segments.current
        if current.needs_another:
            return True
        # On a full disk, another file takes no more than this one.
        if current.is_refused or not self._segments.own:
            return False
        old = self._at.seconds is not None and self._clock() - self._begun >= self._at.seconds
        return old or (self._at.size is not None and self.size - self._begun_size >= self._at.size)

    @property
    def size(self) -> int:
        """Bytes of the current file on the disk."""
        try:
            return self._segments.current.path.stat().st_size
        except OSError:
            return 0

    def rotate(self) -> Path | None:
        """Continue in the next file. Returns the closed one, or None when `stop` came first.

        Raises CassetteError when there can be no other file.
        """
        segments, sidecar = self._segments, self._sidecar
        segments.announce()
        segments.flush()  # threads are looked for in the file
        carries = self._ask(segments.current.readable) if sidecar.runs else None
        if self._stop.is_set():
            segments.stay()
            return None
        new = self._next_recorder()
        if self._recording is None:
            self._recording = recording_id(segments.current.header)
        old, numbers = segments.switch(new, carries or [], self._recording)
        self._begun, self._begun_size = self._clock(), sum(map(len, carries or []))
        labelled = threading.Event()

        def follow() -> None:
            sidecar.follow(new.label_line)
            labelled.set()

        old.flush()
        sidecar.on_segment, self._of = follow, old.readable
        if sidecar.order(Order("next", self._of, str(new.path.absolute()))):
            while not labelled.wait(LOOK) and sidecar.runs:
                pass
        if not sidecar.runs:
            sidecar.close(self._of)  # it has died; its pipes are left
            self._sidecar = self._revive(new)
        # Without an answer it is not known which threads are open: none of them has ended then.
        old.continued(numbers if carries is not None else range(old.count), new.path.name)
        in_place = old.is_in_place
        old.close()
        segments.closed(old)
        self._begun_size = min(self._begun_size, self.size)  # what is carried does not count towards the size
        self.problem = None
        if in_place:
            self._closed(old.path)
        else:
            segments.say(f"the recording continues in {str(new.path)!r}")
        return old.path

    def _ask(self, count: int) -> list[bytes] | None:
        """What the labeller process says that the next file carries; None when it does not say so in time."""
        lines: list[bytes] = []
        whole = threading.Event()

        def take(line: bytes | None) -> None:
            if line is None:
                whole.set()
            else:
                lines.append(line)

        self._sidecar.on_carry = take
        due = self._clock() + PATIENCE
        if self._sidecar.order(Order("carry", count)):
            while not whole.wait(LOOK) and self._sidecar.runs and self._clock() < due and not self._stop.is_set():
                pass
        self._sidecar.on_carry = lambda line: None
        return list(lines) if whole.is_set() else None

    def _next_recorder(self) -> Recorder:
        number = self._segments.number + 1
        path = next_path(self._first, number)
        while os.path.lexists(path):  # also a link that leads nowhere
            number += 1
            path = next_path(self._first, number)
        return self._make(path)
