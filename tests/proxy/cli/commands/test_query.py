"""`turntape query` as a user runs it."""

import json
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fleet_rows import folder, row

from turntape.proxy.cli import main


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TURNTAPE_AT", raising=False)
    folder(tmp_path / "store", [row(0, branch="main"), row(1, branch="main")])
    return tmp_path / "store"


def query(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["query", *arguments]) == code
    shown = capsys.readouterr()
    return shown.err if code else shown.out


def test_the_answer_is_a_table_and_json_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    sql = ("select branch, count(*) as turns from turns group by all", "--at", "store")

    assert query(capsys, *sql).splitlines() == ["branch  turns", "──────  ─────", "main        2"]
    assert json.loads(query(capsys, *sql, "--json")) == {"branch": "main", "turns": 2}
    assert query(capsys, *sql, "--csv") == "branch,turns\nmain,2\n"


@pytest.mark.parametrize(("name", "begins"), [("a.csv", "n\n"), ("a.json", '{"n": 0}'), ("a.txt", "n\n─")])
def test_the_ending_of_a_file_is_its_format(name: str, begins: str, capsys: pytest.CaptureFixture[str]) -> None:
    query(capsys, "select n from turns order by n", "--at", "store", "-o", name)

    assert Path(name).read_text().startswith(begins)
    assert Path(name).stat().st_mode & 0o077 == 0


def test_parquet_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    query(capsys, "select n from turns order by n", "--at", "store", "-o", "a.parquet")

    assert pq.read_table("a.parquet").to_pylist() == [{"n": 0}, {"n": 1}]


def test_a_named_question_with_a_parameter(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTAPE_AT", "store")

    answer = json.loads(query(capsys, "dearest-runs", "-p", "limit=1", "--json"))

    assert (answer["branch"], answer["cost_usd"]) == ("main", "0.02")
    assert answer["address"].startswith(f"{Path('store').absolute()}#")


def test_the_questions_are_listed_and_their_sql_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert "dearest-tools" in query(capsys, "--list")
    assert {"name", "summary", "parameters"} == json.loads(query(capsys, "--list", "--json").splitlines()[0]).keys()
    assert query(capsys, "slowest", "--sql").startswith("select request_model")


def test_sql_from_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("select count(*) as n from turns"))
    assert json.loads(query(capsys, "-", "--at", "store", "--json")) == {"n": 2}


def test_days_leaves_out_old_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert "has no rows of 2" in query(capsys, "select 1", "--at", "store", "--days", "1", code=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["select 1"], "no store is named; give --at STORE"),
        (["--at", "store"], "there is no question; give SQL or a name"),
        (["slowst", "--at", "store"], "did you mean 'slowest'?"),
        (["select costusd from turns", "--at", "store"], "did you mean 'cost_usd'?"),
        (["select 1", "--at", "nowhere"], "there is no folder 'nowhere'"),
        (["select 1", "--at", "ftp://x"], "'ftp://x' is not a store"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = query(capsys, *arguments, code=2)
    assert message in shown
    assert shown.count("\n") == 1


def test_without_the_extra_the_line_that_installs_it_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'turntape[fleet]'" in query(capsys, "select 1", "--at", "store", code=2)
