"""Who answered: by host, by upstream, by headers."""

import pytest
from round_trips import exchanged

from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.providers import host_provider, provider


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "openai"),
        ("my-resource.openai.azure.com", "azure"),
        ("bedrock-runtime.us-east-1.amazonaws.com", "bedrock"),
        ("us-central1-aiplatform.googleapis.com", "vertex"),
        ("aiplatform.googleapis.com", "vertex"),
        ("generativelanguage.googleapis.com", "gemini"),
        ("router.huggingface.co", "huggingface"),
        ("models.inference.ai.azure.com", "github"),
        ("acme.snowflakecomputing.com", "snowflake"),
        ("localhost", None),
        ("127.0.0.1", None),
        ("notapi.openai.com.evil.example", None),
    ],
)
def test_hosts(host: str, name: str | None) -> None:
    assert host_provider(host) == name


def test_a_gateway_is_known_by_its_upstream_or_its_headers() -> None:
    url = "http://localhost:4000/v1/chat/completions"
    plain = exchanged(url, {}, {})
    named = exchanged(url, {}, {}, upstream="google")
    headed = exchanged(url, {}, {}, headers=(("x-litellm-version", "1"),))
    assert [provider(rt, Exchange(rt)) for rt in (plain, named, headed)] == [None, "gemini", "litellm"]
