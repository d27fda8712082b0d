"""Ships closed files in a separate process: reading and labelling them again takes long, and traffic must not wait.

    python -m turntape.proxy.gateway.ship_process --to ADDRESS [--spool DIR] [--label K=V]… [--content] [--rows-only]
        [--remove] [FILE…]

Prints one JSON object: `shipped`, `failed`, `spooled`, `dropped` (files), `waiting` (in the spool, for this
store), `files` and `bytes` (in the spool, for all), `unsettled` (paths that neither the store nor
the spool has) and `problem` (a sentence, or null). With `--remove`, a file that the store or the spool has is removed.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import orjson

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.processes import lower_priority

from ..signals import unblock


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the command and its recorder
    unblock()
    follow_all_levels()
    lower_priority()
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", required=True)
    parser.add_argument("--spool", type=Path)
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--content", action="store_true")
    parser.add_argument("--rows-only", action="store_true")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args(argv)
    sys.stdout.buffer.write(orjson.dumps(_ship(options)) + b"\n")
    return 0


def _ship(options: argparse.Namespace) -> dict[str, object]:
    from turntape.inspector.fleet.shipping.outcome import SETTLED
    from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
    from turntape.inspector.fleet.shipping.spool import Spool

    labels = dict(label.partition("=")[::2] for label in options.label)
    how = ShipOptions(labels, content=options.content, rows_only=options.rows_only, spool=options.spool)
    files: list[Path] = options.files
    settled: set[Path] = set()
    problem, spooled, dropped = None, 0, 0
    try:
        done = ship(files, options.to, how)
    except TurntapeError as exc:
        problem, waiting = str(exc), _waiting(options)
        spooled = len(files) if waiting else 0
        settled = {file for file in files if _is_spooled(options, file)}
        shipped, failed = 0, len(files)
    else:
        settled = {one.path for one in done.files if one.state in SETTLED}
        failures = [one for one in (*done.files, *done.from_spool) if one.state in ("failed", "unreadable", "edited")]
        problem = failures[0].problem if failures else None
        shipped, failed = done.count("new", "grown"), len(failures)
        spooled, dropped = done.spooled, done.dropped
        if options.spool is not None:
            settled |= {file for file in files if _is_spooled(options, file)}
    for file in settled if options.remove else ():
        with suppress(OSError):
            file.unlink()
    left = [str(file) for file in files if file not in settled]
    count, size = Spool(options.spool).size() if options.spool else (0, 0)
    here = len(Spool(options.spool).waiting(options.to)) if options.spool else 0
    return {
        "shipped": shipped,
        "failed": failed,
        "spooled": spooled,
        "dropped": dropped,
        "waiting": here,
        "files": count,
        "bytes": size,
        "unsettled": left,
        "problem": problem,
    }


def _waiting(options: argparse.Namespace) -> bool:
    from turntape.inspector.fleet.shipping.spool import Spool

    return options.spool is not None and bool(Spool(options.spool).waiting(options.to))


def _is_spooled(options: argparse.Namespace, file: Path) -> bool:
    """Whether the spool has the same bytes: its copies are named by their hash."""
    from hashlib import sha256

    from turntape.inspector.fleet.shipping.spool import Spool

    if options.spool is None:
        return False
    try:
        name = sha256(file.read_bytes()).hexdigest()[:32]
    except OSError:
        return False
    return any(one.path.name.startswith(name) for one in Spool(options.spool).waiting(options.to))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
