"""One file of a recording, while the labeller process follows it."""

import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from turntape.cassettes.tape.carried import Carried, carried
from turntape.cassettes.tape.format import round_trip_line, tool_exchange_line
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.reader import Tail
from turntape.cassettes.tape.recording_id import recording_id
from turntape.cassettes.tape.trip_lines import LONG
from turntape.inspector.run.labels import Labeller

from .carried_tools import CarriedTools

if TYPE_CHECKING:
    from turntape.inspector.analysis.turn import Turn
    from turntape.inspector.run.labelled import LabelledRoundTrip

LAST_LOOKS = 20
"""After the end of a file was announced: how many reads without anything new until missing round trips are given up."""
OPEN_FOR = 3600.0
"""Seconds after its last turn for which a thread is open, unless its calls still wait for results."""
CARRIED_THREADS = 500
CARRIED_BYTES = 32 << 20
"""The most that a segment carries; the latest threads come first."""


class Segment:
    """The file, its labeller, and how far it was read."""

    def __init__(self, file: str, first: str | None = None) -> None:
        self._tail = Tail(file, keep_labels=False, longest=LONG)
        self.labeller = Labeller(again=self._tail.round_trip)
        self.read = 0
        """How many round trips were read."""
        self.expected: int | None = None
        """How many the file has; None while it grows."""
        self.following: str | None = None
        """The segment after this one."""
        self.carry_at: int | None = None
        """How many must have been read before it is known what the next segment carries; None when nobody asked."""
        self._tools = CarriedTools()
        self._first = first
        self._idle = 0
        self._carries: frozenset[int] = frozenset()
        self.carry_sent = False
        self.open_threads: frozenset[str] = frozenset()
        """After `finish`: the threads that the next segment continues."""

    @property
    def recording(self) -> str | None:
        """The id of the first segment's recording; None while the file has no header."""
        if self._first is None and self._tail.header is not None:
            self._first = recording_id(self._tail.header)
        return self._first

    @property
    def over(self) -> bool:
        """True when there is nothing more to read."""
        return self.expected is not None and (self.read >= self.expected or self._idle >= LAST_LOOKS)

    def poll(self) -> Iterator[RoundTrip]:
        """The round trips that were added to the file, one at a time, so that only a few of them are in memory."""
        found = False
        for trip in self._tail.news():
            found = True
            mark = carried(trip)
            if mark is not None and mark.recording and not self.read:
                self._first = mark.recording
            self.read = trip.index + 1
            self._tools.add(trip)
            yield trip
        if self.expected is not None:
            self._idle = 0 if found else self._idle + 1
        return found

    def carry(self) -> Iterator[bytes]:
        """The last round trip of each open thread, and what is open with tool servers, in the order of the file.

        They are lines of a cassette without deltas.
        """
        self.carry_sent = True
        now, size = time.time(), 0
        chosen: dict[int, Carried] = {}
        for turn in self.labeller.open_turns()[:CARRIED_THREADS]:
            trip = turn.round_trip
            size += len(trip.request.body) + (len(trip.response.body) if trip.response else 0)
            # The last turn is always carried, so that the next segment continues the numbers of the threads.
            if chosen and (size > CARRIED_BYTES or not _is_open(turn, now)):
                continue
            chosen[trip.index] = Carried(
                self.recording, turn.thread, turn.number, turn.attempt, threads=self.labeller.threads
            )
        waiting = [turn.round_trip.started_at for turn in self.labeller.open_turns() if turn.call_ids]
        for number in self._tools.needed(min(waiting, default=None)):
            trip = self._tail.round_trip(number)
            size += len(trip.request.body) + (len(trip.response.body) if trip.response else 0)
            if size <= CARRIED_BYTES:
                chosen[number] = Carried(self.recording, threads=self.labeller.threads)
        self._carries = frozenset(chosen)
        for number in sorted(chosen):
            trip = chosen[number].mark(self._tail.round_trip(number))
            yield _line(number, trip).rstrip(b"\n")

    def finish(self) -> Iterator[tuple[int, "LabelledRoundTrip"]]:
        """The labels that the end of the file changes. The threads that the next segment continues do not end."""
        if self.following is not None:
            turns = self.labeller.open_turns()
            # What ended after the carried ones were sent is carried as well.
            later = {turn.round_trip.index for turn in turns if turn.round_trip.index >= (self.carry_at or 0)}
            carries = self._carries | later
            self.open_threads = frozenset(turn.thread for turn in turns if turn.round_trip.index in carries)
            self.labeller.continues(carries)
        deque(self._tail.news(), maxlen=0)  # what is behind the last round trip
        self.labeller.command_ended(self._tail.command_end)
        yield from self.labeller.finish()


def _line(number: int, trip: RoundTrip) -> bytes:
    if trip.tool_wire is None:
        return round_trip_line(number, trip, trip.request.body, None)
    return tool_exchange_line(number, trip, trip.tool_wire, trip.response.body if trip.response else b"", None)


def _is_open(turn: "Turn", now: float) -> bool:
    """Whether a next turn is likely: its calls wait for results, or it is not long ago."""
    return bool(turn.call_ids) or now - turn.round_trip.started_at < OPEN_FOR
