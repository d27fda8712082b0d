"""`turntape run --break-on`, the whole command: at a terminal, with a file, and with neither."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from waiting import PATIENCE

from turntape.cassettes import Cassette
from turntape.proxy.scripted import ScriptedServer
from turntape.proxy.scripted.story import Call, Step

STORY = (Step("I will send it.", (Call("send_email", {"to": "ann@example.com"}),)), Step("Sent."))
CLIENT = """
import http.client, json, os, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
client = http.client.HTTPConnection(url.netloc)
asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}], "stream": True}
said = {"authorization": "Bearer none", "content-type": "application/json"}
client.request("POST", url.path + "/chat/completions", json.dumps(asked), said)
answer = client.getresponse()
if answer.status == 400:
    print("client got", json.load(answer)["error"]["message"], flush=True)
else:
    text, arguments = "", ""
    for line in answer:
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content") or ""
                arguments += "".join(call["function"]["arguments"] for call in choice["delta"].get("tool_calls") or [])
    print("client got", repr(text), arguments, flush=True)
"""
EDITOR = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
print("editor opened", path.name)
path.write_text(path.read_text().replace("ann@", "nobody@"))
"""


@dataclass(frozen=True)
class Place:
    folder: Path
    command: list[str]
    environ: dict[str, str]


@pytest.fixture
def place(tmp_path: Path) -> Generator[Place]:
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "editor.py").write_text(EDITOR)
    environ = {
        "PATH": os.environ["PATH"],
        "TURNTAPE_HOME": str(tmp_path / "home"),
        "EDITOR": f"{sys.executable} {tmp_path / 'editor.py'}",
        "TERM": "dumb",
    }
    with ScriptedServer(STORY) as server:
        command = [sys.executable, "-m", "turntape.proxy.cli", "run", "--out", "run.jsonl"]
        command += ["--upstream", f"*={server.url}", "--break-on", "tool=send_email"]
        yield Place(tmp_path, command, environ)


def tail(place: Place) -> list[str]:
    return ["--", sys.executable, str(place.folder / "client.py")]


def mark(place: Place) -> dict[str, object]:
    [trip] = Cassette.load(place.folder / "run.jsonl")
    held = trip.extra["breakpoint"]
    assert isinstance(held, dict)
    return held


@contextmanager
def terminal(place: Place) -> Generator[Callable[[str, str], str]]:
    """The command at a separate terminal; `say(line, until)` types a line and reads until something is shown."""
    ours, theirs = pty.openpty()
    # A session without a terminal gets the first one that it opens.
    take = "import os, sys; os.close(os.open(sys.argv[1], os.O_RDWR)); os.execv(sys.argv[2], sys.argv[2:])"
    process = subprocess.Popen(
        [sys.executable, "-c", take, os.ttyname(theirs), *place.command, *tail(place)],
        cwd=place.folder,
        env=place.environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = ""

    def say(line: str, until: str) -> str:
        nonlocal shown
        if line:
            os.write(ours, f"{line}\n".encode())
            shown = ""
        deadline = time.monotonic() + PATIENCE
        while until not in shown:
            assert select.select([ours], [], [], max(0.0, deadline - time.monotonic()))[0], f"not shown: {shown}"
            try:
                shown += os.read(ours, 65536).decode()
            except OSError as exc:
                raise AssertionError(f"it ended after {shown}") from exc
        return shown

    try:
        yield say
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


PROMPT = "[p/e/x/s/g]"


def test_a_person_looks_and_edits(place: Place) -> None:
    with terminal(place) as say:
        shown = say("", PROMPT)
        assert "holds turn 1 (openai-chat, gpt-5) on tool=send_email" in shown
        assert 'send_email(to="ann@example.com")' in shown
        assert "is not pass, edit" in say("nonsense", PROMPT)
        assert '"name": "send_email"' in say("s", PROMPT)
        shown = say("e", "turntape show")

    assert "editor opened turn-1.json" in shown
    assert """client got 'I will send it.' {"to":"nobody@example.com"}""" in shown

    assert mark(place)["did"] == "edited"


def test_a_person_refuses(place: Place) -> None:
    with terminal(place) as say:
        say("", PROMPT)
        say("error not while I am out", "client got not while I am out")

    assert mark(place)["did"] == "refused"


def scripted(place: Place, orders: str | None, **more: str) -> subprocess.CompletedProcess[str]:
    options: list[str] = []
    if orders is not None:
        (place.folder / "orders.txt").write_text(orders)
        options = ["--break-answers", "orders.txt"]
    return subprocess.run(
        [*place.command, *options, *tail(place)],
        cwd=place.folder,
        env=place.environ | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("orders", "got", "did"),
    [
        ("# a remark\n\npass\n", '\'I will send it.\' {"to":"ann@example.com"}', "passed"),
        ("edit\n", '\'I will send it.\' {"to":"nobody@example.com"}', "edited"),
        ("edit answer.json\n", "'No.' ", "edited"),
        ("error not today\n", "not today", "refused"),
        ("", '\'I will send it.\' {"to":"ann@example.com"}', "passed"),
        ("edit nowhere.json\n", "nowhere.json", "refused"),
        ("maybe\n", "'maybe' is not pass", "refused"),
    ],
    ids=["pass", "editor", "file", "error", "end of the orders", "no such file", "no order"],
)
def test_orders_come_from_a_file(orders: str, got: str, did: str, place: Place) -> None:
    answer = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}],
    }
    (place.folder / "answer.json").write_text(json.dumps(answer))

    done = scripted(place, orders)

    assert f"client got {got}" in done.stdout or (got in done.stdout and did == "refused"), done.stdout + done.stderr
    assert mark(place)["did"] == did
    assert "holds turn 1" in done.stderr


def test_without_a_person_or_a_file_it_does_not_start(place: Place) -> None:
    done = scripted(place, None)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "--break-answers FILE" in done.stderr
    assert "client got" not in done.stdout
    assert not (place.folder / "run.jsonl").exists()


@pytest.mark.parametrize(
    ("option", "value"), [("--break-on", "finding=model-unknown-tol"), ("--stop-on", "model-unknown-tol")]
)
def test_an_unknown_finding_is_an_error_before_the_start(option: str, value: str, place: Place) -> None:
    place.command.extend([option, value])

    done = scripted(place, "pass\n")

    assert done.returncode == 2
    assert "did you mean 'model-unknown-tool'?" in done.stderr
