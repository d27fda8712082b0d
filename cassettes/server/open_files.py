"""When there are no more file descriptors, one sentence says so.

asyncio logs a traceback for each try to accept a connection: thousands in a second, which fill a pipe that nobody
reads. It tries again after a second, so connections that wait are served when others are closed.
"""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager

_SAID = "out of system resource"
"""In asyncio's message, since Python 3.4."""


class _Once(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._is_said = False

    def filter(self, record: logging.LogRecord) -> bool:
        """False for the messages that are replaced."""
        if _SAID not in record.getMessage():
            return True
        if not self._is_said:
            self._is_said = True
            sys.stderr.write(
                "turntape: too many open files; further connections wait until others are closed. `ulimit -n` sets how "
                "many there may be\n"
            )
        return False


@contextmanager
def full_reported_once() -> Generator[None]:
    """Replace asyncio's tracebacks about full file descriptors by one sentence."""
    once = _Once()
    logger = logging.getLogger("asyncio")
    logger.addFilter(once)
    try:
        yield
    finally:
        logger.removeFilter(once)
