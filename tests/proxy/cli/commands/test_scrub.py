"""`turntape scrub` as a user runs it."""

import io
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder, Redactor
from turntape.cassettes.settings import ENTROPY, FUNCTION
from turntape.proxy.cli import main

RANDOM = "q7Zt3Xw9Kb2Lm5Vp8Rd4"
KEY = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Recorder("run.cassette.jsonl", redactor=Redactor(enabled=False), durable=False) as recorder:
        recorder.write(round_trip(f'{{"content":"{KEY} for Blue Heron"}}'.encode()))
    return tmp_path


def body(name: str) -> bytes:
    return Cassette.load(name)[0].request.body


def test_a_clean_copy_is_written_and_the_first_file_stays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "run.cassette.jsonl", "-o", "clean.cassette.jsonl"]) == 0

    assert KEY.encode() not in body("clean.cassette.jsonl") and KEY.encode() in body("run.cassette.jsonl")
    assert capsys.readouterr().err == "turntape: secrets removed from 1 of 1 line: clean.cassette.jsonl\n"


def test_named_texts_are_read_from_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Blue Heron\n\n"))

    assert main(["scrub", "run.cassette.jsonl", "--in-place", "--secrets", "-"]) == 0

    assert b"Heron" not in body("run.cassette.jsonl")


def test_a_second_time_nothing_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "run.cassette.jsonl", "--in-place"]) == 0
    capsys.readouterr()

    assert main(["scrub", "run.cassette.jsonl", "--in-place"]) == 0
    assert capsys.readouterr().err == "turntape: no secret was found in 1 line: run.cassette.jsonl\n"


def test_all_prose_is_removed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scrub", "run.cassette.jsonl", "-o", "new.cassette.jsonl", "--prose"]) == 0

    assert b"Heron" not in body("new.cassette.jsonl") and b"Heron" in body("run.cassette.jsonl")
    assert capsys.readouterr().err == "turntape: secrets and prose removed from 1 of 1 line: new.cassette.jsonl\n"
    assert main(["scrub", "new.cassette.jsonl", "--in-place", "--prose"]) == 0
    assert "no secret and no prose was found in 1 line" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "one of the arguments -o/--output/--out --in-place is required"),
        (["-o", "run.cassette.jsonl"], "exists already; use --in-place to replace it"),
        (["--in-place", "--secrets", "none.txt"], "cannot read the secrets in 'none.txt': No such file"),
        (["--in-place", "--secrets", "short.txt"], "secret 2 in 'short.txt' has fewer than 4 characters"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    arguments: list[str], sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "short.txt").write_text("long enough\nabc\n")

    try:
        code: object = main(["scrub", "run.cassette.jsonl", *arguments])
    except SystemExit as exc:
        code = exc.code

    assert code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--redact-entropy"], ["--redact-function", "ours:find"]])
def test_more_is_found_where_the_command_line_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str]
) -> None:
    for name in (ENTROPY, FUNCTION):
        monkeypatch.setenv(name, "")
    monkeypatch.syspath_prepend(tmp_path)
    Path("ours.py").write_text(f"def find(text):\n    return [{RANDOM!r}]\n")
    with Recorder("random.cassette.jsonl", durable=False) as recorder:
        recorder.write(round_trip(f'{{"content":"see {RANDOM} there"}}'.encode()))

    assert main(["scrub", "random.cassette.jsonl", "-o", "as-before.cassette.jsonl"]) == 0
    assert main(["scrub", "random.cassette.jsonl", "-o", "clean.cassette.jsonl", *options]) == 0

    assert RANDOM.encode() in body("as-before.cassette.jsonl")
    assert RANDOM.encode() not in body("clean.cassette.jsonl")
