"""Faults on answers of DashScope."""

from copy import deepcopy
from typing import Any

import pytest

from turntape.cassettes.framing import decode
from turntape.inspector.wire.json_value import as_object, parse_json
from turntape.inspector.wire.protocols.dashscope.faults import FAULTS, empty, error_event, relabel, truncate

CALL = {"index": 0, "id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}
WHOLE: dict[str, Any] = {
    "output": {"choices": [{"finish_reason": "tool_calls", "message": {"content": "Hi", "tool_calls": [CALL]}}]}
}
OLD: dict[str, Any] = {"output": {"text": "Hi", "finish_reason": "stop"}}
RUNNING: dict[str, Any] = {"output": {"choices": [{"finish_reason": "null", "message": {"content": "H"}}]}}


def test_the_last_call_is_cut() -> None:
    body = deepcopy(WHOLE)

    assert truncate([body]) == ({0}, set())
    assert body["output"]["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"a'


def test_a_finish_word_is_replaced_where_there_is_one() -> None:
    whole, old, running = deepcopy(WHOLE), deepcopy(OLD), deepcopy(RUNNING)

    assert relabel([running, whole, old], "length") == ({1, 2}, set())
    assert running == RUNNING
    assert (whole["output"]["choices"][0]["finish_reason"], old["output"]["finish_reason"]) == ("length", "length")


def test_an_emptied_answer_says_nothing_and_stops() -> None:
    whole, old, running = deepcopy(WHOLE), deepcopy(OLD), deepcopy(RUNNING)

    assert empty([running, whole, old, None]) == ({0, 1, 2}, set())
    assert whole["output"]["choices"] == [{"finish_reason": "stop", "message": {"content": ""}}]
    assert old["output"] == {"text": "", "finish_reason": "stop"}
    assert running["output"]["choices"] == [{"finish_reason": "null", "message": {"content": ""}}]


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_an_error_has_the_shape_of_the_api(status: int) -> None:
    assert set(FAULTS.error(status, None)) == {"code", "message", "request_id"}


def test_the_error_of_a_stream_is_an_event() -> None:
    events = [event for event in decode("sse", [(error_event(2), 0)]) if event.kind != "comment"]

    assert [event.name for event in events] == ["error"]
    assert as_object(parse_json(events[0].data))["code"] == "InternalError"
