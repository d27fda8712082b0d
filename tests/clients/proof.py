"""`python -m tests.clients.proof [CLIENT ...]`: each client on each route under `turntape run --prove`.

One line a cell: what was compared, which differences HTTP forced, and what nothing explains. CLIENT_JOBS as for the
matrix.
"""

import re
import shutil
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from turntape.proxy.scripted import ScriptedServer

from .__main__ import WORKERS
from .catalogue import CLIENTS, ROUTES, Client, Variant
from .environments import CACHE, Runtime, Unavailable, built
from .matrix import environ_of, run_turntape
from .script import script_of

_FORCED = re.compile(r"forced (\d+) × (.+?): ")
_DIFFERS = re.compile(r"DIFFERS \d+ × .+")


@dataclass(frozen=True, slots=True)
class Proven:
    words: str
    """What was compared and forced, or why nothing was run."""
    holds: bool | None
    """None when nothing was run."""


def prove(client: Client, variant: Variant, route: str, runtime: Runtime) -> Proven:
    """Run the client once, with witnesses on both sides of the proxy."""
    folder = Path(tempfile.mkdtemp(prefix="turntape-proof-"))
    try:
        command = [*runtime.command, *variant.words.split()]
        options = ["--prove", "--out", str(folder / "tape.jsonl"), "--route", route]
        with ScriptedServer(script_of(client.story)) as server:
            options += ["--upstream", f"*={server.url}"]
            environ = environ_of(client, folder, runtime, CACHE / "authority")
            done = run_turntape(options, command, environ)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done is None:
        return Proven("it did not end", False)
    said = " ".join(done.stderr.split())
    found = re.search(r"proven for (\d+) request", said)
    if found is None or done.returncode:
        why = _DIFFERS.search(said)
        return Proven(f"exit code {done.returncode}: {why[0] if why else said[-300:]}", False)
    forced = Counter({what: int(number) for number, what in _FORCED.findall(said)})
    listed = ", ".join(f"{number} × {what}" for what, number in forced.items()) or "nothing"
    return Proven(f"{found[1]} requests; forced: {listed}", True)


def main(names: list[str]) -> int:
    (CACHE / "authority").mkdir(parents=True, exist_ok=True)
    outcomes: list[Proven] = []

    def cell(client: Client, runtime: Runtime | str, variant: Variant, route: str) -> Proven:
        if isinstance(runtime, str):
            return Proven(runtime, None)
        return prove(client, variant, route, runtime)

    with ThreadPoolExecutor(WORKERS) as pool:
        for client in CLIENTS:
            if names and client.name not in names:
                continue
            try:
                runtime: Runtime | str = built(client.script, client.packages)
            except Unavailable as exc:
                runtime = str(exc)
            cells = [(variant, route) for variant in client.variants for route in ROUTES]
            results = pool.map(lambda pair, one=client, by=runtime: cell(one, by, *pair), cells)
            for (variant, route), proven in zip(cells, results, strict=True):
                word = {True: "proven", False: "FAILED", None: "skipped"}[proven.holds]
                print(f"{client.name + ' ' + variant.words:40}{route:10}{word:8} {proven.words}", flush=True)
                outcomes.append(proven)
    held = Counter(proven.holds for proven in outcomes)
    print(f"{len(outcomes)} cells: {held[True]} proven, {held[False]} failed, {held[None]} skipped")
    return int(bool(held[False]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
