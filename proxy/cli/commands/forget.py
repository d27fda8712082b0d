"""`turntape forget --at STORE`: deletes recordings from a store."""

import argparse

from ...exit_codes import OK, USAGE
from ..command import Command


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at", metavar="STORE", required=True, help="the store: s3://BUCKET/PREFIX, gs://…, az://… or a folder"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--run", metavar="RUN", help="delete the recordings with a run of this name")
    which.add_argument("--recording", metavar="RECORDING", help="delete the recording whose id begins like this")
    parser.add_argument("--dry-run", action="store_true", help="say what would be deleted, and delete nothing")


def main(options: argparse.Namespace) -> int:
    import sys

    from turntape.cassettes.counted import several
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.fleet.store.store import open_store
    from turntape.inspector.fleet.table.forget import find, forget

    from ..waiting import Waiting

    if options.recording is not None and len(options.recording) < 8:
        raise TurntapeError(f"{options.recording!r} is too short to name a recording; give at least 8 digits of its id")
    store = open_store(options.at)
    with Waiting("looking for it"):
        found = find(store, run=options.run, recording=options.recording)
    what = f"run {options.run!r}" if options.run is not None else f"recording {options.recording!r}"
    if not found:
        names = f"turntape query 'select run, recording from runs' --at {options.at}"
        sys.stderr.write(f"turntape: {options.at!r} has no {what}; `{names}` lists them\n")
        return USAGE
    verb = "would delete" if options.dry_run else "deleted"
    done = forget(store, found, dry_run=options.dry_run)
    for one in found:
        runs = ", ".join(one.runs) or "without a name"
        sys.stdout.write(f"{one.recording}  {one.day}  {several(one.rows, 'row')}  {runs}\n")
    sys.stderr.write(
        f"turntape: {verb} {several(done.recordings, 'recording')} ({several(done.objects, 'object')}) from "
        f"{options.at}" + ("\n" if options.dry_run else "; they cannot be shipped again\n")
    )
    return OK


COMMAND = Command(
    usage="turntape forget (--run RUN | --recording RECORDING) --at STORE",
    description="Delete recordings from a store: their bytes, texts and rows, in the compacted table too. A tombstone "
    "stays, so that a copy in a spool or on a laptop does not bring them back. A recording that holds several runs is "
    "deleted whole.",
    examples=("turntape forget --recording RECORDING --at s3://bucket/agents",),
    add=add,
    main=main,
)
