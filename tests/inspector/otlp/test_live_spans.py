"""Spans while a recording is made: complete when they leave, with the ids that the export gives them."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
import tool_tapes
from conversations import HELLO, chat, loop, said, sent, user

from turntape.cassettes.tape.carried import Carried
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.exporters.otel import otel
from turntape.inspector.otlp.live_spans import LiveSpans
from turntape.inspector.run.labels import Labeller, label_stream

RECORDING = "5" * 32
THEIRS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def live(trips: Iterable[RoundTrip], **options: Any) -> list[dict[str, Any]]:
    spans = LiveSpans(RECORDING, **options)
    found = [span for _, one in label_stream(trips) for span in spans.add(one)]
    return [span for _, span in [*found, *spans.finish()]]


def exported(trips: Iterable[RoundTrip], **options: Any) -> list[dict[str, Any]]:
    first = Carried(RECORDING, "t9", 1).mark(chat([user("an earlier segment")], said("ok"), index=99, at=-5))
    found = json.loads(otel([first, *trips], **options))["resourceSpans"]
    return [span for resource in found for scope in resource["scopeSpans"] for span in scope["spans"]]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_a_turn_leaves_when_it_ends_and_its_thread_at_the_end() -> None:
    spans, labeller = LiveSpans(RECORDING), Labeller()

    at_each = [[span for _, one in labeller.follow(trip) for span in spans.add(one)] for trip in loop()]
    at_the_end = spans.finish()

    assert [[span["name"] for _, span in found] for found in at_each] == [["chat gpt-5"], ["chat gpt-5"]]
    assert [span["name"] for _, span in at_the_end] == ["invoke_agent"]
    assert at_the_end[0][1]["spanId"] == at_each[0][0][1]["parentSpanId"]
    assert at_the_end[0][1]["endTimeUnixNano"] == at_each[1][0][1]["endTimeUnixNano"]


@pytest.mark.parametrize(
    "trips", [loop(), tool_tapes.story().trips, [sent(trip, traceparent=THEIRS) for trip in loop()]]
)
def test_the_export_of_the_same_recording_has_the_same_spans(trips: list[RoundTrip]) -> None:
    def by_id(spans: list[dict[str, Any]]) -> dict[str, Any]:
        # More findings may be known when it is exported.
        return {
            span["spanId"]: {**span, "attributes": {**attributes(span), "turntape.findings": None}} for span in spans
        }

    assert by_id(live(trips, content=True)) == by_id(exported(trips))


def test_nothing_that_was_said_leaves_without_content() -> None:
    failed = chat([user("secret plan")], error={"error": {"message": "secret plan"}}, status=400, index=5)

    shown = json.dumps(live([*loop(), *tool_tapes.story().trips, failed]))

    assert "holds a recording" not in shown and "secret plan" not in shown
    assert "gen_ai.input.messages" not in shown and "gen_ai.tool.call.arguments" not in shown
    assert "gen_ai.input.messages" in json.dumps(live(loop(), content=True))


def test_a_tool_run_leaves_once_when_the_next_turn_shows_its_result() -> None:
    spans, labeller = LiveSpans(RECORDING), Labeller()
    trips = tool_tapes.story().trips
    names: list[list[str]] = []
    for trip in trips:
        names.append([str(span["name"]) for _, one in labeller.follow(trip) for _, span in spans.add(one)])
    names.append([str(span["name"]) for _, one in labeller.finish() for _, span in spans.add(one)])
    names.append([str(span["name"]) for _, span in spans.finish()])

    tools = [name for found in names for name in found if name.startswith("execute_tool")]
    assert sorted(tools) == [
        "execute_tool mcp__files__read",
        "execute_tool mcp__files__search",
        "execute_tool mcp__files__write",
    ]
    first = next(found for found in names if "execute_tool mcp__files__read" in found)
    assert first[-1] == "chat gpt-5", "the turn that shows the result"


def test_conversations_and_traces_are_those_of_this_recording_alone() -> None:
    trips = [chat([HELLO], said("Hi."), run="a"), chat([user("Ho")], said("Hi."), index=1, run="b")]

    found = live(trips)
    other = [span for _, one in label_stream(trips) for _, span in LiveSpans("6" * 32).add(one)]

    conversations = {attributes(span)["gen_ai.conversation.id"] for span in found}
    assert conversations == {f"{RECORDING}/t1", f"{RECORDING}/t2"}
    assert len({span["traceId"] for span in found}) == 2
    assert not {str(span["spanId"]) for span in found} & {str(span["spanId"]) for span in other}


def test_a_thread_that_the_next_segment_continues_does_not_end() -> None:
    first, second = loop()
    spans = LiveSpans(RECORDING)
    one = Labeller()
    begun = [span for _, label in one.follow(first) for _, span in spans.add(label)]

    assert spans.finish({"t1"}) == []

    two = Labeller()
    list(two.follow(Carried(RECORDING, "t1", 1, 1, 1).mark(first)))
    later = [span for _, label in two.follow(second) for _, span in spans.add(label)]
    [(_, thread)] = spans.finish()
    assert (thread["startTimeUnixNano"], thread["endTimeUnixNano"]) == (
        begun[0]["startTimeUnixNano"],
        later[0]["endTimeUnixNano"],
    )
    assert begun[0]["parentSpanId"] == later[0]["parentSpanId"] == thread["spanId"]
    assert begun[0]["spanId"] != later[0]["spanId"]
