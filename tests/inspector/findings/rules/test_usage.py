"""What the API counted and served."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from cached_turns import MARK, asks, claude, says, text
from conversations import CALL, HELLO, chat, result, said, user
from judged import (
    CONVERSE,
    MESSAGES,
    OLLAMA,
    RESPONSES,
    anthropic,
    asked,
    at_host,
    calls,
    context_of,
    gemini,
    given,
    gives,
    ids,
    judged,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    with_answer,
    words,
)
from round_trips import CHAT, sse

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.findings.rules.usage import request_id, usage_missing

EVENT = {"id": "c", "object": "chat.completion.chunk", "model": "gpt-5",
         "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}  # fmt: skip


def test_an_answer_that_counts_nothing_is_the_apis_unless_nobody_asked() -> None:
    asked: dict[str, Any] = {"model": "gpt-5", "messages": [HELLO], "stream": True}
    unasked = trip(CHAT, asked, sse(EVENT, done=True))
    ignored = trip(CHAT, {**asked, "stream_options": {"include_usage": True}}, sse(EVENT, done=True))

    assert only("usage-missing", unasked).layer == "client"
    assert only("usage-missing", ignored).layer == "api"
    assert "usage-missing" not in ids(chat([HELLO], said("x")))


def test_an_api_without_the_option_gets_no_advice_to_use_it() -> None:
    answer = {"model": "m", "message": said("x"), "done": True, "done_reason": "stop"}
    trips = [
        trip(OLLAMA, {"model": "m", "stream": False, "messages": [HELLO]}, answer),
        with_answer(anthropic([asked("hi")], [words("x")]), usage=None),
    ]
    for one in trips:
        assert only("usage-missing", one).message == "the answer counts no tokens"
    assert "stream_options" not in usage_missing.fix


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
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 400,
          "prompt_tokens_details": {"audio_tokens": 386}}, True),
        ({"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 400,
          "prompt_tokens_details": {"cached_tokens": 386}}, True),
    ],
)  # fmt: skip
def test_counts_fit_together(usage: dict[str, Any], fits: bool) -> None:
    assert ("api-usage-inconsistent" not in ids(counting(**usage))) is fits


def test_a_negative_count_is_reported_in_its_turn() -> None:
    note = only("api-usage-inconsistent", counting(prompt_tokens=-10, completion_tokens=4))

    assert note.message == "not used for sums: usage.prompt_tokens is -10, which is not a count of tokens"


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

    assert only("api-cache-drop", *pair(0, 5)).layer == "api"
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
def test_another_tier_than_the_requested_one_is_reported(asked: str, answered: str, reported: bool) -> None:
    assert ("api-service-tier-changed" in ids(tiered(asked, answered))) is reported


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


def test_missing_counts_are_reported_once_in_a_thread() -> None:
    first = chat([HELLO], FIRST, usage=None)
    second = chat([HELLO, FIRST, result("call_1", "x")], said("y"), index=1, usage=None)

    assert lines(first, second) == [
        "#0 usage-missing (api, info, P): the answer counts no tokens | #0 response",
    ]
    assert lines(with_answer(first, usage={"prompt_tokens": 5}), only="usage-missing") == []
    assert lines(with_answer(first, usage={"completion_tokens": 5}), only="usage-missing") == []
    assert lines(with_answer(first, usage={"total_tokens": 5}), only="usage-missing") != []
    streamed = trip(CHAT, {"model": "gpt-5", "messages": [HELLO], "stream": True}, sse(EVENT, done=True))
    assert lines(streamed) == [
        "#0 usage-missing (client, info, P): the stream counts no tokens, because the request does not "
        "ask for usage: set `stream_options.include_usage`"
        " | #0 response",
    ]
    assert "usage-missing" not in ids(chat([HELLO], failure=Failure("refused", "connection refused")))


LONG = "It is a strip of film that holds a picture."


def of_gemini(_text: str = "x", **usage: int) -> RoundTrip:
    return gemini([turn("user", {"text": "hi"})], [{"text": _text}], usageMetadata=usage)


@pytest.mark.parametrize(
    ("one", "problem"),
    [
        (
            counting(
                prompt_tokens=3, completion_tokens=4, total_tokens=7, prompt_tokens_details={"cached_tokens": 5}
            ),
            "5 cached tokens are more than the 3 of the whole input",
        ),
        (counting(prompt_tokens=5, completion_tokens=4, prompt_tokens_details={"cached_tokens": 5}), None),
        (
            counting(prompt_tokens=5, completion_tokens=4, total_tokens=9, cache_creation_input_tokens=3,
                     prompt_tokens_details={"cached_tokens": 3}),
            "6 cached tokens are more than the 5 of the whole input",
        ),
        (counting(prompt_tokens=5, completion_tokens=0), None),
        (
            counting(prompt_tokens=5, completion_tokens=4, completion_tokens_details={"reasoning_tokens": 5}),
            "5 reasoning tokens are more than the 4 of the whole output",
        ),
        (
            responses([], [], usage={}),
            None,
        ),
        (counting(prompt_tokens=0, completion_tokens=0), "all counts are 0 beside an answer"),
        (with_answer(chat([HELLO], FIRST), usage={"prompt_tokens": 0, "completion_tokens": 0}),
         "all counts are 0 beside an answer"),
        (with_answer(chat([HELLO], said("")), usage={"prompt_tokens": 0, "completion_tokens": 0}), None),
        (counting(prompt_tokens=10, completion_tokens=4, total_tokens=19),
         "the total 19 is not the sum of its parts, 14"),
        (counting(prompt_tokens=10, completion_tokens=4, total_tokens=0),
         "the total 0 is not the sum of its parts, 14"),
        (counting(input_tokens=10, output_tokens=4, total_tokens=19), "the total 19 is not the sum of its parts, 14"),
        (counting(input_tokens=10, output_tokens=4, total_tokens=14), None),
        (counting(prompt_tokens=10, total_tokens=19), None),
        (counting(completion_tokens=10, total_tokens=19), None),
        (of_gemini(promptTokenCount=9, candidatesTokenCount=1, toolUsePromptTokenCount=3, thoughtsTokenCount=5,
                   totalTokenCount=18), None),
        (of_gemini(promptTokenCount=9, candidatesTokenCount=1, totalTokenCount=11),
         "the total 11 is not the sum of its parts, 10"),
        (of_gemini(promptTokenCount=9, candidatesTokenCount=1, thoughtsTokenCount=5, totalTokenCount=10),
         "5 reasoning tokens are more than the 1 of the whole output"),
        (of_gemini(_text=LONG, promptTokenCount=9, candidatesTokenCount=0, thoughtsTokenCount=5, totalTokenCount=14),
         "5 output tokens, all of them reasoning, are counted beside an answer of 43 characters"),
        (of_gemini(_text=LONG, promptTokenCount=9, candidatesTokenCount=8, thoughtsTokenCount=5, totalTokenCount=22),
         None),
    ],
)  # fmt: skip
def test_a_contradiction_in_the_counts_is_said_in_numbers(one: RoundTrip, problem: str | None) -> None:
    expected = f"#0 api-usage-inconsistent (api, info, P): the usage contradicts itself: {problem} | #0 usage"

    assert lines(one, only="api-usage-inconsistent") == ([expected] if problem else [])


BOOK = "the tape is a strip of brown plastic " * 250
READ = "input tokens are counted for a history of"


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        (BOOK, 400, True),
        (BOOK, 420, False),
        ("the tape is a strip " * 40, 20, True),
        ("the tape is a strip " * 33, 3, False),
        ("0x00 " * 4000, 400, False),
    ],
)
@pytest.mark.parametrize("api", ["chat", "anthropic", "gemini", "responses"])
def test_far_fewer_tokens_than_the_history_has_words(api: str, text: str, tokens: int, found: bool) -> None:
    match api:
        case "chat":
            one = chat([user(text)], said("It is."), usage=(tokens, 10))
        case "anthropic":
            one = with_answer(
                anthropic([asked(text)], [words("It is.")]), usage={"input_tokens": tokens, "output_tokens": 9}
            )
        case "gemini":
            usage = {"promptTokenCount": tokens, "candidatesTokenCount": 9, "totalTokenCount": tokens + 9}
            one = with_answer(gemini([turn("user", {"text": text})], [{"text": "It is."}]), usageMetadata=usage)
        case _:
            usage = {"input_tokens": tokens, "output_tokens": 9, "total_tokens": tokens + 9}
            one = with_answer(responses([user(text)], []), usage=usage)

    assert any(READ in line for line in lines(one, only="api-usage-inconsistent")) == found


def test_a_server_that_counts_no_cached_prompt_is_not_accused_of_wrong_counts() -> None:
    one = chat([user(BOOK)], said("It is."), usage=(400, 10))

    assert "api-usage-inconsistent" in ids(one)
    assert "api-usage-inconsistent" not in ids(at_host(one, "http://127.0.0.1:8080/v1/chat/completions"))


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        ("the tape is a strip of brown plastic " * 20, 1, True),
        ("the tape is a strip of brown plastic " * 20, 39, True),
        ("the tape is a strip of brown plastic " * 20, 120, False),
        ("the tape is a strip", 1, False),
        ("the tape is a strip of brown plastic " * 3, 1, True),
        ("the tape is a strip of brown plastic " * 3, 4, False),
        ("0 " * 400, 1, False),
    ],
)
def test_far_fewer_tokens_than_the_answer_has_words(text: str, tokens: int, found: bool) -> None:
    one = with_answer(chat([HELLO], said(text)), usage={"prompt_tokens": 9, "completion_tokens": tokens})

    assert any("counted for an answer of" in line or "is counted" in line for line in
               lines(one, only="api-usage-inconsistent")) is found  # fmt: skip


def test_reasoning_is_part_of_the_output() -> None:
    def thought(count: int) -> RoundTrip:
        details = {"reasoning_tokens": count}
        one = responses([{"role": "user", "content": "hi"}], [])
        usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, "output_tokens_details": details}
        return with_answer(one, usage=usage)

    assert lines(thought(4), only="api-usage-i") == []
    assert lines(thought(5), only="api-usage-i") == [
        "#0 api-usage-inconsistent (api, info, P): the usage contradicts itself: "
        "5 reasoning tokens are more than the 4 of the whole output | #0 usage",
    ]


GATEWAY = "https://gateway.example.com/v1/chat/completions"


def test_another_model_is_reported_with_both_names_and_once() -> None:
    first = served("gpt-5", "gpt-4o-mini-2024-07-18")
    second = with_answer(chat([HELLO, said("x"), user("and?")], said("y"), index=1), model="gpt-4o-mini-2024-07-18")

    assert lines(first, second) == [
        "#0 api-model-substituted (api, warning, P): 'gpt-4o-mini-2024-07-18' answered; 'gpt-5' was requested"
        " | #0 request model gpt-5, #0 response model gpt-4o-mini-2024-07-18",
    ]


@pytest.mark.parametrize(
    "name",
    ["gpt-auto", "gpt-router", "gpt-default", "gpt-latest", "gpt-5-latest", "gpt-alias", "gpt-chat", "GPT_Chat",
     "openrouter/gpt-9", "@cf/gpt-9", "ft:gpt-9:acme", "projects/p/gpt-9", "arn:aws:gpt-9"],
)  # fmt: skip
def test_a_router_an_alias_and_a_name_of_the_users_own_promise_no_model(name: str) -> None:
    assert "api-model-substituted" not in ids(served(name, "gpt-4o-mini-2024-07-18"))
    assert "api-model-substituted" in ids(served("gpt-9", "gpt-4o-mini-2024-07-18"))
    assert "api-model-substituted" in ids(served("auto-gpt-5", "gpt-4o-mini-2024-07-18"))


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("mistral-large-latest", "mistral-large-2411", True),
        ("mistral-large-latest", "mistral-small-2506", False),
        ("mistral-large-latest", "open-mistral-7b", False),
        ("mistral-medium-latest", "ministral-3b-2410", False),
        ("ministral-8b-latest", "ministral-8b-2512", True),
        ("ministral-8b-latest", "ministral-3b-2410", False),
        ("codestral-latest", "codestral-2508", True),
        ("devstral-small-latest", "devstral-2512", True),
        ("gemini-flash-latest", "gemini-3-flash-preview", True),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022", True),
        ("phi3-mini:latest", "phi3-medium", True),
        ("openrouter/mistral-large-latest", "mistral-small-2506", True),
    ],
)
def test_an_alias_leaves_open_the_version_and_not_the_size(asked: str, answered: str, same: bool) -> None:
    assert ("api-model-substituted" not in ids(served(asked, answered))) is same


def test_an_alias_that_is_served_by_another_size_is_reported_with_both_names() -> None:
    assert lines(served("mistral-large-latest", "mistral-small-2506"), only="api-model") == [
        "#0 api-model-substituted (api, warning, S): 'mistral-small-2506' answered; 'mistral-large-latest' was "
        "requested, which names another size"
        " | #0 request model mistral-large-latest, #0 response model mistral-small-2506",
    ]


@pytest.mark.parametrize(
    ("name", "answered", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-11-20", True),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4o-mini", "gpt-4o-2024-11-20", False),
        ("gpt-35-turbo", "gpt-4o-mini-2024-07-18", True),
        ("gpt-5.2-chat", "gpt-5.2-chat-latest", True),
        ("my-gpt-4o", "gpt-4o-mini-2024-07-18", True),
        ("openllmetry-testing", "gpt-4.1-mini-2025-04-14", True),
    ],
)
def test_a_deployment_with_the_name_of_a_model_is_that_model(name: str, answered: str, same: bool) -> None:
    one = served(name, answered, upstream="azure")
    request = replace(one.request, url="https://shop.openai.azure.com/openai/v1/chat/completions")

    assert ("api-model-substituted" not in ids(replace(one, request=request))) is same


@pytest.mark.parametrize(
    ("place", "answered", "same"),
    [
        ("publishers/anthropic/models/claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929", True),
        ("publishers/anthropic/models/claude-sonnet-4-5@20250929", "claude-3-haiku-20240307", False),
        ("publishers/anthropic/models/claude-sonnet-4-5", "claude-opus-4-5", False),
        ("endpoints/7221346", "claude-3-haiku-20240307", True),
        ("endpoints/mg-endpoint-4c1f", "claude-3-haiku-20240307", True),
    ],
)
def test_vertex_serves_a_publishers_model_by_its_name_and_an_endpoint_by_any(
    place: str, answered: str, same: bool
) -> None:
    url = f"https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/{place}:rawPredict"
    one = with_answer(anthropic([asked("hi")], [words("x")]), model=answered)
    body = orjson.dumps({key: value for key, value in orjson.loads(one.request.body).items() if key != "model"})
    one = replace(one, request=replace(one.request, url=url, content=body))

    assert ("api-model-substituted" not in ids(one)) is same


def test_a_word_of_two_letters_does_not_make_a_name_the_models() -> None:
    assert "api-model-substituted" not in ids(at_host(served("my-ai", "gpt-ai-mini"), GATEWAY))
    assert "api-model-substituted" in ids(at_host(served("my-fox", "gpt-fox-mini"), GATEWAY))
    assert "api-model-substituted" in ids(served("my-ai", "gpt-ai-mini")), "OpenAI lets nobody name a deployment"


def drifting(asked_for: str, then: str, now: str, *, renamed: str | None = None) -> list[str]:
    first = with_answer(chat([HELLO], said("x"), model=asked_for), model=then)
    history = [HELLO, said("x"), user("and?")]
    second = chat(history, said("y"), index=1, model=renamed or asked_for)
    second = with_answer(second, model=now)
    return lines(at_host(first, GATEWAY), at_host(second, GATEWAY), only="api-model-substituted")


def test_a_name_whose_model_changes_between_two_turns_is_reported_with_both() -> None:
    assert drifting("my-alias-x", "gpt-5-2025-08-07", "gpt-5-mini-2025-08-07") == [
        "#1 api-model-substituted (api, warning, P): 'gpt-5-mini-2025-08-07' answered; 'gpt-5-2025-08-07' had "
        "answered #0 under the same name, 'my-alias-x' | #0 response model gpt-5-2025-08-07, "
        "#1 response model gpt-5-mini-2025-08-07",
    ]
    assert drifting("gpt-latest", "gpt-5-2025-08-07", "gpt-5-mini-2025-08-07") == []
    assert drifting("my-alias-x", "gpt-5-2025-08-07", "gpt-5-mini", renamed="my-alias-y") == []


def test_a_model_that_fell_back_is_reported_by_what_the_usage_says() -> None:
    one = anthropic([asked("hi")], [words("x")])
    usage = {"input_tokens": 5, "output_tokens": 5, "iterations": [{"type": "message"}, {"type": "fallback_message"}]}
    plain = {"input_tokens": 5, "output_tokens": 5, "iterations": [{"type": "message"}]}

    assert lines(with_answer(one, usage=usage), only="api-model") == [
        "#0 api-model-substituted (api, warning, P): a fallback model finished the turn; 'claude-sonnet-4-5' was "
        "requested | #0 usage iterations",
    ]
    assert lines(with_answer(one, usage=plain), only="api-model") == []
    following = [asked("hi"), {"role": "assistant", "content": [words("x")]}, asked("and?")]
    again = with_answer(anthropic(following, [words("y")], 1), usage=usage)
    assert len(lines(with_answer(one, usage=usage), again, only="api-model")) == 1


def test_another_tier_is_reported_with_both_names_and_once() -> None:
    second = with_answer(
        chat([HELLO, said("x"), user("and?")], said("y"), index=1, service_tier="priority"), service_tier="default"
    )

    assert lines(tiered("priority", "default"), second) == [
        "#0 api-service-tier-changed (api, info, P): tier 'default' served the request; 'priority' was requested"
        " | #0 request /service_tier, #0 response service_tier default",
    ]


@pytest.mark.parametrize("place", ["event", "response", "message", "usage"])
def test_the_tier_is_found_wherever_the_answer_says_it(place: str) -> None:
    if place == "event":
        event = EVENT | {"service_tier": "default"}
        asked_for = {"model": "gpt-5", "messages": [HELLO], "stream": True, "service_tier": "priority"}
        one = trip(CHAT, asked_for, sse(EVENT, EVENT, EVENT, event))
    elif place == "response":
        done = {"id": "r", "object": "response", "status": "completed", "output": [], "service_tier": "default"}
        events = [{"type": "response.created", "response": done}, {"type": "response.completed", "response": done}]
        one = trip(RESPONSES, {"model": "gpt-5", "input": "hi", "stream": True, "service_tier": "priority"},
                   sse(*events, names=True))  # fmt: skip
    elif place == "message":
        start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "service_tier": "default"}}
        fields = {"model": "claude", "max_tokens": 9, "messages": [HELLO], "stream": True, "service_tier": "priority"}
        one = trip(MESSAGES, fields, sse({"type": "ping"}, start, {"type": "message_stop"}, names=True))
    else:
        usage = {"input_tokens": 5, "output_tokens": 5, "service_tier": "default"}
        one = with_answer(anthropic([asked("hi")], [words("x")], service_tier="priority"), usage=usage)

    assert "api-service-tier-changed" in ids(one)


@pytest.mark.parametrize(("asked_for", "answered"), [("flex", "flex"), ("auto", "flex"), ("default", "standard")])
def test_a_tier_that_keeps_the_promise_is_not_a_change(asked_for: str, answered: str) -> None:
    assert "api-service-tier-changed" not in ids(tiered(asked_for, answered))
    assert "api-service-tier-changed" in ids(tiered("priority", "standard"))
    assert "api-service-tier-changed" in ids(tiered("default", "flex"))


def dropped(then: int, now: int, *, gap: float = 5, model: str = "gpt-5", counted: bool = True) -> list[str]:
    history = [HELLO, FIRST, result("call_1", "x")]
    second = cached(history, said("x"), 1, now, gap)
    if not counted:
        second = with_answer(second, usage={"completion_tokens": 5})
    body = second.request.body.replace(b'"gpt-5"', f'"{model}"'.encode())
    second = replace(second, request=replace(second.request, content=body))
    return lines(cached([HELLO], FIRST, 0, then, 0), second, only="api-cache-drop")


def test_a_lost_cache_is_reported_with_both_counts_and_the_time_between() -> None:
    assert dropped(4000, 1999) == [
        "#1 api-cache-drop (api, info, P): 1,999 tokens came from the cache, after 4,000 in #0, although "
        "the prefix is the same | #0 usage cache_read 4000, #1 usage cache_read 1999",
    ]
    assert dropped(4000, 0, gap=600) == [
        "#1 api-cache-drop (api, info, P): 0 tokens came from the cache, after 4,000 in #0, 10 minutes earlier: the "
        "cache may have expired | #0 usage cache_read 4000, #1 usage cache_read 0",
    ]
    assert "expired" not in dropped(4000, 0, gap=300)[0]
    assert "expired" in dropped(4000, 0, gap=300.5)[0]


def test_a_cache_that_is_half_read_or_was_never_read_is_not_lost() -> None:
    assert dropped(4000, 2000) == []
    assert dropped(1500, 600) == [], "fewer tokens were lost than any cache holds"
    assert dropped(0, 0) == []
    assert dropped(4000, 0, model="gpt-4o") == []
    assert dropped(4000, 0, counted=False) == []


def written(read: int, *, at: float = 5.0, words: str = "And now?") -> list[str]:
    """A cache that was written in the first turn, and what the second one read of it."""
    history = [asks(text("Hello.")), says("Fine."), asks(text(words))]
    first = claude(history[:1], (0, 4400, 11), mark=MARK)
    second = claude(history, (read, 4400 - read, 60), mark=MARK, at=at)
    return lines(first, second, only="api-cache-drop")


def test_a_cache_that_is_written_again_and_never_read_is_the_apis() -> None:
    assert written(0) == [
        "#1 api-cache-drop (api, warning, P): 0 tokens came from the cache, after 4,400 were written to it in #0, "
        "although the prefix is the same | #0 usage cache_write 4400, #1 usage cache_read 0",
    ]
    assert written(4400) == []
    assert "(api, info, P)" in written(0, at=600.0)[0]


@pytest.mark.parametrize("change", ["prompt", "tools"])
def test_a_cache_that_is_lost_after_a_change_of_the_client_is_not_the_apis(change: str) -> None:
    def system(text: str) -> dict[str, Any]:
        return {"role": "system", "content": text}

    history = [HELLO, FIRST, result("call_1", "x")]
    one = cached([system("Be brief. It is 07:00."), HELLO], FIRST, 0, 4000, 0)
    two = cached([system("Be brief. It is 07:01." if change == "prompt" else "Be brief. It is 07:00."), *history],
                 said("x"), 1, 0, 5)  # fmt: skip
    if change == "tools":
        body = two.request.body.replace(b"Look a word up.", b"Look one word up.")
        two = replace(two, request=replace(two.request, content=body))

    assert "api-cache-drop" not in ids(one, two)


@pytest.mark.parametrize("name", ["x-request-id", "request-id"])
def test_the_id_of_a_request_is_in_one_of_two_headers(name: str) -> None:
    one = chat([HELLO], said("x"))
    assert one.response is not None
    named = replace(one, response=replace(one.response, headers=((name, "req_1"),)))

    assert [request_id(context_of(each)) for each in (named, one)] == ["req_1", None]
    assert request_id(context_of(chat([HELLO], failure=Failure("refused", "no")))) is None


INCONSISTENT = "api-usage-inconsistent"


def test_what_was_said_and_read_costs_tokens() -> None:
    long = said("A tape is a long strip.")
    history = [user("What is a tape, and what is a reel?")]

    assert only(INCONSISTENT, chat(history, long, usage=(100, 0))).message == (
        "the usage contradicts itself: no output tokens are counted beside an answer of 23 characters"
    )
    assert only(INCONSISTENT, chat(history, long, usage=(0, 9))).message == (
        "the usage contradicts itself: no input tokens are counted for 35 characters of history"
    )
    assert INCONSISTENT not in ids(chat(history, said("Yes."), usage=(100, 0)))
    assert INCONSISTENT not in ids(chat([HELLO], long, usage=(0, 9)))


def test_thoughts_beside_an_output_that_is_not_counted_contradict_nothing() -> None:
    counts = {"prompt_tokens": 0, "completion_tokens_details": {"reasoning_tokens": 5}}
    asked_for = chat([user("What is a tape, and what is a reel?")], said("x"))

    assert only(INCONSISTENT, with_answer(asked_for, usage=counts)).message == (
        "the usage contradicts itself: no input tokens are counted for 35 characters of history"
    )


def test_the_total_of_converse_has_the_tokens_of_the_cache() -> None:
    def of(total: int, **more: int) -> set[str]:
        usage = {"inputTokens": 9, "outputTokens": 5, "totalTokens": total, **more}
        message = {"role": "assistant", "content": [{"text": "A strip."}]}
        body = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
        return ids(trip(CONVERSE, {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}, body))

    assert INCONSISTENT in of(99)
    assert INCONSISTENT not in of(14)
    assert INCONSISTENT not in of(34, cacheReadInputTokens=20)


def test_the_counts_of_the_turn_before_are_not_those_of_a_longer_request() -> None:
    def of(text: str, second: tuple[int, int]) -> set[str]:
        first = chat([HELLO], said(None, CALL))
        return ids(
            first, chat([HELLO, said(None, CALL), result("call_1", text)], said("A strip."), index=1, usage=second)
        )

    assert INCONSISTENT in of("x" * 1000, (100, 10))
    assert INCONSISTENT not in of("x" * 1000, (101, 10))
    assert INCONSISTENT not in of("x" * 1000, (100, 11))
    assert INCONSISTENT not in of("x" * 500, (100, 10))


@pytest.mark.parametrize(("usage", "severity"), [((200, 9), "warning"), ((380, 9), None), ((0, 9), "warning")])
def test_counts_that_contradict_earlier_ones_are_a_warning(usage: tuple[int, int], severity: str | None) -> None:
    call = said(None, CALL)
    first = chat([HELLO], call, usage=(400, 10))
    second = chat([HELLO, call, result("call_1", "a strip")], said("A tape is a long strip."), index=1, usage=usage)

    found = [one.severity for one in judged(first, second) if one.id == INCONSISTENT]
    assert found == ([severity] if severity else [])


def test_counts_that_a_test_server_repeats_stay_an_info() -> None:
    long = words("A strip of tape. " * 40)

    def severity(output: int) -> str:
        counted, now = {"input_tokens": 9, "output_tokens": 200}, {"input_tokens": 9, "output_tokens": output}
        first = anthropic([asked("hi")], [long], usage=counted)
        then = anthropic([asked("hi"), spoke(long), asked("Sure?")], [words("Yes.")], 1, usage=now)
        return only(INCONSISTENT, first, then).severity

    assert severity(200) == "info"
    assert severity(201) == "warning"


@pytest.mark.parametrize(
    ("read", "fresh", "fits"),
    [(3000, 3100, False), (3000, 100, True), (0, 3100, True), (3000, 400, True)],
)
def test_an_input_cannot_grow_by_more_tokens_than_the_request_by_bytes(read: int, fresh: int, fits: bool) -> None:
    """A server that copies the API may count the cached tokens in `input_tokens` too."""

    def counted(tokens: int, cached: int) -> dict[str, int]:
        return {"input_tokens": tokens, "cache_read_input_tokens": cached, "output_tokens": 12}

    call = [{"type": "tool_use", "id": "t1", "name": "look_up", "input": {"word": "tape"}}]
    ask, answer = asked("what is a tape?"), {"role": "assistant", "content": call}
    found = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a strip of film"}]}
    first = anthropic([ask], call, usage=counted(3000, 0))
    second = anthropic([ask, answer, found], [words("A strip of film.")], 1, usage=counted(fresh, read))

    reported = [one for one in judged(first, second) if one.id == INCONSISTENT]
    assert [one.severity for one in reported] == ([] if fits else ["warning"])
    if reported:
        assert "6,100 input tokens after 3,000 in #0, although the request is only" in reported[0].message
        assert reported[0].message.endswith("bytes longer; 3,000 of them cached, which may be counted twice")


@pytest.mark.parametrize(("tokens", "found"), [(3000, True), (1400, False)])
def test_thoughts_in_a_history_cost_what_an_answer_counted_and_not_ten_times_that(tokens: int, *, found: bool) -> None:
    thought = {"role": "assistant", "reasoning_content": "The user asks about tape.", **said(None, CALL)}
    first = chat([HELLO], thought, usage=(170, 60))
    second = chat([HELLO, thought, result("call_1", "a strip")], said("It is."), index=1, usage=(tokens, 9))

    assert any("170 in #0" in line for line in lines(first, second, only=INCONSISTENT)) is found


def test_an_input_may_grow_more_than_a_request_whose_history_was_changed() -> None:
    """Other words are in the place of what is gone, and may have more tokens."""
    ask, answer = asked("what is a tape? " * 99), spoke(words("A strip of film. " * 20))

    def found(history: dict[str, Any]) -> set[str]:
        first = anthropic([ask], [words("A strip of film. " * 20)], usage={"input_tokens": 100, "output_tokens": 90})
        then = {"input_tokens": 1500, "output_tokens": 5}
        return ids(first, anthropic([history, answer, asked("Sure?")], [words("Yes.")], 1, usage=then))

    assert INCONSISTENT in found(ask)
    assert INCONSISTENT not in found(asked("what is tape? " * 99))


SEARCH = {"type": "web_search_20250305", "name": "web_search"}
PICTURE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png", "media_type": "image/png"}}


@pytest.mark.parametrize(
    "fields",
    [{"tools": ()}, {"model": "claude-opus-4-5"}, {"tool_choice": {"type": "any"}}, {"tools": (SEARCH,)},
     {"messages": [asked("what is this?"), {"role": "user", "content": [PICTURE]}]}],
)  # fmt: skip
def test_an_input_may_grow_with_what_the_request_names(fields: dict[str, Any]) -> None:
    ask, then = asked("what is a tape?"), fields if fields.get("tools") else {}
    first = anthropic([ask], [words("A strip of film.")], usage={"input_tokens": 300, "output_tokens": 9}, **then)
    history = [ask, {"role": "assistant", "content": [words("A strip of film.")]}, asked("And a reel?")]
    history += fields.get("messages", [])
    more = {name: value for name, value in fields.items() if name != "messages"}
    second = anthropic(history, [words("A wheel.")], 1, usage={"input_tokens": 3000, "output_tokens": 9}, **more)

    assert INCONSISTENT not in ids(first, second)


@pytest.mark.parametrize(
    ("counts", "what"),
    [
        (((77, 4), (25, 4)), "`prompt_tokens` is 25 at the end of the stream and 77 before it"),
        (((77, 40), (77, 4)), "`completion_tokens` is 4 at the end of the stream and 40 before it"),
        (((77, 1), (77, 4)), None),
    ],
)
def test_a_stream_that_counts_its_answer_twice(counts: tuple[tuple[int, int], ...], what: str | None) -> None:
    usages = [{"prompt_tokens": a, "completion_tokens": b, "total_tokens": a + b} for a, b in counts]
    events = [{**EVENT, "usage": None}, *({**EVENT, "choices": [], "usage": usage} for usage in usages)]
    asked: dict[str, Any] = {"model": "gpt-5", "messages": [HELLO], "stream": True}
    asked["stream_options"] = {"include_usage": True}
    counted = trip(CHAT, asked, sse(*events, done=True))

    found = [one.message for one in judged(counted) if one.id == "api-usage-inconsistent"]
    assert found == ([f"the usage contradicts itself: {what}"] if what else [])


def test_the_rounds_of_the_apis_own_tools_have_counts_of_their_own() -> None:
    def streamed(*tools: dict[str, Any]) -> RoundTrip:
        started = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": [],
                   "usage": {"input_tokens": 9, "output_tokens": 500}}  # fmt: skip
        events = [
            ("message_start", {"type": "message_start", "message": started}),
            ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": words("")}),
            ("content_block_delta", {"type": "content_block_delta", "index": 0,
                                     "delta": {"type": "text_delta", "text": "A strip."}}),
            ("content_block_stop", {"type": "content_block_stop", "index": 0}),
            ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                               "usage": {"output_tokens": 4}}),
            ("message_stop", {"type": "message_stop"}),
        ]  # fmt: skip
        body = b"".join(b"event: %s\ndata: %s\n\n" % (name.encode(), orjson.dumps(event)) for name, event in events)
        asked = {"model": "claude", "max_tokens": 900, "messages": [HELLO], "stream": True, "tools": list(tools)}
        return trip(MESSAGES, asked, body)

    assert "`output_tokens` is 4" in only("api-usage-inconsistent", streamed()).message
    assert "api-usage-inconsistent" not in ids(streamed({"type": "web_search_20250305", "name": "web_search"}))


@pytest.mark.parametrize(("read", "fresh", "found"), [(300, 340, True), (300, 40, False), (0, 340, False)])
def test_cached_tokens_that_the_input_holds_already(read: int, fresh: int, found: bool) -> None:
    """A gateway that passes on the whole prompt as what was not cached, and the cached part beside it."""
    call = use()
    history = [asked("Look it up."), {"role": "assistant", "content": [call]}, given("a strip")]
    first = anthropic(history[:1], [call], usage={"input_tokens": 320, "output_tokens": 9})
    counts = {"input_tokens": fresh, "output_tokens": 9, "cache_read_input_tokens": read}
    second = anthropic(history, [words("A strip.")], 1, usage=counts)

    said = [one.message for one in judged(first, second) if one.id == "api-usage-inconsistent"]
    assert (said[:1] != []) is found
    assert all("300 of them cached, which may be counted twice" in one for one in said)


@pytest.mark.parametrize(
    ("counts", "summed"),
    [((60, 125, 195), True), ((60, 125, 150), False), ((60, 55, 195), False), ((10, 21, 33), False)],
    ids=["a sum", "too little", "it fell", "too few tokens"],
)
def test_an_input_that_is_a_sum_over_the_run(counts: tuple[int, ...], summed: bool) -> None:
    long = asked("What is written on the tape? " * 14)
    trips = [
        anthropic(
            [long, *(one for n in range(number) for one in (spoke(words(f"Part {n}.")), asked(f"Go on {n}.")))],
            [words(f"Part {number}.")],
            number,
            usage={"input_tokens": count, "output_tokens": 4},
        )
        for number, count in enumerate(counts)
    ]

    said = [one.message for one in judged(*trips) if one.id == INCONSISTENT and "sum over the run" in one.message]
    assert bool(said) == summed


@pytest.mark.parametrize(("parts", "wrong"), [((30, 10), 0), ((0, 0), 1), ((30, 20), 1), (None, 0)])
def test_the_parts_of_what_was_written_to_a_cache(parts: tuple[int, int] | None, wrong: int) -> None:
    usage: dict[str, Any] = {"input_tokens": 9, "cache_creation_input_tokens": 40, "cache_read_input_tokens": 0}
    if parts is not None:
        usage["cache_creation"] = {"ephemeral_5m_input_tokens": parts[0], "ephemeral_1h_input_tokens": parts[1]}
    found = lines(anthropic([asked("hi")], [words("It is a strip.")], usage=usage), only="api-usage-inconsistent")

    assert ["not the sum of their parts" in line for line in found] == [True] * wrong


def _counted(signature: dict[str, str]) -> set[str]:
    """Three turns with Gemini: a call with or without a thought, its result, and another question."""
    call, asks_first = calls(**signature), turn("user", {"text": "What is a tape?"})
    history = [asks_first, turn("model", call), turn("user", gives())]

    def answered(contents: list[Any], part: dict[str, Any], tokens: int, index: int) -> RoundTrip:
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 8, "totalTokenCount": tokens + 8}
        return gemini(contents, [part], index, usageMetadata=usage)

    more = [*history, turn("model", {"text": "A strip."}), turn("user", {"text": "And now? " * 4})]
    return ids(
        answered([asks_first], call, 74, 0),
        answered(history, {"text": "A strip."}, 158, 1),
        answered(more, {"text": "Still a strip."}, 120, 2),
    )


def test_a_thought_that_is_counted_until_the_next_question_makes_the_input_smaller() -> None:
    """Gemini reads the thought in a signature while its turn continues, and leaves it out after a new question."""
    assert "api-usage-inconsistent" not in _counted({"thoughtSignature": "CmIBEU0yD5YE1V"})
    assert "api-usage-inconsistent" in _counted({})


LOCAL = "http://127.0.0.1:8000/v1/chat/completions"


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("qwen3:8b", "llama3.2:1b", False),
        ("Qwen/Qwen3-32B", "mistralai/Mistral-7B-Instruct-v0.3", False),
        ("Qwen/Qwen3-32B", "qwen3-32b-awq", True),
        ("gpt-4", "Qwen3-8B-Q4_K_M.gguf", True),
        ("qwen3:8b", "my-deployment", True),
    ],
)
def test_a_local_server_that_answers_with_a_model_of_another_size_substituted_it(
    asked: str, answered: str, same: bool
) -> None:
    found = [one for one in judged(at_host(served(asked, answered), LOCAL)) if one.id == "api-model-substituted"]

    assert [(one.layer, one.tier) for one in found] == ([] if same else [("api", "S")])


def test_an_agent_is_not_a_model() -> None:
    answer = {"object": "conversation.response", "conversation_id": "conv_1", "outputs": [
        {"type": "message.output", "role": "assistant", "content": "Hi.", "id": "m", "model": "mistral-medium-2505"}
    ]}  # fmt: skip
    asked = {"agent_id": "ag_0684fe18d5d07f8a", "inputs": "Hi", "stream": False}

    assert "api-model-substituted" not in ids(trip("https://api.mistral.ai/v1/conversations", asked, answer))
