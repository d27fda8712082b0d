"""The figures of the last days are those of the rows."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from fleet_rows import DAY, finding, folder, row

from turntape.inspector.fleet.asking.database import Database
from turntape.inspector.fleet.page.overview import overview
from turntape.inspector.views.fleet_figures import Overview

A, B, C = "a" * 32, "b" * 32, "c" * 32
LATER = DAY + timedelta(days=2)


def figures(path: Path) -> Overview:
    store = folder(
        path,
        [row(0, A, branch="main", agent="coder", cache_read=50), row(1, A, branch="main", cost_usd=None)],
        [row(0, B, LATER, branch="fix", verdict="fail", findings=[finding("f"), finding("g", "warning")])],
        [row(0, C, LATER, cost_usd=Decimal("0.5"), findings=[finding("f", root=False), finding("h", "info")])],
    )
    with Database(store, DAY) as database:
        return overview(database, "the store", DAY, LATER)


def test_the_whole(tmp_path: Path) -> None:
    found = figures(tmp_path)

    whole = found.whole
    assert (whole.runs, whole.turns, whole.cost) == (3, 4, Decimal("0.52"))
    assert (whole.errors, whole.warnings, whole.failed) == (1, 1, 1)
    assert (found.input, found.cached, found.unpriced) == (400, 50, 1)


def test_a_fee_without_a_price_is_missing_in_every_sum_and_named(tmp_path: Path) -> None:
    fees = ["web search", "Google Maps"]
    refused = row(1, B, LATER, attempt=2, cost_usd=None, input=None, status=500)
    store = folder(
        tmp_path,
        [row(0, A, branch="main", unpriced_fees=fees), row(1, A, branch="main", cost_usd=None, response_model="m-9")],
        [row(0, B, LATER, branch="fix", unpriced_fees=[]), refused],
        [row(0, C, LATER, branch="main", unpriced_fees=["web search"]), row(1, C, LATER, cost_usd=None, status=500)],
    )
    with Database(store, DAY) as database:
        found = overview(database, "the store", DAY, LATER)

    assert (found.unpriced, found.whole.unpriced) == (4, 4)
    assert found.without_price == ["web search", "Google Maps", "m-1", "m-9"]
    assert [(one.name, one.unpriced) for one in found.days] == [("2026-11-02", 2), ("2026-11-03", 0), ("2026-11-04", 2)]
    assert {one.name: one.unpriced for one in found.branches} == {"main": 3, "fix": 0, "": 1}
    runs = {one.address[-1]: (one.unpriced, one.without_price) for one in found.worst}
    assert runs == {"a": (2, ("Google Maps", "m-9", "web search")), "b": (0, ()), "c": (2, ("m-1", "web search"))}


def test_the_attempts_of_a_turn_count_once(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0, A, turn=1), row(1, A, turn=1, attempt=2), row(2, A, turn=2)])

    with Database(store, DAY) as database:
        found = overview(database, "the store", DAY, DAY)
    assert (found.whole.turns, found.worst[0].turns, found.whole.cost) == (2, 2, Decimal("0.03"))


def test_every_day_is_there(tmp_path: Path) -> None:
    days = figures(tmp_path).days

    assert [(one.name, one.runs) for one in days] == [("2026-11-02", 1), ("2026-11-03", 0), ("2026-11-04", 2)]
    assert [one.cost for one in days] == [Decimal("0.01"), None, Decimal("0.51")]


def test_a_day_after_the_last_one_is_there_because_the_totals_have_it(tmp_path: Path) -> None:
    store = folder(tmp_path, [row(0, A)], [row(0, B, LATER)])

    with Database(store, DAY) as database:
        found = overview(database, "the store", DAY, DAY)
    assert [(one.name, one.runs) for one in found.days] == [("2026-11-02", 1), ("2026-11-04", 1)]


def test_groups_are_the_dearest_first_and_may_have_no_name(tmp_path: Path) -> None:
    found = figures(tmp_path)

    assert [(one.name, one.cost) for one in found.branches] == [
        ("", Decimal("0.5")),
        ("main", Decimal("0.01")),
        ("fix", Decimal("0.01")),
    ]
    assert {one.name: one.turns for one in found.agents} == {"agent": 3, "coder": 1}
    assert [(one.name, one.turns) for one in found.models] == [("m-1", 4)]


def test_the_worst_run_has_most_errors_and_its_address(tmp_path: Path) -> None:
    worst = figures(tmp_path).worst

    assert [one.address for one in worst] == [f"{tmp_path}#{name}" for name in (B, C, A)]
    assert worst[0].findings == ("f", "g")
    assert [one.id for one in figures(tmp_path).findings] == ["f", "g"]
