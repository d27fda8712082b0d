"""The runs behind docs/what-clients-do.md, with a client of our own in place of the real ones."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from clients.environments import Runtime
from clients.python.kinds_mcp import ADDED, KINDS, LONG_TEXT
from clients.tool_results.catalogue import SERVER, TOOL_CLIENTS, TRANSPORTS, Configured, ToolClient
from clients.tool_results.matrix import (
    Seen,
    ToolCell,
    as_json,
    first_difference,
    from_json,
    last_error,
    normal,
    run_client,
)
from clients.tool_results.page import PAGE, WHAT, page, remembered

CLIENT = """\
#!{python}
import json, os, subprocess, sys, urllib.request
config = json.load(open(os.path.expanduser("~/.claude.json")))["mcpServers"]["kinds"]
for word in sys.argv:
    if word.startswith("--mcp-config="):
        config = json.load(open(word.partition("=")[2]))["mcpServers"]["kinds"]
server = subprocess.Popen(
    [config["command"], *config["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
def ask(number, method, **params):
    server.stdin.write(json.dumps({{"jsonrpc": "2.0", "id": number, "method": method, "params": params}}) + "\\n")
    server.stdin.flush()
    while True:
        message = json.loads(server.stdout.readline())
        if message.get("id") == number:
            return message
ask(0, "initialize", protocolVersion="2025-11-25", capabilities={{}}, clientInfo={{"name": "own", "version": "1"}})
messages = [{{"role": "user", "content": "go"}}]
number = 0
while True:
    tools = [
        {{"name": f"mcp__kinds__{{tool['name']}}", "input_schema": tool["inputSchema"]}}
        for tool in ask(f"list-{{number}}", "tools/list")["result"]["tools"]
    ]
    body = {{"model": "claude-sonnet-4-5", "max_tokens": 99, "messages": messages, "tools": tools}}
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        json.dumps(body).encode(),
        {{"content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"}},
    )
    answer = json.load(urllib.request.urlopen(request))
    messages.append({{"role": "assistant", "content": answer["content"]}})
    calls = [block for block in answer["content"] if block["type"] == "tool_use"]
    if not calls:
        break
    results = []
    for call in calls:
        number += 1
        name = call["name"].removeprefix("mcp__kinds__")
        said = ask(
            number, "tools/call", name=name, arguments=call["input"], _meta={{"claudecode/toolUseId": call["id"]}}
        )
        if name == "show_audio":
            raise SystemExit("own.SomeError: it cannot do this")
        result = said.get("result", {{}})
        text = "".join(block.get("text", "") for block in result.get("content", [])) or said.get("error", {{}}).get(
            "message", ""
        )
        results.append({{"type": "tool_result", "tool_use_id": call["id"], "content": text}})
    messages.append({{"role": "user", "content": results}})
server.stdin.close()
server.wait()
"""


def configured(home: Path, server: Configured) -> None:
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {server.name: server.started}}))


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A client that `turntape run` takes for Claude Code."""
    program = tmp_path / "claude"
    program.write_text(CLIENT.format(python=sys.executable))
    program.chmod(0o755)
    return Runtime((str(program), "-p", "go"), "1")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("authority")


def test_every_call_of_a_client_is_on_the_tape_and_joined(runtime: Runtime, authority: Path) -> None:
    cell = run_client(ToolClient("own", (), configure=configured), runtime, authority)

    assert cell.problems == []
    assert cell.new_tool_offered is True
    assert [(seen.kind, seen.joined) for seen in cell.seen] == [(kind, "exact") for kind in KINDS]
    how = {seen.kind: seen for seen in cell.seen}
    assert (how["show_both"].seen_as, how["show_both"].lost) == ("text", ["structured"])
    assert (how["show_structure"].seen_as, how["show_nothing"].seen_as) == ("dropped", "empty")
    assert (how["show_long_text"].seen_as, how["show_long_text"].characters) == ("equal", len(LONG_TEXT))
    assert how["show_image"].lost == ["image"]
    # It gives up once, and is started again for the rest.
    assert {seen.kind: seen.aborted for seen in cell.seen if seen.aborted} == {
        "show_audio": "own.SomeError: it cannot do this"
    }
    assert from_json(as_json(cell)) == cell


def test_the_server_answers_with_each_kind() -> None:
    server = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(number: int, method: str, **params: object) -> list[dict[str, Any]]:
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        said = [json.loads(server.stdout.readline())]
        while said[-1].get("id") != number:
            said.append(json.loads(server.stdout.readline()))
        return said

    with server:
        assert ask(0, "server/discover")[0]["error"] == {"code": -32601, "message": "no method server/discover"}
        ask(1, "initialize", protocolVersion="2025-06-18")
        before = ask(2, "tools/list")[0]["result"]
        answers = {kind: ask(10 + place, "tools/call", name=kind) for place, kind in enumerate(KINDS)}
        after = ask(3, "tools/list")[0]["result"]

    assert server.returncode == 0
    assert [tool["name"] for tool in before["tools"]] == list(KINDS)
    assert [tool["name"] for tool in after["tools"]] == [*KINDS, ADDED]
    assert set(WHAT) == set(KINDS)
    assert [kind for kind, said in answers.items() if "error" in said[-1]] == ["show_protocol_error"]
    assert [kind for kind, said in answers.items() if len(said) > 1] == ["show_new_tool"]


def test_requests_are_compared_without_what_always_differs() -> None:
    one = normal(b'{"b": 1, "at": "2026-01-01T00:00:00Z", "file": "/tmp/a/x"}', Path("/tmp/a"))
    other = normal(b'{"file": "/tmp/b/x", "at": "2027-02-02T10:00:00.5Z", "b": 1}', Path("/tmp/b"))

    assert first_difference([one, b"xx"], [b"xx", other]) is None
    assert first_difference([one], [one, other]) == "1 requests without it, 2 with it"
    assert first_difference([b'{"b": 1}'], [b'{"b": 2}']) == """request 0: b'{"b": 1}' and b'{"b": 2}'"""


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("", "no message"),
        ("a\nb\n\n", "b"),
        ("a.b.McpError: no\nDuring task with name 'x'", "a.b.McpError: no"),
    ],
)
def test_the_last_error_of_an_output(output: str, error: str) -> None:
    assert last_error(output) == error


