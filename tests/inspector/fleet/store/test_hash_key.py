"""The key of a store: all shippers agree on one, also where conditions are ignored."""

from pathlib import Path

import pytest

from turntape.inspector.fleet.store.hash_key import hash_key
from turntape.inspector.fleet.store.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(str(tmp_path / "store"), create=True)


def test_a_key_is_made_once(store: Store) -> None:
    waited: list[float] = []

    first = hash_key(store, {}, waited.append)

    assert len(first) == 32
    assert hash_key(store, {}, waited.append) == first
    assert len(waited) == 1


def test_two_that_begin_at_the_same_time_take_the_older_offer(store: Store) -> None:
    others: list[bytes] = []

    def another(seconds: float) -> None:
        others.append(hash_key(store, {}, lambda seconds: None))

    first = hash_key(store, {}, another)

    assert others == [first]


def test_a_key_in_the_environment_stays_out_of_the_store(store: Store) -> None:
    key = hash_key(store, {"TURNTAPE_FLEET_KEY": "ours"})

    assert key == hash_key(store, {"TURNTAPE_FLEET_KEY": "ours"}) != hash_key(store, {"TURNTAPE_FLEET_KEY": "x"})
    assert list(store.listing("keys/v1")) == []
