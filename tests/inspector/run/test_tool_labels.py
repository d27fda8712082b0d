from dataclasses import replace

from conversations import loop
from tool_stories import Story, text

from turntape.inspector.run.labels import Labeller, label_stream
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.json.models import RoundTripLabel
from turntape.inspector.views.json.show_json import show_json


def story() -> Story:
    made = Story().start().turn(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    made.call("add", {"a": 1}, text("1")).call("say", {"text": "x"}, text("x"))
    return made.results(("c1", "1"), ("c2", "x")).turn()


def test_a_turn_has_the_runs_of_its_calls_and_other_rows_have_none() -> None:
    labels = [one.label for one in story().label()]

    assert [len(label["tool_runs"]) for label in labels] == [0, 0, 2, 0, 0, 0]  # type: ignore[arg-type]
    assert labels[2]["tool_runs"][0] == {  # type: ignore[index]
        "index": 3,
        "call_id": "c1",
        "server": "files",
        "session": "a",
        "name": "add",
        "arguments": {"a": 1},
        "outcome": "answered",
        "joined": "inferred",
        "by": "name, arguments",
        "duration_ms": 5.0,
        "is_error": False,
        "returned_bytes": 40,
        "seen_by": 5,
        "seen_bytes": 1,
        "seen_as": "equal",
        "lost": [],
    }


def test_the_client_layer_rests_on_the_tool_wire() -> None:
    label = story().label()[2].label

    assert label["client"]["proof"] == "tool_wire"  # type: ignore[index]
    assert [result["ran"] for result in label["client"]["results"]] == [True, True]  # type: ignore[index]


def test_calls_that_ran_were_dispatched_although_no_request_came_after_them() -> None:
    whole = story()
    del whole.trips[5]
    half = story()
    del half.trips[4:]

    assert whole.label()[2].label["client"]["outcome"] == "dispatched"  # type: ignore[index]
    assert half.label()[2].label["client"]["outcome"] == "open"  # type: ignore[index]


def test_labels_come_again_while_the_run_is_recorded() -> None:
    seen = [(key[0], len(one.tool_runs)) for key, one in label_stream(story().trips)]

    assert seen == [(0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (4, 0), (2, 2), (2, 2), (5, 0), (2, 2)]


def test_a_run_of_views_has_the_runs_and_those_that_no_call_has() -> None:
    made = story()
    made.call("say", {"text": "alone"}, text("y" * 30_000))
    run = Run.of(made.trips)

    assert [[one.name for one in row.tool_runs] for row in run.rows.all] == [
        [],
        [],
        ["add", "say"],
        [],
        [],
        [],
        ["say"],
    ]
    [loose] = run.unjoined
    assert (loose.index, loose.result, len(loose.returned_text or "")) == (6, None, 20_000)


def test_a_run_that_finds_its_call_later_leaves_its_own_row() -> None:
    made = story()
    made.trips[2:5] = [made.trips[3], made.trips[2], made.trips[4]]
    run = Run.of(replace(trip, index=place) for place, trip in enumerate(made.trips))

    assert [len(row.tool_runs) for row in run.rows.all] == [0, 0, 0, 2, 0, 0]
    assert run.unjoined == []


def test_show_json_keeps_to_its_model() -> None:
    lines = [RoundTripLabel.model_validate_json(line) for line in show_json(story().trips)]

    assert lines[2].tool_runs[1].call_id == "c2"
    assert lines[2].client is not None and lines[2].client.proof == "tool_wire"


def test_a_run_without_tool_wire_keeps_nothing() -> None:
    labeller = Labeller()
    for trip in loop():
        list(labeller.follow(trip))

    tools = labeller._tools
    assert not tools._active and not tools._held


def test_what_is_held_does_not_grow_with_the_run() -> None:
    made = Story().start()
    for number in range(60):
        made.turn((f"c{number}", "add", f'{{"a":{number}}}')).call("add", {"a": number}, text(f"result {number}"))
        made.results((f"c{number}", f"result {number}"))
    labeller = Labeller()
    for trip in made.trips:
        list(labeller.follow(trip))

    assert len(labeller._tools._held) <= 6
