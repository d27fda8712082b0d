"""How fast recorded chunks come."""

import pytest

from turntape.cassettes.replay.pace import Pace


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ("instant", [0, 0, 0]),
        ("recorded", [0.5, 1.5, 8.0]),
        (2, [0.25, 0.75, 4.0]),
        ("2", [0.25, 0.75, 4.0]),
        ("max=1", [0.5, 1.0, 1.0]),
        ("recorded,max=1", [0.5, 1.0, 1.0]),
        ("2, max=0.5", [0.25, 0.5, 0.5]),
    ],
)
def test_the_waits_of_an_answer(said: str | float, waits: list[float]) -> None:
    pauses = Pace.of(said).pauses()

    assert [pauses.before(at) for at in (500_000, 2_000_000, 10_000_000)] == waits


@pytest.mark.parametrize("said", ["fast", 0, -1, "", "max=", "max=0", "2,", "2,3", "instant,max=1", "nan", "inf"])
def test_another_word_is_refused_in_one_sentence(said: str | float) -> None:
    with pytest.raises(ValueError, match="is not instant, recorded, or how many times faster .*; write it like"):
        Pace.of(said)
