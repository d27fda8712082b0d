"""The tabs."""

import asyncio
from dataclasses import replace
from pathlib import Path

import tool_tapes
from conversations import HELLO, chat, said
from viewing import press, screen, viewing

from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.headings import summarize
from turntape.inspector.views.tui.widgets.tabs import VIEWS, Tabs


def test_the_number_of_problems_cannot_be_read_as_a_key() -> None:
    async def flow() -> None:
        async with viewing() as (app, _):
            assert "5 Findings (5)  6 Diff" in screen(app)

    asyncio.run(flow())


def test_findings_that_are_only_infos_are_in_the_number() -> None:
    """The tab has the number of what the page lists, so that nothing of it is overlooked."""
    note = Finding("x", "api", "info", "P", "this is a note", (), "")
    rows = Rows()
    rows.put(replace(row, findings=(note,)) for row in Run.of([chat([HELLO], said("x"))]).rows.all)

    summary = summarize(rows)

    assert (summary.problems, summary.findings) == (0, 1)


def test_without_room_the_last_tabs_are_only_keys() -> None:
    async def flow() -> None:
        async with viewing(size=(40, 20)) as (app, pilot):
            tabs = app.query_one(Tabs)
            assert " ".join(tabs.render_line(0).text.split()) == "1 Turn 2 Wire 3 Growth 4 5 6 9 0"
            await press(pilot, "4")
            assert " ".join(tabs.render_line(0).text.split()) == "1 Turn 2 Wire 3 4 Context 5 6 9 0"

    asyncio.run(flow())


def test_with_room_they_have_their_words() -> None:
    assert Tabs().fitted(VIEWS, 80) == (VIEWS, " ")


def test_with_tool_runs_all_have_their_words_in_eighty_cells(tmp_path: Path) -> None:
    """`Timeline` was cut to its key there."""

    async def flow() -> None:
        async with viewing(tool_tapes.record(tmp_path / "tools.cassette.jsonl"), size=(80, 24)) as (app, _):
            line = app.query_one(Tabs).render_line(0).text
            assert line.rstrip() == " 1 Turn 2 Wire 3 Growth 4 Context 5 Findings 6 Diff 7 Tools 9 Costs 0 Timeline"

    asyncio.run(flow())
