"""The fixture `vcr` of moved suites: what the cassette holds, and what was played."""

from importlib.util import find_spec

import pytest
from plugin_project import taken_away, write

from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

TESTS = """
@pytest.mark.turntape
def test_marked(vcr):
    assert vcr.play_count == 0 and not vcr.all_played if PLAYED else len(vcr) == 0
    post("one")
    assert len(vcr.requests) == len(vcr.responses) == len(vcr) == 1
    (asked,), (answer,) = vcr.requests, vcr.responses
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert json.loads(asked.body)["messages"][0]["content"] == "one"
    assert answer["status"]["code"] == 200 and b"choices" in answer["body"]["string"]
    assert vcr.all_played and vcr.play_count == (1 if PLAYED else 0)

def test_without_a_mark(vcr):
    assert not vcr

@pytest.fixture(scope="module")
def vcr_config():
    return {"match_on": ["method", "path"], "allow_playback_repeats": PLAYED}

@pytest.fixture(scope="module")
def opened(vcr):
    return vcr

def test_that_opens_a_cassette(opened):
    with opened.use_cassette("mine") as cassette:
        post("two")
        assert len(cassette) == 1 and cassette.record_mode == ("none" if PLAYED else "once")
        PLAYED and post("three")
"""


def test_a_moved_test_can_look_at_its_cassette(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, TESTS.replace("PLAYED", "False"))
    project.runpytest_subprocess("--turntape-mode=once").assert_outcomes(passed=3)
    assert (project.path / "cassettes" / "mine.cassette.jsonl").exists()
    taken_away(server, monkeypatch)
    write(project, TESTS.replace("PLAYED", "True"))
    project.runpytest_subprocess("--turntape-mode=none").assert_outcomes(passed=3)


@pytest.mark.parametrize(
    ("plugin", "fixture"),
    [("recording", "vcr"), ("pytest_vcr", "vcr_cassette_dir"), ("cassetter", "vcr_cassette_dir")],
)
def test_another_plugin_keeps_its_fixtures(project: pytest.Pytester, plugin: str, fixture: str) -> None:
    if find_spec(plugin) is not None:
        pytest.skip(f"{plugin} itself is here: test_pytest_neighbours.py tries it")
    project.makepyfile(**{plugin: f"import pytest\n@pytest.fixture\ndef {fixture}():\n    return 'theirs'\n"})
    project.makepyfile(test_it=f"def test_it({fixture}):\n    assert {fixture} == 'theirs'\n")
    project.runpytest_subprocess("-p", plugin).assert_outcomes(passed=1)
