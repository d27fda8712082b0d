"""`turntape show`: its forms, its exit codes, and as a process with pipes."""

import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from conversations import HELLO, chat, loop, said, user

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.proxy.cli import main

SHOW = [sys.executable, "-m", "turntape.proxy.cli", "show"]


@pytest.fixture
def cassette(tmp_path: Path) -> str:
    path = tmp_path / "t.cassette.jsonl"
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi. " * 500}, "finish_reason": "stop"}]
    }
    with Recorder(path) as recorder:
        for _ in range(100):
            request = Request("POST", "https://api.openai.com/v1/chat/completions", content=json.dumps(body).encode())
            response = Response(
                200, headers=(("content-type", "application/json"),), content=json.dumps(answer).encode()
            )
            recorder.write(RoundTrip(request, response, 1_795_000_000.0))
    return str(path)


def test_json_is_one_object_a_round_trip(cassette: str) -> None:
    done = subprocess.run([*SHOW, cassette, "--json"], capture_output=True, check=True)

    assert [json.loads(line)["index"] for line in done.stdout.splitlines()] == list(range(100))


def test_a_reader_that_has_enough_ends_it_silently(cassette: str) -> None:
    """`turntape show F --json | head -1`"""
    with subprocess.Popen([*SHOW, cassette, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert process.returncode == 0
    assert said == b""


def test_hints_are_shown_with_their_option(tmp_path: Path) -> None:
    path = tmp_path / "h.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(chat([HELLO], said("I'm sorry, but I can't help with that.")))

    def shown(*options: str) -> str:
        done = show(str(path), *options)
        assert done.returncode == 0
        return done.stdout

    assert "model-refused-in-text" not in shown() + shown("--json")
    assert "model-refused-in-text" in shown("--hints")
    assert "model-refused-in-text" in shown("--hints", "--json")
    assert "model-refused-in-text" in shown("--hints", "--turn", "1")


@pytest.fixture
def threads(tmp_path: Path) -> str:
    """Two threads in one cassette."""
    path = tmp_path / "threads.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in [*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]:
            recorder.write(trip)
    return str(path)


def show(*argv: str) -> subprocess.CompletedProcess[str]:
    """The command in this process."""
    out, err = BytesIO(), BytesIO()
    with TextIOWrapper(out, "utf-8") as stdout, TextIOWrapper(err, "utf-8") as stderr:
        with redirect_stdout(stdout), redirect_stderr(stderr):
            code = main(["show", *argv])
        stdout.flush()
        stderr.flush()
        return subprocess.CompletedProcess(argv, code, out.getvalue().decode(), err.getvalue().decode())


def test_a_thread_is_shown_alone_in_every_form(threads: str) -> None:
    assert [line for line in show(threads, "--thread", "t2").stdout.splitlines() if line.startswith("Turn")] == [
        "Turn 1  $0.00022  so far $0.00022  gpt-5-2025-08-07  openai-chat  250 ms  #2"
    ]
    assert [json.loads(line)["thread"] for line in show(threads, "--thread", "t1", "--json").stdout.splitlines()] == [
        "t1",
        "t1",
    ]
    assert "1 turn · 100 tokens in" in show(threads, "--thread", "t2", "--cost").stdout
    assert "no findings" in show(threads, "--findings").stdout
    assert show(threads, "--thread", "t2", "--turn", "1").stdout.startswith("Turn 1 of t2")


@pytest.mark.parametrize("more", [[], ["--cost"], ["--findings"], ["--json"], ["--turn", "1"]])
def test_a_thread_that_is_not_there_is_one_line(threads: str, more: list[str]) -> None:
    done = show(threads, "--thread", "t7", *more)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"turntape: {threads!r} has no thread 't7'; it has t1, t2\n"


def test_a_folder_shows_each_of_its_cassettes(threads: str, cassette: str, tmp_path: Path) -> None:
    text, lines = show(str(tmp_path)), show(str(tmp_path), "--json")

    assert text.returncode == lines.returncode == 0
    assert [line for line in text.stdout.splitlines() if line.endswith(".jsonl")] == [
        "t.cassette.jsonl",
        "threads.cassette.jsonl",
    ]
    assert "\n\nthreads.cassette.jsonl\n" in text.stdout
    assert [json.loads(line)["index"] for line in lines.stdout.splitlines()] == [*range(100), 0, 1, 2]


@pytest.mark.parametrize("option", [["--turn", "1"], ["--thread", "t1"], ["--svg", "x.svg"]])
def test_an_option_for_one_cassette_is_refused_with_several(
    option: list[str], threads: str, cassette: str, tmp_path: Path
) -> None:
    done = show(str(tmp_path), *option)

    assert done.returncode == 2
    assert done.stderr == f"turntape: {option[0]} needs one cassette, and 2 are given; name one of them\n"
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize("option", [["--findings"], ["--cost"], ["--svg", "x.svg"]])
def test_json_has_no_other_form(option: list[str], threads: str) -> None:
    done = show(threads, "--format", "json", *option)

    assert done.returncode == 2
    assert done.stderr == f"turntape: {option[0]} is for text; leave it out, or leave out --json\n"


def test_a_turn_that_is_not_there_names_those_that_are(threads: str) -> None:
    for more in ([], ["--json"]):
        done = show(threads, "--turn", "99", *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"turntape: {threads!r} has no turn 99; --turn takes 1 to 2\n"


def test_json_of_one_turn_is_only_that_turn(threads: str) -> None:
    shown = [json.loads(line) for line in show(threads, "--json", "--turn", "1").stdout.splitlines()]

    assert [(one["thread"], one["turn"]) for one in shown] == [("t1", 1), ("t2", 1)]


def test_output_goes_to_a_private_file_without_colours(threads: str, tmp_path: Path) -> None:
    out = tmp_path / "run.txt"

    done = show(threads, "--width", "100", "-o", str(out))

    assert (done.returncode, done.stdout) == (0, "")
    assert out.read_text() == show(threads, "--width", "100").stdout
    assert "\x1b" not in out.read_text()
    assert out.stat().st_mode & 0o777 == 0o600
    assert show(threads, "-o", threads).returncode == 2


def test_a_picture_is_written_to_its_own_file(threads: str, tmp_path: Path) -> None:
    done = show(threads, "--svg", str(tmp_path / "run.svg"))

    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "run.svg").read_text().startswith("<svg")
    assert show(threads, "--svg", threads).returncode == 2


def test_colours_are_as_the_option_says(threads: str) -> None:
    assert "\x1b[" in show(threads, "--color", "always").stdout
    assert "\x1b[" not in show(threads, "--colour", "never").stdout


@pytest.mark.parametrize("form", [[], ["--findings"], ["--cost"], ["--costs"], ["--tools"]])
def test_the_name_of_a_file_does_not_control_the_terminal(
    form: list[str], threads: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = Path(threads).rename(tmp_path / "\x1b[2Jrun.cassette.jsonl")

    assert main(["show", str(file), *form]) == 0

    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "run.cassette.jsonl" in said or not said
