"""Threads that still run when their test has ended: what they request comes into the cassette of another test."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from ..user_frames import is_users


class LateThreads:
    """Those of a whole run. `begins()` is called before the code of each test, and `ended(test)` after it.

    Only a thread that runs a function of the user counts: those of pools and event loops serve many tests.
    """

    def __init__(self) -> None:
        self._before: WeakSet[threading.Thread] = WeakSet()
        self._tests: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()

    def begins(self) -> None:
        self._before = WeakSet(threading.enumerate())

    def ended(self, test: str) -> None:
        for thread in threading.enumerate():
            if thread not in self._before and _runs_code_of_the_user(thread):
                self._tests.setdefault(thread, test)

    def here(self, test: str) -> str | None:
        """The thread that is running, if another test than this one started it; None for any other thread."""
        thread = threading.current_thread()
        of = self._tests.get(thread, test)
        return f"the thread {thread.name!r}, which {of} started and which still runs," if of != test else None


def _runs_code_of_the_user(thread: threading.Thread) -> bool:
    function: Callable[..., Any] = (
        getattr(thread, "_target", None) or getattr(thread, "function", None) or type(thread).run
    )
    while isinstance(function, partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code is not None and is_users(code.co_filename)
