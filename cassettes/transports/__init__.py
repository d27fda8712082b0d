"""Replay in process, for httpx and httpx2 alike.

`ReplayTransport` and `AsyncReplayTransport` fit both libraries: which one is in use is seen from the request, so
neither is imported before the user has done it.
"""

from .replay import AsyncReplayTransport, ReplayTransport

__all__ = ["AsyncReplayTransport", "ReplayTransport"]
