"""Rows of runs that were never recorded, and stores that hold them."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from turntape.inspector.fleet.rows.arrow import TableWriter, landing_bytes, table_of
from turntape.inspector.fleet.rows.schema import Row
from turntape.inspector.fleet.store.names import ROWS, TABLE, rows_name
from turntape.inspector.fleet.store.store import Store, open_store

DAY = date(2026, 11, 2)
_LISTS = ("kinds", "tools_offered", "tool_calls", "tool_runs", "findings")


def row(n: int = 0, recording: str = "a" * 32, day: date = DAY, **given: Any) -> Row:
    """A turn that cost one cent."""
    began = datetime.combine(day, time(9), UTC) + timedelta(seconds=n)
    fields: dict[str, Any] = dict.fromkeys(Row.model_fields)
    fields |= {name: [] for name in _LISTS}
    fields |= {"v": 1, "recording": recording, "cassette": recording * 2, "n": n, "part": 0, "run": "run"}
    fields |= {"thread": "t1", "turn": n + 1, "attempt": 1, "protocol": "openai-chat", "kind": "generation"}
    fields |= {"method": "POST", "provider": "acme", "status": 200, "streamed": False, "started_at": began}
    fields |= {"client": "agent", "client_version": "1.0", "request_model": "m-1", "input": 100, "output": 10}
    fields |= {"cost_usd": Decimal("0.01"), "labels": {}, "tool": "0.1.0"}
    return Row.model_validate(fields | given)


def finding(id: str, severity: str = "error", root: bool = True) -> dict[str, Any]:
    return {"id": id, "layer": "client", "severity": severity, "tier": "P", "root": root}


def call(name: str, result_bytes: int | None = None, is_error: bool | None = None) -> dict[str, Any]:
    return {
        "id": None,
        "name": name,
        "server": None,
        "args_hash": None,
        "args_bytes": 2,
        "is_error": is_error,
        "result_bytes": result_bytes,
    }


def land(store: Store, rows: Sequence[Row], day: date = DAY) -> None:
    """Put the rows of one recording where shipping puts them."""
    store.put(rows_name(day.isoformat(), rows[0].recording), landing_bytes(rows, {}))


def compact_day(store: Store, rows: Iterable[Row], day: date = DAY) -> None:
    """Put the table of a day that was made from its present landing objects and holds these rows."""
    made_from = {one.name: one.etag for one in store.listing(f"{ROWS}/day={day}")}
    writer = TableWriter()
    writer.add(table_of(rows))
    store.put(f"{TABLE}/day={day}/all.parquet", writer.close({"landing": json.dumps(made_from)}))


def folder(path: Path, *recordings: Sequence[Row]) -> Store:
    """A store in a folder with these recordings."""
    store = open_store(str(path), create=True)
    for rows in recordings:
        land(store, rows, rows[0].started_at.date())
    return store
