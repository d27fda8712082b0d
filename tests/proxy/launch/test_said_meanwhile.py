"""What somebody reads who waits for the end of a recording."""

import pytest

from turntape.proxy.launch.said_meanwhile import EndAwaited


@pytest.mark.parametrize(
    ("done", "count", "said"),
    [
        (0, 0, "waiting for the process that labels, which has nothing to do"),
        (3, 1_200, "labelling what is recorded: 3 of 1,200 round trips"),
        (2, 2, "labelling what is recorded: the ends of the threads"),
    ],
)
def test_it_says_what_is_left_to_label(done: int, count: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    EndAwaited().labels(done, count)

    assert capsys.readouterr().err == f"turntape: {said}; Ctrl-C does not wait\n"


def test_it_speaks_at_once_and_then_every_fifth_second(capsys: pytest.CaptureFixture[str]) -> None:
    awaited = EndAwaited()
    for done in range(11):
        awaited.labels(done, 20)

    assert [line.split()[5] for line in capsys.readouterr().err.splitlines()] == ["0", "5", "10"]
