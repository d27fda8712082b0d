"""Where the time of a run went: a lane for each thread and each tool, and the times of each turn.

A turn waits for the first byte, then the answer arrives, then the client works on it until the next request of the
thread. The time of a tool is its run where that was recorded, else the client's time of the turns that called it alone.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Literal

from turntape.cassettes.frozen import frozen

from .row import Row
from .rows import Rows

type Phase = Literal["wait", "stream", "client", "tool"]

_PHASES: tuple[Phase, ...] = ("wait", "stream", "client", "tool")
PAUSE = 0.04
"""A time in which nothing ran is shortened when it is longer than this share of the time in which something ran."""


@frozen
class Span:
    """Something that ran, in seconds since the epoch."""

    phase: Phase
    start: float
    stop: float
    place: int
    """The place of the row of its turn."""
    failed: bool = False

    @property
    def seconds(self) -> float:
        return self.stop - self.start


@frozen
class RunLane:
    """A thread, or a tool."""

    name: str
    what: Literal["thread", "tool"]
    spans: tuple[Span, ...]
    recorded: bool = True
    """False for a tool whose times follow from the client's."""

    def seconds(self, *phases: Phase) -> float:
        """How long it was in one of these phases; in all without any. Spans that overlap count twice."""
        return sum(span.seconds for span in self.spans if not phases or span.phase in phases)


@frozen
class TurnTimes:
    """The times of a turn in seconds; None where they are not known."""

    place: int
    wait: float | None
    """From the request to the first byte of the answer."""
    stream: float | None
    """From there to the last byte; None when no first byte is known, and the wait is the whole time."""
    client: float | None
    """From there to the next request of the thread; None after an answer without calls, when nobody worked."""

    @property
    def phases(self) -> tuple[tuple[Phase, float | None], ...]:
        """The phases in their order."""
        return ("wait", self.wait), ("stream", self.stream), ("client", self.client)

    @property
    def seconds(self) -> float:
        return sum(seconds or 0 for _, seconds in self.phases)


class Axis:
    """The time of a run without its long pauses: `share(seconds since the epoch)` is from 0 to 1."""

    def __init__(self, spans: Iterable[Span]) -> None:
        busy = _merged(spans)
        self.begin, self.end = (busy[0][0], busy[-1][1]) if busy else (0.0, 0.0)
        whole = sum(stop - start for start, stop in busy)
        self._stops: list[tuple[float, float]] = []
        """Where a stretch of time begins, and how much of the axis is before it."""
        at, self.pauses = 0.0, list[tuple[float, float]]()
        """The pauses that are shortened: where their middle is on the axis in seconds, and how long they were."""
        for (start, stop), after in pairwise([*busy, (self.end, self.end)]):
            self._stops.append((start, at))
            at += stop - start
            self._stops.append((stop, at))
            pause = after[0] - stop
            if pause > PAUSE * whole:
                self.pauses.append((at + PAUSE * whole / 2, pause))
                pause = PAUSE * whole
            at += max(0.0, pause)
        self._stops.append((self.end, at))
        self.seconds = at
        """How long the axis is."""

    def share(self, moment: float) -> float:
        """Where a moment is, from 0 to 1."""
        if not self.seconds:
            return 0.0
        # The stretch that ends at this moment or after it.
        number = bisect_left(self._stops, moment, key=lambda stop: stop[0])
        if number == len(self._stops):
            return 1.0
        stop, after = self._stops[number]
        start, at = self._stops[number - 1] if number else (stop, after)
        inside = (moment - start) / (stop - start) if stop > start else 1.0
        return max(0.0, min(1.0, (at + (after - at) * inside) / self.seconds))


@frozen
class Slot:
    """One of the equal parts of an axis that a lane is drawn in."""

    shares: Mapping[Phase, float]
    """Which part of its time each phase takes, in the order of a turn; together more than 1 where spans overlap."""
    failed: bool
    """Whether something in it failed."""
    place: int
    """The place of the first turn in it."""


def folded(spans: Iterable[Span], axis: Axis, slots: int) -> list[Slot | None]:
    """The spans of a lane, for each of `slots` equal parts of the axis; None where nothing ran."""
    shares: list[dict[Phase, float]] = [{} for _ in range(slots)]
    failed, places = set[int](), dict[int, int]()
    for span in spans:
        first, last = slots * axis.share(span.start), slots * axis.share(span.stop)
        for at in range(min(slots - 1, int(first)), min(slots - 1, int(last)) + 1):
            part = min(last, at + 1) - max(first, at)
            if part <= 0 and at != int(first):
                continue
            held = shares[at]
            held[span.phase] = held.get(span.phase, 0.0) + max(part, 1e-9)
            places.setdefault(at, span.place)
            if span.failed:
                failed.add(at)
    return [Slot(_in_order(held), at in failed, places[at]) if held else None for at, held in enumerate(shares)]


