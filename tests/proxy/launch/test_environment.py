"""The variables that bring a child's traffic to the proxy."""

from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.capture.upstream_proxy import from_environment
from turntape.proxy.launch.environment import BASE_URLS, environment, no_proxy


def test_the_usual_apis_get_a_base_url_and_nothing_else_changes_place() -> None:
    variables = environment({}, port=8484, route="base_url").variables

    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:8484/openai/v1"
    assert variables["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8484/anthropic"
    assert "HTTPS_PROXY" not in variables
    assert set(variables) == {row.variable for row in BASE_URLS if row.always}


def test_aws_signs_the_host_so_its_base_url_is_left_alone() -> None:
    assert "AWS_ENDPOINT_URL_BEDROCK_RUNTIME" not in environment({}, port=1).variables


def test_an_overridden_upstream_gets_all_its_variables() -> None:
    upstreams = {"bedrock": "http://127.0.0.1:9"}

    variables = environment({}, port=1, upstreams=upstreams).variables

    assert variables["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] == "http://127.0.0.1:1/bedrock"


def test_what_changes_a_client_is_set_only_when_the_user_has_set_it() -> None:
    """With the variable of a provider, Copilot CLI no longer asks GitHub."""
    name = "COPILOT_PROVIDER_BASE_URL"

    assert name not in environment({}, port=1, upstreams={"*": "http://127.0.0.1:9"}).variables
    assert "OPENAI_BASE_URL" in environment({name: "http://a.example/v1"}, port=1).variables
    assert environment({}, port=1, upstreams={"copilot-provider": "http://127.0.0.1:9"}).variables[name]


@pytest.mark.parametrize(
    ("variable", "value", "upstream", "seen"),
    [
        ("OPENAI_BASE_URL", "http://localhost:8000/v1", "http://localhost:8000", "/my-openai/v1"),
        ("OPENAI_BASE_URL", "https://gw.corp.example/llm/", "https://gw.corp.example", "/my-openai/llm"),
        ("ANTHROPIC_BASE_URL", "https://u:p@gw.corp.example", "https://u:p@gw.corp.example", "/my-anthropic"),
        ("OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434", "/my-ollama"),
        ("OLLAMA_HOST", "gpu:9999", "http://gpu:9999", "/my-ollama"),
        ("COPILOT_PROVIDER_BASE_URL", "http://a.example/v1", "http://a.example", "/my-copilot-provider/v1"),
        ("AZURE_OPENAI_ENDPOINT", "https://x.azure.example/", "https://x.azure.example", "/my-azure"),
    ],
)
def test_a_base_url_of_the_user_becomes_a_separate_upstream(
    variable: str, value: str, upstream: str, seen: str
) -> None:
    """A separate upstream: other clients may still call the API's real host, and must not be sent elsewhere."""
    made = environment({variable: value}, port=8484)

    assert list(made.upstreams.values()) == [upstream]
    assert made.variables[variable] == f"http://127.0.0.1:8484{seen}"


def test_two_variables_of_one_api_keep_their_two_places() -> None:
    environ = {"OPENAI_BASE_URL": "http://a.example/v1", "OPENAI_API_BASE": "http://b.example/v1"}

    made = environment(environ, port=1)

    assert made.upstreams == {"my-openai": "http://a.example", "my-openai-2": "http://b.example"}
    assert made.variables["OPENAI_API_BASE"] == "http://127.0.0.1:1/my-openai-2/v1"


def test_beside_the_users_base_url_no_other_variable_of_that_api_is_set() -> None:
    """LangChain prefers OPENAI_API_BASE: setting it would take the traffic away from the user's server."""
    assert "OPENAI_API_BASE" not in environment({"OPENAI_BASE_URL": "http://a.example/v1"}, port=1).variables


def test_the_command_line_goes_before_the_users_environment() -> None:
    environ = {"OPENAI_BASE_URL": "http://a.example/v1"}

    made = environment(environ, port=1, upstreams={"openai": "http://127.0.0.1:9"})

    assert made.upstreams == {}
    assert made.variables["OPENAI_BASE_URL"] == "http://127.0.0.1:1/openai/v1"


def test_what_is_sent_elsewhere_as_a_whole_keeps_the_path_of_the_users_base_url() -> None:
    """A recording of a gateway under a prefix gets the same paths when it is replayed."""
    environ = {"OPENAI_BASE_URL": "http://a.example/llm/v1"}

    made = environment(environ, port=1, upstreams={"*": "http://127.0.0.1:9"})

    assert made.upstreams == {"my-openai": "http://127.0.0.1:9"}
    assert made.variables["OPENAI_BASE_URL"] == "http://127.0.0.1:1/my-openai/llm/v1"


@pytest.mark.parametrize(
    ("entries", "kept"),
    [
        ("localhost,127.0.0.1,::1", ""),
        ("*", ""),
        ("127.0.0.0/8,10.0.0.0/8", "10.0.0.0/8"),
        ("localhost:11434 .corp.example", ".corp.example"),
        (".amazonaws.com,*.openai.com,openai.com:443", ".amazonaws.com"),
    ],
)
def test_no_proxy_keeps_what_exempts_neither_loopback_nor_an_llm(entries: str, kept: str) -> None:
    made = no_proxy({"NO_PROXY": entries}, "127.0.0.1:8484", ["api.openai.com"])

    assert made == ",".join(filter(None, ["127.0.0.1:8484", kept]))


def test_variables_that_replace_the_trust_store_get_the_whole_bundle() -> None:
    bundle, authority = Path("/b.pem"), Path("/a.pem")

    variables = environment({}, port=1, bundle=bundle, authority=authority).variables
    with_own = environment({"NODE_EXTRA_CA_CERTS": "/c.pem"}, port=1, bundle=bundle, authority=authority)

    assert variables["SSL_CERT_FILE"] == variables["REQUESTS_CA_BUNDLE"] == "/b.pem"
    assert variables["NODE_EXTRA_CA_CERTS"] == "/a.pem"
    assert with_own.variables["NODE_EXTRA_CA_CERTS"] == "/b.pem"


def test_the_preload_is_added_to_the_users_node_options() -> None:
    environ = {"NODE_OPTIONS": "--max-old-space-size=4096"}

    variables = environment(environ, port=1, preload=Path("/a b/p.cjs")).variables

    assert variables["NODE_OPTIONS"] == '--max-old-space-size=4096 --require "/a b/p.cjs"'


def test_what_an_earlier_export_of_ours_named_is_not_sent_on_to() -> None:
    """A second `turntape record` in a shell that still has the lines of the first must not call itself."""
    first = environment({}, port=8484).variables

    second = environment(first, port=8484)

    assert second.upstreams == {}
    assert second.variables == first
    assert from_environment(first, 8484) is None


def test_a_token_is_in_both_routes() -> None:
    variables = environment({}, port=8484, token="the-token").variables

    assert variables["OPENAI_BASE_URL"] == "http://127.0.0.1:8484/t/the-token/openai/v1"
    assert variables["HTTPS_PROXY"] == "http://turntape:the-token@127.0.0.1:8484"
    assert variables["NO_PROXY"] == "127.0.0.1:8484"


def test_our_own_address_with_a_token_is_known_again() -> None:
    """A child that starts turntape again on this port must not chain it to itself."""
    earlier = environment({}, port=8484, token="the-token").variables

    assert environment(earlier, port=8484).upstreams == {}
    assert from_environment(earlier, 8484) is None


def test_beyond_loopback_the_variables_have_an_address_that_others_reach() -> None:
    variables = environment({}, port=8484, host="192.0.2.7", token="the-token").variables

    assert variables["OPENAI_BASE_URL"] == "http://192.0.2.7:8484/t/the-token/openai/v1"
    assert variables["HTTPS_PROXY"] == "http://turntape:the-token@192.0.2.7:8484"
    assert variables["NO_PROXY"] == "192.0.2.7:8484"


@pytest.mark.parametrize("url", ["http://u:secret@127.0.0.1:port/v1", "http://u:secret@[::1/v1", "localhost:99999"])
def test_a_base_url_that_is_not_a_url_is_named_without_its_login(url: str) -> None:
    with pytest.raises(TurntapeError, match="^OPENAI_BASE_URL is .* is not a URL; write it as") as raised:
        environment({"OPENAI_BASE_URL": url}, port=1)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://[::1", "http://[::1:port"])
def test_a_proxy_variable_that_breaks_the_rules_of_urls_is_not_ours(url: str) -> None:
    assert from_environment({"HTTPS_PROXY": url}, 8484) == url
