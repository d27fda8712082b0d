"""`turntape price` as a user runs it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cached_turns import MARK, POLICY, asks, claude, says, text
from recordings import record

from turntape.proxy.cli import main

NOW = 1_795_000_000.0
U = asks(text("What is a tape?", MARK))
MORE = [asks(text("What is a tape?")), says("Fine."), asks(text("And a reel?", MARK))]
CLOCK = (
    claude([U], (0, 5166, 3), system="It is 12:01. " + POLICY),
    claude(MORE, (0, 5266, 3), at=30, system="It is 12:02. " + POLICY),
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    trips = [replace(trip, index=n, started_at=trip.started_at + NOW) for n, trip in enumerate(CLOCK)]
    record(tmp_path / "run.cassette.jsonl", trips).close()


def price(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["price", "run.cassette.jsonl", *arguments]) == 0
    return capsys.readouterr().out


def priced(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    return json.loads(price(capsys, "--json", *arguments))


def test_it_shows_what_could_have_been_saved(capsys: pytest.CaptureFixture[str]) -> None:
    lines = price(capsys, "--width", "100").splitlines()
    assert lines[0] == "run.cassette.jsonl: 2 requests, $0.040"
    assert lines[2].split() == ["what", "if", "bill", "change", "input", "cached"]
    assert lines[3].startswith("as batch requests")
    clock = next(line for line in lines if line.startswith("no date, clock or id"))
    assert clock.split()[-6:] == ["$0.023", "-44", "%", "10.4k", "49", "%"]
    assert lines.index(clock) < next(n for n, line in enumerate(lines) if line.startswith("as it was"))
    assert "assumed:" in lines


def test_each_option_is_a_row_and_all_together_one_more(capsys: pytest.CaptureFixture[str]) -> None:
    found = priced(
        capsys,
        *("--model", "claude-haiku-4-5", "--tier", "batch", "--cache", "1h", "--marks", "system,last"),
        *("--sort-tools", "--without-tool", "look", "--cap-results", "100", "--without-clock"),
    )
    words = [one["what"] for one in found["scenarios"]]
    assert len(words) == 8
    assert words[0] == (
        "on claude-haiku-4-5, as batch requests, cache entries kept 1 hour, "
        "cache marks behind the system prompt and the last piece, tools always in the same order, "
        "without the tool look, results capped at 100 tokens, no date, clock or id in the system prompt and the tools"
    )


def test_the_json_has_amounts_and_assumptions(capsys: pytest.CaptureFixture[str]) -> None:
    found = priced(capsys, "--without-clock")
    assert {key: found[key] for key in ("turns", "uncounted", "unpriced", "input", "cache_read", "cache_write")} == {
        "turns": 2,
        "uncounted": 0,
        "unpriced": 0,
        "input": 10438,
        "cache_read": 0,
        "cache_write": 10432,
    }
    (clock,) = found["scenarios"]
    assert (clock["cache_read"], clock["cache_write"], clock["input"]) == (5166, 5266, 10438)
    assert float(clock["difference_usd"]) == pytest.approx(float(clock["bill_usd"]) - float(found["actual_usd"]))
    assert any("found by their form" in one for one in clock["assumptions"])


def test_a_model_without_a_price_has_no_bill(capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = priced(capsys, "--model", "no-such-model")["scenarios"]
    assert (one["bill_usd"], one["difference_usd"], one["unpriced"]) == (None, None, 2)
    assert "–" in price(capsys, "--model", "no-such-model")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--without-tool", "lock"], "did you mean 'look'?"),
        (["--marks", "system,end"], "--marks has 'end'; write tools, system, last"),
    ],
)
def test_mistakes_are_named(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", "run.cassette.jsonl", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--cap-results", "few"), ("--cache", "2h"), ("--tier", "slow")])
def test_bad_values_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["price", "run.cassette.jsonl", option, value])
    assert stopped.value.code == 2
    assert repr(value) in capsys.readouterr().err


def test_it_writes_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert price(capsys, "-o", "bills.txt") == ""
    assert "what if" in Path("bills.txt").read_text(encoding="utf-8")
