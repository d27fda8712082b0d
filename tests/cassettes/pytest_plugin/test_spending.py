"""Restamp, recording from a turn on, and what recording may cost, in separate pytest sessions."""

import pytest
from plugin_project import taken_away, write

from turntape.cassettes import Cassette
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

TEST = """
def run(system="You are a sales agent.", result="done"):
    client = OpenAI(max_retries=0)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": "Write to my prospects."}]
    while True:
        said = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS).choices[0].message
        messages.append(said.model_dump(exclude_none=True))
        for call in said.tool_calls or ():
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        if not said.tool_calls:
            return said.content

@pytest.mark.turntape
def test_a():
    assert "Globex" in run(os.environ.get("SYSTEM", "You are a sales agent."), os.environ.get("RESULT", "done"))
"""

MODULE_FIXTURE = """
@pytest.fixture(scope="module", params=["warm", "cold"])
def plan(request):
    return run()

@pytest.mark.turntape
"""


def test_restamp_keeps_the_answers_and_writes_the_requests_without_a_call(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    path = project.path / "cassettes/test_it/test_a.cassette.jsonl"
    answers = [trip.response.body for trip in Cassette.load(path) if trip.response]
    count = taken_away(server, monkeypatch)

    monkeypatch.setenv("SYSTEM", "You are a salesman.")
    restamped = project.runpytest("--turntape-mode=restamp")
    restamped.assert_outcomes(passed=1)
    restamped.stdout.fnmatch_lines(["*test_a: 4 requests rewritten, the answers stay"])
    restamped.stdout.no_fnmatch_line("*recorded*")
    project.runpytest("--turntape-check").assert_outcomes(passed=1)

    written = list(Cassette.load(path))
    assert [trip.response.body for trip in written if trip.response] == answers
    assert all(b"You are a salesman." in trip.request.body for trip in written)
    assert len(server.requests) == count


def test_restamp_refuses_by_turn_where_the_answer_could_not_follow(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    path = project.path / "cassettes/test_it/test_a.cassette.jsonl"
    before = path.read_bytes()

    monkeypatch.setenv("RESULT", "failed")
    refused = project.runpytest("--turntape-mode=restamp")

    refused.assert_outcomes(failed=1)
    refused.stdout.fnmatch_lines(
        [
            "*turntape: turn 2, #1 cannot keep its recorded answer: it was given to another tool result (/messages/*",
            "*- done",
            "*+ failed",
        ]
    )
    assert path.read_bytes() == before


def test_a_change_behind_the_first_turn_is_recorded_from_there(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    asked = len(server.requests)

    with monkeypatch.context() as changed:
        changed.setenv("SYSTEM", "Be brief.")
        project.runpytest().stdout.no_fnmatch_line("*--turntape-rerecord-from*")
    monkeypatch.setenv("RESULT", "failed")
    failed = project.runpytest()

    failed.stdout.fnmatch_lines(
        [
            "*if the change is intended, record again from turn 2 (3 calls, *):",
            "*pytest test_it.py::test_a --turntape-rerecord-from=2",
            "*or record again (4 calls, *):",
        ]
    )
    assert len(server.requests) == asked
    project.runpytest("--turntape-rerecord-from=2").assert_outcomes(passed=1)
    assert len(server.requests) == asked + 3
    project.runpytest().assert_outcomes(passed=1)


@pytest.mark.parametrize("given", ["0", "-1", "two"])
def test_a_turn_that_does_not_exist_is_named(project: pytest.Pytester, given: str) -> None:
    write(project, TEST)

    result = project.runpytest(f"--turntape-rerecord-from={given}")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*'{given}' is not the number of a turn; turns begin at 1"])


def test_recording_from_a_turn_on_replays_the_turns_before_it(project: pytest.Pytester, server: ScriptedServer) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    asked = len(server.requests)

    again = project.runpytest("--turntape-rerecord-from=3")

    again.assert_outcomes(passed=1)
    again.stdout.fnmatch_lines(["turntape: recording 1 cassette again: 2 calls, about $*"])
    assert len(server.requests) == asked + 2
    project.runpytest().assert_outcomes(passed=1)
    assert len(server.requests) == asked + 2


WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "workers"])


@WORKERS
def test_nothing_is_called_when_recording_again_would_cost_more_than_the_limit(
    project: pytest.Pytester, server: ScriptedServer, workers: tuple[str, ...]
) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    asked = len(server.requests)

    result = project.runpytest("--turntape-mode=all", "--turntape-max-cost=0", *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: turntape: recording again would cost about $*nothing was called"])
    assert len(server.requests) == asked


@WORKERS
def test_the_cost_of_recording_again_is_said_once(project: pytest.Pytester, workers: tuple[str, ...]) -> None:
    write(project, TEST)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)

    again = project.runpytest("--turntape-mode=all", *workers)

    again.assert_outcomes(passed=1)
    assert sum(line.startswith("turntape: recording 1 cassette again: ") for line in again.outlines) == 1


def test_the_cost_includes_the_cassettes_of_fixtures(project: pytest.Pytester) -> None:
    uses = TEST.replace("def test_a():", "def test_a(plan):").replace("@pytest.mark.turntape\n", MODULE_FIXTURE, 1)
    write(project, uses)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)

    again = project.runpytest("--turntape-mode=all", "-k", "warm")

    again.assert_outcomes(passed=1, deselected=1)
    again.stdout.fnmatch_lines(["turntape: recording 2 cassettes again: 8 calls, about $*"])


def test_the_limit_holds_for_the_session(project: pytest.Pytester, server: ScriptedServer) -> None:
    write(project, TEST + "\n@pytest.mark.turntape\ndef test_b():\n    run()\n")

    result = project.runpytest("--turntape-mode=once", "--turntape-max-cost=0.0000001")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*and --turntape-max-cost is $*; no further call is made: give a higher limit*"])
    result.stdout.no_fnmatch_line("*there is no cassette*")
    result.stdout.no_fnmatch_line("*record it*")
    assert len(server.requests) == 1


@pytest.mark.parametrize("given", ["much", "-1", "nan"])
def test_a_limit_with_an_invalid_amount_is_named(project: pytest.Pytester, given: str) -> None:
    write(project, TEST)

    project.runpytest(f"--turntape-max-cost={given}").stdout.fnmatch_lines(
        [f"*--turntape-max-cost is '{given}'; give *"]
    )
