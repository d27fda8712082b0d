"""The lines of a test and of the code under test in a traceback, without those of libraries."""

import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType

_OWN = str(Path(__file__).resolve().parents[1])
_PACKAGES = ("site-packages", "dist-packages")
_DEEPEST = 200


@lru_cache(1)
def _foreign() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({str(Path(paths[name]).resolve()) for name in ("stdlib", "platstdlib", "scripts") if name in paths})


@lru_cache(4096)
def is_users(filename: str) -> bool:
    """True for a file that is neither Python's, nor a library's, nor ours."""
    path = Path(filename)
    if not path.is_absolute() or any(part in _PACKAGES for part in path.parts):
        return False
    inside = str(path.resolve())
    own = any(inside.startswith(f"{_OWN}/{name}/") for name in ("cassettes", "inspector", "proxy"))
    return not own and not inside.startswith(tuple(f"{root}/" for root in _foreign()))


def folded(trace: TracebackType | None) -> TracebackType | None:
    """The traceback with the user's lines only; None when it has none."""
    kept: list[tuple[FrameType, int, int]] = []
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            kept.append((trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
        trace = trace.tb_next
    return _chained(kept)


def here() -> TracebackType | None:
    """The user's lines that are being executed in this thread; None when there are none."""
    kept: list[tuple[FrameType, int, int]] = []
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and len(kept) < _DEEPEST:
        if is_users(frame.f_code.co_filename):
            kept.append((frame, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return _chained(kept[::-1])


def _chained(frames: list[tuple[FrameType, int, int]]) -> TracebackType | None:
    trace: TracebackType | None = None
    for frame, last, line in reversed(frames):
        trace = TracebackType(trace, frame, last, line)
    return trace
