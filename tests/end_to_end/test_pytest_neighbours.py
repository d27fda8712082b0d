"""Other plugins that play HTTP back stay as they are: each test is played to by the plugin that it is marked for."""

from importlib.util import find_spec

import pytest
from plugin_project import write

from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

NEIGHBOURS = {"pytest_recording": "recording", "cassetter": "cassetter"}
"""By module: the plugin's name."""

TESTS = """
import httpx
URL = "https://api.openai.com/v1/models"

@pytest.mark.vcr
def test_theirs():
    assert httpx.get(URL).text == "theirs"

@pytest.mark.turntape(path="ours.cassette.jsonl")
def test_ours(turntape_run):
    assert "emails" in ask()
    assert len(turntape_run.turns) == 1

@pytest.mark.vcr
def test_theirs_behind_ours():
    assert httpx.get(URL).text == "theirs"

@pytest.mark.turntape(path="ours.cassette.jsonl")
@pytest.mark.block_network
def test_ours_where_they_block_the_network():
    assert "emails" in ask()

def test_unmarked():
    assert httpx.HTTPTransport.handle_request.__module__.startswith("httpx")
"""
THEIRS = """
interactions:
- request: {body: '', headers: {}, method: GET, uri: "https://api.openai.com/v1/models"}
  response: {body: {string: theirs}, headers: {content-type: [text/plain]}, status: {code: 200, message: OK}}
version: 1
"""
RECORD = """
@pytest.mark.turntape(path="ours.cassette.jsonl", mode="once")
def test_ours(): ask()
"""


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
def test_they_live_side_by_side(
    neighbour: str, project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(neighbour) is None:
        pytest.skip(f"{neighbour} is not in this environment")
    theirs = ("-p", NEIGHBOURS[neighbour])
    others = [f"-pno:{NEIGHBOURS[name]}" for name in NEIGHBOURS if name != neighbour]
    write(project, RECORD)
    project.runpytest_subprocess(*theirs, *others).assert_outcomes(passed=1)
    server.stop()
    write(project, TESTS)
    project.makeini("[pytest]\nmarkers = block_network")
    for name in ("test_theirs", "test_theirs_behind_ours"):
        path = project.path / "cassettes" / "test_it" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(THEIRS)

    result = project.runpytest_subprocess("-v", "--turntape-check", *theirs, *others)

    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["every cassette is used, whole and without secrets"])
