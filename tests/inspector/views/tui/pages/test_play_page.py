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


def text(place: int, at: int) -> str:
    run = Run.load(EXAMPLE)
    layout = play_page(run.detail(place), run.rows, place, at).laid_out(80, {})
    return "\n".join("".join(word for word, _ in layout.line(y)) for y in range(len(layout)))


def test_an_answer_that_is_arriving_is_never_checked() -> None:
    """Halfway through the arguments of a call, what is required is still missing."""
    for at in range(1_000_000, 13_000_000, 500_000):
        shown = text(6, at)
        assert not any(words in shown for words in ("breaks its schema", "not valid JSON", "cut off", "✗", "missing"))


def test_findings_are_there_when_the_answer_is_complete() -> None:
    assert "api-length-truncated-tool-call" not in text(6, 13_000_000)
    assert "api-length-truncated-tool-call" in text(6, 60_000_000)


def test_what_the_client_will_do_is_still_to_come() -> None:
    shown = text(0, 60_000_000)

    assert "→ run_tests" in shown
    assert "← " not in shown.partition("→ run_tests")[2]
