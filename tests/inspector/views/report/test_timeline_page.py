"""The lanes of time in the report."""

import re
from dataclasses import replace

import tool_tapes
from conversations import loop

from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.report.timeline_page import timeline_page


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


def test_turns_that_cannot_be_distinguished_are_drawn_as_one() -> None:
    (row,) = Run.of(loop()[:1]).rows.all
    rows = Rows()
    rows.put(
        replace(row, key=(n, 0.0, 0), index=n, turn=n + 1, started_at=row.started_at + 0.3 * n) for n in range(3000)
    )
    shown = parts(timeline_page(rows))

    assert 0 < len(shown) < 100


def test_a_run_without_times_says_so() -> None:
    assert "No times are known." in str(timeline_page(Run.of([]).rows))
