"""The events of a Responses stream as one response."""

from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_responses.stream import final_without_items
from turntape.inspector.wire.values import Emission

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


def text(words: str, **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": words}
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part], **more}


def completed(
    streamed: list[dict[str, Any]], final: list[dict[str, Any]] | None, kind: str = "response.completed"
) -> RoundTrip:
    """A stream with these whole items, and an event that completes it with those."""
    whole: dict[str, Any] = {"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5"}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": place, "item": item}
        for place, item in enumerate(streamed)
    ]
    events.append({"type": kind, "response": whole if final is None else {**whole, "output": final}})
    return exchanged(RESPONSES, {"model": "gpt-5", "input": "hi", "tools": [TOOL], "stream": True}, sse(*events))


DONE = {**CALL, "status": "completed", "arguments": '{"word":"tape"}'}


@pytest.mark.parametrize(
    ("final", "found"),
    [
        ([text("Wait."), DONE], ()),
        ([text("Wait.", id="msg_2", status="done"), DONE], ()),
        ([text("Wait."), DONE, text("More.")], ()),
        ([], ()),
        ([DONE], ("The final response lacks 1 of the 2 items of the stream.",)),
        ([text("Wait!"), DONE], ("The final response has another item 0 than the stream.",)),
        ([text("Wait."), {**DONE, "name": "x"}], ("The final response has another item 1 than the stream.",)),
        ([text("Wait."), {**DONE, "arguments": "{}"}], ("The final response has another item 1 than the stream.",)),
    ],
    ids=["the same", "other ids", "more", "none", "fewer", "other text", "other name", "other arguments"],
)
def test_a_final_response_has_the_items_of_the_stream(final: list[dict[str, Any]], found: tuple[str, ...]) -> None:
    assert read(completed([text("Wait."), DONE], final)).problems == found


def test_an_item_that_the_stream_did_not_finish_is_not_compared() -> None:
    assert read(completed([text("Wai", status="in_progress"), DONE], [DONE])).problems == ()
    assert read(completed([text("Wait."), DONE], [DONE], "response.in_progress")).problems == ()


def test_a_final_response_without_items() -> None:
    assert final_without_items(Exchange(completed([DONE], [])))
    assert final_without_items(Exchange(completed([DONE], None)))
    assert not final_without_items(Exchange(completed([DONE], [DONE])))
    assert not final_without_items(Exchange(completed([DONE], [], "response.incomplete")))


def test_codex_completes_without_items_on_purpose() -> None:
    one = completed([DONE], [])
    codex = replace(one, request=replace(one.request, url="https://chatgpt.com/backend-api/codex/responses"))

    assert not final_without_items(Exchange(codex))
    assert [call.id for call in (read(codex).emission or Emission()).calls] == ["call_1"]


def test_an_answer_in_one_body_is_not_a_stream() -> None:
    body = {"id": "resp_1", "object": "response", "status": "completed", "output": []}

    assert not final_without_items(Exchange(exchanged(RESPONSES, {"model": "gpt-5", "input": "hi"}, body)))


def test_items_that_share_an_index_are_all_read() -> None:
    """The event that completes the stream may have no items."""
    events: list[dict[str, Any]] = []
    for number in (1, 2):
        item = {**CALL, "id": f"fc_{number}", "call_id": f"call_{number}", "arguments": ""}
        whole = {**item, "arguments": f'{{"a":{number}}}', "status": "completed"}
        events += [
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": whole},
        ]
    events.append({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}})
    reading = read(exchanged(RESPONSES, {"model": "gpt-5", "input": "hi", "stream": True}, sse(*events)))

    assert reading.emission is not None
    assert [(call.id, call.arguments) for call in reading.emission.calls] == [
        ("call_1", {"a": 1}),
        ("call_2", {"a": 2}),
    ]
