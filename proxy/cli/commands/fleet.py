"""`turntape fleet --at STORE`: what the agents did in the last days, as text or as one page."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK, USAGE
from .. import argument_types as types
from ..command import Command
from ..option_groups import add_at, add_format, add_output, add_width
from ..viewing import THEMES, shown, wanted_theme

if TYPE_CHECKING:
    from pathlib import Path

    from turntape.inspector.views.fleet_figures import Overview


def add(parser: argparse.ArgumentParser) -> None:
    add_at(parser)
    parser.add_argument(
        "--days", type=types.day_count, default=14, metavar="N", help="the last N days, in UTC (default: 14)"
    )
    add_format(parser, ("text", "json", "html"), json="the figures as one JSON object; the same as --format json")
    add_output(parser, "FILE", "write to FILE; .html is the page (default: stdout)")
    parser.add_argument(
        "--reports", action="store_true", help="with -o: also write the reports of the worst runs, linked from the page"
    )
    parser.add_argument("--view", action="store_true", help="browse in the terminal; Enter opens a run, Esc comes back")
    parser.add_argument("--theme", choices=THEMES, help="with --view: colours, as in `turntape view`")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime, timedelta

    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.fleet.asking.database import Database, opened_from_anywhere
    from turntape.inspector.fleet.page.overview import overview
    from turntape.inspector.fleet.store.store import open_store

    from ..shipped_tapes import store_address
    from ..waiting import Waiting

    if options.view:
        return _view(options)
    form = _format(options)
    if options.reports and (form != "html" or options.output in (None, "-")):
        raise TurntapeError("--reports belongs to a page in a file; add -o fleet.html")
    store = open_store(store_address(options.at))
    last = datetime.now(UTC).date()
    first = last - timedelta(days=options.days - 1)
    with Waiting("reading the store") as waiting, Database(store, first, waiting.fetched) as database:
        found = overview(database, opened_from_anywhere(store), first, last)
    _write(found, form, options)
    return OK


def _view(options: argparse.Namespace) -> int:
    """Browse on the terminal. Raises TurntapeError, above all when the store cannot be opened."""
    import os
    import sys

    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.fleet.page.store_source import StoreSource
    from turntape.inspector.fleet.store.store import open_store

    from ...launch.terminal import ascii_only, undrawable
    from ..shipped_tapes import store_address

    if options.output or options.format != "text":
        raise TurntapeError("--view draws on the terminal and writes no file; leave out -o and the format")
    store = open_store(store_address(options.at))
    if why := undrawable():
        instead = "without it the figures are printed"
        sys.stderr.write(f"turntape: --view needs a terminal to draw on, and {why}; {instead}\n")
        return USAGE
    from turntape.inspector.views.tui.fleet.fleet_app import FleetViewer

    with StoreSource(store, options.days) as source:
        viewer = FleetViewer(source, theme=wanted_theme(options), ascii=ascii_only(os.environ), traceback=options.debug)
        return shown(viewer)


def _format(options: argparse.Namespace) -> str:
    """The requested format, or that of the file's name."""
    name = str(options.output or "").lower()
    by_name = "html" if name.endswith((".html", ".htm")) else "json" if name.endswith(".json") else "text"
    return options.format if options.format != "text" else by_name


def _write(found: "Overview", form: str, options: argparse.Namespace) -> None:
    import os
    from pathlib import Path

    from turntape.inspector.views.text.terminal_text import ansi

    from ...launch.terminal import coloured, columns
    from ..text_output import writing

    reports = _reports(found, Path(options.output)) if options.reports else {}
    with writing(options.output) as out:
        if form == "html":
            from turntape.inspector.fleet.page.fleet_page import fleet_page

            out.write(fleet_page(found, reports))
        elif form == "json":
            out.write(_json(found) + "\n")
        else:
            from turntape.inspector.fleet.page.overview_text import overview_text

            colour = coloured(out.isatty(), os.environ, options.color)
            for line in overview_text(found, max(40, columns(options.width, 100))):
                out.write(ansi(line, colour).rstrip() + "\n")


def _json(found: "Overview") -> str:
    """The figures; amounts are strings, unknown is null."""
    import json
    from dataclasses import asdict

    from turntape.inspector.fleet.asking.formats import plain

    return json.dumps(plain(asdict(found)), ensure_ascii=False)


def _reports(found: "Overview", page: "Path") -> dict[str, str]:
    """Write the report of each of the worst runs beside the page. A run whose bytes are gone has none."""
    import sys

    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.run.run_index import Run
    from turntape.inspector.views.report import report

    from ..shipped_tapes import fetched
    from ..text_output import private

    folder = page.with_name(f"{page.stem}-runs")
    folder.mkdir(mode=0o700, exist_ok=True)
    written: dict[str, str] = {}
    for one in found.worst:
        try:
            tape = fetched(one.address)
            run = Run.load(str(tape))
        except TurntapeError as exc:
            sys.stderr.write(f"turntape: no report of {one.address}: {exc}\n")
            continue
        name = f"{one.address.rpartition('#')[2][:16]}.html"
        with private(folder / name) as file:
            file.writelines(report(run, " · ".join(text for text in (one.branch, one.task, one.name) if text) or "run"))
        written[one.address] = f"{folder.name}/{name}"
    return written


COMMAND = Command(
    usage="turntape fleet --at STORE [--days N] [--view | -o fleet.html [--reports]]",
    description="What the agents of a team did in the last days, from their shipped runs: cost and findings by day, "
    "branch, agent and model, and the worst runs, each with the address that opens it. With --view it is a screen from "
    "which runs open, with -o fleet.html one page that needs no server and no script.",
    examples=("turntape fleet --at s3://bucket/agents --view",),
    add=add,
    main=main,
)