CELL = ToolCell(
    "Codex",
    "1",
    "2026-01-01",
    seen=[
        Seen("show_both", True, "exact", "structured", ["text"], "{}", 2),
        Seen("show_structure", True, "exact", "dropped", ["structured"], "", 0),
        Seen("show_nothing", True, "exact", "empty", [], "[]", 2),
        Seen("show_tool_error", True, "exact", "text", ["structured"], "x", 1, error_mark=True),
        Seen("show_protocol_error", True, "exact", "replaced", [], "x", 1, error_mark=False),
        Seen("show_image", True, "exact", "equal", [], "[image] saved to …", 9),
        Seen("show_audio", True, "exact", "dropped", ["audio"], "audio content omitted", 9),
        Seen("show_text_resource", True, aborted="a.b.SomeError: no | no"),
        Seen("show_resource_link", True, "exact", "equal", [], "memo://linked", 9),
        Seen("show_blob_resource", True, "exact", "equal", [], "AAAA", 9, data=True),
        Seen("show_long_text", True, "exact", "cut", ["text"], "x", 12018),
        Seen("show_new_tool", True, "exact", "equal", [], "x", 1),
    ],
    new_tool_offered=False,
)


def test_the_page_has_a_word_for_each_kind() -> None:
    lines = page([CELL]).splitlines()
    first = lines.index("| returned | Codex |")

    assert [line.split(" | ")[1].removesuffix(" |") for line in lines[first + 2 : first + 2 + len(KINDS)]] == [
        "**structured only**",
        "**nothing**",
        "`[]`",
        "not tried",
        "**text only**, error mark",
        "**other words**, no error mark",
        "yes, and a file's path",
        "a note that it was left out",
        "**ends the run** (SomeError)",
        "its address",
        "base64 in a text",
        "**cut** to 12,018 characters",
        "**not offered**",
    ]
    assert "| resource with text | nothing; the run ended with `a.b.SomeError: no \\| no` |" in lines


def test_what_differs_over_http_is_listed() -> None:
    other = replace(CELL, transport="http", seen=[replace(CELL.seen[0], seen_as="equal"), *CELL.seen[1:]])

    assert "- Codex: the same." in page([CELL, replace(CELL, transport="http")]).splitlines()
    assert "- Codex: another result for text and structured: both." in page([CELL, other]).splitlines()
    assert "Over HTTP" not in page([CELL])


def test_the_committed_page_is_that_of_the_last_runs() -> None:
    cells = remembered()
    if len(cells) < len(TOOL_CLIENTS) * len(TRANSPORTS):
        pytest.skip("not every client was run here")

    assert PAGE.read_text(encoding="utf-8") == page(cells), "run `make clients-tools`"
