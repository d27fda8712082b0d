import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from conversations import START, chat, loop, user
from factories import round_trip
from tool_stories import ADD, Story, offered, text
from tool_wire import confirmed, notifies

from turntape.cassettes import Cassette, Recorder, RoundTrip
from turntape.inspector.run.labels import Labeller, label_all, label_stream
from turntape.inspector.run.run_index import Run
from turntape.inspector.tools.spans import span_runs
from turntape.inspector.views.json.models import RoundTripLabel
from turntape.inspector.views.json.show_json import show_json
from turntape.inspector.wire.json_value import as_array, as_object


def story() -> Story:
    made = Story().start().turn(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    made.call("add", {"a": 1}, text("1")).call("say", {"text": "x"}, text("x"))
    return made.results(("c1", "1"), ("c2", "x")).turn()


def test_a_turn_has_the_runs_of_its_calls_and_other_rows_have_none() -> None:
    labels = [one.label for one in story().label()]

    assert [len(label["tool_runs"]) for label in labels] == [0, 0, 2, 0, 0, 0]  # type: ignore[arg-type]
    assert labels[2]["tool_runs"][0] == {  # type: ignore[index]
        "source": "wire",
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


def spans(*calls: tuple[str | None, str, str]) -> RoundTrip:
    """What an exporter sends of executed tools: `(id of the call, tool, arguments)`."""
    made = [
        {
            "traceId": "0" * 31 + "1",
            "spanId": f"{place:016x}",
            "startTimeUnixNano": str(int((START + 0.25) * 1e9) + place),
            "endTimeUnixNano": str(int((START + 0.25) * 1e9) + 2_000_000),
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in (
                    ("gen_ai.operation.name", "execute_tool"),
                    ("gen_ai.tool.name", tool),
                    ("gen_ai.tool.call.id", call_id),
                    ("gen_ai.tool.call.arguments", arguments),
                    ("gen_ai.tool.call.result", '"other words"'),
                )
                if value is not None
            ],
        }
        for place, (call_id, tool, arguments) in enumerate(calls)
    ]
    body = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": made}]}]})
    headers = (("content-type", "application/json"),)
    return round_trip(body, url="http://127.0.0.1:1/otlp/v1/traces", headers=headers, started_at=START + 60)


def without_wire(*calls: tuple[str | None, str, str]) -> Story:
    """An agent with its tools in its own process, and its spans at the end."""
    made = Story(naming="{tool}").turn(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    made.put(made.trips.pop()).results(("c1", "1"), ("c2", "x")).turn()
    return made.put(spans(*calls))


def test_spans_are_joined_by_the_id_of_the_call() -> None:
    (call, say) = without_wire(("c2", "say", '{"text":"x"}'), ("c1", "add", '{"a": 1}')).runs()

    assert (call.name, call.call_id, call.joined, call.by) == ("add", "c1", "exact", "_meta.gen_ai.tool.call.id")
    assert (say.name, say.call_id, say.source, say.duration_ms) == ("say", "c2", "span", 2.0)


def test_a_span_proves_that_a_tool_ran_and_is_not_judged() -> None:
    labels = [one.label for one in without_wire(("c1", "add", '{"a":1}'), (None, "other", "{}")).label()]

    assert labels[0]["client"]["proof"] == "spans"  # type: ignore[index]
    assert [result["ran"] for result in labels[0]["client"]["results"]] == [True, None]  # type: ignore[index]
    assert [label["findings"] for label in labels] == [[], [], []]
    assert [run["name"] for run in labels[2]["tool_runs"]] == ["other"]  # type: ignore[attr-defined]


def test_a_span_without_a_call_is_not_judged_although_a_server_lists_its_tool() -> None:
    made = Story().start().turn().put(spans((None, "add", '{"a":1}')))

    assert [(len(one.tool_runs), one.label["findings"]) for one in label_all(confirmed(made.trips))][2:] == [
        (0, []),
        (1, []),
        (0, []),
    ]


def test_spans_stay_expected_while_no_others_are() -> None:
    made = without_wire(("c1", "add", '{"a":1}'))
    labeller = Labeller()
    labeller.expect(list(span_runs(made.trips)))
    labeller.expect(())

    assert [[run["call_id"] for run in as_array(label["tool_runs"])] for _, label in labeller.add(made.trips[0])] == [  # type: ignore[index]
        ["c1"]
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_spans_of_a_file_are_joined_in_every_view(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.cassette.{suffix}"
    made = without_wire(("c1", "add", '{"a":1}'), ("c2", "say", '{"text":"x"}'))
    with Recorder(path) as recorder:
        for trip in made.trips:
            recorder.write(trip)
    shown = [json.loads(line) for line in show_json(Cassette.load(path))]

    assert [[run.call_id for run in row.tool_runs] for row in Run.load(path).rows.all] == [["c1", "c2"], [], []]
    assert [[run["call_id"] for run in row["tool_runs"]] for row in shown] == [["c1", "c2"], [], []]


def test_where_the_tools_wire_shows_a_run_its_span_is_left_out() -> None:
    late = story().put(spans(("c1", "add", '{"a":1}')))
    early = story()
    early.trips.insert(3, replace(spans(("c1", "add", '{"a":1}')), index=99))

    for made in (late, early):
        assert [(run.source, run.name) for run in made.runs()] == [("wire", "add"), ("wire", "say")]
        assert not any(one.label["findings"] for one in label_all(confirmed(made.trips)))


_NOTICE = 6
"""The place of the notification behind the story."""


def test_labels_come_again_while_the_run_is_recorded() -> None:
    seen = [(key[0], len(one.tool_runs)) for key, one in label_stream(confirmed(story().trips)) if key[0] < _NOTICE]

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


STRING: dict[str, Any] = {"type": "string"}
REFUSED = "Invalid schema for function 'x__add': schema must be of type object"


@pytest.mark.parametrize(
    ("changed", "said", "of_server"),
    [
        ({}, REFUSED, True),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "title": "add"}, REFUSED, True),
        ({"additionalProperties": False}, REFUSED, True),
        ({"additionalProperties": False}, "Invalid schema for function 'x__add': additionalProperties is wrong", False),
        ({"title": 7}, "Invalid schema for function 'x__add': title must be a string", False),
        ({"$schema": 7}, "Invalid schema for function 'x__add': $schema must be a string", False),
        ({"minLength": 1}, REFUSED, False),
    ],
)
def test_a_schema_is_the_servers_fault_unless_the_client_changed_what_is_refused(
    changed: dict[str, Any], said: str, of_server: bool
) -> None:
    made = Story([{**ADD, "inputSchema": STRING}], naming="x__{tool}").start()
    own = {"type": "function", "function": {"name": "own", "description": "Mine.", "parameters": {"type": "object"}}}
    sent = offered({**ADD, "inputSchema": {**STRING, **changed}}, name="x__{}")
    made.put(chat([user("Go.")], tools=[own, *sent], status=400, error={"error": {"message": said}}, at=1, index=2))

    (found,) = made.every("client-bad-tool-schema")
    assert found["because_of"] == (["tool-definition-rejected"] if of_server else [])


@pytest.mark.parametrize(
    ("names", "listed", "of_server"),
    [
        (["add", "add"], [ADD, ADD], True),
        (["add", "add"], [ADD], False),
        (["own", "own", "add"], [ADD, ADD], False),
        (["add", "own", "own"], [ADD], False),
    ],
)
def test_a_name_that_is_there_twice_is_the_servers_fault_where_its_list_has_it_twice(
    names: list[str], listed: list[dict[str, Any]], of_server: bool
) -> None:
    made = Story(listed).start()
    error = {"error": {"message": "tools: Tool names must be unique."}}
    sent = offered(*({**ADD, "name": name} for name in names), name="{}")
    made.put(chat([user("Go.")], tools=sent, status=400, error=error, at=1, index=2))

    assert made.every("client-bad-tool-schema")[0]["because_of"] == (["tool-definition-rejected"] if of_server else [])


def test_a_list_that_was_not_read_again_is_reported_for_the_first_turn_that_offers_it() -> None:
    def reported() -> list[int]:
        labels = ((one.round_trip.index, json.dumps(one.label["findings"])) for one in made.label())
        return [index for index, found in labels if "announced that its tools change" in found]

    made = Story().start().turn().exchange(notifies("notifications/tools/list_changed"), sender="server")
    for number in range(3):
        made.turn((f"c{number}", "add", f'{{"a":{number}}}'), at=60 + number)
        made.results((f"c{number}", f"It is {number}."))
    assert reported() == [4]


def test_what_the_server_did_wrong_is_reported_before_the_next_request() -> None:
    made = Story().start().turn(("c1", "add", '{"a":1}')).call("add", {"a": 1}, "it broke")
    made.results(("c1", "it broke")).turn()
    labeller, reported = Labeller(), list[tuple[int, list[object]]]()
    for trip in made.trips:
        for index, label in labeller.add(trip):
            if index == 2:
                reported.append((trip.index, [as_object(finding)["id"] for finding in as_array(label["findings"])]))

    assert reported[:2] == [(2, []), (3, ["tool-server-error"])]
