"""The events of a Responses stream as one response."""

from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read

RESPONSES = "https://api.openai.com/v1/responses"
TOOL = {"type": "function", "name": "look_up", "parameters": {"type": "object"}}
CALL = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "look_up"}


def problems(*pieces: str, final: str, begun: str = "") -> tuple[str, ...]:
    """What is wrong with a stream that sends a call's arguments in pieces and ends them with `final`."""
    added: dict[str, Any] = {"output_index": 0, "item": {**CALL, "status": "in_progress", "arguments": begun}}
    part = {"item_id": "fc_1", "output_index": 0}
    call = {**CALL, "status": "completed", "arguments": final}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5", "output": [call]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", **added},
        *({"type": "response.function_call_arguments.delta", "delta": piece, **part} for piece in pieces),
        {"type": "response.function_call_arguments.done", "arguments": final, **part},
        {"type": "response.output_item.done", "output_index": 0, "item": call},
        {"type": "response.completed", "response": whole},
    ]
    asked = {"model": "gpt-5", "input": "hi", "tools": [TOOL], "stream": True}
    return read(exchanged(RESPONSES, asked, sse(*events))).problems


def test_arguments_that_end_other_than_they_were_sent_are_a_problem() -> None:
    assert problems('{"word":', '"tape"}', final='{"word":"strip"}') == (
        "The final 'arguments' of item 0 is not the sum of the pieces before it.",
    )


@pytest.mark.parametrize(
    ("pieces", "begun"),
    [(('{"word":', '"tape"}'), ""), ((), ""), ((), '{"word":"tape"}')],
    ids=["in pieces", "at once", "with the item"],
)
def test_arguments_that_end_as_they_were_sent_are_fine(pieces: tuple[str, ...], begun: str) -> None:
    assert problems(*pieces, final='{"word":"tape"}', begun=begun) == ()
