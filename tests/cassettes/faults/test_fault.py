"""Faults as values and as a TOML file: what one may say, and what is wrong with any other."""

from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.faults.fault import KINDS, Fault, beside, faults_of, overlay_of, read_faults


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault(3, "429"), "429 at turn 3"),
        (Fault(3, "timeout", thread="t2"), "timeout at turn 3 of t2"),
        (Fault("*", "slow", seconds=1.5), "slow 1.5 s at every turn"),
        (Fault("*", "slow", seconds=0), "slow at every turn"),
        (Fault("#5", "cut", after=2), "cut after 2 at #5"),
        (Fault(1, "cut", after=0), "cut at turn 1"),
        (Fault(1, "finish", finish="length"), "finish length at turn 1"),
        (Fault(1, "truncated_arguments"), "truncated_arguments at turn 1"),
        (Fault(1, "empty", seconds=9, after=7), "empty at turn 1"),
    ],
)
def test_a_fault_is_named_with_what_its_kind_uses(fault: Fault, text: str) -> None:
    assert str(fault) == text


def test_a_kind_may_be_a_number_and_defaults_are_one_failure_at_once() -> None:
    fault = Fault(1, 429)  # type: ignore[arg-type]

    assert (fault.kind, fault.times, fault.after, fault.seconds, fault.retry_after) == ("429", 1, 1, 2.0, None)


@pytest.mark.parametrize("turn", [1, 7, "*", "#0", "#12"])
def test_a_turn_is_a_number_a_round_trip_or_all(turn: int | str) -> None:
    assert Fault(turn, "cut").turn == turn


@pytest.mark.parametrize("turn", [0, -1, "", "5", "#", "#x", "12#", "**", "#-1", None, 1.5])
def test_any_other_turn_is_refused(turn: Any) -> None:
    with pytest.raises(ValueError, match="write a turn's number from 1"):
        Fault(turn, "cut")


@pytest.mark.parametrize(
    "wrong", [{"times": 0}, {"after": -1}, {"seconds": -0.1}, {"retry_after": -1}, {"times": -3, "after": 1}]
)
def test_numbers_that_are_too_small_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="too small"):
        Fault(1, "cut", **wrong)
    assert Fault(1, "slow", times=1, after=0, seconds=0, retry_after=0).times == 1


def test_an_unknown_kind_names_those_that_there_are_and_another_finish_needs_its_word() -> None:
    with pytest.raises(ValueError, match="'slwo' is not a kind of fault; write one of 429, .*slow.*empty"):
        Fault(1, "slwo")
    for word in (None, ""):
        with pytest.raises(ValueError, match="needs `finish`"):
            Fault(1, "finish", finish=word)


def test_only_a_changed_answer_is_the_answer_of_its_turn() -> None:
    assert {name for name, kind in KINDS.items() if kind.takes is True} == {
        "slow", "truncated_arguments", "finish", "empty",
    }  # fmt: skip
    assert all(isinstance(kind.summary, str) for kind in KINDS.values())


def written(folder: Path, text: str) -> Path:
    path = folder / "a.faults.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_has_a_table_for_each_fault(tmp_path: Path) -> None:
    text = (
        '\ufeff[[fault]]\nturn = 2\nkind = 429\nretry_after = 3\n[[fault]]\nturn = "*"\nkind = "slow"\nseconds = 0.5\n'
    )
    path = written(tmp_path, text)
    found = (Fault(2, "429", retry_after=3), Fault("*", "slow", seconds=0.5))

    assert read_faults(path) == faults_of(path) == faults_of(str(path)) == found
    assert faults_of(found[0]) == found[:1] and faults_of(list(found)) == found
    assert read_faults(written(tmp_path, "")) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[fault", "are not valid TOML"),
        ("a = 1\nb = 2", "holds a, b; write a [[fault]] table"),
        ("fault = 1", "holds `fault` as no list"),
        ("fault = [1]", "holds `fault` as no list"),
        ('[[fault]]\nturn = 1\nkind = "cut"\nwhen = 2', "a fault in {path} has 'when'; it may have turn, kind"),
        ('[[fault]]\nturn = 1\nkind = "cut"\ntimes = "2"', "has times = '2'; write int"),
        ('[[fault]]\nturn = true\nkind = "cut"', "has turn = True; write int"),
        ('[[fault]]\nturn = 1\nkind = "cut"\nseconds = "x"', "has seconds = 'x'; write int"),
        ("[[fault]]\nturn = 1", "has no `turn` or no `kind`"),
        ('[[fault]]\nkind = "cut"', "has no `turn` or no `kind`"),
        ('[[fault]]\nturn = 0\nkind = "cut"', "in {path}: the fault's turn is 0"),
    ],
)
def test_any_other_content_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)

    with pytest.raises(CassetteError) as raised:
        read_faults(path)

    assert said.format(path=repr(str(path))) in str(raised.value) and "\n" not in str(raised.value)


def test_a_file_that_is_not_there_or_not_text_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot read the faults in .*; check the name"):
        read_faults(tmp_path / "missing.toml")
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CassetteError, match="are not valid TOML"):
        read_faults(tmp_path / "raw.toml")


@pytest.mark.parametrize("name", ["run.cassette.jsonl", "run.cassette.jsonl.zst", "run.cassette"])
def test_the_faults_of_a_cassette_are_beside_it_unless_others_are_named(name: str, tmp_path: Path) -> None:
    cassette, file = tmp_path / name, tmp_path / "run.cassette.faults.toml"

    assert beside(cassette) == file and overlay_of(cassette, None) is None
    file.touch()
    assert overlay_of(str(cassette), None) == file
    assert overlay_of(cassette, "none") is None and overlay_of(cassette, Path("none")) is None
    assert overlay_of(cassette, "other.toml") == Path("other.toml")
