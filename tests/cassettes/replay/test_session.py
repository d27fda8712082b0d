"""Two who record the same cassette at once: one of them is refused, and nothing is lost without a word."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, RoundTrip
from turntape.cassettes.replay.session import Session, unfinished


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)  # where nothing is recorded


def recorded(session: Session, body: bytes) -> Session:
    session._keep(round_trip(body))
    return session


def test_one_who_records_while_another_labels_takes_nothing_away(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"

    def labels(trips: Sequence[RoundTrip]) -> Iterable[tuple[int, dict[str, object]]]:
        assert recorded(Session(path, "all"), b'"second"').finish() == 1
        return [(0, {"turn": 1})]

    first = recorded(Session(path, "once", labels=labels), b'"first"')

    assert first.finish() == 1
    [trip] = Cassette.load(path)
    assert trip.request.body == b'"first"'
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_one_who_begins_while_another_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    first, second = Session(path, "once"), Session(path, "once")
    recorded(first, b'"first"')

    with pytest.raises(CassetteError, match="is being recorded by another test or worker"):
        recorded(second, b'"second"').finish()

    assert first.finish() == 1
    [trip] = Cassette.load(path)
    assert trip.request.body == b'"first"'


def test_what_an_interrupted_recording_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    unfinished(path).write_bytes(b"left")

    assert recorded(Session(path, "once"), b"1").finish() == 1
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_file_that_somebody_else_put_in_its_place_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    session = recorded(Session(path, "once"), b"1")
    written = unfinished(path).stat()
    unfinished(path).rename(tmp_path / "gone")
    unfinished(path).write_bytes(b"other")

    with pytest.raises(CassetteError, match="is being recorded by another"):
        session._take_away(written)
    assert unfinished(path).read_bytes() == b"other"
