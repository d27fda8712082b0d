"""What a recording does beyond one file on one machine: status pages, segments, shipping."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from turntape.cassettes.counted import several
from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen
from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.redaction.redactor import patient_redactor

from ..sidecar.sidecar_client import SidecarClient
from .recording_metrics import Counted, page
from .rotation import RotateAt, Rotation
from .segments import Segments
from .shipper import Shipper, ShipTo
from .status_pages import StatusPages


@frozen
class GatewaySettings:
    """What the command line says."""

    serves: bool = False
    """True to answer below `/-/`, and to name a run by its `traceparent`."""
    rotate: RotateAt | None = None
    ship: ShipTo | None = None
    grace: float = 30.0
    """Seconds that running streams may take to end, and then the last upload."""


class Gateway:
    """Beside one recording: `start` after it, `stop` before its last file is closed, `close` after that."""

    def __init__(
        self, settings: GatewaySettings, segments: Segments, running: Callable[[], tuple[int, int]] = lambda: (0, 0)
    ) -> None:
        self.settings = settings
        self.segments = segments
        self.pages = StatusPages(self._metrics)
        self.sums: Callable[[], Mapping[str, object]] = dict
        """Gives the sums of the labels so far."""
        self.running = running
        self._started = time.time()
        self._shipper = Shipper(settings.ship, say=_say if settings.serves else _be_silent) if settings.ship else None
        self._rotation: Rotation | None = None

    def start(self, sidecar: SidecarClient, revive: Callable[[Recorder], SidecarClient]) -> None:
        """Traffic may come. `revive` starts the labeller process again for a new file, when it has died."""
        if self.settings.rotate is not None:
            self._rotation = Rotation(
                self.settings.rotate, self.segments, sidecar, self._recorder, revive, self._closed
            )
            self._rotation.start()
        if self._shipper and self.settings.ship and self.settings.ship.remove:
            self._shipper.submit(*self._left_over())
        self.pages.ready = True

    def stop(self, waiting: Callable[[int, int], object] = lambda done, count: None) -> None:
        """Begin no new file. `waiting` is as for `Rotation.stop`."""
        self.pages.ready = False
        if self._rotation is not None:
            self._rotation.stop(waiting)

    def close(self, last: Path | None) -> list[str]:
        """Ship the last file, if any, and wait for what is on its way. Returns one sentence for each problem."""
        problems = [self._rotation.problem] if self._rotation and self._rotation.problem else []
        if self._shipper is None or self.settings.ship is None:
            return problems
        if last is not None:
            self._shipper.submit(last)
        counts = self._shipper.close(max(1.0, self.settings.grace))
        address = self.settings.ship.address
        if counts.waiting:
            verb = "waits" if counts.waiting == 1 else "wait"
            problems.append(
                f"{several(counts.waiting, 'file')} could not be shipped to {address} and {verb} in "
                f"{str(self.settings.ship.spool)!r} for the next attempt: {counts.problem or 'no answer'}"
            )
        if counts.left:
            problems.append(
                f"not shipped: {', '.join(counts.left)} ({counts.problem or 'no answer'}); "
                f"ship it with: turntape ship {counts.left[0]} --to {address}"
            )
        if counts.dropped:
            problems.append(f"the spool is full: {several(counts.dropped, 'older file')} removed from it")
        return problems

    def remarks(self) -> list[str]:
        """What the summary adds: further files, and what was shipped."""
        more = self.segments.number - 1
        last = self.segments.current.path
        found = [f"and in {several(more, 'more file')}, up to {last}"] if more and last.exists() else []
        if self._shipper is not None and self.settings.ship is not None and (count := self._shipper.counts.shipped):
            found.append(f"{several(count, 'file')} shipped to {self.settings.ship.address}")
        return found

    def hurry(self) -> None:
        """Do not wait for uploads. Any thread may call this."""
        if self._shipper:
            self._shipper.hurry()

    def _recorder(self, path: Path) -> Recorder:
        salt = self.segments.current.header.get("salt")
        redactor = patient_redactor()
        redactor = redactor.with_salt(salt) if isinstance(salt, str) else redactor
        problems: list[str] = []
        recorder = Recorder(path, redactor=redactor, say=problems.append)
        if problems:  # it has no room for a header, and so for nothing else
            recorder.close()
            path.unlink(missing_ok=True)
            raise CassetteError(problems[0])
        return recorder

    def _closed(self, path: Path) -> None:
        if self._shipper:
            self._shipper.submit(path)

    def _left_over(self) -> list[Path]:
        """The files that an earlier recorder left beside ours; one that is being written is not shipped."""
        current = self.segments.current.path
        found = [*current.parent.glob("*.cassette.jsonl"), *current.parent.glob("*.cassette.jsonl.zst")]
        return sorted(path for path in found if path.name != current.name)

    def _metrics(self) -> bytes:
        segments, running = self.segments, self.running()
        size = 0
        with suppress(OSError):
            size = segments.current.path.stat().st_size
        counted = Counted(
            ready=self.pages.ready,
            started_at=self._started,
            recorded=segments.count,
            lost=segments.lost,
            running=running[0],
            streams=running[1],
            waiting_bytes=segments.waiting,
            segments=segments.number,
            segment_bytes=size,
            shipped=self._shipper.metrics() if self._shipper else None,
        )
        return page(counted, self.sums())


def _be_silent(sentence: str) -> None:
    """A command's problem is said once, at its end."""


def _say(sentence: str) -> None:
    with suppress(OSError, ValueError):
        sys.stderr.write(f"turntape: {sentence}\n")
