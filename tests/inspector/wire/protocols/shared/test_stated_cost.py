"""The cost that an answer states is read wherever it is, in every protocol that gateways speak."""

from decimal import Decimal
from typing import Any

import pytest
from round_trips import CHAT, GEMINI, MESSAGES, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.shared.stated_cost import PLACES, merge_stated, stated_cost
from turntape.inspector.wire.values import StatedCost

TURN: dict[str, Any] = {
    "object": "chat.completion",
    "model": "acme/m-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
}
COUNTS = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}

STATED: list[tuple[str, dict[str, Any], str, str | None]] = [
    ("plain", {"usage": {"cost": 0.25}}, "0.25", None),
    (
        "with parts",
        {"usage": {"cost": 0.25, "cost_details": {"upstream_inference_prompt_cost": 0.2}}},
        "0.25",
        "0.2",
    ),
    (
        "with parts of Responses",
        {"usage": {"cost": 0.25, "cost_details": {"upstream_inference_input_cost": 0.1}}},
        "0.25",
        "0.1",
    ),
    (
        "own key",
        {"usage": {"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}},
        "0.21",
        None,
    ),
    (
        "gateway's key",
        {"usage": {"cost": 0.2, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}}},
        "0.2",
        None,
    ),
    ("an object", {"usage": {"cost": {"input_tokens_cost": 0.1, "total_cost": 0.7}}}, "0.7", "0.1"),
    ("ticks", {"usage": {"cost_in_usd_ticks": 25_000_000}}, "0.0025", None),
    ("dollars and credits", {"usage": {"cost": {"usd": 0.25, "hypercredits": 5}}}, "0.25", None),
    ("currencies", {"cost": {"diem": 0, "usd": 0.5}}, "0.5", None),
    ("credits", {"copilot_usage": {"total_nano_aiu": 1_500_000_000}}, "0.015", None),
    ("an estimate", {"usage": {"pydantic_ai_gateway": {"cost_estimate": 0.125}}}, "0.125", None),
    ("estimated", {"usage": {"estimated_cost": 0.125}}, "0.125", None),
    ("metadata", {"provider_metadata": {"gateway": {"cost": "0.75"}}}, "0.75", None),
    (
        "metadata of the message",
        {"choices": [{"message": {"provider_metadata": {"gateway": {"cost": "0.5"}}}}]},
        "0.5",
        None,
    ),
    ("alone, as text", {"cost": "0.0625"}, "0.0625", None),
    ("nothing", {"usage": {"cost": 0}}, "0", None),
]


@pytest.mark.parametrize(
    ("answer", "amount", "part"), [row[1:] for row in STATED], ids=[row[0].replace(" ", "-") for row in STATED]
)
def test_every_place_states_its_cost(answer: dict[str, Any], amount: str, part: str | None) -> None:
    found = stated_cost(answer, answer.get("usage"))

    assert found == StatedCost(Decimal(amount), None if part is None else Decimal(part))


def test_the_cases_cover_the_table() -> None:
    reached = {
        next(place.cost for place in PLACES if _at(answer, place.cost))
        for _, answer, amount, _ in STATED
        if amount != "0"
    }

    assert reached == {place.cost for place in PLACES}


def _at(value: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        value = (
            value[int(key)]
            if isinstance(value, list) and value
            else value.get(key)
            if isinstance(value, dict)
            else None
        )
    return isinstance(value, int | float | str)


@pytest.mark.parametrize("value", [-0.5, True, "free", "NaN", float("inf"), [1]])
def test_what_cannot_be_an_amount_is_a_problem_and_no_cost(value: object) -> None:
    found = stated_cost({}, {"cost": value})

    assert found is not None
    assert found.amount is None
    assert found.problems == (f"usage.cost is {value!r}, which is not an amount of money.",)


def test_a_bad_value_hides_no_other_one() -> None:
    found = stated_cost({}, {"cost": -1, "estimated_cost": 0.5})

    assert found is not None
    assert (found.amount, len(found.problems)) == (Decimal("0.5"), 1)


def test_an_answer_that_states_nothing_has_no_stated_cost() -> None:
    assert stated_cost({"cost": None}, {"prompt_tokens": 3}) is None


def test_a_zero_at_the_end_of_a_stream_does_not_replace_the_cost() -> None:
    body: dict[str, object] = {}
    for cost in ("0.5", "0", None):
        merge_stated(body, {"cost": cost})
    merge_stated(body, {"copilot_usage": {"a": 1}})
    merge_stated(body, {"copilot_usage": {"b": 2}})

    assert body == {"cost": "0.5", "copilot_usage": {"a": 1, "b": 2}}


def test_a_zero_alone_is_a_cost() -> None:
    body: dict[str, object] = {}
    merge_stated(body, {"cost": "0"})

    assert stated_cost(body, None) == StatedCost(Decimal(0))


def chat_stream() -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "delta": {"content": "hi"}}
    return sse({"choices": [choice]}, {"choices": [], "cost": "0.5"}, {"choices": [], "cost": "0"}, done=True)


def gateway_stream() -> bytes:
    delta = {"content": "hi", "provider_metadata": {"gateway": {"cost": "0.5"}}}
    return sse({"choices": [{"index": 0, "finish_reason": "stop", "delta": delta}]}, done=True)


def message_stream() -> bytes:
    return sse(
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2, "cost": 0.5}},
        {"type": "message_stop"},
        names=True,
    )


