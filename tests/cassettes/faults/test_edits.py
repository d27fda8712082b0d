"""What a fault makes of a recorded answer, and which answers have no place for it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from round_trips import CHAT, MESSAGES, exchanged, sse

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.faults.edits import faulted
from turntape.cassettes.faults.fault import Fault
from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.wire.parse import read

ASK = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CALL = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"city": "Oslo"}'}}


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {
        "id": "a",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


EVENTS = (
    chunk(content="I "),
    chunk(content="look."),
    chunk(tool_calls=[{"index": 0, **CALL}]),
    chunk("tool_calls"),
    "[DONE]",
)
STREAM = exchanged(CHAT, ASK, b": hello\n\n" + sse(*EVENTS))
WHOLE = exchanged(
    CHAT, ASK,
    {"choices": [{"index": 0, "message": {"content": "I look.", "tool_calls": [CALL]}, "finish_reason": "tool_calls"}]},
)  # fmt: skip
PROSE = exchanged("https://api.example/health", "", b"fine", content_type="text/plain")


def data_of(trip: RoundTrip) -> list[str]:
    assert trip.response is not None
    return [
        line.removeprefix("data: ") for line in trip.response.body.decode().splitlines() if line.startswith("data: ")
    ]


@pytest.mark.parametrize(("kind", "wait", "header"), [("429", 1.5, "1.5"), ("503", None, None), ("500", 2, "2")])
@pytest.mark.parametrize("url", [CHAT, MESSAGES])
def test_a_status_is_an_error_in_the_words_of_the_api(
    url: str, kind: str, wait: float | None, header: str | None
) -> None:
    recorded = replace(exchanged(url, ASK, {}), failure=Failure("cut", "x"))
    trip = faulted(recorded, Fault(1, kind, retry_after=wait))

    assert trip.response is not None and trip.failure is None
    assert trip.response.status == int(kind)
    assert dict(trip.response.headers) == {"content-type": "application/json"} | (
        {"retry-after": header} if header else {}
    )
    error = read(trip).error
    assert error is not None and error.message and error.status == int(kind)


@pytest.mark.parametrize("kind", ["timeout", "refused"])
def test_a_fault_of_the_connection_has_no_answer(kind: str) -> None:
    trip = faulted(WHOLE, Fault(1, kind))

    assert trip.response is None and trip.failure is not None
    assert trip.failure.kind == kind and trip.failure.message.endswith("a fault was injected")


def test_a_slow_answer_is_the_recorded_one() -> None:
    assert faulted(STREAM, Fault(1, "slow", seconds=1)) == STREAM


@pytest.mark.parametrize("after", range(5))
def test_a_stream_is_cut_after_the_given_number_of_events(after: int) -> None:
    trip = faulted(STREAM, Fault(1, "cut", after=after))

    assert data_of(trip) == data_of(STREAM)[:after]
    assert (trip.failure and trip.failure.kind, trip.closed_first) == ("cut", "server")


@pytest.mark.parametrize("kind", ["cut", "malformed"])
def test_a_whole_answer_is_cut_in_the_middle(kind: str) -> None:
    trip = faulted(WHOLE, Fault(1, kind))

    assert WHOLE.response is not None and trip.response is not None
    body = WHOLE.response.body
    assert trip.response.body == body[: len(body) // 2]
    assert (trip.failure is not None) is (kind == "cut")


@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_stream_ends_with_an_error_of_the_api(after: int) -> None:
    trip = faulted(STREAM, Fault(1, "error_event", after=after))

    assert data_of(trip)[:-1] == data_of(STREAM)[:after] and trip.failure is None
    error = read(trip).error
    assert error is not None and error.in_stream


@pytest.mark.parametrize("after", range(5))
def test_one_event_of_a_stream_is_not_json(after: int) -> None:
    kept, broken = data_of(STREAM), data_of(faulted(STREAM, Fault(1, "malformed", after=after)))

    assert [one == other for one, other in zip(kept, broken, strict=True)] == [place != after for place in range(5)]
    with pytest.raises(ValueError):
        json.loads(broken[after])


@pytest.mark.parametrize("trip", [STREAM, WHOLE], ids=["stream", "whole"])
def test_arguments_break_off_and_the_answer_may_have_another_end(trip: RoundTrip) -> None:
    torn = read(faulted(trip, Fault(1, "truncated_arguments")))
    ended = read(faulted(trip, Fault(1, "truncated_arguments", finish="length")))

    for reading, finish in ((torn, "tool_calls"), (ended, "length")):
        assert reading.emission is not None and reading.finish is not None
        (call,) = reading.emission.calls
        assert call.arguments is None and '{"city": "Oslo"}'.startswith(call.arguments_raw) and call.arguments_raw
        assert (reading.finish.raw, reading.emission.text) == (finish, "I look.")


@pytest.mark.parametrize("trip", [STREAM, WHOLE], ids=["stream", "whole"])
def test_an_answer_has_another_end_or_is_empty(trip: RoundTrip) -> None:
    other, empty = (
        read(faulted(trip, Fault(1, "finish", finish="content_filter"))),
        read(faulted(trip, Fault(1, "empty"))),
    )

    assert other.finish is not None and other.finish.raw == "content_filter"
    assert other.emission is not None and other.emission.calls
    assert empty.emission is not None and empty.emission.emitted == "empty"
    assert empty.finish is not None and empty.finish.effective == "complete"


SAID = exchanged(CHAT, ASK, {"choices": [{"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}]})


@pytest.mark.parametrize(
    ("trip", "fault", "reason"),
    [
        (replace(STREAM, response=None), Fault(1, "cut"), "its turn has no recorded answer"),
        (STREAM, Fault(1, "cut", after=5), "the answer has only 5 events"),
        (STREAM, Fault(1, "error_event", after=9), "the answer has only 5 events"),
        (STREAM, Fault(1, "malformed", after=5), "the answer has only 5 events"),
        (WHOLE, Fault(1, "error_event"), "the answer is not an event stream of a known shape"),
        (SAID, Fault(1, "truncated_arguments"), "the answer has no tool call of a known shape"),
        (PROSE, Fault(1, "truncated_arguments"), "the answer has no tool call of a known shape"),
        (PROSE, Fault(1, "finish", finish="length"), "the answer has no finish of a known shape"),
        (PROSE, Fault(1, "empty"), "the answer has no known shape"),
        (PROSE, Fault(1, "error_event"), "the answer is not an event stream of a known shape"),
    ],
)
def test_an_answer_without_a_place_for_the_fault_is_named(trip: RoundTrip, fault: Fault, reason: str) -> None:
    with pytest.raises(CassetteError) as raised:
        faulted(trip, fault)

    assert str(raised.value) == f"the fault {fault} cannot be applied: {reason}; choose another turn or kind"
