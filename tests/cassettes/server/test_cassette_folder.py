"""Many cassettes on one replay server: each has a prefix, and each agent has a separate replay."""

import asyncio
import gc
import json
import socket
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes import CassetteError, Recorder, Request, Response, RoundTrip
from turntape.cassettes.replay.player import Player
from turntape.cassettes.server import cassette_folder, folder_server
from turntape.cassettes.server.cassette_folder import CassetteFolder
from turntape.cassettes.server.folder_server import folder_app, run_replay, tools_of
from turntape.cassettes.tape.model import ToolWire

URL = "https://api.openai.com/v1/chat/completions"
JSON = (("content-type", "application/json"),)


def write(path: Path, *answers: str, method: str = "POST", url: str = URL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with Recorder(path) as recorder:
        for place, answer in enumerate(answers):
            body = b"" if method == "GET" else json.dumps({"n": place}).encode()
            recorder.write(RoundTrip(Request(method, url, JSON, body), Response(200, "", JSON, answer.encode()), 0.0))
    return path


def ask(
    folder: CassetteFolder, path: str, body: bytes = b'{"n": 0}', method: str = "POST", accept: bytes = b"*/*"
) -> Any:
    """The answer's status and body; JSON is parsed where it is an object."""
    return asyncio.run(asked(folder_app(folder), path, body, method, accept))


async def asked(
    serving: Any, path: str, body: bytes = b'{"n": 0}', method: str = "POST", accept: bytes = b"*/*"
) -> Any:
    sent: list[dict[str, Any]] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"h:1"), (b"accept", accept)]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": headers,
    }
    await serving(scope, receive, send)
    said = b"".join(message.get("body", b"") for message in sent[1:]).decode()
    return sent[0]["status"], json.loads(said) if said.startswith("{") else said


def test_each_cassette_answers_under_its_own_prefix(tmp_path: Path) -> None:
    folder = CassetteFolder(
        [write(tmp_path / "a.cassette.jsonl", "from a"), write(tmp_path / "b.cassette.jsonl", "from b")]
    )

    assert ask(folder, "/s/b/openai/v1/chat/completions") == (200, "from b")
    assert ask(folder, "/s/a/openai/v1/chat/completions") == (200, "from a")


def test_files_that_are_named_answer_as_one_without_a_prefix(tmp_path: Path) -> None:
    folder = CassetteFolder(
        [write(tmp_path / "a.cassette.jsonl", "from a"), write(tmp_path / "b.cassette.jsonl", "from b")]
    )

    assert [ask(folder, "/openai/v1/chat/completions")[1] for _ in range(2)] == ["from a", "from b"]


def test_a_folder_offers_its_cassettes_by_their_path(tmp_path: Path) -> None:
    write(tmp_path / "test_x" / "test_one.cassette.jsonl", "one")
    write(tmp_path / "test_x" / "test_two[gpt 5].cassette.jsonl.zst", "two")
    write(tmp_path / "test_x" / "test_one.unfinished.cassette.jsonl", "torn")
    folder = CassetteFolder([tmp_path])

    assert ask(folder, "/s/test_x/test_one/anthropic/v1/chat/completions") == (200, "one")
    assert ask(folder, "/s/test_x/test_two%5Bgpt%205%5D/v1/chat/completions") == (200, "two")
    assert sorted(folder.paths) == ["test_x/test_one", "test_x/test_two[gpt 5]"]


def test_the_list_is_at_the_root_as_text_and_as_json(tmp_path: Path) -> None:
    write(tmp_path / "one.cassette.jsonl", "1")
    write(tmp_path / "with space.cassette.jsonl", "2")

    status, text = ask(CassetteFolder([tmp_path]), "/", b"", "GET")
    _, document = ask(CassetteFolder([tmp_path]), "/", b"", "GET", b"application/json")

    assert status == 200 and "one         http://h:1/s/one\n" in text
    assert [one["base_url"] for one in document["cassettes"]] == ["http://h:1/s/one", "http://h:1/s/with%20space"]
    assert document["cassettes"][0]["file"] == str(tmp_path / "one.cassette.jsonl")


