"""`turntape fleet` as a user runs it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fleet_rows import folder, row
from shipped_tapes import tape

from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.proxy.cli import main


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    monkeypatch.setenv("TURNTAPE_AT", "store")
    ship([tape(tmp_path / "a.cassette.jsonl")], "store", ShipOptions(labels={"branch": "shipped"}))


def test_text_json_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--days", "20000", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["branches"][0]["name"] == "shipped"


def test_the_page_links_the_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--days", "20000", "-o", "fleet.html", "--reports"]) == 0

    reports = list(Path("fleet-runs").iterdir())
    assert len(reports) == 1
    assert f'href="fleet-runs/{reports[0].name}"' in Path("fleet.html").read_text()
    assert not capsys.readouterr().err


def test_a_run_whose_bytes_are_gone_has_no_report(capsys: pytest.CaptureFixture[str]) -> None:
    folder(Path("store"), [row(0, "b" * 32, datetime.now(UTC).date())])

    assert main(["fleet", "--days", "20000", "-o", "fleet.html", "--reports"]) == 0

    assert "no report of" in capsys.readouterr().err
    assert "b" * 32 in Path("fleet.html").read_text()


def test_reports_need_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--reports"]) == 2
    assert "add -o fleet.html" in capsys.readouterr().err


def test_a_store_without_runs_in_these_days_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--at", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
