"""A recording without its secrets replays as before, and nothing else in it changes."""

import json
import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from factories import round_trip
from recordings import bodies, growing, record, single

from turntape.cassettes import Cassette, CassetteError, FormatError, Player, Recorder, Redactor, RoundTrip
from turntape.cassettes.redaction.lint import secrets_in
from turntape.cassettes.redaction.scrub import scrub

KEY = "sk-ant-api03-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
NAME = "Operation Blue Heron"


def asked(text: str) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


def unsafe(path: Path, trips: list[RoundTrip]) -> Path:
    """A recording from before there were rules."""
    with Recorder(path, redactor=Redactor(salt="s", enabled=False), durable=False) as recorder:
        for number, trip in enumerate(trips):
            recorder.write(trip)
            recorder.label(number, {"turn": number, "said": f"it is {KEY}"})
    return path


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_an_old_recording_is_cleaned_and_replays(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    history = "word " * 200
    trips = [round_trip(asked(f"{history} {KEY} {NAME} {number}")) for number in range(4)]
    old = unsafe(tmp_path / f"old.cassette.{suffix}", trips)
    assert secrets_in(Cassette.load(old))

    done = scrub(old, tmp_path / f"new.cassette.{suffix}", [NAME])

    new = Cassette.load(tmp_path / f"new.cassette.{suffix}")
    assert secrets_in(new) == [] and new.problems == []
    assert (done.changed, done.lines) == (8, 8)
    assert [len(body) for body in bodies(list(new))] == [len(trip.request.body) for trip in trips]
    assert not any(KEY.encode() in body or NAME.encode() in body for body in bodies(list(new)))
    assert KEY not in json.dumps(new.labels) and [label["turn"] for label in new.labels.values()] == [0, 1, 2, 3]
    assert (new.salt, new.header) == ("s", Cassette.load(old).header)
    (tmp_path / "turntape.toml").write_text(f'redact = ["{NAME}"]')
    answer = Player(new.path or "").answer("POST", "/v1/chat/completions", (), asked(f"{history} {KEY} {NAME} 2"))
    assert answer.index == 2


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_a_clean_recording_stays_as_it_is(suffix: str, tmp_path: Path) -> None:
    old = tmp_path / f"old.cassette.{suffix}"
    trips = [*growing(3), *single(2)]
    secret = RoundTrip(
        round_trip(b"{}").request.__class__(
            "POST", "https://a.example/?key=plain", (("Authorization", "Bearer plain"), ("Cookie", "a=b")), b"{}"
        ),
        None,
        1.0,
    )
    record(old, [*trips, secret])

    done = scrub(old, tmp_path / f"new.cassette.{suffix}")

    assert (done.changed, done.lines) == (0, 6)
    assert list(Cassette.load(tmp_path / f"new.cassette.{suffix}")) == list(Cassette.load(old))
    if suffix == "jsonl":
        assert (tmp_path / "new.cassette.jsonl").read_bytes() == old.read_bytes()


def test_a_recording_is_replaced_in_one_step(tmp_path: Path) -> None:
    path = unsafe(tmp_path / "run.cassette.jsonl", [round_trip(asked(KEY))])

    scrub(path, path)

    assert secrets_in(Cassette.load(path)) == []
    assert [file.name for file in tmp_path.iterdir()] == ["run.cassette.jsonl"]
    assert path.stat().st_mode & 0o077 == 0


def test_the_new_file_is_closed_before_it_takes_the_place_of_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = unsafe(tmp_path / "run.cassette.jsonl", [round_trip(asked(KEY))])
    made: list[Any] = []
    states: list[bool] = []

    def temporary(**options: Any) -> Any:
        made.append(NamedTemporaryFile(**options))  # noqa: SIM115 - scrub closes it
        return made[-1]

    def replace(old: Path, new: Path) -> None:
        states.append(made[-1].closed)
        os.replace(old, new)  # noqa: PTH105 - that method is replaced

    monkeypatch.setattr("turntape.cassettes.redaction.scrub.NamedTemporaryFile", temporary)
    monkeypatch.setattr(Path, "replace", replace)

    scrub(path, path)

    assert states == [True]
    assert secrets_in(Cassette.load(path)) == []


def test_damaged_lines_lose_their_secrets_too(tmp_path: Path) -> None:
    path = unsafe(tmp_path / "run.cassette.jsonl", [round_trip(asked(f"{KEY} {number}")) for number in range(2)])
    text = path.read_bytes()
    path.write_bytes(text[: text.rindex(b'"headers"')] + b'\n{"n":"x","key":"' + KEY.encode() + b'"}\n' + KEY.encode())

    scrub(path, tmp_path / "new.cassette.jsonl")

    assert KEY.encode() not in (tmp_path / "new.cassette.jsonl").read_bytes()


def test_what_is_not_a_recording_is_refused_and_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    other = tmp_path / "a.txt"
    other.write_text("hello\n")
    good = unsafe(tmp_path / "run.cassette.jsonl", [round_trip(b"{}")])

    with pytest.raises(FormatError, match="is not a turntape cassette"):
        scrub(other, tmp_path / "out.jsonl")
    with pytest.raises(CassetteError, match="cannot write .*; choose another place with -o"):
        scrub(good, tmp_path / "missing" / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_symbolic_link_is_followed_so_that_the_recording_itself_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    real = unsafe(tmp_path / "real.cassette.jsonl", [round_trip(asked(f"it is {KEY}"))])
    link = tmp_path / "link.cassette.jsonl"
    link.symlink_to(real.name)

    done = scrub(link, link)

    assert link.is_symlink() and KEY.encode() not in real.read_bytes()
    assert (done.changed, done.other_names) == (2, 0)


def test_other_names_of_the_file_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = unsafe(tmp_path / "one.cassette.jsonl", [round_trip(asked(f"it is {KEY}"))])
    (tmp_path / "other.cassette.jsonl").hardlink_to(one)

    assert scrub(one, one).other_names == 1
    assert scrub(one, tmp_path / "new.cassette.jsonl").other_names == 0
