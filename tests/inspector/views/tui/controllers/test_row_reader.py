import gc
from pathlib import Path
from threading import Event

import pytest

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers import row_reader
from turntape.inspector.views.tui.controllers.row_reader import RowReader

EXAMPLE = Path(__file__).parents[5] / "docs" / "example.cassette.jsonl"


def test_rows_are_hidden_from_the_garbage_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    rows: list[Row] = []
    monkeypatch.setattr(row_reader, "LASTING", 4)
    monkeypatch.setattr(gc, "collect", lambda: calls.append("collect"))
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))

    RowReader(Run(EXAMPLE), None, rows.extend, lambda problem, final: None).run()

    assert len({row.key for row in rows}) >= 8
    assert calls[:4] == ["collect", "freeze"] * 2, "no garbage is hidden with them"
    assert len(calls) <= 2 * len(rows) / 4


def test_the_first_rows_come_without_prices_and_get_them_once_the_page_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_reader, "FIRST_PAGE", 60)
    batches: list[list[Row]] = []
    first = Event()
    run = Run(EXAMPLE, priced=False)

    def read(rows: list[Row]) -> None:
        batches.append(rows)
        first.set()

    reader = RowReader(run, None, read, lambda problem, final: None)
    reader.start()

    assert first.wait(60)
    assert not run.priced and all(row.cost is None for row in batches[0]), "the table of prices waits for the page"
    reader.page_shown()
    reader.join(60)
    assert run.priced
    assert any(row.cost is not None for rows in batches[1:] for row in rows)


def test_prices_do_not_wait_for_a_page_that_never_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_reader, "FIRST_PAGE", 0.01)
    run = Run(EXAMPLE, priced=False)

    RowReader(run, None, lambda rows: None, lambda problem, final: None).run()

    assert run.priced


def test_the_first_row_comes_alone_and_the_rules_wait_until_its_page_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_reader, "FIRST_PAGE", 600)
    batches: list[list[Row]] = []
    alone: list[Row] = []
    given = Event()

    def first(row: Row) -> None:
        alone.append(row)
        given.set()

    reader = RowReader(Run(EXAMPLE, priced=False), None, batches.append, lambda problem, final: None, first=first)
    reader.start()

    assert given.wait(60) and not batches
    reader.page_shown()
    reader.join(60)
    assert [row.turn for row in alone] == [1]
    assert alone[0].key == batches[0][0].key, "it comes again with the others"


def test_a_viewer_that_ends_before_its_first_page_loads_no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_reader, "FIRST_PAGE", 600)
    batches: list[list[Row]] = []
    reader = RowReader(
        Run(EXAMPLE, priced=False), None, batches.append, lambda problem, final: None, first=lambda row: reader.stop()
    )

    reader.run()

    assert not batches


def test_a_run_that_is_followed_has_no_first_row_of_its_own() -> None:
    alone: list[Row] = []
    batches: list[list[Row]] = []
    reader = RowReader(
        Run(EXAMPLE), lambda: False, batches.append, lambda problem, final: None, lambda: None, alone.append
    )
    reader.stop()

    reader.run()

    assert not alone
