"""Faults are put into a test's replay by a parameter, all over one cassette."""

import pytest
from plugin_project import taken_away, write

from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

AGENT = """
from turntape.cassettes import Fault
import openai

def loop(retries=2, stream=False):
    with OpenAI(max_retries=retries) as client:
        messages = [{"role": "user", "content": "Write to my prospects."}]
        for _ in range(9):
            said = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS).choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls or ():
                json.loads(call.function.arguments)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "done"})
            if not said.tool_calls:
                return said.content
"""


def test_one_cassette_serves_the_test_with_each_fault(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        project,
        f"""{AGENT}
SURVIVED = [None, Fault(1, "429", retry_after=0), Fault(2, "529"), Fault(3, "500", times=2), Fault(4, "refused"),
            [Fault(1, "timeout"), Fault(2, "cut")]]

@pytest.mark.turntape
@pytest.mark.parametrize("turntape_fault", SURVIVED)
def test_survives(turntape_fault, turntape_run):
    assert "Globex" in loop()
    assert len(turntape_run.turns) >= 4

@pytest.mark.turntape(path="cassettes/test_it/test_survives.cassette.jsonl")
@pytest.mark.parametrize("turntape_fault, error", [
    (Fault(1, "429", times=9), openai.RateLimitError),
    (Fault(3, "truncated_arguments"), json.JSONDecodeError),
    (Fault(2, "finish", finish="length"), None),
    (Fault(2, "empty"), None),
])
def test_gives_up(turntape_fault, error):
    if error is None:
        loop(retries=0)
    else:
        with pytest.raises(error):
            loop(retries=0)
""",
    )
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    recorded = project.runpytest("--turntape-mode=once", "-k", "as-recorded")
    recorded.assert_outcomes(passed=1, deselected=9)
    assert [path.name for path in (project.path / "cassettes" / "test_it").iterdir()] == [
        "test_survives.cassette.jsonl"
    ]
    taken_away(server, monkeypatch)

    result = project.runpytest("-v", "--turntape-check")

    result.assert_outcomes(passed=10)
    result.stdout.fnmatch_lines(
        ["*test_survives[[]as-recorded] PASSED*", "*test_survives[[]timeout-at-turn-1+cut-after-1-at-turn-2] PASSED*"]
    )


def test_what_comes_behind_a_faked_answer_is_reported_and_fails_nothing(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent reports the broken arguments to the model, and no recording can know how the model answers."""
    write(
        project,
        """
from turntape.cassettes import Fault

@pytest.mark.turntape
@pytest.mark.parametrize("turntape_fault", [None, Fault(1, "truncated_arguments")])
def test_a(turntape_fault):
    with OpenAI(max_retries=0) as client:
        messages = [{"role": "user", "content": "Write to my prospects."}]
        while True:
            try:
                said = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS).choices[0].message
            except Exception:
                return
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls or ():
                try:
                    result = str(json.loads(call.function.arguments))
                except ValueError:
                    result = "these arguments are not JSON"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            if not said.tool_calls:
                return
""",
    )
    project.runpytest("--turntape-mode=once", "-k", "as-recorded").assert_outcomes(passed=1, deselected=1)
    taken_away(server, monkeypatch)

    result = project.runpytest()

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*: not recorded, after a fault: no recorded round trip * the nearest is turn 2, #1*"])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("Fault(7, '500')", "the fault 500 at turn 7 is not at a recorded turn; the cassette has 1 to 1"),
        ("Fault(1, 'truncated_arguments')", "*cannot be applied: the answer has no tool call of a known shape; *"),
        ("'500'", "turntape_fault was given '5'; write None, Fault(turn, kind), or several of them"),
    ],
)
def test_a_fault_that_cannot_be_is_named(fault: str, said: str, project: pytest.Pytester) -> None:
    write(
        project,
        f"""
from turntape.cassettes import Fault

@pytest.mark.turntape
@pytest.mark.parametrize("turntape_fault", [None, {fault}])
def test_a(turntape_fault):
    with OpenAI(max_retries=0) as client:
        client.chat.completions.create(model="gpt-5", messages=[
            {{"role": "assistant", "content": word}} for word in "abcd"] + [{{"role": "user", "content": "hi"}}])
""",
    )
    project.runpytest("--turntape-mode=once", "-k", "as-recorded").assert_outcomes(passed=1, deselected=1)

    result = project.runpytest()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines([f"turntape: {said}"])


def test_a_file_of_faults_beside_the_cassette_is_used_automatically(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        project,
        f"""{AGENT}
@pytest.mark.turntape
def test_a():
    with pytest.raises(openai.RateLimitError) if os.environ.get("FAULTY") else __import__("contextlib").nullcontext():
        loop(retries=0)

@pytest.mark.turntape(path="cassettes/test_it/test_a.cassette.jsonl", faults=())
def test_without():
    assert "Globex" in loop(retries=0)
""",
    )
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    overlay = project.path / "cassettes" / "test_it" / "test_a.cassette.faults.toml"
    overlay.write_text('[[fault]]\nturn = 2\nkind = "429"\n')
    taken_away(server, monkeypatch)
    monkeypatch.setenv("FAULTY", "1")

    project.runpytest().assert_outcomes(passed=2)
