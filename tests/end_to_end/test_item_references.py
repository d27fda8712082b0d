"""Responses keeps its items: a request may name one instead of repeating it, as the AI SDK and Mastra do."""

import json
from dataclasses import replace
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


def named(item_id: str) -> dict[str, Any]:
    return {"type": "item_reference", "id": item_id}


def found(*trips: RoundTrip) -> list[str]:
    """What is found about calls and results, above the severity `info`, with the thread of each turn."""
    labels: list[Any] = [done.label for done in label_all(list(trips))]
    threads = [label["thread"] for label in labels]
    said = [(f["id"], f["message"]) for label in labels for f in label["findings"] if f["severity"] != "info"]
    assert threads == ["t1"] * len(threads)
    return [f"{one}: {message}" for one, message in said if "tool-result" in one]


STRAY = {**RESULT, "call_id": "call_9"}
MISSING = "client-missing-tool-result: the history has no result for"
UNPAIRED = "client-orphan-tool-result: the request holds a result for call_9, but the history holds no such call"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([named("fc_1"), RESULT], []),
        ([named("msg_0"), named("fc_1"), RESULT], []),
        ([named("fc_1"), STRAY], [f"{UNPAIRED}; the call call_1 has no result"]),
        ([named("fc_1")], ["client-missing-tool-result: the next request has no result for call_1"]),
        ([named("msg_0"), STRAY], [UNPAIRED]),
        ([named("fc_77"), named("fc_1"), STRAY], [f"{MISSING} the call call_1 of 'look_up'"]),
    ],
    ids=["paired", "with a text", "wrong id", "no result", "call left out", "beside what was not recorded"],
)
def test_results_are_matched_with_the_calls_that_are_named(given: list[Any], expected: list[str]) -> None:
    first = turn(0, [ASKED], text(0, "I look it up."), CALL)

    assert found(first, turn(1, [ASKED, *given], text(1, "A strip."))) == expected


def test_a_request_that_names_the_last_answer_is_in_its_thread() -> None:
    """Two threads ask the same. What each names says which it is."""
    one, two = turn(0, [ASKED], CALL), turn(1, [ASKED], {**CALL, "id": "fc_2", "call_id": "call_2"})
    third = turn(2, [ASKED, named("fc_2"), STRAY], text(2, "A."))
    fourth = turn(3, [ASKED, named("fc_1"), STRAY], text(3, "B."))
    labels: list[Any] = [done.label for done in label_all([one, two, third, fourth])]

    assert [label["thread"] for label in labels] == ["t1", "t2", "t2", "t1"]
    assert [label["client"]["history"] for label in labels] == ["first", "first", "extended", "extended"]


def test_results_of_many_named_calls_are_matched_at_every_turn() -> None:
    history: list[Any] = [ASKED]
    trips: list[RoundTrip] = []
    for n in range(6):
        call = {**CALL, "id": f"fc_{n}", "call_id": f"call_{n}", "arguments": f'{{"n": {n}}}'}
        trips.append(turn(n, list(history), call))
        history += [named(f"fc_{n}"), {**RESULT, "call_id": f"call_{n}", "output": f"{n}"}]
    healthy = turn(6, list(history), text(6, "Done."))
    history[-1] = {**history[-1], "call_id": "call_9"}

    assert found(*trips, healthy) == []
    assert found(*trips, turn(6, history, text(6, "Done."))) == [f"{UNPAIRED}; the call call_5 has no result"]


def continued(index: int, given: list[Any], answer: str, *said: Any) -> RoundTrip:
    done = turn(index, given, *said)
    asked = {**json.loads(done.request.body), "previous_response_id": answer}
    return replace(done, request=Request("POST", URL, HEADERS, json.dumps(asked).encode()))


def test_going_back_to_a_held_answer_with_the_result_of_a_later_call() -> None:
    later = {**CALL, "id": "fc_2", "call_id": "call_2"}
    trips = [turn(0, [ASKED], CALL), continued(1, [RESULT], "resp_0", later)]
    stale = continued(2, [{**RESULT, "call_id": "call_2"}], "resp_0", text(2, "A."))
    again = continued(2, [RESULT], "resp_0", text(2, "A."))

    def orphans(*trips: RoundTrip) -> list[str]:
        labels: list[Any] = [done.label for done in label_all(list(trips))]
        ids = "client-orphan-tool-result"
        return [finding["message"] for label in labels for finding in label["findings"] if finding["id"] == ids]

    assert orphans(*trips, stale) == ["the request holds a result for call_2, but the history holds no such call"]
    assert orphans(*trips, again) == []


def test_results_for_a_background_answer_that_was_fetched_later_are_not_judged() -> None:
    first = turn(0, [ASKED])
    assert first.response is not None
    body = json.dumps({**json.loads(first.response.body), "status": "queued", "usage": None}).encode()
    first = replace(first, response=Response(200, "OK", HEADERS, body))

    assert found(first, continued(1, [RESULT], "resp_0", text(1, "A strip."))) == []
