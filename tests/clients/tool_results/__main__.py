"""`python -m tests.clients.tool_results [--page] [--stdio] [--http] [CLIENT ...]`: run clients with the tool server.

Without names all clients, without a transport both.
`--page` writes docs/what-clients-do.md from the last run of each client.
"""

import sys

from ..environments import CACHE, Unavailable, built
from .catalogue import TOOL_CLIENTS, TRANSPORTS, Transport
from .matrix import ToolCell, run_client
from .page import PAGE, page, remember, remembered


def report(cell: ToolCell) -> None:
    """Print a client's outcome."""
    print(f"{cell.client:20} {cell.version:12} {cell.transport:6} {len(cell.seen)} kinds of results", flush=True)
    for seen in cell.seen:
        lost = f", without {', '.join(seen.lost)}" if seen.lost else ""
        how = f"ended the run: {seen.aborted}" if seen.aborted else f"{seen.seen_as}{lost}"
        print(f"    {seen.kind:22} {seen.joined or 'not joined':10} {how}", flush=True)
    for problem in [*cell.problems, *([cell.skipped] if cell.skipped else [])]:
        print(f"    PROBLEM {problem}", flush=True)


def main(arguments: list[str]) -> int:
    """Run clients; 1 when one of them has a problem."""
    names = [name.lower() for name in arguments if not name.startswith("-")]
    unknown = [name for name in names if not any(name in client.name.lower() for client in TOOL_CLIENTS)]
    if unknown:
        print(f"no client is named {', '.join(unknown)}; there are {', '.join(c.name for c in TOOL_CLIENTS)}")
        return 2
    (CACHE / "authority").mkdir(parents=True, exist_ok=True)
    transports: tuple[Transport, ...] = tuple(one for one in TRANSPORTS if f"--{one}" in arguments) or TRANSPORTS
    failed = False
    for client in TOOL_CLIENTS:
        if names and not any(name in client.name.lower() for name in names):
            continue
        for transport in transports:
            try:
                runtime = built(client.script, client.packages)
            except Unavailable as exc:
                report(ToolCell(client.name, "", skipped=str(exc)))
                break
            cell = run_client(client, runtime, CACHE / "authority", transport)
            report(cell)
            failed = failed or bool(cell.problems)
            if cell.seen and not cell.problems:
                remember(cell)
    if "--page" in arguments:
        PAGE.write_text(page(remembered()), encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
