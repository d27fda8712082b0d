"""The twelve named questions get equal answers from DuckDB, chDB, DataFusion and Spark, on the same Parquet files."""

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from tests.fleet_rows import call, compact_day, finding, row
from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.questions import QUESTIONS as NAMED
from turntape.inspector.fleet.rows.schema import Row
from turntape.inspector.fleet.store.store import Store, open_store

from . import dialects

ENVIRONMENT = Path(__file__).parents[2] / ".engines"
PACKAGES = ("chdb", "datafusion", "pyspark")
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
        python, problem = _environment(engine)
        if python is None:
            print(f"  {engine:12} SKIPPED: {problem}", flush=True)
            kept = kept and None
            continue
        done = subprocess.run(
            [python, dialects.__file__, engine, table], capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            print(f"  {engine:12} FAILED: {last}", flush=True)
            kept = False
            continue
        theirs = json.loads(done.stdout.splitlines()[-1])
        wrong = [name for name in dialects.QUESTIONS if not dialects.equal(ours[name], theirs[name])]
        print(f"  {engine:12} {len(NAMED) - len(wrong)} of {len(NAMED)} equal {' '.join(wrong)}", flush=True)
        kept = False if wrong else kept
    return kept


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
