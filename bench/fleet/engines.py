"""The twelve named questions get equal answers from DuckDB, chDB, DataFusion and Spark, on the same Parquet files, and
the examples of docs/fleet.md run as they are written."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.fleet_rows import call, compact_day, finding, row
from tests.s3_server import BUCKET, s3_server
from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.questions import QUESTIONS as NAMED
from turntape.inspector.fleet.rows.schema import Row
from turntape.inspector.fleet.store.store import Store, open_store

from . import dialects, documented

ENVIRONMENT = Path(__file__).parents[2] / ".engines"
PACKAGES = ("chdb", "datafusion", "pyspark")
_FINDINGS = "select id, count(*) from findings group by all"
EXAMPLES = {
    "duckdb": "select name, count(*), sum(result_bytes) from tool_calls group by all",
    "chdb": _FINDINGS,
    "datafusion": _FINDINGS,
    "polars": "select branch, sum(cost_usd) from turns group by all",
    "pyspark": _FINDINGS,
}
"""What the example of each engine asks, in our SQL."""
NEEDS = {"pyspark": "java"}
"""Programs that an engine needs."""
DAYS, RUNS, TURNS = 10, 30, 8
EVERYTHING = 10**9


def compare(folder: Path) -> bool | None:
    """Ask all engines and print one line for each; whether all answers are equal, None when an engine was not asked."""
    store = _store(folder / "engines")
    ours = _duckdb(store)
    print(f"\n{DAYS * RUNS * TURNS} rows; twelve questions, against the answers of `turntape query`", flush=True)
    table = str(folder / "engines" / "table" / "v1")
    kept: bool | None = True
    for engine in PACKAGES:
        theirs = _asked(engine, dialects.__file__, [table], "")
        if isinstance(theirs, dict):
            wrong = [name for name in dialects.QUESTIONS if not dialects.equal(ours[name], theirs[name])]
            print(f"  {engine:12} {len(NAMED) - len(wrong)} of {len(NAMED)} equal {' '.join(wrong)}", flush=True)
            kept = False if wrong else kept
        else:
            kept = kept and theirs
    return _compare_examples(store, folder / "engines", kept)


def _compare_examples(store: Store, folder: Path, kept: bool | None) -> bool | None:
    """Run the examples of docs/fleet.md; what is still kept."""
    print("\nthe examples of docs/fleet.md; chDB, DataFusion and Polars from a bucket of moto", flush=True)
    with Database(store) as database:
        ours = {engine: dialects.comparable_rows(map(tuple, _rows(database, sql))) for engine, sql in EXAMPLES.items()}
    with s3_server() as server:
        environment = server.environment
        os.environ |= environment
        bucket = open_store(f"s3://{BUCKET}/agents")
        for one in store.listing("table/v1"):
            content = store.get(one.name)
            assert content is not None
            bucket.put(one.name, content.data)
        keys = (environment["AWS_ACCESS_KEY_ID"], environment["AWS_SECRET_ACCESS_KEY"])
        place = json.dumps(asdict(documented.Place(str(folder), server.url, BUCKET, *keys)))
        for engine, wanted in ours.items():
            theirs = _asked(engine, documented.__file__, [], place)
            if isinstance(theirs, list):
                same = dialects.equal(wanted, dialects.comparable_rows(map(tuple, theirs)))
                print(f"  {engine:12} {'equal' if same else 'DIFFERENT'}, {len(theirs)} rows", flush=True)
                kept = kept if same else False
            else:
                kept = kept and theirs
    return kept


def _rows(database: Database, sql: str) -> list[list[object]]:
    return [list(row.values()) for row in database.ask(sql).to_pylist()]


def _asked(engine: str, module: str, arguments: list[str], given: str) -> Any:
    """What a module prints as JSON in the environment of an engine; False when it failed, None without an engine."""
    python, problem = _environment(engine)
    if python is None:
        print(f"  {engine:12} SKIPPED: {problem}", flush=True)
        return None
    command = [python, module, engine, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        print(f"  {engine:12} FAILED: {last}", flush=True)
        return False
    return json.loads(done.stdout.splitlines()[-1])


def _duckdb(store: Store) -> dict[str, list[object]]:
    with Database(store) as database:
        found: dict[str, list[object]] = {}
        for one in NAMED:
            limit = {"limit": EVERYTHING} if "limit" in one.parameters else {}
            rows = database.ask(one.sql, {**one.parameters, **limit}).to_pylist()
            found[one.name] = dialects.comparable(rows, dialects.columns(one.name))
        return found


def _environment(engine: str) -> tuple[Path | None, str]:
    """The interpreter of an environment with the engine, made once; None when it cannot be made, and why."""
    uv = shutil.which(os.environ.get("UV", "uv"))
    if uv is None:
        return None, "there is no uv to install it with; `make fleet` finds one, or set UV"
    python = ENVIRONMENT / "bin" / "python"
    made = [uv, "venv", "--quiet", "--python", sys.executable, str(ENVIRONMENT)]
    install = [uv, "pip", "install", "--quiet", "--python", str(python), engine]
    for command in [install] if python.exists() else [made, install]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return None, f"it cannot be installed: {' '.join(done.stderr.split())[:300]}"
    needs = NEEDS.get(engine)
    if needs and shutil.which(needs) is None:
        return None, f"it needs {needs}, which is not on the PATH"
    return python, ""


def _store(folder: Path) -> Store:
    """A compacted store with runs of every kind that a question separates."""
    chance, store = Random(1), open_store(str(folder), create=True)
    for number in range(DAYS):
        day = datetime(2026, 11, 1, tzinfo=UTC).date() + timedelta(days=number)
        rows = [one for run in range(RUNS) for one in _run(chance, f"{chance.getrandbits(128):032x}", number, run)]
        compact_day(store, sorted(rows, key=lambda one: one.recording), day)
    return store


def _run(chance: Random, recording: str, day: int, run: int) -> list[Row]:
    date = datetime(2026, 11, 1, tzinfo=UTC).date() + timedelta(days=day)
    return [
        row(
            n,
            recording,
            date,
            branch=("main", "fix", "cache")[run % 3],
            task=f"task-{run % 5}",
            verdict=("pass", "fail")[(run * 7 + day) % 2],
            system_hash=f"s{run % 4}",
            prefix_hash=f"p{chance.randrange(30)}",
            request_model=f"m-{run % 4}",
            client_version=f"1.{run % 3}",
            status=200 if chance.random() < 0.93 else chance.choice((429, 500)),
            history=chance.choice(("extended", "extended", "changed")),
            finish=chance.choice(("complete", "tool_calls")),
            first_byte_ms=chance.random() * 1000,
            input=chance.randrange(1000, 100_000),
            cache_read=chance.choice((0, chance.randrange(1000))),
            cost_usd=f"{chance.randrange(1, 10**8) / 10**9:.9f}",
            tool_calls=[call(f"tool-{chance.randrange(4)}", chance.randrange(9999), is_error=n == 3)] * (n % 3),
            findings=[finding(f"class-{chance.randrange(5)}")] if chance.random() < 0.2 else [],
        )
        for n in range(TURNS)
    ]
