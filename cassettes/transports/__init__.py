"""Recording and replay in process, for httpx and httpx2 alike.

The transports fit both libraries: which one is in use is seen from the request, so neither is imported before the
user has done it.
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
