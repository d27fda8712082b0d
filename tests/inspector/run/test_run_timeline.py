"""Where the time of a run went."""

from dataclasses import replace
from pathlib import Path

import pytest
import tool_tapes
from conversations import chat, loop, result, said, user
from tool_stories import text
from viewing import EXAMPLE

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.run_timeline import Axis, Span, run_timeline, times_of


def run_of(*trips: RoundTrip) -> Run:
    return Run.of([replace(trip, index=at) for at, trip in enumerate(trips)])


def timed(trip: RoundTrip, at: float, first: float | None, end: float | None) -> RoundTrip:
    """A round trip that began at `at`, with its first and its last byte so many seconds later."""
    return replace(
        trip,
        started_at=1_780_000_000.0 + at,
        first_byte_at=None if first is None else int(first * 1e6),
        ended_at=None if end is None else int(end * 1e6),
    )


CALL = said(None, ("c1", "look_up", "{}"))
HISTORY = [user("go"), CALL, result("c1", "ok")]


def test_a_turn_waits_then_the_answer_arrives_then_the_client_works() -> None:
    run = run_of(timed(chat([user("go")], CALL), 0, 1, 3), timed(chat(HISTORY, said("done")), 7, 0.5, 2))

    first, second = times_of(run.rows, 0), times_of(run.rows, 1)
    assert (first.wait, first.stream, first.client, first.seconds) == (1, 2, 4, 7)
    assert (second.wait, second.stream, second.client) == (0.5, 1.5, None)


def test_after_an_answer_without_calls_nobody_worked() -> None:
    history = [user("go"), said("hi"), user("on")]
    run = run_of(timed(chat([user("go")], said("hi")), 0, 1, 2), timed(chat(history, said("done")), 600, 1, 2))

    assert times_of(run.rows, 0).client is None
    axis = run_timeline(run.rows).axis
    assert (
        axis.pauses == [(pytest.approx(2.08), 598.0)]
        and axis.seconds == pytest.approx(4.16)
        and axis.end - axis.begin == 602
    )


def test_what_is_not_known_is_none() -> None:
    run = run_of(timed(chat([user("go")], CALL), 0, None, None), timed(chat(HISTORY, said("done")), 7, None, 2))

    first, second = times_of(run.rows, 0), times_of(run.rows, 1)
    assert (first.wait, first.stream, first.client) == (None, None, None)
    assert (second.wait, second.stream) == (2, None), "no first byte is known"


def test_threads_come_in_order_and_tools_by_their_time() -> None:
    run = Run.load(EXAMPLE)
    found = run_timeline(run.rows)

    assert [lane.name for lane in found.lanes if lane.what == "thread"] == ["t1", "t2", "t3"]
    tools = [lane for lane in found.lanes if lane.what == "tool"]
    assert [lane.seconds() for lane in tools] == sorted((lane.seconds() for lane in tools), reverse=True)
    assert not any(lane.recorded for lane in tools)
    assert len(found.turns) == 12
    assert sum(times.seconds for times in found.turns) == pytest.approx(found.seconds())


def test_recorded_runs_of_tools_are_lanes_with_their_own_times(tmp_path: Path) -> None:
    run = Run.load(tool_tapes.record(tmp_path / "tools.cassette.jsonl"))
    tools = [lane for lane in run_timeline(run.rows).lanes if lane.recorded and lane.what == "tool"]

    runs = [one for row in run.rows.all for one in row.tool_runs]
    assert {lane.name for lane in tools} == {one.name for one in runs}
    assert sum(len(lane.spans) for lane in tools) == len(runs)
    assert any(span.failed for lane in tools for span in lane.spans)


def test_tools_of_one_name_on_two_servers_are_two_lanes() -> None:
    story = tool_tapes.story()
    calls = [trip for trip in story.trips if b'"read"' in trip.request.body and b"tools/call" in trip.request.body]
    story.server, story.session = "notes", "b"
    story.start().call("read", {"path": "x"}, text("x"))
    lanes = run_timeline(run_of(*story.trips).rows).lanes

    spans = {lane.name: len(lane.spans) for lane in lanes if lane.what == "tool"}
    assert (spans["read on files"], spans["read on notes"]) == (len(calls), 1)
    assert "search" in spans


def test_a_failed_answer_is_marked() -> None:
    run = run_of(timed(chat([user("go")], error={"error": {"message": "no"}}, status=500), 0, 1, 1))

    (lane,) = run_timeline(run.rows).lanes
    assert [(span.phase, span.failed) for span in lane.spans] == [("wait", True)]


def test_the_axis_goes_from_0_to_1_and_shortens_only_long_pauses() -> None:
    spans = [Span("wait", 100.0, 110.0, 0), Span("stream", 105.0, 120.0, 0), Span("wait", 120.5, 130.5, 1)]
    axis = Axis(spans)

    assert axis.pauses == [] and axis.seconds == 30.5
    assert [axis.share(at) for at in (90, 100, 130.5, 200)] == [0, 0, 1, 1]
    assert axis.share(115.25) == pytest.approx(0.5)
    far = Axis([*spans, Span("wait", 1130.5, 1140.5, 2)])
    assert far.pauses == [(pytest.approx(31.3), 1000.0)] and far.seconds == pytest.approx(40.5 + 0.04 * 40)
    assert far.share(1130.5) == pytest.approx(1 - 10 / far.seconds)


def test_a_run_without_times_and_an_empty_run() -> None:
    assert run_timeline(Run.of([]).rows).turns == ()
    still = run_timeline(run_of(*(timed(trip, 0, None, None) for trip in loop())).rows)
    assert still.axis.seconds == 0 and still.axis.share(5) == 0.0
