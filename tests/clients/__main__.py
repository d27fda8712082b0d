"""`python -m tests.clients [--page] [CLIENT ...]`: run the matrix, all of it or these clients.

`--page` writes docs/clients.md from the last run of each client. CLIENT_JOBS says how many cells run at once, 3 if
it is not set.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from .catalogue import CLIENTS, ROUTES, Client
from .environments import CACHE, Unavailable, built
from .matrix import Cell, run_cell
from .page import PAGE, page
from .runs import remember, remembered

WORKERS = int(os.environ.get("CLIENT_JOBS") or 3)


def cells_of(client: Client) -> list[tuple[Client, str, str]]:
    return [(client, variant.words, route) for variant in client.variants for route in ROUTES]


def run_client(client: Client, pool: ThreadPoolExecutor) -> list[Cell]:
    """All cells of a client, in order."""
    pairs = [(variant, route) for variant in client.variants for route in ROUTES]
    try:
        runtime = built(client.script, client.packages)
    except Unavailable as exc:
        return [Cell(client.name, "", variant.words, route, skipped=str(exc)) for variant, route in pairs]

    def run(pair: tuple) -> Cell:
        variant, route = pair
        return run_cell(client, variant, route, runtime, CACHE / "authority")

    return list(pool.map(run, pairs))


def report(cell: Cell) -> None:
    words = f"{cell.recorded.word:8}{cell.labelled.word:8}{cell.replayed.word:8}"
    print(f"{cell.client + ' ' + cell.variant:44}{cell.version:12}{cell.route:10}{words}", flush=True)
    for problem in [cell.skipped] if cell.skipped else cell.problems:
        print(f"    {problem}", flush=True)


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if not name.startswith("-")]
    unknown = set(names) - {client.name for client in CLIENTS}
    if unknown:
        print(f"no client is named {', '.join(sorted(unknown))}; there are {', '.join(c.name for c in CLIENTS)}")
        return 2
    (CACHE / "authority").mkdir(parents=True, exist_ok=True)
    cells: list[Cell] = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for client in CLIENTS:
            if names and client.name not in names:
                continue
            done = run_client(client, pool)
            for cell in done:
                report(cell)
            remember(done)
            cells += done
    words = [cell.replayed.word if not cell.problems else "failed" for cell in cells]
    counts = ", ".join(f"{words.count(word)} {word}" for word in ("ok", "failed", "skipped"))
    print(f"{len(cells)} cells of {len({cell.client for cell in cells})} clients: {counts}")
    if "--page" in arguments:
        PAGE.write_text(page(remembered()))
    return int(any(cell.problems for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
