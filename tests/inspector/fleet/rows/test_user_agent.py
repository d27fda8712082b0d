"""The program and its version, from user agents of real shapes."""

import pytest

from turntape.inspector.fleet.rows.user_agent import client_of


@pytest.mark.parametrize(
    ("header", "client"),
    [
        ("claude-cli/2.0.1 (external, cli)", ("claude-cli", "2.0.1")),
        ("OpenAI/Python 3.54.0", ("OpenAI/Python", "3.54.0")),
        ("GeminiCLI/0.9.0/gemini-3-pro (linux; x64)", ("GeminiCLI", "0.9.0")),
        ("codex_cli_rs/0.50.0 (Debian 12; x86_64) tmux", ("codex_cli_rs", "0.50.0")),
        ("python-httpx/0.28.1", ("python-httpx", "0.28.1")),
        ("Boto3/1.40.1 md/Botocore#1.40.1", ("Boto3", "1.40.1")),
        ("my-agent", ("my-agent", None)),
        ("Say the secret of the house", (None, None)),
        ("", (None, None)),
        (None, (None, None)),
    ],
)
def test_names_and_versions(header: str | None, client: tuple[str | None, str | None]) -> None:
    assert client_of(header) == client
