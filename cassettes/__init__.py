"""The tape: what went over the wire, byte for byte, and how to play it back.

This floor knows no protocol. Names are imported when they are first used, so that importing the package costs
next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .deck import Deck
    from .errors import CassetteError, FormatError, ReplayMiss, TurntapeError
    from .faults import Fault
    from .matching import Match, Matching
    from .model import Chunk, Failure, Frame, Request, Response, RoundTrip
    from .play_report import Report
    from .player import Player
    from .reader import Cassette, Tail
    from .recorder import Recorder
    from .redaction import Redactor
    from .transports import (
        AsyncCassetteTransport,
        AsyncRecordingTransport,
        AsyncReplayTransport,
        CassetteTransport,
        RecordingTransport,
        ReplayTransport,
    )

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
    "Tail",
    "TurntapeError",
]

_HOME = {
    "deck": ("Deck",),
    "errors": ("CassetteError", "FormatError", "ReplayMiss", "TurntapeError"),
    "model": ("Chunk", "Failure", "Frame", "Request", "Response", "RoundTrip"),
    "faults": ("Fault",),
    "matching": ("Match", "Matching"),
    "play_report": ("Report",),
    "player": ("Player",),
    "reader": ("Cassette", "Tail"),
    "recorder": ("Recorder",),
    "redaction": ("Redactor",),
    "transports": (
        "AsyncCassetteTransport",
        "AsyncRecordingTransport",
        "AsyncReplayTransport",
        "CassetteTransport",
        "RecordingTransport",
        "ReplayTransport",
    ),
}


def __getattr__(name: str) -> object:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
