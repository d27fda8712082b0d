"""The lanes of time in the report."""

import re
from dataclasses import replace
from pathlib import Path

import tool_tapes
from conversations import loop

from turntape.inspector import views
from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report.timeline_page import SLOTS, timeline_page

STYLE = (Path(views.__file__).parent / "report" / "page.css").read_text("utf-8")


def parts(html: object) -> list[tuple[str, str, float, float]]:
    found = re.findall(r'class="ran (\w+)" href="#row-(\d+)".*?left:([0-9.]+)%;width:([0-9.]+)%', str(html))
    return [(look, place, float(left), float(width)) for look, place, left, width in found]


def test_a_turn_waits_and_streams() -> None:
    (wait, stream) = parts(timeline_page(Run.of(loop()[:1]).rows))

    assert wait[:2] == ("wait", "0") and stream[:2] == ("stream", "0")
    assert wait[2] == 0 and abs(wait[3] - 80) < 1 and abs(stream[2] - 80) < 1 and abs(stream[3] - 20) < 1


def test_each_thread_and_each_tool_has_a_lane() -> None:
    story = str(timeline_page(Run.of(tool_tapes.story().trips).rows))

    assert re.findall(r'class="lane-name" title="(\w+)', story) == ["t1", "search", "read", "write", "stop"]


def test_a_lane_with_more_turns_than_room_shows_the_phases_in_proportion() -> None:
    (row,) = Run.of(loop()[:1]).rows.all
    row = replace(row, calls=())
    failed, seconds = replace(row, status=500), (row.duration_ms or 0) / 1000
    rows = Rows()
    rows.put(
        replace(
            failed if n == 2399 else row,
            key=(n, 0.0, 0),
            index=n,
            turn=n + 1,
            started_at=row.started_at + 2 * n * seconds,
        )
        for n in range(2400)
    )
    page = str(timeline_page(rows))

    slots = re.findall(r'class="ran slot" href="#row-(\d+)" title="([^"]*)".*?linear-gradient\(([^"]*)\)"', page)
    assert len(slots) == SLOTS and int(slots[1][0]) in range(9, 11)
    # Half of the time nothing ran; of the rest, 80 % is the wait and 20 % the answer.
    assert "waiting 40 %, answers 10 %" in slots[1][1]
    assert slots[1][2] == "0deg,var(--phase-wait) 0% 40%,var(--phase-stream) 40% 50%,transparent 50%"
    assert "with failures" in slots[-1][1] and "--bad" in slots[-1][2] and "--bad" not in slots[0][2]
    assert f"100% / {SLOTS})" in STYLE


def test_a_run_without_times_says_so() -> None:
    assert "No times are known." in str(timeline_page(Run.of([]).rows))


def test_the_colour_of_a_failure_is_explained_where_one_is_drawn() -> None:
    (row,) = Run.of(loop()[:1]).rows.all
    pages: list[str] = []
    for status in (200, 500):
        rows = Rows()
        rows.put([replace(row, status=status)])
        pages.append(str(timeline_page(rows)))

    assert ["something failed" in page for page in pages] == [False, True]
    assert 'class="key bad"' in pages[1] and re.search(r"\.key\.bad \{ background: var\(--bad\) \}", STYLE)
