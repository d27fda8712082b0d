"""Commands that read cassettes take the addresses of shipped ones."""

import json
from pathlib import Path

import pytest
from shipped_tapes import LOOP, tape

from turntape.inspector.fleet.shipping.ship import ShipOptions, ship
from turntape.proxy.cli import main
from turntape.proxy.cli.shipped_tapes import fetched, round_trip_of


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    monkeypatch.delenv("TURNTAPE_AT", raising=False)
    one = ship([tape(tmp_path / "a.cassette.jsonl")], str(tmp_path / "store"), ShipOptions()).files[0]
    return f"{tmp_path / 'store'}#{one.recording}"


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["show", "--json", *arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_show_reads_a_shipped_run(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["index"] for one in lines(capsys, address)] == list(range(LOOP))


def test_the_number_of_a_round_trip_selects_its_turn(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert [one["index"] for one in lines(capsys, f"{address}/1")] == [1]


def test_a_row_id_is_enough_when_the_store_is_set(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _, recording = address.partition("#")
    monkeypatch.setenv("TURNTAPE_AT", store)
    assert [one["index"] for one in lines(capsys, f"{recording}/0")] == [0]


@pytest.mark.parametrize("command", ["check", "report", "diff"])
def test_other_commands_take_it_too(address: str, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = [address, address] if command == "diff" else [address]
    assert main([command, *given]) in (0, 1)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("end", "message"), [("/99", "has no round trip 99"), ("x", "cannot read the cassette"), ("/", "cannot read")]
)
def test_a_wrong_address_is_one_line(address: str, end: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", address + end]) == 2
    shown = capsys.readouterr().err
    assert message in shown and shown.count("\n") == 1


def test_a_bucket_alone_names_no_tape(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "s3://bucket/prefix"]) == 2
    assert "names no shipped tape; give STORE#RECORDING" in capsys.readouterr().err


def test_files_stay_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    odd = "x#" + "a" * 32
    (tmp_path / odd).write_text("")
    assert fetched("a.cassette.jsonl") is None
    assert fetched(odd) is None
    assert round_trip_of("a/12") is None
