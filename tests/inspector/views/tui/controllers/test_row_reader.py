import gc
from pathlib import Path

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
