"""The shell lines of `turntape record`."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from turntape.proxy.launch.export_lines import exports, what_to_export

VARIABLES = {
    "OPENAI_BASE_URL": "http://127.0.0.1:8484/openai/v1",
    "HTTPS_PROXY": "http://127.0.0.1:8484",
    "SSL_CERT_FILE": "/ca.pem",
    "TURNTAPE_MCP_LINK": "127.0.0.1:9",
}


def recording(host: str = "127.0.0.1", **variables: str) -> Any:
    """What the lines are made from, of a proxy that runs."""
    settings = SimpleNamespace(path=Path("run.cassette.jsonl"), host=host, token="t")
    return SimpleNamespace(settings=settings, port=8484, environment=SimpleNamespace(variables=variables))


def test_one_line_per_value_and_the_other_names_refer_to_it() -> None:
    variables = {"A": "http://x y", "B": "1", "C": "http://x y"}

    assert exports(variables, variables) == ["  export A='http://x y'", "  export C=$A", "  export B=1"]


def test_long_lists_of_names_are_wrapped() -> None:
    variables = {f"VARIABLE_{number}": "x" for number in range(12)}

    lines = exports(variables, variables)

    assert max(map(len, lines)) <= 79
    assert lines[0] == "  export VARIABLE_0=x"
    assert " ".join(lines).count("=$VARIABLE_0") == 11


def test_each_kind_of_variable_has_its_heading() -> None:
    assert what_to_export(recording(**VARIABLES), colour=False) == [
        "turntape records to run.cassette.jsonl, port 8484. Ctrl-C ends it.",
        "",
        "Base URL of the API that the client calls",
        "  export OPENAI_BASE_URL=http://127.0.0.1:8484/openai/v1",
        "",
        "or forward proxy for clients with a fixed host",
        "  export HTTPS_PROXY=http://127.0.0.1:8484",
        "",
        "with its certificate",
        "  export SSL_CERT_FILE=/ca.pem",
        "",
        "for its tool servers that start with `turntape mcp`",
        "  export TURNTAPE_MCP_LINK=127.0.0.1:9",
        "",
    ]


def test_a_heading_without_variables_is_left_out() -> None:
    lines = what_to_export(recording(SSL_CERT_FILE="/ca.pem"), colour=True)

    assert lines == [
        "\x1b[1mturntape\x1b[0m records to run.cassette.jsonl, port 8484. Ctrl-C ends it.",
        "",
        "\x1b[1mwith its certificate\x1b[0m",
        "  export SSL_CERT_FILE=/ca.pem",
        "",
    ]


def test_a_proxy_that_others_reach_says_so_and_that_they_need_the_certificate() -> None:
    lines = what_to_export(recording("0.0.0.0", SSL_CERT_FILE="/ca.pem"), colour=False)

    assert "with its certificate of which another machine needs a copy" in lines
    assert "every host that this machine reaches" in " ".join(lines)
