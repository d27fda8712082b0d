"""A thread that works on what was requested last."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import override


class LatestRequest[R](threading.Thread, ABC):
    """Calls `work` with the request that came last. One that is followed by another before its turn is dropped.

    Subclasses define `work`; it runs on this thread.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._next: R | None = None
        self._changed = threading.Condition()
        self._stopped = False
        self.busy = False
        """True from a request until `work` has ended, or has called `_handed_over`."""

    @abstractmethod
    def work(self, request: R) -> None:
        """Do what was requested."""

    def stop(self) -> None:
        """End the thread after what it does now."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    @override
    def run(self) -> None:
        while (request := self._take()) is not None:
            self.work(request)

    def _put(self, request: R) -> None:
        with self._changed:
            self._next = request
            self.busy = True
            self._changed.notify()

    def _take(self) -> R | None:
        """The next request, once there is one; None when the thread is to end."""
        with self._changed:
            self.busy = self._next is not None
            self._changed.wait_for(lambda: self._next is not None or self._stopped)
            taken, self._next = self._next, None
            return None if self._stopped else taken

    def _wait(self, seconds: float, until: Callable[[R], bool] = lambda request: True) -> bool:
        """Wait, but not once a request has come for which `until` is true; False when the time passed without one."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._stopped or (self._next is not None and until(self._next)), seconds
            )

    def _handed_over(self) -> None:
        """What was requested is handed over, although `work` continues."""
        with self._changed:
            self.busy = self._next is not None
