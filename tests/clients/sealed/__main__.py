"""`python -m tests.clients.sealed [--page] [--count N] [--jobs N] [--keep FOLDER] [--spaces WHERE] [NAME ...]`.

A name selects clients (`codex`), transports (`stdio`, `http`) or servers (`everything`, `filesystem`, `shop`). Each
cell is recorded once and replayed N times (3). `--page` adds these cells to docs/sealed.md. With `--spaces`, the client
is recorded or replayed in a folder with spaces in its path; the page has nothing of such runs.
"""

import argparse
import sys
import time
from pathlib import Path

from ..environments import CACHE, Unavailable, built
from ..tool_results.catalogue import TOOL_CLIENTS, TRANSPORTS, Transport
from . import closed
from .cell import PLACES, SealedCell, run_cell, with_spaces
from .page import PAGE, page, remember
from .servers import SERVERS


def main(arguments: list[str]) -> int:
    """Run the selected cells; 1 when a replay of one of them was not equal."""
    parser = argparse.ArgumentParser(prog="make sealed", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--count", type=int, default=3, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="replays of a cell at once")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the tapes and output of what failed here")
    parser.add_argument("--spaces", choices=("recorded", "replayed"), metavar="recorded|replayed")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args(arguments)
    clients, servers, transports = TOOL_CLIENTS, SERVERS, TRANSPORTS
    names = [name.lower() for name in options.names]
    asked = {name: [one for one in clients if name in one.name.lower()] for name in names}
    of_servers = [one for one in servers if one.name in names]
    of_transports: list[Transport] = [one for one in transports if one in names]
    of_clients = [one for found in asked.values() for one in found]
    if wrong := [n for n in names if not asked[n] and n not in [*transports, *(one.name for one in servers)]]:
        parser.error(f"nothing is named {', '.join(wrong)}")
    (CACHE / "authority").mkdir(parents=True, exist_ok=True)
    print(f"network: {closed.how()}", flush=True)
    places = with_spaces(options.spaces) if options.spaces else PLACES
    cells: list[SealedCell] = []
    for client in of_clients or clients:
        for server in of_servers or servers:
            for transport in of_transports or list(transports):
                begun = time.monotonic()
                title = f"{client.name:18} {server.name:11} {transport:6}"
                keep = options.keep and options.keep / f"{client.name} {server.name} {transport}".replace(" ", "-")
                try:
                    runtime = built(client.script, client.packages)
                    authority, count, jobs = CACHE / "authority", options.count, options.jobs
                    cell = run_cell(
                        client, runtime, server, transport, authority, count, jobs=jobs, keep=keep, places=places
                    )
                except Unavailable as exc:
                    print(f"{title} not run: {exc}", flush=True)
                    continue
                cells.append(cell)
                seconds = time.monotonic() - begun
                print(f"{title} {cell.equal} of {cell.tried}  {seconds:.0f} s", flush=True)
                for problem in cell.problems:
                    print(f"    {problem}", flush=True)
                if options.page and not options.spaces:
                    PAGE.write_text(page(remember([cell])), encoding="utf-8")
    return int(not all(cell.is_sealed for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
