"""Which changes of a request let its recorded answer stay."""

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

    assert refusal((one,) * 10, TRIP) == "too much of the request has changed"
