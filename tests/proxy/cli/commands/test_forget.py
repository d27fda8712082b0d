"""`turntape forget` as a user runs it."""

from pathlib import Path

import pytest
from shipped_tapes import names, rows, tape

from turntape.proxy.cli import main


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    for name in ("bad", "good"):
        tape(tmp_path / f"{name}.cassette.jsonl", name)
    main(["ship", ".", "--to", "store", "--compact"])


def test_a_run_is_deleted_with_its_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "--run", "bad", "--at", "store"]) == 0

    said = capsys.readouterr()
    assert said.out.endswith("  2 rows  bad\n")
    assert "deleted 1 recording (3 objects) from store; they cannot be shipped again" in said.err
    assert {row["run"] for row in rows("store") + rows("store", "table/v1")} == {"good"}
    assert len(names("store", "cassettes/v1")) == 1


def test_a_dry_run_deletes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "--run", "bad", "--at", "store", "--dry-run"]) == 0

    assert "would delete 1 recording" in capsys.readouterr().err
    assert {row["run"] for row in rows("store")} == {"bad", "good"}


def test_an_unknown_run_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "--run", "other", "--at", "store"]) == 2
    assert "'store' has no run 'other'" in capsys.readouterr().err


def test_a_short_id_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "--recording", "a", "--at", "store"]) == 2
    assert "'a' is too short to name a recording" in capsys.readouterr().err
