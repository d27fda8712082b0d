"""Waiting for what a test cannot be notified of."""

import time
from collections.abc import Callable

PATIENCE = 600.0
"""Seconds; only a test that fails waits that long, on however slow a machine."""


def eventually(is_met: Callable[[], object]) -> None:
    """Return when the condition is met."""
    deadline = time.monotonic() + PATIENCE
    while not is_met():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
