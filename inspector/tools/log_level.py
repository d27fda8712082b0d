"""The level from which on a client wants the notes of its server, and the notes below it.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging, read 2026-11-25.
"""

from collections import deque
from dataclasses import field

from turntape.cassettes.frozen import mutable

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_MOST = 100


@mutable
class LogLevels:
    """The levels that the client of one session has set, oldest first."""

    _set: deque[tuple[float, float, str]] = field(default_factory=lambda: deque[tuple[float, float, str]](maxlen=_MOST))
    """When each was requested, when the server had agreed, and the level."""

    def agreed(self, level: str, asked: float, at: float) -> None:
        """The server has answered a request for this level."""
        if level in _LEVELS:
            self._set.append((asked, at, level))

    def above(self, level: object, at: float) -> str | None:
        """The level that holds at this time, when a note of the given one is below it; None where it is not certain."""
        if level not in _LEVELS or any(asked <= at < agreed for asked, agreed, _ in self._set):
            return None
        held = next((one for _, agreed, one in reversed(self._set) if agreed <= at), None)
        return held if held is not None and _LEVELS.index(held) > _LEVELS.index(level) else None
