"""Recording of LLM traffic, byte for byte, and its replay.

This package does not know any protocol. Its names are imported when they are first used, so importing it is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import CassetteError, FormatError, ReplayMiss, TurntapeError
    from .faults.fault import Fault
    from .matching.grades import Match, Matching
    from .recording.recorder import Recorder
    from .redaction.redactor import Redactor
    from .replay.player import Player
    from .replay.report import Report
    from .replay.session import Deck, Session
    from .tape.model import Chunk, Failure, Frame, Request, Response, RoundTrip
    from .tape.reader import Cassette, Tail
    from .transports import (
        AsyncCassetteTransport,
        AsyncRecordingTransport,
        AsyncReplayTransport,
        CassetteTransport,
        RecordingTransport,
        ReplayTransport,
    )
    from .transports.mcp import recorded_tools
    from .transports.mcp_played import played_tools

__all__ = [
    "AsyncCassetteTransport",
    "AsyncRecordingTransport",
    "AsyncReplayTransport",
    "Cassette",
    "CassetteError",
    "CassetteTransport",
    "Chunk",
    "Deck",
    "Failure",
    "Fault",
    "FormatError",
    "Frame",
    "Match",
    "Matching",
    "Player",
    "Recorder",
    "RecordingTransport",
    "Redactor",
    "ReplayMiss",
    "ReplayTransport",
    "Report",
    "Request",
    "Response",
    "RoundTrip",
    "Session",
    "Tail",
    "TurntapeError",
    "played_tools",
    "recorded_tools",
]

_HOME = {
    "replay.session": ("Deck", "Session"),
    "errors": ("CassetteError", "FormatError", "ReplayMiss", "TurntapeError"),
    "tape.model": ("Chunk", "Failure", "Frame", "Request", "Response", "RoundTrip"),
    "faults.fault": ("Fault",),
    "matching.grades": ("Match", "Matching"),
    "replay.report": ("Report",),
    "replay.player": ("Player",),
    "tape.reader": ("Cassette", "Tail"),
    "recording.recorder": ("Recorder",),
    "redaction.redactor": ("Redactor",),
    "transports": (
        "AsyncCassetteTransport",
        "AsyncRecordingTransport",
        "AsyncReplayTransport",
        "CassetteTransport",
        "RecordingTransport",
        "ReplayTransport",
    ),
    "transports.mcp": ("recorded_tools",),
    "transports.mcp_played": ("played_tools",),
}


def __getattr__(name: str) -> object:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
