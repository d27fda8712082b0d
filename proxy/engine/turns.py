"""Shares the event loop between connections: what a peer has sent ahead waits while others have something new.

A request takes about a millisecond. Three hundred clients that send fifty requests each without reading an answer
would keep every other client waiting for fifteen seconds if all that has come were handled at once. So once a turn of
the loop has taken long, only the beginning of what comes is handled in it. The rest waits for a later turn, in which no
more of it is handled than takes as long again. Those who have sent ahead, or many tiny pieces, are served in rounds,
after the others.
"""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from time import perf_counter

LONG = 0.002
"""Seconds after which a turn has taken long."""


class Turns:
    """The turns of one event loop. `clock`: seconds; one that is quick to read."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self._spent = 0.0
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._count = 0
        self._each = LONG / 4
        """About how long one of those that waited takes."""
        self._released = 0
        self._is_called = False

    @property
    def is_long(self) -> bool:
        """True when much was handled in this turn, or is waiting from earlier ones."""
        return self._spent > LONG or bool(self._waiting)

    def used(self, seconds: float) -> None:
        """So much was spent for a connection."""
        self._spent += seconds
        if self._spent > LONG:
            self._call()

    async def wait(self, part: int = 0) -> None:
        """Wait for a later turn. `part`: for a peer that has sent ahead, which part of it; 0 goes before all others."""
        turn = asyncio.get_running_loop().create_future()
        self._count += 1
        heappush(self._waiting, (part, self._count, turn))
        self._call()
        await turn

    def _call(self) -> None:
        if not self._is_called:
            self._is_called = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        """Another turn: let as many continue as took too long together in the last one."""
        self._is_called = False
        if self._released:
            self._each = max((self._each + self._spent / self._released) / 2, LONG / 100)
        self._spent, self._released = 0.0, 0
        while self._waiting and self._released * self._each < LONG:
            turn = heappop(self._waiting)[2]
            if not turn.done():  # its connection may have been closed meanwhile
                turn.set_result(None)
                self._released += 1
        if self._waiting or self._released:
            self._call()
