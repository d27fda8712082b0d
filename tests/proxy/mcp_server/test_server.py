"""The tools as an agent calls them, through the SDK's client."""

import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from conversations import CALL, HELLO, chat, loop, said, user
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.model import RoundTrip
from turntape.proxy.mcp_server import tape_folder
from turntape.proxy.mcp_server.pages import MOST_CHARACTERS
from turntape.proxy.mcp_server.server import server_of

pytestmark = pytest.mark.anyio

LOST = [
    chat([HELLO], said("Look.", CALL), index=0),
    chat([HELLO, said("Look.", CALL), user("go on")], error={"error": {"message": "bad"}}, status=400, index=1),
]
"""A client that loses a result, and an API that refuses the request."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def record(path: Path, trips: list[RoundTrip]) -> None:
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)


type Call = Callable[..., Awaitable[str]]


@asynccontextmanager
async def tools(folder: Path) -> AsyncIterator[Call]:
    async with Client(server_of(folder)) as client:

        async def call(name: str, **arguments: Any) -> str:
            result = await client.call_tool(name, arguments)
            assert result.structured_content is None
            [block] = result.content
            assert block.type == "text"
            assert len(block.text) < MOST_CHARACTERS + 500
            return f"ERROR {block.text}" if result.is_error else block.text

        yield call


@pytest.fixture
def tapes(tmp_path: Path) -> Path:
    record(tmp_path / "good.cassette.jsonl", loop())
    record(tmp_path / "lost.cassette.jsonl", LOST)
    return tmp_path


async def test_every_tool_is_described_and_marked_as_read_only(tapes: Path) -> None:
    async with Client(server_of(tapes)) as client:
        listed = (await client.list_tools()).tools

    names = "list_runs list_turns read_turn list_tool_runs list_findings explain_finding run_costs diff_runs search"
    assert [tool.name for tool in listed] == names.split()
    for tool in listed:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert len(tool.description or "") > 60
        assert "$ref" not in json.dumps(tool.input_schema)  # not every client follows references
        assert all("description" in field for field in tool.input_schema["properties"].values())


async def test_runs_are_listed_with_their_numbers_and_the_first_error(tapes: Path) -> None:
    async with tools(tapes) as call:
        runs = {one["file"]: one for one in json.loads(await call("list_runs"))["files"]}
        some = json.loads(await call("list_runs", contains="GOOD"))

    assert {key: runs["good.cassette.jsonl"][key] for key in ("turns", "input_tokens", "output_tokens", "errors")} == {
        "turns": 2,
        "input_tokens": 250,
        "output_tokens": 30,
        "errors": 0,
    }
    assert runs["lost.cassette.jsonl"]["first_error"].startswith("lost.cassette.jsonl#")
    assert [one["file"] for one in some["files"]] == ["good.cassette.jsonl"]


async def test_a_file_with_several_runs_lists_each(tmp_path: Path) -> None:
    record(tmp_path / "two.cassette.jsonl", [chat([HELLO], said("a"), run="a"), chat([HELLO], said("b"), run="b")])

    async with tools(tmp_path) as call:
        [file] = json.loads(await call("list_runs"))["files"]

    assert [(one["run"], one["turns"]) for one in file["runs"]] == [("a", 1), ("b", 1)]


async def test_a_file_that_cannot_be_read_is_listed_with_its_problem(tmp_path: Path) -> None:
    (tmp_path / "empty.cassette.jsonl").touch()

    async with tools(tmp_path) as call:
        [file] = json.loads(await call("list_runs"))["files"]
        assert "no cassette holds" not in await call("search", query="x")
        assert (await call("list_turns", file="empty.cassette.jsonl")).startswith("ERROR ")

    assert "it holds no recording" in file["problem"] and str(tmp_path) not in file["problem"]


async def test_turns_have_addresses_that_read_turn_takes(tapes: Path) -> None:
    async with tools(tapes) as call:
        turns = json.loads(await call("list_turns", file="good.cassette.jsonl"))["turns"]
        shown = await call("read_turn", address=turns[0]["at"])
        answer = await call("read_turn", address=turns[1]["at"], part="answer")

    assert [(one["at"], one["turn"], one["finish"]) for one in turns] == [
        ("good.cassette.jsonl#0", 1, "tool_calls"),
        ("good.cassette.jsonl#1", 2, "complete"),
    ]
    assert turns[0]["calls"] == ["look_up"]
    assert "[user /messages/0/content] what is a tape?" in shown
    assert 'call look_up({"word":"tape"}) id=call_1' in shown
    assert "result of look_up: a strip that holds a recording" in shown
    assert "CLIENT  dispatched" in shown
    assert answer == "It holds a recording."


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("new", "[tool /messages/2] result of call_1: a strip that holds a recording"),
        ("messages", "[user /messages/0/content] what is a tape?"),
        ("tools", '{"name":"look_up","description":"Look a word up."'),
        ("system", "(nothing)"),
        ("raw_request", '"role":"tool"'),
        ("raw_answer", '"finish_reason":"stop"'),
    ],
)
async def test_each_part_of_a_turn_can_be_read(part: str, expected: str, tapes: Path) -> None:
    async with tools(tapes) as call:
        assert expected in await call("read_turn", address="good.cassette.jsonl#1", part=part)


async def test_a_long_part_comes_in_pieces(tmp_path: Path) -> None:
    text = "".join(f"word {number} " for number in range(5_000))
    record(tmp_path / "long.cassette.jsonl", [chat([HELLO], said(text))])
    got, offset = "", 0

    async with tools(tmp_path) as call:
        while True:
            shown = await call("read_turn", address="long.cassette.jsonl#0", part="answer", offset=offset, limit=8_000)
            body, _, note = shown.partition("\n[")
            got += body
            if not note:
                break
            offset = int(note.rpartition("=")[2].rstrip("]"))

    assert got == text


async def test_tool_runs_are_listed_with_what_was_returned_and_seen(tmp_path: Path) -> None:
    tool_tapes.record(tmp_path / "t.cassette.jsonl")

    async with tools(tmp_path) as call:
        [file] = json.loads(await call("list_runs"))["files"]
        turns = json.loads(await call("list_turns", file="t.cassette.jsonl"))["turns"]
        runs = json.loads(await call("list_tool_runs", file="t.cassette.jsonl"))["tool_runs"]
        overview = await call("read_turn", address="t.cassette.jsonl#2")
        shown = await call("read_turn", address="t.cassette.jsonl#2", part="tool_runs")
        found = json.loads(await call("search", query="six"))

    assert (file["turns"], file["tool_runs"]) == (3, 4)
    assert [one["turn"] for one in turns] == [1, 2, 3]
    assert turns[0]["tool_runs"] == [
        "read on files, a part of it was seen",
        "search on files, only the structured content was seen",
    ]
    assert [(one["tool"], one["at"], one.get("turn")) for one in runs] == [
        ("read", "t.cassette.jsonl#3", "t.cassette.jsonl#2"),
        ("search", "t.cassette.jsonl#4", "t.cassette.jsonl#2"),
        ("write", "t.cassette.jsonl#6", "t.cassette.jsonl#5"),
        ("stop", "t.cassette.jsonl#7", None),
    ]
    assert [one["joined"] for one in runs] == [
        "by an id",
        "joined by name, arguments",
        "by an id",
        "no call of the model",
    ]
    assert runs[2]["outcome"] == "the tool reported an error"
    assert runs[0]["seen_text"].endswith("… cut")
    assert "seen_text" not in runs[2]
    assert "TOOL    read on files  #3  5 ms  a part of it was seen" in overview
    assert "\n- 5: five\n- 6: six\n+ … cut\n" in shown
    assert [one["at"] for one in found["found"]] == ["t.cassette.jsonl#2"]


async def test_findings_are_listed_most_severe_first_and_can_be_narrowed(tapes: Path) -> None:
    async with tools(tapes) as call:
        every = json.loads(await call("list_findings"))
        errors = json.loads(await call("list_findings", file="lost.cassette.jsonl", severity="error", layer="client"))
        none = json.loads(await call("list_findings", file="good.cassette.jsonl"))
        explained = json.loads(await call("explain_finding", id=errors["findings"][0]["id"]))
        unknown = await call("explain_finding", id="nothing-like-it")

    ranks = [["error", "warning", "info"].index(one["severity"]) for one in every["findings"]]
    assert ranks == sorted(ranks)
    assert errors["errors"] == errors["total"] == len(errors["findings"]) > 0
    assert {one["layer"] for one in errors["findings"]} == {"client"}
    assert all(one["at"].startswith("lost.cassette.jsonl#") for one in errors["findings"])
    assert none == {"total": 0, "findings": []}
    assert explained["id"] == errors["findings"][0]["id"]
    assert unknown.startswith("ERROR ")
    assert "no class of finding is called 'nothing-like-it'" in unknown


async def test_costs_are_those_of_the_run(tapes: Path) -> None:
    async with tools(tapes) as call:
        shown = json.loads(await call("run_costs", file="good.cassette.jsonl"))

    assert (shown["turns"], shown["input_tokens"], shown["output_tokens"]) == (2, 250, 30)
    assert [one["thread"] for one in shown["threads"]] == ["t1"]
    assert [one["model"] for one in shown["models"]] == ["gpt-5-2025-08-07"]
    assert [one["at"] for one in shown["dearest"]] == ["good.cassette.jsonl#1", "good.cassette.jsonl#0"]
    assert sum(shown["tokens"].values()) == 280


async def test_two_runs_are_compared_with_addresses(tapes: Path) -> None:
    other = loop()
    other[1] = chat([HELLO], said("No."), index=1)
    record(tapes / "other.cassette.jsonl", other)

    async with tools(tapes) as call:
        same = json.loads(await call("diff_runs", a="good.cassette.jsonl", b="good.cassette.jsonl"))
        parted = json.loads(await call("diff_runs", a="good.cassette.jsonl", b="lost.cassette.jsonl"))

    assert same["same"] is True
    assert parted["same"] is False
    assert parted["first"]["a_at"] == "good.cassette.jsonl#0"
    assert parted["first"]["layer"] == "model"
    assert parted["first"]["differences"]


async def test_a_search_names_turns_and_shows_what_is_near(tapes: Path) -> None:
    async with tools(tapes) as call:
        found = json.loads(await call("search", query="strip"))
        field = json.loads(await call("search", query="tool:look_up", file="good.cassette.jsonl"))
        wrong = await call("search", query="cost:much")
        empty = await call("search", query=" ")

    assert [one["at"] for one in found["found"]] == ["good.cassette.jsonl#1"]
    assert "a strip that holds a recording" in found["found"][0]["near"]
    assert [one["at"] for one in field["found"]] == ["good.cassette.jsonl#0"]
    assert wrong.startswith("ERROR ")
    assert "'cost:much' needs a number" in wrong
    assert "the query is empty" in empty


@pytest.mark.parametrize("tool", [("search", {"query": "hi"}), ("list_findings", {})])
@pytest.mark.parametrize(("bound", "size"), [("MOST_FILES", 2), ("MOST_BYTES", 1)])
async def test_a_folder_of_very_many_files_is_read_in_portions(
    tool: tuple[str, dict[str, str]], bound: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, arguments = tool
    for number in range(5):
        record(tmp_path / f"{number}.cassette.jsonl", [chat([HELLO], said("Hi."))])
    monkeypatch.setattr(tape_folder, bound, size)
    steps, skip, seen = 0, 0, 0

    async with tools(tmp_path) as call:
        while skip is not None:
            shown = json.loads(await call(name, **arguments, skip_files=skip))
            steps += 1
            seen += shown["total"]
            assert f"files {skip + 1} to " in shown["read"]
            skip = shown.get("next_skip_files")
        beyond = json.loads(await call(name, **arguments, skip_files=9))

    assert steps == (3 if bound == "MOST_FILES" else 5)
    assert seen == (5 if name == "search" else 0)
    assert (beyond["total"], beyond["read"]) == (0, "no file was read")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("list_turns", {"file": "../x.cassette.jsonl"}, "is not a cassette in this folder"),
        ("list_turns", {"file": "good.cassette.jsonl", "thread": "t9"}, "no thread 't9'; its threads: t1"),
        ("read_turn", {"address": "good.cassette.jsonl"}, "is not an address"),
        ("read_turn", {"address": "good.cassette.jsonl#9"}, "has no round trip #9"),
        ("diff_runs", {"a": "good.cassette.jsonl", "b": "/etc/passwd"}, "'/etc/passwd' is not a cassette"),
        ("list_findings", {"severity": "fatal"}, "severity is 'fatal': input should be 'info', 'warning' or 'error'"),
        ("list_runs", {"limit": 1000}, "limit is 1000: input should be less than or equal to 100"),
        ("run_costs", {}, "file is missing"),
        ("diff_runs", {"file": "good.cassette.jsonl"}, "it has no argument 'file'; it has a, b"),
    ],
)
async def test_a_mistake_is_one_sentence(name: str, arguments: dict[str, Any], message: str, tapes: Path) -> None:
    async with tools(tapes) as call:
        shown = await call(name, **arguments)

    assert shown.startswith("ERROR ")
    assert message in shown
    assert "\n" not in shown and "pydantic" not in shown


async def test_findings_that_are_named_to_an_agent_exist(tapes: Path) -> None:
    async with Client(server_of(tapes)) as client:
        listed = (await client.list_tools()).tools

    named = re.findall(
        r"\b(?:model|api|client|tool)-[a-z]+(?:-[a-z]+)*", json.dumps([one.input_schema for one in listed])
    )
    assert named
    for name in named:
        assert f"`{name}`" in (Path(__file__).parents[3] / "docs" / "findings.md").read_text(encoding="utf-8")


def written(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.iterdir()}


async def test_it_speaks_over_stdio_and_changes_no_file(tapes: Path) -> None:
    before = written(tapes)
    command = [sys.executable, "-m", "turntape.proxy.cli", "mcp-server", str(tapes)]

    async with Client(stdio_client(StdioServerParameters(command=command[0], args=command[1:]))) as client:
        result = await client.call_tool("list_turns", {"file": "good.cassette.jsonl"})

    assert not result.is_error
    assert "good.cassette.jsonl#0" in str(result.content)
    assert written(tapes) == before
