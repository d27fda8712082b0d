"""The last turns of the threads, which wait for the next one: only some of them stay in memory with their bodies."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial

from turntape.cassettes.tape.model import RoundTrip

from ..analysis.turn import Turn

HELD = 8 << 20
"""About how many bytes of bodies are held for the threads that wait; the latest thread is always held."""
PATIENCE = 256
"""For how many turns of other threads a thread is held: one that waits longer has probably ended."""


class WaitingTurns:
    """Puts aside what the turns of the threads were read from that have waited longest.

    `again` gives a round trip of the recording by its number, as it was.
    """

    def __init__(self, again: Callable[[int], RoundTrip], held: int = HELD, patience: int = PATIENCE) -> None:
        self._again = again
        self._most = held
        self._patience = patience
        self._turns: OrderedDict[str, tuple[Turn, int, int]] = OrderedDict()
        """Those that are held, by thread, the latest last; with the size of their bodies, and the `_count` then."""
        self._held = 0
        self._count = 0
        """Turns so far."""

    def add(self, turn: Turn) -> None:
        """The last turn of its thread: it is complete, and the next one may never come."""
        self._replaced(turn)
        trip = turn.round_trip
        contents = (trip.request.content, trip.response.content if trip.response is not None else b"")
        size = sum(len(content) for content in contents if isinstance(content, bytes))
        self._count += 1
        self._turns[turn.thread] = turn, size, self._count
        self._held += size
        while len(self._turns) > 1:
            oldest, _, since = next(iter(self._turns.values()))
            if self._held <= self._most and self._count - since <= self._patience:
                break
            self.put_aside(oldest)

    def put_aside(self, turn: Turn) -> None:
        """Forget what a turn was read from; it is read again when it is used."""
        self._drop(turn.thread)
        turn.seen.put_aside(partial(self._again, turn.round_trip.index))

    def close(self, turn: Turn) -> None:
        """Nothing follows this turn: it need not stay in memory while the last turns of other threads are read."""
        if turn.seen.is_aside or turn.thread in self._turns:
            self.put_aside(turn)

    def _replaced(self, turn: Turn) -> None:
        """A failed turn before this one is held until one succeeds."""
        before, size, _ = self._turns.get(turn.thread, (None, 0, 0))
        if before is not None and before.failed and size > self._most:
            self.put_aside(before)
        self._drop(turn.thread)

    def _drop(self, thread: str) -> None:
        self._held -= self._turns.pop(thread, (None, 0, 0))[1]