def response_stream() -> bytes:
    response = {"id": "r", "status": "completed", "output": [], "usage": {"input_tokens": 3, "output_tokens": 2}}
    done = {"type": "response.completed", "response": response, "copilot_usage": {"total_nano_aiu": 50_000_000_000}}
    return sse(done, names=True)


GEMINI_ANSWER = {
    "candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 3, "pydantic_ai_gateway": {"cost_estimate": 0.5}},
}
RESPONSES = "https://gateway.example/v1/responses"
COMPLETIONS = "https://gateway.example/v1/completions"


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        (CHAT, {**TURN, "usage": {**COUNTS, "cost": 0.5}}),
        (CHAT, chat_stream()),
        (CHAT, gateway_stream()),
        (MESSAGES, {"type": "message", "content": [], "stop_reason": "end_turn", "usage": {"cost": 0.5}}),
        (MESSAGES, message_stream()),
        (RESPONSES, {"object": "response", "status": "completed", "output": [], "usage": {"cost": 0.5}}),
        (RESPONSES, response_stream()),
        (GEMINI, GEMINI_ANSWER),
        (COMPLETIONS, {"choices": [{"text": "hi", "finish_reason": "stop"}], "usage": {"cost": 0.5}}),
    ],
)
def test_every_protocol_of_a_gateway_reads_it(url: str, answer: Any) -> None:
    reading = read(exchanged(url, {"model": "acme/m-1", "messages": [], "prompt": "x", "input": "x"}, answer))

    assert reading.stated_cost is not None
    assert reading.stated_cost.amount == Decimal("0.5")
    assert reading.usage_problems == ()


def test_a_header_states_the_cost_where_the_body_does_not() -> None:
    headers = (("X-LiteLLM-Response-Cost", "0.5"),)
    plain = exchanged(CHAT, {}, {**TURN, "usage": COUNTS}, headers=headers)
    both = exchanged(CHAT, {}, {**TURN, "usage": {**COUNTS, "cost": 0.25}}, headers=headers)

    assert read(plain).stated_cost == StatedCost(Decimal("0.5"))
    assert read(both).stated_cost == StatedCost(Decimal("0.25"))


def test_a_header_without_an_amount_is_a_problem() -> None:
    reading = read(exchanged(CHAT, {}, {**TURN, "usage": COUNTS}, headers=(("x-litellm-response-cost", "None"),)))

    assert reading.stated_cost is not None
    assert reading.stated_cost.amount is None
    assert reading.usage_problems == ("x-litellm-response-cost is 'None', which is not an amount of money.",)
