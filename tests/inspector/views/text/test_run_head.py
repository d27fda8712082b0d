"""The head of a run's text."""

import pytest
from conversations import loop

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all
from turntape.inspector.views.text.run_head import head_lines, turn_figures
from turntape.inspector.views.text.terminal_text import plain, width_of


def head(*trips: object, width: int = 100) -> list[str]:
    labelled = label_all(Cassette.from_round_trips(trips))  # type: ignore[arg-type]
    return [plain(line) for line in head_lines("a.cassette.jsonl", [turn_figures(one) for one in labelled], width)]


def test_the_head_says_the_cost_then_what_there_is() -> None:
    assert head(*loop())[1].startswith("$0.00061 · 2 turns · 250 tokens in · ")


def test_a_run_without_turns_has_no_cost() -> None:
    assert head() == ["a.cassette.jsonl", "0 turns"]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_of_the_head_is_wider_than_the_terminal(width: int) -> None:
    lines = head(*loop(), width=width)[1:]

    assert max(map(width_of, lines)) <= width
    assert "gpt-5-2025-08-07" in lines[-1].replace(" ", "")
