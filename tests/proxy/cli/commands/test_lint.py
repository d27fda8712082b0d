"""`turntape lint` as a user and as pre-commit run it."""

import json
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Recorder, Redactor
from turntape.proxy.cli import main

KEY = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, body in (("bad", f'{{"content":"{KEY}"}}'), ("good", '{"content":"hello"}')):
        with Recorder(f"{name}.cassette.jsonl", redactor=Redactor(enabled=False), durable=False) as recorder:
            recorder.write(round_trip(body.encode()))
    return tmp_path


def test_a_secret_is_named_by_its_place_and_never_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "bad.cassette.jsonl", "good.cassette.jsonl"]) == 1

    said = capsys.readouterr()
    assert said.out == "bad.cassette.jsonl: a secret in #0 request body\n"
    assert said.err.startswith("turntape: 1 secret in 2 recordings; revoke what was exposed")
    assert KEY not in said.out + said.err


def test_no_control_character_of_a_recording_reaches_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The places have names that the recording gives: of header fields and of additional fields."""
    odd = "x-\x1b]0;stolen\x07\u202e"
    with Recorder("odd.cassette.jsonl", redactor=Redactor(enabled=False), durable=False) as recorder:
        recorder.write(round_trip(headers=((odd, "something"),), extra={odd: KEY}))

    assert main(["lint", "odd.cassette.jsonl"]) == 1

    said = capsys.readouterr().out
    assert [name for name in ("request header x-", "field x-") if name in said] == ["request header x-", "field x-"]
    assert said.replace("\n", "").isprintable()


def test_a_clean_recording_is_ok(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "good.cassette.jsonl"]) == 0
    assert capsys.readouterr().err == "turntape: no secret in 1 recording\n"


def test_json_is_one_object_for_each_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--json", "."]) == 1

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"file": "bad.cassette.jsonl", "secrets": ["#0 request body"]},
        {"file": "good.cassette.jsonl", "secrets": []},
    ]


def test_a_file_that_is_not_a_recording_does_not_hide_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "notes.txt").write_text("hello")

    assert main(["lint", "notes.txt", "bad.cassette.jsonl"]) == 2

    said = capsys.readouterr()
    assert "notes.txt" in said.err and "bad.cassette.jsonl: a secret" in said.out


def test_the_users_own_patterns_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "turntape.toml").write_text('redact = ["hello"]\n')

    assert main(["lint", "good.cassette.jsonl"]) == 1
    assert "a secret in #0 request body" in capsys.readouterr().out
