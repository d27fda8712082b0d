"""Responses keeps its items: a request may name one instead of repeating it, as the AI SDK and Mastra do."""

import json
from typing import Any

import pytest

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all

URL = "https://api.openai.com/v1/responses"
HEADERS = (("content-type", "application/json"),)
TOOLS = [{"type": "function", "name": "look_up", "parameters": {"type": "object"}}]
ASKED = {"role": "user", "content": [{"type": "input_text", "text": "what is a tape?"}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look_up", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "call_1", "output": "a strip"}


def turn(index: int, given: list[Any], *said: Any) -> RoundTrip:
    asked = {"model": "gpt-5", "input": given, "tools": TOOLS}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    answer = {"id": f"resp_{index}", "object": "response", "status": "completed", "model": "gpt-5", "output": said}
    response = Response(200, "OK", HEADERS, json.dumps({**answer, "usage": usage}).encode())
    request = Request("POST", URL, HEADERS, json.dumps(asked).encode())
    return RoundTrip(request, response, 100.0 + index, index=index)


def text(index: int, words: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"type": "message", "id": f"msg_{index}", "role": "assistant", "status": "completed", "content": content}


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ([{"type": "item_reference", "id": "msg_0"}], []),
        ([], ["client-assistant-mutated"]),
    ],
    ids=["referenced", "left out"],
)
def test_a_text_that_is_named_is_not_left_out(kept: list[Any], found: list[str]) -> None:
    first = turn(0, [ASKED], text(0, "I look it up."), CALL)
    second = turn(1, [ASKED, *kept, CALL, RESULT], text(1, "A strip."))
    labels: list[Any] = [done.label for done in label_all([first, second])]

    assert [label["turn"] for label in labels] == [1, 2]
    assert [finding["id"] for finding in labels[1]["findings"]] == found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ([{"type": "item_reference", "id": "fc_0"}, RESULT], []),
        ([RESULT], ["client-assistant-mutated"]),
    ],
    ids=["referenced", "left out"],
)
def test_a_call_that_is_named_is_not_left_out(kept: list[Any], found: list[str]) -> None:
    """The AI SDK sends a call as a reference, and its result whole. The model makes the same call again."""
    first = turn(0, [ASKED], {**CALL, "id": "fc_0"})
    second = turn(1, [ASKED, *kept], {**CALL, "id": "fc_1", "call_id": "call_2"})
    again = [*kept, {"type": "item_reference", "id": "fc_1"}, {**RESULT, "call_id": "call_2"}]
    labels: list[Any] = [done.label for done in label_all([first, second, turn(2, [ASKED, *again], text(2, "Done."))])]

    said = [finding["id"] for label in labels for finding in label["findings"] if finding["severity"] != "info"]
    assert [one for one in said if one == "client-assistant-mutated"] == found
