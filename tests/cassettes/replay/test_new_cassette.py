"""The file of a recording is never mixed with another one, and becomes the cassette only when it is whole."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, CassetteError, RoundTrip
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.replay.new_cassette import Labels, NewCassette, is_unfinished, unfinished


def recording(path: Path, body: bytes | None, *, append: bool = False, labels: Labels | None = None) -> NewCassette:
    """A recording of one request; of none when the body is None."""
    new = NewCassette(path, append=append, redactor=Redactor.from_config, labels=labels)
    if body is not None:
        new.give(lambda recorder: recorder.write(round_trip(body)))
    return new


def finished(new: NewCassette) -> int:
    count = new.close()
    new.put_in_place({})
    return count


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.cassette.jsonl"


def bodies(path: Path) -> list[bytes]:
    return [trip.request.body for trip in Cassette.load(path)]


def test_the_cassette_is_there_when_the_recording_has_ended_and_not_before(path: Path) -> None:
    new = recording(path, b"1")
    assert not path.exists() and unfinished(path).exists()

    assert finished(new) == 1
    assert bodies(path) == [b"1"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_only_what_is_new_is_counted_when_a_cassette_is_continued(path: Path) -> None:
    finished(recording(path, b"1"))

    assert finished(recording(path, b"2", append=True)) == 1
    assert bodies(path) == [b"1", b"2"]


def test_a_cassette_keeps_the_permissions_of_the_one_before(path: Path) -> None:
    finished(recording(path, b"1"))
    path.chmod(0o640)

    finished(recording(path, b"2"))
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("opened", [True, False])
def test_a_recording_that_is_discarded_changes_nothing(opened: bool, path: Path) -> None:
    finished(recording(path, b"1"))
    new = recording(path, b"2" if opened else None)

    new.discard()
    assert bodies(path) == [b"1"]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_one_that_was_never_opened_discards_nothing_of_another(path: Path) -> None:
    first, second = recording(path, b"1"), recording(path, None)

    second.discard()
    assert finished(first) == 1


def test_one_that_is_opened_and_gets_nothing_holds_nothing(path: Path) -> None:
    new = recording(path, None)
    new.open()
    assert unfinished(path).exists() and not new.holds_something

    new.give(lambda recorder: recorder.write(round_trip(b"1")))
    assert new.holds_something


def test_an_interrupted_recording_is_left_over_once_nobody_writes_it(path: Path) -> None:
    new = recording(path, b"1")
    assert not recording(path, None).is_left_over

    new.close()
    assert recording(path, None).is_left_over
    assert not recording(path.with_name("other.cassette.jsonl"), None).is_left_over


def test_one_who_records_while_another_labels_takes_nothing_away(path: Path) -> None:
    def labels(trips: Sequence[RoundTrip]) -> Iterable[tuple[int, dict[str, object]]]:
        assert finished(recording(path, b"second")) == 1
        return [(0, {"turn": 1})]

    assert finished(recording(path, b"first", labels=labels)) == 1
    assert bodies(path) == [b"first"]
    assert Cassette.load(path).labels[0] == {"turn": 1}
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_one_who_begins_while_another_records_is_refused(path: Path) -> None:
    first, second = recording(path, b"first"), recording(path, b"second")

    with pytest.raises(CassetteError, match="is being recorded by another test or worker; give each test a separate"):
        second.close()
    assert not second.holds_something
    assert finished(first) == 1
    assert bodies(path) == [b"first"]


def test_what_an_interrupted_recording_left_is_replaced(path: Path) -> None:
    unfinished(path).write_bytes(b"left")

    assert finished(recording(path, b"1")) == 1
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_a_file_that_somebody_else_put_in_its_place_is_not_taken(path: Path) -> None:
    new = recording(path, b"1")
    new.close()
    unfinished(path).rename(path.with_name("gone"))
    unfinished(path).write_bytes(b"other")

    with pytest.raises(CassetteError, match="is being recorded by another"):
        new.put_in_place({})
    assert unfinished(path).read_bytes() == b"other"


def test_a_cassette_that_cannot_be_put_in_place_says_where_the_recording_is(path: Path) -> None:
    new = recording(path, b"1")
    new.close()
    path.mkdir()

    with pytest.raises(CassetteError, match=r"^cannot write the cassette .*; what was recorded is in .*unfinished"):
        new.put_in_place({})
    assert bodies(new.file) == [b"1"]


@pytest.mark.parametrize("name", ["a.cassette.jsonl", "a.cassette.jsonl.zst", "a.jsonl", "a.jsonl.zst", "a.b.jsonl"])
def test_an_unfinished_recording_is_known_by_its_name(name: str) -> None:
    path = Path("folder") / name

    assert is_unfinished(unfinished(path)) and not is_unfinished(path)
    assert unfinished(path).parent == path.parent and unfinished(path).suffix == path.suffix
