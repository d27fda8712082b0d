"""`turntape view F`: the run in the terminal, turn by turn."""

import argparse
import os
import signal
import sys
import threading
import time
from pathlib import Path

from ..launch.run_with_viewer import alive, drawable
from .exit_codes import INTERNAL, OK, SIGNALLED, USAGE


def main(options: argparse.Namespace) -> int:
    path = Path(options.file)
    if not options.follow:
        _check(path)
    if not drawable():
        sys.stderr.write(
            f"turntape: view needs a terminal that can be drawn on; `turntape show {path}` prints the run\n"
        )
        return USAGE
    from turntape.cassettes.tape.lock import being_written
    from turntape.inspector.run.run_index import Run
    from turntape.inspector.views.tui.app import Viewer

    theme = options.theme or ("no-colour" if os.environ.get("NO_COLOR") else "dark")
    pid: int | None = options.pid
    viewer = Viewer(
        Run(path, priced=False),
        live=options.follow,
        goes_on=(lambda: alive(pid)) if pid is not None else lambda: being_written(path),
        output=Path(options.output) if options.output else None,
        theme=theme,
        turn=options.turn,
        traceback=options.debug,
    )
    threading.Thread(target=_end_with_the_terminal, name="terminal", daemon=True).start()
    viewer.run()
    return INTERNAL if viewer.return_code else OK


def _end_with_the_terminal(pause: float = 1.0) -> None:
    """Leave when the terminal is gone: who is not in its foreground gets no signal, and would read its end for ever."""
    while os.isatty(sys.__stdin__.fileno() if sys.__stdin__ else 0):
        time.sleep(pause)
    os._exit(SIGNALLED + signal.SIGHUP)


def _check(path: Path) -> None:
    """Raises what is wrong with the file while there is still a line to say it on."""
    from turntape.cassettes.errors import CassetteError, FormatError
    from turntape.cassettes.tape.reader import Tail

    try:
        path.open("rb").close()
    except OSError as exc:
        raise CassetteError(f"cannot read the cassette {str(path)!r}: {exc.strerror}; check the name") from exc
    tail = Tail(path)
    next(tail.news(), None)
    if tail.header is None:
        raise FormatError(f"{str(path)!r} is empty: no recording was begun in it; record again")
