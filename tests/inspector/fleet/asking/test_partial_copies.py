"""Of large compacted objects in a bucket only the columns of a question are fetched, in the listed version."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from fleet_rows import DAY, compact_day, finding, row
from s3_server import BUCKET, s3_server

from turntape.inspector.fleet.asking import partial_copies, snapshot
from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.asking.local_copies import Replaced
from turntape.inspector.fleet.asking.partial_copies import PartialCopy
from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.rows.arrow import arrow_schema
from turntape.inspector.fleet.store.names import TABLE
from turntape.inspector.fleet.store.store import Store, open_store

LATER = DAY + timedelta(days=1)
ROWS = [row(n, recording=f"{n % 50:032x}", branch=f"b{n % 3}", findings=[finding("f")] * (n % 2)) for n in range(400)]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """A bucket with two days, of which every object counts as large."""
    with pytest.MonkeyPatch.context() as patch, s3_server() as server:
        patch.setattr(snapshot, "WHOLE", 0)
        patch.setattr(partial_copies, "_HOLE", 1 << 10)
        for missing in ("pread", "pwrite"):  # as on Windows
            patch.delattr(os, missing, raising=False)
        for name, value in server.environment.items():
            patch.setenv(name, value)
        found = open_store(f"s3://{BUCKET}/large", create=True)
        compact_day(found, ROWS)
        compact_day(found, [row(0, "f" * 32, LATER, branch="late")], LATER)
        yield found


def fetched(store: Store, *questions: str) -> tuple[list[list[object]], list[int]]:
    """The answers, and the bytes that were fetched for each."""
    answers: list[list[object]] = []
    sizes: list[int] = []
    with Database(store, progress=lambda size: sizes.append(sizes.pop() + size)) as database:
        for question in questions:
            sizes.append(0)
            answers.append([tuple(one.values()) for one in database.ask(question).to_pylist()])
    return answers, sizes


def test_a_question_fetches_its_columns_and_no_column_twice(store: Store) -> None:
    whole = sum(one.size for one in store.listing(TABLE))
    by_branch = "select branch, count(*) from turns group by all order by all"
    (first, again, filtered, every), sizes = fetched(
        store,
        by_branch,
        by_branch,
        "select count(*) from findings where branch = 'b1' and id = 'f'",
        "select count(*) from (select * from round_trips)",
    )

    assert first == again == [("b0", 134), ("b1", 133), ("b2", 133), ("late", 1)]
    assert filtered == [(67,)] and every == [(401,)]
    assert 0 < sizes[2] < sizes[0] < 0.8 * whole, "most of these bytes are the footers of few rows"
    assert sizes[1] == 0 and sizes[3] < sizes[2]


def test_all_columns_are_those_of_the_object(store: Store, tmp_path: Path) -> None:
    local = open_store(str(tmp_path), create=True)
    compact_day(local, ROWS)
    compact_day(local, [row(0, "f" * 32, LATER, branch="late")], LATER)
    names = ", ".join(f'"{name}"' for name in arrow_schema().names)
    every = f"select {names} from round_trips order by recording, n"

    assert fetched(store, every)[0] == fetched(local, every)[0]


def test_days_that_a_filter_leaves_out_are_not_fetched(store: Store) -> None:
    asked = "select sum(input) from turns where day = date '{}'"
    (late, early), sizes = fetched(store, asked.format(LATER), asked.format(DAY))

    assert (late, early) == ([(100,)], [(40_000,)])
    assert sizes[1] > 0


def test_an_object_that_was_replaced_is_listed_again(store: Store) -> None:
    with Database(store) as database:
        assert database.ask("select count(*) as n from turns").to_pylist() == [{"n": 401}]
        compact_day(store, [row(0, "f" * 32, LATER, branch="later still")], LATER)
        try:
            found = database.ask("select branch from turns where recording = repeat('f', 32)").to_pylist()
            assert found == [{"branch": "later still"}]
        finally:
            compact_day(store, [row(0, "f" * 32, LATER, branch="late")], LATER)


def test_a_replaced_object_has_no_part_and_a_short_one_is_damaged(store: Store, tmp_path: Path) -> None:
    name = f"{TABLE}/day=2026-01-01/all.parquet"
    store.put(name, b"not Parquet\xff\xff\xff\x7fPAR1")
    (listed,) = [one for one in store.listing(TABLE) if one.name == name]
    try:
        with pytest.raises(StoreError, match="damaged"):
            PartialCopy(store, listed, tmp_path / "a", None)
        assert store.part(name, 0, 3, listed.etag) == b"not"
        store.put(name, b"something else" + b"PAR1")
        assert store.part(name, 0, 3, listed.etag) is None and store.part(f"{name}x", 0, 3, None) is None
        with pytest.raises(Replaced):
            PartialCopy(store, listed, tmp_path / "b", None)
    finally:
        store.delete([name])
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


def test_columns_beside_each_other_are_one_part_and_those_that_were_fetched_are_none(
    store: Store, tmp_path: Path
) -> None:
    listed = max(store.listing(TABLE), key=lambda one: one.size)
    copy = PartialCopy(store, listed, tmp_path / "a", None)
    names = arrow_schema().names
    ((begin, end),) = copy.missing(names)
    (first,), (last,) = copy.missing(names[:1]), copy.missing(names[-1:])

    assert (first[0], last[1]) == (begin, end)
    assert copy.missing([names[-1], names[0]]) == [first, last]
    copy.fetched(names[:1])
    assert copy.missing([names[-1], names[0], "no such column"]) == [last]
    copy.fetched(names)
    assert copy.missing(names) == []
