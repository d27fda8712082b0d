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
    assert "client  diverged first, at turn 2" in capsys.readouterr().out
    assert main(["diff", a, str(tmp_path / "none.jsonl")]) == 2
    err = capsys.readouterr().err
    assert "none.jsonl" in err and err.count("\n") == 1


def test_json_names_the_layer_the_place_and_the_words(a: str, b: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", a, b, "--json"]) == 1
    value = json.loads(capsys.readouterr().out)

    assert (value["first"]["layer"], value["first"]["turn"]) == ("client", 2)
    assert value["first"]["differences"][0]["pointer"] == "/messages/2/content"
    assert value["first"]["differences"][0]["words"]


def test_files_of_one_name_are_shown_with_their_folders(a: str, b: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["diff", a, b, "--width", "200"])
    out = capsys.readouterr().out

    assert a in out and b in out


def test_folders_are_compared_file_by_file(a: str, b: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same name in both folders is one comparison; a file that only one folder has is a difference."""
    left, right = tmp_path / "a", tmp_path / "b"
    same = [write(folder / "same.cassette.jsonl", loop()) for folder in (left, right)]

    assert main(["diff", str(left), str(right), "--json"]) == 1
    first, second = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert first["first"]["turn"] == 2 and second["first"] is None

    assert main(["diff", str(left), str(right)]) == 1
    assert "\n\nA " in capsys.readouterr().out

    Path(b).unlink()
    assert main(["diff", str(left), str(right)]) == 1
    assert capsys.readouterr().err == f"turntape: {a!r} has no counterpart in {str(right)!r}\n"
    Path(a).unlink()
    assert main(["diff", str(left), str(right)]) == 0
    assert main(["diff", str(left), same[1]]) == 0

    extra = write(right / "extra.cassette.jsonl", loop())
    capsys.readouterr()
    assert main(["diff", str(left), str(right)]) == 1
    assert capsys.readouterr().err == f"turntape: {extra!r} has no counterpart in {str(left)!r}\n"


def test_folders_with_one_cassette_each_need_no_common_name(a: str, b: str, tmp_path: Path) -> None:
    other = Path(b).rename(tmp_path / "b" / "other.cassette.jsonl")

    assert main(["diff", str(tmp_path / "a"), str(other.parent)]) == 1
    write(tmp_path / "a" / "x.cassette.jsonl", loop())
    assert main(["diff", str(tmp_path / "a"), str(other.parent)]) == 2


def test_the_result_goes_to_a_file_that_is_none_of_the_cassettes(a: str, b: str, tmp_path: Path) -> None:
    out = tmp_path / "out"

    assert main(["diff", a, b, "--format", "json", "-o", str(out)]) == 1
    assert json.loads(out.read_text())["first"]["turn"] == 2
    assert main(["diff", a, b, "-o", b]) == 2
