"""What a segment carries of the one before is read, and counted nowhere."""

from pathlib import Path

import pytest
from factories import round_trip
from recordings import bodies, growing

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.tape.carried import CONTINUED, FIELD, Carried, carried, carries_in, continued_line
from turntape.cassettes.tape.reader import Tail

MARK = Carried("a" * 32, "t3", 17, 2, 8)


def segment(path: Path) -> Path:
    """Two carried round trips, and two new ones; the next one carries the last."""
    trips = growing(4)
    with Recorder(path) as recorder:
        recorder.write(MARK.mark(trips[0]))
        recorder.write(Carried().mark(trips[1]))
        recorder.write(trips[2])
        recorder.write(trips[3])
    with path.open("ab") as file:
        file.write(continued_line({3}, "next.jsonl"))
    return path


def test_a_mark_survives_the_file(tmp_path: Path) -> None:
    first, second, *own = Cassette.load(segment(tmp_path / "a.jsonl")).with_carried()

    assert (carried(first), carried(second)) == (MARK, Carried())
    assert [carried(trip) for trip in own] == [None, None]


def test_only_its_own_round_trips_are_given_and_their_bodies_are_whole(tmp_path: Path) -> None:
    cassette = Cassette.load(segment(tmp_path / "a.jsonl"))

    assert [trip.index for trip in cassette] == [2, 3]
    assert len(cassette) == 2
    assert cassette[0].index == 2
    assert bodies(list(cassette)) == bodies(list(cassette.with_carried())[2:])
    assert [trip.index for trip in cassette.without_tool_wire()] == [2, 3]


def test_what_the_next_segment_carries_is_known(tmp_path: Path) -> None:
    path = segment(tmp_path / "a.jsonl")
    tail = Tail(path)
    tail.poll()

    assert Cassette.load(path).continued == tail.continued == {3}
    assert Cassette.load(path).problems == []


def test_a_recording_without_segments_is_itself(tmp_path: Path) -> None:
    with Recorder(tmp_path / "a.jsonl") as recorder:
        recorder.write(round_trip(b"{}"))
    cassette = Cassette.load(tmp_path / "a.jsonl")

    assert cassette.with_carried() is cassette
    assert cassette.continued == frozenset()


@pytest.mark.parametrize("value", [None, 3, [], "x", {"thread": 5, "turn": -1, "attempt": True, "threads": 2**60}])
def test_a_mark_of_another_kind_says_nothing(value: object) -> None:
    trip = round_trip(b"{}")
    trip.extra[FIELD] = value

    assert carried(trip) == Carried()


@pytest.mark.parametrize("value", [None, 3, {}, {"carries": 3}, {"carries": ["1", None, True]}])
def test_an_end_of_another_kind_says_nothing(value: object) -> None:
    assert carries_in({CONTINUED: value}) == frozenset()
