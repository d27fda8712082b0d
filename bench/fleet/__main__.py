"""`make fleet`: the proof of shipping on two S3 servers, sizes and times of rows, other engines, and OTLP spans.

The exit code is 1 when a bar is missed, and 3 when none is but a part was skipped; the last lines say what and why.
`--tapes 100 --kills 5` for a smaller one; `--only engines` for one part.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from tests.s3_server import BUCKET

from . import proof, servers
from .tapes import TRIPS, tapes

MISSED, SKIPPED = 1, 3
"""Exit codes."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--tapes", type=int, default=1000, metavar="N")
    parser.add_argument("--kills", type=int, default=40, metavar="N")
    parser.add_argument("--only", choices=("moto", "s3rver", "folder", "rows", "engines", "spans"))
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--ship", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        servers.serve_moto(given.serve)
        return 0
    if given.ship:
        proof.ship_list(given.ship[0], Path(given.ship[1]))
        return 0
    parts: dict[str, bool | None] = {}
    with tempfile.TemporaryDirectory(prefix="fleet-") as name:
        folder = Path(name)
        if given.only not in ("rows", "engines", "spans"):
            parts |= _proofs(folder, given.tapes, given.kills, given.only)
        if given.only in (None, "rows"):
            from .row_sizes import print_sizes

            parts["rows"] = print_sizes(folder)
        if given.only in (None, "engines"):
            from .engines import compare

            parts["engines"] = compare(folder)
        if given.only in (None, "spans"):
            from .spans import check

            parts["spans"] = check()
    return _code(parts)


def _code(parts: dict[str, bool | None]) -> int:
    """Print what each part came to; the exit code."""
    words = {True: "kept", False: "MISSED", None: "SKIPPED, as said above"}
    print("\n" + "; ".join(f"{name} {words[kept]}" for name, kept in parts.items()))
    return MISSED if False in parts.values() else SKIPPED if None in parts.values() else 0


def _proofs(folder: Path, count: int, kills: int, only: str | None) -> dict[str, bool | None]:
    recorded = tapes(folder / "tapes", count)
    print(f"{count} tapes of {TRIPS} round trips, {proof.SHIPPERS} shippers", flush=True)
    parts: dict[str, bool | None] = {}
    if only in (None, "moto"):
        with servers.moto(0.05) as (url, process):
            os.environ |= servers.environment(url)
            score = proof.prove(f"s3://{BUCKET}/fleet", recorded, folder, kills=kills)
            assert process.stdin and process.stdout
            process.stdin.write("\n")
            process.stdin.flush()
            puts, refused = process.stdout.readline().split()
        parts["moto"] = _print("moto (conditional PUT)", score, f"{refused} of {puts} PUTs answered 503")
    if only in (None, "s3rver"):
        with servers.s3rver(folder / "s3rver") as url:
            if url is None:
                print(f"s3rver SKIPPED: {servers.why_not()}", flush=True)
                parts["s3rver"] = None
            else:
                os.environ |= servers.environment(url)
                some = recorded[: max(10, count // 5)]
                score = proof.prove(f"s3://{BUCKET}/fleet", some, folder, kills=max(1, kills // 10), ship_again=True)
                said = f"no 503; {score.repaired} completed by the next ship"
                parts["s3rver"] = _print("s3rver (ignores conditions)", score, said)
    if only == "folder":
        os.environ["TURNTAPE_FLEET_KEY"] = "bench"
        parts["folder"] = _print("folder", proof.prove(str(folder / "store"), recorded, folder, kills=kills), "")
    return parts


def _print(server: str, score: proof.Score, puts: str) -> bool:
    times = sorted(score.to_bytes)
    slowest = f"{times[-1]:.3f} s" if times else "none"
    print(
        f"\n{server}: {'kept' if score.kept else 'MISSED'} in {score.seconds:.0f} s, {score.cpu:.0f} s of shippers' CPU"
    )
    print(f"  rows wanted {score.wanted}, found {score.found}, lost {score.lost}, twice {score.twice}")
    print(f"  compacted {score.table}, twice {score.table_twice}")
    print(f"  {score.kills} kills; {puts}")
    print(f"  readers meanwhile: {score.reads} whole reads, {score.reads_again} repeated, ", end="")
    print(f"{score.partial} partial, {score.seen_twice} twice")
    print(f"  planted texts in rows: {score.leaks} of {score.planted}")
    print(f"  row to bytes, slowest of {len(times)}: {slowest}")
    for problem in score.problems[:5]:
        print(f"  {problem}")
    sys.stdout.flush()
    return score.kept


if __name__ == "__main__":
    sys.exit(main())
