"""Compaction: the table holds every row of the landing objects once, whatever happened before."""

import json
from pathlib import Path

import pytest
from fleet_rows import DAY, row
from shipped_tapes import LOOP, names, rows, tape

from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.rows.arrow import TableWriter, table_of
from turntape.inspector.fleet.shipping.ship import ship
from turntape.inspector.fleet.store.names import table_name
from turntape.inspector.fleet.store.store import Store, open_store
from turntape.inspector.fleet.table.compact import compact
from turntape.inspector.fleet.table.landing import compacted_from, day_of_store


@pytest.fixture
def to(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def table(to: str) -> list[dict[str, object]]:
    return rows(to, "table/v1")


def shipped(tmp_path: Path, to: str, *trips: int) -> list[Path]:
    paths = [tape(tmp_path / f"{n}.cassette.jsonl", f"run {n}", count) for n, count in enumerate(trips)]
    ship(paths, to)
    return paths


def test_the_table_has_the_rows_of_all_landing_objects(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP, LOOP, 1)

    done = compact(open_store(to))

    assert [(one.changed, one.recordings, one.rows) for one in done] == [(True, 3, 2 * LOOP + 1)]
    assert table(to) == rows(to)


def test_a_table_that_is_up_to_date_is_left_alone(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP)
    store = open_store(to)
    compact(store)
    before = [(one.name, one.etag) for one in store.listing("table/v1")]

    assert [one.changed for one in compact(store)] == [False]

    assert [(one.name, one.etag) for one in store.listing("table/v1")] == before


def test_a_recording_that_has_grown_is_in_the_table_once(tmp_path: Path, to: str) -> None:
    (path,) = shipped(tmp_path, to, 1)
    compact(open_store(to))
    tape(path, "run 0", 1, append=True)
    ship([path], to)

    assert [one.changed for one in compact(open_store(to))] == [True]

    assert [row["n"] for row in table(to)] == list(range(LOOP))


def test_rows_stay_when_a_rule_of_the_bucket_removes_their_landing_object(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP, LOOP, LOOP)
    store = open_store(to)
    compact(store)
    before = table(to)
    gone = names(to, "rows/v1")[1]
    store.delete([gone])
    more = tape(tmp_path / "more.cassette.jsonl")
    ship([more], to)

    assert [one.rows for one in compact(store)] == [4 * LOOP]

    found = table(to)
    assert all(row in found for row in before)
    assert [row["recording"] for row in found] == sorted(str(row["recording"]) for row in found)
    assert [one.changed for one in compact(store)] == [False]


def test_a_table_survives_the_removal_of_all_its_landing_objects(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP)
    store = open_store(to)
    compact(store)
    store.delete(names(to, "rows/v1"))

    assert [one.changed for one in compact(store)] == [False]
    assert len(table(to)) == LOOP


def test_what_changes_meanwhile_is_seen_before_the_end(
    tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped(tmp_path, to, LOOP)
    late = tape(tmp_path / "late.cassette.jsonl")
    put, done = Store.put, list[str]()

    def ship_late(self: Store, name: str, data: bytes, **how: object) -> object:
        if name.startswith("table/") and not done:
            done.append(name)
            ship([late], to)
        return put(self, name, data, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "put", ship_late)
    compact(open_store(to))

    assert len(table(to)) == 2 * LOOP


def test_a_damaged_landing_object_is_named(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP)
    name = names(to, "rows/v1")[0]
    open_store(to).put(name, b"no parquet")

    with pytest.raises(StoreError, match="is damaged; delete it and ship its recording again"):
        compact(open_store(to))


def test_the_footer_names_the_landing_objects_and_their_versions(tmp_path: Path, to: str) -> None:
    shipped(tmp_path, to, LOOP)
    store = open_store(to)
    compact(store)
    day = names(to, "rows/v1")[0].split("=")[1].split("/")[0]

    found = day_of_store(store, day)

    assert found.compacted == found.landing == {one.name: one.etag for one in store.listing("rows/v1")}


def test_of_a_table_with_many_names_the_footer_alone_is_read(to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(to, create=True)
    made_from = {f"rows/v1/day={DAY}/{number:032x}.parquet": f"etag-{number}" for number in range(2_000)}
    writer = TableWriter()
    writer.add(table_of([row()]))
    store.put(table_name(DAY.isoformat()), writer.close({"landing": json.dumps(made_from)}))
    monkeypatch.setattr(type(store), "get", lambda self, name: pytest.fail(f"{name} is read whole"))

    assert compacted_from(store, DAY.isoformat()) == made_from
