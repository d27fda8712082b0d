"""What the commands that draw on the terminal have in common."""

import argparse
from typing import TYPE_CHECKING

from ..exit_codes import INTERNAL, OK, SIGNALLED

if TYPE_CHECKING:
    from turntape.inspector.views.tui.app import Viewer

THEMES = ("dark", "light", "high-contrast", "16-colours", "no-colour")


def wanted_theme(options: argparse.Namespace) -> str:
    """The theme of `--theme`, else the one that `--color`, NO_COLOR and the colours of the terminal ask for."""
    import os

    if options.theme:
        return str(options.theme)
    if options.color == "never" or (options.color == "auto" and os.environ.get("NO_COLOR")):
        return "no-colour"
    from rich.console import Console

    return "16-colours" if Console(force_terminal=True).color_system == "standard" else "dark"


def shown(viewer: "Viewer") -> int:
    """Draw on the terminal until the user, or a signal, ends it; gives the exit code."""
    watch_terminal()
    viewer.run()
    if viewer.ended_by is not None:
        return SIGNALLED + viewer.ended_by
    return INTERNAL if viewer.return_code else OK


def watch_terminal() -> None:
    """End the process when the terminal is closed: outside its foreground it gets no signal and would wait forever."""
    import threading

    threading.Thread(target=end_with_the_terminal, name="terminal", daemon=True).start()


def end_with_the_terminal(pause: float = 1.0) -> None:
    """Exit when the terminal is closed."""
    import os
    import signal
    import sys
    import time

    while os.isatty(sys.__stdin__.fileno() if sys.__stdin__ else 0):
        time.sleep(pause)
    os._exit(SIGNALLED + signal.SIGHUP)
