"""The route table: every form of a base URL leads to the one endpoint that the client meant."""

import pytest

from turntape.cassettes.routes.upstreams import BY_NAME, UPSTREAMS, by_host, joined, locate, resolve


def sent_to(target: str, **overrides: str) -> str:
    location = locate(target, overrides)
    assert location is not None
    return location.url + location.path


@pytest.mark.parametrize(
    ("target", "url"),
    [
        ("/openai/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("/openai/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("/openai/v1/v1/chat/completions", "https://api.openai.com/v1/chat/completions"),
        ("/OpenAI/v1/models?limit=2", "https://api.openai.com/v1/models?limit=2"),
        ("/anthropic/v1/messages", "https://api.anthropic.com/v1/messages"),
        ("/anthropic/messages?beta=true", "https://api.anthropic.com/v1/messages?beta=true"),
        ("/anthropic/api/hello", "https://api.anthropic.com/api/hello"),
        ("/gemini/v1beta/models/m:generateContent", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"),
        ("/gemini/models/m:generateContent", "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"),
        ("/gemini/v1alpha/models", "https://generativelanguage.googleapis.com/v1alpha/models"),
        ("/ollama/api/chat", "http://127.0.0.1:11434/api/chat"),
        ("/groq/openai/v1/chat/completions", "https://api.groq.com/openai/v1/chat/completions"),
        ("/groq/chat/completions", "https://api.groq.com/openai/v1/chat/completions"),
        ("/openrouter/chat/completions", "https://openrouter.ai/api/v1/chat/completions"),
        ("/cohere/v2/chat", "https://api.cohere.com/v2/chat"),
        ("/openai", "https://api.openai.com/v1/"),
        ("/openai?x=1", "https://api.openai.com/v1?x=1"),
    ],
)  # fmt: skip
def test_a_base_url_with_and_without_its_version_is_understood(target: str, url: str) -> None:
    assert sent_to(target) == url


def test_a_run_is_named_by_the_path() -> None:
    location = locate("/s/night%20shift/openai/v1/models")

    assert location is not None
    assert (location.run, location.upstream.name, location.path) == ("night shift", "openai", "/v1/models")


@pytest.mark.parametrize("target", ["/", "/nobody/v1/x", "/v1/chat/completions", "/s/run", "", "/azure/openai/x", "//"])
def test_a_path_that_names_no_upstream_leads_nowhere(target: str) -> None:
    """Azure is known and has no fixed address."""
    assert locate(target) is None


@pytest.mark.parametrize(
    "base",
    ["http://localhost:8000", "http://localhost:8000/", "http://localhost:8000/v1", "http://localhost:8000/v1/"],
)
def test_an_override_with_and_without_the_version_is_the_same(base: str) -> None:
    assert sent_to("/openai/v1/chat/completions", openai=base) == "http://localhost:8000/v1/chat/completions"
    assert sent_to("/openai/chat/completions", openai=base) == "http://localhost:8000/v1/chat/completions"


def test_an_override_keeps_its_own_path() -> None:
    url = sent_to("/openai/v1/chat/completions", openai="https://gateway.example/team/openai/v1")

    assert url == "https://gateway.example/team/openai/v1/chat/completions"


def test_a_star_means_all_but_those_that_are_named() -> None:
    overrides = {"*": "http://127.0.0.1:9", "openai": "http://127.0.0.1:7"}

    assert resolve("openai", overrides) == "http://127.0.0.1:7"
    assert resolve("anthropic", overrides) == "http://127.0.0.1:9"
    assert resolve("azure", overrides) == "http://127.0.0.1:9"
    assert resolve("azure", {}) is None


def test_a_name_of_the_users_own_is_an_upstream_once_it_is_given() -> None:
    assert locate("/mine/v1/chat/completions") is None
    assert sent_to("/mine/v1/chat/completions", mine="http://10.0.0.1/v1") == "http://10.0.0.1/v1/chat/completions"
    # A star gives no new names.
    assert locate("/mine/v1/x", {"*": "http://127.0.0.1:9"}) is None


def test_joined_puts_the_version_once() -> None:
    gemini = BY_NAME["gemini"]

    assert joined("https://p.example/g/v1beta", gemini, "/v1beta/models") == (
        "https://p.example",
        "/g/v1beta/models",
    )
    assert joined("https://p.example/g", gemini, "/v1beta/models") == ("https://p.example", "/g/v1beta/models")


def beginnings(version: str) -> list[str]:
    """`/a`, `/a/b` and `/a/b/c` of `/a/b/c`."""
    segments = version.strip("/").split("/")
    return ["/" + "/".join(segments[: n + 1]) for n in range(len(segments))]


WITH_BASE_PATH = [
    (upstream.name, upstream.version, begun)
    for upstream in UPSTREAMS
    if upstream.version.count("/") > 1
    for begun in beginnings(upstream.version)
]


def test_several_upstreams_have_a_base_path() -> None:
    assert {"groq", "openrouter", "fireworks", "zai", "deepinfra"} <= {name for name, *_ in WITH_BASE_PATH}


@pytest.mark.parametrize(("name", "version", "begun"), WITH_BASE_PATH)
@pytest.mark.parametrize("ahead", ["", "/team"])
def test_an_override_that_has_a_part_of_the_base_path_does_not_repeat_it(
    name: str, version: str, begun: str, ahead: str
) -> None:
    base = f"https://host.example{ahead}{begun}"
    wanted = f"https://host.example{ahead}{version}/chat/completions"

    assert sent_to(f"/{name}/chat/completions", **{name: base}) == wanted
    assert sent_to(f"/{name}{version}/chat/completions", **{name: base + "/"}) == wanted
    assert "".join(joined(base, BY_NAME[name], f"{version}/chat/completions?a=/x")) == wanted + "?a=/x"


@pytest.mark.parametrize(
    ("name", "base", "path", "wanted"),
    [
        ("groq", "http://localhost:8000/v1", "/openai/v1/models", "/v1/models"),
        ("groq", "http://localhost:8000", "/openai/v1/models", "/openai/v1/models"),
        ("zai", "https://api.z.ai/api/coding/paas/v4", "/api/paas/v4/models", "/api/coding/paas/v4/models"),
        ("cohere", "https://host.example/v2", "/v2/chat", "/v2/chat"),
        ("cohere", "https://host.example/v1", "/v2/chat", "/v1/v2/chat"),
        ("vertex", "https://host.example/v1/projects/p", "/v1/projects/p/x", "/v1/projects/p/x"),
        ("openai", "https://host.example/v1", "/v1/", "/v1/"),
        ("openai", "https://host.example/v1", "/v1?limit=1", "/v1?limit=1"),
        ("openai", "https://host.example/v1", "/v10/models", "/v1/v10/models"),
        ("anthropic", "https://host.example/team/v1", "/api/hello", "/team/v1/api/hello"),
    ],
)
def test_a_base_and_a_path_share_what_both_have(name: str, base: str, path: str, wanted: str) -> None:
    assert joined(base, BY_NAME[name], path)[1] == wanted


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "openai"),
        ("API.OpenAI.com.", "openai"),
        ("eu.api.openai.com", "openai"),
        ("bedrock-runtime.eu-west-1.amazonaws.com", "bedrock"),
        ("bedrock-runtime-fips.us-east-1.amazonaws.com", "bedrock"),
        ("europe-west1-aiplatform.googleapis.com", "vertex"),
        ("my-team.openai.azure.com", "azure"),
        ("api.individual.githubcopilot.com", "copilot"),
        ("openai.com", None),
        ("api.openai.com.evil.example", None),
        ("s3.amazonaws.com", None),
        ("", None),
    ],
)
def test_a_host_belongs_to_one_upstream_or_none(host: str, name: str | None) -> None:
    found = by_host(host)

    assert (found.name if found else None) == name


def test_every_upstream_is_found_by_its_own_address_and_its_name_is_its_own() -> None:
    assert len(BY_NAME) == len(UPSTREAMS)
    for upstream in UPSTREAMS:
        if upstream.url and not upstream.url.startswith("http://127."):
            assert by_host(upstream.url.removeprefix("https://")) is upstream
        if upstream.url:
            assert sent_to(f"/{upstream.name}/x").startswith(upstream.url)
        # A version that the client writes itself is not added again.
        first = upstream.version.strip("/").split("/")[0]
        assert not first or first in upstream.versions


def test_a_name_alone_is_the_whole_path_of_an_override() -> None:
    assert sent_to("/files", files="http://127.0.0.1:9/mcp") == "http://127.0.0.1:9/mcp"
    assert sent_to("/files/", files="http://127.0.0.1:9/mcp") == "http://127.0.0.1:9/mcp/"
    assert sent_to("/files", files="http://127.0.0.1:9") == "http://127.0.0.1:9/"
