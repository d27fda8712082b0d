"""A comparison as text."""

import pytest
from conversations import chat, loop, said, user

from turntape.inspector.compare.run_diff import compare
from turntape.inspector.views.text.compare_text import compare_text
from turntape.inspector.views.text.terminal_text import plain, width_of


@pytest.mark.parametrize("width", [64, 80, 120])
def test_a_long_path_does_not_hide_what_the_runs_cost(width: int) -> None:
    path = "/a/path/that/is/longer/than/half/of/a/terminal/of/eighty/cells/run.cassette.jsonl"

    run = [*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]
    facts = "3 turns · 2 threads · 350 tokens in · $0.00084"

    first, second, *_ = (plain(line) for line in compare_text(compare(run, run, (path, "b.jsonl")), width))

    assert first.endswith(facts)
    assert second.endswith(facts)
    assert first.index("3 turns") == second.index("3 turns")
    assert width_of(first) <= width
