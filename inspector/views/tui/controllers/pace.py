"""The threads behind the screen rest while the user moves, so that no move waits for the interpreter."""

import asyncio
from collections.abc import Callable
from threading import Event

QUIET = 0.25
"""Seconds after the last move until the threads continue."""
MOST = 0.5
"""The longest rest, in seconds: while a key is held down, they do a little from time to time."""

type Later = Callable[[float, Callable[[], None]], asyncio.TimerHandle]


def later(seconds: float, call: Callable[[], None]) -> asyncio.TimerHandle:
    """Call a function on this thread, which has an event loop, after a number of seconds."""
    return asyncio.get_running_loop().call_later(seconds, call)


class Pace:
    """`moving` at each move, on the thread of the screen; `rest` between two pieces of work, on any other one."""

    def __init__(self, later: Later = later) -> None:
        self._later = later
        self._quiet = Event()
        self._quiet.set()
        self._end: asyncio.TimerHandle | None = None

    def moving(self) -> None:
        """The user moves."""
        self._quiet.clear()
        if self._end is not None:
            self._end.cancel()
        self._end = self._later(QUIET, self._quiet.set)

    def rest(self) -> None:
        """Wait while the user moves."""
        self._quiet.wait(MOST)

    def stop(self) -> None:
        """No thread is to wait any more."""
        self._quiet.set()
