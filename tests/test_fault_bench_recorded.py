"""The part of the fault bench with recorded loops: its shapes read each API, its faults edit it, and the bars hold.

What needs no corpus is tested on the bench's own story; the bars on a sample of the corpus.
"""

import json
import sys
from functools import cache
from pathlib import Path

import pytest

from turntape.cassettes.tape.model import Request, Response, RoundTrip

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.faults.dialects import DIALECTS
from bench.faults.loop import record
from bench.faults.pieces import Text
from bench.faults.recorded.bodies import parsed
from bench.faults.recorded.catalogue import FAULTS, Fault
from bench.faults.recorded.known import EXPLAINED, NOT_YET
from bench.faults.recorded.loops import Recording, chosen, continues, read
from bench.faults.recorded.score import Score, faulty, judge, score
from bench.faults.recorded.shapes import Shape, shape_of
from bench.faults.score import label_trips
from bench.faults.story import incident
from tests.corpus import corpus

APIS = {name: {"mistral-chat": "mistral", "openai-responses-held": "openai-responses",
               "anthropic-thinking": "anthropic-messages"}.get(name, name) for name in DIALECTS}  # fmt: skip
MODES = [(name, streamed) for name in DIALECTS for streamed in (False, True)]
RECORDED = pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)


@cache
def story(name: str, *, streamed: bool) -> Recording:
    """The story of the bench as if it had been recorded; a loop of it is a copy."""
    trips = tuple(record(incident(DIALECTS[name], streamed=streamed)).trips)
    shape = shape_of(APIS[name], json.loads(trips[0].request.body))
    assert shape is not None
    return Recording(f"{name} {streamed}", shape.protocol, name, shape, trips)


@pytest.mark.parametrize(("name", "streamed"), MODES)
def test_a_shape_reads_what_the_story_says(name: str, streamed: bool) -> None:
    plan = incident(DIALECTS[name], streamed=streamed)
    loop = story(name, streamed=streamed).loop()

    for step, turn in zip(plan.steps, loop.turns, strict=True):
        calls = loop.shape.answered(turn.answer)
        assert [(c.name.get(), c.known) for c in calls] == [(c.name, json.loads(c.arguments)) for c in step.calls]
        if loop.shape.with_ids:
            assert [c.identity for c in calls] == [c.id for c in step.calls]
        words = "".join(b.text for b in step.blocks if isinstance(b, Text))
        assert loop.shape.text(turn.answer).get() == words or loop.shape.protocol == "cohere-v2"
        assert {p.value for p in loop.shape.finish(turn.answer).copies} <= loop.shape.GOOD
        assert loop.shape.usage(turn.answer)
    assert all(continues(loop.shape, *pair) for pair in zip(loop.turns, loop.turns[1:], strict=False))
    request = loop.turns[-1].request
    if loop.full:
        assert len(loop.shape.calls(request)) == len(loop.shape.results(request)) == 6
    assert [tool.name.value for tool in loop.shape.tools(request)] == [tool.name for tool in plan.tools]
    system = loop.shape.system(request)
    assert system is not None and system.value == plan.system


@pytest.mark.parametrize(("name", "streamed"), MODES)
def test_what_is_not_edited_keeps_its_bytes(name: str, streamed: bool) -> None:
    recording = story(name, streamed=streamed)

    assert [_bytes(trip) for trip in recording.loop().trips()] == [_bytes(trip) for trip in recording.trips]


def _bytes(trip: RoundTrip) -> tuple[bytes, bytes]:
    return trip.request.body, trip.response.body if trip.response else b""


@pytest.mark.parametrize(("name", "streamed"), MODES)
def test_a_result_that_is_missing_or_there_twice_is_not_a_healthy_loop(name: str, streamed: bool) -> None:
    loop = story(name, streamed=streamed).loop()
    before, after = loop.turns[:2]
    result = loop.shape.results(after.request)[-1]
    result.owner.append(result.node)
    assert not continues(loop.shape, before, after)

    loop.shape.drop(after.request, result.owner, result.node)
    assert not continues(loop.shape, before, after)


