"""Who may use a port of ours."""

import base64

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.routes import admission
from turntape.cassettes.routes.admission import (
    Admission,
    base_urls,
    basic_login,
    checked_token,
    host_of,
    is_local,
    new_token,
    open_to_others,
    token_prefix,
)

TOKEN = "turntape-0123456789abcdef"


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8484", "localhost:8484", "LOCALHOST", "agent.localhost:1", "[::1]:8484", "127.1:8484", "2130706433",
     "192.0.2.7:8484", "[2001:db8::7]:1", "host.docker.internal:8484"],
)  # fmt: skip
def test_a_request_to_a_name_or_an_address_of_this_machine_comes_in(host: str) -> None:
    assert Admission().refuses(host, None, None, has_token=False) is None


@pytest.mark.parametrize(
    "host", ["evil.example:8484", "127.0.0.1.evil.example", "localhost.evil.example:8484", "", "a"]
)
def test_a_name_that_leads_here_does_not_come_in(host: str) -> None:
    refused = Admission().refuses(host, f"http://{host}", "same-origin", has_token=False)

    assert refused is not None and refused.reason == "host"
    assert repr(host) in refused.message


@pytest.mark.parametrize(
    ("origin", "site", "comes_in"),
    [
        (None, None, True),
        (None, "none", True),
        (None, "same-origin", True),
        (None, "cross-site", False),
        (None, "same-site", False),
        ("http://localhost:5173", "cross-site", True),
        ("http://127.0.0.1:8484", "same-origin", True),
        ("http://[::1]:8484", "same-origin", True),
        ("http://[::1].evil.example", None, False),
        ("http://127.0.0.1%2eevil.example", None, False),
        ("http://evil@localhost", None, False),
        ("https://[::1]:3000", "cross-site", True),
        ("vscode-webview://abc", "cross-site", True),
        ("app://obsidian.md", None, True),
        ("https://evil.example", "cross-site", False),
        ("https://localhost.evil.example", "cross-site", False),
        ("http://192.0.2.7:3000", "cross-site", False),
        ("chrome-extension://abcdef", "cross-site", False),
        ("null", "cross-site", False),
        ("", None, False),
        ("http://[::1", "cross-site", False),
    ],
)
def test_only_pages_of_this_machine_come_in(origin: str | None, site: str | None, comes_in: bool) -> None:
    refused = Admission().refuses("127.0.0.1:8484", origin, site, has_token=False)

    assert (refused is None) is comes_in
    assert refused is None or refused.reason == "origin"


def test_a_page_of_another_place_does_not_come_in_with_the_token_either() -> None:
    refused = Admission(TOKEN).refuses("127.0.0.1", "https://evil.example", None, has_token=True)

    assert refused is not None and refused.reason == "origin"


def test_with_a_token_each_request_needs_it_and_any_host_is_good() -> None:
    door = Admission(TOKEN)

    assert door.refuses("recorder:8484", None, None, has_token=True) is None
    refused = door.refuses("127.0.0.1:8484", None, None, has_token=False, path="/openai/v1/models")
    assert refused is not None and refused.reason == "token"


@pytest.mark.parametrize(("path", "open_to_all"), [("/-/live", True), ("/-/ready?a", True), ("/-/metrics", False)])
def test_a_supervisor_needs_no_token(path: str, open_to_all: bool) -> None:
    refused = Admission(TOKEN).refuses("turntape.svc:8484", None, None, has_token=False, path=path)

    assert (refused is None) is open_to_all


@pytest.mark.parametrize(
    ("target", "found"),
    [
        (f"/t/{TOKEN}/openai/v1?x=/t/", ("/openai/v1?x=/t/", True)),
        (f"/t/{TOKEN}", ("/", True)),
        (f"/t/{TOKEN}x/openai", (f"/t/{TOKEN}x/openai", False)),
        ("/t//openai", ("/t//openai", False)),
        ("/t/é/openai", ("/t/é/openai", False)),
        ("/openai", ("/openai", False)),
    ],
)
def test_the_token_is_taken_out_of_a_path(target: str, found: tuple[str, bool]) -> None:
    assert Admission(TOKEN).path(target) == found


