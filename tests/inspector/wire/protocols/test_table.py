"""Our own protocols, and what the tape knows of each."""

import re
from importlib.metadata import entry_points

import pytest
from round_trips import exchanged

from turntape.cassettes.apis.entry_points import GROUP
from turntape.cassettes.apis.lookup import UNKNOWN, api_at
from turntape.cassettes.matching.request_key import path_key
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.protocols.table import BUILT_IN
from turntape.inspector.wire.registry import built_in, by_name, detect, may_claim, protocols

ENDPOINTS = {
    "https://api.anthropic.com/v1/messages": "anthropic-messages",
    "https://api.anthropic.com/v1/messages/count_tokens": "anthropic-messages",
    "https://x-aiplatform.googleapis.com/v1/projects/p/publishers/anthropic/models/m:rawPredict": "anthropic-messages",
    "https://x-aiplatform.googleapis.com/v1/p/anthropic/models/m:streamRawPredict": "anthropic-messages",
    "https://bedrock.amazonaws.com/model/m/converse": "bedrock-converse",
    "https://bedrock.amazonaws.com/model/m/converse-stream": "bedrock-converse",
    "https://bedrock.amazonaws.com/model/m/invoke": "bedrock-invoke",
    "https://bedrock.amazonaws.com/model/m/invoke-with-response-stream": "bedrock-invoke",
    "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent": "gemini-generate",
    "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse": "gemini-generate",
    "https://generativelanguage.googleapis.com/v1beta/interactions": "gemini-interactions",
    "https://api.openai.com/v1/responses": "openai-responses",
    "https://api.openai.com/v1/responses/compact": "openai-responses",
    "https://api.openai.com/v1/responses/input_tokens": "openai-responses",
    "https://chatgpt.com/backend-api/codex/responses": "openai-responses",
    "http://127.0.0.1:11434/api/chat": "ollama-chat",
    "http://127.0.0.1:11434/api/generate": "ollama-generate",
    "https://api.cohere.com/v2/chat": "cohere-v2",
    "https://api.openai.com/v1/chat/completions": "openai-chat",
    "https://x.openai.azure.com/openai/deployments/d/chat/completions": "openai-chat",
    "https://x.cloud.databricks.com/serving-endpoints/e/invocations": "openai-chat",
    "https://api.mistral.ai/v1/fim/completions": "mistral-chat",
    "https://api.mistral.ai/v1/agents/completions": "mistral-chat",
    "https://api.openai.com/v1/completions": "openai-completions",
    "https://api.cloudflare.com/client/v4/accounts/a/ai/run/@cf/meta/llama-3.1-8b": "cloudflare-run",
    "https://gateway.ai.cloudflare.com/v1/a/g/workers-ai/@cf/meta/llama-3.1-8b": "cloudflare-run",
    "https://api.openai.com/v1/agents/sessions": "openai-agents",
    "https://api.openai.com/v1/agents/sessions/sess_1/events": "openai-agents",
    "https://api.anthropic.com/v1/sessions": "anthropic-agents",
    "https://api.anthropic.com/v1/sessions/sesn_1/events": "anthropic-agents",
    "wss://api.openai.com/v1/realtime": "openai-realtime",
    "wss://generativelanguage.googleapis.com/v1beta/interactions/live": "gemini-interactions-live",
    "wss://x/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent": "gemini-live",
    "wss://x/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent": "gemini-live",
    "https://dashscope.aliyuncs.com/api/v1/services/aigc/text-generation/generation": "dashscope",
    "https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation": "dashscope",
    "https://api.mistral.ai/v1/conversations": "mistral-conversations",
    "https://api.mistral.ai/v1/conversations/conv_1": "mistral-conversations",
    "https://api.mistral.ai/v1/conversations/conv_1/restart": "mistral-conversations",
}


@pytest.mark.parametrize(("url", "name"), ENDPOINTS.items())
def test_each_endpoint_has_the_api_of_its_protocol(url: str, name: str) -> None:
    protocol = by_name(name)
    assert protocol is not None
    assert api_at(path_key(url)) is protocol.api


@pytest.mark.parametrize("url", ["https://api.openai.com/v1/embeddings", "https://example.com/chat/x", "https://x/"])
def test_another_endpoint_has_no_api(url: str) -> None:
    assert api_at(path_key(url)) is UNKNOWN


def test_every_row_names_a_protocol_that_has_the_same_api() -> None:
    assert len(built_in()) == len(BUILT_IN)
    assert [protocol.api for protocol in built_in()] == [row.api for row in BUILT_IN]
    assert [protocol.name for protocol in built_in()] == [row.name for row in BUILT_IN]


@pytest.mark.parametrize("url", ENDPOINTS)
def test_no_registration_keeps_a_protocol_from_what_it_accepts(url: str) -> None:
    for end in ("", "/"):
        exchange = Exchange(exchanged(url.partition("?")[0] + end, {"input": "a", "contents": [], "messages": []}, {}))
        for row, protocol in zip(BUILT_IN, built_in(), strict=True):
            assert protocol.detect(exchange) is None or may_claim(row, exchange), protocol.name


@pytest.mark.parametrize(
    ("asked", "answer", "name"),
    [
        ({"messages": [], "max_tokens": 9}, {"type": "message", "content": []}, "anthropic-messages"),
        ({"messages": [], "max_tokens": 9}, b"event: message_start\ndata: {}\n\n", "anthropic-messages"),
        ({"contents": []}, {"candidates": []}, "gemini-generate"),
        ({"input": "a"}, {"object": "response"}, "openai-responses"),
        ({}, {"object": "chat.completion"}, "openai-chat"),
        ({}, {"choices": [{"message": {}}]}, "openai-chat"),
    ],
)
def test_an_answer_is_recognised_on_any_path(asked: dict[str, object], answer: object, name: str) -> None:
    found = detect(Exchange(exchanged("https://gateway.example/ask", asked, answer)))
    assert found is not None
    assert found[0].name == name


def test_a_protocol_is_not_imported_for_what_cannot_be_its_own() -> None:
    exchange = Exchange(exchanged("https://gateway.example/ask", {"messages": []}, {"choices": [{"message": {}}]}))
    assert [row.name for row in BUILT_IN if may_claim(row, exchange)] == ["mcp", "openai-chat", "endpoint"]


def test_our_own_table_comes_through_the_entry_point() -> None:
    (point,) = entry_points(group=GROUP, name="built-in")

    assert point.load() is BUILT_IN
    assert protocols()[-len(BUILT_IN) :] == built_in()


def test_every_path_that_is_known_is_tested() -> None:
    """Each alternative of each path has an endpoint above."""
    keys = [path_key(url).partition("?")[0] for url in ENDPOINTS]
    for row in BUILT_IN:
        if row.api.path is not None:
            for part in re.split(r"\|(?![^(]*\))", row.api.path.pattern):
                # Cohere's first version has the path of its second.
                assert any(re.fullmatch(part, key) for key in keys), part
