"""Who answered: by host, by upstream, by headers."""

import pytest
from round_trips import exchanged

from turntape.inspector.analysis.price_list import price_list
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.providers import HEADERS, PROVIDERS, host_provider, provider, provider_of


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


@pytest.mark.parametrize(("host", "name"), [(host, row.name) for row in PROVIDERS for host in row.hosts])
def test_every_host_of_the_table_and_what_is_below_it_is_its_providers(host: str, name: str) -> None:
    assert host_provider(host) == name
    assert host_provider(f"eu.{host}") == name


@pytest.mark.parametrize(("upstream", "name"), [(one, row.name) for row in PROVIDERS for one in row.upstreams])
def test_every_upstream_of_the_table_has_its_provider(upstream: str, name: str) -> None:
    plain = exchanged("http://localhost:4000/v1/chat/completions", {}, {}, upstream=upstream)
    assert provider(plain, Exchange(plain)) == name


@pytest.mark.parametrize(("key", "name"), HEADERS)
def test_every_header_of_the_table_identifies_its_provider(key: str, name: str) -> None:
    headed = exchanged("http://localhost:4000/v1/chat/completions", {}, {}, headers=((key.title(), "1"),))
    assert provider(headed, Exchange(headed)) == name


def test_names_and_hosts_are_unique_and_every_header_names_a_row() -> None:
    names = [row.name for row in PROVIDERS]
    hosts = [host for row in PROVIDERS for host in row.hosts]
    assert len(set(names)) == len(names)
    assert len(set(hosts)) == len(hosts)
    assert {name for _, name in HEADERS} <= set(names)


TRAITS = {
    "named_deployments": {"azure", "databricks"},
    "own_models": {"openai", "anthropic", "gemini", "ollama", "groq", "deepseek", "xai", "mistral", "cohere"},
    "local": {"ollama", "lmstudio", "vllm"},
    "resells": {"portkey", "cloudflare", "vercel", "litellm"},
    "unlisted": {
        "github", "alibaba", "sambanova", "nvidia", "deepinfra", "nebius", "hyperbolic", "venice", "writer", "ai21",
        "replicate", "digitalocean", "heroku", "crusoe", "alephalpha", "watsonx", "snowflake",
    },
    "strict_tools": {"openai", "azure"},
    "parses_calls": {"openai", "anthropic", "gemini", "mistral", "cohere", "bedrock", "azure"},
}  # fmt: skip


@pytest.mark.parametrize(("trait", "names"), TRAITS.items())
def test_the_traits_of_each_provider(trait: str, names: set[str]) -> None:
    assert {row.name for row in PROVIDERS if getattr(row, trait)} == names


def test_the_price_list_has_every_provider_that_is_named() -> None:
    listed = {provider.id for provider in price_list().providers}
    routes = [row.route_prefix for row in PROVIDERS if row.route_prefix]

    assert {row.prices for row in PROVIDERS if row.prices} <= listed
    assert routes == ["huggingface_"]
    assert any(name.startswith(routes[0]) for name in listed)
    assert not any(row.unlisted for row in PROVIDERS if row.prices or row.resells or row.route_prefix)


def test_what_only_the_total_counts() -> None:
    assert {row.name for row in PROVIDERS if row.only_in_total == "thoughts"} == {"vertex", "gemini"}
    assert provider_of("acme").only_in_total == "cached"


def test_nothing_is_known_of_another_provider() -> None:
    assert provider_of("acme").prices is None
    assert provider_of(None).name == ""
    assert provider_of("vertex").prices == "google"
