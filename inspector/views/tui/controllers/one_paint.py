"""A move and its page are drawn at once: the screen waits a moment for the page.

To draw the cursor first and then the page would take twice the work, and hold up the thread that makes the page.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager

from .pace import Later, later

LONGEST = 0.03
"""How long nothing is drawn while a page is made, in seconds. After that, the move is drawn without it."""


class OnePaint:
    """`hold` before a page is requested, `release` when it is there. `batch` holds the drawing back."""

    def __init__(
        self, batch: Callable[[], AbstractContextManager[None]], drawn: Callable[[], None], later: Later = later
    ) -> None:
        self._batch, self._drawn, self._later = batch, drawn, later
        self._held: AbstractContextManager[None] | None = None
        self._end: asyncio.TimerHandle | None = None

    def hold(self) -> None:
        """Draw nothing, for a moment at most. While it is held already, the moment is not longer."""
        if self._held is None:
            self._held = self._batch()
            self._held.__enter__()
            self._end = self._later(LONGEST, self.release)

    def release(self) -> None:
        """Draw what has changed."""
        if self._held is None or self._end is None:
            return
        held, self._held = self._held, None
        self._end.cancel()
        held.__exit__(None, None, None)
        self._drawn()