@pytest.mark.parametrize(
    ("data", "kind", "form"),
    [
        (b'{"a": 1}', "application/json", "json"),
        (b'[{"a":1},{"a":2}]', "application/json", "array"),
        (b'{"a":1}\n{"a":2}\n', "application/x-ndjson", "lines"),
        (b'event: x\r\ndata: {"a":1}\r\n\r\n: keepalive\r\n\r\ndata: [DONE]\r\n\r\n', "text/event-stream", "sse"),
    ],
)
def test_a_body_is_read_by_its_form_and_written_again(data: bytes, kind: str, form: str) -> None:
    body = parsed(data, kind)

    assert body is not None and body.kind == form
    assert body.written().replace(b" ", b"") == data.replace(b" ", b"")


def test_a_body_of_another_form_is_left_out() -> None:
    assert parsed(b"<html>", "text/html") is None
    trip = RoundTrip(Request("POST", "https://example.com", content=b"{}"), Response(200, content=b"<html>"), 0.0)
    assert read(trip) is None


def test_names_of_faults_are_their_own() -> None:
    names = [fault.name for fault in FAULTS]

    assert len(set(names)) == len(names) >= 80
    assert {fault.layer for fault in FAULTS} == {"model", "api", "client"}


SAMPLE = MODES[::3]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_the_tape_or_says_that_it_cannot(fault: Fault) -> None:
    for name, streamed in SAMPLE:
        recording = story(name, streamed=streamed)
        made = faulty(recording, fault)
        if made is None:
            continue
        trips, places = made
        assert [_seen(trip) for trip in trips] != [_seen(trip) for trip in recording.loop().trips()]
        assert places <= set(range(len(trips)))
        assert faulty(recording, fault) == made


def _seen(trip: RoundTrip) -> tuple[object, ...]:
    return *_bytes(trip), trip.response and trip.response.status, trip.failure, trip.started_at


def test_a_finding_of_the_untouched_loop_is_not_counted() -> None:
    recording = story("openai-chat", streamed=False)
    fault = next(fault for fault in FAULTS if fault.name == "a result is dropped")
    made = faulty(recording, fault)
    assert made is not None

    assert judge(recording, fault, label_trips(made[0])) is None
    outcome = judge(recording, fault, ())
    assert outcome is not None and outcome.right and {f.id for f in outcome.hits} == {"client-missing-tool-result"}


def test_a_missed_fault_and_a_false_alarm_miss_the_bars() -> None:
    total = Score()
    total.total.cases, total.total.found, total.total.blamed, total.total.right = 100, 94, 100, 97
    total.alarms["model-unknown-tool"] = ["a", "b"]

    assert len(total.missed({})) == 3
    total.total.found, total.total.right = 95, 98
    assert total.missed({"model-unknown-tool": (2, "true")}) == []
    assert len(total.missed({"model-unknown-tool": (1, "true")})) == 1


def test_an_alarm_that_a_missing_round_trip_brings_misses_the_bars() -> None:
    loops = [story(name, streamed=False) for name in ("openai-chat", "anthropic-messages", "gemini-generate")]
    total = score(loops, ())
    assert total.torn == len(loops)
    assert total.untrue == {}

    total.untrue["client-forged-answer"].append("a")
    assert "client-forged-answer is found in 1 of 3 loops that lack a round trip" in total.missed(EXPLAINED)


# The corpus


@RECORDED
def test_two_hundred_healthy_loops_of_ten_protocols_raise_no_alarm_that_nothing_explains() -> None:
    loops = chosen()
    assert len(loops) >= 200
    assert len({loop.protocol for loop in loops}) == 10

    assert score(loops, ()).missed(EXPLAINED) == []


def smallest() -> list[Recording]:
    """Of each protocol the smallest loop of three round trips or more, else of two."""
    loops = sorted(
        chosen(), key=lambda loop: (-min(len(loop.trips), 3), sum(len(b) for t in loop.trips for b in _bytes(t)))
    )
    return list({loop.protocol: loop for loop in reversed(loops)}.values())


@RECORDED
def test_the_bars_hold_on_recorded_loops() -> None:
    """On every fault in one loop of each protocol; `make faults` holds all loops to the same bars."""
    faults = [fault for fault in FAULTS if fault.name not in NOT_YET]
    loops = smallest()

    assert len(loops) == 10
    assert score(loops, faults).missed({k: (9, w) for k, (_, w) in EXPLAINED.items()}) == []


def test_every_shape_has_an_error_of_its_own() -> None:
    shapes: set[Shape] = {story(name, streamed=False).shape for name in DIALECTS}

    assert all(json.dumps(shape.error(503, "busy")).count("busy") == 1 for shape in shapes)