def test_without_a_token_a_path_stays() -> None:
    assert Admission().path("/t//x") == ("/t//x", False)
    assert not Admission().matches("")


@pytest.mark.parametrize(
    ("value", "right"),
    [
        (basic("turntape", TOKEN), True),
        (basic("my-run", TOKEN), True),
        (f"Bearer {TOKEN}", True),
        (basic(TOKEN, "x"), False),
        (basic("turntape", TOKEN[:-1]), False),
        ("Basic %%%", False),
        ("Digest a", False),
        ("", False),
        (None, False),
    ],
)
def test_the_password_of_a_proxy_url_is_the_token(value: str | None, right: bool) -> None:
    assert Admission(TOKEN).has_password(value) is right


def test_a_login_is_read_with_its_escapes() -> None:
    assert basic_login(basic("my%20run", "a:b")) == ("my run", "a:b")


@pytest.mark.parametrize(
    ("authority", "host"), [("A.b:80", "a.b"), ("[::1]:80", "::1"), ("[::1]", "::1"), ("Localhost.", "localhost")]
)
def test_the_host_of_an_authority(authority: str, host: str) -> None:
    assert host_of(authority) == host


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("10.0.0.1", False)],
)
def test_a_port_beyond_loopback_is_known(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_a_new_token_is_another_each_time_and_redaction_knows_its_shape() -> None:
    one, other = new_token(), new_token()

    assert one != other and checked_token(one, "test") == one
    assert one.encode() not in Redactor().body(b"HTTPS_PROXY=http://turntape:" + one.encode() + b"@127.0.0.1:1")
    assert one not in Redactor().url(f"http://127.0.0.1:1/t/{one}/openai/v1")


@pytest.mark.parametrize("text", ["", "short", "a" * 15, "with space in it, long", "a" * 201, "slash/" * 5])
def test_a_token_that_cannot_be_used_is_an_error(text: str) -> None:
    with pytest.raises(TurntapeError, match="16 to 200"):
        checked_token(text, "'F'")


def test_a_token_may_end_with_a_newline() -> None:
    assert checked_token(f"{TOKEN}\n", "'F'") == TOKEN


def test_the_urls_of_a_port_are_ones_that_a_client_can_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "machine_addresses", lambda: ("192.0.2.7", "2001:db8::7"))

    assert base_urls("127.0.0.1", 1) == ["http://127.0.0.1:1"]
    assert base_urls("::1", 1, "tok") == ["http://[::1]:1/t/tok"]
    assert base_urls("0.0.0.0", 1) == ["http://192.0.2.7:1", "http://127.0.0.1:1"]
    assert base_urls("::", 1) == ["http://192.0.2.7:1", "http://[2001:db8::7]:1", "http://127.0.0.1:1"]


def test_a_port_that_is_open_to_others_says_what_it_opens() -> None:
    said = open_to_others(8484, "the tapes can be read by")

    assert "port 8484 is open to other machines: the tapes can be read by everybody who has the token" in said


def test_a_client_whose_requests_are_led_to_a_replay_server_keeps_the_host_of_its_api() -> None:
    door = Admission(apis=True)

    assert door.refuses("api.openai.com", None, None, has_token=False) is None
    assert door.refuses("x.openai.azure.com:443", None, None, has_token=False) is None
    assert door.refuses("evil.example", None, None, has_token=False) is not None
    assert Admission().refuses("api.openai.com", None, None, has_token=False) is not None


@pytest.mark.parametrize(
    ("path", "prefix"),
    [(f"/t/{TOKEN}", f"/t/{TOKEN}"), (f"/t/{TOKEN}/v1", f"/t/{TOKEN}"), ("/t/short/v1", ""), ("/v1", ""), ("", "")],
)
def test_the_token_in_a_base_url_is_known(path: str, prefix: str) -> None:
    assert token_prefix(path) == prefix
