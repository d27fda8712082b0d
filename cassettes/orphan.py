"""Ends a process of ours when the one that started it has ended: nobody takes its result, or would ever end it."""

import os
import sys
import threading
import time

from .processes import wait_on_windows

LOOK = 1.0
"""Seconds between two looks."""


def end_with(parent: int) -> None:
    """End this process at once, with exit code 1, when the process `parent`, which started it, has ended.

    It does not matter what this process does then.
    """
    threading.Thread(target=_watch, args=(parent,), name="turntape parent", daemon=True).start()


def _watch(parent: int) -> None:
    if sys.platform == "win32":
        wait_on_windows(parent)
    else:
        while os.getppid() == parent:
            time.sleep(LOOK)
    os._exit(1)
