"""Which requests are turns, by method and path."""

import pytest

from turntape.proxy.limits.turn_paths import makes_a_turn, path_of


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1/chat/completions",
        "https://api.openai.com/v1/completions",
        "https://api.openai.com/v1/responses",
        "https://api.anthropic.com/v1/messages",
        "/v1beta/models/m:generateContent",
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        "/v1/projects/p/models/m:rawPredict",
        "/v1/projects/p/models/m:streamRawPredict",
        "/model/m/converse",
        "/model/m/converse-stream",
        "/model/m/invoke",
        "/model/m/invoke-with-response-stream",
        "/api/chat",
        "/api/generate",
        "/v2/chat",
        "/v1/chat",
        "/v1/interactions",
        "/v1/messages/?beta=true",
        "/v1/conversations",
        "/v1/conversations/conv_1",
        "/v1/conversations/conv_1/restart",
        "/client/v4/accounts/a/ai/run/@cf/meta/llama-4",
        "/v1/a/gateway/workers-ai/%40cf/meta/llama-4",
    ],
)
def test_a_generation_endpoint_is_a_turn_for_post_only(url: str) -> None:
    assert makes_a_turn("POST", url)
    assert not makes_a_turn("GET", url)


@pytest.mark.parametrize(
    "url",
    [
        "/v1/models",
        "/v1/messages/count_tokens",
        "/v1/embeddings",
        "/v1/responses/resp_1",
        "/v1/x?p=/v1/messages",
        "/v1/conversations/conv_1/items",
    ],
)
def test_any_other_path_is_not_a_turn(url: str) -> None:
    assert not makes_a_turn("POST", url)


def test_a_path_has_no_query_and_no_slash_at_the_end() -> None:
    assert path_of("https://llm.local/predict/?x=1") == path_of("/predict") == "/predict"


CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}'
ROOTS = b'{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}'


@pytest.mark.parametrize(
    ("body", "turn"),
    [
        (CALL, False),
        (b"[" + CALL + b"]", False),
        (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', False),
        (ROOTS, False),
        (b'{"model":"m","messages":[{"role":"user","content":"\\"jsonrpc\\""}]}', True),
        (b'{"model":"m","jsonrpc":"2.0","method":"chat"}', True),
        (b'{"jsonrpc":"2.0"', True),
        (b'["jsonrpc"]', True),
        (b"", True),
    ],
)
def test_a_message_to_a_tool_server_is_not_a_turn(body: bytes, turn: bool) -> None:
    assert makes_a_turn("POST", "/messages?session_id=1", (), body) is turn


def test_the_headers_of_a_tool_server_count_too() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'

    assert makes_a_turn("POST", "/messages", (), body)
    assert not makes_a_turn("POST", "/messages", (("Mcp-Session-Id", "s"),), body)
