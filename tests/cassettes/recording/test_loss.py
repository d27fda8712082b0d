"""What is lost is counted, and each problem is reported once."""

from pathlib import Path

import pytest
from factories import round_trip
from waiting import eventually

from turntape.cassettes import Recorder
from turntape.cassettes.recording import write_queue
from turntape.cassettes.recording.loss import Loss, WrittenFile


@pytest.fixture(params=["jsonl", "jsonl.zst"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / f"run.cassette.{request.param}"


def written(recorder: Recorder) -> None:
    eventually(lambda: not recorder.waiting)


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
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_queue, "LOOK", 0.02)

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
