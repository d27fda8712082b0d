"""What the commands that draw on the terminal have in common."""

import argparse
from collections.abc import Callable, Generator
from contextlib import contextmanager
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
    with _handled(viewer.end):
        viewer.run()
    wait_for_threads()
    if viewer.ended_by is not None:
        return SIGNALLED + viewer.ended_by
    return INTERNAL if viewer.return_code else OK


@contextmanager
def _handled(end: Callable[[int], None]) -> Generator[None]:
    """Call `end` for each signal that asks the viewer to end.

    The handlers are there before the viewer changes the terminal, and until it has changed it back: in between, one
    that ends the process leaves a terminal that shows no input.
    """
    import signal

    from ..signals import ENDING

    before = {number: signal.signal(number, lambda received, _frame: end(received)) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for_threads(seconds: float = 2.0) -> None:
    """Wait until our threads, which were asked to stop, have ended; at most `seconds`.

    Python ends the others when it exits. One that is in native code then can abort the process (exit code 134).
    """
    import threading
    import time

    end = time.monotonic() + seconds
    for thread in threading.enumerate():
        if thread.daemon and thread.name.startswith("turntape-"):
            thread.join(max(0.0, end - time.monotonic()))


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
