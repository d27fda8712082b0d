"""A run as text for a review."""

from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.text.terminal_text import plain, width_of
from turntape.inspector.views.text.trajectory_text import trajectory, trajectory_lines

EXAMPLE = list(label_all(Cassette.load(Path(__file__).parents[4] / "docs" / "example.cassette.jsonl")))


def test_each_thread_has_its_turns_in_order() -> None:
    heads = [line for line in trajectory(EXAMPLE).splitlines() if line.startswith(("thread ", "turn "))]

    assert heads[:3] == ["thread t1", "turn 1", "turn 2"]
    assert heads[-3:] == ["turn 1", "turn 2", "turn 3"]


def test_one_thread_needs_no_heading() -> None:
    text = trajectory(EXAMPLE, thread="t3")

    assert [line for line in text.splitlines() if line.startswith(("thread ", "turn "))] == [
        "turn 1",
        "turn 2",
        "turn 3",
    ]


def test_one_turn_of_one_thread() -> None:
    text = trajectory(EXAMPLE, thread="t1", turn=4)

    assert text.startswith("turn 4\n  ← write_file error: ")
    assert "  api: length (said 'max_tokens')\n" in text
    assert "[api-length-truncated-tool-call]" in text


def test_nothing_of_it_changes_from_run_to_run() -> None:
    text = trajectory(EXAMPLE)

    assert "$" not in text
    assert not [one for one in EXAMPLE if one.reading.response_id and one.reading.response_id in text]


@pytest.mark.parametrize("width", [40, 80])
def test_on_a_terminal_no_line_is_wider_and_no_word_is_lost(width: int) -> None:
    text = trajectory(EXAMPLE)
    lines = [plain(line) for line in trajectory_lines(text, width)]

    assert max(map(width_of, lines)) <= width < max(map(width_of, text.splitlines()))
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_without_a_width_it_is_the_text_of_the_approved_file() -> None:
    text = trajectory(EXAMPLE)

    assert "".join(plain(line) + "\n" for line in trajectory_lines(text, None)) == text
