"""The options with which the viewer is opened."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict


class Options(TypedDict, total=False):
    """The options of `Viewer`; each may be left out."""

    live: bool
    """Follow the file while it is being written."""
    may_grow: Callable[[], bool]
    """Whether the file may still grow; called while it is followed."""
    output: Path | None
    """The file with the output of the recorded command."""
    theme: str
    ascii: bool
    """Draw ASCII only, for a terminal without Unicode."""
    turn: int | None
    """Begin at this turn."""
    thread: str | None
    """The thread of that turn; the first that has its number by default."""
    folder: Path
    """Where files are saved; the current folder by default."""
    traceback: bool
    """Show the traceback of an internal error."""
