"""The scripted LLM speaks each API as an independent reader of the wire understands it, and fails as it is asked to."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest

from turntape.cassettes import Request, Response, RoundTrip
from turntape.inspector import read
from turntape.inspector.wire.values import Reading
from turntape.proxy.scripted import SALES_EMAILS, Fault, ScriptedServer
from turntape.proxy.scripted.faults import KINDS, parse
from turntape.proxy.scripted.server import SHAPES

HISTORY = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
CHAT = "/v1/chat/completions"
ASKED: dict[str, tuple[str, str, Mapping[str, Any]]] = {
    "openai-chat": (CHAT, CHAT, {"model": "gpt-5", "stream_options": {"include_usage": True}}),
    "mistral-chat": (CHAT, CHAT, {"model": "mistral-large-latest"}),
    "openai-responses": ("/v1/responses", "/v1/responses", {"model": "gpt-5"}),
    "anthropic-messages": ("/v1/messages", "/v1/messages", {"model": "claude-sonnet-4-5", "max_tokens": 99}),
    "gemini-generate": (
        "/v1beta/models/gemini-2.5-pro:generateContent",
        "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        {},
    ),
    "bedrock-converse": ("/model/m/converse", "/model/m/converse-stream", {}),
    "ollama-chat": ("/api/chat", "/api/chat", {"model": "llama3.2"}),
    "cohere-v2": ("/v2/chat", "/v2/chat", {"model": "command-a-03-2025"}),
}
"""The paths of each API for a complete answer and for a stream, and the fields of a request beside the history."""


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


def body_of(api: str, streamed: bool, answers: int) -> dict[str, Any]:
    turns = [{"role": "user", "content": "go"}]
    for _ in range(answers):
        turns += [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]
    body = dict(ASKED[api][2])
    if api == "gemini-generate":
        roles = {"assistant": "model", "user": "user"}
        return {"contents": [{"role": roles[t["role"]], "parts": [{"text": t["content"]}]} for t in turns]}
    if api == "bedrock-converse":
        return {"messages": [{"role": t["role"], "content": [{"text": t["content"]}]} for t in turns]}
    body["input" if api == "openai-responses" else "messages"] = turns
    return {**body, "stream": streamed}


def ask(server: ScriptedServer, api: str, streamed: bool, answers: int = 0, fault: str = "") -> httpx2.Response:
    path = str(ASKED[api][streamed])
    headers = {"x-scripted-fault": fault} if fault else {}
    with httpx2.Client(trust_env=False) as client:
        return client.post(server.url + path, json=body_of(api, streamed, answers), headers=headers)


def read_as(api: str, response: httpx2.Response) -> Reading:
    kept = tuple((k, v) for k, v in response.headers.items() if k != "content-encoding")
    answer = Response(response.status_code, headers=kept, content=response.content)
    return read(RoundTrip(Request("POST", str(response.url), (), response.request.content), answer, 0.0))


def test_responses_repeat_what_the_request_says_of_reasoning_and_text(server: ScriptedServer) -> None:
    body = {"model": "gpt-5", "input": "go", "reasoning": {"effort": "low"}, "text": {"verbosity": "low"}}
    with httpx2.Client(trust_env=False) as client:
        said = client.post(f"{server.url}/v1/responses", json=body).json()

    assert said["reasoning"] == {"effort": "low", "summary": None}
    assert said["text"] == {"format": {"type": "text"}, "verbosity": "low"}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ASKED)
def test_the_story_has_the_shape_of_each_api(api: str, streamed: bool, server: ScriptedServer) -> None:
    for answers, step in enumerate(SALES_EMAILS):
        reading = read_as(api, ask(server, api, streamed, answers))

        assert reading.problems == ()
        assert reading.emission is not None and reading.finish is not None
        # What Cohere's models say before calls is a plan, and there is always one.
        plan = "I will call the tools." if api == "cohere-v2" and step.calls else ""
        assert (reading.emission.text or reading.emission.reasoning).strip() == (step.text or plan)
        calls = [(call.name, call.arguments) for call in reading.emission.calls]
        assert calls == [(call.name, dict(call.arguments)) for call in step.calls]
        assert reading.finish.effective == ("tool_calls" if step.calls else "complete")
        assert reading.usage is not None and reading.usage.input and reading.usage.output
        assert reading.streamed is streamed


@pytest.mark.parametrize("api", sorted(ASKED.keys() - {"ollama-chat", "gemini-generate"}))
def test_calls_have_ids_that_are_their_own(api: str, server: ScriptedServer) -> None:
    seen: list[str | None] = []
    for answers in range(3):
        emission = read_as(api, ask(server, api, True, answers)).emission
        assert emission is not None
        seen += [call.id for call in emission.calls]

    assert len(set(seen)) == len(seen) == 6 and None not in seen


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ASKED)
def test_two_runs_get_the_same_bytes(api: str, streamed: bool, server: ScriptedServer) -> None:
    first, second = (ask(server, api, streamed, 1).content for _ in range(2))

    assert first == second


def test_each_api_has_a_path_of_its_own() -> None:
    for api, (path, streaming, _) in ASKED.items():
        for target in (path, streaming.partition("?")[0]):
            found = [shape.name for shape in SHAPES if shape.matches(target)]
            assert found == [api if api != "mistral-chat" else "openai-chat"]


@pytest.mark.parametrize("api", ASKED)
@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_refusal_is_the_apis_own_error(api: str, status: int, server: ScriptedServer) -> None:
    response = ask(server, api, False, fault=f"status={status}")
    reading = read_as(api, response)

    assert response.status_code == status
    assert reading.error is not None and f"scripted {status}" in reading.error.message
    assert ("retry-after" in response.headers) is (status == 429)


@pytest.mark.parametrize("api", ASKED)
def test_an_error_inside_a_stream_is_read_as_one(api: str, server: ScriptedServer) -> None:
    reading = read_as(api, ask(server, api, True, fault="error_event=2"))

    assert reading.error is not None and reading.error.in_stream
    assert reading.finish is not None and reading.finish.effective == "error"


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("api", ASKED)
def test_nothing_is_said_where_nothing_was_asked_to_be_said(api: str, streamed: bool, server: ScriptedServer) -> None:
    emission = read_as(api, ask(server, api, streamed, fault="empty")).emission

    assert emission is not None and (emission.text, emission.calls) == ("", ())


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "mistral-chat"])
@pytest.mark.parametrize("streamed", [False, True])
def test_arguments_are_broken_or_cut_on_request(api: str, streamed: bool, server: ScriptedServer) -> None:
    bad, cut = (
        read_as(api, ask(server, api, streamed, fault=kind)) for kind in ("bad_arguments", "truncated_arguments")
    )

    for reading in (bad, cut):
        assert reading.emission is not None
        *others, last = reading.emission.calls
        assert all(isinstance(call.arguments, dict) for call in others)
        with pytest.raises(json.JSONDecodeError):
            json.loads(last.arguments_raw)
    assert cut.finish is not None and cut.finish.label == "length"


def test_calls_beside_a_plain_end(server: ScriptedServer) -> None:
    reading = read_as("openai-chat", ask(server, "openai-chat", False, fault="wrong_finish"))

    assert reading.finish is not None and reading.emission is not None
    assert (reading.finish.raw, len(reading.emission.calls)) == ("stop", 3)


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
@pytest.mark.parametrize("streamed", [False, True])
def test_encoded_answers_are_the_same_text(encoding: str, streamed: bool, server: ScriptedServer) -> None:
    plain = ask(server, "openai-chat", streamed)
    encoded = ask(server, "openai-chat", streamed, fault=encoding)

    assert encoded.headers["content-encoding"] == encoding
    assert encoded.content == plain.content


def test_a_body_that_is_not_json_and_an_event_that_is_none(server: ScriptedServer) -> None:
    with pytest.raises(json.JSONDecodeError):
        json.loads(ask(server, "openai-chat", False, fault="invalid_json").content)
    assert b"data: {not json\n\n" in ask(server, "openai-chat", True, fault="malformed_sse=2").content


def test_connections_are_reset_and_cut_on_request(server: ScriptedServer) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(server, "openai-chat", False, fault="reset")
    got = b""
    with (
        httpx2.Client(trust_env=False) as client,
        client.stream(
            "POST", server.url + CHAT, json=body_of("openai-chat", True, 0), headers={"x-scripted-fault": "cut=3"}
        ) as response,
        pytest.raises(httpx2.RemoteProtocolError),
    ):
        for piece in response.iter_raw():
            got += piece

    assert got.count(b"\n\n") == 3


def test_faults_are_given_by_turn_and_by_model_too() -> None:
    with ScriptedServer(faults={2: Fault("status", 503)}) as server:
        statuses = [ask(server, "anthropic-messages", False, answers).status_code for answers in range(3)]
        with httpx2.Client(trust_env=False) as client:
            by_model = client.post(server.url + CHAT, json={"model": "scripted:status=418", "messages": HISTORY[:1]})

    assert statuses == [200, 503, 200]
    assert by_model.status_code == 418


def test_a_fault_is_a_kind_and_a_number() -> None:
    assert parse("cut") == Fault("cut", 2)
    assert parse("status=429") == Fault("status", 429)
    assert parse("slow=soon") == Fault("slow", 2)
    assert [parse(text) for text in (None, "", "gpt-5", "=3", "Cut")] == [None] * 5
    assert all(parse(kind) is not None for kind in KINDS)


def test_what_clients_ask_beside_generation_is_answered_and_the_rest_is_404(server: ScriptedServer) -> None:
    with httpx2.Client(base_url=server.url, trust_env=False) as client:
        models = client.get("/v1/models").json()
        counted = client.post("/v1/messages/count_tokens", json={"messages": HISTORY}).json()
        embedded = client.post("/v1/embeddings", json={"input": "x"}).json()
        unknown = client.get("/v1/nothing")

    assert models["data"][0]["id"] == "gpt-5"
    assert counted["input_tokens"] > 10
    assert embedded["data"][0]["embedding"] == [0.0, 0.25, -0.5]
    assert unknown.status_code == 404
    assert unknown.json()["message"] == "the scripted LLM does not know GET /v1/nothing"


def test_requests_are_kept_as_they_came_chunked_or_not(server: ScriptedServer) -> None:
    before = len(server.requests)
    with httpx2.Client(trust_env=False) as client:
        client.post(f"{server.url}/v1/embeddings?a=1", content=iter([b'{"in', b'put":1}']), headers={"X-Odd": "1"})

    (received,) = server.requests[before:]
    assert (received.method, received.path, received.body) == ("POST", "/v1/embeddings?a=1", b'{"input":1}')
    assert ("X-Odd", "1") in received.headers
