"""`turntape fleet` as a user runs it."""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fleet_rows import folder, row
from shipped_tapes import tape

from turntape.inspector.fleet.page.store_source import StoreSource
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


def test_a_store_without_runs_in_these_days_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--at", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("how", [[], ["-o", "-"], ["--format", "json"], ["-o", "a.json"], ["--format", "html"]])
def test_reports_need_a_page_in_a_file(how: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--days", "20000", "--reports", *how]) == 2
    assert capsys.readouterr().err == "turntape: --reports belongs to a page in a file; add -o fleet.html\n"


@pytest.mark.parametrize(
    ("how", "form"),
    [
        (["-o", "FLEET.HTML"], "html"),
        (["-o", "a.htm"], "html"),
        (["-o", "a.json"], "json"),
        (["-o", "a.txt"], "text"),
        (["-o", "a.html", "--format", "json"], "json"),
        (["-o", "a.json", "--format", "html"], "html"),
        (["--format", "html"], "html"),
        (["--format", "json"], "json"),
        (["--json"], "json"),
        ([], "text"),
    ],
)
def test_the_form_is_the_requested_one_or_that_of_the_name(
    how: list[str], form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fleet", "--days", "20000", *how]) == 0

    out = capsys.readouterr().out
    written = Path(how[1]).read_text() if "-o" in how else out
    assert written.startswith({"html": "<!doctype html>", "json": "{", "text": "turntape fleet"}[form])
    assert "shipped" in written and not (out and "-o" in how)


def test_the_last_days_are_those_and_today_is_one_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    today = datetime.now(UTC).date()
    for ago in (0, 1, 13, 14):
        day = today - timedelta(days=ago)
        folder(Path("days"), [row(0, f"{ago:032x}", day, branch=f"{ago} days ago")])

    def branches(*days: str) -> set[str]:
        assert main(["fleet", "--at", "days", "--json", *days]) == 0
        return {one["name"] for one in json.loads(capsys.readouterr().out)["branches"]}

    assert branches("--days", "1") == {"0 days ago"}
    assert branches("--days", "2") == {"0 days ago", "1 days ago"}
    assert branches() == {"0 days ago", "1 days ago", "13 days ago"}
    assert branches("--days", "15") == {"0 days ago", "1 days ago", "13 days ago", "14 days ago"}


def test_the_text_has_colours_and_the_width_of_the_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    def lines(*how: str) -> list[str]:
        assert main(["fleet", "--days", "20000", *how]) == 0
        return capsys.readouterr().out.splitlines()

    plain = lines("--width", "60")
    assert "\x1b[" not in "".join(plain) and len(plain[0]) <= 60
    assert plain == [line.rstrip() for line in plain]
    coloured = lines("--width", "60", "--color", "always")
    assert [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in coloured] == plain != coloured
    assert lines("--width", "100") == lines() != plain


def test_reports_of_other_users_runs_are_private_and_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["fleet", "--days", "20000", "-o", "fleet.html", "--reports"]) == 0

    (report,) = Path("fleet-runs").iterdir()
    assert "<title>shipped" in report.read_text()
    if sys.platform != "win32":
        assert (Path("fleet-runs").stat().st_mode & 0o777, report.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("how", [["-o", "a.html"], ["--format", "json"]])
def test_the_screen_writes_no_file(how: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--view", *how]) == 2
    assert "--view draws on the terminal and writes no file" in capsys.readouterr().err
    assert not Path("a.html").exists()


def test_the_screen_needs_a_terminal_and_a_store(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--view"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("turntape: --view needs a terminal to draw on, and ") and said.count("\n") == 1
    assert main(["fleet", "--view", "--at", "ftp://nowhere"]) == 2
    assert "needs a terminal" not in capsys.readouterr().err


@pytest.mark.parametrize("ascii_", [True, False])
def test_the_screen_shows_the_days_in_the_theme_of_the_options(ascii_: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[object, object]] = []

    def viewer(source: StoreSource, *, theme: str, ascii: bool, traceback: bool) -> object:
        seen.append((theme, ascii))
        first, last = source.period()
        seen.append(((last - first).days, traceback))
        return seen

    monkeypatch.setattr("turntape.proxy.launch.terminal.undrawable", lambda: None)
    monkeypatch.setattr("turntape.proxy.launch.terminal.ascii_only", lambda _environ: ascii_)
    monkeypatch.setattr("turntape.inspector.views.tui.fleet.fleet_app.FleetViewer", viewer)
    monkeypatch.setattr("turntape.proxy.cli.commands.fleet.shown", lambda _viewer: 7)

    assert main(["fleet", "--view", "--days", "3", "--theme", "dark"]) == 7
    assert seen == [("dark", ascii_), (2, False)]
