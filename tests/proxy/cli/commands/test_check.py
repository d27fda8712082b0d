"""`turntape check` as CI runs it: exit codes, files, formats."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conversations import CALL, HELLO, chat, loop, said, user

from turntape.cassettes import Recorder, RoundTrip
from turntape.proxy.cli import main


def write(path: Path, trips: list[RoundTrip]) -> str:
    with Recorder(path) as recorder:
        for trip in trips:
            recorder.write(trip)
    return str(path)


@pytest.fixture
def clean(tmp_path: Path) -> str:
    return write(tmp_path / "clean.cassette.jsonl", loop())


@pytest.fixture
def lost(tmp_path: Path) -> str:
    first = said(None, CALL)
    return write(
        tmp_path / "lost.cassette.jsonl",
        [chat([HELLO], first), chat([HELLO, first, user("go on")], said("x"), index=1)],
    )


def test_exit_codes(clean: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.txt"
    other.write_text("no cassette\n")

    assert main(["check", clean]) == 0
    assert main(["check", lost]) == 1
    assert main(["check", lost, "--ignore", "client-missing-tool-result"]) == 0
    assert main(["check", clean, "--max-turns", "1"]) == 1
    assert main(["check", clean, "--max-turns", "2", "--max-cost", "1", "--max-input-growth", "50%"]) == 0
    capsys.readouterr()
    assert main(["check", str(other)]) == 2
    assert main(["check", str(tmp_path / "nowhere.jsonl"), clean]) == 2
    said = capsys.readouterr()
    assert "turntape cassette" in said.err and "nowhere.jsonl" in said.err
    assert "✓" in said.out and "nowhere.jsonl  not read" in said.out
    assert "Traceback" not in said.out + said.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--only", "client-mising-tool-result"], "the nearest is 'client-missing-tool-result'"),
        (["--ignore", "model"], "no class of finding is called 'model'"),
        (["--max-cost", "free"], "'free' is not a dollar amount"),
        (["--max-input-growth", "0.5"], "'0.5' allows no growth at all"),
        (["--max-turns", "-1"], "'-1' is not a number of turns (0 or more)"),
        (["--fail-on", "panic"], "invalid choice: 'panic'"),
    ],
)
def test_a_wrong_option_is_a_usage_error_in_one_line(
    clean: str, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(["check", clean, *options])
    except SystemExit as exc:
        code = exc.code
    err = capsys.readouterr().err

    assert code == 2
    assert sentence in err and err.count("\n") == 1


def test_patterns_and_folders_give_their_cassettes_once(
    clean: str, lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def names(*given: str) -> list[str]:
        main(["check", *given, "--format", "json"])
        return [Path(file["file"]).name for file in json.loads(capsys.readouterr().out)["files"]]

    assert names(str(tmp_path)) == ["clean.cassette.jsonl", "lost.cassette.jsonl"]
    assert names(str(tmp_path / "*.jsonl"), clean) == ["clean.cassette.jsonl", "lost.cassette.jsonl"]
    assert main(["check", str(tmp_path / "x*")]) == 2
    (tmp_path / "empty").mkdir()
    assert main(["check", str(tmp_path / "empty")]) == 2


@pytest.mark.parametrize("form", ["json", "junit", "github"])
def test_a_report_in_a_file_leaves_the_text_on_the_screen(
    lost: str, form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report"

    assert main(["check", lost, "--format", form, "-o", str(target)]) == 1
    assert "client-missing-tool-result" in capsys.readouterr().out
    text = target.read_text(encoding="utf-8")
    assert "client-missing-tool-result" in text
    if form == "json":
        assert json.loads(text)["failed"]
    if form == "junit":
        assert ElementTree.fromstring(text.encode()).get("failures") == "1"


def test_an_annotation_names_the_line_of_the_round_trip(lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", lost, "--format", "github"])
    [line] = capsys.readouterr().out.splitlines()

    number = int(line.split(",line=")[1].split(",")[0])
    assert json.loads(Path(lost).read_text().splitlines()[number - 1])["n"] == 0


def test_a_line_with_a_huge_number_names_no_round_trip(lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Path(lost).open("a") as file:
        file.write('{"n":' + "9" * 5000 + "}\n")

    assert main(["check", lost, "--format", "github"]) == 1
    assert ",line=" in capsys.readouterr().out


def test_colours_are_for_a_terminal_and_never_in_a_file(
    lost: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    main(["check", lost])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["check", lost, "-o", str(tmp_path / "t.txt")])
    assert "\x1b" not in (tmp_path / "t.txt").read_text()
    main(["check", lost])
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["check", lost])
    assert "\x1b" not in capsys.readouterr().out


def test_a_torn_cassette_is_checked_as_far_as_it_goes(lost: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Path(lost).open("ab") as file:
        file.write(b'{"n":2,"requ')

    assert main(["check", lost]) == 1
    assert "the recording was cut there" in " ".join(capsys.readouterr().out.split())


def test_a_torn_file_without_a_round_trip_is_not_read(clean: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(clean)
    header = path.read_bytes().partition(b"\n")[0]
    torn = path.with_name("torn.cassette.jsonl")
    torn.write_bytes(header + b'\n{"n": 0, "req')

    assert main(["check", str(torn)]) == 2
    captured = capsys.readouterr()
    assert "torn.cassette.jsonl  not read" in captured.out
    assert "nothing can be read from" in captured.err and "the recording was cut there" in captured.err

    torn.write_bytes(path.read_bytes() + b'{"n": 9, "req')
    assert main(["check", str(torn)]) == 0, "what is whole is checked, and the rest is a remark"
    assert "the recording was cut there" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "show", "report", "view"])
def test_wrong_settings_are_one_sentence(
    command: str, clean: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(clean).parent)
    Path("turntape.toml").write_text("x = [")

    assert main([command, clean]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("turntape: cannot read the settings in 'turntape.toml'")


def test_completion_needs_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("turntape.toml").write_text("x = [")

    assert main(["completion", "bash"]) == 0
    assert "turntape" in capsys.readouterr().out
