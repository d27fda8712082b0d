"""A comparison as text."""

import pytest
from conversations import chat, loop, said, user

from turntape.inspector.compare.run_diff import compare
from turntape.inspector.views.text.compare_text import compare_text
from turntape.inspector.views.text.terminal_text import plain, width_of


@pytest.mark.parametrize(("width", "lines"), [(64, 2), (80, 2), (120, 2), (140, 1)])
def test_a_long_path_does_not_hide_what_the_runs_cost(width: int, lines: int) -> None:
    path = "/a/path/that/is/longer/than/half/of/a/terminal/of/eighty/cells/run.cassette.jsonl"

    run = [*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]
    facts = "3 turns · 2 threads · 350 tokens in · $0.00084"

    shown = [plain(line) for line in compare_text(compare(run, run, (path, "b.jsonl")), width)]

    assert shown[0].startswith("A  ") and shown[lines].startswith("B  b.jsonl")
    assert "cells/run.cassette.jsonl" in shown[0], "two runs often have the same end of a name"
    assert [shown[at].endswith(facts) for at in (lines - 1, 2 * lines - 1)] == [True, True]
    assert shown[lines - 1].index("3 turns") == shown[2 * lines - 1].index("3 turns")
    assert all(width_of(line) <= width for line in shown)
