"""Which changes of a request let its recorded answer stay."""

from dataclasses import replace

import orjson
import pytest

from turntape.cassettes.matching.json_diff import Difference
from turntape.cassettes.replay.restamp import refusal
from turntape.cassettes.tape.model import Request, Response, RoundTrip

BODY = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi."},
        {"role": "tool", "tool_call_id": "c1", "content": "3"},
    ],
    "tools": [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("find", "send")],
    "toolConfig": {"tools": [{"toolSpec": {"name": name}} for name in ("find", "send")]},
}
CALLS_FIND = Response(200, content=b'{"tool_calls":[{"function":{"name":"find"}}]}')
TRIP = RoundTrip(
    Request("POST", "https://api.openai.com/v1/chat/completions", content=orjson.dumps(BODY)), CALLS_FIND, 1.0
)


@pytest.mark.parametrize(
    "one",
    [
        Difference("/messages/0/content", "changed", "Be brief.", "Be short."),
        Difference("/messages/1/content", "changed", "Hi.", "Hello."),
        Difference("/tools/0/function/description", "added", None, "Finds."),
        Difference("/tools/0/function/strict", "added", None, True),
        Difference("/tools/0/function/parameters/properties/a/title", "removed", "A"),
        Difference("/tools/1/function/parameters/type", "added", None, "object"),
        Difference("/tools/2", "added", None, {"type": "function"}),
        Difference("/toolConfig/tools/0/toolSpec/description", "changed", "Finds.", "Gets."),
        Difference("/toolConfig/tools/1/toolSpec/name", "changed", "send", "mail"),
        Difference("/temperature", "changed", 0, 1),
    ],
    ids=lambda one: one.pointer,
)
def test_the_answer_stays(one: Difference) -> None:
    assert refusal((one,), TRIP) is None


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (Difference("/model", "changed", "m", "n"), "it is from another model"),
        (Difference("/messages/2/content", "changed", "3", "4"), "it was given to another tool result"),
        (Difference("/tools/0/function/parameters/type", "added", None, "object"), "it calls the tool find"),
        (Difference("/tools/0/function/parameters/properties/title", "removed", {}), "it calls the tool find"),
        (Difference("/tools/0", "removed", BODY["tools"]), "it calls the tool find"),
        (Difference("/toolConfig/tools/0/toolSpec/name", "changed", "find", "get"), "it calls the tool find"),
        (Difference("/toolConfig/toolChoice/auto", "removed", {}), "its form depends on /toolConfig/toolChoice"),
        (Difference("/toolConfig/functionCallingConfig/mode", "changed", "AUTO", "ANY"), "its form depends on"),
        (Difference("/format", "added", None, "json"), "its form depends on /format"),
        (Difference("/dimensions", "changed", 256, 512), "its form depends on /dimensions"),
        (
            Difference("/response_format", "added", None, {"type": "json_object"}),
            "its form depends on /response_format",
        ),
        (Difference("/generationConfig/responseSchema/type", "changed", "a", "b"), "its form depends on"),
    ],
    ids=lambda one: getattr(one, "pointer", ""),
)
def test_the_answer_could_not_follow(one: Difference, why: str) -> None:
    assert (refusal((one,), TRIP) or "").startswith(why)


def test_a_request_with_too_many_differences_is_refused() -> None:
    one = Difference("/messages/1/content", "changed", "Hi.", "Hello.")

    assert refusal((one,) * 99, TRIP) is None
    assert refusal((one,) * 100, TRIP) == "too much of the request has changed"


TOOLS_AGAIN = b'"tools":[{"type":"function","name":"find"}]'
CALL = b'"output":[{"type":"function_call","name":"find"}]'


@pytest.mark.parametrize(
    ("content", "stays"),
    [
        (b'{"output":[],%s}' % TOOLS_AGAIN, True),
        (b"{%s,%s}" % (CALL, TOOLS_AGAIN), False),
        (b'event: a\ndata: {"response":{"output":[],%s}}\n\n' % TOOLS_AGAIN, True),
        (b'event: a\ndata: {"response":{%s}}\n\nevent: b\ndata: {"response":{%s}}\n\n' % (TOOLS_AGAIN, CALL), False),
        (b'not JSON: "find"', False),
    ],
)
def test_an_answer_that_only_repeats_the_definition_of_a_tool_does_not_call_it(content: bytes, stays: bool) -> None:
    one = Difference("/tools/0/function/parameters/type", "added", None, "object")

    assert (refusal((one,), replace(TRIP, response=Response(200, content=content))) is None) == stays


@pytest.mark.parametrize(
    ("one", "stays"),
    [
        (Difference("/input/1", "changed", "b", "c"), True),
        (Difference("/input/2", "added", None, "c"), False),
        (Difference("/input/1", "removed", "b"), False),
    ],
)
def test_an_answer_with_a_part_for_each_input_cannot_follow_their_number(one: Difference, stays: bool) -> None:
    request = Request("POST", "https://api.openai.com/v1/embeddings", content=b'{"input":["a","b"]}')

    assert (refusal((one,), RoundTrip(request, CALLS_FIND, 1.0)) is None) == stays
