"""What the API counted and served."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import CONVERSE, OLLAMA, ids, item_output, judged, only, responses, trip
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import RoundTrip

EVENT = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5",
         "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}  # fmt: skip


def test_an_answer_that_counts_nothing_is_the_apis_unless_nobody_asked() -> None:
    asked: dict[str, Any] = {"model": "gpt-5", "messages": [HELLO], "stream": True}
    unasked = trip(CHAT, asked, sse(EVENT, done=True))
    in_vain = trip(CHAT, {**asked, "stream_options": {"include_usage": True}}, sse(EVENT, done=True))

    assert only("api-usage-missing", unasked).layer == "client"
    assert only("api-usage-missing", in_vain).layer == "api"
    assert "api-usage-missing" not in ids(chat([HELLO], said("x")))


def counting(**usage: Any) -> RoundTrip:
    one = chat([HELLO], said("x"), usage=None)
    assert one.response is not None
    body = one.response.body[:-1] + b',"usage":' + str(usage).replace("'", '"').encode() + b"}"
    return replace(one, response=replace(one.response, content=body))


@pytest.mark.parametrize(
    ("usage", "fits"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}, True),
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 19}, False),
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 9}, False),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, False),
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7,
          "prompt_tokens_details": {"cached_tokens": 1765}}, False),
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 34,
          "completion_tokens_details": {"reasoning_tokens": 20}}, True),
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 400, "prompt_audio_seconds": 3}, True),
    ],
)  # fmt: skip
def test_counts_fit_together(usage: dict[str, Any], fits: bool) -> None:
    assert ("api-usage-inconsistent" not in ids(counting(**usage))) is fits


def served(asked: str, answered: str, **more: Any) -> RoundTrip:
    one = chat([HELLO], said("x"), model=asked)
    assert one.response is not None
    body = one.response.body.replace(f'"{asked}-2025-08-07"'.encode(), f'"{answered}"'.encode())
    return replace(one, response=replace(one.response, content=body), **more)


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-5", "gpt-5-2025-08-07", True),
        ("gpt-5", "gpt-5", True),
        ("gpt-5", "gpt-5-mini-2025-08-07", False),
        ("gpt-4.1", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4o-latest", "gpt-4o-2024-08-06", True),
    ],
)
def test_a_dated_snapshot_is_the_same_model(asked: str, answered: str, same: bool) -> None:
    assert ("api-model-substituted" not in ids(served(asked, answered))) is same


def test_a_deployment_has_the_name_that_its_owner_gave_it() -> None:
    azure = served("my-deployment", "gpt-4o-2024-08-06", upstream="azure")
    request = replace(azure.request, url="https://shop.openai.azure.com/openai/v1/chat/completions")

    assert "api-model-substituted" not in ids(replace(azure, request=request))


def local(size: int, counted: int, **more: Any) -> RoundTrip:
    asked = {"model": "qwen3", "messages": [{"role": "user", "content": "x " * (size // 2)}], "stream": False, **more}
    answer = {"model": "qwen3", "message": {"role": "assistant", "content": "ok"}, "done": True, "done_reason": "stop",
              "prompt_eval_count": counted, "eval_count": 2}  # fmt: skip
    return trip(OLLAMA, asked, answer, upstream="ollama")


def test_another_model_at_ollama_is_another_model() -> None:
    one = local(100, 30)
    assert one.response is not None
    body = one.response.body.replace(b'"qwen3"', b'"llama3.2:1b"')

    assert "api-model-substituted" in ids(replace(one, response=replace(one.response, content=body)))
    assert ids(one) == set()


@pytest.mark.parametrize(("counted", "lost"), [(2050, True), (20_000, False)])
def test_a_prompt_that_was_cut_in_silence_is_known_by_the_count(counted: int, lost: bool) -> None:
    assert ("api-prompt-truncated-silently" in ids(local(80_000, counted))) is lost


def test_pictures_have_counts_of_their_own() -> None:
    messages = [{"role": "user", "content": "x " * 40_000, "images": ["QUJD" * 100]}]

    assert "api-prompt-truncated-silently" not in ids(local(0, 2050, messages=messages))


def test_truncation_that_was_allowed_is_reported_with_a_held_history_too() -> None:
    opened = responses([{"role": "user", "content": "hi"}], [], truncation="auto")
    following = responses([item_output()], [], 1, truncation="auto", previous_response_id="resp_0")
    assert opened.response is not None
    body = opened.response.body.replace(b'"input_tokens": 100', b'"input_tokens": 9000')
    body = body.replace(b'"total_tokens": 110', b'"total_tokens": 9010')
    long = replace(opened, response=replace(opened.response, content=body))

    assert "api-prompt-truncated-silently" in ids(long, following)
    assert "api-prompt-truncated-silently" not in ids(opened, following)


FIRST = said(None, CALL)


def cached(messages: list[dict[str, Any]], answer: dict[str, Any], index: int, read: int, at: float) -> RoundTrip:
    one = chat(messages, answer, index=index, at=at, usage=(5000 + index, 10))
    assert one.response is not None
    body = one.response.body.replace(b'"cached_tokens":0', f'"cached_tokens":{read}'.encode())
    return replace(one, response=replace(one.response, content=body))


def test_a_cache_that_is_lost_behind_an_unchanged_history_is_the_apis() -> None:
    history = [HELLO, FIRST, result("call_1", "x")]

    def pair(read: int, at: float) -> list[RoundTrip]:
        return [cached([HELLO], FIRST, 0, 4000, 0), cached(history, said("x"), 1, read, at)]

    assert only("api-cache-drop", *pair(0, 5)).severity == "warning"
    assert only("api-cache-drop", *pair(0, 900)).severity == "info"
    assert "api-cache-drop" not in ids(*pair(4500, 5))


def test_a_cache_that_is_lost_behind_a_changed_history_is_the_clients() -> None:
    changed = [{"role": "user", "content": "07:01 what is a tape?"}, FIRST, result("call_1", "x")]
    reported = judged(cached([HELLO], FIRST, 0, 4000, 0), cached(changed, said("x"), 1, 0, 5))

    assert {one.layer for one in reported if one.severity != "info"} == {"client"}


def tiered(asked: str, answered: str) -> RoundTrip:
    one = chat([HELLO], said("x"), service_tier=asked)
    assert one.response is not None
    body = one.response.body[:-1] + f',"service_tier":"{answered}"}}'.encode()
    return replace(one, response=replace(one.response, content=body))


@pytest.mark.parametrize(
    ("asked", "answered", "reported"),
    [("priority", "default", True), ("priority", "priority", False), ("auto", "default", False)],
)
def test_another_tier_than_was_asked_for_is_reported(asked: str, answered: str, reported: bool) -> None:
    assert ("api-service-tier-changed" in ids(tiered(asked, answered))) is reported


@pytest.mark.parametrize(
    ("reason", "layer"),
    [("prefix_binding_mismatch", "client"), ("model_binding_mismatch", "client"), ("organization_mismatch", "api")],
)
def test_reasoning_that_the_api_took_out_is_reported_with_its_reason(reason: str, layer: str) -> None:
    one = chat([HELLO], said("x"))
    assert one.response is not None
    entry = f'[{{"type":"thinking_dropped","path":"messages.1.content.0","reason":"{reason}"}}]'
    body = one.response.body[:-1] + f',"input_transformations":{entry}}}'.encode()

    assert (
        only("api-reasoning-dropped-by-server", replace(one, response=replace(one.response, content=body))).layer
        == layer
    )


def test_cached_tokens_beside_the_input_contradict_nothing() -> None:
    usage = {"inputTokens": 5, "outputTokens": 5, "totalTokens": 4010, "cacheReadInputTokens": 4000}
    asked = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}, "stopReason": "end_turn",
              "usage": usage}  # fmt: skip

    assert ids(trip(CONVERSE, asked, answer)) == set()


def test_a_name_that_meant_another_model_a_turn_ago_is_a_substitution() -> None:
    def by(model: str, index: int) -> RoundTrip:
        one = served("my-deployment", model, upstream="azure")
        history = [HELLO, said("It holds."), user("And then?")] if index else [HELLO]
        body = orjson.dumps({"model": "my-deployment", "messages": history})
        url = "https://shop.openai.azure.com/openai/v1/chat/completions"
        assert one.response is not None
        answer = one.response.body.replace(b'"content":"x"', b'"content":"It holds."')
        response = replace(one.response, content=answer, chunks=())
        return replace(one, index=index, request=replace(one.request, url=url, content=body), response=response)

    drifted = by("gpt-4o-mini-2024-07-18", 1)

    assert only("api-model-substituted", by("gpt-4o-2024-08-06", 0), drifted).at == 1
    assert "api-model-substituted" not in ids(by("gpt-4o-2024-08-06", 0), by("gpt-4o-2024-11-20", 1))


@pytest.mark.parametrize(
    ("asked", "answered", "changed"),
    [("default", "standard", False), ("flex", "standard", True), ("standard_only", "standard", False)],
)
def test_a_default_tier_is_the_standard_one(asked: str, answered: str, changed: bool) -> None:
    assert ("api-service-tier-changed" in ids(tiered(asked, answered))) is changed


def test_a_request_with_less_input_reads_less_from_the_cache_without_a_finding() -> None:
    history = [HELLO, FIRST, result("call_1", "x")]
    shrunk = cached(history, said("x"), 1, 0, 5)
    assert shrunk.response is not None
    body = shrunk.response.body.replace(b'"prompt_tokens":5001', b'"prompt_tokens":900')

    assert body != shrunk.response.body
    less = replace(shrunk, response=replace(shrunk.response, content=body))
    assert "api-cache-drop" in ids(cached([HELLO], FIRST, 0, 4000, 0), shrunk)
    assert "api-cache-drop" not in ids(cached([HELLO], FIRST, 0, 4000, 0), less)
