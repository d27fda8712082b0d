"""Bytes per row and the time of the twelve named questions, at one and at ten million rows.

The rows are those of shipped tapes, repeated with other recordings, cassettes, prompts, days, times, tokens and costs:
more regular than life in texts, and as varied in what identifies a row. They lie in a store with a table for each day,
as `--compact` makes them, and are asked as `turntape query` asks: each time the store is listed and read again.
"""

import os
import time
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.questions import QUESTIONS, Question
from turntape.inspector.fleet.rows.arrow import ROW_GROUP, arrow_schema, rows_in
from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.inspector.fleet.store.names import table_name
from turntape.inspector.fleet.store.store import open_store

from .tapes import tapes

pc: Any = pyarrow.compute
TAPES = 250
BAR = 10.0
"""Ten times the rows may take so many times as long."""
FIRST = date(2026, 1, 1)
DAYS = 10
"""The days of the small store; the large one has ten times as many."""
DAY_ROWS = 100_000
PAIRS = 5
"""How often the two stores are asked, one after the other; the medians count."""
_DAY = 86_400_000_000
"""Microseconds."""


def print_sizes(folder: Path) -> bool:
    """Measure and print; returns whether the bar is kept."""
    day = _day(_base(folder))
    large, small = folder / "ten-million", folder / "million"
    size = 0
    for number in range(10 * DAYS):
        name = table_name((FIRST + timedelta(days=number)).isoformat())
        file = large / name
        file.parent.mkdir(parents=True)
        _write(day, number, file)
        size += file.stat().st_size
        if number < DAYS:
            (small / name).parent.mkdir(parents=True)
            os.link(file, small / name)
    rows = 10 * DAYS * DAY_ROWS
    print(f"\nrows: {size / rows:.0f} bytes a row at {rows // 1_000_000} M", flush=True)
    whole, kept = [0.0, 0.0], True
    for one in QUESTIONS:
        pairs = [(_asked(small, one), _asked(large, one)) for _ in range(PAIRS)]
        few, many = (median(times) for times in zip(*pairs, strict=True))
        ratio = median(slow / fast for fast, slow in pairs)
        whole = [whole[0] + few, whole[1] + many]
        kept = kept and ratio <= BAR
        print(f"  {one.name:20} {few:6.2f} s  {many:6.2f} s  {ratio:5.1f} ×", flush=True)
    print(f"  {'all':20} {whole[0]:6.2f} s  {whole[1]:6.2f} s  {whole[1] / whole[0]:5.1f} × (bar {BAR:.0f} × for each)")
    return kept


def _base(folder: Path) -> pa.Table:
    """The rows of shipped tapes."""
    to = str(folder / "base")
    ship(
        [tape.path for tape in tapes(folder / "base-tapes", TAPES, seed=11)], to, ShipOptions(labels={"branch": "main"})
    )
    store = open_store(to)
    contents = [store.get(one.name) for one in store.listing("rows/v1")]
    return pa.concat_tables([rows_in(content.data) for content in contents if content is not None]).combine_chunks()


def _day(base: pa.Table) -> pa.Table:
    """The rows of a day: the same tapes again and again, of other branches, tasks and verdicts, with other prompts."""
    parts: list[pa.Table] = []
    for copy in range(-(-DAY_ROWS // len(base))):
        columns = {name: base.column(name) for name in base.column_names}
        # Two copies share their prompts: equal requests of which a few end in another way.
        for name, digits, other in (("recording", 32, copy), ("cassette", 64, copy), ("prefix_hash", 32, copy // 2)):
            columns[name] = _renamed(columns[name], digits, other)
        texts = {"branch": ("main", "fix", "next", "old")[copy % 4], "verdict": ("pass", "fail")[copy % 7 == 0]}
        texts |= {"run": f"run-{copy}", "task": f"task-{copy}", "client_version": f"1.{copy % 9}"}
        for name, text in texts.items():
            columns[name] = pa.array([text] * len(base))
        parts.append(pa.table([columns[name] for name in base.column_names], schema=base.schema))
    return pa.concat_tables(parts).slice(0, DAY_ROWS).combine_chunks()


def _write(rows: pa.Table, number: int, file: Path) -> None:
    """The table of a day, whose rows are no other day's."""
    table = _varied(rows, number).sort_by([("recording", "ascending"), ("n", "ascending")])
    with pq.ParquetWriter(file, arrow_schema(), compression="zstd") as writer:
        writer.write_table(table, row_group_size=ROW_GROUP)


def _varied(rows: pa.Table, number: int) -> pa.Table:
    """The rows as if they were recorded on another day: other names, times, tokens, costs and endings."""
    columns = {name: rows.column(name).combine_chunks() for name in rows.column_names}
    for name, digits in (("recording", 32), ("cassette", 64), ("prefix_hash", 32)):
        columns[name] = _renamed(columns[name], digits, number)
    columns["system_hash"] = _renamed(columns["system_hash"], 32, number // 5)
    noise = pc.random(len(rows), initializer=number)
    day = (FIRST + timedelta(days=number)).toordinal() - date(1970, 1, 1).toordinal()
    began = pc.cast(columns["started_at"], pa.int64())
    within = pc.subtract(began, pc.multiply(pc.divide(began, _DAY), _DAY))
    columns["started_at"] = pc.cast(pc.add(within, day * _DAY), pa.timestamp("us", tz="UTC"))
    for name in ("first_byte_ms", "duration_ms"):
        columns[name] = pc.round(pc.multiply(columns[name], pc.add(noise, 0.5)), 3)
    for name in ("input", "output", "request_bytes", "response_bytes"):
        columns[name] = pc.cast(pc.floor(pc.multiply(columns[name], pc.add(noise, 0.5))), pa.int64())
    cost = pc.multiply(pc.cast(columns["cost_usd"], pa.float64()), pc.add(noise, 0.5))
    columns["cost_usd"] = pc.cast(pc.round(cost, 9), pa.decimal128(18, 9), safe=False)
    columns["status"] = pc.if_else(pc.less(noise, 0.02), pa.scalar(429), columns["status"])
    columns["finish"] = pc.if_else(pc.greater(noise, 0.99), pa.scalar("length"), columns["finish"])
    columns["history"] = pc.if_else(pc.greater(noise, 0.97), pa.scalar("changed"), columns["history"])
    return pa.table([columns[name] for name in rows.column_names], schema=rows.schema)


def _renamed(column: Any, digits: int, copy: int) -> Any:
    dictionary = pc.dictionary_encode(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    names = [sha256(f"{copy} {one}".encode()).hexdigest()[:digits] for one in dictionary.dictionary.to_pylist()]
    return pa.array(names).take(dictionary.indices)


def _asked(folder: Path, one: Question) -> float:
    began = time.monotonic()
    with Database(open_store(str(folder))) as database:
        database.ask(one.sql, one.parameters)
    return time.monotonic() - began
