"""The figures for the screen: those of the rows, group by group, and the recording of a run."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from fleet_rows import finding, folder, land, row
from shipped_tapes import tape

from turntape.inspector.fleet.errors import StoreError
from turntape.inspector.fleet.page.store_source import StoreSource
from turntape.inspector.fleet.shipping.ship import ship
from turntape.inspector.fleet.store.store import open_store

TODAY = datetime.now(UTC).date()
A, B, C = "a" * 32, "b" * 32, "c" * 32


def test_runs_of_each_group_in_each_order(tmp_path: Path) -> None:
    store = folder(
        tmp_path,
        [row(0, A, TODAY, branch="main", agent="coder"), row(1, A, TODAY, branch="main", request_model="m-2")],
        [row(0, B, TODAY - timedelta(days=1), branch="fix", findings=[finding("f")], cost_usd=Decimal("0.001"))],
        [row(0, C, TODAY - timedelta(days=40), branch="main")],
    )
    with StoreSource(store, 14) as source:
        assert source.overview().whole.runs == 2

        def names(*asked: object) -> list[str]:
            found = source.runs(*asked)  # pyright: ignore[reportArgumentType]
            assert found.count == len(found.listed)
            return [one.address[-1] for one in found.listed]

        assert [names(None, "", order) for order in ("worst", "dearest", "newest")] == [
            ["b", "a"],
            ["a", "b"],
            ["a", "b"],
        ]
        assert names("branch", "main", "worst") == names("agent", "coder", "worst") == names("model", "m-2", "worst")
        assert names("branch", "main", "worst") == names("day", str(TODAY), "worst") == ["a"]
        assert names("finding", "f", "worst") == ["b"] and names("finding", "g", "worst") == []
        assert [(one.name, one.runs) for one in source.groups("model")] == [("m-1", 2), ("m-2", 1)]
        assert [one.id for one in source.findings()] == ["f"]


def test_a_store_without_rows_has_nothing_until_it_is_read_again(tmp_path: Path) -> None:
    store = folder(tmp_path)
    with StoreSource(store, 3) as source:
        empty = source.overview()
        assert (empty.whole.runs, len(empty.days)) == (0, 3)
        assert not source.groups("branch") and not source.findings() and not source.runs(None, "", "worst").count
        land(store, [row(0, A, TODAY)], TODAY)
        assert source.overview().whole.runs == 1 and source.runs(None, "", "worst").count == 1


def test_a_recording_is_there_until_the_end(tmp_path: Path) -> None:
    to = str(tmp_path / "store")
    ship([tape(tmp_path / "a.cassette.jsonl")], to)
    with StoreSource(open_store(to), 1) as source:
        source.overview()
        (run,) = source.runs(None, "", "newest").listed
        path = source.tape(run.address)
        assert path.exists() and run.name == "run"
        with pytest.raises(StoreError, match="not the address"):
            source.tape("nowhere")
    assert not path.exists()
