"""JSON with comments, and where each value is."""

import json

import pytest

from turntape.proxy.tool_wire.client_configs.json_text import entries, loads, parse
from turntape.proxy.tool_wire.client_configs.nodes import NotParsed

COMMENTED = """\ufeff{
  // the servers
  "servers": { /* two */
    "a": { "command": "npx", "args": ["-y", "x",], },
    "b": { "url": "https://b.example" },
  },
}
"""


def test_comments_and_trailing_commas_are_accepted() -> None:
    assert loads(COMMENTED) == {
        "servers": {"a": {"command": "npx", "args": ["-y", "x"]}, "b": {"url": "https://b.example"}}
    }


@pytest.mark.parametrize("value", [{}, [], [[1, -2.5e3, True, False, None]], {"a": {"b": ['ä"\\/\n']}}, "x", 0])
def test_it_reads_what_json_reads(value: object) -> None:
    assert loads(json.dumps(value, indent=1)) == value
    assert loads(json.dumps(value, ensure_ascii=False)) == value


def test_a_value_has_its_place() -> None:
    text = '{"a": ["x", "y"]}'
    members = parse(text).value

    assert isinstance(members, dict)
    node = members["a"]
    assert text[node.start : node.end] == '["x", "y"]'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{", 1),
        ('{"a": }', 1),
        ('{\n"a" 1}', 2),
        ("[1 2]", 1),
        ("{}\n{}", 2),
        ('{"a": nul}', 1),
        ("[" * 9999, 0),
    ],
)
def test_a_broken_text_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotParsed, match=f"line {line}:" if line else "too deep"):
        loads(text)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"mcpServers": {"a": {"command": "x"}}}, ["x"]),
        ({"mcpServers": {"a": {"command": "x", "args": ["1"]}}}, ["x", "1"]),
        ({"mcp": {"a": {"type": "local", "command": ["x", "1"]}}}, ["x", "1"]),
        ({"mcp": {"servers": {"a": {"command": "x"}}}}, ["x"]),
        ({"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}}, ["x"]),
    ],
)
def test_servers_are_found_in_the_files_of_all_clients(config: object, words: list[str]) -> None:
    (found,) = entries(json.dumps(config))

    assert (found.name, found.all_words) == ("a", words)


@pytest.mark.parametrize(
    "config",
    [
        {"mcpServers": {"a": {"url": "https://x.example"}}},
        {"mcpServers": {"a": {"command": 1}}},
        {"mcpServers": {"a": {"command": []}}},
        {"mcpServers": {"a": {"command": "x", "args": "y"}}},
        {"mcpServers": {"a": {"command": "x", "args": [1]}}},
        {"hooks": {"a": {"command": "x"}}},
        {"command": "x"},
        [],
    ],
)
def test_other_entries_are_left_alone(config: object) -> None:
    assert entries(json.dumps(config)) == []
