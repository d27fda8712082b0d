"""Which price list holds, and under which name: by the host, the model's name, a header, or the path."""

from dataclasses import replace

import pytest
from round_trips import exchanged

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.price_names import PriceName, price_names

CHOICE = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}


def names(
    url: str, asked: str | None, answered: str | None, headers: tuple[tuple[str, str], ...] = ()
) -> list[tuple[str | None, str]]:
    """The price names of a turn of Chat Completions."""
    body = {"object": "chat.completion", "model": answered, "choices": [CHOICE]}
    trip = exchanged(url, {"model": asked, "messages": []}, body, headers=headers)
    return [(name.provider, name.model) for name in price_names(trip, read(trip))]


OPENAI = "https://api.openai.com/v1/chat/completions"
VERCEL = "https://ai-gateway.vercel.sh/v1/chat/completions"
PATH = "https://router.huggingface.co"
ROUTER = f"{PATH}/v1/chat/completions"


@pytest.mark.parametrize(
    ("url", "asked", "answered", "expected"),
    [
        (OPENAI, "gpt-5", "gpt-5-2025-08-07", [("openai", "gpt-5-2025-08-07"), ("openai", "gpt-5")]),
        (OPENAI, "gpt-5", "gpt-5", [("openai", "gpt-5")]),
        (OPENAI, "gpt-5", None, [("openai", "gpt-5")]),
        (OPENAI, None, None, []),
        ("https://api.z.ai/api/paas/v4/chat/completions", "glm-4.7", None, [("zai", "glm-4.7")]),
        ("https://api.avian.io/v1/chat/completions", "deepseek/v3", None, [("avian", "deepseek/v3")]),
        (VERCEL, "anthropic/claude-haiku-4.5", None, [("anthropic", "claude-haiku-4.5")]),
        (VERCEL, "a/anthropic/claude-haiku-4.5", None, [("anthropic", "claude-haiku-4.5")]),
        (VERCEL, "gpt-5", None, [(None, "gpt-5")]),
        (
            "https://gateway.ai.cloudflare.com/v1/a/b/compat/chat/completions",
            "openai/gpt-5",
            None,
            [("cloudflare", "openai/gpt-5"), ("openai", "gpt-5")],
        ),
        # Neither the name nor the path says which host it was: "v1" is none that has prices.
        (ROUTER, "acme/m-1", None, [("huggingface_v1", "acme/m-1")]),
        (ROUTER, "acme/m-1:novita", None, [("huggingface_novita", "acme/m-1")]),
        (
            ROUTER,
            "acme/m-1:groq",
            "acme/M-1",
            [("huggingface_groq", "acme/M-1"), ("huggingface_groq", "acme/m-1")],
        ),
        (f"{PATH}/nebius/v1/chat/completions", "acme/m-1", None, [("huggingface_nebius", "acme/m-1")]),
        # Their own prices, which no list has.
        ("https://api.venice.ai/api/v1/chat/completions", "gpt-5", None, []),
        # A server that nothing names: a gateway by its models' names, but never Ollama's.
        ("http://localhost:4000/v1/chat/completions", "gpt-5", None, [(None, "gpt-5")]),
        ("http://localhost:11434/v1/chat/completions", "deepseek-r1:7b", None, []),
        ("http://localhost:8000/v1/chat/completions", "openai/gpt-5", None, [(None, "openai/gpt-5")]),
    ],
)  # fmt: skip
def test_the_names_of_a_model(
    url: str, asked: str | None, answered: str | None, expected: list[tuple[str | None, str]]
) -> None:
    assert names(url, asked, answered) == expected


def test_a_router_names_the_host_in_a_header() -> None:
    assert names(ROUTER, "acme/m-1", None, (("X-Inference-Provider", "together"),)) == [
        ("huggingface_together", "acme/m-1")
    ]
    assert names(ROUTER, "acme/m-1:groq", None, (("X-Inference-Provider", "together"),)) == [
        ("huggingface_groq", "acme/m-1")
    ]


def test_a_server_on_the_users_machine_has_no_prices() -> None:
    answer = {"message": {"content": "hi"}, "done": True, "done_reason": "stop"}
    native = exchanged("http://localhost:11434/api/chat", {"model": "deepseek-chat", "messages": []}, answer)
    named = exchanged(OPENAI, {"model": "gpt-5", "messages": []}, {"object": "chat.completion", "choices": [CHOICE]})

    assert read(native).protocol == "ollama-chat"
    assert list(price_names(native, read(native))) == []
    assert list(price_names(named, replace(read(named), provider="vllm"))) == []


def test_a_protocol_with_a_price_list_has_it_behind_any_host() -> None:
    url = "http://localhost:4000/v1/messages"
    trip = exchanged(url, {"model": "claude-x", "messages": []}, {"type": "message", "content": []})

    assert list(price_names(trip, read(trip))) == [PriceName("anthropic", "claude-x")]
