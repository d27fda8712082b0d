"""Bytes per row and the time of questions, at one and at ten million rows.

The rows are those of shipped tapes, repeated with other recordings, cassettes, days, times, tokens and costs: more
regular than life in texts, and as varied in what identifies a row.
"""

import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from turntape.inspector.fleet.rows.arrow import ROW_GROUP, arrow_schema, rows_in
from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.inspector.fleet.store.store import open_store

from .tapes import tapes

pc: Any = pyarrow.compute
MILLION = 1_000_000
TAPES = 250
BAR = 10.0
"""Ten times the rows may take so many times as long."""

QUESTIONS = {
    "cost by model, branch and day": "select request_model, branch, started_at::date, sum(cost_usd) from t "
    "group by all",
    "findings by class and week": "select f.id, date_trunc('week', started_at), count(*), count(distinct recording) "
    "from (select unnest(findings) f, recording, started_at from t) group by all",
    "failures by prompt": "select system_hash, branch, count(distinct recording), "
    "count(distinct recording) filter (verdict = 'fail') from t group by all",
    "dearest tools": "select c.name, count(*), sum(c.result_bytes) from (select unnest(tool_calls) c from t) "
    "group by 1",
    "cache by client": "select client, client_version, sum(cache_read) / sum(input) from t group by all",
    "first byte, 95 %": "select request_model, quantile_cont(first_byte_ms, .95) from t where status = 200 group by 1",
    "errors by hour": "select provider, status, hour(started_at), count(*) from t where status >= 400 group by all",
    "dearest runs": "select recording, sum(cost_usd) u from t group by 1 order by 2 desc, 1 limit 20",
}


def print_sizes(folder: Path) -> bool:
    """Measure and print; returns whether the bar is kept."""
    base = _base(folder)
    files = [folder / "million" / f"{number}.parquet" for number in range(10)]
    files[0].parent.mkdir()
    for number, file in enumerate(files):
        _write(base, number, file)
    small, large = _times(files[:1]), _times(files)
    size = sum(file.stat().st_size for file in files)
    print(f"\nrows: {files[0].stat().st_size / MILLION:.0f} bytes a row at 1 M, {size / 10 / MILLION:.0f} at 10 M")
    for name in QUESTIONS:
        print(f"  {name:32} {small[name]:6.2f} s  {large[name]:6.2f} s  {large[name] / small[name]:5.1f} ×")
    whole = sum(large.values()) / sum(small.values())
    print(f"  {'all':32} {sum(small.values()):6.2f} s  {sum(large.values()):6.2f} s  {whole:5.1f} × (bar {BAR:.0f} ×)")
    return whole <= BAR


def _base(folder: Path) -> pa.Table:
    """The rows of shipped tapes."""
    to = str(folder / "base")
    ship(
        [tape.path for tape in tapes(folder / "base-tapes", TAPES, seed=11)], to, ShipOptions(labels={"branch": "main"})
    )
    store = open_store(to)
    contents = [store.get(one.name) for one in store.listing("rows/v1")]
    return pa.concat_tables([rows_in(content.data) for content in contents if content is not None])


def _write(base: pa.Table, number: int, file: Path) -> None:
    """A million rows, of other recordings in each file and in each repetition."""
    with pq.ParquetWriter(file, arrow_schema(), compression="zstd") as writer:
        waiting: list[pa.Table] = []
        rows = copy = 0
        while rows < MILLION:
            part = _varied(base, number * 1000 + copy).slice(0, MILLION - rows)
            waiting.append(part)
            rows, copy = rows + len(part), copy + 1
            if sum(map(len, waiting)) >= ROW_GROUP or rows == MILLION:
                writer.write_table(_sorted(pa.concat_tables(waiting)), row_group_size=ROW_GROUP)
                waiting = []


def _sorted(table: pa.Table) -> pa.Table:
    return table.sort_by([("recording", "ascending"), ("n", "ascending")])


def _varied(base: pa.Table, copy: int) -> pa.Table:
    """The rows as if they were recorded again: other names, day, time, tokens, cost and labels."""
    columns = {name: base.column(name) for name in base.column_names}
    for name, digits in (("recording", 32), ("cassette", 64)):
        dictionary = pc.dictionary_encode(columns[name].combine_chunks())
        renamed = [sha256(f"{copy} {one}".encode()).hexdigest()[:digits] for one in dictionary.dictionary.to_pylist()]
        columns[name] = pa.array(renamed).take(dictionary.indices)
    noise = pc.random(len(base), initializer=copy)
    columns["started_at"] = pc.add(columns["started_at"], pa.scalar((copy % 360) * 86_400_000_000, pa.duration("us")))
    for name in ("first_byte_ms", "duration_ms"):
        columns[name] = pc.round(pc.multiply(columns[name], pc.add(noise, 0.5)), 3)
    for name in ("input", "output", "request_bytes", "response_bytes"):
        columns[name] = pc.cast(pc.floor(pc.multiply(columns[name], pc.add(noise, 0.5))), pa.int64())
    cost = pc.multiply(pc.cast(columns["cost_usd"], pa.float64()), pc.add(noise, 0.5))
    columns["cost_usd"] = pc.cast(pc.round(cost, 9), pa.decimal128(18, 9), safe=False)
    branch, verdict = ("main", "fix", "next", "old")[copy % 4], ("pass", "fail")[copy % 7 == 0]
    columns["branch"] = pa.array([branch] * len(base))
    columns["verdict"] = pa.array([verdict] * len(base))
    columns["run"] = pa.array([f"run-{copy % 97}"] * len(base))
    return pa.table([columns[name] for name in base.column_names], schema=base.schema)


def _times(files: list[Path]) -> dict[str, float]:
    """Seconds of each question, the better of two."""
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        names = ", ".join(f"'{file}'" for file in files)
        database.execute(f"create view t as select * from read_parquet([{names}])")
        found: dict[str, float] = {}
        for name, question in QUESTIONS.items():
            found[name] = min(_time(database, question) for _ in range(2))
        return found


def _time(database: duckdb.DuckDBPyConnection, question: str) -> float:
    began = time.monotonic()
    database.execute(question).fetchall()
    return time.monotonic() - began
