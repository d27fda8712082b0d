"""A segment repeats what the next one must know of tool servers, and no more."""

from collections.abc import Collection
from pathlib import Path

import orjson
import pytest
from tool_stories import Story, text

from turntape.cassettes import Recorder, RoundTrip
from turntape.cassettes.tape.carried import carried
from turntape.cassettes.tape.format import read_round_trip
from turntape.cassettes.tape.json_fields import restored
from turntape.inspector.run.labels import Labeller
from turntape.inspector.wire.json_value import as_array, as_object
from turntape.proxy.sidecar.carried_tools import CarriedTools
from turntape.proxy.sidecar.segment import Segment


def story() -> Story:
    """Two turns with a call each, of which the model sees the first result cut; then a last turn."""
    tale = Story().start()
    tale.call("add", {"a": 0}, text("0"))
    tale.turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, text("one two three four")).results(("c1", "one two"))
    tale.turn(("c2", "add", '{"a":2}')).call("add", {"a": 2}, text("two")).results(("c2", "two"))
    return tale.turn()


def at_once() -> Story:
    """A turn with two calls, and a last one."""
    tale = Story().start().turn(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    tale.call("add", {"a": 1}, text("one")).call("say", {"text": "x"}, text("x"))
    return tale.results(("c1", "one"), ("c2", "x")).turn()


def labels(trips: list[RoundTrip]) -> dict[int, tuple[object, object]]:
    """By place: the tool runs and the findings of each turn."""
    labeller, found = Labeller(), dict[int, tuple[object, object]]()
    every = [one for trip in trips for one in labeller.add(trip)] + labeller.close()
    for index, label in every:
        if label["turn"] is not None:
            runs = [{**as_object(run), "index": None, "seen_by": None} for run in as_array(label["tool_runs"])]
            found[index] = runs, [as_object(one)["id"] for one in as_array(label["findings"])]
    return found


def rotated(path: Path, trips: list[RoundTrip], at: int) -> tuple[list[RoundTrip], list[RoundTrip]]:
    """What the next segment carries when the file ends after `at` round trips, and the whole next segment."""
    with Recorder(path / "a.cassette.jsonl", durable=False) as recorder:
        for trip in trips[:at]:
            recorder.write(trip)
    segment = Segment(str(path / "a.cassette.jsonl"))
    for trip in segment.poll():
        segment.labeller.add(trip)
    carries = [read_round_trip(orjson.loads(line), restored) for line in segment.carry()]
    with Recorder(path / "b.cassette.jsonl", durable=False) as recorder:
        for trip in [*carries, *trips[at:]]:
            recorder.write(trip)
    return carries, list(Segment(str(path / "b.cassette.jsonl")).poll())


def runs_in(trips: list[RoundTrip], continued: Collection[int] = ()) -> list[object]:
    """All tool runs of one file, as the rows show them, in order of time."""
    labeller = Labeller()
    labeller.continues(continued)
    rows = dict(one for trip in trips for one in labeller.add(trip)) | dict(labeller.close())
    runs = [as_object(run) for index in sorted(rows) for run in as_array(rows[index]["tool_runs"])]
    return [(run["arguments"], run["call_id"], run["outcome"], run["seen_as"]) for run in runs]


@pytest.mark.parametrize("at", range(3, 8))
def test_each_run_is_in_one_row_of_one_file(tmp_path: Path, at: int) -> None:
    trips = story().trips
    carries, following = rotated(tmp_path, trips, at)
    continued = {trip.index for trip in carries}

    whole, first, second = runs_in(trips), runs_in(trips[:at], continued), runs_in(following)

    assert len(first) + len(second) == len(whole) == 3
    # What the model saw of a run is known in the second file where the first one ends before the next request.
    assert second == whole[len(first) :]
    assert [run[:3] for run in first] == [run[:3] for run in whole[: len(first)]]  # type: ignore[index]


@pytest.mark.parametrize("at", range(3, 6))
def test_each_of_several_calls_of_a_turn_is_in_one_row_of_one_file(tmp_path: Path, at: int) -> None:
    trips = at_once().trips
    carries, following = rotated(tmp_path, trips, at)

    whole, first = runs_in(trips), runs_in(trips[:at], {trip.index for trip in carries})
    assert [run[1] for run in whole] == ["c1", "c2"]  # type: ignore[index]
    assert runs_in(following) == whole[len(first) :] and len(first) == at - 3


@pytest.mark.parametrize("at", range(3, 8))
def test_turns_after_a_rotation_have_the_runs_and_findings_of_one_recording(tmp_path: Path, at: int) -> None:
    trips = story().trips
    carries, following = rotated(tmp_path, trips, at)

    whole, part = labels(trips), labels(following)
    moved = len(carries) - at
    assert part == {index + moved: label for index, label in whole.items() if index >= at}
    assert [trip.index for trip in carries][:2] == [0, 1], "the beginning of the session, and its tools"
    assert all(carried(trip) for trip in carries)
    assert [trip.tool_wire for trip in carries] == [trips[trip.index].tool_wire for trip in carries]


def test_the_segment_after_the_next_one_knows_the_tools_too(tmp_path: Path) -> None:
    carries, following = rotated(tmp_path, story().trips, 5)
    second = Segment(str(tmp_path / "b.cassette.jsonl"))
    for trip in second.poll():
        second.labeller.add(trip)

    again = [read_round_trip(orjson.loads(line), restored) for line in second.carry()]
    assert [trip.request.body for trip in again[:2]] == [trip.request.body for trip in carries[:2]]
    assert len(again) < len(following)


def test_the_newest_list_with_all_its_pages_and_no_call_that_nobody_waits_for() -> None:
    tale = story().lists()
    tools = CarriedTools()
    for trip in tale.trips:
        tools.add(trip)

    listed = len(tale.trips) - 1
    assert list(tools.needed(None)) == [0, listed]
    calls = [trip.index for trip in tale.trips if b"tools/call" in trip.request.body]
    assert list(tools.needed(tale.trips[calls[1]].started_at))[2:] == calls[1:]
