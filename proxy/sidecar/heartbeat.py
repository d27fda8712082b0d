"""Signs of life of the labeller process, so that a slow process is not taken for a stuck one.

On a busy machine a label may take minutes. So the process sends a sign of life every second, as long as it makes
progress. Progress is measured in its own processor time, which does not depend on how busy the machine is.
"""

import threading
import time
from collections.abc import Callable

INTERVAL = 1.0
"""Seconds between two signs of life."""
STUCK = 30.0
"""Seconds of processor time without progress after which the signs of life stop."""


class Heartbeat:
    """Calls `beat` at intervals, on a thread, until the work takes more than `STUCK` seconds of processor time."""

    def __init__(
        self,
        beat: Callable[[], object],
        *,
        cpu: Callable[[], float] = time.process_time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._beat = beat
        self._cpu = cpu
        self._sleep = sleep
        self._since = cpu()

    def start(self) -> None:
        """Beat until the process ends."""
        threading.Thread(target=self.run, name="turntape heartbeat", daemon=True).start()

    def progress(self) -> None:
        """Note that a piece of work is done."""
        self._since = self._cpu()

    def run(self) -> None:
        """Beat until nobody reads the beats any more."""
        try:
            while True:
                self._sleep(INTERVAL)
                if self._cpu() - self._since < STUCK:
                    self._beat()
        except (OSError, ValueError):
            return  # the proxy is gone, or the output is closed
