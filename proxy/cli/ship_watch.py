"""`turntape ship --watch`: the loop that ships the recordings of folders until it is stopped."""

import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from types import FrameType

from turntape.cassettes.counted import several
from turntape.cassettes.errors import TurntapeError
from turntape.inspector.fleet.shipping.ship import ShipOptions
from turntape.inspector.fleet.shipping.watch import Step, Watch

from ..exit_codes import NOT_RECORDED, OK
from .ship_text import lines_of


def watch(folders: Sequence[Path], to: str, options: ShipOptions, *, delete: bool) -> int:
    """Ship until SIGINT or SIGTERM, and once more then. Raises TurntapeError for a folder that does not exist."""
    for folder in folders:
        if not folder.is_dir():
            raise TurntapeError(f"{str(folder)!r} is not a folder; --watch needs the folder of the recordings")
    if not folders:
        raise TurntapeError("--watch needs the folder of the recordings: turntape ship DIR --to STORE --watch")
    stopped = Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    names = ", ".join(str(folder) for folder in folders)
    sys.stderr.write(f"turntape: ships what is closed in {names} to {to}; ^C stops\n")
    try:
        ship = Watch(folders, to, options, delete=delete)
        step = _said(ship.step())
        while not stopped.wait(step.wait):
            step = _said(ship.step())
        step = _said(ship.step())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return NOT_RECORDED if step.problem is not None or step.shipped.count("failed") else OK


def _said(step: Step) -> Step:
    """Print what happened."""
    for line in lines_of(step.shipped.files):
        sys.stderr.write(f"{line}\n")
    if step.problem is not None:
        sys.stderr.write(f"turntape: {step.problem}; the next attempt is in {step.wait:.0f} s\n")
    if step.dropped:
        sys.stderr.write(f"turntape: the folder was full and lost its oldest {several(step.dropped, 'recording')}\n")
    sys.stderr.flush()
    return step
