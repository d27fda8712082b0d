"""The page of a turn that is being played."""

import pytest
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.play_page import play_page


@pytest.mark.parametrize(("at", "waits"), [(0, True), (700_000, True), (1_000_000, True), (2_000_000, False)])
def test_before_the_first_word_the_answer_is_waited_for(at: int, waits: bool) -> None:
    """The example's first turn has its first byte after 786 ms, and its first word later."""
    run = Run.load(EXAMPLE)

    layout = play_page(run.detail(0), run.rows, 0, at).laid_out(80, {})

    text = "\n".join("".join(word for word, _ in layout.line(y)) for y in range(len(layout)))
    assert ("waiting," in text) is waits
    assert "nothing was emitted" not in text
