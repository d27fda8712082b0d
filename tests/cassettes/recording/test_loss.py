"""What other programs do to a file that is being written is said at once, with how many round trips are lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from factories import round_trip
from recordings import bodies, growing, read_by_any_tool
from waiting import eventually

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.recording import write_queue
from turntape.cassettes.recording.loss import Loss, WrittenFile


@pytest.fixture(params=["jsonl", "jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"run.cassette.{request.param}"


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "LOOK", 0.02)


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("other.jsonl"))


def replace(path: Path) -> None:
    path.with_name("new").write_text("{}\n")
    path.with_name("new").replace(path)


def written(recorder: Recorder) -> None:
    eventually(lambda: not recorder.waiting)


@pytest.mark.parametrize("change", [remove, rename, replace])
def test_a_file_that_leaves_its_place_is_said_at_once(
    change: Callable[[Path], None], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, third = growing(3)
    with Recorder(path, durable=False) as recorder:
        recorder.write(first)
        recorder.write(second)
        written(recorder)
        assert recorder.problem is None and recorder.loss is None
        change(path)
        eventually(lambda: recorder.problem is not None)  # nothing is written meanwhile
        assert [message for message in caplog.messages if str(path) in message] == [f"turntape: {recorder.problem}"]
        recorder.write(third)

    assert recorder.problem is not None and "(2 of 2 round trips are not in" in recorder.problem
    assert recorder.loss == f"3 of 3 round trips are not in {str(path)!r}"
    assert recorder.lost == 3


def test_a_renamed_file_keeps_everything_and_is_named(path: Path) -> None:
    first, second = growing(2)
    with Recorder(path, durable=False) as recorder:
        recorder.write(first)
        written(recorder)
        rename(path)
        recorder.write(second)

    other = path.with_name("other.jsonl")
    assert bodies(list(Cassette.load(other))) == bodies([first, second])
    assert (
        recorder.problem is not None
        and f"was renamed while it was being written; the recording is in '{other}'" in (recorder.problem)
    )


def test_after_the_file_was_removed_each_round_trip_is_reported_as_lost(path: Path) -> None:
    lost: list[int] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_lost = lost.append
        recorder.write(growing(1)[0])
        written(recorder)
        path.unlink()
        eventually(lambda: recorder.problem is not None)
        recorder.write(growing(1)[0])
        recorder.label(0, {})

    assert lost == [1]


@pytest.mark.parametrize(("kept", "more"), [(0, -1), (0, 0), (2, 0), (2, 30), (3, 7)])
def test_a_file_that_is_cut_is_continued_and_what_is_lost_is_counted(
    kept: int, more: int, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trips = growing(7)
    sizes = [0]
    with Recorder(path, durable=False) as recorder:
        for trip in trips[:5]:
            recorder.write(trip)
            written(recorder)
            sizes.append(path.stat().st_size)
        size = 5 if more < 0 else sizes[kept] + more
        os.truncate(path, size)
        eventually(lambda: recorder.problem is not None)
        assert len(caplog.messages) == 1
        for trip in trips[5:]:
            recorder.write(trip)

    read = list(Cassette.load(path))
    assert [trip.index for trip in read] == [*range(kept), 5, 6]
    assert bodies(read) == bodies([*trips[:kept], *trips[5:]])
    assert recorder.lost == 5 - kept
    assert recorder.problem is not None and f"to {size:,} bytes while it was being written; {5 - kept} round trips" in (
        recorder.problem
    )
    assert recorder.loss == f"{5 - kept} of 7 round trips are not in {str(path)!r}"
    assert read_by_any_tool(path)


def test_a_device_is_not_taken_for_a_cut_file() -> None:
    with Recorder("/dev/null", append=True, durable=False) as recorder:
        recorder.write(round_trip())
        written(recorder)

    assert recorder.problem is None and recorder.lost == 0


def test_the_same_problem_is_said_once_and_only_the_first_ones_are(caplog: pytest.LogCaptureFixture) -> None:
    loss = Loss(Path("a"))
    for number in [0, 0, 1, 2, 3, 4, 5, 6]:
        loss.complain(f"problem {number}")

    assert caplog.messages == [f"turntape: problem {number}" for number in range(5)]
    assert loss.problem == "problem 0"


def test_a_problem_that_comes_and_goes_is_not_said_without_end(caplog: pytest.LogCaptureFixture) -> None:
    loss = Loss(Path("a"))
    for _ in range(20):
        loss.complain("the disk is full")
        loss.ended()

    assert caplog.messages == ["turntape: the disk is full", "turntape: the recording continues in 'a'"] * 5 + [
        "turntape: the disk is full"
    ]


def test_carried_round_trips_that_are_cut_off_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    with path.open("rb") as file:
        written = WrittenFile(path, file.fileno())
        for number in range(4):
            written.holds(number, 10 * number + 10, counts=number >= 2)
        assert (written.following, written.cut_at(30), written.following) == (4, 1, 3)
        assert (written.cut_at(10), written.following) == (1, 1)
        written.holds(7, 20)
        assert (written.following, written.cut_at(0), written.following) == (8, 1, 0)


def test_the_count_is_a_sentence() -> None:
    loss = Loss(Path("a"))
    loss.handed_in = 1
    assert (loss.count, loss.sentence) == (0, None)
    loss.add(1)
    assert (loss.count, loss.sentence) == (1, "the only round trip is not in 'a'")
    loss.handed_in = 2000
    assert loss.sentence == "1 of 2,000 round trips is not in 'a'"
    loss.add(1)
    assert loss.sentence == "2 of 2,000 round trips are not in 'a'"
    loss.elsewhere = True
    assert (loss.count, loss.sentence) == (2000, "2,000 of 2,000 round trips are not in 'a'")


def test_the_end_of_a_problem_says_how_much_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    loss = Loss(Path("a"))
    loss.handed_in = 3
    loss.add(1)

    loss.ended()

    assert caplog.messages == ["turntape: the recording continues in 'a'; 1 of 3 round trips is not in it"]


def test_a_listener_gets_problems_in_place_of_the_log_and_its_faults_are_harmless(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def say(sentence: str) -> None:
        said.append(sentence)
        raise RuntimeError("the listener fails")

    said: list[str] = []
    with Recorder(path, durable=False) as recorder:
        recorder.on_problem(say)
        recorder.write(round_trip())
        written(recorder)
        path.unlink()
        eventually(lambda: bool(said))

    assert said == [recorder.problem]
    assert caplog.messages == ["fault while a problem was reported"]
