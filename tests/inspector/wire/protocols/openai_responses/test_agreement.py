"""Whether the events of a Responses stream say the same of one item."""

from typing import Any

import pytest
from judged import RESPONSES, trip
from round_trips import sse

from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.protocols.openai_responses.agreement import disagreements

CALL: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up", "arguments": ""}
MESSAGE: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
SAID = [{"type": "output_text", "text": "A strip."}]


def item(kind: str, place: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_item.{kind}", "output_index": place, "item": fields}


def text(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.output_text.{kind}", "output_index": 1, "content_index": 0, **fields}


def completed(*items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"output": list(items)}}


GOOD = [
    item("added", **CALL),
    item("done", **{**CALL, "arguments": "{}"}),
    item("added", 1, **MESSAGE),
    text("delta", delta="A "),
    text("delta", delta="strip."),
    text("done", text="A strip."),
    item("done", 1, **{**MESSAGE, "content": SAID}),
    completed({**CALL, "arguments": "{}"}, {**MESSAGE, "content": SAID}),
]


def changed(place: int, event: dict[str, Any]) -> list[dict[str, Any]]:
    return [event if number == place else one for number, one in enumerate(GOOD)]


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (GOOD, []),
        (changed(1, item("done", **{**CALL, "name": "add"})),
         ["the name of item 0 is 'add' in 'response.output_item.done' and 'look_up' before it"]),
        (changed(5, text("done", text="A strop.")),
         ["'response.output_text.done' says 'A strop.', and the pieces before it say 'A strip.'"]),
        (changed(7, completed({**CALL, "call_id": "call_2"}, {**MESSAGE, "content": SAID})),
         ["the call_id of item 0 is 'call_2' in 'response.completed' and 'call_1' before it"]),
        (changed(7, completed(CALL, {**MESSAGE, "content": []})),
         ["the text of item 1 is '' in 'response.completed' and 'A strip.' before it"]),
        (changed(7, completed({**CALL, "id": "fc_2"})), []),
        (changed(6, item("done", 1, **{**MESSAGE, "content": [{"type": "output_text", "text": "A strop."}]})),
         ["the text of item 1 is 'A strop.' in 'response.output_item.done' and 'A strip.' before it"]),
    ],
    ids=["good", "name", "text", "call", "lost", "id", "item"],
)  # fmt: skip
def test_later_events_that_disagree(events: list[dict[str, Any]], says: list[str]) -> None:
    one = trip(RESPONSES, {"model": "gpt-5", "stream": True, "input": "hi"}, sse(*events, names=True))

    assert list(disagreements(Exchange(one))) == says
