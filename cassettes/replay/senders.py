"""Who sends the requests of a run: one thread or task at a time, or several at once.

Requests that are sent at once have no order: the scheduler decides which of them comes first. A replay answers without
a wait, so such requests need not overlap. Therefore the senders are noted, and which of them exist at once.
"""

import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet


class Senders:
    """The threads and the tasks of asyncio that have sent requests. A run of trio counts as one that sends several at
    once."""

    def __init__(self) -> None:
        self.at_once = False
        """True when two of them existed at the same time."""
        self.running: Callable[[], int] | None = None
        """How many other requests a server is answering. With it, threads and tasks are not looked at."""
        self._sent: WeakSet[Any] = WeakSet()
        self._beside: WeakSet[Any] = WeakSet()
        """Those that existed while another one sent a request."""
        self._last: set[Any] = set()
        self._lock = threading.Lock()

    def note(self) -> None:
        """Note a request of the thread and the task in which this is called."""
        if self.at_once:
            return
        if self.running is not None:
            self.at_once = self.running() > 0
            return
        thread, (task, tasks) = threading.current_thread(), _tasks()
        mine = {thread, task} if task is not None else {thread}
        others = {*threading.enumerate(), *tasks} - mine
        if not others and mine == self._last:
            return
        self._last = mine
        with self._lock:
            self.at_once = (
                any(one in self._sent for one in others) or any(one in self._beside for one in mine) or _is_trio()
            )
            self._sent.update(mine)
            self._beside.update(one for one in others if one not in self._sent)


def _tasks() -> tuple[Any, set[Any]]:
    """The task of asyncio that runs in this thread, and all tasks beside it; None and none outside of a loop."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or (loop := asyncio._get_running_loop()) is None:
        return None, set()
    return asyncio.current_task(loop), asyncio.all_tasks(loop)


def _is_trio() -> bool:
    """True in a run of trio, which does not list its tasks."""
    trio = sys.modules.get("trio")
    return trio is not None and trio.lowlevel.in_trio_run()
