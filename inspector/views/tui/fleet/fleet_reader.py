"""Reads figures and recordings on one thread, and posts what it has. A request that was replaced is not answered."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from textual.message import Message

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.frozen import frozen

from ...fleet_figures import By, FindingCount, FleetSource, Group, Order, Overview, RunFigures, SomeRuns

type Post = Callable[[Message], object]


@frozen
class Wanted:
    """Which runs are wanted: those of a group, or with None all."""

    by: By
    name: str | None
    order: Order


class OverviewRead(Message):
    """The figures of all days were read."""

    def __init__(self, overview: Overview) -> None:
        super().__init__()
        self.overview = overview


class GroupsRead(Message):
    """The groups were read."""

    def __init__(self, by: By, groups: Sequence[Group | FindingCount]) -> None:
        super().__init__()
        self.by: By = by
        self.groups = groups


class RunsRead(Message):
    """The wanted runs were read."""

    def __init__(self, wanted: Wanted, runs: SomeRuns) -> None:
        super().__init__()
        self.wanted, self.runs = wanted, runs


class TapeFetched(Message):
    """The recording of a run is here."""

    def __init__(self, run: RunFigures, path: Path) -> None:
        super().__init__()
        self.run, self.path = run, path


class ReadingFailed(Message):
    """What was wanted could not be read."""

    def __init__(self, problem: str) -> None:
        super().__init__()
        self.problem = problem


class FleetReader:
    """Each method returns at once; the answer is a message. `stop` waits for what has begun."""

    def __init__(self, source: FleetSource, post: Post) -> None:
        self._source, self._post = source, post
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="turntape fleet")
        self._runs: Wanted | None = None
        """The newest request for runs."""
        self._waiting = 0

    @property
    def busy(self) -> bool:
        """True while something is wanted."""
        return self._waiting > 0

    def overview(self) -> None:
        """Read the store again."""
        self._do(lambda: OverviewRead(self._source.overview()))

    def groups(self, by: By) -> None:
        """Read the groups."""

        def read() -> Message:
            return GroupsRead(by, self._source.findings() if by == "finding" else self._source.groups(by))

        self._do(read)

    def runs(self, wanted: Wanted) -> None:
        """Read runs; an earlier request that waits is given up."""
        self._runs = wanted

        def read() -> Message | None:
            if wanted is not self._runs:
                return None
            by = None if wanted.name is None else wanted.by
            return RunsRead(wanted, self._source.runs(by, wanted.name or "", wanted.order))

        self._do(read)

    def tape(self, run: RunFigures) -> None:
        """Fetch the recording of a run."""
        self._do(lambda: TapeFetched(run, self._source.tape(run.address)))

    def stop(self) -> None:
        """Answer nothing more."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _do(self, read: Callable[[], Message | None]) -> None:
        self._waiting += 1

        def work() -> None:
            try:
                answer = read()
            except (TurntapeError, OSError) as exc:
                answer = ReadingFailed(str(exc))
            self._waiting -= 1
            if answer is not None:
                self._post(answer)

        self._thread.submit(work)
