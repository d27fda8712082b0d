"""`turntape view F`: browse a run in the terminal, turn by turn."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import USAGE
from .. import argument_types as types
from ..command import Command
from ..option_groups import ONE_CASSETTE
from ..viewing import THEMES, shown, wanted_theme

if TYPE_CHECKING:
    from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help=ONE_CASSETTE)
    parser.add_argument("--follow", action="store_true", help="keep reading while it is being recorded")
    parser.add_argument("--turn", type=types.turn_number, metavar="N", help="start at turn N")
    parser.add_argument(
        "--theme",
        choices=THEMES,
        help="colours (default: dark, or 16-colours if it has no more; NO_COLOR is respected)",
    )
    # For `run --view`: the process that is recorded, and the file with its output.
    parser.add_argument("--while", type=int, dest="pid", metavar="PID", help=argparse.SUPPRESS)
    parser.add_argument("--command-output", metavar="FILE", help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    import os
    import sys
    from pathlib import Path

    from turntape.cassettes.tape.reader import Cassette

    from ...launch.terminal import ascii_only, undrawable
    from ..cassette_files import one_cassette
    from ..selection import turn_of_round_trip
    from ..shipped_tapes import round_trip_of

    # A recording that is followed may not have begun: its file may be missing or empty.
    path = Path(options.file) if options.follow else Path(one_cassette(options.file))
    if not options.follow:
        _check(path, options.turn)
    thread: str | None = None
    if not options.follow and options.turn is None and (number := round_trip_of(options.file)) is not None:
        options.turn, thread = turn_of_round_trip(Cassette.load(path), number)
    if why := undrawable():
        instead = f"`turntape show {options.file}` prints the run"
        sys.stderr.write(f"turntape: view needs a terminal to draw on, and {why}; {instead}\n")
        return USAGE
    from turntape.cassettes.processes import is_running
    from turntape.cassettes.tape.lock import being_written
    from turntape.inspector.run.run_index import Run
    from turntape.inspector.views.tui.app import Viewer

    pid: int | None = options.pid
    run = Run(path, priced=False)

    def may_grow() -> bool:
        """A file that was removed after some of it was read gets no more, unless its recorder is known to run."""
        if pid is not None:
            return is_running(pid)
        return being_written(path) and (not run.rows.all or path.exists())

    viewer = Viewer(
        run,
        live=options.follow,
        may_grow=may_grow,
        output=Path(options.command_output) if options.command_output else None,
        theme=wanted_theme(options),
        ascii=ascii_only(os.environ),
        turn=options.turn,
        thread=thread,
        traceback=options.debug,
    )
    return shown(viewer)


def _check(path: "Path", turn: int | None) -> None:
    """Raises CassetteError for a file that cannot be shown, while there is still a line to report it on."""
    from turntape.cassettes.errors import FormatError
    from turntape.cassettes.tape.reader import Cassette, Tail

    from ..selection import check_selection

    tail = Tail(path)
    next(tail.news(), None)
    if tail.header is None:
        raise FormatError(f"{str(path)!r} is empty: it holds no recording; record again")
    if turn is not None:
        check_selection(Cassette.load(path), turn, None)


COMMAND = Command(
    usage="turntape view F [--follow] [--turn N]",
    description="Open a cassette in the terminal: the turns by thread, what is new in each request, the answer with "
    "its calls and their results, findings, tokens, cost, and the raw bytes. `?` shows the keys, q quits.",
    examples=("turntape view run.cassette.jsonl", "turntape view run.cassette.jsonl --follow"),
    add=add,
    main=main,
)
