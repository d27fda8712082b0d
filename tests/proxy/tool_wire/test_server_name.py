"""The name of a server, from the commands that people write into configurations."""

import pytest

from turntape.proxy.tool_wire.server_name import server_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("npx -y @modelcontextprotocol/server-everything", "everything"),
        ("npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp", "filesystem"),
        ("uvx mcp-server-git --repository .", "git"),
        ("uvx some-mcp==1.2", "some"),
        ("uv run --quiet weather.py", "weather"),
        ("/usr/bin/python3.12 -m mcp_server_time", "mcp_server_time"),
        ("python /home/me/servers/rich.py --debug", "rich"),
        ("node dist/index.js", "index"),
        ("docker run -i --rm -e KEY=x mcp/github:latest", "github"),
        (r"C:\tools\search-server.exe --x", "search"),
        ("./github-mcp-server stdio", "github"),
        ("env A=1 B=2 my-server", "my"),
        ("server", "server"),
        ("npx", "npx"),
        ("python -c", "python"),
    ],
)
def test_the_name_is_what_a_user_calls_the_server(command: str, name: str) -> None:
    assert server_name(command.split(" ")) == name


def test_no_command_still_has_a_name() -> None:
    assert server_name([]) == "server"
