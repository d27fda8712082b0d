"""`turntape ship F … --to STORE`: recordings and their rows into a bucket or a folder."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import FINDINGS, NOT_RECORDED, OK, USAGE
from .. import argument_types as types
from ..command import Command
from ..option_groups import CASSETTES, add_format

if TYPE_CHECKING:
    from pathlib import Path

    from turntape.inspector.fleet.shipping.outcome import Shipped, ShippedFile
    from turntape.inspector.fleet.shipping.ship import ShipOptions


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="F", nargs="*", help=f"{CASSETTES} (default: only what waits in the spool)")
    parser.add_argument(
        "--to", metavar="STORE", required=True, help="where to: s3://BUCKET/PREFIX, gs://…, az://… or a folder"
    )
    what = parser.add_argument_group("what is shipped")
    what.add_argument(
        "--label",
        type=types.label,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a label for all rows, such as branch=main, task=… or verdict=pass; repeatable (default: those of the CI)",
    )
    what.add_argument("--content", action="store_true", help="also texts, arguments and results, apart from the rows")
    what.add_argument("--rows-only", action="store_true", help="ship the rows only, not the recordings")
    what.add_argument("--dry-run", action="store_true", help="say what would be done, with sizes, and write nothing")
    add_format(parser, ("text", "json"), json="one JSON object per file; the same as --format json")
    watch = parser.add_argument_group("failures and folders")
    watch.add_argument(
        "--watch", action="store_true", help="keep shipping what is closed in these folders, until Ctrl-C"
    )
    watch.add_argument("--delete-shipped", action="store_true", help="with --watch: delete files that were shipped")
    watch.add_argument(
        "--spool", metavar="DIR", help="where files wait that could not be shipped (default: ~/.turntape/spool)"
    )
    watch.add_argument("--no-spool", action="store_true", help="keep nothing for the next attempt")
    watch.add_argument(
        "--spool-limit",
        type=types.byte_count,
        default=1 << 30,
        metavar="SIZE",
        help="delete the oldest waiting files above this size (default: 1GB)",
    )
    table = parser.add_argument_group("the store itself, after shipping")
    table.add_argument("--compact", action="store_true", help="make the compacted table of each day that has changed")
    table.add_argument(
        "--expire", type=types.age, metavar="AGE", help="delete recordings that began before, such as 30d or 12w"
    )


def main(options: argparse.Namespace) -> int:
    from pathlib import Path

    from turntape.inspector.fleet.shipping.ship import ShipOptions, default_spool

    spool = None if options.no_spool else Path(options.spool) if options.spool else default_spool()
    how = ShipOptions(
        labels=dict(options.label),
        content=options.content,
        rows_only=options.rows_only,
        dry_run=options.dry_run,
        spool=spool,
        spool_bytes=options.spool_limit,
    )
    if options.watch:
        from ..ship_watch import watch

        return watch([Path(name) for name in options.files], options.to, how, delete=options.delete_shipped)
    code = _ship(options, how)
    if code in (OK, FINDINGS) and (options.compact or options.expire):
        _tidy(options)
    return code


def _ship(options: argparse.Namespace, how: "ShipOptions") -> int:
    import sys

    from turntape.inspector.fleet.errors import StoreError, StoreUnreachable
    from turntape.inspector.fleet.shipping.ship import ship

    from ..ship_text import json_line, recordings, summary, text_line

    paths, bad = _named(options.files)
    progress = _Progress(len(paths))
    try:
        shipped = ship(paths, options.to, how, progress=progress)
    except StoreError as exc:
        progress.clear()
        sys.stderr.write(f"turntape: {exc}\n")
        _say_lost(exc.dropped)
        if how.spool is not None and not how.dry_run and exc.not_kept:
            sys.stderr.write(f"turntape: {str(how.spool)!r} could not keep {recordings(exc.not_kept)}; ship again\n")
        _say_waiting(how, options.to)
        return NOT_RECORDED if isinstance(exc, StoreUnreachable) else USAGE
    progress.clear()
    files = (*shipped.from_spool, *shipped.files, *bad)
    for file in files:
        if options.format == "json":
            sys.stdout.write(json_line(file) + "\n")
        elif options.dry_run:
            sys.stdout.write(text_line(file) + "\n")
        if file.problem is not None:
            sys.stderr.write(f"turntape: {file.problem}\n")
    if files:
        sys.stderr.write(f"turntape: {summary(files, options.to, dry_run=options.dry_run)}\n")
    _say_lost(shipped.dropped)
    _say_waiting(how, options.to)
    return _code(shipped, bool(bad))


def _named(arguments: list[str]) -> "tuple[list[Path], list[ShippedFile]]":
    """The files that the arguments name, and those that are not recordings."""
    from pathlib import Path

    from turntape.inspector.fleet.shipping.outcome import ShippedFile

    from ..cassette_files import named

    every = list(named(arguments))
    good = [Path(one.name) for one in every if one.problem is None]
    return good, [ShippedFile(Path(one.name), "unreadable", problem=one.problem) for one in every if one.problem]


def _code(shipped: "Shipped", bad: bool) -> int:
    if bad or shipped.count("unreadable"):
        return USAGE
    return NOT_RECORDED if shipped.count("failed") else FINDINGS if shipped.count("edited") else OK


def _say_lost(dropped: int) -> None:
    """That the spool was full."""
    import sys

    from ..ship_text import recordings

    if dropped:
        sys.stderr.write(f"turntape: the spool was full and lost its oldest {recordings(dropped)}\n")


def _say_waiting(how: "ShipOptions", to: str) -> None:
    """That files wait, and how they go out."""
    import sys

    from turntape.inspector.fleet.shipping.spool import Spool

    from ..ship_text import recordings

    if how.spool is None or how.dry_run:
        return
    waiting = len(Spool(how.spool).waiting(to))
    if waiting:
        verb = "waits" if waiting == 1 else "wait"
        sys.stderr.write(f"turntape: {recordings(waiting)} {verb} in {str(how.spool)!r} for the next `turntape ship`\n")


def _tidy(options: argparse.Namespace) -> None:
    """Expire and compact."""
    import sys
    from datetime import UTC, datetime, timedelta

    from turntape.cassettes.counted import several
    from turntape.inspector.fleet.store.forgotten import time_of
    from turntape.inspector.fleet.store.store import open_store
    from turntape.inspector.fleet.table.compact import compact
    from turntape.inspector.fleet.table.forget import expire, sweep

    from ..ship_text import recordings, size_text
    from ..waiting import Waiting

    store = open_store(options.to)
    verb = "would delete" if options.dry_run else "deleted"
    if options.expire:
        with Waiting("expiring"):
            now = datetime.now(UTC) if options.dry_run else time_of(store)
            gone = expire(store, (now - timedelta(days=options.expire)).date(), dry_run=options.dry_run)
            swept = sweep(store, now, dry_run=options.dry_run)
        days, orphans = several(len(gone.days), "day"), several(swept.objects, "cassette")
        sys.stderr.write(f"turntape: {verb} {recordings(gone.recordings)} of {days}, and {orphans} without rows\n")
    if options.compact and not options.dry_run:
        with Waiting("compacting") as waiting:
            days = compact(store, progress=lambda day: waiting.say(f"compacting, {day.day} is done"))
        made = [one for one in days if one.changed]
        rows, size = sum(one.rows for one in made), sum(one.bytes for one in made)
        written = f"{several(rows, 'row')}, {size_text(size)}"
        sys.stderr.write(f"turntape: compacted {several(len(made), 'day')} ({written})\n")


class _Progress:
    """A line on the terminal's stderr, when shipping takes longer than a second."""

    def __init__(self, count: int) -> None:
        import time

        self._clock = time.monotonic
        self._count, self._done, self._shown = count, 0, False
        self._size = 0
        self._following = self._clock() + 1.0

    def __call__(self, file: "ShippedFile") -> None:
        import sys

        self._done += 1
        self._size += file.bytes
        if sys.stderr.isatty() and (now := self._clock()) >= self._following:
            from ..ship_text import recordings, size_text

            self._following, self._shown = now + 0.2, True
            says = f"{self._done} of {recordings(self._count)}, {size_text(self._size)}"
            sys.stderr.write(f"\r\x1b[K{says}, {file.path.name}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Remove the line."""
        import sys

        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


COMMAND = Command(
    usage="turntape ship F ... --to STORE",
    description="Put recordings into a bucket or a folder, with a row for each round trip, so that `turntape query` "
    "and any engine that reads Parquet can ask about all of them. Shipping again changes nothing, a recording that "
    "has grown is completed, and any number of machines may ship at once. What could not be shipped waits in a spool "
    "for the next call. Rows hold no prose, arguments or results without --content; docs/fleet-rows.md has the "
    "columns.",
    examples=("turntape ship 'runs/*.jsonl' --to s3://bucket/agents",),
    add=add,
    main=main,
    mixed=True,
)
