"""A comparison as text."""

import pytest
from conversations import loop

from turntape.inspector.compare.run_diff import compare
from turntape.inspector.views.text.compare_text import compare_text
from turntape.inspector.views.text.terminal_text import plain, width_of


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_long_path_does_not_hide_what_the_runs_cost(width: int) -> None:
    path = "/a/path/that/is/longer/than/half/of/a/terminal/of/eighty/cells/run.cassette.jsonl"

    first, second, *_ = (plain(line) for line in compare_text(compare(loop(), loop(), (path, "b.jsonl")), width))

    assert first.endswith("2 turns · 250 tokens in · $0.000612")
    assert second.endswith("2 turns · 250 tokens in · $0.000612")
    assert first.index("2 turns") == second.index("2 turns")
    assert width_of(first) <= width
