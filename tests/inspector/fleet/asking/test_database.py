"""Questions to a store: each row once, nothing else within reach, and asked again when an object was replaced."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fleet_rows import DAY, call, compact_day, finding, folder, land, row
from s3_server import BUCKET, s3_server

from turntape.inspector.fleet.asking import database as module
from turntape.inspector.fleet.asking import local_copies
from turntape.inspector.fleet.asking.database import Database, NothingShipped
from turntape.inspector.fleet.asking.sql_errors import QuestionError
from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.store.forgotten import forget_before, forget_recording
from turntape.inspector.fleet.store.names import TABLE, rows_name
from turntape.inspector.fleet.store.store import Store, StoredObject, open_store

A, B = "a" * 32, "b" * 32
ROWS = "select recording, n from turns order by all"


def ask(store: Store, sql: str, **parameters: object) -> list[dict[str, Any]]:
    with Database(store) as database:
        return database.ask(sql, parameters).to_pylist()


def places(store: Store) -> list[tuple[str, int]]:
    return [(one["recording"][0], one["n"]) for one in ask(store, ROWS)]


def test_a_store_that_was_never_compacted_is_read(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0), row(1)], [row(0, B)])

    assert places(store) == [("a", 0), ("a", 1), ("b", 0)]


def test_compacted_rows_count_once(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0), row(1)])
    compact_day(store, [row(0), row(1)])

    assert places(store) == [("a", 0), ("a", 1)]


def test_a_recording_that_was_shipped_after_the_compaction_is_read_too(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0)])
    compact_day(store, [row(0)])
    land(store, [row(0, B)])

    assert places(store) == [("a", 0), ("b", 0)]


def test_of_a_recording_that_has_grown_since_only_the_new_rows_count(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0)], [row(0, B)])
    compact_day(store, [row(0), row(0, B)])
    land(store, [row(0, cost_usd=Decimal(1)), row(1), row(2)])

    assert places(store) == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert ask(store, "select cost_usd from turns where recording[1] = 'a' and n = 0") == [{"cost_usd": Decimal(1)}]


def test_compacted_rows_stay_when_their_landing_objects_have_expired(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0)], [row(0, B)])
    compact_day(store, [row(0), row(0, B)])
    store.delete([rows_name(DAY.isoformat(), A)])

    assert places(store) == [("a", 0), ("b", 0)]


def test_a_forgotten_recording_does_not_count_before_its_rows_are_gone(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0)], [row(0, B)])
    compact_day(store, [row(0), row(0, B)])
    land(store, [row(0), row(1)])
    forget_recording(store, A)

    assert places(store) == [("b", 0)]


def test_days_that_have_expired_do_not_count(tmp_path: Path) -> None:
    later = DAY + timedelta(days=1)
    store = folder(tmp_path, [row(0)], [row(0, B, later)])
    compact_day(store, [row(0)])
    forget_before(store, later)

    assert places(store) == [("b", 0)]


def test_since_leaves_out_earlier_days(tmp_path: Path) -> None:
    later = DAY + timedelta(days=1)
    store = folder(tmp_path, [row(0)], [row(0, B, later)])

    with Database(store, later) as database:
        assert [one["recording"] for one in database.ask(ROWS).to_pylist()] == [B]


def test_the_six_views(tmp_path: Path) -> None:
    tools = [call("bash", 50, is_error=True), call("read")]
    run = {
        "call_id": "c",
        "name": "bash",
        "server": "s",
        "wire": "wire",
        "outcome": "answered",
        "joined": "exact",
        "duration_ms": 1.5,
        "is_error": False,
        "returned_bytes": 3,
        "seen_bytes": 3,
        "seen_as": "equal",
        "sent_hash": "x",
        "seen_hash": "x",
    }
    one = row(0, tool_calls=tools, tool_runs=[run], findings=[finding("f"), finding("g", root=False)], branch="main")
    other = row(1, thread="t2", turn=1, cost_usd=None, input=None, status=500)
    aside = row(2, thread=None, turn=None, kind="models")
    store = folder(tmp_path, [one, other, aside])

    assert ask(store, "select count(*) as n from turns") == [{"n": 2}]
    assert ask(store, "select count(*) as n from round_trips") == [{"n": 3}]
    found = ask(store, "select turns, threads, failed, cost_usd, unpriced, findings, errors, branch, address from runs")
    assert found == [
        {
            "turns": 2,
            "threads": 2,
            "failed": 1,
            "cost_usd": Decimal("0.01"),
            "unpriced": 0,
            "findings": 2,
            "errors": 1,
            "branch": "main",
            "address": f"{tmp_path}#{A}",
        }
    ]
    assert ask(store, "select thread, address from threads order by all") == [
        {"thread": "t1", "address": f"{tmp_path}#{A}/0"},
        {"thread": "t2", "address": f"{tmp_path}#{A}/1"},
    ]
    assert ask(store, "select name, is_error, result_bytes, branch from tool_calls order by name") == [
        {"name": "bash", "is_error": True, "result_bytes": 50, "branch": "main"},
        {"name": "read", "is_error": None, "result_bytes": None, "branch": "main"},
    ]
    assert ask(store, "select name, seen_as, duration_ms from tool_runs") == [
        {"name": "bash", "seen_as": "equal", "duration_ms": 1.5}
    ]
    assert ask(store, "select id, root from findings order by id") == [
        {"id": "f", "root": True},
        {"id": "g", "root": False},
    ]


def test_a_column_that_older_objects_do_not_have_is_null(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    store = folder(tmp_path, [row(0)])
    name = rows_name(DAY.isoformat(), B)
    older = pq.read_table(tmp_path / rows_name(DAY.isoformat(), A)).drop_columns(["branch"])
    sink = pa.BufferOutputStream()
    pq.write_table(older.set_column(1, "recording", pa.array([B])).append_column("newer", pa.array([1])), sink)
    store.put(name, sink.getvalue().to_pybytes())

    assert ask(store, "select recording, branch from turns where recording[1] = 'b'") == [
        {"recording": B, "branch": None}
    ]


def test_parameters_are_values_and_never_sql(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0, branch="it's; drop table x")])

    assert ask(store, "select n from turns where branch = $branch", branch="it's; drop table x") == [{"n": 0}]


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_text('/etc/hostname')",
        "select * from read_csv('http://127.0.0.1:9/x')",
        "select * from '/etc/hostname'",
        "select * from glob('/etc/*')",
        "copy turns to 'out.csv'",
        "attach 'x.db'",
        "install httpfs",
        "load httpfs",
        "export database 'out'",
        "call enable_logging(storage_path = 'log')",
        "set enable_external_access = true",
        "set lock_configuration = false",
        "reset enable_external_access",
        "set temp_directory = '/tmp'",
        "pragma enable_profiling = 'json'",
    ],
)
def test_a_question_reaches_no_file_no_network_and_no_setting(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = folder(tmp_path / "store", [row(0)])

    with pytest.raises(QuestionError):
        ask(store, sql)

    assert [one.name for one in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("sql", ["", " ;", "-- nothing"])
def test_sql_without_a_statement_is_an_error(sql: str, tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="^there is no statement in the SQL"):
        ask(folder(tmp_path, [row(0)]), sql)


def test_a_question_does_not_see_variables_of_python(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0)])
    with pytest.raises(QuestionError, match="there is no view 'sys_modules'"):
        ask(store, "select * from sys_modules")


def test_an_empty_store_names_the_command_that_fills_it(tmp_path: Path) -> None:
    with pytest.raises(NothingShipped, match="turntape ship"):
        ask(open_store(str(tmp_path)), "select 1")


def replaced_while_read(monkeypatch: pytest.MonkeyPatch, change: Callable[[int], object]) -> list[str]:
    """Call `change` with the number of each fetch of an object that is listed, before it is fetched."""
    fetched: list[str] = []
    for name in ("_fetched", "_linked"):
        real = getattr(local_copies, name)

        def before(store: Store, folder: Path, newest: bool, one: StoredObject, real: Any = real) -> Any:
            fetched.append(one.name)
            change(len(fetched))
            return real(store, folder, newest, one)

        monkeypatch.setattr(local_copies, name, before)
    return fetched


def test_a_question_is_asked_again_when_an_object_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = folder(tmp_path, [row(0)])
    compact_day(store, [row(0)])

    def new_table(number: int) -> None:
        if number == 1:
            land(store, [row(0), row(1)])
            compact_day(store, [row(0), row(1)])

    fetched = replaced_while_read(monkeypatch, new_table)

    assert places(store) == [("a", 0), ("a", 1)]
    assert len(fetched) > 1


def test_an_object_that_is_deleted_before_it_is_read_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = folder(tmp_path, [row(0)], [row(0, B)])

    def forgotten(number: int) -> None:
        if number == 1:
            forget_recording(store, A)
            store.delete([rows_name(DAY.isoformat(), A)])

    replaced_while_read(monkeypatch, forgotten)

    assert places(store) == [("b", 0)]


def test_a_store_that_never_rests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = folder(tmp_path, [row(0)])
    compact_day(store, [row(0)])

    def always(number: int) -> None:
        table = next(store.listing(TABLE))
        found = store.get(table.name)
        assert found is not None
        (tmp_path / "new").write_bytes(found.data)
        (tmp_path / "new").rename(tmp_path / table.name)

    replaced_while_read(monkeypatch, always)

    with pytest.raises(StoreError, match=f"in each of {module.ATTEMPTS} attempts"):
        places(store)


def test_a_bucket_is_read_in_one_version_of_each_object(monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        store = open_store(f"s3://{BUCKET}/team")
        land(store, [row(0), row(1)])
        compact_day(store, [row(0), row(1)])
        land(store, [row(0, B)])
        assert places(store) == [("a", 0), ("a", 1), ("b", 0)]

        def new_table(number: int) -> None:
            if number == 1:
                compact_day(store, [row(0), row(1), row(0, B)])

        fetched = replaced_while_read(monkeypatch, new_table)

        assert places(store) == [("a", 0), ("a", 1), ("b", 0)]
        assert len(fetched) > 1
        assert ask(store, "select address from turns where recording[1] = 'b'") == [
            {"address": f"s3://{BUCKET}/team#{B}/0"}
        ]


@pytest.mark.parametrize(
    ("name", "again"),
    [("rows/v1/day=2026-11-02/x.parquet", "ship its recording"), ("table/v1/day=2026-11-02/all.parquet", "compact")],
)
def test_a_damaged_object_is_named(name: str, again: str, tmp_path: Path) -> None:
    store = folder(tmp_path, [row()])
    store.put(name, b"junk")

    with (
        Database(store) as database,
        pytest.raises(StoreError, match=f"^{name} in .* is damaged; delete it and {again} again$"),
    ):
        database.ask("select count(*) from round_trips")
