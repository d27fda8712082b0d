"""A tape comes back from a store as it was recorded, by its recording or by the object of its bytes."""

from pathlib import Path

import pytest
from fleet_rows import land, row
from shipped_tapes import tape

from turntape.cassettes import Cassette
from turntape.inspector.fleet.asking.tapes import fetch
from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.inspector.fleet.store.forgotten import forget_recording
from turntape.inspector.fleet.store.names import ROWS, Address, cassette_name
from turntape.inspector.fleet.store.store import Store, open_store
from turntape.inspector.fleet.table.compact import compact


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    return open_store(str(tmp_path / "store"), create=True)


def shipped(store: Store, tmp_path: Path) -> tuple[Path, Address]:
    path = tape(tmp_path / "a.cassette.jsonl")
    one = ship([path], store.address, ShipOptions()).files[0]
    return path, Address(store.address, one.recording)


def bodies(path: Path) -> list[tuple[bytes, bytes]]:
    return [(trip.request.body, trip.response.body if trip.response else b"") for trip in Cassette.load(path)]


def test_it_is_the_tape_that_was_shipped(store: Store, tmp_path: Path) -> None:
    path, address = shipped(store, tmp_path)
    (tmp_path / "got").mkdir()

    found = fetch(store, address, tmp_path / "got")

    assert bodies(found) == bodies(path)
    assert found.stat().st_mode & 0o077 == 0


def test_the_object_of_its_bytes_is_an_address_too(store: Store, tmp_path: Path) -> None:
    path, _ = shipped(store, tmp_path)
    content = next(store.listing("cassettes/v1")).name.rpartition("/")[2].partition(".")[0]

    assert bodies(fetch(store, Address(store.address, None, content), tmp_path)) == bodies(path)


def test_it_is_found_when_only_the_table_has_its_row(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, address = shipped(store, tmp_path)
    land(store, [row(0, "b" * 32)])
    compact(store)
    store.delete([one.name for one in store.listing(ROWS)])
    read: list[str] = []
    get = Store.get
    monkeypatch.setattr(Store, "get", lambda self, name: (read.append(name), get(self, name))[1])

    assert bodies(fetch(store, address, tmp_path)) == bodies(path)
    assert sum(name.startswith("table/") for name in read) == 1, "the footers say which day it is"


def test_what_is_not_there_is_said(store: Store, tmp_path: Path) -> None:
    _, address = shipped(store, tmp_path)
    recording = str(address.recording)
    with pytest.raises(StoreError, match="has no recording 0000"):
        fetch(store, Address(store.address, "0" * 32), tmp_path)
    with pytest.raises(StoreError, match="bytes of .* are not in the store"):
        fetch(store, Address(store.address, None, "0" * 64), tmp_path)

    store.delete([one.name for one in store.listing("cassettes/v1")])
    with pytest.raises(StoreError, match="expired, or only rows were shipped"):
        fetch(store, address, tmp_path)

    forget_recording(store, recording)
    with pytest.raises(StoreError, match="was forgotten"):
        fetch(store, address, tmp_path)
    assert cassette_name("0" * 64).startswith("cassettes/v1/00/")
