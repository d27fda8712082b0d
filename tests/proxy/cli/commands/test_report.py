"""`turntape report`, as a user calls it."""

import stat
from pathlib import Path
from typing import Any

import pytest
from conversations import loop

from turntape.cassettes import Recorder
from turntape.proxy.cli import main, waiting


@pytest.fixture
def cassette(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in loop():
            recorder.write(trip)
    return path


def test_a_page_is_written_where_it_is_said_and_private(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(cassette), "-o", "out.html", "--title", "My <run>"]) == 0

    page = Path("out.html")
    assert capsys.readouterr().out == "out.html\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "<h1>My &lt;run&gt;</h1>" in page.read_text(encoding="utf-8")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_without_a_name_it_is_named_after_the_cassette(cassette: Path) -> None:
    assert main(["report", str(cassette)]) == 0

    assert Path("run.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.cassette.jsonl"], "nothing.cassette.jsonl"),
        (["run.cassette.jsonl", "-o", "run.cassette.jsonl"], "is the cassette itself; choose another name"),
        (
            ["run.cassette.jsonl", "-o", "none/run.html"],
            "cannot write 'none/run.html': No such file or directory; check the folder",
        ),
    ],
)
def test_what_cannot_be_written_is_one_line(
    arguments: list[str], said: str, cassette: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = cassette.read_bytes()

    assert main(["report", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert cassette.read_bytes() == before


def test_a_folder_gives_a_page_for_each_cassette(cassette: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("pages").mkdir()
    Path("deep").mkdir()
    cassette.with_name("b.cassette.jsonl").write_bytes(cassette.read_bytes())

    assert main(["report", ".", "-o", "pages"]) == 0
    assert capsys.readouterr().out == "pages/b.html\npages/run.html\n"
    assert main(["report", "."]) == 0
    assert capsys.readouterr().out == "b.html\nrun.html\n"
    assert main(["report", str(cassette), "-o", "pages"]) == 0
    assert main(["report", ".", "-o", "one.html"]) == 2
    assert "2 cassettes need a folder, and 'one.html' is not one; create it first" in capsys.readouterr().err
    Path("deep/run.cassette.jsonl").write_bytes(cassette.read_bytes())
    assert main(["report", ".", "-o", "pages"]) == 2
    assert "several of the cassettes would become 'pages/run.html'" in capsys.readouterr().err


def test_a_page_that_nobody_has_named_is_not_written_through_a_link(
    cassette: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").write_text("mine")
    Path("run.html").symlink_to("mine")

    assert main(["report", str(cassette)]) == 2
    assert "'run.html' is a symbolic link" in capsys.readouterr().err
    assert Path("mine").read_text() == "mine"
    assert main(["report", str(cassette), "-o", "run.html"]) == 0


def test_a_report_that_takes_long_says_what_it_does(cassette: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    begin = waiting.Waiting.__init__

    def begun(self: waiting.Waiting, words: str, **options: Any) -> None:
        said.append(words)
        begin(self, words, **options)

    monkeypatch.setattr(waiting.Waiting, "__init__", begun)
    monkeypatch.setattr(waiting.Waiting, "say", lambda self, words: said.append(words))
    assert main(["report", str(cassette), "-o", "out.html"]) == 0
    assert main(["check", str(cassette)]) == 0
    assert main(["diff", str(cassette), str(cassette)]) == 0
    assert main(["lint", str(cassette)]) == 0
    assert main(["prices", str(cassette)]) == 0
    assert main(["scrub", str(cassette), "-o", "clean.cassette.jsonl"]) == 0

    names = [word.partition(" ")[0] for word in said]
    assert names == ["reading", "writing", "checking", "comparing", "searching", "reading", "searching"]
