from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from factories import round_trip
from plugin_project import write

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.pytest_plugin.failures import damage, imported_turns
from turntape.cassettes.replay.session import Session

pytest_plugins = ("pytester",)

SWALLOWED = "\n    try: post('{}')\n    except httpx.HTTPError: pass"
"""Code of an agent that continues after a request that was refused."""


@pytest.mark.parametrize("cut", [False, True])
def test_a_damaged_cassette_is_said_to_be_damaged(tmp_path: Path, cut: bool) -> None:
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip())
    header, trip, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(header + (trip[:40] if cut else trip))

    said = damage(Session(path, environ={}))

    assert said == (
        "the cassette is damaged: line 2 is not valid JSON and was skipped; the recording was cut there"
        if cut
        else None
    )


def test_a_damaged_cassette_is_restored_or_recorded_again_and_not_accepted(project: pytest.Pytester) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    post('a'); post('b')")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    (path,) = project.path.rglob("test_a.cassette.jsonl")
    header, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, b"<<<<<<< HEAD\n", *rest, b"=======\n", *rest, b">>>>>>> theirs\n"]))

    run = project.runpytest()

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        [
            "turntape: the cassette is damaged: line 2 begins a merge conflict, and both sides are read",
            "keep one side:",
            "  git checkout --ours cassettes/test_*/test_a.cassette.jsonl",
            "  git checkout --theirs cassettes/test_*/test_a.cassette.jsonl",
            "or record again:",
            "  * --turntape-mode=all",
        ]
    )
    run.stdout.no_fnmatch_line("*partial=True*")
    run.stdout.no_fnmatch_line("*restamp*")


def test_a_cassette_that_was_cut_is_restored_by_a_command(project: pytest.Pytester) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    post('a'); post('b')")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    (path,) = project.path.rglob("test_a.cassette.jsonl")
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(kept[:2]) + kept[2][:20])

    run = project.runpytest()

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        [
            "*restore the file, if version control has it whole:",
            "*  git checkout HEAD cassettes/test_*/test_a.cassette.jsonl",
            "*or record again:",
        ]
    )
    run.stdout.no_fnmatch_line("*--ours*")


@pytest.mark.parametrize("passes", [True, False])
def test_restamp_counts_only_what_was_written(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, passes: bool
) -> None:
    body = "post(os.environ.get('WORD', 'a')); assert 'BAD' not in os.environ"
    write(project, f"@pytest.mark.turntape\ndef test_a():\n    {body}")
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    (path,) = project.path.rglob("test_a.cassette.jsonl")
    before = path.read_bytes()
    monkeypatch.setenv("WORD", "b")
    if not passes:
        monkeypatch.setenv("BAD", "1")

    run = project.runpytest("--turntape-mode=restamp")

    said = "1 request rewritten, the answers stay" if passes else "no request was rewritten: the test did not pass"
    run.stdout.fnmatch_lines([f"test_it.py::test_a: {said}"])
    assert (path.read_bytes() == before) == (not passes)


def record_as_imported(project: pytest.Pytester) -> None:
    """Record all tests, as if their cassettes came from an import."""
    assert project.runpytest("--turntape-mode=once").ret == 0
    for path in list(project.path.rglob("*.cassette.jsonl")):
        trips = [replace(trip, route="import") for trip in Cassette.load(path)]
        path.unlink()
        with Recorder(path, durable=False) as recorder:
            for trip in trips:
                recorder.write(trip)


def test_turns_that_many_imported_tests_leave_behind_are_one_line(project: pytest.Pytester) -> None:
    tests = "@pytest.mark.turntape\n@pytest.mark.parametrize('number', range(7))\ndef test_a(number):\n"
    write(project, f"import pytest\n{tests}    post('a'); post('b'); post('c')")
    record_as_imported(project)
    write(project, f"import pytest\n{tests}    post('a')")

    run = project.runpytest()

    assert run.ret == 0
    names = ", ".join(f"test_it.py::test_a[{number}]" for number in range(5))
    turns = "14 turns of the imported recordings were not requested: record again to remove them"
    assert [line for line in run.outlines if "imported recordings" in line] == [f"7 tests: {turns} ({names}, 2 more)"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("    post('a')", ["1 turn of the imported recordings was not requested: record again to remove it"]),
        ("    pass", ["2 turns of the imported recordings were not requested: record again to remove them"]),
        ("    pytest.skip('not today')", []),
    ],
)
def test_only_a_test_that_ran_leaves_turns_of_an_imported_recording_behind(
    project: pytest.Pytester, code: str, said: list[str]
) -> None:
    write(project, "@pytest.mark.turntape\ndef test_a():\n    post('a'); post('b')")
    record_as_imported(project)
    write(project, f"@pytest.mark.turntape\ndef test_a():\n{code}")

    run = project.runpytest()

    assert run.ret == 0
    assert [line.partition(": ")[2] for line in run.outlines if "imported recordings" in line] == said


def test_more_requests_than_were_recorded_are_listed_once(project: pytest.Pytester) -> None:
    code = "@pytest.mark.turntape(profile='sequence')\ndef test_a():\n    post('a')"
    write(project, code)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, f"{code}{SWALLOWED.format('b')}{SWALLOWED.format('c')}")

    run = project.runpytest()

    run.assert_outcomes(failed=1)
    said = run.stdout.str()
    assert "turntape: the run sent 2 requests more than the recorded 1 of POST /" in said
    assert said.count("it differs from turn 1, #0:") == 1
    assert said.count("+ b") == 1
    assert "+ c" not in said


@pytest.mark.parametrize(("more", "said"), [(1, ""), (2, ", 2 times")])
def test_the_failure_says_how_often_a_turn_was_requested_again(project: pytest.Pytester, more: int, said: str) -> None:
    code = "@pytest.mark.turntape\ndef test_a():\n    post('a')"
    write(project, code)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, code + SWALLOWED.format("a") * more)

    run = project.runpytest()

    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines([f"*turntape: turn 1, [#]0 was requested again{said}"])


def test_no_recording_is_read_where_every_turn_was_requested() -> None:
    unread: Any = None
    assert imported_turns(unread, ()) == set()


UNKNOWN = """
def generate(word):
    answer = httpx.post('https://llm.example.com/generate', json={{'prompt': word}})
    if answer.status_code != 200:
        {then}

@pytest.mark.turntape
def test_a():
    generate('{word}')
"""


@pytest.mark.parametrize("then", ["raise ValueError(answer.text)", "pass"])
def test_a_request_of_an_unknown_api_is_said_where_its_refusal_fails_the_test(
    project: pytest.Pytester, then: str
) -> None:
    write(project, UNKNOWN.format(word="a", then=then))
    path = project.path / "cassettes/test_it/test_a.cassette.jsonl"
    path.parent.mkdir(parents=True)
    with Recorder(path, durable=False) as recorder:
        recorder.write(round_trip(b'{"prompt":"a"}', url="https://llm.example.com/generate", route="import"))
    project.runpytest().assert_outcomes(passed=1)
    write(project, UNKNOWN.format(word="b", then=then))

    run = project.runpytest()

    if then == "pass":
        run.assert_outcomes(passed=1)
        return
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines(
        ["*turntape: turn 1, #0 has changed in *", "*- a", "*+ b", "*--turntape-mode=all", "FAILED * turntape: turn 1*"]
    )
    run.stdout.no_fnmatch_line("*no request to an LLM*")