def test_a_root_that_was_recorded_is_replayed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.cassette.jsonl", "Ollama is running", method="GET", url="http://localhost:11434/")

    assert ask(CassetteFolder([path]), "/", b"", "GET") == (200, "Ollama is running")


@pytest.mark.parametrize("agents", [50])
def test_agents_that_play_one_cassette_at_once_take_nothing_from_each_other(tmp_path: Path, agents: int) -> None:
    path = write(tmp_path / "a.cassette.jsonl", "first", "second")
    serving = folder_app(CassetteFolder([path]))

    async def agent(number: int) -> list[str]:
        base = f"/s/a@{number}/openai/v1/chat/completions"
        return [(await asked(serving, base, body))[1] for body in (b'{"n": 0}', b'{"n": 1}')]

    async def everyone() -> list[list[str]]:
        return await asyncio.gather(*map(agent, range(agents)))

    assert asyncio.run(everyone()) == [["first", "second"]] * agents


def test_one_playing_gives_each_recording_once(tmp_path: Path) -> None:
    folder = CassetteFolder([write(tmp_path / "a.cassette.jsonl", "first")])

    assert ask(folder, "/s/a@1/openai/v1/chat/completions")[0] == 200
    assert ask(folder, "/s/a@1/openai/v1/chat/completions")[0] == 400
    assert ask(folder, "/s/a@2/openai/v1/chat/completions")[0] == 200


def test_an_unknown_name_is_reported_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "test_x" / "test_one.cassette.jsonl", "one")
    write(tmp_path / "b.cassette.jsonl", "b")
    folder = CassetteFolder([tmp_path])

    status, said = ask(folder, "/s/test_x/test_onne/openai/v1/chat/completions")

    assert status == 400
    assert "did you mean 'test_x/test_one'" in said["error"]["message"]
    assert "names none of the 2 cassettes" in ask(folder, "/openai/v1/chat/completions")[1]["error"]["message"]


def test_a_cassette_of_a_folder_that_cannot_be_read_is_reported_when_it_is_requested(tmp_path: Path) -> None:
    write(tmp_path / "good.cassette.jsonl", "good")
    (tmp_path / "bad.cassette.jsonl").write_text("{}\n")
    folder = CassetteFolder([tmp_path])

    status, said = ask(folder, "/s/bad/openai/v1/chat/completions")

    assert status == 400 and "bad.cassette.jsonl" in said["error"]["message"]
    assert ask(folder, "/s/good/openai/v1/chat/completions") == (200, "good")


def test_two_files_of_one_name_get_different_names(tmp_path: Path) -> None:
    folder = CassetteFolder(
        [write(tmp_path / "x" / "a.cassette.jsonl", "x"), write(tmp_path / "y" / "a.cassette.jsonl", "y")]
    )

    assert ask(folder, "/s/a/v1/chat/completions") == (200, "x")
    assert ask(folder, "/s/a-2/v1/chat/completions") == (200, "y")


def test_faults_beside_a_cassette_are_found_and_can_be_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "a.cassette.jsonl", "as recorded")
    (tmp_path / "a.cassette.faults.toml").write_text('[[fault]]\nturn = "#0"\nkind = "529"\n')

    assert ask(CassetteFolder([path]), "/openai/v1/chat/completions")[0] == 529
    assert ask(CassetteFolder([path], faults="none"), "/openai/v1/chat/completions") == (200, "as recorded")


def test_one_file_of_faults_for_several_cassettes_is_refused(tmp_path: Path) -> None:
    paths = [write(tmp_path / name, "x") for name in ("a.cassette.jsonl", "b.cassette.jsonl")]

    with pytest.raises(CassetteError, match="cannot be used for 2 cassettes at once; put a file"):
        CassetteFolder(paths, faults="f.toml")


