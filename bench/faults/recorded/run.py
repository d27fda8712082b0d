"""The part of the bench with recorded loops, on the command line."""

import argparse
import os
import sys
from pathlib import Path

from tests.corpus import corpus

from ..page import put
from ..tapes import write_trips
from .catalogue import FAULTS, Fault
from .known import EXPLAINED
from .loops import MOST, Recording, candidates, chosen
from .report import page, text
from .score import faulty, score


def main(given: argparse.Namespace) -> int:
    """Print the score; 1 when a bar is missed, 2 when the names select nothing."""
    if corpus.folder() is None:
        print(f"recorded loops: left out, {corpus.ABSENT}")
        return 0
    faults = [fault for fault in FAULTS if fault.name.startswith(tuple(given.only or ("",)))]
    loops = _wanted(given)
    if not faults or not loops:
        print("no recorded loop or no fault has these names; --list prints them all", file=sys.stderr)
        return 2
    if given.list:
        print("\n".join([*(fault.name for fault in faults), *(loop.name for loop in loops)]))
        return 0
    if given.write:
        _write_all(given.write, loops, faults)
    result = score(loops, faults, given.jobs or min(2, os.cpu_count() or 1))
    print(text(result, verbose=given.verbose))
    if given.page:
        put("recorded", page(result))
    return int(bool(result.missed(EXPLAINED)))


def _wanted(given: argparse.Namespace) -> list[Recording]:
    if given.loop:
        return [loop for loop in candidates() if loop.name in given.loop]
    return [one for one in chosen(given.most or MOST) if not given.protocol or one.protocol in given.protocol]


def _write_all(folder: Path, loops: list[Recording], faults: list[Fault]) -> None:
    for loop in loops:
        write_trips(folder, f"{loop.name} untouched", loop.loop().trips())
        for fault in faults:
            if (made := faulty(loop, fault)) is not None:
                write_trips(folder, f"{loop.name} {fault.name}", made[0])
