"""`turntape diff` as a user runs it."""

import json
from pathlib import Path

import pytest
from conversations import CALL, HELLO, chat, loop, result, said

from turntape.cassettes import Recorder, RoundTrip
from turntape.proxy.cli import main


def write(path: Path, trips: list[RoundTrip]) -> str:
    path.parent.mkdir(exist_ok=True)
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    return str(path)


@pytest.fixture
def a(tmp_path: Path) -> str:
    return write(tmp_path / "a" / "run.cassette.jsonl", loop())


@pytest.fixture
def b(tmp_path: Path) -> str:
    first = said(None, CALL)
    second = [HELLO, first, result("call_1", "a strip that holds music")]
    return write(tmp_path / "b" / "run.cassette.jsonl", [chat([HELLO], first), chat(second, said("x"), index=1)])


def test_exit_codes(a: str, b: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", a, a]) == 0
    assert "the same" in capsys.readouterr().out
    assert main(["diff", a, b]) == 1
    assert "client  parted first, at turn 2" in capsys.readouterr().out
    assert main(["diff", a, str(tmp_path / "none.jsonl")]) == 2
    err = capsys.readouterr().err
    assert "none.jsonl" in err and err.count("\n") == 1


def test_json_names_the_layer_the_place_and_the_words(a: str, b: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", a, b, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)

    assert (value["first"]["layer"], value["first"]["turn"]) == ("client", 2)
    assert value["first"]["differences"][0]["pointer"] == "/messages/2/content"
    assert value["first"]["differences"][0]["words"]


def test_files_of_one_name_are_told_apart_by_their_folders(a: str, b: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", a, b, "--width", "200"])
    out = capsys.readouterr().out

    assert a in out and b in out