def _in_order(held: dict[Phase, float]) -> dict[Phase, float]:
    return {phase: held[phase] for phase in _PHASES if phase in held}


@frozen
class RunTimeline:
    """The times of a run."""

    lanes: tuple[RunLane, ...]
    """Threads in the order in which they began, then tools, the longest first."""
    turns: tuple[TurnTimes, ...]
    axis: Axis

    def seconds(self, *phases: Phase) -> float:
        """The time of all threads in these phases."""
        return sum(lane.seconds(*phases) for lane in self.lanes if lane.what == "thread")


def run_timeline(rows: Rows) -> RunTimeline:
    """The times of all turns that were read so far."""
    turns: dict[int, TurnTimes] = {}
    threads: list[RunLane] = []
    for thread, places in rows.threads.items():
        spans: list[Span] = []
        for place in places:
            turns[place] = times_of(rows, place)
            spans += _spans(rows.all[place], turns[place])
        threads.append(RunLane(thread, "thread", tuple(spans)))
    tools = sorted(_tools(rows, turns), key=lambda lane: -lane.seconds())
    lanes = (*threads, *tools)
    axis = Axis(span for lane in lanes for span in lane.spans)
    return RunTimeline(lanes, tuple(turns[place] for place in sorted(turns)), axis)


def times_of(rows: Rows, place: int) -> TurnTimes:
    """The times of the turn at `place`."""
    row, after = rows.all[place], rows.after(place)
    whole = row.duration_ms / 1000 if row.duration_ms is not None else None
    wait = row.first_byte_ms / 1000 if row.first_byte_ms is not None else whole
    begun = row.first_byte_ms is not None
    stream = max(0.0, whole - wait) if begun and whole is not None and wait is not None else None
    client = None
    if after is not None and row.calls and whole is not None:
        client = rows.all[after].started_at - row.started_at - whole
    return TurnTimes(place, wait, stream, client if client is not None and client >= 0 else None)


def _spans(row: Row, times: TurnTimes) -> Iterator[Span]:
    at = row.started_at
    for phase, seconds in times.phases:
        if seconds:
            failed = phase != "client" and (row.error is not None or row.status is None or row.status >= 400)
            yield Span(phase, at, at + seconds, times.place, failed)
            at += seconds


def _tools(rows: Rows, turns: dict[int, TurnTimes]) -> Iterator[RunLane]:
    """A lane for each tool, by its recorded runs, else by the client's time of the turns that called nothing else.

    A tool has the name of its server too where another server has one of the same name."""
    recorded: dict[tuple[str, str], list[Span]] = {}
    followed: dict[str, list[Span]] = {}
    for place, row in enumerate(rows.all):
        for run in row.tool_runs:
            failed = bool(run.is_error) or run.outcome != "answered"
            stop = run.started_at + (run.duration_ms or 0) / 1000
            recorded.setdefault((run.name, run.server), []).append(Span("tool", run.started_at, stop, place, failed))
        times = turns.get(place)
        names = set(row.calls)
        if times is not None and times.client and len(names) == 1 and not row.tool_runs:
            start = row.started_at + (times.wait or 0) + (times.stream or 0)
            span = Span("tool", start, start + times.client, place, bool(row.failed_results))
            followed.setdefault(names.pop(), []).append(span)
    names = [name for name, _ in recorded]
    for (name, server), spans in recorded.items():
        yield RunLane(f"{name} on {server}" if names.count(name) > 1 else name, "tool", tuple(spans))
    for name, spans in followed.items():
        if name not in names:
            yield RunLane(name, "tool", tuple(spans), recorded=False)


def _merged(spans: Iterable[Span]) -> list[tuple[float, float]]:
    """The times in which something ran, in order."""
    busy: list[tuple[float, float]] = []
    for start, stop in sorted((span.start, span.stop) for span in spans):
        if busy and start <= busy[-1][1]:
            busy[-1] = (busy[-1][0], max(busy[-1][1], stop))
        else:
            busy.append((start, stop))
    return busy
