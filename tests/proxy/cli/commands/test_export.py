"""`turntape export` as it is typed."""

import json
from pathlib import Path

import pytest
from conversations import loop

from turntape.cassettes import Cassette, Recorder
from turntape.proxy.cli import main


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in loop():
            recorder.write(trip)
    return path


@pytest.mark.parametrize("kind", ["har", "otel", "atif"])
def test_json_comes_on_stdout(kind: str, tape: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", str(tape), "--as", kind]) == 0

    assert json.loads(capfdbinary.readouterr().out)


def test_a_har_imports_as_the_same_cassette(tape: Path, tmp_path: Path) -> None:
    assert main(["export", str(tape), "--as", "har", "-o", str(tmp_path / "x.har")]) == 0
    assert main(["import", str(tmp_path / "x.har")]) == 0

    for before, after in zip(Cassette.load(tape), Cassette.load(tmp_path / "x.cassette.jsonl"), strict=True):
        assert before.response
        assert after.response
        assert after.request.body == before.request.body
        assert after.request.url == before.request.url
        assert after.response.body == before.response.body
        assert after.response.chunks == before.response.chunks
        assert (after.started_at, after.ended_at) == (before.started_at, before.ended_at)


def test_what_is_written_is_private_and_never_the_cassette_itself(
    tape: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run.md"
    before = tape.read_bytes()

    assert main(["export", str(tape), "--as", "markdown", "-o", str(out)]) == 0
    assert main(["export", str(tape), "--as", "markdown", "-o", str(tape)]) == 2

    assert out.read_text().startswith("# run.cassette.jsonl\n")
    assert out.stat().st_mode & 0o777 == 0o600
    assert tape.read_bytes() == before
    assert "is the cassette itself" in capsys.readouterr().err


def test_format_and_its_old_name_are_the_same(tape: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    shown = list[bytes]()
    for option in ("--format", "--as"):
        assert main(["export", str(tape.parent), option, "markdown"]) == 0
        shown.append(capfdbinary.readouterr().out)

    assert shown[0] == shown[1] and shown[0].startswith(b"# run.cassette.jsonl\n")
