"""Streams whose last event has an answer without the items that came before it."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import FUNCTION, ids, item_call, item_output, lines, trip
from round_trips import sse

from turntape.cassettes.tape.model import RoundTrip

EMPTY = "api-final-event-empty"
OPENAI = "https://api.openai.com/v1/responses"
GATEWAY = "http://127.0.0.1:4000/v1/responses"
CODEX = "https://chatgpt.com/backend-api/codex/responses"
TEXT = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "It is a strip."}],
}
WELL = user("Well?")
ON = "the event that completes the answer has no items, although the stream brought some"


def streamed(
    items: list[Any], output: list[dict[str, Any]], index: int = 0, *, url: str = GATEWAY, full: bool = False,
    **fields: Any,
) -> RoundTrip:  # fmt: skip
    """A turn whose last event has these items only when it is `full`."""
    whole = {"id": f"resp_{index}", "object": "response", "status": "completed", "model": "gpt-5.1"}
    whole |= {"usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
    events: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": place, "item": item} for place, item in enumerate(output)
    ]
    events.append({"type": "response.completed", "response": {**whole, "output": output if full else []}})
    body = {"model": "gpt-5.1", "input": items, "tools": [FUNCTION], "stream": True, **fields}
    return trip(url, body, sse(*events, names=True), index)


def looped(*between: dict[str, Any], url: str = GATEWAY) -> list[RoundTrip]:
    """A turn with a text, a call and an empty last event, and the next request, with these items after the question."""
    return [
        streamed([HELLO], [TEXT, item_call()], url=url),
        streamed([HELLO, *between], [TEXT], 1, url=url, full=True),
    ]


KEPT = looped(TEXT, item_call(), item_output())


def empty(*trips: RoundTrip) -> list[str]:
    return lines(*trips, only=EMPTY)


def test_a_client_that_loses_the_items_shows_it_in_the_next_request() -> None:
    assert empty(*looped(TEXT, WELL)) == [f"#0 {EMPTY} (api, warning, P): {ON} | #0 response"]
    assert empty(*KEPT) == [f"#0 {EMPTY} (api, info, P): {ON} | #0 response"]


def test_a_lost_text_counts_too() -> None:
    lost = [streamed([HELLO], [TEXT, item_call()]), streamed([HELLO, item_call(), item_output()], [TEXT], 1, full=True)]

    assert "(api, warning, P)" in empty(*lost)[0]


def test_the_dropped_answer_is_an_echo() -> None:
    [line] = lines(*looped(TEXT, WELL), only="client-assistant-mutated")

    assert line.endswith(f"because of {EMPTY}")


@pytest.mark.parametrize(
    ("url", "output", "severity"),
    [
        (GATEWAY, item_call(), "warning"),
        (GATEWAY, TEXT, "info"),
        (OPENAI, TEXT, "warning"),
        (OPENAI, item_call(), "warning"),
    ],
)
def test_at_the_end_a_call_or_the_apis_own_host_shows_that_it_is_a_fault(
    url: str, output: dict[str, Any], severity: str
) -> None:
    assert empty(streamed([HELLO], [output], url=url)) == [f"#0 {EMPTY} (api, {severity}, P): {ON} | #0 response"]


def test_each_turn_is_judged_once() -> None:
    both = [streamed([HELLO], [item_call()]), streamed([HELLO, item_call(), item_output()], [item_call("call_2")], 1)]

    assert [line[:2] for line in empty(*both)] == ["#0", "#1"]


def test_whole_answers_and_codex_are_fine() -> None:
    assert empty(*looped(TEXT, WELL, url=CODEX)) == []
    assert empty(streamed([HELLO], [item_call()], full=True)) == []
    assert empty(streamed([HELLO], [])) == [], "an answer without anything has its own finding"
    assert EMPTY not in ids(chat([HELLO], said(None, CALL)), chat([HELLO, said(None, CALL), result("call_1", "x")]))


def test_a_stream_that_failed_is_judged_for_its_failure() -> None:
    item = {"type": "response.output_item.done", "output_index": 0, "item": item_call()}
    end = {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}
    body = {"model": "gpt-5.1", "input": [HELLO], "stream": True}
    error = {"type": "error", "message": "gone", "code": "server_error"}

    assert EMPTY not in ids(trip(GATEWAY, body, sse(item, error, end)))
    assert EMPTY in ids(trip(GATEWAY, body, sse(item, end)))