def test_an_empty_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_replay([tmp_path]) == 2
    assert capsys.readouterr().err == (
        f"turntape: the folder {str(tmp_path)!r} holds no cassettes; record one into it\n"
    )


def test_a_miss_is_reported_with_the_name_of_its_cassette(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []
    for name in ("a", "b"):
        write(tmp_path / f"{name}.cassette.jsonl", name)
    folder = CassetteFolder([tmp_path], on_miss=lambda name, miss: heard.append((name, miss.method)))

    assert ask(folder, "/s/b/openai/v1/other")[0] == 400
    assert ask(folder, "/s/a@2/openai/v1/other")[0] == 400
    assert heard == [("b", "POST"), ("a@2", "POST")]


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("POST", "/openai/v1/chat/completions", b'{"n": 0}', 0),
        ("POST", "/openai/v1/chat/completions", b'{"n": 7}', 1),
        ("GET", "/.well-known/oauth-protected-resource", b"", 0),
    ],
)
def test_the_exit_code_says_whether_something_had_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, path: str, body: bytes, code: int
) -> None:
    def serve(app: Any, *_: object, **__: object) -> None:
        asyncio.run(asked(app, path, body, method))

    monkeypatch.setattr(folder_server, "serve", serve)

    assert run_replay([write(tmp_path / "a.cassette.jsonl", "as recorded")]) == code


@pytest.mark.skipif(sys.platform == "win32", reason="tool servers are played on a unix socket")
@pytest.mark.parametrize(("tool", "code"), [("t", 0), ("other", 1)])
def test_the_exit_code_says_whether_a_tool_call_had_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str, code: int
) -> None:
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s"}}\n'
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
    with Recorder(tmp_path / "a.cassette.jsonl") as recorder:
        wire = ToolWire("1", "files", "client", 0, 1)
        request = Request("STDIO", "stdio://files", content=(call % "t").encode())
        recorder.write(RoundTrip(request, Response(0, content=answer), 1.0, ended_at=0, tool_wire=wire))
    link = str(tmp_path / "tools")

    def serve(*_: object, **__: object) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(link)
            client.sendall(b'{"server":"files"}\n' + (call % tool).encode())
            assert client.recv(1000)

    monkeypatch.setattr(folder_server, "serve", serve)

    assert run_replay([tmp_path / "a.cassette.jsonl"], tool_link=link) == code


def test_tool_servers_that_are_live_are_not_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        for number, name in enumerate(("files", "web")):
            asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
            wire = ToolWire(str(number), name, "client", 0)
            recorder.write(RoundTrip(Request("STDIO", f"stdio://{name}", content=asked), None, 1.0, tool_wire=wire))

    def expected(*live: str) -> list[str]:
        tools, _ = tools_of(CassetteFolder([path]), None, live)
        return [] if tools is None else [call.session.server for call in tools.unplayed]

    assert expected() == ["files", "web"]
    assert expected("web") == ["files"]
    assert expected("web", "files") == []


def test_the_replays_of_agents_that_asked_longest_ago_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may ask could otherwise fill the memory with names."""
    monkeypatch.setattr(cassette_folder, "MOST_AGENTS", 3)
    folder = CassetteFolder([write(tmp_path / "a.cassette.jsonl", "{}")])
    path = "/s/a@{}/openai/v1/chat/completions"
    serving, players = folder_app(folder), weakref.WeakSet[Player]()

    async def all_ask() -> list[int]:
        said: list[int] = []
        for number in (1, 2, 3, 2, 4, 5, 6, 2):
            said.append((await asked(serving, path.format(number)))[0])
            players.update(folder.players.values())
        return said

    assert asyncio.run(all_ask()) == [200, 200, 200, 400, 200, 200, 200, 200]
    gc.collect()
    assert sorted(folder.players) == ["", "a", "a@2", "a@5", "a@6"] and len(players) == 4
    assert folder.forgotten == 4 and folder.missed == 1, "a miss counts though its agent was forgotten"
