"""`read` never raises: whatever is on the wire, it yields a reading with what was wrong."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpus import corpus
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import CHAT, GEMINI, GEMINI_STREAM, MESSAGES, exchanged, unanswered

from turntape.cassettes.tape.model import Failure
from turntape.inspector import read as public_read
from turntape.inspector.wire import parse, registry
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import RequestReading, ResponseReading

URLS = (CHAT, MESSAGES, GEMINI, GEMINI_STREAM, "http://localhost/v1/completions", "http://localhost/x")


def test_the_public_name_is_the_function() -> None:
    assert public_read is parse.read


def test_what_is_not_recognised_is_unknown_and_has_no_layers() -> None:
    reading = read(exchanged("https://example.com/things", {"a": 1}, {"message": "no"}, status=404))
    assert (reading.protocol, reading.kind, reading.emission, reading.finish) == ("unknown", "other", None, None)
    assert reading.error is not None
    assert (reading.error.message, reading.error.status) == ("no", 404)


def test_an_error_status_is_a_turn_whose_layers_say_so() -> None:
    reading = read(exchanged(CHAT, {"model": "m", "messages": []}, {"error": {"message": "no"}}, status=401))
    assert reading.finish is not None
    assert reading.emission is not None
    assert (reading.finish.effective, reading.emission.emitted, reading.request.model) == ("error", "none", "m")


@pytest.mark.parametrize(
    ("kind", "effective"), [("refused", "error"), ("timeout", "error"), ("client_gone", "cancelled")]
)
def test_nothing_came_back(kind: Any, effective: str) -> None:
    reading = read(unanswered(CHAT, {"messages": []}, kind))
    assert reading.finish is not None
    assert reading.finish.effective == effective


def test_a_json_body_that_was_cut_is_cut() -> None:
    failure = Failure("cut", "closed")
    reading = read(exchanged(CHAT, {}, b'{"choices": [{"mess', failure=failure))
    assert reading.finish is not None
    assert (reading.finish.effective, len(reading.problems)) == ("cut", 1)


def test_a_body_that_is_not_json_under_200_is_unknown_with_a_problem() -> None:
    reading = read(exchanged(CHAT, {}, b"<html>sign in</html>", content_type="text/html"))
    assert reading.finish is not None
    assert (reading.finish.effective, reading.streamed) == ("unknown", False)
    assert "<html>" in reading.problems[0]


def test_a_protocol_that_raises_spoils_only_its_own_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Any:
        raise KeyError("choices")

    last = registry.built_in()[-1]
    protocol = replace(last, detect=lambda _: "generation", read_request=broken, read_response=broken)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "registered", lambda: (protocol,))
        registry.forget()
        reading = read(exchanged(CHAT, {}, {}))
    registry.forget()
    assert reading.problems == (
        f"The {protocol.name} request could not be read: KeyError: 'choices'",
        f"The {protocol.name} answer could not be read: KeyError: 'choices'",
    )


KEYS = [
    *("model", "messages", "content", "role", "type", "choices", "message", "delta", "tool_calls", "function"),
    *("name", "arguments", "index", "id", "error", "code", "usage", "prompt_tokens", "finish_reason"),
    *("stop_reason", "candidates", "parts", "text", "functionCall", "args", "contents", "tools", "tool_choice"),
    *("usageMetadata", "promptTokenCount", "input", "output", "system", "stop", "content_block", "item"),
]


@pytest.mark.parametrize("depth", [300, 900, 5000])
def test_deeply_nested_json_raises_nothing(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for url in URLS:
        body = f'{{"messages": {deep}, "contents": {deep}, "choices": [{{"message": {{"content": {deep}}}}}]}}'
        assert read(exchanged(url, body, body))


def test_a_body_that_the_file_no_longer_holds_is_a_problem_and_no_exception() -> None:
    def gone() -> bytes:
        raise OSError("gone")

    round_trip = exchanged(CHAT, {}, {})
    assert round_trip.response is not None
    for request, response in ((gone, b"{}"), (b"{}", gone)):
        broken = replace(
            round_trip,
            request=replace(round_trip.request, content=request),
            response=replace(round_trip.response, content=response),
        )
        assert any("gone" in problem for problem in read(broken).problems)


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(st.sampled_from(URLS), ODD, st.lists(ODD, max_size=4), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_json_in_any_place_is_read_without_a_fault(url: str, ask: Any, answers: list[Any], whole: bool) -> None:
    """Not only nothing raises past `read`: the protocols themselves take any JSON in any place."""

    body = (
        json.dumps(answers[0] if answers else {}) if whole else "".join(f"data: {json.dumps(a)}\n\n" for a in answers)
    )
    reading = read(exchanged(url, json.dumps(ask), body))
    assert not [problem for problem in reading.problems if "could not be read" in problem]


def mutated(body: bytes, other: bytes, rng: random.Random) -> bytes:
    """`body` cut, with a byte flipped, a piece lost, or another body spliced in."""
    place = rng.randrange(len(body) + 1)
    match rng.randrange(4):
        case 0:
            return body[:place]
        case 1:
            return body[:place] + bytes([rng.randrange(256)]) + body[place + 1 :]
        case 2:
            return body[:place] + body[place + rng.randrange(200) :]
        case _:
            return body[:place] + other[rng.randrange(len(other) + 1) :]


@pytest.mark.skipif(corpus.folder() is None, reason=corpus.ABSENT)
@pytest.mark.parametrize("path", corpus.files(), ids=lambda path: path.name.removesuffix(".jsonl.zst"))
def test_mutated_traffic_is_read_without_a_fault(path: Path) -> None:
    rng = random.Random(path.name)
    recorded = [r.round_trip for r in corpus.read_file(path) if r.round_trip.response]
    for round_trip in rng.sample(recorded, min(60, len(recorded))):
        other = rng.choice(recorded)
        assert round_trip.response is not None
        assert other.response is not None
        answer = mutated(round_trip.response.body, other.response.body, rng)
        ask = mutated(round_trip.request.body, other.request.body, rng)
        broken = replace(
            round_trip,
            request=replace(round_trip.request, content=rng.choice([ask, round_trip.request.body])),
            response=replace(round_trip.response, content=answer, status=rng.choice([200, 200, 500])),
        )
        reading = read(broken)
        faults = [problem for problem in reading.problems if "could not be read" in problem]
        assert not faults, (reading.protocol, round_trip.index, faults)


def test_readings_start_from_nothing() -> None:
    """The defaults of what protocols return say nothing at all."""
    assert RequestReading() == RequestReading()
    assert ResponseReading().ended is False
    assert Exchange(exchanged(CHAT, {}, {})).method == "POST"


CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}
CONVERSE = "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse"
GEMINI_TURN = [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]
BAD_USAGE: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "openai-chat": (CHAT, {}, {"choices": [CHOICE], "usage": {"prompt_tokens": -3}}, "usage.prompt_tokens"),
    "openai-responses": (
        "https://api.openai.com/v1/responses",
        {"input": "hi"},
        {"object": "response", "status": "completed", "output": [], "usage": {"input_tokens": -3}},
        "usage.input_tokens",
    ),
    "anthropic-messages": (
        MESSAGES,
        {},
        {"type": "message", "content": [], "stop_reason": "end_turn", "usage": {"input_tokens": -3}},
        "usage.input_tokens",
    ),
    "gemini-generate": (
        GEMINI,
        {},
        {"candidates": GEMINI_TURN, "usageMetadata": {"promptTokenCount": -3}},
        "usageMetadata.promptTokenCount",
    ),
    "gemini-interactions": (
        "https://generativelanguage.googleapis.com/v1beta/interactions",
        {"model": "m", "input": "hi"},
        {"status": "completed", "outputs": [{"type": "text", "text": "x"}], "usage": {"total_input_tokens": -3}},
        "usage.total_input_tokens",
    ),
    "bedrock-converse": (
        CONVERSE,
        {},
        {"output": {"message": {"content": []}}, "stopReason": "end_turn", "usage": {"inputTokens": -3}},
        "usage.inputTokens",
    ),
    "cohere-v2": (
        "https://api.cohere.com/v2/chat",
        {"model": "m", "messages": []},
        {"message": {"content": []}, "finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": -3}}},
        "usage.tokens.input_tokens",
    ),
    "ollama-chat": (
        "http://localhost:11434/api/chat",
        {},
        {"message": {"content": "hi"}, "done": True, "done_reason": "stop", "prompt_eval_count": -3},
        "prompt_eval_count",
    ),
    "openai-completions": (
        "http://localhost/v1/completions",
        {"prompt": "hi"},
        {"choices": [{"text": "x", "finish_reason": "stop"}], "usage": {"prompt_tokens": -3}},
        "usage.prompt_tokens",
    ),
    "bedrock-invoke": (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.titan-text/invoke",
        {"inputText": "hi"},
        {"inputTextTokenCount": -3, "results": [{"outputText": "x", "completionReason": "FINISH"}]},
        "inputTextTokenCount",
    ),
    "replicate-predictions": (
        "https://api.replicate.com/v1/models/a/b/predictions",
        {"input": {"prompt": "hi"}},
        {"status": "succeeded", "output": "x", "metrics": {"input_token_count": -3}},
        "metrics.input_token_count",
    ),
}


@pytest.mark.parametrize(("protocol", "case"), BAD_USAGE.items(), ids=BAD_USAGE)
def test_a_negative_count_is_reported_and_not_used(protocol: str, case: tuple[str, Any, Any, str]) -> None:
    url, asked, answer, field = case
    reading = read(exchanged(url, asked or {"messages": []}, answer))

    assert (reading.protocol, reading.problems) == (protocol, ())
    assert reading.usage is not None
    assert reading.usage.input is None
    assert reading.usage_problems == (f"{field} is -3, which is not a count of tokens.",)


@pytest.mark.parametrize("usage", ["n/a", 7, [3], True])
def test_a_usage_of_a_wrong_type_is_reported(usage: object) -> None:
    for url, answer in (
        (CHAT, {"choices": [CHOICE], "usage": usage}),
        (MESSAGES, {"type": "message", "content": [], "stop_reason": "end_turn", "usage": usage}),
        (GEMINI, {"candidates": GEMINI_TURN, "usageMetadata": usage}),
    ):
        reading = read(exchanged(url, {"messages": []}, answer))

        assert reading.usage_problems == (f"usage is {usage!r}, which is not an object with counts of tokens.",)


def test_an_answer_without_usage_has_no_problem() -> None:
    reading = read(exchanged(CHAT, {"messages": []}, {"choices": [CHOICE], "usage": None}))

    assert (reading.usage, reading.usage_problems) == (None, ())
