"""The last turns of the threads, which wait for the next one: only some of them stay in memory with their bodies."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from turntape.cassettes.tape.model import RoundTrip

from ..analysis.turn import Turn

HELD = 8 << 20
"""About how many bytes of bodies are held for the threads that wait; the latest thread is always held."""


class WaitingTurns:
    """Puts aside what the turns of the threads were read from that have waited longest.

    `again` gives a round trip of the recording by its number, as it was.
    """

    def __init__(self, again: Callable[[int], RoundTrip], held: int = HELD) -> None:
        self._again = again
        self._most = held
        self._turns: OrderedDict[str, tuple[Turn, int]] = OrderedDict()
        """Those that are held, by thread, the latest last; with the size of their bodies."""
        self._held = 0

    def add(self, turn: Turn) -> None:
        """The last turn of its thread: it is complete, and the next one may never come."""
        self._replaced(turn)
        trip = turn.round_trip
        contents = (trip.request.content, trip.response.content if trip.response is not None else b"")
        size = sum(len(content) for content in contents if isinstance(content, bytes))
        self._turns[turn.thread] = turn, size
        self._held += size
        while self._held > self._most and len(self._turns) > 1:
            self.put_aside(next(iter(self._turns.values()))[0])

    def put_aside(self, turn: Turn) -> None:
        """Forget what a turn was read from; it is read again when it is used."""
        self._drop(turn.thread)
        turn.seen.put_aside(partial(self._again, turn.round_trip.index))

    def _replaced(self, turn: Turn) -> None:
        """A failed turn before this one is held until one succeeds."""
        before, size = self._turns.get(turn.thread, (None, 0))
        if before is not None and before.failed and size > self._most:
            self.put_aside(before)
        self._drop(turn.thread)

    def _drop(self, thread: str) -> None:
        self._held -= self._turns.pop(thread, (None, 0))[1]
