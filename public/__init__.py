"""A flight recorder for LLM agents: record every round trip, see which layer failed, replay it in tests.

This package has the names that most programs need. `turntape.cassettes` has all of recording and replay,
`turntape.inspector` reads the meaning of a round trip, and `turntape.proxy` is the proxy for programs that embed it;
docs/python-api.md describes them. Each name is imported when it is first used, so `import turntape` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turntape.cassettes import (
        AsyncCassetteTransport,
        AsyncRecordingTransport,
        AsyncReplayTransport,
        Cassette,
        CassetteTransport,
        Fault,
        Matching,
        Player,
        Recorder,
        RecordingTransport,
        ReplayMiss,
        ReplayTransport,
        Report,
        RoundTrip,
        Session,
        TurntapeError,
    )
    from turntape.inspector import Reading, Run, read

    __version__: str

__all__ = [
    "AsyncCassetteTransport",
    "AsyncRecordingTransport",
    "AsyncReplayTransport",
    "Cassette",
    "CassetteTransport",
    "Fault",
    "Matching",
    "Player",
    "Reading",
    "Recorder",
    "RecordingTransport",
    "ReplayMiss",
    "ReplayTransport",
    "Report",
    "RoundTrip",
    "Run",
    "Session",
    "TurntapeError",
    "__version__",
    "read",
]

_OF_INSPECTOR = ("Reading", "Run", "read")


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("turntape")
    else:
        package = "inspector" if name in _OF_INSPECTOR else "cassettes"
        value = getattr(import_module(f"{__name__}.{package}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
