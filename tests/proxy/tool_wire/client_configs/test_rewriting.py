"""Wrapping the servers of a configuration file, and undoing it."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from turntape.cassettes.errors import TurntapeError
from turntape.proxy.tool_wire.client_configs import json_text
from turntape.proxy.tool_wire.client_configs.rewriting import rewrite, unwrap_text, wrap_text
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper, unwrapped

OURS = Wrapper(("/opt/bin/turntape", "mcp"))
JSON = [
    '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}}}',
    '{"mcpServers":{"a":{"command":"n\\/px","args":[]},"b":{"command":"y"},"c":{"command":"z","args":[ ]}}}',
    '{\n  // keep\n  "mcp": {\n    "a": { "command": [\n      "npx", /* me */ "-y",\n    ], "on": true },\n  },\n}\n',
    '\ufeff{"servers": {\r\n "a": {"args": [\r\n\t"x" // last\r\n], "command": "npx", "env": {"K": "\\u00e4"}}}}',
    '{"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}, "mcpServers": {"a": {"command": "y"}}}',
]
TOML = [
    '[mcp_servers.a]\ncommand = "x" # why\nargs = [\n "1", # one\n "2",\n]\n[mcp_servers.a.env]\nK = "v"\n',
    '[mcp_servers.a]\ncommand = \'C:\\x\'\n\n[mcp_servers."b c"]\n"command" = "y"\nargs=[]\n',
    'mcp_servers.a.command = """x"""\nmcp_servers . "b.c" . command = "y"',
    'mcp_servers.a.command = "x"\nmcp_servers.a.args = ["1"]\nmcp_servers."b.c".\'command\' = "y" # two\n',
    '[mcp_servers]\na = { command = "x", env = { K = "v" } }\nb={args=["1"],command="y"}\n',
]


@pytest.mark.parametrize("text", JSON)
def test_every_server_in_json_is_wrapped_and_restored_to_the_byte(text: str) -> None:
    done = wrap_text(text, OURS)

    before, after = json_text.entries(text), json_text.entries(done.after)
    assert done.changed == tuple(entry.name for entry in before)
    assert [entry.all_words for entry in after] == [OURS.wrapped(entry.name, entry.all_words) for entry in before]
    assert unwrap_text(done.after).after == text


@pytest.mark.parametrize("text", TOML)
def test_every_server_in_toml_is_wrapped_and_restored_to_the_byte(text: str) -> None:
    done = wrap_text(text, OURS, toml=True)

    before, after = (tomllib.loads(one)["mcp_servers"] for one in (text, done.after))
    assert before.keys() == after.keys() == set(done.changed)
    for name, server in before.items():
        words = [after[name]["command"], *after[name]["args"]]
        assert words[:5] == ["/opt/bin/turntape", "mcp", "--name", name, "--"]
        assert unwrapped(words) == [server["command"], *server.get("args", [])]
        assert {**after[name], "command": 0, "args": 0} == {**server, "command": 0, "args": 0}
    assert unwrap_text(done.after, toml=True).after == text


def test_nothing_else_changes() -> None:
    text = JSON[3]
    done = wrap_text(text, OURS).after

    assert done.replace('"mcp", "--name", "a", "--", "npx", ', "").replace("/opt/bin/turntape", "npx") == text


@pytest.mark.parametrize("text", JSON)
def test_a_second_time_changes_nothing(text: str) -> None:
    once = wrap_text(text, OURS)
    twice = wrap_text(once.after, OURS)

    assert (twice.after, twice.changed, twice.as_they_were) == (once.after, (), once.changed)
    assert unwrap_text(text).after == text


@pytest.mark.parametrize(("texts", "toml"), [(JSON, False), (TOML, True)])
def test_a_second_time_into_another_folder_replaces_the_first(texts: list[str], toml: bool) -> None:
    here, there = (replace(OURS, options=("-o", folder)) for folder in ("/here", "/there"))
    for text in texts:
        twice = wrap_text(wrap_text(text, here, toml=toml).after, there, toml=toml)
        plain = wrap_text(twice.after, OURS, toml=toml)

        assert twice.after == wrap_text(text, there, toml=toml).after
        assert twice.changed and not twice.as_they_were
        assert (plain.after, plain.changed) == (twice.after, ())
        assert unwrap_text(twice.after, toml=toml).after == text


def test_a_wrapper_that_plays_is_not_turned_into_one_that_records() -> None:
    args = ["mcp", "--replay", "/tapes/a.cassette.jsonl", "--", "npx"]
    text = json.dumps({"mcpServers": {"a": {"command": "turntape", "args": args}}})
    done = wrap_text(text, replace(OURS, options=("-o", "/there")))

    assert (done.after, done.as_they_were) == (text, ("a",))


def test_a_file_keeps_its_permissions_and_its_place(tmp_path: Path) -> None:
    path, link = tmp_path / "real.json", tmp_path / "link.json"
    path.write_bytes(JSON[3].encode())
    path.chmod(0o640)
    link.symlink_to(path)

    rewrite(link, OURS)

    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert "turntape" in path.read_text("utf-8")
    rewrite(link, None)
    assert path.read_bytes() == JSON[3].encode()
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_a_toml_file_is_known_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(TOML[0])

    assert rewrite(path, OURS).changed == ("a",)
    assert tomllib.loads(path.read_text())["mcp_servers"]["a"]["command"] == "/opt/bin/turntape"
    assert rewrite(path, None).changed == ("a",)
    assert path.read_text() == TOML[0]


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(JSON[0])

    assert rewrite(path, OURS, dry_run=True).changed == ("a",)
    assert path.read_text() == JSON[0]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("x.json", b"{", "cannot be read as JSON: line 1"),
        ("x.toml", b"a =", "cannot be read as TOML"),
        ("x.json", b"\xff{}", "is not UTF-8"),
        ("x.json", b'{"mcpServers": {"a": {"url": "https://x.example"}}}', "records one over HTTP as it is"),
        ("x.toml", TOML[0].replace("command", "url").encode(), "has no tool server"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_the_file(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    with pytest.raises(TurntapeError, match=says):
        rewrite(path, OURS)
    assert path.read_bytes() == content


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(TurntapeError, match=r"cannot read .*no\.json.*No such file"):
        rewrite(tmp_path / "no.json", OURS)


def test_a_wrapper_without_a_command_is_not_guessed_at() -> None:
    broken = json.dumps({"mcpServers": {"a": {"command": "/opt/bin/turntape", "args": ["mcp", "--"]}}})

    with pytest.raises(ValueError, match="no command"):
        unwrap_text(broken)


# https://code.visualstudio.com/docs/copilot/reference/mcp-configuration (read 2026-11-22)
VS_CODE = """{
  // in the workspace
  "inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}],
  "servers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${workspaceFolder}"],
      "envFile": "${workspaceFolder}/.env",
      "dev": {"watch": "build/**/*.js", "debug": {"type": "node"}},
    },
    "keyed": {"type": "stdio", "command": "node", "args": ["server.js"], "env": {"KEY": "${input:key}"}},
    "remote": {"type": "http", "url": "https://mcp.example.com/mcp", "headers": {"X-Key": "${input:key}"}},
  },
}
"""
# Cursor's `.cursor/mcp.json`, as its documentation shows it (2026-11)
CURSOR = """{
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${userHome}/code"],
      "env": {"API_KEY": "${env:API_KEY}"}
    },
    "bare": {"command": "my-server"},
    "remote": {"url": "https://api.example.com/mcp", "headers": {"Authorization": "Bearer t"}}
  }
}
"""


@pytest.mark.parametrize(
    ("text", "names", "kept"),
    [
        (
            VS_CODE,
            ("files", "keyed"),
            ("${input:key}", '"envFile": "${workspaceFolder}/.env"', '"watch"', "// in the workspace"),
        ),
        (CURSOR, ("files", "bare"), ("${userHome}/code", "${env:API_KEY}", '"url": "https://api.example.com/mcp"')),
    ],
    ids=["VS Code", "Cursor"],
)
def test_the_published_formats_of_editors_are_wrapped_and_restored(
    text: str, names: tuple[str, ...], kept: tuple[str, ...]
) -> None:
    done = wrap_text(text, OURS)

    assert done.changed == names
    for entry in json_text.entries(done.after):
        assert entry.all_words[:5] == ["/opt/bin/turntape", "mcp", "--name", entry.name, "--"]
    assert all(piece in done.after for piece in kept)
    assert unwrap_text(done.after).after == text
