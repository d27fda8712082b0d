"""A turn or a thread that is not there."""

from pathlib import Path

import pytest
from conversations import chat, loop, said, user

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.errors import TurntapeError
from turntape.proxy.cli.selection import check_selection


@pytest.fixture
def cassette(tmp_path: Path) -> Cassette:
    """Thread t1 has turns 1 and 2, t2 has turn 1."""
    path = tmp_path / "a.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in [*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]:
            recorder.write(trip)
    return Cassette.load(path)


@pytest.mark.parametrize(("turn", "thread"), [(None, None), (1, None), (2, None), (None, "t1"), (2, "t1"), (1, "t2")])
def test_what_is_there_is_fine(turn: int | None, thread: str | None, cassette: Cassette) -> None:
    check_selection(cassette, turn, thread)


@pytest.mark.parametrize(
    ("turn", "thread", "message"),
    [
        (99, None, "has no turn 99; --turn takes 1 to 2"),
        (3, "t1", "has no turn 3 of thread 't1'; --turn takes 1 to 2"),
        (2, "t2", "has no turn 2 of thread 't2'; --turn takes only 1"),
        (None, "t7", "has no thread 't7'; it has t1, t2"),
        (1, "t7", "has no thread 't7'; it has t1, t2"),
    ],
)
def test_what_is_not_there_is_reported_with_what_is(
    turn: int | None, thread: str | None, message: str, cassette: Cassette
) -> None:
    with pytest.raises(TurntapeError) as caught:
        check_selection(cassette, turn, thread)

    assert str(caught.value) == f"{str(cassette.path)!r} {message}"


def test_a_cassette_without_turns_says_so(tmp_path: Path) -> None:
    Recorder(tmp_path / "a").close()

    for turn, thread in ((1, None), (None, "t1")):
        with pytest.raises(TurntapeError, match="; it has no turns$"):
            check_selection(Cassette.load(tmp_path / "a"), turn, thread)
