"""The fuzzer: a short run stops no reader, its inputs come again from their numbers, and it would see a failure."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.fuzz import __main__ as fuzz
from bench.fuzz import readers
from bench.fuzz.inputs import mutated, mutated_file, runs
from bench.fuzz.pumped import MANY, SIZE, pumped
from bench.fuzz.readers import Read, commands, labels, long_commands, long_texts, reading


def bad(reads: list[Read]) -> dict[str, str]:
    return {f"{one.number} {one.reader}": str(one.failed or one.guarded) for one in reads if one.failed or one.guarded}


@pytest.mark.parametrize("start", range(0, 1200, 300))
def test_changed_round_trips_are_read(start: int) -> None:
    assert bad([reading(number) for number in range(start, start + 300)]) == {}


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_runs_with_a_changed_round_trip_are_labelled(start: int) -> None:
    assert bad([labels(number) for number in range(start, start + 30)]) == {}


@pytest.mark.parametrize("number", range(12))
def test_no_changed_file_stops_a_command(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))

    reads = list(commands(number, tmp_path))

    assert bad(reads) == {}
    assert {one.reader for one in reads} == set(readers.COMMANDS)


def test_runs_with_a_long_text_are_labelled() -> None:
    assert bad([long_texts(number) for number in range(24)]) == {}


def test_a_run_with_a_long_text_stops_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))

    reads = list(long_commands(36, tmp_path))

    assert bad(reads) == {}
    assert {one.reader for one in reads} == {f"long {name}" for name in ("recorded", *readers.COMMANDS)}


def test_each_run_has_a_long_text_or_a_long_list() -> None:
    ways = Counter[bool]()
    for number in range(40):
        _, trips, what = pumped(number)
        bodies = [body for trip in trips for body in (trip.request.body, trip.response.body if trip.response else b"")]
        ways[f" has {MANY} times " in what] += 1
        assert max(map(len, bodies)) > (MANY if f" has {MANY} times " in what else SIZE * 0.9)

    assert min(ways.values()) > 5 and len(ways) == 2


def test_a_command_that_does_not_know_its_options_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(readers.COMMANDS, "check", ["check", "{F}", "--no-such-option"])

    found = {one.reader: one.failed for one in commands(1, tmp_path)}

    assert "unrecognized arguments" in str(found["check"]) and found["show"] is None


def test_a_number_is_always_the_same_input() -> None:
    for number in (3, 77):
        assert mutated(number) == mutated(number)
        assert mutated_file(number, b"head\n{}\n{}\n") == mutated_file(number, b"head\n{}\n{}\n")


def test_inputs_of_all_dialects_are_changed_in_all_ways() -> None:
    inputs = [mutated(number) for number in range(400)]
    originals = dict(runs())

    assert {dialect for _, dialect, _, _ in inputs} == set(originals)
    assert {kind for kind, _, _, _ in inputs} == {"odd values", "odd lines", "odd bytes", "odd head"}
    unchanged = sum(trips == dict(runs())[dialect] for _, dialect, trips, _ in inputs)
    assert unchanged < 40


def test_a_reader_that_fails_is_counted_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(readers, "read", fails)
    state = fuzz.State()
    state.add(reading(5))

    [row] = state.rows.values()
    assert (row.inputs, row.failed) == (1, 1)
    [(where, what)] = state.bad.items()
    assert where.startswith("5 read ") and "RuntimeError: planted" in what


def test_a_command_with_an_internal_error_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: list[str]) -> int:
        raise RuntimeError("planted")

    monkeypatch.setattr(readers, "main", fails)

    assert all("RuntimeError: planted" in str(one.failed) for one in commands(1, tmp_path))


def test_a_slow_input_is_counted() -> None:
    state = fuzz.State()
    state.add(Read(1, "odd bytes", "read x", 100, fuzz.SLOW + 1))

    assert state.rows["read x"].failed == 1 and state.bad == {"1 read x": "6.0 s: odd bytes"}


def test_what_was_read_is_kept_for_the_next_run(tmp_path: Path) -> None:
    state = fuzz.State(following=2000)
    state.add(Read(1, "odd bytes", "read x", 100, 0.001, failed="why"))
    fuzz.save(tmp_path / "new" / "state.json", state)

    assert fuzz.load(tmp_path / "new" / "state.json") == state
    assert fuzz.load(tmp_path / "none.json") == fuzz.State()
    assert "read x" in fuzz.table(state)
