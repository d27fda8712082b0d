"""The servers in a TOML file, and where their commands are."""

import pytest

from turntape.proxy.tool_wire.client_configs.nodes import NotParsed
from turntape.proxy.tool_wire.client_configs.toml_text import entries

MANY = '''
model = "gpt-5" # [mcp_servers.not]
when = 1979-05-27 07:32:00
numbers = [1, [2, 3.5], { a = true }]
[[list]]
command = "not"
[mcp_servers.plain]
command = "npx" # comment
args = [
  "-y", # one
  'x',
]
[mcp_servers.plain.env]
command = "not"
[mcp_servers."quo.ted"]
"command" = \'C:\\x\'
[other]
text = """
[mcp_servers.not]
command = "not"
"""
[mcp_servers]
inline = { command = "y", args = [], env = { command = "not" } }
remote = { url = "https://x.example" }
dotted.command = """z"""
'''


def test_all_ways_to_write_a_server_are_found() -> None:
    assert [(entry.name, entry.all_words) for entry in entries(MANY)] == [
        ("plain", ["npx", "-y", "x"]),
        ("quo.ted", ["C:\\x"]),
        ("inline", ["y"]),
        ("dotted", ["z"]),
    ]


def test_a_command_has_its_place() -> None:
    found = {entry.name: MANY[entry.command.start : entry.command.end] for entry in entries(MANY)}

    assert found == {"plain": '"npx"', "quo.ted": "'C:\\x'", "inline": '"y"', "dotted": '"""z"""'}


@pytest.mark.parametrize("text", ["a = ", "[a", 'mcp_servers.x.command = "y', "x = {"])
def test_a_broken_text_is_refused(text: str) -> None:
    with pytest.raises(NotParsed, match="line 1|at end of document"):
        entries(text)


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers.a]\ncommand = "x"\nargs = "y"',
        'command = "x"',
        "[mcp_servers.a]\ncommand = 1",
        '[mcp_servers.a.b]\ncommand = "x"',
    ],
)
def test_other_entries_are_left_alone(text: str) -> None:
    assert entries(text) == []
