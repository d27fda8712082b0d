"""Recording and replay in process, for httpx and httpx2 alike.

The transports work with both libraries. They see from the request which one is in use, so they import neither.
"""

from .cassette import AsyncCassetteTransport, CassetteTransport
from .recording import AsyncRecordingTransport, RecordingTransport
from .replay import AsyncReplayTransport, ReplayTransport

__all__ = [
    "AsyncCassetteTransport",
    "AsyncRecordingTransport",
    "AsyncReplayTransport",
    "CassetteTransport",
    "RecordingTransport",
    "ReplayTransport",
]
