"""The lines of the turn list."""

import pytest
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.thread_tree import ThreadTree
from turntape.inspector.views.tui.turn_lines import thread_line


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (60, "▾ t1 main  7 turns · claude-sonnet-4-5           $0.066 ✗2!2"),
        (42, "▾ t1 main  7 turns · claude-…  $0.066 ✗2!2"),
        (33, "▾ t1 main  7 turns …  $0.066 ✗2!2"),
    ],
)
def test_the_head_of_a_thread_keeps_its_blanks_when_it_is_cut(width: int, shown: str) -> None:
    rows = Run.load(EXAMPLE).rows
    head = ThreadTree(rows, {}).lines[0]

    assert "".join(text for text, _ in thread_line(head, rows, width)) == shown
