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
