"""Which upstream proxy is used, and for which hosts."""

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.capture.upstream_proxy import (
    UpstreamProxy,
    chosen,
    from_environment,
    is_ours,
    parse,
    shown,
)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("proxy:3128", UpstreamProxy("http", "proxy", 3128)),
        ("http://proxy", UpstreamProxy("http", "proxy", 80)),
        ("https://proxy/", UpstreamProxy("https", "proxy", 443)),
        ("http://[::1]:3128", UpstreamProxy("http", "::1", 3128)),
        ("http://jo:p%40ss@proxy:1", UpstreamProxy("http", "proxy", 1, "Basic am86cEBzcw==")),
        ("jo@proxy:1", UpstreamProxy("http", "proxy", 1, "Basic am86")),
    ],
)
def test_a_proxy_is_read_from_its_url(url: str, expected: UpstreamProxy) -> None:
    assert parse(url) == expected


@pytest.mark.parametrize(
    "url", ["socks5://proxy:1080", "http://", "http://proxy:port", "http://jo:secret@", "http://jo:secret@[::1"]
)
def test_what_is_not_an_http_proxy_is_refused_without_showing_the_login(url: str) -> None:
    with pytest.raises(TurntapeError, match="--upstream-proxy none") as raised:
        parse(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("entry", "host", "port", "straight"),
    [
        ("*", "api.openai.com", 443, True),
        ("openai.com", "api.openai.com", 443, True),
        (".openai.com", "API.OpenAI.com", 443, True),
        ("*.openai.com", "api.openai.com", 443, True),
        ("api.openai.com", "api.openai.com", 443, True),
        ("penai.com", "api.openai.com", 443, False),
        ("api.openai.com:443", "api.openai.com", 443, True),
        ("api.openai.com:8443", "api.openai.com", 443, False),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("10.0.0.0/8", "llm.corp", 80, False),
        ("2001:db8::/32", "2001:db8::7", 80, True),
        (".", "api.openai.com", 443, False),
        ("", "127.0.0.1", 443, True),
        ("", "localhost", 443, True),
        ("", "::1", 443, True),
    ],
)
def test_no_proxy_works_as_in_clients(entry: str, host: str, port: int, straight: bool) -> None:
    assert parse("proxy:1", (entry,)).is_used_for(host, port) is not straight


def test_the_proxy_of_the_environment_is_used_unless_another_is_named() -> None:
    environ = {"HTTPS_PROXY": "http://corp:3128", "NO_PROXY": "a.corp, b.corp", "no_proxy": "c.corp"}

    assert chosen(None, environ, 1) == UpstreamProxy("http", "corp", 3128, None, ("a.corp", "b.corp", "c.corp"))
    assert chosen("other:1", environ, 1) == UpstreamProxy("http", "other", 1, None, ("a.corp", "b.corp", "c.corp"))
    assert chosen("none", environ, 1) is None
    assert chosen(None, {"HTTPS_PROXY": "http://127.0.0.1:8484"}, 8484) is None


def test_a_login_is_not_shown() -> None:
    assert shown("http://jo:secret@proxy:1") == "http://…@proxy:1"
    assert shown("http://proxy:1") == "http://proxy:1"


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_the_users_own_proxy_is_found(name: str) -> None:
    assert from_environment({name: "http://corp:3128"}, 8484) == "http://corp:3128"
    assert from_environment({name: "http://127.0.0.1:8484"}, 8484) is None
    assert from_environment({}, 8484) is None


def test_the_next_variable_counts_where_the_first_one_names_turntape() -> None:
    environ = {"HTTPS_PROXY": "http://127.0.0.1:8484", "http_proxy": "http://corp:3128"}

    assert from_environment(environ, 8484) == "http://corp:3128"


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("http://127.0.0.1:8484", True),
        ("localhost:8484/openai", True),
        ("http://127.0.0.1:8485", False),
        ("http://corp:8484", False),
    ],
)
def test_our_own_address_is_known(url: str, ours: bool) -> None:
    assert is_ours(url, 8484) is ours


@pytest.mark.parametrize("url", ["http://corp.example:99999", "corp.example:abc"])
def test_a_port_that_cannot_be_is_named(url: str) -> None:
    with pytest.raises(TurntapeError, match="port that is not a number from 0 to 65535: write it as http://HOST:PORT"):
        parse(url)
