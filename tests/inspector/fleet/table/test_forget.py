"""Deletion: nothing of a recording is left, and no later ship brings it back."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from shipped_tapes import LOOP, names, rows, tape

from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.inspector.fleet.store.store import open_store
from turntape.inspector.fleet.table.compact import compact
from turntape.inspector.fleet.table.forget import expire, find, forget, sweep


@pytest.fixture
def to(tmp_path: Path) -> str:
    return str(tmp_path / "store")


@pytest.fixture
def paths(tmp_path: Path, to: str) -> list[Path]:
    paths = [tape(tmp_path / f"{name}.cassette.jsonl", name) for name in ("bad", "good")]
    ship(paths, to, ShipOptions(content=True))
    compact(open_store(to))
    return paths


def everything(to: str) -> list[str]:
    """All objects but the tombstones."""
    return [name for prefix in ("cassettes", "rows", "table", "content") for name in names(to, f"{prefix}/v1")]


def runs(to: str) -> set[object]:
    return {row["run"] for prefix in ("rows/v1", "table/v1") for row in rows(to, prefix)}


@pytest.mark.usefixtures("paths")
def test_a_run_is_found_by_its_name_and_by_its_recording(to: str) -> None:
    (found,) = find(open_store(to), run="bad")

    assert (found.runs, found.rows) == (("bad",), LOOP)
    assert find(open_store(to), recording=found.recording[:10]) == [found]
    assert find(open_store(to), run="ba") == []


@pytest.mark.usefixtures("paths")
def test_forgetting_removes_bytes_texts_and_rows(to: str) -> None:
    store = open_store(to)
    before = everything(to)
    bad = find(store, run="bad")

    done = forget(store, bad)

    assert (done.recordings, done.objects) == (1, 3)
    assert runs(to) == {"good"}
    assert len(everything(to)) == len(before) - 3
    assert find(store, run="bad") == []


def test_a_forgotten_recording_is_not_shipped_again(paths: list[Path], to: str, tmp_path: Path) -> None:
    store = open_store(to)
    forget(store, find(store, run="bad"))
    after = everything(to)

    file = ship(paths[:1], to).files[0]

    assert file.state == "forgotten"
    assert "was deleted from" in str(file.problem)
    assert everything(to) == after


def test_shorter_versions_are_forgotten_too(to: str, tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl", "a", 1)
    ship([path], to)
    tape(path, "a", 1, append=True)
    ship([path], to)
    assert len(names(to, "cassettes/v1")) == 2

    forget(open_store(to), find(open_store(to), run="a"))

    assert everything(to) == []


def test_a_ship_that_overtakes_the_deletion_removes_what_it_wrote(
    tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from turntape.inspector.fleet.store.forgotten import forget_recording
    from turntape.inspector.fleet.store.store import Store

    path, put = tape(tmp_path / "a.cassette.jsonl"), Store.put

    def forget_first(self: Store, name: str, data: bytes, **how: object) -> object:
        if name.startswith("rows/"):
            forget_recording(self, name.rpartition("/")[2].removesuffix(".parquet"))
        return put(self, name, data, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "put", forget_first)

    assert ship([path], to).files[0].state == "forgotten"
    assert everything(to) == []


@pytest.mark.usefixtures("paths")
def test_a_dry_run_deletes_nothing(to: str) -> None:
    store, before = open_store(to), everything(to)

    assert forget(store, find(store, run="bad"), dry_run=True).objects == 3
    assert expire(store, date(2999, 1, 1), dry_run=True).recordings == 2

    assert everything(to) == before
    assert names(to, "forgotten/v1") == []


def test_what_began_before_a_day_expires_with_its_bytes(paths: list[Path], to: str) -> None:
    store = open_store(to)
    tomorrow = datetime.now(UTC).date() + timedelta(days=1)

    assert expire(store, tomorrow - timedelta(days=1)).recordings == 0
    assert expire(store, tomorrow).recordings == 2

    assert everything(to) == []
    assert {file.state for file in ship(paths, to).files} == {"forgotten"}


@pytest.mark.usefixtures("paths")
def test_expiry_deletes_what_only_the_table_still_names(to: str) -> None:
    store = open_store(to)
    store.delete(names(to, "rows/v1"))

    expire(store, date(2999, 1, 1))

    assert everything(to) == []


@pytest.mark.usefixtures("paths")
def test_an_old_cassette_without_rows_is_swept(to: str) -> None:
    store, orphan = open_store(to), f"cassettes/v1/aa/{'a' * 64}.jsonl.zst"
    store.put(orphan, b"x")
    before = everything(to)
    now = datetime.now(UTC)

    assert sweep(store, now).objects == 0
    assert sweep(store, now + timedelta(days=8)).objects == 1

    assert everything(to) == [name for name in before if name != orphan]
