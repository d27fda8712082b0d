"""The fast half of the matrix: the clients that are in this environment, each used in its most demanding way."""

import shutil
import sys
from pathlib import Path

import pytest

from clients.catalogue import CLIENTS, ROUTES, Client, Variant
from clients.environments import HERE, Runtime, Unavailable, here
from clients.in_process import ELSEWHERE, play_back
from clients.matrix import Cell, run_cell
from clients.page import page


def runtime_of(client: Client) -> Runtime:
    if client.script.endswith(".py"):
        return here(client.script, client.packages[0])
    node = shutil.which("node")
    if node is None:
        raise Unavailable("node is not on this machine")
    return Runtime((node, str(HERE / client.script)), "")


def fast() -> list[Client]:
    """What can be run as it is."""
    found: list[Client] = []
    for client in CLIENTS:
        try:
            runtime_of(client)
        except Unavailable:
            continue
        if client.script.endswith(".py") or not client.packages:
            found.append(client)
    return found


SAME_CONNECTIONS = {
    "anthropic": "openai",
    "google-genai": "openai",
    "mistralai": "openai",
    "cohere": "httpx",
    "ollama": "httpx",
    "boto3 (invoke)": "boto3",
}
"""Clients that connect with the same library as another one: it decides how a forward proxy is used and trusted."""


def cells() -> list[tuple[Client, str]]:
    """Every client by its base URL, and one of each kind of connections by the forward proxy."""
    return [
        (client, route)
        for client in fast()
        for route in ROUTES
        if route == "base_url" or client.name not in SAME_CONNECTIONS
    ]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("authority")


@pytest.mark.parametrize(("client", "route"), cells(), ids=lambda one: one if isinstance(one, str) else one.name)
def test_a_client_is_recorded_labelled_and_replayed(
    client: Client, route: str, authority: Path, tmp_path: Path
) -> None:
    """Replayed by the proxy; the base URL of a client in Python in its own process, and through a server for its tests.

    `make clients` runs every client on both routes, and replays by the proxy on both.
    """
    runtime, variant, tape = runtime_of(client), client.variants[-1], tmp_path / "live.cassette.jsonl"
    in_tests = route == "base_url" and client.script.endswith(".py")
    cell = run_cell(client, variant, route, runtime, authority, tape, replay=not in_tests)

    assert cell.problems == []
    words = (cell.recorded.word, cell.labelled.word, cell.replayed.word)
    assert words == ("ok", "ok", "skipped" if in_tests else "ok")
    if in_tests:
        done = play_back(tape, client, variant, runtime, authority)
        assert (done.in_process, done.through_a_server) == (ELSEWHERE.get(client.name), None)


CHAT = Variant("chat", "openai-chat")
START = "import httpx, json, os, sys, uuid\nsys.path.insert(0, {here!r})\nfrom raw_loop import *\n"
LOOP = """
def ask():
    sent = {**body(), **EXTRA}
    return httpx.post(URL, json=sent, headers=HEADERS, timeout=30).json()["choices"][0]["message"]
"""


def cell_of(tmp_path: Path, authority: Path, code: str, variant: Variant = CHAT) -> Cell:
    script = tmp_path / "agent.py"
    script.write_text(START.format(here=str(HERE / "python")) + code)
    return run_cell(
        Client("agent", "", (), ()), variant, "base_url", Runtime((sys.executable, str(script)), "1"), authority
    )


def test_an_agent_that_stops_early_is_not_recorded(tmp_path: Path, authority: Path) -> None:
    cell = cell_of(tmp_path, authority, LOOP + "EXTRA = {}\ntake(ask())\n")

    assert cell.problems == [
        "recorded: 1 turns of the agent are on the tape, 4 were made",
        "labelled: the client is said to have answered turn 1 as open",
    ]
    assert cell.replayed.word == "skipped"


def test_an_agent_that_fails_is_not_recorded(tmp_path: Path, authority: Path) -> None:
    cell = cell_of(tmp_path, authority, "sys.exit('no key')")

    assert cell.recorded.problem == "the client ended with exit code 1: no key"


def test_an_agent_that_does_not_stream_as_asked_is_reported(tmp_path: Path, authority: Path) -> None:
    cell = cell_of(
        tmp_path, authority, LOOP + "EXTRA = {'stream': False}\ntalk(ask)\n", Variant("chat streamed", "openai-chat")
    )

    assert cell.recorded.problem == "turn 1 was not streamed"


def test_an_agent_whose_requests_change_is_not_replayed(tmp_path: Path, authority: Path) -> None:
    code = LOOP + "EXTRA = {'max_completion_tokens': uuid.uuid4().int % 9**9}\ntalk(ask)\n"
    cell = cell_of(tmp_path, authority, code)

    assert (cell.recorded.word, cell.labelled.word, cell.replayed.word) == ("ok", "ok", "failed")


def test_the_page_explains_what_is_not_a_yes() -> None:
    cells = [
        Cell("mistralai", "3", "chat", "base_url", skipped="it has no variable"),
        Cell("mistralai", "3", "chat streamed", "base_url", skipped="it has no variable"),
        Cell(
            "nothing", "", "chat", "forward", skipped="from https://index.example/simple/x in /home/me/.cache/x: gone"
        ),
    ]
    lines = page(cells).splitlines()

    assert "| mistralai [1] | 3 | base URL | chat, chat streamed | – | – | – |" in lines
    assert "1. mistralai, base URL: not run: it has no variable." in lines
    assert "2. nothing, forward: not run: from … in … gone." in lines
