"""The timeline of a turn whose tools were recorded."""

from dataclasses import replace

import pytest
import tool_tapes

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.tool_lanes import timeline_of

ROWS = Run.of(tool_tapes.story().trips).rows.all


def test_lanes_are_shares_of_the_time_to_the_last_result() -> None:
    found = timeline_of(ROWS[2], ROWS[5])

    assert found is not None
    assert (round(found.milliseconds), round(found.idle or 0)) == (280, 20)
    assert [(lane.layer, lane.name, lane.failed) for lane in found.lanes] == [
        ("api", "api", False),
        ("tool", "read", False),
        ("tool", "search", False),
    ]
    assert [(lane.start, lane.stop) for lane in found.lanes] == [
        (0.0, pytest.approx(250 / 280, abs=1e-4)),
        (pytest.approx(100 / 280, abs=1e-4), pytest.approx(105 / 280, abs=1e-4)),
        (pytest.approx(200 / 280, abs=1e-4), 1.0),
    ]


def test_a_run_that_failed_is_marked() -> None:
    found = timeline_of(ROWS[5], None)

    assert found is not None
    assert [lane.failed for lane in found.lanes] == [False, True]
    assert found.idle is None


def test_a_run_without_an_answer_has_a_start_and_no_length() -> None:
    run = replace(ROWS[5].tool_runs[0], is_error=None, outcome="unanswered", duration_ms=None)
    row = replace(ROWS[5], tool_runs=(run,))
    found = timeline_of(row, replace(row, started_at=run.started_at))

    assert found is not None
    assert found.lanes[1].failed
    assert found.lanes[1].start == found.lanes[1].stop
    assert round(found.milliseconds) == 100
    assert found.idle == 0


def test_a_request_before_the_last_result_says_nothing_of_idle_time() -> None:
    found = timeline_of(ROWS[2], replace(ROWS[5], started_at=ROWS[2].started_at))

    assert found is not None
    assert found.idle is None


def test_a_turn_without_tool_runs_has_none() -> None:
    assert timeline_of(ROWS[8], None) is None


def test_a_message_of_a_tool_server_has_no_lane_of_an_api() -> None:
    alone = Run.of([trip for trip in tool_tapes.story().trips if trip.tool_wire is not None]).rows.all
    row = next(row for row in alone if row.tool_runs)

    found = timeline_of(row, None)

    assert row.is_tool_wire and found is not None
    assert [(lane.layer, lane.name) for lane in found.lanes] == [("tool", "read")]
