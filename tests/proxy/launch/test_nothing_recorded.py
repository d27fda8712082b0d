"""The end of a recording without a round trip."""

from collections import Counter
from pathlib import Path

import pytest

from turntape.proxy.capture.unrecorded import OWN_PORT, UnrecordedTraffic
from turntape.proxy.launch.nothing_recorded import EXPORT, advice, nothing_lines, refused_line


def test_it_says_what_came_to_the_proxy_instead() -> None:
    seen = UnrecordedTraffic(tunnelled=Counter({"pypi.org": 3}), distrusted=Counter({"api.openai.com": 1}))

    shown = "\n".join(nothing_lines(seen, ["python"], Path("/ca.pem"), colour=False))

    assert "pypi.org (3)" in shown
    assert "does not trust turntape's certificate for api.openai.com" in shown
    assert "/ca.pem" in shown
    assert "--intercept HOST" in shown


def test_a_client_that_speaks_tls_to_the_proxy_itself_needs_another_url_and_no_certificate() -> None:
    shown = "\n".join(
        nothing_lines(UnrecordedTraffic(distrusted=Counter({OWN_PORT: 2})), [], Path("/ca.pem"), colour=False)
    )

    assert f"speaks TLS to {OWN_PORT}" in shown
    assert "http:// in place of https://" in shown
    assert "/ca.pem" not in shown
    assert "received nothing" not in shown


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ("/usr/bin/python3.12", "trust_env"),
        ("node", "process.env"),
        ("go", "ProxyFromEnvironment"),
        ("java", "JAVA_TOOL_OPTIONS"),
        ("docker", "turntape record"),
        ("./agent", "--intercept"),
    ],
)
def test_the_advice_fits_the_commands_runtime(program: str, word: str) -> None:
    assert word in advice([program])
    assert word in "\n".join(nothing_lines(UnrecordedTraffic(), [program], Path("/ca.pem"), colour=False))


def test_without_a_command_the_advice_is_to_export_the_variables() -> None:
    assert advice([]) == EXPORT
    assert EXPORT in "\n".join(nothing_lines(UnrecordedTraffic(), [], Path("/ca.pem"), colour=False))


def test_what_went_past_the_proxy_is_named_with_the_advice() -> None:
    seen = UnrecordedTraffic(bypassed=Counter({"192.0.2.7:443 (agent)": 1}))

    shown = "\n".join(nothing_lines(seen, ["node"], Path("/ca.pem"), colour=False))

    assert "the command bypassed the proxy and connected to 192.0.2.7:443 (agent)" in shown
    assert "process.env" in shown
    assert "the proxy received nothing" not in shown


@pytest.mark.parametrize(("tools", "text"), [(False, "received nothing\n"), (True, "received nothing else\n")])
def test_messages_of_tool_servers_are_something(tools: bool, text: str) -> None:
    assert text in "\n".join(nothing_lines(UnrecordedTraffic(), [], Path("/ca.pem"), colour=False, tools=tools))


def test_six_hosts_are_named_and_the_rest_is_counted() -> None:
    seen = UnrecordedTraffic(tunnelled=Counter({f"h{n}": 9 - n for n in range(8)}))

    shown = " ".join(" ".join(nothing_lines(seen, [], Path("/ca.pem"), colour=False)).split())

    assert "h0 (9), h1 (8), h2 (7), h3 (6), h4 (5), h5 (4) and 2 more" in shown


def test_what_was_turned_away_is_named() -> None:
    seen = UnrecordedTraffic(refused=Counter({"host 'evil.example'": 2, "no token": 1}))

    shown = " ".join("\n".join(nothing_lines(seen, [], Path("/ca.pem"), colour=False)).split())

    assert "turned away: host 'evil.example' (2), no token" in shown
    assert "the proxy URL with its token" in shown
    assert "the proxy received nothing" not in shown
    assert refused_line(seen.refused).strip() == "3 requests turned away: host 'evil.example' (2), no token"
